"""The scale correction of a judge's ratings to human scale: the factor, the spread, the intervals,
what they are worth.
"""

import math
from dataclasses import replace
from functools import cache

import human_worlds
import numpy as np
import pytest
from conformal_ends import mirrored_ends
from human_worlds import JUDGES, MOST_RATIO
from scipy.integrate import quad
from scipy.special import stdtr, stdtrit

from podium import Judge, NotIdentifiedError, UsageError, calibrate, rank, read_battles, simulate
from podium.defaults import MEAN
from podium.notices.notice_text import notice_texts
from podium.rankers.calibration.calibration import ScaleCorrection, Stability
from podium.rankers.calibration.conformal import ConformalRule, quantile_by_t
from podium.rankers.calibration.evidence import build_evidence, select_calibratable
from podium.rankers.calibration.held_out import (
    estimate_scale_correction,
    estimate_spread,
    is_uninformative,
)
from podium.rankers.calibration.signals import read_signal
from podium.rankers.fit.pairs import pair_sums
from podium.rankers.fit.scale import POINTS
from podium.rankers.fit.strengths import fit_strengths
from podium.rankers.json_files import read_calibration
from podium.show.report.calibration_view import (
    calibration_reports,
    intervals_report,
    targets_report,
)
from podium.show.report.standings_notes import standings_notes
from podium.tables import EMPTY

NOISY = Judge("noisy-judge", noise=1.5)


def pairs_of_ratings(seed=0, size=9, slope=1.4, noise=0.2):
    rng = np.random.default_rng(seed)
    judge = rng.normal(0, 0.5, size)
    return judge, slope * judge + rng.normal(0, noise, size)


def moment(judge, human, power):
    """Integrate kappa^power over the unnormalised posterior on the logarithm of kappa."""
    s, h = judge - judge.mean(), human - human.mean()

    def density(x):
        left = np.sum((h - np.exp(x) * s) ** 2)
        return np.exp(power * x - (len(s) - 1) / 2 * np.log(left)) / (1 + (x / 0.5) ** 2)

    return quad(density, -2.5, 4, limit=500, epsabs=0, epsrel=1e-10)[0]


@pytest.mark.parametrize("seed", range(4))
def test_the_factor_is_the_mean_of_its_posterior_by_quadrature(seed):
    judge, human = pairs_of_ratings(seed)
    found, total = estimate_scale_correction(judge, human), moment(judge, human, 0)
    mean = moment(judge, human, 1) / total
    assert found.value == pytest.approx(mean, rel=1e-3)
    assert found.sd == pytest.approx(np.sqrt(moment(judge, human, 2) / total - mean**2), rel=2e-2)
    assert found.low < found.value < found.high


def test_scale_factor_does_not_depend_on_origin_or_order():
    judge, human = pairs_of_ratings()
    moved = estimate_scale_correction(judge[::-1] + 3, human[::-1] - 2)
    assert moved.value == pytest.approx(estimate_scale_correction(judge, human).value, rel=1e-12)


def test_scale_factor_of_two_models_is_unknown():
    assert estimate_scale_correction(np.array([0.0, 1.0]), np.array([0.0, 3.0])) == ScaleCorrection(
        1.0, n=2
    )


def test_judge_that_contradicts_human_labels_gives_no_scale():
    judge, human = pairs_of_ratings()
    assert is_uninformative(-judge, human, estimate_scale_correction(-judge, human))
    assert not is_uninformative(judge, human, estimate_scale_correction(judge, human))


@pytest.mark.parametrize(("scale", "expected"), [(30.0, np.sqrt(30.0**2 - 20.0**2)), (10.0, 0.0)])
def test_the_spread_of_equal_errors_is_what_is_left_of_the_mean_square(scale, expected):
    """The maximum has a closed form where all errors are alike; with small residuals it is at 0."""
    residual = np.array([-1.0, 1.0, -1.0, 1.0, 1.0]) * scale
    assert estimate_spread(residual, np.full(5, 400.0)) == pytest.approx(expected, abs=1e-2)


@pytest.mark.slow
def test_the_quantile_by_t_holds_one_more_normal_score():
    """Its factor on the root mean square, t with n degrees of freedom, gives the share in closed
    form: 90% or more."""
    rng = np.random.default_rng(0)
    for number in (3, 6):
        reach = np.array([quantile_by_t(rng.normal(size=number), 0.9) for _ in range(4000)])
        exact = 2 * stdtr(number, stdtrit(number - 1, 0.95) * np.sqrt(1 + 1 / number)) - 1
        assert np.mean(np.abs(rng.normal(size=4000)) <= reach) == pytest.approx(exact, abs=0.02)
        assert exact >= 0.9
    assert quantile_by_t(np.ones(2), 0.9) == math.inf


@cache
def world():
    frame = simulate(14, 30, seed=5, spread=0.8).judgments(NOISY, human=True, orders="ab")
    old = {f"model-{k:02d}" for k in range(1, 13)}
    a, b = frame["model_a"].isin(old), frame["model_b"].isin(old)
    return frame[a & b], frame[a ^ b].drop(columns="human")


@cache
def calibration(**options):
    return calibrate(read_battles(world()[0]), **options)


def newcomers(known, **options):
    entries = (
        rank(read_battles(world()[1]), "soft-elo", calibration=known, **options)
        .standings[0]
        .entries
    )
    return {entry.model: entry for entry in entries if entry.extra["conformal_level"]}


@pytest.mark.slow
def test_without_the_scale_correction_ratings_and_errors_are_what_they_were():
    plain, scale_corrected = calibration(scale_correction=False), calibration()
    assert plain.scale_correction == {}
    assert (
        tuple(model.without_scale_correction() for model in scale_corrected.models) == plain.models
    )
    assert (plain.target, plain.anchors) == (scale_corrected.target, scale_corrected.anchors)
    for kind in ("hard", "soft"):
        assert scale_corrected.accuracy[kind].plain_mae == plain.accuracy[kind].mae


@pytest.mark.slow
def test_each_fold_is_scale_corrected_by_the_other_models():
    """Transcribed for one model: human ratings and the judge's ratings of the others, without any
    battle of it."""
    battles = read_battles(world()[0])
    evidence = select_calibratable(build_evidence(battles, read_signal(battles, "margin")))
    known, k = calibration(), 4
    rest = (evidence.first != k) & (evidence.second != k)
    soft = evidence.signal.predict(evidence.fit_weights(rest))
    ratings = []
    for credit in (soft, evidence.human):
        pairs = pair_sums(evidence.coded_by(np.where(rest, credit, np.nan)))
        ratings.append(np.delete(fit_strengths(pairs, known.regularization).theta, k))
    held = known.models[k]
    factor = estimate_scale_correction(*ratings).value
    assert held.soft_scale_correction == pytest.approx(factor, rel=1e-6)
    assert held.residual("soft") == pytest.approx(
        MEAN + factor * (held.soft_elo - MEAN) - held.human_elo, rel=1e-6
    )


@pytest.mark.slow
def test_a_models_own_labels_do_not_move_its_factor():
    frame = world()[0]
    own = (frame["model_a"] == "model-05") | (frame["model_b"] == "model-05")
    turned = calibrate(
        read_battles(frame.assign(human=frame["human"].where(~own, 1 - frame["human"])))
    )
    factors = [
        next(held.soft_scale_correction for held in each.models if held.model == "model-05")
        for each in (turned, calibration())
    ]
    assert factors[0] == pytest.approx(factors[1], rel=1e-9)


def human_variance(known, entry):
    """Return the variance of a newcomer's rating by votes; beyond the calibrated models, it grows
    as the variance of a vote falls."""
    scale_correction = known.scale_correction["soft"]
    ratings = [MEAN + POINTS * scale_correction.value * own.soft_theta for own in known.anchors]
    ends = {"conformal_high": max(ratings), "conformal_low": min(ratings)}
    opponents = np.array([MEAN + POINTS * own.human_theta for own in known.anchors])

    def variance_of_vote(elo):
        chance = 1 / (1 + 10 ** ((opponents - elo) / 400))
        return np.mean(chance * (1 - chance))

    growth = 1.0
    for name, end in ends.items():
        if entry.extra[name] is None:
            growth = max(1, variance_of_vote(end) / variance_of_vote(entry.score))
    return growth * scale_correction.human_se**2


@pytest.mark.slow
def test_newcomers_are_scale_corrected_by_all_models_with_the_full_uncertainty():
    known, plain = calibration(), newcomers(calibration(scale_correction=False))
    scale_correction, q = known.scale_correction["soft"], known.conformal["soft"].q
    for name, entry in newcomers(known).items():
        assert entry.score == pytest.approx(
            MEAN + scale_correction.value * (plain[name].score - MEAN)
        )
        assert entry.se == pytest.approx(scale_correction.value * plain[name].se)
        half = q * math.sqrt(
            entry.se**2 + human_variance(known, entry) + scale_correction.spread**2
        )
        assert mirrored_ends(entry)[1] - entry.score == pytest.approx(half)
        assert entry.extra["interval_method"] == "conformal"


def test_scores_are_residuals_over_all_errors():
    known = calibration()
    scale_correction, held = known.scale_correction["soft"], known.models[0]
    error = math.sqrt(
        (held.soft_scale_correction * held.soft_se) ** 2
        + held.human_se**2
        + scale_correction.spread**2
    )
    assert held.score("soft", known.scale_correction["soft"]) == pytest.approx(
        abs(held.residual("soft")) / error
    )


@pytest.mark.slow
def test_a_file_keeps_the_scale_correction_and_an_older_one_has_none(tmp_path):
    path = tmp_path / "calibration.json"
    path.write_text(calibration().to_json())
    assert read_calibration(path) == calibration()
    assert newcomers(read_calibration(path)) == newcomers(calibration())
    path.write_text(
        calibration(scale_correction=False).to_json().replace('"scale correction": {},', "")
    )
    assert newcomers(read_calibration(path)) == newcomers(calibration(scale_correction=False))


@cache
def of_six(**options):
    frame = world()[0]
    old = {f"model-{k:02d}" for k in range(1, 7)}
    return calibrate(
        read_battles(frame[frame["model_a"].isin(old) & frame["model_b"].isin(old)]), **options
    )


@pytest.mark.slow
def test_six_calibrated_models_give_an_interval_by_t_that_says_so():
    known = of_six()
    scores = np.array([held.score("soft", known.scale_correction["soft"]) for held in known.models])
    for entry in newcomers(known).values():
        of_human = known.scale_correction["soft"].variance(entry.se, of_human=True)
        half = quantile_by_t(scores, 0.9) * math.sqrt(of_human + human_variance(known, entry))
        assert mirrored_ends(entry)[1] - entry.score == pytest.approx(half)
        assert entry.extra["interval_method"] == "t (n = 6): assumes normal disagreement"


@pytest.mark.slow
def test_intervals_of_six_models_are_infinite_without_scale_correction():
    assert {
        entry.extra["conformal_low"] for entry in newcomers(of_six(scale_correction=False)).values()
    } == {None}


def test_scale_correction_of_three_models_is_omitted_and_reported():
    frame = world()[0]
    few = {"model-01", "model-02", "model-03"}
    known = calibrate(read_battles(frame[frame["model_a"].isin(few) & frame["model_b"].isin(few)]))
    assert (
        known.scale_correction["soft"].value,
        {held.factor("soft") for held in known.models},
    ) == (1.0, {1.0})
    assert any(
        "3 models are too few to estimate a scale correction" in warning
        for warning in notice_texts(known.warnings)
    )
    assert f"; plain verdicts err {known.accuracy['hard'].mae:.0f}." in known.answer[0]
    assert scale_corrected_by(known) == ("scale-corrected by", "no", "no")


def scale_corrected_by(known):
    table = next(
        report.table for report in calibration_reports(known) if "knew nothing of" in report.title
    )
    return next(row for row in table.rows if row[0] == "scale-corrected by")


@pytest.mark.slow
def test_interval_for_unlimited_human_votes_is_omitted_if_label_noise_hides_it():
    with pytest.raises(NotIdentifiedError, match="of=human needs 20 calibrated models"):
        newcomers(calibration(), of="human")
    with pytest.raises(UsageError, match="of='judges' is unknown"):
        newcomers(calibration(), of="judges")


@pytest.mark.slow
def test_scale_doubt_and_error_floor_are_reported_without_scale_correction():
    plain, scale_corrected = calibration(scale_correction=False), calibration()
    [doubt] = [
        warning
        for warning in notice_texts(plain.warnings)
        if "as far apart as the judge's" in warning
    ]
    assert doubt.endswith("(ratings here are not scale-corrected: scale_correction=False)")
    assert doubt.split(":")[0] in "".join(notice_texts(scale_corrected.warnings))
    assert plain.answer[1:] == (
        f"Humans' own sampling error alone leaves {plain.accuracy['soft'].floor:.0f} Elo.",
    )


@pytest.mark.slow
def test_interval_for_unlimited_human_votes_omits_the_label_error():
    scale_correction = replace(calibration().scale_correction["soft"], spread=30.0, n=20)
    known = replace(
        calibration(), scale_correction={**calibration().scale_correction, "soft": scale_correction}
    )
    votes, human = newcomers(known), newcomers(known, of="human")
    q = (
        rank(read_battles(world()[1]), "soft-elo", calibration=known)
        .standings[0]
        .diagnostics["conformal"]["q"]
    )
    for name, entry in human.items():
        half = q[name] * math.hypot(entry.se, 30.0)
        assert mirrored_ends(entry)[1] - entry.score == pytest.approx(half)
        assert half < mirrored_ends(votes[name])[1] - entry.score


def test_a_slope_of_large_margins_is_shown_with_its_digits_wherever_it_stands():
    stability = (Stability(battles=25, mean=8.9e-05, sd=1.2e-05, draws=20, failed=0),)
    target = replace(
        calibration().target, beta=8.9e-05, weights={"margin": 8.9e-05, "length": -0.2}
    )
    known = replace(calibration(), target=target, stability=stability)
    reports = (*calibration_reports(known), targets_report([known]))
    shown = " ".join(cell for own in reports if own.table for row in own.table.rows for cell in row)
    assert (shown.count("8.9e-05"), shown.count("1.2e-05")) == (4, 1)
    assert "margin weighs margin 8.9e-05, length -0.200" in reports[-1].table.legend


def test_the_interval_of_an_uncorrected_error_is_not_called_scale_corrected():
    corrected = calibration()
    only_hard = {"hard": corrected.scale_correction["hard"]}
    uncorrected = replace(corrected, scale_correction=only_hard)
    mixed = intervals_report([corrected, uncorrected]).table
    assert mixed.header[2:4] == ("MAE", "MAE, scale-corrected")
    hard, soft, uncorrected_soft = (row[2:4] for row in mixed.rows)
    assert (hard[0], soft[0], uncorrected_soft[1]) == (EMPTY,) * 3
    assert soft[1] == uncorrected_soft[0] != EMPTY
    assert intervals_report([corrected]).table.header[2] == "MAE, scale-corrected"
    without = replace(corrected, scale_correction={})
    assert intervals_report([without]).table.header[2:4] == ("MAE", "Spearman")


def test_a_held_out_rating_without_an_error_has_no_interval_of_no_width():
    first, *others = (own for own in calibration().models if own.residual("soft") is not None)
    known = replace(calibration(), models=(replace(first, soft_se=0.0), *others))
    assert known.interval_of(known.models[0]) == (None, None)
    table = next(own.table for own in calibration_reports(known) if own.title.startswith("models"))
    [bar] = [bar for bar in table.bars[1:] if "○" in bar]
    assert not set("├─┤") & set(bar)
    for held in others:
        low, high = known.interval_of(held)
        assert (low + high) / 2 == pytest.approx(held.rating("soft"))
        error = held.error("soft", known.scale_correction["soft"])
        assert (high - low) / 2 == pytest.approx(
            known.conformal["soft"].half_width_in_errors * error
        )


@pytest.mark.slow
def test_footnote_names_the_rating_of_the_interval():
    scale_correction = replace(calibration().scale_correction["soft"], spread=30.0, n=20)
    known = replace(
        calibration(), scale_correction={**calibration().scale_correction, "soft": scale_correction}
    )
    ranked = {
        of: rank(read_battles(world()[1]), "soft-elo", calibration=known, of=of)
        for of in ("votes", "human")
    }
    lines = {of: "".join(standings_notes(ranking.standings[0])) for of, ranking in ranked.items()}
    sentence = "the rating that humans would give with ever more votes"
    assert (sentence in lines["votes"], sentence in lines["human"]) == (False, True)


def test_scale_unlike_the_human_scale_is_reported_with_its_interval():
    assert any(
        "times (" in warning and "as far apart as the judge's" in warning
        for warning in notice_texts(calibration().warnings)
    )


def test_the_answer_gives_errors_scale_and_what_sampling_leaves():
    known = calibration()
    error, verdicts = known.accuracy["soft"].mae, known.accuracy["hard"].mae
    assert known.answer[0].startswith(
        f"Scale-corrected soft Elo errs {error:.0f} Elo on a model that it has not seen (90%"
    )
    assert known.answer[0].endswith(f"scale-corrected verdicts err {verdicts:.0f}.")
    assert known.answer[2].startswith(
        f"Humans' own sampling error alone leaves {known.accuracy['soft'].floor:.0f} Elo"
    )


def test_the_floor_is_the_mean_absolute_sampling_error_of_human():
    known = calibration()
    errors = [held.human_se for held in known.models]
    assert known.accuracy["soft"].floor == pytest.approx(np.sqrt(2 / np.pi) * np.mean(errors))


@pytest.mark.slow
def test_verdicts_with_smaller_error_than_the_target_are_reported():
    """Margins that are noise beside verdicts that are not: hard labels have a smaller error, and
    this is reported."""
    frame = world()[0]
    noise = np.random.default_rng(0).normal(size=len(frame)) * 4
    known = calibrate(read_battles(frame.assign(margin=frame["human"] - 0.5 + noise)))
    assert any(
        "scale-corrected verdicts err less than the target" in warning
        for warning in notice_texts(known.warnings)
    )
    plain = calibrate(
        read_battles(frame.assign(margin=frame["human"] - 0.5 + noise)), scale_correction=False
    )
    assert any(
        "plain verdicts err less than the target" in warning
        for warning in notice_texts(plain.warnings)
    )


WORLDS = range(14)
"""Of the acceptance figures for intervals, three draws each: 210 newcomers a case."""
INFLATED = Judge(scale=2, noise=0.7, length_bias=0.6)


@pytest.mark.slow
def test_scale_corrected_ratings_err_less_by_the_share_that_was_measured():
    """Twelve worlds a judge, each bar the design's, and that of their geometric mean."""
    ratios = {name: human_worlds.error_ratio(name, range(12)) for name in JUDGES}
    assert {name: ratio for name, ratio in ratios.items() if ratio > MOST_RATIO[name]} == {}
    assert np.exp(np.mean(np.log([*ratios.values()]))) <= 0.75


@pytest.mark.slow
@pytest.mark.parametrize(("judge", "most"), [(JUDGES["noisy"][0], 0.60), (INFLATED, 1.05)])
def test_newcomers_intervals_are_narrower_than_by_the_judges_own_error_and_hold(judge, most):
    """Coverage .87 to .95 of 90% intervals; width beside that of ratings as they are: bars of the
    design."""
    right = human_worlds.placements(judge, WORLDS, 12, 1200, draws=3)
    wrong = human_worlds.placements(judge, range(5), 12, 1200, draws=3, scale_correction=False)
    assert right.width[: len(wrong.width)].mean() <= most * wrong.width.mean()
    assert 0.87 <= right.coverage <= 0.95


@pytest.mark.slow
def test_uncorrected_ratings_would_not_cover():
    """The wrong variant, not scale-corrected, errs what Soft-Elo does: more than the bar, which
    scale-corrected ratings meet.
    """
    right, wrong = (
        human_worlds.held_out("noisy", 0, scale_correction).accuracy["soft"]
        for scale_correction in (True, False)
    )
    assert wrong.mae == pytest.approx(right.plain_mae, rel=1e-12)
    assert wrong.mae > MOST_RATIO["noisy"] * right.plain_mae
    assert right.mae <= MOST_RATIO["noisy"] * right.plain_mae


@pytest.mark.slow
def test_a_newcomer_with_four_times_the_battles_is_still_held_and_by_its_own_error_alone_is_not():
    """At least .84 in both worlds; the wrong variant, scores over the judge's own error as before,
    fails in one."""
    right = [
        human_worlds.placements(judge, WORLDS, 12, 600, 4, 3).coverage
        for judge in (JUDGES["noisy"][0], INFLATED)
    ]
    wrong = human_worlds.placements(
        JUDGES["noisy"][0], WORLDS, 12, 600, 4, 3, scale_correction=False
    ).coverage
    assert min(right) >= 0.84 > wrong


@pytest.mark.slow
@pytest.mark.parametrize("calibrated", [6, 4])
def test_six_and_four_calibrated_models_hold_by_t(calibrated):
    """Coverage .86 to .96 of 90% intervals, of both judges: 420 newcomers of 84 calibrations."""
    judges = (JUDGES["noisy"][0], INFLATED)
    hits = [
        human_worlds.placements(judge, WORLDS, calibrated, 600, draws=3).hits for judge in judges
    ]
    assert 0.86 <= np.mean(hits) <= 0.96


def test_without_a_scale_correction_the_error_is_the_standard_error():
    rule = ConformalRule(0.9, "votes", None, 1.5, 12, np.nan, np.zeros(3))
    assert rule.error(12.0) == rule.error_outside(12.0, 1900.0, 1600.0) == 12.0


def test_the_error_grows_beyond_the_calibrated_models():
    """Closed form: all calibrated models are equal, so that a vote has the variance p (1 - p)."""
    correction = ScaleCorrection(value=1.0, low=0.9, high=1.1, n=20, sd=0.05, human_se=20.0)
    rule = ConformalRule(0.95, "votes", correction, 2.0, 20, np.nan, np.zeros(20))
    chances = [1 / (1 + 10 ** (-(elo - 1500) / 400)) for elo in (1600.0, 1900.0)]
    nearest, own = [chance * (1 - chance) for chance in chances]
    expected = math.sqrt(12.0**2 + 20.0**2 * nearest / own)
    assert rule.error_outside(12.0, 1900.0, 1600.0) == pytest.approx(expected)
    assert rule.error_outside(12.0, 1600.0, 1600.0) == pytest.approx(rule.error(12.0))
    assert rule.error_outside(12.0, 1e6, 1600.0) == math.inf
    assert rule.error_outside(12.0, 129_000.0, 1600.0) == math.inf
    assert rule.error_outside(12.0, 1e6, 1e6) == rule.error(12.0)


@pytest.mark.slow
def test_the_answer_of_newcomers_has_their_ratings_with_conformal_intervals():
    ranking = rank(read_battles(world()[1]), "soft-elo", calibration=calibration()).standings[0]
    stated = ranking.answer[0]
    assert stated.startswith("Humans would rate model-14 ")
    assert stated.endswith(", with 90% intervals, if new models resemble the calibrated ones.")
    for entry in newcomers(calibration()).values():
        low, high = entry.extra["conformal_low"], entry.extra["conformal_high"]
        first = "-∞" if low is None else f"{low:.0f}"
        last = "∞" if high is None else f"{high:.0f}"
        assert f"{entry.model} at {entry.score:.0f} Elo ({first} … {last})" in stated
    without = rank(
        read_battles(world()[1]), "soft-elo", calibration=of_six(scale_correction=False)
    ).standings[0]
    assert without.answer == ()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["noisy", "coarse"])
def test_models_outside_the_calibrated_ones_are_covered_by_an_open_end(name):
    """Three models beyond fifteen calibrated ones on either side, in eight worlds each."""
    given, closed = [], []
    for sign in (1, -1):
        found = human_worlds.placements_outside(JUDGES[name][0], range(8), sign=sign)
        given.append(found[0].coverage)
        closed.append(found[1].coverage)
    print(f"{name}: open {np.mean(given):.0%}, closed {np.mean(closed):.0%}")
    assert np.mean(given) >= 0.95
    assert np.mean(closed) < 0.9
