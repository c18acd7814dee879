"""Samples read from a log one at a time are those that Inspect reads, all at once; its reader is
the oracle."""

import json
import shutil
import tracemalloc
import zipfile
from pathlib import Path

import pytest
from inspect_ai import Task, eval, eval_retry, score
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score, mean, scorer
from inspect_ai.solver import solver
from played_logs import place

from podium.errors import DataError
from podium.hosts.inspect_ai.judging.scorers import verdict
from podium.hosts.inspect_ai.logs import judgment_rows, stored_samples
from podium.hosts.inspect_ai.logs.judgment_rows import log_rows
from podium.hosts.inspect_ai.logs.stored_samples import read_by_inspect, samples_of
from podium.hosts.inspect_ai.tasks import round_robin, swim


def by_inspect(path):
    return [
        comparable_sample(one.id, one.epoch, one.metadata, one.scores, one.error)
        for one in read_eval_log(str(path)).samples
    ]


def by_podium(path):
    return [
        comparable_sample(one.id, one.epoch, one.metadata, one.scores, one.error)
        for one in samples_of(path)
    ]


def comparable_sample(name, epoch, metadata, scores, error):
    # As text, because a score that is not a number equals nothing, not even itself.
    kept = {key: one.model_dump_json() for key, one in (scores or {}).items()}
    return name, epoch, json.dumps(metadata, sort_keys=True), kept, getattr(error, "message", error)


@pytest.fixture
def tournament(behave, write_responses, play):
    return place(
        play(
            round_robin(responses=write_responses()),
            behave(garbage=0.3, errors=0.2),
            log_samples=True,
        )
    )


@solver
def failing_on_two():
    async def solve(state, generate):
        if state.sample_id in ("q2", "q5") and state.epoch == 1:
            raise RuntimeError(f"no answer to {state.sample_id}")
        state.output = ModelOutput.from_content("m", "yes")
        state.completed = True
        return state

    return solve


@scorer(metrics=[mean()])
def graded():
    async def score_one(state, target):
        return Score(
            value=len(str(state.sample_id)) / state.epoch,
            metadata={"why": {"deep": ["\u2603", None, 1.5]}},
        )

    return score_one


@scorer(metrics={"*": [mean()]})
def by_aspect():
    async def score_one(state, target):
        return Score(
            value={"whole": 1, "share": float("nan"), "right": True, "word": "C"},
            explanation="x" * 2000,
        )

    return score_one


@scorer(metrics=[mean()])
def silent():
    async def score_one(state, target):
        return Score(value=float("nan")) if state.sample_id == "q1" else None

    return score_one


def ordinary(**options):
    dataset = [
        Sample(id=name, input="?" * 3000, metadata={"category": "x", "long": "y" * 3000})
        for name in ("q1", "q2")
    ]
    dataset += [Sample(id=name, input="Question?") for name in ("q10", "q5", "a/b c")]
    return eval(
        Task(dataset, solver=failing_on_two(), scorer=[graded(), by_aspect(), silent()]),
        model="mockllm/model",
        fail_on_error=False,
        epochs=2,
        **options,
    )[0]


def rewritten(path, change):
    """Write an archive anew; `change` gives what becomes of a member: a list of contents, under its
    name."""
    copy = path.with_name(f"changed-{path.name}")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(copy, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            for content in change(name, old.read(name)):
                new.writestr(name, content)
    return copy


@pytest.mark.slow
def test_a_tournament_with_unparsed_and_failed_battles_is_read_as_inspect_reads_it(tournament):
    read = by_podium(tournament)
    assert read == by_inspect(tournament)
    assert any(error for *_, error in read)
    # Older versions write null.
    assert any(
        '"value":NaN' in one or '"value":null' in one
        for *_, kept, _ in read
        for one in kept.values()
    )


@pytest.mark.slow
def test_packs_and_announced_rounds_are_read_as_inspect_reads_them(behave, write_responses, play):
    path = place(play(swim(responses=write_responses(), pack=True), behave(garbage=0.3)))
    assert by_podium(path) == by_inspect(path)


@pytest.mark.slow
def test_an_ordinary_eval_with_several_scorers_epochs_and_failures_is_read_as_inspect_reads_it():
    path = place(ordinary())
    read = by_podium(path)
    assert read == by_inspect(path)
    assert len(read) == 10
    assert sum(error is not None for *_, error in read) == 2


def test_samples_with_numbers_for_names_come_in_their_order():
    dataset = [Sample(id=k, input="?") for k in (10, 9, 100, 1)]
    [log] = eval(
        Task(dataset, solver=failing_on_two(), scorer=graded()), model="mockllm/model", epochs=2
    )
    assert by_podium(place(log)) == by_inspect(place(log))
    assert [one.id for one in samples_of(place(log))] == [1, 9, 10, 100] * 2


@pytest.mark.slow
def test_a_sample_under_a_name_without_an_epoch_is_read_as_inspect_reads_it(tmp_path):
    path, copy = place(ordinary()), tmp_path / "renamed.eval"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(copy, "w") as new:
        for name in old.namelist():
            new.writestr(name.replace("q10_epoch_2", "renamed"), old.read(name))
    assert len(by_podium(copy)) == len(by_podium(path)) == 10
    assert sorted(map(str, by_podium(copy))) == sorted(map(str, by_inspect(copy)))


@pytest.mark.slow
def test_a_log_in_json_is_read_too():
    path = place(ordinary(log_format="json"))
    assert path.suffix == ".json"
    assert by_podium(path) == by_inspect(path)


@pytest.mark.slow
def test_a_log_that_was_finished_by_a_retry_is_read_as_inspect_reads_it(
    behave, write_responses, play
):
    first = play(round_robin(responses=write_responses()), behave(errors=0.4, fails_first=True))
    assert any(one.error for one in first.samples)
    [again] = eval_retry(first)
    read = by_podium(place(again))
    assert read == by_inspect(place(again))
    assert not any(error for *_, error in read)


@pytest.mark.slow
def test_rescored_log_is_read_as_inspect_reads_it(behave, write_responses, play):
    log = play(round_robin(responses=write_responses()), behave())
    write_eval_log(score(log, verdict(logprobs="off"), action="append"), log.location)
    read = by_podium(place(log))
    assert read == by_inspect(place(log))
    assert all({*kept} == {"verdict", "battle", "verdict1"} for *_, kept, _ in read)


@pytest.mark.slow
def test_a_log_whose_run_was_killed_is_read_as_far_as_it_goes(tournament):
    ends = ("header.json", "summaries.json", "reductions.json")
    killed = rewritten(tournament, lambda name, content: [] if name in ends else [content])
    assert read_eval_log(str(killed), header_only=True).status == "started"
    assert by_podium(killed) == by_inspect(killed) == by_podium(tournament)
    assert log_rows(killed).verdicts.equals(log_rows(tournament).verdicts)


@pytest.mark.slow
def test_of_a_sample_that_was_run_twice_the_later_counts(tournament):
    wanted = next(one.id for one in samples_of(tournament) if one.error is None)

    def twice(name, content):
        if name != f"samples/{wanted}_epoch_1.json":
            return [content]
        sample = json.loads(content)
        sample["scores"]["verdict"]["value"] = 0.125
        return [content, json.dumps(sample)]

    with pytest.warns(UserWarning, match="Duplicate name"):
        path = rewritten(tournament, twice)
    assert by_podium(path) == by_inspect(path)
    assert [one.scores["verdict"].value for one in samples_of(path) if one.id == wanted] == [0.125]


def test_a_file_that_is_no_archive_is_rejected_by_name(tmp_path):
    path = tmp_path / "broken.eval"
    path.write_bytes(b"no zip at all")
    with pytest.raises(DataError, match=r"broken\.eval.*not a whole Inspect log"):
        list(samples_of(path))


@pytest.mark.slow
def test_a_sample_that_is_cut_short_is_named_with_its_log(tournament):
    path = rewritten(
        tournament, lambda name, content: [content[:99] if name.startswith("samples/") else content]
    )
    with pytest.raises(
        DataError, match=r"changed-.*eval, sample \S+_epoch_1: not a whole Inspect log"
    ):
        log_rows(path)
    with pytest.raises(
        DataError, match=r"changed-.*eval, sample \S+_epoch_1: not a whole Inspect log"
    ):
        read_by_inspect(path)


@pytest.mark.slow
def test_the_rows_are_the_same_by_either_reader(tournament, monkeypatch):
    found = log_rows(tournament).verdicts
    monkeypatch.setattr(
        judgment_rows,
        "samples_of",
        lambda path: map(stored_samples._scored_sample, read_by_inspect(path).samples),
    )
    assert found.equals(log_rows(tournament).verdicts)
    assert len(found)


@pytest.mark.slow
def test_a_log_is_not_held_in_memory(behave, write_responses, play):
    texts = {
        (name, k): f"quality=1 {name} {k} ".ljust(40_000, "x")
        for name in ("ash", "elm")
        for k in range(40)
    }
    models = dict.fromkeys(("ash", "elm"), 1.0)
    path = place(
        play(round_robin(responses=write_responses(models, items=40, texts=texts)), behave())
    )
    with zipfile.ZipFile(path) as archive:
        size = sum(
            one.file_size for one in archive.infolist() if one.filename.startswith("samples/")
        )
    log_rows(path)  # imports are not what is measured
    tracemalloc.start()
    log_rows(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert size > 40 * 2 * 40_000
    assert peak < size / 4


@pytest.mark.slow
def test_reading_does_not_touch_the_log(tournament):
    before = tournament.read_bytes()
    shutil.copy(tournament, Path("copy.eval"))
    log_rows(tournament)
    assert tournament.read_bytes() == before
