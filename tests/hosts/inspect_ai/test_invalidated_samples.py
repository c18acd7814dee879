"""Invalidated samples: left out of ranks, comparisons and tournaments, counted and named."""

import json

import pytest
from inspect_ai.log import ProvenanceData, invalidate_samples, read_eval_log, write_eval_log
from played_logs import place
from written_logs import build_log, invalidate, write

import podium
from podium.check_results import Result
from podium.errors import DataError
from podium.hosts.inspect_ai.logs.inspect_format import battle_texts
from podium.hosts.inspect_ai.logs.podium_entries import parse_battles
from podium.hosts.inspect_ai.logs.response_reader import READER
from podium.hosts.inspect_ai.tasks import round_robin
from podium.notices.notice_text import notice_texts
from podium.responses.read import read_responses

ITEMS = [f"q{k}" for k in range(6)]
BROKEN = [f"{item}-1" for item in ITEMS[:3]]
"""Samples of the first model, which is wrong on them alone."""


@pytest.fixture(params=[".eval", ".json"])
def folder(request):
    """Return a folder with two logs: of a model that is right on each valid sample, and of one that
    is right on two."""
    first = build_log("one", {item: (float(k > 2),) for k, item in enumerate(ITEMS)})
    write(invalidate(first, *BROKEN), suffix=request.param)
    return write(
        build_log("two", {item: (float(k < 4),) for k, item in enumerate(ITEMS)}),
        suffix=request.param,
    )


@pytest.mark.fast_cases(1)
def test_ranks_are_of_the_items_whose_samples_are_valid(folder, run_podium):
    code, out, _ = run_podium("rank", folder, "--ranker", "mean", "--format", "json")
    [ranking] = json.loads(out)["rankings"]
    assert code == 0
    assert [(row["model"], row["score"]) for row in ranking["models"]] == [
        ("made/one", 1.0),
        ("made/two", pytest.approx(1 / 3)),
    ]
    assert (ranking["counts"]["items"], ranking["counts"]["missing"]) == (3, 3)


def test_a_log_that_says_so_and_marks_no_sample_is_named():
    first = build_log("one", {item: (float(k > 2),) for k, item in enumerate(ITEMS)})
    first.invalidated = True
    write(first)
    folder = write(build_log("two", {item: (float(k < 4),) for k, item in enumerate(ITEMS)}))
    notes = notice_texts(podium.read_battles(folder).notes)
    assert any("of made/one are invalidated and marks none of its 6 samples" in n for n in notes)


@pytest.mark.slow
@pytest.mark.parametrize("models", [("one", "two"), ("one", "three", "two")])
def test_samples_in_the_middle_are_no_end_of_the_log(models):
    """The first log lacks two items: they stand where the other logs have them."""
    for number, model in enumerate(models, 2):
        log = build_log(model, {f"i{k:02}": (float(k % number > 0),) for k in range(40)})
        folder = write(invalidate(log, "i17-1", "i18-1") if model == "one" else log)
    battles = podium.read_battles(folder)
    if len(models) == 3:
        assert list(dict.fromkeys(battles.table["item"])) == [f"i{k:02}" for k in range(40)]
    [standings] = podium.rank(battles).standings
    [check] = [check for check in standings.checks if check.name == "lost scores"]
    assert check.result is not Result.NOT_KNOWN


@pytest.mark.slow
def test_comparisons_are_of_the_items_whose_samples_are_valid(folder):
    found = podium.compare("one", "two", folder).findings[0]
    assert (found.difference.value, len(found.results)) == (pytest.approx(2 / 3), 3)


@pytest.mark.fast_cases(1)
def test_they_are_counted_and_named_with_the_reason(folder):
    notes = notice_texts(podium.read_battles(folder).notes)
    said = "3 of 6 samples of made/one are invalidated, and left out: q0, q1, q2 (the tool broke)"
    assert any(note.endswith(said) for note in notes)
    assert any(
        "quiz exact is 1 here (3 items) and 0.5 in the log's results (6 items)" in note
        for note in notes
    )


@pytest.mark.slow
def test_the_mean_of_the_other_model_is_named_beside_its_log_too(folder):
    """Of the three items that both have, the second model is right on one; in its log on four of
    six."""
    notes = notice_texts(podium.read_battles(folder).notes)
    said = "quiz exact is 0.3333 here (3 items) and 0.6667 in the log's results (6 items)"
    assert sum(note.endswith(said) for note in notes) == 1


@pytest.mark.slow
def test_a_mean_over_other_items_that_equals_the_one_in_the_log_is_not_named():
    write(build_log("one", dict.fromkeys(ITEMS, (1.0,))))
    folder = write(build_log("two", dict.fromkeys(ITEMS[:4], (0.0,))))
    notes = notice_texts(podium.read_battles(folder).notes)
    assert not any("in the log's results" in note for note in notes)


@pytest.mark.slow
def test_their_epochs_are_named_where_there_are_several():
    log = build_log("one", dict.fromkeys(ITEMS, (1.0, 0.0)))
    write(invalidate(log, "q0-2", "q4-1", reason=None))
    folder = write(build_log("two", dict.fromkeys(ITEMS, (0.0, 0.0))))
    [note] = [
        note for note in notice_texts(podium.read_battles(folder).notes) if "invalidated" in note
    ]
    assert note.endswith(
        "2 of 12 samples of made/one are invalidated, and left out: q4 (epoch 1), q0 (epoch 2)"
    )


def test_a_log_of_invalidated_samples_alone_is_left_out():
    write(invalidate(build_log("one", {"q0": (1.0,)}), "q0-1"))
    write(build_log("two", {"q0": (1.0,)}))
    folder = write(build_log("three", {"q0": (0.0,)}))
    battles = podium.read_battles(folder)
    assert battles.models == ("made/three", "made/two")
    assert any("the only sample is invalidated" in lost for lost in notice_texts(battles.lost))


def test_their_responses_are_missing_for_that_reason(folder):
    responses = read_responses(folder, readers=[READER])
    assert responses.missing["made/one"] == dict.fromkeys(ITEMS[:3], "invalidated")
    assert set(responses.texts["made/one"]) == set(ITEMS[3:])


@pytest.fixture
def played(behave, write_responses, play):
    """Return a function that plays a tournament of one pair, invalidates its first battle, and
    returns the log."""

    def make(**options):
        responses = write_responses({"ash": 1.2, "elm": 1.9})
        path = place(play(round_robin(responses=responses, **options), behave(), log_dir="logs"))
        whole = read_eval_log(str(path))
        first = next(sample for sample in whole.samples if parse_battles(sample.metadata))
        provenance = ProvenanceData(author="me", reason="wrong prompt")
        write_eval_log(invalidate_samples(whole, [first.uuid], provenance), str(path))
        return path

    return make


@pytest.mark.slow
@pytest.mark.parametrize("pack", [False, True])
def test_a_battle_of_an_invalidated_sample_is_missing_in_a_tournament(played, pack):
    path = played(pack=pack)
    battles = podium.read_battles(str(path))
    assert (len(battles), battles.missing) == (5, 1)
    assert any(
        "samples of the tournament" in note and "(wrong prompt)" in note
        for note in notice_texts(battles.notes)
    )


@pytest.mark.slow
def test_the_texts_of_an_invalidated_battle_are_in_no_report(played):
    path = played()
    assert len({row["item"] for row in battle_texts(path)}) == 5


@pytest.mark.slow
def test_a_tournament_does_not_play_an_invalidated_response(folder, play, behave):
    log = play(round_robin(responses=folder), behave(), log_dir="logs")
    assert log.eval.metadata["podium_missing"] == {"made/one": {"invalidated": 3}}
    assert podium.read_battles(str(place(log))).counts().items == 3


def test_a_single_log_of_invalidated_samples_is_an_error():
    folder = write(invalidate(build_log("one", {"q0": (1.0,)}), "q0-1"))
    with pytest.raises(DataError, match="the only sample is invalidated"):
        podium.read_battles(folder)
