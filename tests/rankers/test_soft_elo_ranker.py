"""Soft-Elo: beta is recovered, an inflated scale is undone, intervals hold, a judge without a
signal is not used."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from coverage import STRENGTHS, WORLDS, covered, worlds
from merged_worlds import battles_of
from scipy.special import expit

from podium import (
    Battles,
    Judge,
    NotIdentifiedError,
    UsageError,
    calibrate,
    rank,
    read_battles,
    simulate,
)
from podium.data.counting.battle_frame import BattleFrame
from podium.defaults import MEAN
from podium.errors import UnknownScaleError
from podium.notices.notice_text import notice_texts
from podium.rankers.bradley_terry import bradley_terry
from podium.rankers.calibration.evidence import build_evidence
from podium.rankers.calibration.signals import read_signal
from podium.rankers.calibration.targets import fit_target
from podium.rankers.fit.scale import POINTS
from podium.rankers.soft_elo import soft_elo

INFLATED = Judge(scale=2.5, noise=0.5)
EXACT = Judge(scale=2.0, noise=0.0, position_bias=0.5)
"""Its merged margin is twice the difference in quality, so humans follow sigmoid(margin / 2): beta
is 0.5."""
ITEMS = 60
NOMINAL = pytest.approx(0.95, abs=0.03)


@cache
def exact_worlds():
    return [(world, battles_of(world, EXACT, human=True)) for world in worlds(ITEMS)]


def beta_of(battles, level=0.95, cluster="item"):
    return fit_target(build_evidence(battles, read_signal(battles, "margin"), cluster), level)


def ranked(battles, **options):
    return rank(battles, "soft-elo", **options).standings[0]


def scores(standings):
    return {entry.model: entry.score for entry in standings.entries}


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_beta_lies_in_its_interval_at_the_stated_rate(level):
    """Known truth: 1 / scale. 200 worlds, binomial error 0.03 at 80% and 0.016 at 95%."""
    found = [beta_of(battles, level) for _, battles in exact_worlds()]
    rate = np.mean([one.low <= 0.5 <= one.high for one in found])
    assert rate == pytest.approx(level, abs=3 * np.sqrt(level * (1 - level) / WORLDS))


@pytest.mark.slow
def test_an_interval_of_beta_of_half_the_width_would_not_hold():
    found = [beta_of(battles) for _, battles in exact_worlds()]
    rate = np.mean([abs(one.beta - 0.5) <= (one.high - one.low) / 4 for one in found])
    assert rate < 0.8


def soft_truth(world):
    """The Elo that a fit to the exact expected targets gives: sigmoid(quality difference), as with
    Judge()."""
    return dict(zip(world.models, MEAN + POINTS * world.estimand(Judge()), strict=True))


def interval_coverage(**options):
    hits = []
    for seed, (world, battles) in enumerate(exact_worlds()):
        found = soft_elo(battles, rng=np.random.default_rng(seed), regularization=0.0, **options)
        hits += covered(found, soft_truth(world))
    return np.mean(hits)


@pytest.mark.slow
def test_intervals_hold_the_rating_with_the_error_of_beta_in_them():
    """Truth: the fit to the simulator's exact expected credits, with the true beta."""
    assert interval_coverage() == NOMINAL


@pytest.mark.slow
def test_intervals_that_take_rows_for_independent_do_not_hold():
    assert interval_coverage(cluster="row") < 0.88


@pytest.mark.slow
def test_with_few_human_labels_the_outer_intervals_still_hold():
    assert few_labels(include=True) == NOMINAL


@pytest.mark.slow
def test_intervals_that_take_the_fitted_beta_for_exact_do_not_hold():
    """Fifty labels: beta's error corrects the scale of the scale, and the outer ratings with it."""
    assert few_labels(include=False) < 0.9


@cache
def few_labels(include):
    """Coverage of the weakest and the strongest model when one battle in 25 has a human label."""
    hits = []
    for seed, (world, battles) in enumerate(exact_worlds()):
        rng = np.random.default_rng(seed)
        kept = battles.table["human"].where(rng.random(len(battles)) < 0.04)
        sparse = Battles(BattleFrame(battles.table.assign(human=kept)))
        options = {} if include else {"beta": beta_of(sparse).beta}
        found = soft_elo(sparse, rng=rng, regularization=0.0, **options)
        outer = (world.models[0], world.models[-1])
        entries = tuple(entry for entry in found.entries if entry.model in outer)
        hits += covered(replace(found, entries=entries), soft_truth(world))
    return np.mean(hits)


def errors_to_human(battles):
    """Mean absolute error of soft and of hard Elo against the Elo of the human labels, all fitted
    jointly."""
    human = scores(rank(read_battles(human_battles(battles)), "bradley-terry").standings[0])
    soft = ranked(battles, hard=True)
    return (
        np.mean([abs(entry.score - human[entry.model]) for entry in soft.entries]),
        np.mean([abs(entry.extra["hard"] - human[entry.model]) for entry in soft.entries]),
    )


def human_battles(battles):
    return battles.to_frame().assign(credit=battles.table["human"])[
        ["item", "model_a", "model_b", "credit"]
    ]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_under_an_inflated_judge_the_hard_error_is_at_least_twice_the_soft_one(seed):
    world = simulate(10, 100, seed=seed, spread=0.8, item_sd=0.7)
    soft, hard = errors_to_human(world.battles(INFLATED, human=True))
    assert hard >= 2 * soft


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_held_out_the_hard_error_is_at_least_twice_the_soft_one_too(seed):
    world = simulate(10, 100, seed=seed, spread=0.8, item_sd=0.7)
    accuracy = calibrate(
        world.battles(INFLATED, human=True), bootstrap=20, scale_correction=False
    ).accuracy
    assert accuracy["hard"].mae >= 2 * accuracy["soft"].mae


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_the_hard_label_is_the_credit_and_the_margin_s_sign_would_double_the_error(seed):
    """Flips are ties in the credits; the sign of the averaged margin decides them all, and corrects
    the scale of the scale.
    """
    world = simulate(10, 100, seed=seed, spread=0.8, item_sd=0.5)
    battles = world.battles(Judge(scale=1.5, position_bias=2.0, noise=0.5), human=True)
    signs = (np.sign(battles.table["margin"]) + 1) / 2
    by_sign = read_battles(battles.to_frame().drop(columns="swap").assign(credit=signs))
    credit, sign = (
        calibrate(one, bootstrap=20, scale_correction=False).accuracy["hard"].mae
        for one in (battles, by_sign)
    )
    assert battles.swaps().shares()["flip"] > 0.3
    assert sign > 2 * credit


def silent(seed, items=60):
    """A judge whose margins are noise, beside human labels."""
    frame = simulate(6, items, seed=seed).judgments(Judge(scale=0.0, noise=1.0), human=True)
    return read_battles(frame)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_judge_without_a_signal_is_rejected_or_warned_of(seed):
    assert any("signal" in reported for reported in doubts_about(silent(seed)))


def doubts_about(battles):
    """Return the refusal, or the warnings."""
    try:
        return notice_texts(ranked(battles).warnings)
    except NotIdentifiedError as error:
        return (str(error),)


@pytest.mark.slow
def test_a_judge_with_a_signal_is_not_warned_of():
    world = simulate(8, 100, seed=0)
    warnings = notice_texts(ranked(world.battles(INFLATED, human=True)).warnings)
    assert not [one for one in warnings if "signal" in one or "rises" in one]


def test_margins_turned_round_are_rejected():
    frame = simulate(6, 60, seed=0).judgments(INFLATED, human=True)
    with pytest.raises(NotIdentifiedError, match="its sign is reversed"):
        ranked(read_battles(frame.assign(margin=-frame["margin"], credit=1 - frame["credit"])))


@pytest.mark.slow
def test_margins_whose_size_says_nothing_are_warned_of():
    """Signs are right, sizes are shuffled: agreement is the same for small and large margins."""
    frame = simulate(8, 100, seed=0).battles(INFLATED, human=True).to_frame().drop(columns="swap")
    sizes = np.random.default_rng(0).permutation(frame["margin"].abs())
    found = ranked(read_battles(frame.assign(margin=np.sign(frame["margin"]) * sizes)))
    assert any("hardly rises" in warning for warning in notice_texts(found.warnings))


def plain_ratings(battles):
    """Return the scores by Bradley-Terry, called without podium's choice of rankers."""
    return scores(bradley_terry(battles, rng=np.random.default_rng(0)))


@pytest.mark.slow
def test_without_beta_hard_verdicts_are_ranked_by_bradley_terry_under_its_name():
    battles = simulate(5, 20, seed=0).battles(INFLATED)
    found = ranked(battles)
    assert found.ranker == "bradley-terry"
    assert scores(found) == pytest.approx(plain_ratings(battles), abs=1e-9)
    assert found.fit.beta is None


@pytest.mark.slow
def test_the_note_on_another_ranker_says_why_and_how_many_labels_would_help():
    found = ranked(simulate(5, 20, seed=0).battles(INFLATED))
    [note] = [
        one
        for one in notice_texts(found.warnings)
        if one.startswith("ranked by bradley-terry, not by soft-elo")
    ]
    assert "no calibration and no human labels" in note
    assert "`podium calibrate` finds it from human labels on 30 items or more" in note
    assert "conformal bounds from 9 labelled models on" in note
    assert found.to_dict()["diagnostics"]["replaces"] == {"ranker": "soft-elo", "reason": note}


def test_the_note_on_another_ranker_names_options_without_effect():
    found = ranked(simulate(5, 20, seed=0).battles(INFLATED), hard=True, pin="model-01:1000")
    assert any("(hard without effect)" in one for one in notice_texts(found.warnings))
    assert next(entry.score for entry in found.entries if entry.model == "model-01") == 1000


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("names", ["soft-elo,bradley-terry", "bradley-terry,soft-elo"])
def test_a_ranking_by_bradley_terry_is_given_once_though_soft_elo_falls_back_to_it(names):
    ranking = rank(simulate(5, 20, seed=0).battles(INFLATED), names)
    [only] = ranking.standings
    assert only.ranker == "bradley-terry"
    assert "replaces" not in only.diagnostics
    assert any(
        one.startswith("ranked by bradley-terry, not by soft-elo")
        for one in notice_texts(only.warnings)
    )


@pytest.mark.slow
def test_a_slice_is_ranked_by_bradley_terry_if_nothing_gives_beta():
    world = simulate(5, 20, seed=0)
    frame = world.judgments(INFLATED)
    frame["category"] = np.where(frame["item"].str[-1].isin(list("02468")), "even", "odd")
    ranking = rank(read_battles(frame), "soft-elo", by="category")
    assert {(one.ranker, one.slice) for one in ranking.standings} == {
        ("bradley-terry", "even"),
        ("bradley-terry", "odd"),
    }


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("target", ["margin", "smoothing", "log-odds"])
def test_a_target_that_was_asked_for_and_has_no_labels_is_rejected(target):
    frame = simulate(5, 20, seed=0).judgments(Judge(verdicts="soft"))
    with pytest.raises(NotIdentifiedError, match=r"human.*calibration=FILE"):
        ranked(read_battles(frame), target=target)


@pytest.mark.slow
def test_without_anything_that_gives_beta_graded_credits_beside_margins_are_used_as_they_are():
    """Oracle: Bradley-Terry on the same credits."""
    battles = read_battles(simulate(5, 30, seed=0).judgments(Judge(verdicts="soft")))
    assert battles.table["margin"].notna().all()
    found = ranked(battles)
    assert found.ranker == "soft-elo"
    assert found.diagnostics["soft"]["kind"] == "credit"
    assert scores(found) == pytest.approx(plain_ratings(battles), abs=1e-9)


def test_a_given_beta_is_used_on_margins_beside_graded_credits():
    frame = simulate(5, 30, seed=0).judgments(Judge(verdicts="soft"))
    found = ranked(read_battles(frame), beta=0.4)
    assert found.fit.beta == 0.4
    assert found.diagnostics["soft"]["kind"] == "margin"


def test_hard_verdicts_without_margins_are_ranked_by_bradley_terry_though_there_are_labels():
    battles = read_battles(
        simulate(5, 20, seed=0).judgments(INFLATED, human=True).drop(columns="margin")
    )
    found = ranked(battles)
    assert found.ranker == "bradley-terry"
    assert any("(the verdicts have no margins)" in one for one in notice_texts(found.warnings))
    assert scores(found) == pytest.approx(plain_ratings(battles), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("label", [0.5, 1.0])
def test_labels_that_do_not_bound_beta_are_as_good_as_none(label):
    """All are ties, or humans agree with the judge every time."""
    frame = simulate(5, 20, seed=0).battles(INFLATED).to_frame().drop(columns="swap")
    frame["human"] = np.where(label == 0.5, label, (frame["margin"] > 0).astype(float))
    found = ranked(read_battles(frame))
    assert found.ranker == "bradley-terry"
    [note] = [
        one for one in notice_texts(found.warnings) if one.startswith("ranked by bradley-terry")
    ]
    assert (
        "a human preference: 200 of 200 have a human label" if label == 0.5 else "no finite maximum"
    ) in note


@pytest.mark.slow
def test_merged_hard_verdicts_are_not_taken_for_soft_credits():
    """A win in one order and a tie in the other average 0.75, which is no probability."""
    frame = simulate(5, 30, seed=0).judgments(Judge(tie=1.0), human=True).drop(columns="margin")
    battles = read_battles(frame)
    assert 0.75 in set(battles.table["credit"])
    assert ranked(battles).ranker == "bradley-terry"


def test_the_ranker_itself_gives_no_rating_of_another_ranker():
    with pytest.raises(UnknownScaleError, match="nothing gives beta"):
        soft_elo(simulate(5, 20, seed=0).battles(INFLATED), rng=np.random.default_rng(0))


def test_options_of_a_calibration_are_rejected_before_another_ranker_is_taken():
    with pytest.raises(UsageError, match=r"^conformal_level needs calibration=FILE"):
        ranked(simulate(5, 20, seed=0).battles(INFLATED), conformal_level=0.8)


def test_soft_credits_without_margins_are_targets_as_they_are():
    """Oracle: Bradley-Terry on the same credits."""
    frame = simulate(5, 30, seed=0).judgments(Judge(verdicts="soft")).drop(columns="margin")
    battles = read_battles(frame)
    expected = bradley_terry(battles, rng=np.random.default_rng(0))
    found = ranked(battles)
    assert scores(found) == pytest.approx(scores(expected), abs=1e-9)
    assert found.fit.beta == 1.0


@pytest.mark.slow
def test_a_given_beta_equals_bradley_terry_on_its_sigmoid():
    battles = simulate(6, 40, seed=2).battles(INFLATED)
    soft = (
        battles.to_frame().drop(columns="swap").assign(credit=expit(0.4 * battles.table["margin"]))
    )
    expected = bradley_terry(read_battles(soft), rng=np.random.default_rng(0))
    found = ranked(battles, beta=0.4)
    assert scores(found) == pytest.approx(scores(expected), abs=1e-9)
    assert [entry.se for entry in found.entries] == pytest.approx(
        [entry.se for entry in expected.entries], rel=1e-9
    )


@pytest.mark.slow
def test_a_large_beta_tends_to_the_signs_of_the_margins():
    battles = simulate(6, 60, seed=2).battles(INFLATED)
    signs = (
        battles.to_frame()
        .drop(columns="swap")
        .assign(credit=(np.sign(battles.table["margin"]) + 1) / 2)
    )
    expected = bradley_terry(read_battles(signs), rng=np.random.default_rng(0))
    assert scores(ranked(battles, beta=1e6)) == pytest.approx(scores(expected), abs=0.01)


@pytest.mark.slow
def test_scaling_the_margins_scales_beta_and_nothing_else():
    frame = simulate(6, 40, seed=2).judgments(INFLATED, human=True)
    one, ten = (
        ranked(read_battles(frame.assign(margin=frame["margin"] * factor))) for factor in (1, 10)
    )
    assert scores(ten) == pytest.approx(scores(one), abs=1e-8)
    assert ten.fit.beta == pytest.approx(one.fit.beta / 10)


@pytest.mark.slow
def test_battles_without_a_margin_are_left_out_and_counted():
    frame = simulate(6, 40, seed=2).judgments(INFLATED, human=True, orders="ab")
    lacking = frame.index % 5 == 0
    part = read_battles(frame[~lacking])
    found = ranked(read_battles(frame.assign(margin=frame["margin"].mask(lacking))))
    assert scores(found) == pytest.approx(scores(ranked(part)), abs=1e-9)
    assert found.counts.without_margin == lacking.sum()
    assert any(
        f"{lacking.sum()} of 600 judged battles have no margin" in warning
        for warning in notice_texts(found.warnings)
    )


@pytest.mark.slow
def test_a_model_without_a_margin_is_named_and_not_ranked():
    frame = simulate(6, 40, seed=2).judgments(INFLATED, human=True)
    silent_one = (frame["model_a"] == "model-03") | (frame["model_b"] == "model-03")
    found = ranked(read_battles(frame.assign(margin=frame["margin"].mask(silent_one))))
    [last] = [entry for entry in found.entries if entry.model == "model-03"]
    assert last.score is None
    assert any(
        "model-03 has no battle with a signal" in warning
        for warning in notice_texts(found.warnings)
    )


@pytest.mark.slow
def test_unparsed_battles_stay_out_of_the_fit_whatever_their_margin():
    frame = simulate(5, 40, seed=2).judgments(INFLATED, human=True, orders="ab")
    unparsed = frame.index % 4 == 0
    reasons = np.where(unparsed, "refused", None)
    found = ranked(
        read_battles(frame.assign(credit=frame["credit"].mask(unparsed), reason=reasons))
    )
    assert scores(found) == pytest.approx(scores(ranked(read_battles(frame[~unparsed]))), abs=1e-9)
    assert found.counts.unparsed == unparsed.sum()


@pytest.mark.slow
def test_human_ties_do_not_move_beta():
    frame = simulate(6, 40, seed=2).judgments(INFLATED, human=True, orders="ab")
    tie = frame.index % 3 == 0
    with_ties = read_battles(frame.assign(human=frame["human"].mask(tie, 0.5)))
    without = read_battles(frame.assign(human=frame["human"].mask(tie)))
    assert ranked(with_ties).fit.beta == pytest.approx(ranked(without).fit.beta, abs=1e-12)


@pytest.mark.slow
def test_slices_share_one_beta():
    """Soft-Elo, appendix E: pooled over slices."""
    world = simulate(6, 60, seed=2, categories=("code", "essay"))
    ranking = rank(world.battles(INFLATED, human=True), "soft-elo", by="category")
    code, essay = ranking.standings
    assert code.fit.beta == essay.fit.beta == ranked(world.battles(INFLATED, human=True)).fit.beta


@pytest.mark.slow
def test_criteria_find_the_one_that_human_heed():
    """Two criteria, one of them noise: the map weighs the other, and predicts humans better than
    their mean does."""
    world = simulate(8, 100, seed=5, spread=0.8)
    frame = world.judgments(INFLATED, human=True, orders="ab")
    noise = np.random.default_rng(0).normal(0, 3, len(frame))
    frame = frame.assign(
        margin_sense=frame["margin"], margin_noise=noise, margin=(frame["margin"] + noise) / 2
    )
    mean, criteria = (
        calibrate(read_battles(frame), target=kind, bootstrap=20, scale_correction=False)
        for kind in ("margin", "criteria")
    )
    assert criteria.target.weights["sense"] > 10 * abs(criteria.target.weights["noise"])
    assert criteria.accuracy["soft"].log_loss < mean.accuracy["soft"].log_loss


@pytest.mark.slow
def test_smoothing_by_a_constant_fits_the_share_of_agreement():
    """Closed form: the fitted constant is the share of decisive verdicts with which decisive humans
    agree."""
    battles = simulate(6, 60, seed=2).battles(Judge(tie=0.5), human=True)
    table = battles.table[battles.table["swap"] != "flip"]
    verdict, human = np.sign(table["credit"] - 0.5), np.sign(table["human"] - 0.5)
    expected = np.mean((verdict == human)[(verdict != 0) & (human != 0)])
    assert expit(ranked(battles, target="smoothing").fit.beta) == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"beta": 0.0}, "above 0"),
        ({"beta": -1.0}, "above 0"),
        ({"target": "smoothing", "constant": 0.4}, "between 0.5 and 1"),
        ({"target": "margin", "constant": 0.7}, "smoothing"),
        ({"target": "criteria", "beta": 1.0}, "target=margin"),
        ({"target": "length"}, "was removed: .*length_control=true"),
        ({"target": "colour"}, "margin, smoothing, criteria, credit"),
        ({"target": "criteria", "ridge": -1.0}, "0 or more"),
        ({"strata": "family"}, "strata was removed"),
        ({"halflife": 30.0}, "halflife was removed"),
        ({"conformal_level": 0.9}, "calibration=FILE"),
        ({"cluster": "model"}, "item, row"),
        ({"regularization": -1.0}, "0 or more"),
    ],
)
def test_an_impossible_option_says_what_is_possible(options, message):
    with pytest.raises(UsageError, match=message):
        ranked(simulate(5, 20, seed=0).battles(INFLATED, human=True), **options)


def test_several_judges_are_rejected():
    battles = simulate(4, 10, seed=0).battles(INFLATED, Judge("other"), human=True)
    with pytest.raises(NotIdentifiedError, match="2 judges"):
        ranked(battles)


@pytest.mark.slow
def test_swapping_and_shuffling_change_nothing():
    table = simulate(6, 20, seed=2).battles(INFLATED, human=True).to_frame().drop(columns="swap")
    turned = table.sample(frac=1, random_state=1)
    swapped = turned.rename(columns={"model_a": "model_b", "model_b": "model_a"}).assign(
        credit=1 - turned["credit"], human=1 - turned["human"], margin=-turned["margin"]
    )
    one, other = (ranked(read_battles(part[USED])) for part in (table, pd.DataFrame(swapped)))
    assert scores(other) == pytest.approx(scores(one), abs=1e-9)
    assert other.fit.beta == pytest.approx(one.fit.beta, abs=1e-12)


USED = ["item", "model_a", "model_b", "credit", "margin", "human"]


@pytest.mark.slow
def test_the_simulated_strengths_are_those_of_the_coverage_tests():
    assert len(exact_worlds()[0][0].models) == len(STRENGTHS)


def verdicts_and_one_probability():
    frame = (
        simulate(4, 20, seed=3).judgments(Judge(), human=True, orders="ab").drop(columns="margin")
    )
    frame["credit"] = frame["credit"].round()
    frame.loc[frame.index[0], "credit"] = 0.2
    return read_battles(frame)


def test_one_probability_among_hard_verdicts_makes_no_soft_credits():
    assert ranked(verdicts_and_one_probability()).ranker == "bradley-terry"


def test_probabilities_beside_hard_verdicts_are_warned_of_where_they_are_requested():
    found = ranked(verdicts_and_one_probability(), target="credit")
    [warning] = [one for one in notice_texts(found.warnings) if "taken for probabilities" in one]
    assert warning.startswith("119 of 120 credits are wins, ties and losses")


@pytest.mark.slow
def test_a_ridge_without_criteria_is_rejected():
    _, battles = exact_worlds()[0]
    with pytest.raises(UsageError, match="ridge pulls the weights of target=criteria together"):
        ranked(battles, ridge=5.0)
