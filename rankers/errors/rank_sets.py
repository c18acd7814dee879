"""Simultaneous comparisons of all pairs of models.

They give rank sets, intervals of differences, and the number of items for 80% power.

Most pairs are compared by |t|, with one critical value that the largest |t| of all pairs must
exceed, or, if groups of items vary or items are few, by t and Holm's rule. Some pairs have no
usable standard error: those with a model that never lost or that has the same score on every item,
those with few items, and those whose scores differ by the same on every item. Each of these is
compared by its own exact or score test (`PairTests`), at Bonferroni's level of all pairs. So are
all pairs if clusters have unequal weights.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import ceil
from typing import Any

import numpy as np

from podium.distributions import ndtr, stdtr, stdtrit
from podium.rankers.errors.difference import DifferenceTest, unskewed_t, without_skewness_noise
from podium.rankers.errors.intervals import (
    ROUGH_FACTOR,
    PairTests,
    ScoreEstimates,
    centre_covariance,
    t_quantile,
)

FEWEST_ITEMS = 8
"""If a model of a pair has fewer items than this, the pair is compared by its own test. Four
battles of which three are won have a standard error, but it is unreliable."""
MOST_SIMULATED = 500
"""With up to this many models, the critical value is simulated; with more, it is Bonferroni's
bound, and there are no matrices of pairs."""
CLUSTERS_PER_MODEL = 3
"""With fewer clusters per model than this, pairs are compared by t and Holm's rule. Of 10 equal
models on 8 items, the simulated critical value calls some pair different in 10% of the samples, of
20 models on 12 items in 11%; from three clusters per model on, in 5 to 6%."""
MOST_BY_OTHERS = 500
"""Pairs that only the battles of other models could separate are tested if there are at most this
many, since each takes a fit. If there are more, none of them is tested, and they count as too close
to call."""
MOST_TESTED = 2_000
"""If clusters have unequal weights, all pairs are compared by their own tests, up to this number.
With more, they are compared by |t| with the effective degrees of freedom, which finds less."""
FEWEST_ROUGH = 10
"""With fewer tests than this, all are made exactly."""
SMALLEST_FREEDOM = 1.0
"""Fewer degrees of freedom than this are raised to it."""
POWER_QUANTILE = 0.84
"""The normal quantile of 0.8, the power."""


@dataclass(frozen=True, slots=True)
class Contrasts:
    """Simultaneous comparisons of all pairs of models.

    Attributes:
        best_rank: least rank of each model's rank set, NaN if unknown, shape (models,).
        worst_rank: largest rank of each model's rank set, NaN if unknown, shape (models,).
        is_above: whether the row's model is clearly ahead of the column's, shape (models, models).
            It is None for more than 500 models.
        half_widths: half-width of the simultaneous interval of each difference, infinite if there
            is none, shape (models, models); None for more than 500 models.
        critical: the critical value of |t| for all pairs; NaN if fewer than two models have a
            standard error.
        tests: tests of the pairs that were compared by their own test, by pair of codes, the lower
            code first.
        tail: one-sided level of these tests.
    """

    best_rank: np.ndarray
    worst_rank: np.ndarray
    is_above: np.ndarray | None = None
    half_widths: np.ndarray | None = None
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
    """Compare all pairs of models simultaneously.

    The rank set of a model among M is from 1 + the number of significantly better models to M -
    the number of significantly worse ones. The critical value is the `level` quantile of the
    largest |t| over all pairs, simulated from the covariance (Mogstad et al. 2024); if groups of
    items vary, or clusters are few for the number of models, it is that of Holm's rule.

    Some pairs are compared by `estimate.tests`, each at 1 / pairs of the error rate: the pair of
    only two models, all pairs if clusters have unequal weights, those in which a model has no
    standard error or fewer than 8 items, and those whose difference is the same on every item. If
    there are no such tests, models without a standard error have no rank set, and models with few
    items are not distinguishable.

    Args:
        estimate: the scores.
        level: simultaneous confidence level, in (0, 1).
        rng: draws for the critical value.
        items: number of items of each model, shape (models,); by default none has few.

    Returns:
        The comparisons. If fewer than two models can be compared, all ranks are NaN, and the
        matrices are None.
    """
    score = estimate.score
    size = len(score)
    is_known = _have_error(estimate)
    tested = tested_pairs(estimate, is_known, items, level)
    has_rank_set = is_known if estimate.tests is None else ~np.isnan(score)
    best = np.full(size, np.nan)
    worst = np.full(size, np.nan)
    if has_rank_set.sum() < 2:
        return Contrasts(best, worst)
    decisions = _Decisions.of_none(size)
    for winner, loser in tested.decided:
        decisions.add_pair(winner, loser)
    critical = np.nan
    if is_known.sum() > 1:
        known_codes, covariance = _ordered_covariance(estimate, np.flatnonzero(is_known))
        critical = _critical_value_of(
            estimate, known_codes, covariance, tested.level_of_others, rng
        )
        compared = _compare_each(estimate, known_codes, covariance, critical)
        for code, (is_ahead, half_width) in zip(known_codes, compared, strict=True):
            is_ahead &= ~_has_own_test(estimate, items, code, known_codes)
            decisions.add_comparisons_of(code, known_codes, is_ahead, half_width)
    best[has_rank_set] = 1 + decisions.better[has_rank_set]
    worst[has_rank_set] = size - decisions.worse[has_rank_set]
    return Contrasts(
        best_rank=best,
        worst_rank=worst,
        is_above=decisions.is_above,
        half_widths=decisions.half_widths,
        critical=critical,
        tests=tested.tests,
        tail=tested.tail,
    )


def _are_all_tested(estimate: ScoreEstimates) -> bool:
    """Return whether all pairs are compared by tests of their own.

    They are if there are only two models with a score, or if clusters have unequal weights and the
    pairs are at most `MOST_TESTED`. `podium compare` makes the same tests. The result is False if
    the estimate has no tests, or if the errors include how voters or judges vary: a test counts
    items or raters, and does not add both errors.
    """
    if estimate.tests is None or estimate.raters is not None:
        return False
    models = int((~np.isnan(estimate.score)).sum())
    is_unequal = estimate.has_unequal_weights and models * (models - 1) // 2 <= MOST_TESTED
    return models == 2 or is_unequal


def _have_error(estimate: ScoreEstimates) -> np.ndarray:
    """Return the mask of models that have a score, and a standard error above 0 or a pin, shape
    (models,).

    No model is in the mask if there are fewer than two clusters.
    """
    if estimate.clusters < 2:
        return np.zeros(len(estimate.score), dtype=bool)
    is_pinned = np.arange(len(estimate.score)) == estimate.pinned
    has_error: np.ndarray = ~np.isnan(estimate.score) & ((estimate.se > 0) | is_pinned)
    return has_error


@dataclass(frozen=True, slots=True)
class _Decisions:
    """Which models are clearly ahead of which, among the pairs compared so far.

    The methods `add_pair` and `add_comparisons_of` change the arrays in place.

    Attributes:
        better: number of models that are clearly ahead of each model, shape (models,).
        worse: number of models that each model is clearly ahead of, shape (models,).
        is_above: matrix `Contrasts.is_above`.
        half_widths: matrix `Contrasts.half_widths`.
    """

    better: np.ndarray
    worse: np.ndarray
    is_above: np.ndarray | None
    half_widths: np.ndarray | None

    @classmethod
    def of_none(cls, models: int) -> "_Decisions":
        """Return decisions in which no pair is decided, for a number of models.

        Half-widths are infinite. Above 500 models, both matrices are None.
        """
        is_above = None
        half_widths = None
        if models <= MOST_SIMULATED:
            is_above = np.zeros((models, models), dtype=bool)
            half_widths = np.full((models, models), np.inf)
        better = np.zeros(models, dtype=np.int64)
        worse = np.zeros(models, dtype=np.int64)
        return cls(better, worse, is_above, half_widths)

    def add_pair(self, winner: int, loser: int) -> None:
        """Count that one model is clearly ahead of another; both are given by code.

        A second call for the same pair would count it twice.
        """
        self.better[loser] += 1
        self.worse[winner] += 1
        if self.is_above is not None:
            self.is_above[winner, loser] = True

    def add_comparisons_of(
        self, code: int, others: np.ndarray, is_ahead: np.ndarray, half_width: np.ndarray
    ) -> None:
        """Count which other models a model is clearly ahead of, and keep the half-widths.

        A second call for the same model would count its comparisons twice.

        Args:
            code: code of the model.
            others: codes of other models, each once, shape (n,).
            is_ahead: mask of the elements of `others` that the model is clearly ahead of, shape
                (n,). It is False for pairs of `add_pair`, which are counted already.
            half_width: half-widths of the intervals of the differences, in the unit of the scores,
                shape (n,).
        """
        self.worse[code] += is_ahead.sum()
        self.better[others] += is_ahead
        if self.is_above is not None and self.half_widths is not None:
            self.is_above[code, others] |= is_ahead
            self.half_widths[code, others] = half_width


@dataclass(frozen=True, slots=True)
class TestedPairs:
    """Pairs that were compared by their own tests.

    Attributes:
        tests: the tests by pair of codes, lower code first.
        tail: one-sided level of each test.
        decided: the pairs whose models are distinguishable, the code of the better model first.
        level_of_others: simultaneous confidence level that is left for the other pairs.
    """

    tests: Mapping[tuple[int, int], DifferenceTest]
    tail: float
    decided: tuple[tuple[int, int], ...]
    level_of_others: float


def tested_pairs(
    estimate: ScoreEstimates, is_known: np.ndarray, items: np.ndarray | None, level: float
) -> TestedPairs:
    """Test pairs without a standard error, or with few items, at Bonferroni's level.

    If `_are_all_tested` says so, all pairs are tested.

    The p-value of a test of n items is at least 2^-n, so that tests of few items that cannot
    reject are left out, and so are pairs for which `PairTests.may_differ` is False. If all tests of
    pairs without a standard error reject, the other pairs keep the whole error rate (the fallback
    procedure of Wiens 2003). Else they keep a share of it that is proportional to their number.

    Args:
        estimate: the scores, with the tests of pairs.
        is_known: which models have a standard error, shape (models,).
        items: number of items of each model, shape (models,); None if none has few.
        level: simultaneous confidence level, in (0, 1).

    Returns:
        The tests. There are none if `estimate` has no tests, or if all pairs have a standard error
        and enough items; the other pairs then keep `level`.
    """
    scored = np.flatnonzero(~np.isnan(estimate.score))
    pair_count = len(scored) * (len(scored) - 1) // 2
    tail = (1 - level) / max(2 * pair_count, 1)
    if estimate.tests is None:
        return TestedPairs(tests={}, tail=tail, decided=(), level_of_others=level)
    is_constant = _constant_differences(estimate)
    has_all_errors = is_known[scored].all() and not is_constant.any()
    if has_all_errors and not _has_own_test(estimate, items, scored, scored).any():
        return TestedPairs(tests={}, tail=tail, decided=(), level_of_others=level)
    decided = []
    open_pairs = 0
    has_error = _has_error(is_known, is_constant)
    tests = DeferredTests(estimate.tests)
    to_test = [
        pair
        for pair in _pairs_to_test(estimate, scored, has_error, items, tail)
        if estimate.tests.may_differ(*pair)
    ]
    for pair, rough in zip(to_test, _rough_tails(estimate.tests, to_test), strict=True):
        if not tests.add(pair, is_decided=_decides_by_rough_tails(rough, tail)):
            continue
        better_first = _order_of_decided(estimate, tests, pair, rough, tail)
        if better_first is not None:
            decided.append(better_first)
        elif not has_error(*pair):
            open_pairs += 1
    # Tested pairs that have a standard error are among the pairs of the largest |t|, too, and are
    # not counted twice.
    tested_without_error = sum(not has_error(first, second) for first, second in tests)
    models_with_error = int(is_known.sum())
    pairs_with_error = models_with_error * (models_with_error - 1) // 2
    share = 1.0
    if open_pairs:
        share = pairs_with_error / max(pairs_with_error + tested_without_error, 1)
    return TestedPairs(
        tests=tests, tail=tail, decided=tuple(decided), level_of_others=1 - (1 - level) * share
    )


class DeferredTests(Mapping[tuple[int, int], DifferenceTest]):
    """Mapping from pairs of codes to their tests; each test is made when it is first read.

    Args:
        makers: makes the tests.
    """

    def __init__(self, makers: PairTests) -> None:
        self._makers = makers
        self._made: dict[tuple[int, int], DifferenceTest | None] = {}

    def add(self, pair: tuple[int, int], *, is_decided: bool) -> bool:
        """Add a pair, and return whether the pair can be tested.

        If `is_decided` is True, rough p-values decide the pair: its test is not made yet, and the
        result is True. Otherwise the test is made, and a pair without a test is not added.
        """
        if is_decided:
            self._made[pair] = None
            return True
        test = self._makers.difference(*pair)
        if test is not None:
            self._made[pair] = test
        return test is not None

    def __getitem__(self, pair: tuple[int, int]) -> DifferenceTest:
        test = self._made[pair] or self._makers.difference(*pair)
        if test is None:
            raise KeyError(pair)
        self._made[pair] = test
        return test

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)


def _rough_tails(tests: PairTests, pairs: Sequence[tuple[int, int]]) -> np.ndarray:
    """Return rough one-sided p-values of pairs of codes, NaN where unknown, shape (pairs, 2).

    All p-values are NaN if there are fewer than `FEWEST_ROUGH` pairs, because their exact tests
    take no longer, or if `tests` has no function for them.
    """
    if tests.rough_tails is None or len(pairs) < FEWEST_ROUGH:
        return np.full((len(pairs), 2), np.nan)
    first, second = np.array(pairs).T
    return tests.rough_tails(first, second)


def _decides_by_rough_tails(rough: np.ndarray, tail: float) -> bool:
    """Return whether both rough p-values are so far from the level `tail` that they decide.

    This is the case if each p-value is above `tail` times `ROUGH_FACTOR`, or below `tail` divided
    by this factor. The result is False for unknown p-values (NaN). `rough` has shape (2,).
    """
    ratio = rough / tail
    return bool(((ratio > ROUGH_FACTOR) | (ratio < 1 / ROUGH_FACTOR)).all())


def _has_error(is_known: np.ndarray, is_constant: np.ndarray) -> Callable[[int, Any], Any]:
    """Return a function of two codes: whether the difference of the models has a standard error.

    The second code may be an array. The function then returns a boolean array of its shape.

    Args:
        is_known: mask of the models with a standard error, shape (models,).
        is_constant: mask of the pairs whose scores differ by the same on every item, shape (models,
            models).
    """

    def has_error(first: int, second: Any) -> Any:
        """Return whether the difference of `first` to `second` has a standard error.

        `second` is a code or an array of codes.
        """
        # Both models have a standard error, and their difference varies between items.
        return is_known[first] & is_known[second] & ~is_constant[first, second]

    return has_error


def _pairs_to_test(
    estimate: ScoreEstimates,
    models_with_score: np.ndarray,
    has_error: Callable[[int, Any], Any],
    items: np.ndarray | None,
    tail: float,
) -> list[tuple[int, int]]:
    """Return the pairs of codes without a standard error, or with few items, or all pairs.

    In each pair, the model that comes first in `models_with_score` is first. All pairs are returned
    if `_are_all_tested` says so. Otherwise, pairs whose tests use so few items that no test at
    level `tail` can reject are left out. If the tests use the items of other models, too, such
    pairs are kept, unless there are more than `MOST_BY_OTHERS`.

    Args:
        estimate: the scores, with the tests of pairs.
        models_with_score: codes of the models with a score, ascending, shape (n,).
        has_error: function of two codes, made by `_has_error`.
        items: number of items of each model, shape (models,); None if no model has few.
        tail: one-sided level of each test.
    """
    if _are_all_tested(estimate):
        return list(combinations(models_with_score.tolist(), 2))
    pairs = []
    by_others = []
    has_others = False
    if estimate.tests is not None and estimate.tests.uses_all_items:
        has_others = bool(_least_p(estimate.clusters) <= tail)
    for k, first in enumerate(models_with_score.tolist()):
        others = models_with_score[k + 1 :]
        is_tested = ~has_error(first, others) | _has_few_items(items, first, others)
        is_enough = np.ones(len(others), dtype=bool)
        if items is not None:
            is_enough = _least_p(np.minimum(items[first], items[others])) <= tail
        with_enough = others[is_tested & is_enough].tolist()
        pairs += [(first, second) for second in with_enough]
        if has_others:
            without_enough = others[is_tested & ~is_enough].tolist()
            by_others += [(first, second) for second in without_enough]
    if len(by_others) > MOST_BY_OTHERS:
        return pairs
    return sorted([*pairs, *by_others])


def _least_p(items: Any) -> Any:
    """Return the least p-value that a test can have, 2^-items, for a number or an array of
    items.
    """
    return 0.5 ** np.asarray(items, dtype=float)


def _constant_differences(estimate: ScoreEstimates) -> np.ndarray:
    """Return the mask of pairs whose scores differ by the same amount on every item.

    The mask has shape (models, models). Pairs of equal scores are not in the mask. For more than
    500 models, no pair is.
    """
    score = estimate.score
    if len(score) > MOST_SIMULATED:
        return np.broadcast_to(np.False_, (len(score), len(score)))
    variance = np.diag(estimate.covariance)
    squared = variance[:, None] + variance - 2 * estimate.covariance
    largest = np.nan_to_num(variance).max(initial=0.0)
    is_constant: np.ndarray = (squared <= 1e-12 * largest) & (score[:, None] != score)
    return is_constant


def _has_few_items(items: np.ndarray | None, first: Any, second: Any) -> Any:
    """Return whether a model of a pair has fewer than 8 items, as a boolean array.

    Args:
        items: number of items of each model by code, shape (models,). With None, all elements of
            the result are False.
        first: code of the first model, or codes of the first models.
        second: code of the second model, or codes. Codes are broadcast to the shape of the result,
            which is () for two single codes.
    """
    if items is None:
        return np.zeros(np.broadcast_shapes(np.shape(first), np.shape(second)), dtype=bool)
    return np.minimum(items[first], items[second]) < FEWEST_ITEMS


def _has_own_test(
    estimate: ScoreEstimates, items: np.ndarray | None, first: Any, second: Any
) -> Any:
    """Return whether pairs that have a standard error are compared by a test of their own.

    A pair is if a model of the pair has few items (`_has_few_items`), and all pairs are if
    `_are_all_tested` says so. `first` and `second` are codes or arrays of codes. The result is a
    boolean array of their broadcast shape.
    """
    return _has_few_items(items, first, second) | _are_all_tested(estimate)


def _order_of_decided(
    estimate: ScoreEstimates,
    tests: "DeferredTests",
    pair: tuple[int, int],
    rough: np.ndarray,
    tail: float,
) -> tuple[int, int] | None:
    """Return the codes of a pair, the better model first, if its test separates them.

    The better model is the one with the higher score. The result is None if the scores are equal,
    if the test does not reject at the level `tail` that this model is no better, or if the share of
    resamples (`ScoreEstimates.draws`) in which this model is not ahead exceeds `tail`. The test is
    made only if its rough p-values, shape (2,), do not decide (`_decides_by_rough_tails`).
    """
    first, second = pair
    is_first_better = estimate.score[first] > estimate.score[second]
    better, worse = (first, second) if is_first_better else (second, first)
    if estimate.score[better] == estimate.score[worse]:
        return None
    # The p-values that the first model, and that the second one, is no better.
    if _decides_by_rough_tails(rough, tail):
        p_of_first, p_of_second = rough.tolist()
        p = p_of_first if is_first_better else p_of_second
    else:
        test = tests[pair]
        p = test.p_above() if is_first_better else test.p_below()
    if p > tail:
        return None
    if estimate.draws is not None:
        share_ahead = np.mean(estimate.draws[:, better] > estimate.draws[:, worse])
        if 1 - share_ahead > tail:
            return None
    return better, worse


def _ordered_covariance(
    estimate: ScoreEstimates, codes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return codes with the best model first, and the covariance of their scores in this order.

    Models of equal score are ordered by their variance, then by their covariances. If a model is
    pinned, the covariance is that of the scores minus their mean, so that it can be used for
    differences only.

    Args:
        estimate: the scores.
        codes: codes of the models with standard errors, shape (n,).

    Returns:
        The codes, shape (n,), and the covariance, shape (n, n).
    """
    covariance = estimate.covariance[np.ix_(codes, codes)]
    if estimate.pinned is not None:
        # A pinned model has no error, and this makes the errors of the others larger. Differences
        # do not change if scores are centred.
        covariance = centre_covariance(covariance)
    # Equal scores are ordered by their errors, so that the simulation does not depend on the names
    # of models.
    by_score = -estimate.score[codes].round(9)
    by_variance = np.diag(covariance)
    by_covariances = (covariance**3).sum(axis=1)
    order = np.lexsort((by_covariances, by_variance, by_score))
    return codes[order], covariance[np.ix_(order, order)]


def _compare_each(
    estimate: ScoreEstimates, codes: np.ndarray, covariance: np.ndarray, critical: float
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield, for each model, which models it is clearly ahead of, and how wide the intervals are.

    A model is clearly ahead of another if t, the difference of the scores over its standard error,
    exceeds the critical value. With a known skewness, t corrected for skewness must exceed it, too.
    With resampled scores (`ScoreEstimates.draws`), the model must also be ahead in enough of them.
    So a model may not be clearly ahead although the difference exceeds the half-width.

    Args:
        estimate: the scores.
        codes: codes of the models with standard errors, shape (n,).
        covariance: covariance of their scores, shape (n, n).
        critical: critical value of |t| at clusters - 1 degrees of freedom. If the estimate has its
            own degrees of freedom (`ScoreEstimates.freedom`), each pair gets the critical value of
            the same tail probability at the degrees of freedom of its difference.

    Yields:
        A mask of the models, and half-widths of the intervals (critical value times standard
        error), infinite where scores never differ; both of shape (n,), in the order of `codes`.
    """
    score = estimate.score[codes]
    tail = stdtr(estimate.clusters - 1, -critical)
    draws = None if estimate.draws is None else estimate.draws[:, codes]
    skewness = None if estimate.skewness is None else estimate.skewness[np.ix_(codes, codes)]
    for k in range(len(codes)):
        quantile: np.ndarray | float = critical
        if estimate.freedom is not None:
            # The quantile with the same tail probability at other degrees of freedom.
            quantile = -stdtrit(
                _freedom_of_differences(covariance, estimate.freedom[codes], k), tail
            )
        error = _errors_of_differences(covariance, k)
        t = (score[k] - score) / error
        is_ahead = t > quantile
        if skewness is not None:
            reduced = without_skewness_noise(skewness[k], estimate.clusters)
            is_ahead &= unskewed_t(t, reduced, estimate.clusters) > quantile
        if draws is not None:
            # Medians of few values often differ by one step of the scores, and the standard error
            # of this difference is too small. So enough resamples must have the model ahead, too.
            is_ahead &= 1 - np.mean(draws[:, [k]] > draws, axis=0) <= tail
        # Models that never differ are not distinguishable, whatever the critical value is.
        half_width = np.multiply(
            quantile, error, out=np.full(len(codes), np.inf), where=np.isfinite(error)
        )
        yield is_ahead, half_width


def _errors_of_differences(covariance: np.ndarray, k: int) -> np.ndarray:
    """Return the standard error of the difference of model k from each model, shape (n,).

    `covariance` is that of the scores, shape (n, n), and k a position in it. The standard error is
    infinite for differences without variance, such as the difference of model k from itself.
    """
    variance = np.diag(covariance)
    squared = variance[k] + variance - 2 * covariance[k]
    return np.sqrt(np.where(squared > 1e-12 * variance.max(), squared, np.inf))


def _freedom_of_differences(covariance: np.ndarray, freedom: np.ndarray, k: int) -> np.ndarray:
    """Return the degrees of freedom of the difference of model k from each model, shape (n,).

    `covariance` is that of the scores, shape (n, n), and `freedom` their degrees of freedom, shape
    (n,); values below 1 are raised to 1. As the errors of two models may be correlated, the parts v
    of Satterthwaite's formula are added before they are squared: (v_k + v)^2 / (v_k / sqrt(f_k) + v
    / sqrt(f))^2.
    """
    variance = np.diag(covariance)
    total = variance[k] + variance
    freedom = np.maximum(freedom, SMALLEST_FREEDOM)
    root_freedom = np.sqrt(freedom)
    parts_over_roots = variance / root_freedom
    joint: np.ndarray = total**2 / (parts_over_roots[k] + parts_over_roots) ** 2
    return joint


def _critical_value(
    covariance: np.ndarray, freedom: int, level: float, rng: np.random.Generator
) -> float:
    """Return the `level` quantile of the largest |t| over all pairs.

    The quantile of the largest |z| is simulated from normal errors; the result has the same tail
    probability in Student's distribution with `freedom` degrees of freedom. Each pair has a
    standard error of its own, so that one common error of all pairs would give too small a value.
    For more than 500 models, the result is Bonferroni's bound.
    """
    size = len(covariance)
    if size > MOST_SIMULATED:
        level_of_pair = 1 - 2 * (1 - level) / (size * (size - 1))
        return t_quantile(freedom + 1, level_of_pair)
    draws = 10_000 if size <= 100 else 4_000
    # The covariance of centred ratings is singular, and rounding may make its zero eigenvalue
    # negative, so that Cholesky's method would fail.
    eigenvalues, eigenvectors = np.linalg.eigh((covariance + covariance.T) / 2)
    root_eigenvalues = np.sqrt(np.maximum(eigenvalues, 0))
    root = (eigenvectors * root_eigenvalues) @ eigenvectors.T
    errors = rng.standard_normal((draws, size)) @ root
    largest = np.zeros(draws)
    for k in range(size - 1):
        # The pairs of model k with each later model, shape (draws, size - k - 1).
        later = slice(k + 1, None)
        error_of_pairs = _errors_of_differences(covariance, k)[later]
        z_of_pairs = np.abs(errors[:, [k]] - errors[:, later]) / error_of_pairs
        np.maximum(largest, z_of_pairs.max(axis=1), out=largest)
    tail = float(ndtr(-_interpolated_quantile(largest, level)))
    return float(-stdtrit(freedom, tail))


def _interpolated_quantile(values: np.ndarray, share: float) -> float:
    """Return a quantile of values by linear interpolation.

    `np.quantile` gives the same. It imports the masked arrays of NumPy, which takes longer than the
    simulation of a small ranking.

    Args:
        values: the values, shape (n,), n at least 1.
        share: share of the values below the quantile, in (0, 1).
    """
    ordered = np.sort(values)
    place = share * (len(values) - 1)
    below = int(place)
    above = min(below + 1, len(values) - 1)
    step = ordered[above] - ordered[below]
    return float(ordered[below] + (place - below) * step)


def _critical_value_of(
    estimate: ScoreEstimates,
    codes: np.ndarray,
    covariance: np.ndarray,
    level: float,
    rng: np.random.Generator,
) -> float:
    """Return the critical value of |t|: simulated, by Bonferroni's bound, or by Holm's rule.

    Holm's rule gives it if groups of items vary (`ScoreEstimates.by_holm`), or if there are fewer
    than `CLUSTERS_PER_MODEL` clusters per model. Otherwise it is simulated or, for more than 500
    models, Bonferroni's bound (`_critical_value`).

    Args:
        estimate: the scores.
        codes: codes of the models with standard errors, shape (n,).
        covariance: covariance of their scores, shape (n, n).
        level: simultaneous confidence level of these pairs, in (0, 1).
        rng: draws of the simulation.
    """
    is_rough = estimate.clusters < CLUSTERS_PER_MODEL * len(codes)
    if estimate.by_holm or is_rough:
        return _critical_value_by_holm(estimate, codes, covariance, level)
    return _critical_value(covariance, estimate.clusters - 1, level, rng)


def _critical_value_by_holm(
    estimate: ScoreEstimates, codes: np.ndarray, covariance: np.ndarray, level: float
) -> float:
    """Return the critical value of |t| for the pairs that Holm's rule (1979) does not reject.

    All pairs whose |t| is larger are rejected, and no other pairs. With r of m pairs rejected, the
    critical value is the two-sided t quantile of the error rate 1 - `level` divided by m - r.
    `codes` are those of the n models with standard errors, and `covariance` is that of their
    scores, shape (n, n). The result is infinite for fewer than two models.
    """
    pairs = len(codes) * (len(codes) - 1) // 2
    rejected = 0
    critical = np.inf
    has_rejected_more = True
    while has_rejected_more and rejected < pairs:
        rejected_before = rejected
        critical = t_quantile(estimate.clusters, 1 - (1 - level) / (pairs - rejected))
        compared = _compare_each(estimate, codes, covariance, critical)
        rejected = sum(int(is_ahead.sum()) for is_ahead, _ in compared)
        has_rejected_more = rejected > rejected_before
    return critical


def further_items(items: int, critical: float, z: float) -> int | None:
    """Return how many more items would detect a gap with 80% power; None if that is unknown.

    The number is n (((c + 0.84) / z)^2 - 1), rounded up, and at least 0.

    Args:
        items: number n of items in the data. Below `FEWEST_ITEMS`, their standard error is too
            unreliable, and the result is None.
        critical: critical value c, corrected for simultaneous tests.
        z: the gap over its standard error; the result is None if |z| is below 1, or z is NaN.
    """
    if items < FEWEST_ITEMS or np.isnan(z) or abs(z) < 1:
        return None
    times_needed = ((critical + POWER_QUANTILE) / z) ** 2
    return ceil(items * max(times_needed - 1, 0.0))


def further_labels(
    labels: float, critical: float, gap: float, joint_variance: float, label_variance: float
) -> int:
    """Return how many more human labels would detect a gap with 80% power, together with a judge.

    The information that the judge adds, 1 / joined - 1 / alone (at least 0), stays the same. The
    result is rounded up, and at least 0.

    Args:
        labels: number of labels in the data.
        critical: critical value, corrected for simultaneous tests.
        gap: the gap between two models, not 0, in the unit whose variances are given.
        joint_variance: variance of the gap by labels and judge together.
        label_variance: variance of the gap by labels alone.
    """
    needed_information = ((critical + POWER_QUANTILE) / gap) ** 2
    judge_information = max(1 / joint_variance - 1 / label_variance, 0.0)
    return ceil(labels * max((needed_information - judge_information) * label_variance - 1, 0.0))
