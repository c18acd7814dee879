"""Large samples of an archive are read field by field, with little memory."""

import io
import json
import random
import re
import tracemalloc
import zipfile

import ijson
import pytest
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.scorer import match
from played_logs import place

from podium.hosts.inspect_ai.logs import sample_files
from podium.hosts.inspect_ai.logs.sample_files import SampleFile, read_fields
from podium.hosts.inspect_ai.logs.stored_samples import first_samples, samples_of, whole_samples

READERS = {
    "scored": lambda path: [*samples_of(path)],
    "whole": lambda path: [sample.model_dump() for sample in whole_samples(path)],
    "first": lambda path: [
        {name: sample.get(name) for name in sample_files_fields()}
        for sample in first_samples(path, 2)
    ],
}


def sample_files_fields():
    return ("input", "messages", "attachments")


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """Return a log whose inputs are long enough to be attachments."""
    samples = [Sample(f"Say hi. {k} {'x' * 500}", target="hi", id=k) for k in range(4)]
    folder = tmp_path_factory.mktemp("logs")
    task = Task(samples, scorer=match())
    return place(eval(task, model="mockllm/model", log_dir=str(folder), display="none")[0])


@pytest.mark.parametrize("reader", READERS)
def test_large_samples_are_read_as_small_ones(log, reader, monkeypatch):
    small = READERS[reader](log)
    monkeypatch.setattr(sample_files, "LARGEST_WHOLE", 0)
    large = READERS[reader](log)
    if reader == "scored":
        # The input of a sample is resolved by its attachments, which are read only if it has some.
        assert [one._replace(attachments={}) for one in large] == [
            one._replace(attachments={}) for one in small
        ]
        assert any(one.attachments for one in large) == any(
            "attachment://" in str(one.input) for one in small
        )
        return
    assert large == small


def drawn_value(rng, depth=0):
    """Return a random value of JSON."""
    kind = rng.randrange(6 if depth < 3 else 4)
    if kind == 4:
        return [drawn_value(rng, depth + 1) for _ in range(rng.randrange(4))]
    if kind == 5:
        return {f"k{k}": drawn_value(rng, depth + 1) for k in range(rng.randrange(4))}
    return (None, True, rng.randrange(-9, 9), f"é{rng.random()}")[kind]


@pytest.mark.parametrize("seed", range(50))
def test_fields_are_those_that_json_has(seed):
    rng = random.Random(seed)
    document = {f"f{k}": drawn_value(rng) for k in range(rng.randrange(6))}
    names = {name for name in ("f0", "f2", "f4") if rng.random() < 0.7}
    read = read_fields(io.BytesIO(json.dumps(document).encode()), names)
    assert read == {name: document[name] for name in names if name in document}


@pytest.mark.parametrize("cut", [1, 9, 20])
def test_damaged_json_is_an_error(cut):
    content = json.dumps({"a": [1, 2], "b": "text"}).encode()
    with pytest.raises((ijson.JSONError, ijson.IncompleteJSONError)):
        read_fields(io.BytesIO(content[:cut]), {"a"})


@pytest.mark.slow
def test_a_field_that_is_not_asked_for_takes_no_memory(tmp_path, monkeypatch):
    """4 MB of small lists would take 100 MB."""
    monkeypatch.setattr(sample_files, "LARGEST_WHOLE", 2**20)
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        events = ",".join(["[]"] * 1_400_000)
        archive.writestr("samples/1.json", f'{{"id": 1, "events": [{events}], "epoch": 2}}')
    with zipfile.ZipFile(path) as archive:
        tracemalloc.start()
        fields = SampleFile(archive, "samples/1.json").fields({"id", "epoch"})
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert fields == {"id": 1, "epoch": 2}
    assert peak < 10 * 2**20


def test_a_pattern_is_found_across_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(sample_files, "LARGEST_WHOLE", 0)
    monkeypatch.setattr(sample_files, "PIECE", 7)
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("samples/1.json", '{"id": 1, "agent_span_id": "x"}')
    with zipfile.ZipFile(path) as archive:
        sample = SampleFile(archive, "samples/1.json")
        assert sample.holds(re.compile(rb'"agent_span_id":\s*"'))
        assert not sample.holds(re.compile(rb'"other":\s*"'))
