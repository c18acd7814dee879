"""Simultaneous comparisons of all pairs of models: rank sets, intervals of differences, and items
for 80% power.

Pairs of models with standard errors are compared by the largest |t|. A model that never lost, or
that has the same score on every item, has no standard error, and few items estimate it badly: such
pairs are compared by their own exact or score test (`PairTests`), at Bonferroni's level of all
pairs. So are pairs whose scores differ by the same on every item.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import Any

import numpy as np
from scipy.special import stdtr, stdtrit

from podium.rankers.errors.difference import DifferenceTest, unskewed_t
from podium.rankers.errors.intervals import ScoreEstimates, centre_covariance, t_quantile

FEWEST_ITEMS = 8
"""Items of either model of a pair below which only an exact test may separate the two: four battles
of which three are won have a standard error, and it says little."""
MOST_SIMULATED = 500
"""Models up to which the critical value is simulated; above, Bonferroni's bound is used."""
SMALLEST_FREEDOM = 1.0
"""Degrees of freedom below which intervals are not widened further."""
POWER_QUANTILE = 0.84
"""The normal quantile of 0.8, the power."""


@dataclass(frozen=True, slots=True)
class Contrasts:
    """Rank sets, NaN if unknown, by one critical value of |t| for all pairs; `reach` has
    half-widths of differences, infinite if there is none; matrices are None for more than 500
    models. `tests` are those of pairs (lower code first) that were compared by their own test, at
    the one-sided level `tail`."""

    best_rank: np.ndarray
    worst_rank: np.ndarray
    is_above: np.ndarray | None = None
    reach: np.ndarray | None = None
    critical: float = np.nan
    tests: Mapping[tuple[int, int], DifferenceTest] = field(default_factory=dict)
    tail: float = np.nan


def compare_all_pairs(
    estimate: ScoreEstimates,
    *,
    level: float,
    rng: np.random.Generator,
    items: np.ndarray | None = None,
) -> Contrasts:
    """Compare all pairs of models simultaneously, at confidence `level`. A model's rank set is 1 +
    the number significantly better ... M - the number significantly worse.

    The critical value is the `level` quantile of the largest |t| over all pairs, simulated from the
    covariance (Mogstad et al. 2024). Pairs of which one has no standard error, or fewer than 8
    `items` (of each model, shape (models,)), or of which the difference is the same on every item,
    are compared by `estimate.tests`, each at 1 / pairs of the error rate; without such tests,
    models without a standard error have no rank set, and few items separate nobody.
    """
    score, size = estimate.score, len(estimate.score)
    is_known = ~np.isnan(score) & ((estimate.se > 0) | (np.arange(size) == estimate.pinned))
    if estimate.clusters < 2:
        is_known[:] = False
    tested = tested_pairs(estimate, is_known, items, level)
    is_placed = is_known if estimate.tests is None else ~np.isnan(score)
    best, worst = np.full(size, np.nan), np.full(size, np.nan)
    if is_placed.sum() < 2:
        return Contrasts(best, worst)
    matrices = None
    if size <= MOST_SIMULATED:
        matrices = np.zeros((size, size), dtype=bool), np.full((size, size), np.inf)
    better, worse = np.zeros((2, size), dtype=np.int64)
    for first, second in tested.decided:
        better[second] += 1
        worse[first] += 1
        if matrices:
            matrices[0][first, second] = True
    critical = np.nan
    if is_known.sum() > 1:
        known, covariance = _ordered_covariance(estimate, np.flatnonzero(is_known))
        critical = _critical_value(covariance, estimate.clusters - 1, tested.level_of_others, rng)
        for k, (is_ahead, reach) in enumerate(_compare_each(estimate, known, covariance, critical)):
            is_ahead &= ~_has_few_items(items, known[k], known)
            worse[known[k]] += is_ahead.sum()
            better[known] += is_ahead
            if matrices:
                matrices[0][known[k], known] |= is_ahead
                matrices[1][known[k], known] = reach
    best[is_placed], worst[is_placed] = 1 + better[is_placed], size - worse[is_placed]
    is_above, reaches = matrices or (None, None)
    return Contrasts(best, worst, is_above, reaches, critical, tested.tests, tested.tail)


@dataclass(frozen=True, slots=True)
class TestedPairs:
    """Pairs that were compared by their own tests: the `tests` by pair of codes, lower code first,
    each at the one-sided level `tail`; the `decided` ones, better model first; the simultaneous
    confidence level that is left for the other pairs."""

    tests: Mapping[tuple[int, int], DifferenceTest]
    tail: float
    decided: tuple[tuple[int, int], ...]
    level_of_others: float


def tested_pairs(
    estimate: ScoreEstimates, is_known: np.ndarray, items: np.ndarray | None, level: float
) -> TestedPairs:
    """Test pairs of models without a standard error, or with few items, by their own tests at
    Bonferroni's level.

    A test of n items, whose p-value is 2^-n at least, is left out if it cannot reject. If all tests
    reject, the other pairs keep the whole error rate (a fallback of Bonferroni's tests, Wiens
    2003), else their share of it.
    """
    placed = np.flatnonzero(~np.isnan(estimate.score))
    number = len(placed) * (len(placed) - 1) // 2
    tail = (1 - level) / max(2 * number, 1)
    if estimate.tests is None:
        return TestedPairs({}, tail, (), level)
    is_constant = _constant_gaps(estimate)
    has_all_errors = is_known[placed].all() and not is_constant.any()
    if has_all_errors and not _has_few_items(items, placed, placed).any():
        return TestedPairs({}, tail, (), level)
    tests: dict[tuple[int, int], DifferenceTest] = {}
    decided, open_pairs = [], 0
    has_error = _has_error(is_known, is_constant)
    for first, second in _pairs_to_test(placed, has_error, items, tail):
        if not estimate.tests.may_differ(first, second):
            continue
        test = estimate.tests.difference(first, second)
        if test is None:
            continue
        tests[first, second] = test
        if (pair := _order_of_decided(estimate, test, (first, second), tail)) is not None:
            decided.append(pair)
        elif not has_error(first, second):
            open_pairs += 1
    # Pairs with errors are part of the largest |t| already.
    apart = sum(not has_error(first, second) for first, second in tests)
    together = int(is_known.sum()) * (int(is_known.sum()) - 1) // 2
    share = together / max(together + apart, 1) if open_pairs else 1.0
    return TestedPairs(tests, tail, tuple(decided), 1 - (1 - level) * share)


def _has_error(is_known: np.ndarray, is_constant: np.ndarray) -> Callable[[int, Any], Any]:
    """Return a function of two codes, of which the second may be an array: whether the difference
    has a standard error."""
    return lambda first, second: is_known[first] & is_known[second] & ~is_constant[first, second]


def _pairs_to_test(
    placed: np.ndarray, has_error: Callable[[int, Any], Any], items: np.ndarray | None, tail: float
) -> Iterator[tuple[int, int]]:
    """Yield pairs of codes without a standard error, or with few items, of which a test at level
    `tail` can reject."""
    for k, first in enumerate(placed.tolist()):
        others = placed[k + 1 :]
        is_tested = ~has_error(first, others) | _has_few_items(items, first, others)
        if items is not None:
            is_tested &= 0.5 ** np.minimum(items[first], items[others]).astype(float) <= tail
        yield from ((first, second) for second in others[is_tested].tolist())


def _constant_gaps(estimate: ScoreEstimates) -> np.ndarray:
    """Return which pairs of models have scores that differ by the same on every item, shape
    (models, models); none is looked for among more than 500 models."""
    score = estimate.score
    if len(score) > MOST_SIMULATED:
        return np.broadcast_to(np.False_, (len(score), len(score)))
    variance = np.diag(estimate.covariance)
    squared = variance[:, None] + variance - 2 * estimate.covariance
    largest = np.nan_to_num(variance).max(initial=0.0)
    is_constant: np.ndarray = (squared <= 1e-12 * largest) & (score[:, None] != score)
    return is_constant


def _has_few_items(items: np.ndarray | None, first: Any, second: Any) -> Any:
    """Return whether the model with the code `first`, or that with `second`, has fewer than 8
    items."""
    if items is None:
        return np.zeros(np.broadcast_shapes(np.shape(first), np.shape(second)), dtype=bool)
    return np.minimum(items[first], items[second]) < FEWEST_ITEMS


def _order_of_decided(
    estimate: ScoreEstimates, test: DifferenceTest, pair: tuple[int, int], tail: float
) -> tuple[int, int] | None:
    """Return the codes of a pair, the better first, if its test and the order of the scores agree;
    else None."""
    better, worse = pair if estimate.score[pair[0]] > estimate.score[pair[1]] else pair[::-1]
    if estimate.score[better] == estimate.score[worse]:
        return None
    p = test.p_above() if better == pair[0] else test.p_below()
    if p > tail:
        return None
    if (
        estimate.draws is not None
        and 1 - np.mean(estimate.draws[:, better] > estimate.draws[:, worse]) > tail
    ):
        return None
    return better, worse


def _ordered_covariance(
    estimate: ScoreEstimates, known: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the codes of models with standard errors, the best first, and the covariance of their
    scores."""
    covariance = estimate.covariance[np.ix_(known, known)]
    if estimate.pinned is not None:
        # Differences are those of centred scores, and so are the draws.
        covariance = centre_covariance(covariance)
    # Equal scores are ordered by their errors: the names of models must not decide who gets which
    # draws.
    place = np.lexsort(
        ((covariance**3).sum(axis=1), np.diag(covariance), -estimate.score[known].round(9))
    )
    return known[place], covariance[np.ix_(place, place)]


def _compare_each(
    estimate: ScoreEstimates, known: np.ndarray, covariance: np.ndarray, critical: float
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield, for each model, which models it is clearly ahead of and the half-widths of difference
    intervals."""
    score, tail = estimate.score[known], stdtr(estimate.clusters - 1, -critical)
    draws = None if estimate.draws is None else estimate.draws[:, known]
    skewness = None if estimate.skewness is None else estimate.skewness[np.ix_(known, known)]
    for k in range(len(known)):
        multiplier: np.ndarray | float = critical
        if estimate.freedom is not None:
            # The quantile with the same tail probability at other degrees of freedom.
            multiplier = -stdtrit(_freedom_of_gaps(covariance, estimate.freedom[known], k), tail)
        error = _errors_of_gaps(covariance, k)
        t = (score[k] - score) / error
        is_ahead = t > multiplier
        if skewness is not None:
            is_ahead &= unskewed_t(t, skewness[k], estimate.clusters) > multiplier
        if draws is not None:
            # Medians of few values: the error of their difference is small, and often the
            # difference is one step.
            is_ahead &= 1 - np.mean(draws[:, [k]] > draws, axis=0) <= tail
        # Models that never differ are not distinguishable, whatever the critical value is.
        reach = np.multiply(
            multiplier, error, out=np.full(len(known), np.inf), where=np.isfinite(error)
        )
        yield is_ahead, reach


def _errors_of_gaps(covariance: np.ndarray, k: int) -> np.ndarray:
    """Return the standard error of k's difference from each model, infinite where it is zero, shape
    (n,)."""
    variance = np.diag(covariance)
    squared = variance[k] + variance - 2 * covariance[k]
    return np.sqrt(np.where(squared > 1e-12 * variance.max(), squared, np.inf))


def _freedom_of_gaps(covariance: np.ndarray, freedom: np.ndarray, k: int) -> np.ndarray:
    """Return Satterthwaite's degrees of freedom of k's difference from each model, shape (n,)."""
    variance = np.diag(covariance)
    total = variance[k] + variance
    freedom = np.maximum(freedom, SMALLEST_FREEDOM)
    joint: np.ndarray = (
        total**2 / (variance[k] / np.sqrt(freedom[k]) + variance / np.sqrt(freedom)) ** 2
    )
    return joint


def _critical_value(
    covariance: np.ndarray, freedom: int, level: float, rng: np.random.Generator
) -> float:
    """Return the `level` quantile of the largest |t| over all pairs, simulated; Bonferroni's bound
    for many models."""
    size = len(covariance)
    if size > MOST_SIMULATED:
        return t_quantile(freedom + 1, 1 - 2 * (1 - level) / (size * (size - 1)))
    draws = 10_000 if size <= 100 else 4_000
    # Centred ratings have a singular covariance, and rounding makes its zero eigenvalue negative:
    # no Cholesky.
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    root = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    errors = rng.standard_normal((draws, size)) @ root
    largest = np.zeros(draws)
    for k in range(size - 1):
        gaps = np.abs(errors[:, [k]] - errors[:, k + 1 :]) / _errors_of_gaps(covariance, k)[k + 1 :]
        np.maximum(largest, gaps.max(axis=1), out=largest)
    return float(np.quantile(largest / np.sqrt(rng.chisquare(freedom, draws) / freedom), level))


def further_items(items: int, critical: float, z: float) -> int | None:
    """Return how many more items would detect a gap of `z` standard errors with 80% power: n (((c +
    0.84) / z)^2 - 1), at least 0; None if |z| is below 1. `critical` (c) is corrected for
    simultaneous tests."""
    return (
        ceil(items * max(((critical + POWER_QUANTILE) / z) ** 2 - 1, 0.0)) if abs(z) >= 1 else None
    )


def further_labels(labels: float, critical: float, gap: float, joined: float, alone: float) -> int:
    """Return how many more labels would detect a gap with 80% power beside a judge; `joined` and
    `alone`: variance of the gap by labels with and without the judge, whose information stays the
    same."""
    wanted, judge = ((critical + POWER_QUANTILE) / gap) ** 2, max(1 / joined - 1 / alone, 0.0)
    return ceil(labels * max((wanted - judge) * alone - 1, 0.0))
