"""Archives that swell when they are unpacked are rejected before they are unpacked."""

import os
import shutil
import zipfile

import pytest
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.scorer import match
from played_logs import place

from podium.data.formats import archives, containers
from podium.data.reading.judgments import read_battles
from podium.errors import DataError, UsageError
from podium.hosts.inspect_ai.judging.judge_calls import readable_judgments
from podium.hosts.inspect_ai.logs import response_reader
from podium.hosts.inspect_ai.logs.inspect_format import battle_texts, costs_in
from podium.hosts.inspect_ai.logs.stored_samples import (
    read_by_inspect,
    samples_of,
    summaries_of,
    whole_samples,
)
from podium.responses.read import read_prompts, read_responses

READERS = {
    "header": lambda path: read_by_inspect(path, header_only=True),
    "whole log": read_by_inspect,
    "summaries": summaries_of,
    "scored samples": lambda path: [*samples_of(path)],
    "whole samples": lambda path: [*whole_samples(path)],
    "battles": lambda path: read_battles(path),
    "texts of battles": lambda path: [*battle_texts(path)],
    "costs": lambda path: [*costs_in(path)],
    "responses": lambda path: read_responses(path, readers=(response_reader.READER,)),
    "prompts": lambda path: read_prompts(path, readers=(response_reader.READER,)),
    "judgments to keep": lambda path: readable_judgments(str(path), None),
}


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    task = Task([Sample("Say hi.", target="hi", id=name) for name in "ab"], scorer=match())
    folder = tmp_path_factory.mktemp("logs")
    return place(eval(task, model="mockllm/model", log_dir=str(folder), display="none")[0])


def with_member(log, folder, name, size):
    """Return a copy of a log with a further member of so many zeros."""
    copy = folder / "bomb.eval"
    shutil.copy(log, copy)
    with zipfile.ZipFile(copy, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, b"0" * size)
    return copy


@pytest.mark.parametrize("reader", READERS)
def test_a_member_that_swells_is_rejected_by_every_reader(reader, log, tmp_path, monkeypatch):
    monkeypatch.setattr(containers, "UNPACKED_SIZE", 2**20)
    path = with_member(log, tmp_path, "samples/x_epoch_1.json", 2**21)
    with pytest.raises(
        DataError,
        match=r"bomb.eval.*'samples/x_epoch_1.json' unpacks to more than 250 times its size",
    ):
        READERS[reader](path)


def test_members_that_swell_together_are_rejected(log, tmp_path, monkeypatch):
    path = with_member(log, tmp_path, "samples/x_epoch_1.json", 2**20)
    for k in range(2, 4):
        with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(f"samples/x_epoch_{k}.json", b"0" * 2**20)
    monkeypatch.setattr(containers, "UNPACKED_SIZE", 2**20)
    monkeypatch.setattr(containers, "UNPACKED_RATIO", 100)
    monkeypatch.setattr(
        archives, "_most_bytes", lambda packed: 2**20 if packed < 4000 else packed * 20
    )
    with pytest.raises(DataError, match=r"bomb.eval: it unpacks to more than 100 times its size"):
        archives.check_archive(path)


def test_an_ordinary_log_is_read(log):
    assert len(summaries_of(log)) == 2
    assert len([*samples_of(log)]) == 2


@pytest.mark.parametrize("reader", READERS)
def test_a_pipe_that_is_called_a_log_is_not_waited_for(reader, tmp_path):
    path = tmp_path / "log.eval"
    os.mkfifo(path)
    with pytest.raises(UsageError):
        READERS[reader](path)
