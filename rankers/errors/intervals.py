"""Point estimates with intervals.

The intervals are from a clustered sandwich with t quantiles, or from a bootstrap over clusters.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from podium.distributions import betaincinv, ndtri, stdtrit
from podium.errors import UsageError
from podium.notices.notice import Notice
from podium.progress import track
from podium.rankers.errors.difference import DifferenceTest
from podium.rankers.fit.coded import Matrix, centred_gram

Interval = Literal["sandwich", "bootstrap"]
"""How the standard error of a score is estimated."""
Numbers: TypeAlias = np.ndarray | float
"""One number or an array of numbers."""
BLOCK_CELLS = 10_000_000
"""Resamples are drawn in blocks whose arrays have at most about this many numbers."""
SE_ROUNDING = 1e-10
"""A standard error below this share of the largest score is rounding noise, and set to 0."""
SE_SHARE_ROUNDING = 1e-7
"""A standard error below this share of the largest one is rounding noise, too: variances are exact
to about 1e-16 of the largest variance, so their roots are exact to about 1e-8."""
FEWEST_UNWIDENED = 30
"""With fewer clusters than this, percentile intervals are widened; with more, that would change
their widths by less than 5%."""
FEWEST_FOR_BOOTSTRAP = 5
"""With fewer clusters than this, there is no bootstrap interval: with 3 items, even widened 95%
intervals of Elo cover 86% only."""
LEAST_USABLE_SHARE = 0.5
"""If a smaller share of the resamples than this is usable, there is no bootstrap interval."""
VARIANCE_INFLATION = 3.0
"""If e clusters vary, effectively, `wilson_interval` multiplies the variance by 1 + this / e^4: by
4 if a single cluster varies. Without this, the coverage is 89% instead of 97%.
"""
FEWEST_BY_WILSON = 5.0
"""With fewer successes, or failures, than this, the end of an interval towards 0, or 1, is exact.
Wilson's alone covers 86% where 0.15 failures are expected."""
LEAST_PER_CLUSTER = 2
"""The inflation of a variance does not reduce the effective sample size below this many answers
per cluster."""


ROUGH_FACTOR = 2.0
"""Rough p-values are within this factor of the exact ones. Near the levels of tests, they were
within 5% in all simulated worlds."""


@dataclass(frozen=True, slots=True)
class PairTests:
    """Tests of single pairs by items, for pairs whose standard errors cannot be used.

    Such a pair has, for example, a model that never lost.

    Attributes:
        difference: function of the codes of two models that returns the test of the first minus
            the second, None if they have no item in common.
        in_scores: whether the values of these tests are differences of scores; else they are on
            another scale, such as the signs of differences.
        may_differ: function of the codes of two models that returns whether a test can reject that
            they are equal.
        rough_tails: function of the codes of the models of many pairs, shape (pairs,) each, that
            returns the one-sided p-values of equal models within a factor of `ROUGH_FACTOR`, NaN
            where they are not known, shape (pairs, 2). None if there is no such function.
        uses_all_items: whether a test of two models also uses the items on which only other models
            have battles: two models that never met are tested by the battles that connect them.
    """

    difference: Callable[[int, int], DifferenceTest | None]
    in_scores: bool = True
    may_differ: Callable[[int, int], bool] = lambda *_: True
    rough_tails: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None
    uses_all_items: bool = False


@dataclass(frozen=True, slots=True)
class ScoreEstimates:
    """Scores of all models with intervals and covariance.

    Attributes:
        score: the scores, NaN where unknown, shape (models,).
        low: lower ends of the intervals, NaN where unknown, shape (models,).
        high: upper ends of the intervals, NaN where unknown, shape (models,).
        covariance: covariance of the scores, NaN where unknown, shape (models, models).
        clusters: number of clusters.
        method: text for reports that says how the intervals were made, such as `item-clustered
            sandwich`; None if there are no intervals.
        warnings: warnings about the intervals.
        freedom: degrees of freedom of each score, shape (models,); None if all have clusters - 1.
        allowed: mask of the models whose intervals are valid even if they have few items, shape
            (models,); None if there are none.
        exact: mask of the models whose interval is valid even if it has no width, shape (models,);
            None if there are none.
        pinned: code of the model whose score is set, if there is one.
        draws: resampled scores, shape (resamples, models), if differences of scores are far from
            normal; else None.
        skewness: skewness over clusters of the row's score minus the column's, shape (models,
            models); None if it is negligible.
        tests: tests of pairs that have no standard error or few items, if there are such tests.
        error_method: text for reports that says how the standard errors were made, such as `item
            bootstrap`; None if the ranker gives none.
        by_holm: whether pairs are tested by t and Holm's rule instead of the simulated largest
            |t|. They are if clusters are groups of items: of few groups, the covariance of many
            models is too rough for the simulation.
        raters: what a rater is (`voter` or `judge`) and how many there are, if raters are a second
            unit that varies; else None.
        raters_of_model: number of raters of each model, shape (models,); None as for `raters`.
        by_tests: mask of the models whose intervals come from tests, or bounds, instead of standard
            errors, shape (models,); None if there are none.
        has_unequal_weights: whether the weights of clusters are so unequal (`are_unequal`) that all
            pairs are compared by `tests`.
        interval_at: function of a confidence level to the lower and upper ends of intervals of this
            level; None if these are not known.
    """

    score: np.ndarray
    low: np.ndarray
    high: np.ndarray
    covariance: np.ndarray
    clusters: int
    method: str | None
    warnings: tuple[Notice, ...] = ()
    freedom: np.ndarray | None = None
    allowed: np.ndarray | None = None
    exact: np.ndarray | None = None
    pinned: int | None = None
    draws: np.ndarray | None = None
    skewness: np.ndarray | None = None
    tests: PairTests | None = None
    error_method: str | None = None
    by_holm: bool = False
    raters: tuple[str, int] | None = None
    raters_of_model: np.ndarray | None = None
    by_tests: np.ndarray | None = None
    has_unequal_weights: bool = False
    interval_at: Callable[[float], tuple[np.ndarray, np.ndarray]] | None = None

    @property
    def se(self) -> np.ndarray:
        """Standard errors, shape (models,): NaN where unknown, 0 if only rounding error is left."""
        return _standard_errors(self.score, self.covariance)

    def replace_intervals(
        self, low: np.ndarray, high: np.ndarray, changed: np.ndarray, method: str
    ) -> "ScoreEstimates":
        """Return a copy with other intervals, of which some come from tests or bounds.

        The models of `changed` are added to the mask `by_tests`.

        Args:
            low: lower ends of all intervals, shape (models,).
            high: upper ends of all intervals, shape (models,).
            changed: mask of the models whose intervals are new, shape (models,).
            method: the new attribute `method`.
        """
        by_tests = changed if self.by_tests is None else self.by_tests | changed
        return replace(self, low=low, high=high, by_tests=by_tests, method=method)

    def clip(self, least: float, most: float) -> "ScoreEstimates":
        """Return a copy whose intervals are clipped to [least, most]; unknown ends stay NaN."""
        return replace(self, low=np.maximum(self.low, least), high=np.minimum(self.high, most))


def is_group(unit: str) -> bool:
    """Return whether clusters are groups of items: True unless `unit` is `item` or `row`."""
    return unit not in ("item", "row")


def unit_of_tests(unit: str) -> str:
    """Return what the name of a test calls a cluster: `item` for `row`, else `unit` itself.

    Rows are the clusters if the battles have no items: each row then counts as an item.
    """
    return "item" if unit == "row" else unit


def t_quantile(clusters: Any, level: float) -> Any:
    """Return the two-sided t quantile with clusters - 1 degrees of freedom, NaN up to 1 cluster.

    This is half the width of an interval, in standard errors. `clusters` need not be whole; a
    number between 1 and 2 counts as 2. If `clusters` is a number, the result is a float; if it is
    an array, the result is an array of its shape.
    """
    # Numbers of clusters are few, even if there are many intervals.
    distinct_numbers, index = np.unique(np.asarray(clusters, dtype=np.float64), return_inverse=True)
    quantile = stdtrit(np.maximum(distinct_numbers - 1, 1), (1 + level) / 2)
    quantiles = np.where(distinct_numbers > 1, quantile, np.nan)[index.reshape(np.shape(clusters))]
    return quantiles if quantiles.ndim else float(quantiles)


def wilson_interval(
    share: Numbers,
    variance: Numbers,
    clusters: Numbers,
    level: float,
    influence: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return both ends of Wilson intervals of means in [0, 1], with t quantiles.

    With effective size n and quantile t, the ends are those of
    (p + t^2 / (2 n) +- t sqrt(p (1 - p) / n + t^2 / (4 n^2))) / (1 + t^2 / n) (Wilson 1927). n is
    p (1 - p) / `variance`, or the number of clusters if the variance or p (1 - p) is 0. The mean
    always lies in the interval. If there are few successes n p, the lower end is at most that of
    Clopper and Pearson (1934) for n p successes of n. The same holds for the upper end and few
    failures. This is the interval of Korn and Graubard (1998) without their correction of n for the
    degrees of freedom. Means without variance keep Wilson's ends.

    Args:
        share: the means p.
        variance: their clustered variances.
        clusters: number of clusters; the ends are NaN below 2.
        level: confidence level, in (0, 1).
        influence: influence of each cluster on the means, shape (clusters, ...). If it is given, n
            is reduced if only one or two clusters vary, because their variance is unreliable.
    """
    share = np.asarray(share, dtype=np.float64)
    variance = np.asarray(variance, dtype=np.float64)
    binary_variance = share * (1 - share)
    is_flat = (variance <= 1e-24) | (binary_variance <= 0)
    effective_size = np.where(is_flat, clusters, binary_variance / np.where(is_flat, 1, variance))
    if influence is not None:
        inflation = 1 + VARIANCE_INFLATION / effective_clusters(influence) ** 4
        least_size = np.minimum(effective_size, LEAST_PER_CLUSTER * np.asarray(clusters))
        effective_size = np.maximum(effective_size / inflation, least_size)
    t2 = t_quantile(clusters, level) ** 2
    divisor = 1 + t2 / effective_size
    middle = (share + t2 / (2 * effective_size)) / divisor
    under_root = binary_variance / effective_size + t2 / (4 * effective_size**2)
    half_width = np.sqrt(t2 * under_root) / divisor
    low = np.maximum(middle - half_width, 0)
    successes = np.where(is_flat, 0, share)
    low = np.minimum(low, _exact_lower_end(successes, effective_size, level))
    high = np.minimum(middle + half_width, 1)
    failures = np.where(is_flat, 0, 1 - share)
    high = np.maximum(high, 1 - _exact_lower_end(failures, effective_size, level))
    return np.minimum(low, share), np.maximum(high, share)


def _exact_lower_end(share: np.ndarray, size: np.ndarray, level: float) -> np.ndarray:
    """Return the lower ends of exact intervals of shares with few successes; 1 for other shares.

    Args:
        share: the shares, in [0, 1].
        size: their effective numbers of answers; both are numbers or arrays that broadcast.
        level: confidence level, in (0, 1).
    """
    share, size = np.broadcast_arrays(share, size)
    successes = share * size
    has_few = (successes > 0) & (successes < FEWEST_BY_WILSON)
    end = np.ones(np.shape(share))
    few_successes = successes[has_few]
    failures = size[has_few] - few_successes
    end[has_few] = betaincinv(few_successes, failures + 1, (1 - level) / 2)
    return end


def bound_constant_rates(
    estimate: ScoreEstimates, clusters: np.ndarray, level: float
) -> ScoreEstimates:
    """Return estimates in which rates of 0 and 1 have exact intervals.

    For n clusters, the bound is that of Clopper and Pearson (1934): alpha^(1 / n) for a rate of 1
    or 1 - alpha^(1 / n) for a rate of 0, where alpha is (1 - level) / 2. The other end is the rate.
    Other rates keep their intervals.

    Args:
        estimate: rates with intervals in [0, 1].
        clusters: number of clusters of each model, shape (models,).
        level: confidence level, in (0, 1).
    """
    bound = ((1 - level) / 2) ** (1 / np.maximum(clusters, 1))
    outcomes = [estimate.score == 1, estimate.score == 0]
    low = np.select(outcomes, [bound, 0], estimate.low)
    high = np.select(outcomes, [1, 1 - bound], estimate.high)
    return replace(estimate, low=low, high=high)


def effective_clusters(influence: np.ndarray) -> np.ndarray:
    """Return the effective number of clusters, (sum of squares)^2 / (sum of fourth powers).

    The sums are over the rows of `influence`, which are the clusters, shape (clusters, ...). The
    result has the shape of a row. It is infinite where all influences are zero.
    """
    squares = np.sum(influence**2, axis=0) ** 2
    fourth = np.sum(influence**4, axis=0)
    infinite = np.full(np.shape(fourth), np.inf)
    return np.asarray(np.divide(squares, fourth, out=infinite, where=(fourth > 0)))


def small_sample_factor(clusters: np.ndarray | int, level: float) -> Any:
    """Return the factor that widens bootstrap intervals of few clusters.

    It is sqrt(G / (G - 1)) t / z for G clusters, where t and z are the two-sided quantiles of
    Student's distribution and of the normal one (Hesterberg 2015, section 3.1). One cluster counts
    as two.
    """
    number = np.maximum(clusters, 2)
    normal_quantile = ndtri((1 + level) / 2)
    return np.sqrt(number / (number - 1)) * t_quantile(number, level) / normal_quantile


def mean_interval(values: np.ndarray, level: float) -> tuple[float, float | None, float | None]:
    """Return the mean of independent values, then the lower and upper end of its t interval.

    `values` has shape (n,), n at least 1. Both ends are None for one value.
    """
    mean = float(np.mean(values))
    number = len(values)
    if number < 2:
        return mean, None, None
    half_width = float(t_quantile(number, level) * np.std(values, ddof=1) / np.sqrt(number))
    return mean, mean - half_width, mean + half_width


def holm(p: np.ndarray, tests: int | None = None) -> np.ndarray:
    """Return p-values adjusted for simultaneous tests by Holm (1979), in the order of `p`, shape
    (n,).

    Unknown p-values stay NaN.

    Args:
        p: p-values, NaN where unknown, shape (n,).
        tests: number of all tests, if `p` has only the smallest p-values; by default the number of
            known p-values.

    >>> holm(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.06, 0.06]
    """
    adjusted = np.full(len(p), np.nan)
    known_positions = np.flatnonzero(~np.isnan(p))
    order = known_positions[np.argsort(p[known_positions], kind="stable")]
    number_of_tests = tests or len(order)
    # The smallest p-value is multiplied by the number of tests, the next by one less, and so on.
    raised_p = p[order] * (number_of_tests - np.arange(len(order)))
    adjusted[order] = np.minimum(np.maximum.accumulate(raised_p), 1)
    return adjusted


def sandwich_estimate(
    score: np.ndarray,
    covariance: np.ndarray,
    clusters: int,
    *,
    level: float,
    cluster: str,
    freedom: np.ndarray | None = None,
) -> ScoreEstimates:
    """Return scores with t intervals; for a single cluster, a warning takes their place.

    Args:
        score: the scores, shape (models,).
        covariance: their cluster-robust covariance, with the factor G / (G - 1) for G clusters,
            shape (models, models).
        clusters: number of clusters.
        level: confidence level, in (0, 1).
        cluster: what a cluster is.
        freedom: degrees of freedom of each score, shape (models,); by default clusters - 1.

    Raises:
        UsageError: `level` is not in (0, 1).
    """
    check_level(level)
    if clusters < 2:
        return _without_interval(score, clusters, Notice("single-cluster", {"unit": cluster}))
    # `t_quantile` takes a number of clusters, which has one degree of freedom less.
    effective_clusters = clusters if freedom is None else freedom + 1
    quantile = t_quantile(effective_clusters, level)
    half_width = quantile * _standard_errors(score, covariance)
    method = f"{cluster}-clustered sandwich"
    return ScoreEstimates(
        score=score,
        low=score - half_width,
        high=score + half_width,
        covariance=covariance,
        clusters=clusters,
        method=method,
        freedom=freedom,
        error_method=method,
        by_holm=is_group(cluster),
    )


def bootstrap_estimate(
    score: np.ndarray,
    draws: np.ndarray,
    clusters: int,
    *,
    level: float,
    cluster: str,
    items: np.ndarray | int | None = None,
    too_few: str = "clusters",
) -> ScoreEstimates:
    """Return scores with percentile intervals from resampled scores.

    Resamples in which all scores are NaN are left out, with a warning. If these are more than
    half, there are no intervals. The interval of a model uses the resamples in which its score is
    not NaN; a model with more NaN than scores has no interval. Intervals of models with fewer than
    30 clusters are widened by `small_sample_factor`. Below 5 clusters there are no intervals. A
    model without an interval has no standard error.

    Args:
        score: the scores, shape (models,).
        draws: resampled scores, shape (resamples, models). They are NaN if a resample does not
            determine the score, and infinite if it does not bound the score.
        clusters: number of clusters.
        level: confidence level, in (0, 1).
        cluster: what a cluster is.
        items: number of clusters of each model, shape (models,); by default `clusters`.
        too_few: code of the warning that is given if there are too few clusters.

    Raises:
        UsageError: `level` is not in (0, 1).
    """
    check_level(level)
    if clusters < FEWEST_FOR_BOOTSTRAP:
        fields = {"clusters": clusters, "unit": cluster, "fewest": FEWEST_FOR_BOOTSTRAP}
        return _without_interval(score, clusters, Notice(too_few, fields))
    usable, warnings = _leave_out_empty(draws)
    if len(usable) < max(2, LEAST_USABLE_SHARE * len(draws)):
        return _without_interval(score, clusters, *warnings, Notice("few-resamples"))
    error_method = f"{cluster} bootstrap"
    method = f"{error_method}, percentile, {len(usable)} resamples"
    clusters_of_model = np.broadcast_to(clusters if items is None else items, score.shape)
    has_too_few = clusters_of_model < FEWEST_FOR_BOOTSTRAP
    if (clusters_of_model < FEWEST_UNWIDENED).any():
        method += f", widened below {FEWEST_UNWIDENED} {cluster}s"
    low, high = _widen_ends(_percentile_ends(usable, level), score, clusters_of_model, level)
    covariance = _widened_covariance(usable, clusters_of_model, np.isnan(low) & np.isnan(high))
    if has_too_few.any():
        fields = {"fewest": FEWEST_FOR_BOOTSTRAP, "unit": cluster, "models": int(has_too_few.sum())}
        warnings.append(Notice("few-clusters-of-models", fields))
    return ScoreEstimates(
        score,
        low,
        high,
        covariance,
        clusters,
        method,
        tuple(warnings),
        error_method=error_method,
        by_holm=is_group(cluster),
    )


def _widened_covariance(
    draws: np.ndarray, clusters: np.ndarray, is_unknown: np.ndarray
) -> np.ndarray:
    """Return the covariance of resampled scores times the factors of `_error_factor`.

    The result has shape (models, models).

    Args:
        draws: resampled scores, shape (resamples, models).
        clusters: number of clusters of each model, shape (models,).
        is_unknown: mask of the models whose rows and columns become NaN, shape (models,).
    """
    factor = _error_factor(clusters)
    covariance = _covariance_of_draws(draws) * np.outer(factor, factor)
    covariance[is_unknown] = np.nan
    covariance[:, is_unknown] = np.nan
    return covariance


def _error_factor(clusters: np.ndarray) -> np.ndarray:
    """Return the factors that enlarge bootstrap standard errors of models, shape (models,).

    They are sqrt(G / (G - 1)) for G clusters below 30, else 1.
    """
    factor_of_few = np.sqrt(clusters / np.maximum(clusters - 1, 1))
    return np.where(clusters < FEWEST_UNWIDENED, factor_of_few, 1.0)


def _leave_out_empty(draws: np.ndarray) -> tuple[np.ndarray, list[Notice]]:
    """Return the resamples that have a score, and a warning if others were left out.

    Args:
        draws: resampled scores, NaN where unknown, shape (resamples, models).
    """
    usable = draws[~np.isnan(draws).all(axis=1)]
    left_out = len(draws) - len(usable)
    if not left_out:
        return usable, []
    return usable, [Notice("resamples-left-out", {"lost": left_out, "resamples": len(draws)})]


def _widen_ends(
    ends: np.ndarray, score: np.ndarray, clusters: np.ndarray, level: float
) -> np.ndarray:
    """Widen percentile intervals of models with few clusters, shape (2, models).

    Below 30 clusters, the distance of an end from the score is multiplied by `small_sample_factor`;
    the ends around an infinite score stay. Below 5 clusters, both ends are NaN.

    Args:
        ends: both ends of each interval, shape (2, models).
        score: the scores, shape (models,).
        clusters: number of clusters of each model, shape (models,).
        level: confidence level, in (0, 1).
    """
    is_widened = (clusters < FEWEST_UNWIDENED) & np.isfinite(score)
    centre = score[is_widened]
    factor = small_sample_factor(clusters[is_widened], level)
    widened = ends.copy()
    widened[:, is_widened] = centre + factor * (ends[:, is_widened] - centre)
    widened[:, clusters < FEWEST_FOR_BOOTSTRAP] = np.nan
    return widened


def _percentile_ends(draws: np.ndarray, level: float) -> np.ndarray:
    """Return both ends of the percentile interval of each column, shape (2, columns).

    They are NaN where more than half of the draws are NaN. An end is infinite where more draws are
    infinite than lie beyond it.
    """
    tails = [(1 - level) / 2, (1 + level) / 2]
    ends = np.full((2, draws.shape[1]), np.nan)
    is_finite = np.isfinite(draws).all(axis=0)
    ends[:, is_finite] = np.quantile(draws[:, is_finite], tails, axis=0)
    for column in np.flatnonzero(~is_finite):
        known_draws = draws[~np.isnan(draws[:, column]), column]
        if len(known_draws) < max(2, LEAST_USABLE_SHARE * len(draws)):
            continue
        # A quantile between a finite and an infinite draw cannot be interpolated: the outer draw
        # is taken.
        lower_quantiles = np.quantile(known_draws, tails, method="lower")
        upper_quantiles = np.quantile(known_draws, tails, method="higher")
        low, _ = lower_quantiles
        _, high = upper_quantiles
        ends[:, column] = low, high
        if np.isfinite([lower_quantiles, upper_quantiles]).all():
            ends[:, column] = np.quantile(known_draws, tails)
    return ends


def _covariance_of_draws(draws: np.ndarray) -> np.ndarray:
    """Return the covariance of columns over draws, shape (columns, columns).

    The covariance of two columns is computed over the draws in which both are finite. It is NaN
    for columns in which more than half of the draws are not finite.
    """
    is_finite = np.isfinite(draws)
    if is_finite.all():
        return np.atleast_2d(np.cov(draws, rowvar=False))
    finite_numbers = is_finite.astype(np.float64)
    mean = np.where(is_finite, draws, 0.0).sum(axis=0) / np.maximum(finite_numbers.sum(axis=0), 1)
    centred = np.where(is_finite, draws - mean, 0.0)
    pair_count = finite_numbers.T @ finite_numbers
    covariance = centred.T @ centred / np.maximum(pair_count - 1, 1)
    is_unknown = finite_numbers.mean(axis=0) < LEAST_USABLE_SHARE
    return np.where(is_unknown | is_unknown[:, None], np.nan, covariance)


def covariance_of(influence: Matrix | Iterable[Matrix]) -> np.ndarray:
    """Return the cluster-robust covariance G / (G - 1) X'X, shape (columns, columns).

    The rows of X are the centred influences of the G clusters. The covariance is NaN for a single
    cluster.

    Args:
        influence: influence of each cluster, which need not be centred, shape (clusters, columns);
            or blocks of its rows.
    """
    blocks = [influence] if hasattr(influence, "shape") else influence
    gram, clusters = centred_gram(blocks)
    if clusters < 2:
        return np.full(gram.shape, np.nan)
    return gram * (clusters / (clusters - 1))


def centre_covariance(covariance: np.ndarray) -> np.ndarray:
    """Convert a covariance of scores to that of scores minus their unweighted mean.

    Both have shape (models, models), or (..., models, models).
    """
    row_centred = covariance - covariance.mean(axis=0)
    return row_centred - row_centred.mean(axis=1)[:, None]


def resample(
    scores_of: Callable[[np.ndarray], np.ndarray],
    clusters: int,
    resamples: int,
    rng: np.random.Generator,
    width: int = 0,
) -> np.ndarray:
    """Return the scores of bootstrap resamples of the clusters, shape (resamples, models).

    Args:
        scores_of: function from how often each cluster is drawn, shape (block, clusters), to
            scores, shape (block, models).
        clusters: number of clusters.
        resamples: number of resamples, at least 2.
        rng: draws the clusters.
        width: numbers that `scores_of` keeps in memory per resample, from which the size of the
            blocks follows.

    Raises:
        UsageError: fewer than 2 resamples.
    """
    if resamples < 2:
        raise UsageError(
            f"resamples={resamples} is too few; a bootstrap needs at least 2, and 1000 are usual"
        )
    block_size = int(np.clip(BLOCK_CELLS // max(clusters, width, 1), 1, 100))
    blocks = [min(block_size, resamples - start) for start in range(0, resamples, block_size)]
    scores = []
    for draws_of_block in track(blocks, "bootstrap"):
        counts = resample_counts(clusters, draws_of_block, rng)
        scores.append(scores_of(counts))
    return np.concatenate(scores)


def resample_counts(clusters: int, resamples: int, rng: np.random.Generator) -> np.ndarray:
    """Draw clusters with replacement, and return how often each is drawn, shape (resamples,
    clusters)."""
    drawn_clusters = rng.integers(0, clusters, (resamples, clusters))
    # The clusters of each resample get numbers of their own, so that one count suffices.
    numbers = drawn_clusters + np.arange(resamples)[:, None] * clusters
    counts = np.bincount(numbers.ravel(), minlength=resamples * clusters)
    return counts.reshape(resamples, clusters).astype(np.float64)


def finite_or_none(value: float) -> float | None:
    """Return a number as a float that JSON allows; None if the number is NaN or infinite."""
    return float(value) if np.isfinite(value) else None


def check_level(level: float) -> None:
    """Raise UsageError if a confidence level is not in (0, 1)."""
    if not 0 < level < 1:
        raise UsageError(f"level {level} is not between 0 and 1; 0.95 is usual")


def _standard_errors(score: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Return the roots of the diagonal of a covariance, NaN where unknown, shape (models,).

    Roots below `SE_ROUNDING` of the largest |score|, or below `SE_SHARE_ROUNDING` of the largest
    root, are rounding error, and set to 0.
    """
    variance = np.diag(covariance)
    se = np.sqrt(np.maximum(variance, 0))
    noise_of_scores = SE_ROUNDING * np.abs(np.nan_to_num(score)).max(initial=0)
    noise_of_errors = SE_SHARE_ROUNDING * np.nan_to_num(se, posinf=0.0).max(initial=0)
    noise = max(noise_of_scores, noise_of_errors)
    if_noise = np.where(np.isnan(variance), np.nan, 0.0)
    return np.where(se > noise, se, if_noise)


def _without_interval(score: np.ndarray, clusters: int, *warnings: Notice) -> ScoreEstimates:
    """Return estimates without intervals: ends and covariance are NaN, and the method is None.

    `warnings` are the warnings of the estimates, which say why.
    """
    models = len(score)
    unknown = np.full(models, np.nan)
    covariance = np.full((models, models), np.nan)
    return ScoreEstimates(
        score=score,
        low=unknown,
        high=unknown,
        covariance=covariance,
        clusters=clusters,
        method=None,
        warnings=warnings,
    )
