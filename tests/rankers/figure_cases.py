"""Cases of coverage of single figures: rates at equal length, kappa, and how held-out ratings meet
human ratings."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache

import numpy as np
from interval_cases import LEVEL, Case, World
from scipy.special import expit, logit, ndtri

from podium.diagnosis.clustered import Clustered
from podium.diagnosis.human_agreement import clustered_kappa
from podium.rankers.bradley_terry import estimate_elo
from podium.rankers.calibration.accuracy import compare_accuracy, measure_accuracy
from podium.rankers.calibration.calibration import HeldOut
from podium.rankers.errors.intervals import ScoreEstimates, t_quantile
from podium.rankers.estimate import Estimate
from podium.rankers.fit.cells import pair_sums_with_items
from podium.rankers.fit.coded import CodedBattles
from podium.rankers.fit.identification import bounded_models, fit_battles
from podium.rankers.fit.scale import POINTS, elo_scale
from podium.rankers.fit.strengths import Strengths
from podium.rankers.length_control.baseline import estimate_equal_lengths, fit_rates_against
from podium.rankers.length_control.joint import fit_at_equal_length
from podium.rankers.length_control.lengths import Lengths
from podium.rankers.win_rate import estimate_rates

Interval = tuple[float, float]
Draw = Callable[[int], tuple[float, Interval, Interval, float] | None]
"""From the number of a world to a figure, its interval, a wrong one, and the truth; None if the
data raise an error."""
NORMAL = float(ndtri((1 + LEVEL) / 2))
FIGURES_OF_ACCURACY = ("mae", "spearman", "kendall")
STRENGTHS, WORDY = np.array([0.8, 0.1, -0.2, -0.7]), np.array([1.6, 1.0, 1.2, 0.7])
"""Of models whose responses differ in length as in quality."""


def _case_of(draw: Draw, least: float = 0.92) -> Case:
    def choose(which: int) -> World:
        def world(seed: int) -> tuple[ScoreEstimates, np.ndarray] | None:
            drawn = draw(seed)
            if drawn is None:
                return None
            low, high = (np.array([end]) for end in drawn[which])
            covariance = np.full((1, 1), np.nan)
            return ScoreEstimates(np.array([drawn[0]]), low, high, covariance, 0, None), np.array(
                [drawn[3]]
            )

        return world

    return Case(choose(1), choose(2), least, ranks=False)


def rate_at_equal_length(
    items: int, rate: float, slope: float, lead: float, tie: float = 0.0
) -> Draw:
    """Draw battles of one model with a baseline; the model of the judge is AlpacaEval's.

    Args:
        rate: its win rate at equal length.
        slope: logits that it gains as its lead grows without bound.
        lead: mean lead in length, standard deviations.
        tie: share of ties.
    """

    def draw(seed: int) -> tuple[float, Interval, Interval, float] | None:
        rng = np.random.default_rng([seed, items, int(100 * rate), int(10 * slope)])
        ahead = rng.normal(lead, 1, items)
        credit = (rng.random(items) < expit(logit(rate) + slope * np.tanh(ahead))) * 1.0
        credit[rng.random(items) < tie] = 0.5
        code = np.arange(items)
        coded = CodedBattles(
            np.ones(items, int),
            np.zeros(items, int),
            credit,
            np.ones(items),
            code,
            items,
            "item",
            ("b", "n"),
        )
        rates, _ = fit_rates_against(Lengths(coded, np.round(400 * ahead), code, 0), 0)
        if not rates:
            return None
        found = estimate_equal_lengths(coded, 0, rates, LEVEL)
        value = float(found.score[1])
        wrong = value + np.array([-1, 1]) * t_quantile(items, LEVEL) * _plain_error(
            value, credit, ahead
        )
        return value, (found.low[1], found.high[1]), tuple(np.clip(wrong, 0, 1)), rate

    return draw


def _plain_error(value: float, credit: np.ndarray, ahead: np.ndarray) -> float:
    """Return the standard error by the sandwich that takes residuals as they are: what podium gave
    before."""
    design = np.column_stack([np.ones(len(credit)), np.tanh(ahead / ahead.std(ddof=1))])
    at = np.zeros(2)
    for _ in range(200):
        fitted = expit(design @ at)
        bread = np.linalg.pinv((design * (fitted * (1 - fitted))[:, None]).T @ design)
        step = np.clip(bread @ design.T @ (credit - fitted), -1, 1)
        at += step
        if np.abs(step).max() < 1e-12:
            break
    moved = (credit - fitted) * (design @ bread[:, 0])
    return float(value * (1 - value) * np.sqrt(np.var(moved, ddof=1) * len(credit)))


def rates_at_equal_length(items: int) -> Case:
    """Rates of three models against a baseline, their lengths as their quality; raw ones are the
    wrong variant."""

    def world(controlled: bool) -> World:
        def estimate(seed: int) -> tuple[ScoreEstimates, np.ndarray]:
            rng = np.random.default_rng(seed)
            lengths = np.exp(rng.normal(6, 0.5, (items, 4))) * WORDY
            lead = lengths[:, :3] - lengths[:, 3:]
            gap = STRENGTHS[:3] - STRENGTHS[3] + 1.2 * np.tanh(lead / lead.std(axis=0, ddof=1))
            credit, item = (
                (rng.random(gap.shape) < expit(gap)) * 1.0,
                np.repeat(np.arange(items), 3),
            )
            sides, number = (
                (np.tile(np.arange(3), items), np.full(3 * items, 3)),
                np.ones(3 * items),
            )
            coded = CodedBattles(*sides, credit.ravel(), number, item, items, "item", tuple("abcd"))
            if controlled:
                rates, _ = fit_rates_against(
                    Lengths(coded, lead.ravel(), np.arange(len(item)), 0), 3
                )
                found = estimate_equal_lengths(coded, 3, rates, LEVEL)
            else:
                found = estimate_rates(coded, pair_sums_with_items(coded), LEVEL)
            return _first(found, 3), expit(STRENGTHS[:3] - STRENGTHS[3])

        return estimate

    return Case(world(True), world(False), ranks=False)


def _first(estimate: ScoreEstimates, number: int) -> ScoreEstimates:
    kept = slice(None, number)
    parts = {name: getattr(estimate, name)[kept] for name in ("score", "low", "high")}
    return replace(estimate, **parts, covariance=estimate.covariance[kept, kept])


def _battles_of_four(seed: int, items: int, slope: float) -> Lengths:
    """Return a round robin of four models, by a judge with a given length bias in logits."""
    rng = np.random.default_rng(seed)
    lengths = np.exp(rng.normal(6, 0.5, (items, 4))) * WORDY
    a, b = np.triu_indices(4, 1)
    lead = (lengths[:, a] - lengths[:, b]).ravel()
    gap = np.tile(STRENGTHS[a] - STRENGTHS[b], items) + slope * np.tanh(
        lead / np.sqrt(np.mean(lead**2))
    )
    credit, item = (rng.random(len(gap)) < expit(gap)) * 1.0, np.repeat(np.arange(items), 6)
    sides = np.tile(a, items), np.tile(b, items)
    coded = CodedBattles(*sides, credit, np.ones(len(gap)), item, items, "item", tuple("abcd"))
    return Lengths(coded, lead, np.arange(len(gap)), 0)


def _strengths_of_four(lengths: Lengths) -> Strengths:
    return fit_battles(lengths.coded)


def ratings_at_equal_length(items: int) -> Case:
    """Joint ratings of models whose lengths differ; the wrong variant takes the judge's taste for
    quality."""

    def world(controlled: bool) -> World:
        def estimate(seed: int) -> tuple[ScoreEstimates, np.ndarray]:
            lengths = _battles_of_four(seed, items, 0.9)
            coded, strengths = lengths.coded, _strengths_of_four(lengths)
            if controlled:
                strengths = fit_at_equal_length(lengths, strengths).strengths
            scale = elo_scale(
                coded.models, bounded_models(strengths.graph), coded.clusters_by_model(), None, None
            )
            return estimate_elo(strengths, coded, scale, LEVEL), 1500 + POINTS * (
                STRENGTHS - STRENGTHS.mean()
            )

        return estimate

    return Case(world(True), world(False))


def worth_of_length(items: int, slope: float) -> Draw:
    """Draw what a joint fit says that length is worth to the judge; the wrong variant is half as
    wide."""

    def draw(seed: int) -> tuple[float, Interval, Interval, float]:
        lengths = _battles_of_four(seed, items, slope)
        found = fit_at_equal_length(lengths, _strengths_of_four(lengths)).summary(LEVEL)
        value, low, high = (found[f"elo_per_sd{end}"] for end in ("", "_low", "_high"))
        return (
            value,
            (low, high),
            ((value + low) / 2, (value + high) / 2),
            float(POINTS * np.tanh(1) * slope),
        )

    return draw


def kappa_of_battles(items: int, right: float, listed: float) -> Draw:
    """Draw verdicts of a judge that is right with this probability, in three battles an item that
    share its luck.

    The wrong variant takes the two sides of a battle for two battles: it is narrower by the root of
    2.

    Args:
        listed: share of battles in which the response that humans prefer is called a.
    """

    def draw(seed: int) -> tuple[float, Interval, Interval, float]:
        rng = np.random.default_rng([seed, items, int(100 * right), int(100 * listed)])
        agrees = np.repeat(rng.random(items) < right, 3) ^ (rng.random(3 * items) < 0.1)
        human = np.where(rng.random(3 * items) < listed, 1, -1)
        sample = Clustered(np.repeat(np.arange(items), 3), "item", LEVEL)
        found = clustered_kappa(np.where(agrees, human, -human), human, sample)
        narrow = [found.value + (end - found.value) / np.sqrt(2) for end in (found.low, found.high)]
        return (
            found.value,
            (found.low, found.high),
            tuple(narrow),
            2 * (0.9 * right + 0.1 * (1 - right)) - 1,
        )

    return draw


def _ratings(seed: int, models: int, *correlations: float) -> list[list[HeldOut]]:
    """Return ratings of the same humans beside judges of these correlations with them, a list a
    judge."""
    rng = np.random.default_rng([seed, models])
    human = rng.normal(size=models)
    noise = rng.normal(size=(len(correlations), models))
    judges = [
        r * human + np.sqrt(1 - r**2) * own for r, own in zip(correlations, noise, strict=True)
    ]
    return [
        [HeldOut(f"m{k}", h, s, s, 1, 1, 50) for k, (s, h) in enumerate(zip(j, human, strict=True))]
        for j in judges
    ]


def accuracy(name: str, models: int, r: float = 0.8) -> Draw:
    """Draw ratings by judge and humans; the wrong variant is +- 1.96 standard errors by the delta
    method."""
    truth = {
        "mae": np.sqrt(2 / np.pi * (2 - 2 * r)),
        "spearman": 6 / np.pi * np.arcsin(r / 2),
        "kendall": 2 / np.pi * np.arcsin(r),
    }[name]

    def draw(seed: int) -> tuple[float, Interval, Interval, float]:
        (held,) = _ratings(seed, models, r)
        found = measure_accuracy(held, "soft", LEVEL)
        value = getattr(found, name)
        error = {
            "mae": np.std([abs(one.soft_elo - one.human_elo) for one in held]) / np.sqrt(models),
            "spearman": (1 - value**2) / np.sqrt(models - 1),
            "kendall": (1 - value**2) * np.sqrt(0.437 / models),
        }[name]
        ends = (value - NORMAL * error, value + NORMAL * error)
        return value, getattr(found, f"{name}_interval"), ends, float(truth)

    return draw


def accuracy_beyond(name: str, models: int, r: float = 0.9, other: float = 0.6) -> Draw:
    """Draw ratings by two judges; the wrong variant of the difference takes it for exact to half
    its error."""
    curve = {
        "mae": lambda r: np.sqrt(2 / np.pi * (2 - 2 * r)),
        "spearman": lambda r: 6 / np.pi * np.arcsin(r / 2),
        "kendall": lambda r: 2 / np.pi * np.arcsin(r),
    }[name]

    def draw(seed: int) -> tuple[float, Interval, Interval, float]:
        found = _difference(seed, models, r, other)[name]
        value, ends = found.value, (found.low, found.high)
        narrow = tuple(value + (end - value) / 2 for end in ends)
        return value, ends, narrow, float(curve(r) - curve(other))

    return draw


@cache
def _difference(seed: int, models: int, *correlations: float) -> dict[str, Estimate]:
    return compare_accuracy(*_ratings(seed, models, *correlations), LEVEL)


FIGURES: Mapping[str, Case] = {
    "rate at equal length, 20 items, ties": _case_of(
        rate_at_equal_length(20, 0.7, 1.5, 0.7, tie=0.2)
    ),
    "rate at equal length, 12 items": _case_of(rate_at_equal_length(12, 0.7, 1.5, 0.7)),
    "rate at equal length, 8 items": _case_of(rate_at_equal_length(8, 0.5, 0.0, 0.0), 0.91),
    "rates at equal length, 3 models, 150 items": rates_at_equal_length(150),
    "ratings at equal length, 60 items": ratings_at_equal_length(60),
    "worth of length, 60 items": _case_of(worth_of_length(60, 0.9)),
    "worth of length, 60 items, none": _case_of(worth_of_length(60, 0.0)),
    "kappa, 60 items": _case_of(kappa_of_battles(60, 0.8, 0.5)),
    "kappa, 60 items, all listed as right": _case_of(kappa_of_battles(60, 0.8, 1.0)),
    **{
        f"calibrate: {name}, 12 models": _case_of(accuracy(name, 12))
        for name in FIGURES_OF_ACCURACY
    },
    **{
        f"calibrate: {name}, 7 models": _case_of(accuracy(name, 7), 0.91)
        for name in FIGURES_OF_ACCURACY
    },
    **{
        f"calibrate: {name} beyond another, 12 models": _case_of(accuracy_beyond(name, 12))
        for name in FIGURES_OF_ACCURACY
    },
}
HELD_FIGURES: Mapping[str, Case] = {
    name: replace(_case_of(draw), held=True)
    for name, draw in {
        "rate at equal length, 200 items": rate_at_equal_length(200, 0.7, 1.5, 0.7),
        "rate at equal length, 40 items": rate_at_equal_length(40, 0.7, 1.5, 0.7),
        "rate at equal length, 40 items, strong": rate_at_equal_length(40, 0.9, 1.5, 0.7),
        "rate at equal length, 12 items, no bias": rate_at_equal_length(12, 0.5, 0.0, 0.0),
    }.items()
}
