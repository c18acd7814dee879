"""Scores of several epochs: as the log reduces them, or an error where two runs do so in different
ways."""

import json
import random

import pytest
from inspect_ai.log import ProvenanceData, edit_score
from inspect_ai.scorer import ScoreEdit
from written_logs import build_log, invalidate, write

import podium
from podium.errors import DataError, UsageError
from podium.hosts.inspect_ai.logs.epoch_scores import Reduction
from podium.notices.notice_text import notice_texts

ITEMS = [f"q{k}" for k in range(8)]


def same(*values):
    return dict.fromkeys(ITEMS, values)


def means_of(folder, **options):
    ranking = podium.rank(podium.read_battles(folder, **options), "mean")
    return {entry.model: entry.score for entry in ranking.standings[0].entries}


def write_pair(first, second, suffix=".eval"):
    write(first, suffix=suffix)
    return write(second, suffix=suffix)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".eval", ".json"])
def test_unequal_epochs_of_means_are_all_counted(suffix):
    folder = write_pair(
        build_log("once", same(1.0)), build_log("often", same(1.0, 0.0, 0.0, 0.0)), suffix
    )
    assert means_of(folder) == {"made/once": 1.0, "made/often": 0.25}
    assert podium.compare("often", "once", folder).findings[0].difference.value == pytest.approx(
        -0.75
    )


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".eval", ".json"])
@pytest.mark.parametrize(
    ("reducer", "first", "second"),
    [
        ("max", 1.0, 0.5),
        ("median", 0.5, 0.5),
        ("mode", 0.5, 0.5),
        ("at_least_2", 0.0, 0.0),
        ("pass_at_2", 2 / 3, 0.0),
    ],
)
def test_scores_are_reduced_as_the_log_does(reducer, first, second, suffix):
    logs = (
        build_log("one", same(1.0, 0.5, 0.5), reducer=reducer),
        build_log("two", same(0.5, 0.5, 0.0), reducer=reducer),
    )
    folder = write_pair(*logs, suffix)
    assert means_of(folder) == pytest.approx({"made/one": first, "made/two": second})
    assert [log.results.scores[0].metrics["mean"].value for log in logs] == pytest.approx(
        [first, second]
    )


@pytest.mark.slow
def test_every_command_takes_the_reduced_scores(run_podium):
    folder = write_pair(
        build_log("one", same(1.0, 0.0, 0.0), reducer="max"),
        build_log("two", same(0.0, 0.0, 0.0), reducer="max"),
    )
    code, out, _ = run_podium("rank", folder, "--ranker", "mean,bradley-terry", "--format", "json")
    by_mean, by_elo = json.loads(out)["rankings"]
    assert (code, by_mean["models"][0]["model"], by_mean["models"][0]["score"]) == (
        0,
        "made/one",
        1.0,
    )
    assert (by_elo["models"][0]["model"], by_elo["counts"]["battles"]) == ("made/one", 8)
    found = podium.compare("one", "two", folder).findings[0]
    assert found.difference.value == 1.0


def test_the_reducer_and_both_means_are_said():
    folder = write_pair(
        build_log("one", same(1.0, 0.0), reducer="max"),
        build_log("two", same(0.5, 0.0), reducer="max"),
    )
    [note] = [note for note in notice_texts(podium.read_battles(folder).notes) if "reduced" in note]
    assert note == (
        "the scores of quiz are reduced as in the logs, max over 2 epochs: made/one 1 (0.5), "
        "made/two 0.5 (0.25); in brackets the mean over all epochs"
    )


@pytest.mark.fast_cases(3)
@pytest.mark.parametrize("reducer", ["max", "mode", "median", "at_least_1"])
def test_unequal_epochs_of_a_reducer_that_depends_on_their_number_are_an_error(reducer):
    folder = write_pair(
        build_log("one", same(1.0, 0.0), reducer=reducer),
        build_log("two", same(0.0), reducer=reducer),
    )
    with pytest.raises(DataError, match="the scores of quiz are not reduced alike") as raised:
        podium.read_battles(folder)
    assert f"made/one by {reducer} over 2 epochs, made/two by {reducer} over 1 epoch" in str(
        raised.value
    )
    assert "or accept it with allow='epochs'" in str(raised.value)


def test_different_reducers_are_an_error():
    folder = write_pair(
        build_log("one", same(1.0, 0.0), reducer="max"), build_log("two", same(0.0, 1.0))
    )
    with pytest.raises(
        DataError, match="made/one by max over 2 epochs, made/two by mean over 2 epochs"
    ):
        podium.read_battles(folder)


@pytest.mark.slow
def test_an_allowed_difference_of_epochs_is_said_in_the_answers(run_podium):
    folder = write_pair(
        build_log("one", same(1.0, 0.0), reducer="max"), build_log("two", same(0.0), reducer="max")
    )
    assert run_podium("rank", folder)[0] == 1
    code, out, _ = run_podium("rank", folder, "--allow", "epochs", "--format", "json")
    assert code == 0
    ranking = json.loads(out)
    said = "Accepted with --allow epochs: the scores of quiz are not reduced alike"
    assert said in " ".join(ranking["rankings"][0]["answer"])
    assert ranking["provenance"]["options"]["reading"] == {"allow": ["epochs"]}
    compared = podium.compare("one", "two", folder, allow="epochs")
    in_python = said.replace("--allow epochs", "allow='epochs'")
    assert in_python in " ".join(compared.answer)
    assert said in " ".join(run_podium("diagnose", folder, "--allow", "epochs")[2].split())


def test_an_unknown_finding_cannot_be_allowed():
    with pytest.raises(UsageError, match="no finding has this name; there are: epochs"):
        podium.read_battles("anywhere", allow="epoch")


@pytest.mark.parametrize(
    ("one", "other", "agree"),
    [
        (("mean", 1), ("mean", 4), True),
        (("collect", 2), ("mean", 4), True),
        (("pass_at_2", 3), ("pass_at_2", 5), True),
        (("pass_k_2", 3), ("pass_k_2", 5), True),
        (("pass_at_1", 5), ("pass_at_2", 5), False),
        (("pass_at", 3), ("pass_at", 5), False),
        (("own", 3), ("own", 3), True),
        (("own", 3), ("own", 4), False),
        (("max", 1), ("mean", 1), True),
        (("max", 1), ("max", 2), False),
    ],
)
def test_reductions_agree_where_they_measure_the_same(one, other, agree):
    assert Reduction(*one).agrees_with(Reduction(*other)) is agree


def passes(items, seed, epochs, chance):
    rng = random.Random(seed)
    return {f"q{k}": [float(rng.random() < chance) for _ in range(epochs)] for k in range(items)}


@pytest.mark.slow
def test_equal_models_with_unequal_epochs_of_pass_at_k_win_equally_often():
    few = build_log("few", passes(400, 1, 2, 0.5), reducer="pass_at_2")
    many = build_log("many", passes(400, 2, 4, 0.5), reducer="pass_at_2")
    battles = podium.read_battles(write_pair(few, many))
    [standings] = podium.rank(battles, "bradley-terry").standings
    rates = {entry.model: entry.win_rate for entry in standings.entries}
    means = {log.eval.model: log.results.scores[0].metrics["mean"].value for log in (few, many)}
    assert rates["made/few"] - rates["made/many"] == pytest.approx(
        means["made/few"] - means["made/many"]
    )
    assert {entry.rank_high for entry in standings.entries} == {2}
    assert any(
        "estimated from different numbers of epochs" in note for note in notice_texts(battles.notes)
    )


@pytest.mark.slow
def test_the_first_of_several_reducers_counts_and_the_others_are_named():
    reducers = ["max", "mean"]
    logs = [
        build_log(name, same(1.0, value), reducer=reducers)
        for name, value in (("one", 0.0), ("two", 0.5))
    ]
    folder = write_pair(*logs)
    assert means_of(folder) == {"made/one": 1.0, "made/two": 1.0}
    assert any(
        "reduced by mean too, which are not read" in note
        for note in notice_texts(podium.read_battles(folder).notes)
    )


@pytest.mark.slow
def test_a_reduced_value_is_computed_again_without_an_invalidated_epoch():
    spoilt = invalidate(
        build_log("one", same(1.0, 0.0, 0.0), reducer="max"), *[f"{item}-1" for item in ITEMS[:4]]
    )
    folder = write_pair(spoilt, build_log("two", same(0.0, 0.0, 0.0), reducer="max"))
    assert means_of(folder)["made/one"] == 0.5


def test_a_value_of_an_unknown_reducer_is_unknown_without_an_invalidated_epoch():
    logs = [
        build_log(name, same(value, 0.0, 0.0), reducer="max")
        for name, value in (("one", 1.0), ("two", 0.0))
    ]
    for log in logs:
        log.eval.config.epochs_reducer = ["own"]
        log.reductions[0].reducer = "own"
    battles = podium.read_battles(write_pair(invalidate(logs[0], "q0-1"), logs[1]))
    assert battles.unparsed_reasons() == {"own of the epochs that count is unknown": 1}


@pytest.mark.slow
def test_a_run_that_ended_early_is_reduced_by_inspects_own_reducer():
    early = build_log("one", same(1.0, 0.0), reducer="max", status="cancelled")
    folder = write_pair(early, build_log("two", same(0.0, 0.0), reducer="max"))
    assert means_of(folder) == {"made/one": 1.0, "made/two": 0.0}


def test_a_mean_that_the_log_gives_otherwise_is_said():
    log = build_log("one", same(1.0))
    provenance = ProvenanceData(author="me", reason="wrong key")
    edit_score(
        log, "q0", "exact", ScoreEdit(value=0.0, provenance=provenance), recompute_metrics=False
    )
    folder = write_pair(log, build_log("two", same(0.0)))
    [note] = [
        note
        for note in notice_texts(podium.read_battles(folder).notes)
        if "in the log's results" in note
    ]
    assert note.endswith("quiz exact is 0.875 here (8 items) and 1 in the log's results (8 items)")


@pytest.mark.slow
def test_samples_that_the_logs_own_figures_do_not_count_are_left_out_and_named():
    log = build_log("one", {**same(1.0), "q0": (0.0,)})
    log.reductions[0].samples = [own for own in log.reductions[0].samples if own.sample_id != "q0"]
    log.results.scores[0].metrics["mean"].value = 1.0
    log.results.scores[0].scored_samples = 7
    folder = write_pair(log, build_log("two", same(0.0)))
    assert means_of(folder)["made/one"] == 1.0
    [note] = [
        note for note in notice_texts(podium.read_battles(folder).notes) if "excluded from" in note
    ]
    assert "1 of 8 samples with scores by quiz exact is not in the log's own figures" in note
    assert note.endswith("left out: q0")


def test_equal_epochs_of_means_are_read_as_before_and_without_notes():
    folder = write_pair(build_log("one", same(1.0, 0.0)), build_log("two", same(0.0, 0.0)))
    battles = podium.read_battles(folder)
    assert (len(battles), notice_texts(battles.notes)) == (16, ())


@pytest.mark.slow
def test_models_that_were_scored_in_other_epochs_are_told_so():
    """Each has two scores of an item, one of them in an epoch of its own."""
    logs = [build_log("one", same(1.0, 0.0, 1.0)), build_log("two", same(1.0, 1.0, 0.0))]
    for log, absent in zip(logs, (2, 3), strict=True):
        log.samples = [sample for sample in log.samples if sample.epoch != absent]
        log.results = log.reductions = None
        write(log)
    battles = podium.read_battles("evals")
    assert [note.code for note in battles.notes] == ["other-trials-scored"]
    assert means_of("evals") == {"made/one": 1.0, "made/two": 1.0}
