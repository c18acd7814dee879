"""Scores that are read from the summaries of samples are those of the samples."""

import json
import math
import zipfile
from pathlib import Path

import pytest
from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalLog,
    EvalSample,
    EvalSpec,
    ProvenanceData,
    write_eval_log,
)
from inspect_ai.model import ChatMessageUser, ContentImage, ContentText
from inspect_ai.scorer import Score

from podium.data.formats.archives import archives_kept_open, opened_archive
from podium.hookspecs import Reading
from podium.hosts.inspect_ai.logs import judgment_rows
from podium.hosts.inspect_ai.logs.asked_inputs import AskedInputs
from podium.hosts.inspect_ai.logs.folders import read_logs
from podium.hosts.inspect_ai.logs.judgment_rows import log_rows
from podium.hosts.inspect_ai.logs.sample_files import parse_bytes
from podium.hosts.inspect_ai.logs.score_summaries import read_score_summaries
from podium.hosts.inspect_ai.logs.stored_samples import read_by_inspect

VERSION = "0.3.285"


def samples_with_dicts(**changes):
    """Return samples of two epochs with numbers, words, lists and gaps as scores."""
    samples = []
    for k in (10, 9, 2, 1):
        for epoch in (1, 2):
            value = {
                "tone": k / 10,
                "form": "C" if k % 2 else "I",
                "odd": "other",
                "none": math.nan,
            }
            scores = {"graded": Score(value=value, metadata={"long": "x" * 5000})}
            scores["listed"] = Score(value=[1.0, 0.0])
            sample = {"id": k, "epoch": epoch, "input": f"question {k}", "target": "t"}
            samples.append(EvalSample(**(sample | {"scores": scores} | changes)))
    return samples


def write(path, samples, *, version=VERSION, invalidated=False):
    spec = EvalSpec(
        created="2026-01-01T00:00:00+00:00",
        task="quiz",
        dataset=EvalDataset(samples=len(samples)),
        model="lab/a",
        config=EvalConfig(epochs=2),
        packages={"inspect_ai": version} if version else {},
    )
    log = EvalLog(eval=spec, status="success", samples=samples, invalidated=invalidated)
    write_eval_log(log, str(path))
    return Path(path)


def summaries(path):
    return read_score_summaries(path, read_by_inspect(path, header_only=True))


def read(path):
    inputs = AskedInputs()
    return log_rows(path, inputs).scores, inputs.by_log


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"choices": ["7", "8"]},
        {"input": [ChatMessageUser(content="how  many?")]},
        {"scores": {}},
        {"scores": {"match": Score(value="C"), "f1": Score(value=0.25)}},
    ],
    ids=["dicts", "choices", "messages", "no scores", "plain"],
)
def test_summaries_have_the_rows_and_inputs_of_the_samples(tmp_path, monkeypatch, changes):
    several = [*samples_with_dicts(**changes), *samples_with_dicts(id="last", epoch=1)[:1]]
    log = write(tmp_path / "log.eval", several)
    assert summaries(log) is not None
    by_summaries = read(log)
    monkeypatch.setattr(judgment_rows, "read_score_summaries", lambda *_: None)
    by_samples = read(log)
    names = [*by_samples[0]]
    assert by_summaries[0][names].equals(by_samples[0])
    assert by_summaries[0].attrs["figures"] == by_samples[0].attrs["figures"]
    assert by_summaries[0].attrs["scorers_of_lists"] == by_samples[0].attrs["scorers_of_lists"]
    assert by_summaries[1] == by_samples[1]


IMAGE = ContentImage(image="data:image/png;base64,iVBORw0KGgo=")


@pytest.mark.parametrize(
    ("changes", "options"),
    [
        ({"input": "long " * 3000}, {}),
        ({"input": [ChatMessageUser(content=[ContentText(text="see"), IMAGE])]}, {}),
        ({"scores": {"v": Score(value=1, metadata={"podium": {"x": 1}})}}, {}),
        ({}, {"version": "0.3.155"}),
        ({}, {"version": ""}),
        ({"invalidation": ProvenanceData(author="me", reason="bad")}, {"invalidated": True}),
    ],
    ids=["long input", "image", "podium's score", "old", "no version", "invalidated"],
)
def test_samples_are_read_where_summaries_are_not_exact(tmp_path, changes, options):
    assert summaries(write(tmp_path / "log.eval", samples_with_dicts(**changes), **options)) is None


def test_samples_are_read_where_summaries_are_of_other_samples(tmp_path):

    log = write(tmp_path / "log.eval", samples_with_dicts())
    with zipfile.ZipFile(log) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}

    def rewritten(change):
        path = tmp_path / "changed.eval"
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in contents.items():
                if name == "summaries.json":
                    content = json.dumps(change(json.loads(content)))
                archive.writestr(name, content)
        return path

    def with_other_score(rows):
        rows[-2]["scores"]["graded"]["value"]["tone"] = 99
        return rows

    assert summaries(rewritten(lambda rows: rows)) is not None
    assert summaries(rewritten(lambda rows: rows[1:])) is None
    assert summaries(rewritten(with_other_score)) is None


def test_the_directory_of_an_archive_is_read_once(tmp_path, monkeypatch):
    paths = [write(tmp_path / f"{k}.eval", samples_with_dicts()) for k in range(2)]
    opened = []
    read_directory = zipfile.ZipFile.__init__

    def count(archive, file, *given, **options):
        if Path(str(file)) in paths:
            opened.append(Path(str(file)).name)
        read_directory(archive, file, *given, **options)

    monkeypatch.setattr(zipfile.ZipFile, "__init__", count)
    read_logs(dict.fromkeys(paths), Reading())
    assert sorted(opened) == ["0.eval", "1.eval"]


def test_an_archive_that_changes_is_opened_again(tmp_path):
    path = write(tmp_path / "log.eval", samples_with_dicts())
    with archives_kept_open():
        with opened_archive(path) as archive:
            before = len(archive.namelist())
        write(path, samples_with_dicts()[:2])
        with opened_archive(path) as archive:
            assert len(archive.namelist()) == before - 6
    with pytest.raises(ValueError, match="closed"):
        archive.read("header.json")


def test_halves_of_surrogate_pairs_are_parsed():
    assert parse_bytes(b'["\\ud83d", 1.5]') == ["\ud83d", 1.5]
