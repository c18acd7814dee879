"""What a ranker cannot do with a run is known before it."""

import pytest

from podium import UsageError
from podium.plugins.catalogue import judging_settings
from podium.ranking.trial_ranking import ComingBattles, check_rankers, coming_verdicts

MODELS = ("ash", "elm", "oak")


def verdicts(realization="labels", *, judges=("judge",), logprobs="auto", **options):
    how = judging_settings(realization, logprobs=logprobs)
    return coming_verdicts(MODELS, judges, how, **options)


@pytest.mark.slow
@pytest.mark.parametrize(
    "ranker", ["bradley-terry", "win-rate", "mean", "median", "informativeness"]
)
def test_rankers_of_scores_can_rank_scores(ranker):
    assert check_rankers([ranker], ComingBattles(MODELS)) == []


@pytest.mark.parametrize("option", [{"pin": "birch:1000"}, {"bradley-terry.pin": "birch:1000"}])
def test_a_pin_on_an_absent_model_is_rejected(option):
    with pytest.raises(UsageError, match="no model called 'birch'; available: ash, elm, oak"):
        check_rankers(["bradley-terry"], verdicts(), option)


def test_a_pin_on_a_model_of_the_run_is_accepted():
    assert check_rankers(["bradley-terry"], verdicts(), {"pin": "elm:1000"}) == []


def test_an_absent_anchor_is_rejected():
    with pytest.raises(UsageError, match="'birch'"):
        check_rankers(["win-rate"], verdicts(), {"anchor": "birch"})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ranker", "coming", "why"),
    [
        ("structured-bradley-terry", verdicts(), "no label by humans"),
        ("mean", verdicts(), "no pointwise scores"),
        ("judge-aware", verdicts(), "compares several judges"),
        ("judge-aware", ComingBattles(MODELS), "compares several judges"),
        ("informativeness", ComingBattles(MODELS[:2]), "needs at least three models"),
    ],
)
def test_a_ranker_that_needs_what_the_run_does_not_have_is_rejected(ranker, coming, why):
    with pytest.raises(UsageError, match=why):
        check_rankers(["bradley-terry", ranker], coming)


@pytest.mark.slow
def test_length_control_of_scores_is_rejected():
    with pytest.raises(UsageError, match="have no lengths"):
        check_rankers(["bradley-terry"], ComingBattles(MODELS), {"length_control": True})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ranker", "coming"),
    [
        ("mean", verdicts("numeric")),
        ("judge-aware", verdicts(judges=("first", "second"))),
        ("bradley-terry", verdicts(judges=("first", "second"), one_jury=True)),
        ("structured-bradley-terry", verdicts(human=True)),
        ("soft-elo", verdicts(human=True)),
        ("soft-elo", verdicts("direct", logprobs="required")),
    ],
)
def test_a_ranker_that_has_what_it_needs_is_accepted(ranker, coming):
    assert check_rankers([ranker], coming) == []


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("coming", [verdicts(), verdicts("direct"), ComingBattles(MODELS)])
def test_a_ranker_that_another_one_will_replace_is_noted(coming):
    [note] = check_rankers(["soft-elo"], coming)
    assert "will be ranked by bradley-terry: nothing gives beta to soft-elo" in note


def test_a_given_beta_needs_no_other_ranker():
    assert check_rankers(["soft-elo"], verdicts(), {"beta": 0.5}) == []


def test_a_target_without_anything_to_fit_it_to_is_rejected():
    with pytest.raises(UsageError, match="soft-elo cannot rank this run"):
        check_rankers(["soft-elo"], verdicts(), {"target": "margin"})


@pytest.mark.slow
def test_many_models_are_checked_too():
    names = [f"model {k}" for k in range(40)]
    with pytest.raises(UsageError, match="no model called 'birch'"):
        check_rankers(["bradley-terry"], ComingBattles(names), {"pin": "birch:1000"})
