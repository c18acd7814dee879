"""Pairs of judges whose errors agree more than those of the other pairs.

An item may favour a model for all judges (an item effect), so that the errors of any two judges
are correlated. A pair of judges is named only if the covariance of its residuals is larger than
the other pairs predict. There are two predictions, and the covariance must exceed both. In the
first, an item effect is equal for all judges. In the second, it is proportional to their slopes.
In both, item effects are normal, and shift the logit of a battle. Their standard deviation is
called the size of the effects.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from podium.check_kinds import CHECKS
from podium.distributions import expit, ndtri
from podium.rankers.errors.judge_slopes import SlopeFit

ERROR_RATE = CHECKS["shared errors"].threshold
"""Probability that any pair is named by chance; it is divided among the pairs of judges."""
FEWEST_BATTLES = 30
"""A pair of judges is not tested if the judges have fewer matchups than this in common."""
ATTENUATION = 16 * np.sqrt(3) / (15 * np.pi)
"""A normal effect of standard deviation s on the logit shrinks a logistic slope b to about
b / sqrt(1 + (ATTENUATION s)^2)."""
LARGEST_SHRINKAGE = 0.98
"""Largest value of k for which item effects proportional to slopes are computed, where the slope
of the judge with the largest slope shrinks to sqrt(1 - k^2) of its value."""
LARGEST_EFFECT = 4.0
"""Largest size of item effects that are equal for all judges, in logits."""
NODES, NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(21)
"""Nodes and weights of the quadrature over a standard normal item effect."""
EFFECTS = 40
"""Number of sizes of item effects for which covariances are computed; they are interpolated
between these."""
STEP = 0.02
"""Step of numerical derivatives of the excess: the change of a slope, or the share by which a sum
changes."""


@dataclass(frozen=True, slots=True)
class SharedErrors:
    """How much the errors of two judges agree.

    Attributes:
        judges: names of the two judges.
        battles: number of battles that both judged.
        correlation: correlation of their residuals over these battles.
        others: mean correlation of the other pairs.
        is_named: whether the pair agrees significantly more than the other pairs.
    """

    judges: tuple[str, str]
    battles: int
    correlation: float
    others: float
    is_named: bool


@dataclass(frozen=True)
class _Residuals:
    """Residuals of matchups by judge, and the pairs of judges to compare.

    Attributes:
        values: mean credit minus expected credit, NaN where not judged, shape (matchups, judges).
        pair_of_matchup: position of each matchup's pair of models in `strength_gaps`, shape
            (matchups,).
        strength_gaps: difference of log-strengths of each pair of models, shape (model pairs,).
        cluster: cluster of each matchup, shape (matchups,).
        first: code of the first judge of each pair, shape (pairs,).
        second: code of the second judge of each pair, shape (pairs,).
    """

    values: np.ndarray
    pair_of_matchup: np.ndarray
    strength_gaps: np.ndarray
    cluster: np.ndarray
    first: np.ndarray
    second: np.ndarray

    def products(self, clusters: int) -> np.ndarray:
        """Return four sums by item and pair of judges, shape (4, clusters, pairs).

        They are over the matchups that both judged: the sum of products of the two residuals, the
        sums of squares of the first judge's and of the second judge's residuals, and the number of
        matchups.
        """
        a = self.values[:, self.first]
        b = self.values[:, self.second]
        is_common = ~np.isnan(a * b)
        sums = []
        for values in (a * b, a**2, b**2, is_common):
            values_of_common = np.where(is_common, values, 0.0)
            sums.append(
                [np.bincount(self.cluster, column, clusters) for column in values_of_common.T]
            )
        return np.array(sums).swapaxes(1, 2)

    def common_covariances(self, slopes: np.ndarray, *, is_equal: bool) -> np.ndarray:
        """Return the covariance of two judges' credits that item effects cause, by size of the
        effects.

        There are `EFFECTS` sizes, from 0 in equal steps. The slopes of the judges are enlarged so
        that they equal the fitted slopes after averaging over the effects.

        Args:
            slopes: slope of each judge, shape (judges,).
            is_equal: whether the effect is equal for all judges; else it is proportional to their
                slopes.

        Returns:
            Covariances, shape (sizes, pairs).
        """
        # A product is NaN unless both judges of the pair judged the matchup.
        products = self.values[:, self.first] * self.values[:, self.second]
        is_common = ~np.isnan(products)
        # For each pair of judges, the share of its common matchups that are of each pair of models.
        shares_by_pair = []
        for is_common_of_pair in is_common.T:
            counts = np.bincount(self.pair_of_matchup, is_common_of_pair, len(self.strength_gaps))
            shares_by_pair.append(counts / is_common_of_pair.sum())
        shares = np.stack(shares_by_pair)
        weights = NODE_WEIGHTS / NODE_WEIGHTS.sum()
        curves = []
        for share_of_largest in np.linspace(0, 1, EFFECTS):
            if is_equal:
                effect = np.full(len(slopes), share_of_largest * LARGEST_EFFECT)
                enlarged_slopes = slopes * np.sqrt(1 + (ATTENUATION * effect) ** 2)
            else:
                shrinkage = LARGEST_SHRINKAGE * share_of_largest * slopes / np.abs(slopes).max()
                enlarged_slopes = slopes / np.sqrt(1 - shrinkage**2)
                effect = shrinkage / ATTENUATION / np.sqrt(1 - shrinkage**2)
            fixed_part = np.multiply.outer(enlarged_slopes, self.strength_gaps)
            random_part = np.multiply.outer(effect, NODES)
            # Expected credits by judge, difference of log-strengths and node of the item effect.
            credit = expit(fixed_part[:, :, None] + random_part[:, None])
            mean_credit = credit @ weights
            centred_credit = credit - mean_credit[:, :, None]
            covariance_of_pair = (
                centred_credit[self.first] * centred_credit[self.second]
            ) @ weights
            curves.append((covariance_of_pair * shares).sum(axis=1))
        return np.array(curves)


def shared_errors(fit: SlopeFit) -> list[SharedErrors]:
    """Test whether the errors of each pair of judges agree more than those of the other pairs.

    The result has one record for each tested pair, named or not, in the order of the judges' codes.
    The excess of a pair is the correlation of its residuals minus a prediction. There are two
    predictions, by item effects that are equal for all judges and by effects proportional to their
    slopes; a pair is named if both excesses are significant. The standard error of an excess
    follows from what each item contributes, by the delta method. The level is Bonferroni's over
    all pairs. Pairs with fewer than 30 common matchups are left out. The list is empty if fewer
    than three pairs are left.
    """
    residuals = _residuals_of_judges(fit)
    if len(residuals.first) < 3:
        return []
    products = residuals.products(fit.data.coded.clusters)
    sums = products.sum(axis=1)
    curves = _covariance_curves(residuals, fit.slopes)
    correlation, excess = _excess_correlations(sums, curves)
    influence = _influence_of_sums(products, curves)
    for influence_of_slope in _influences_of_slopes(fit, residuals, sums):
        influence += influence_of_slope
    standard_error = np.sqrt(len(influence)) * influence.std(axis=0)
    critical = ndtri(1 - ERROR_RATE / len(residuals.first))
    is_named = (excess > critical * standard_error).all(axis=0)
    mean_of_others = (correlation.sum() - correlation) / (len(correlation) - 1)
    names = fit.data.judges
    _, _, _, common_matchups = sums
    return [
        SharedErrors(
            judges=(names[residuals.first[n]], names[residuals.second[n]]),
            battles=int(common_matchups[n]),
            correlation=float(correlation[n]),
            others=float(mean_of_others[n]),
            is_named=bool(is_named[n]),
        )
        for n in range(len(correlation))
    ]


def _influence_of_sums(products: np.ndarray, curves: np.ndarray) -> np.ndarray:
    """Return what each item contributes to the excess through its sums, shape (clusters, 2,
    pairs).

    `products` are the sums by item, shape (4, clusters, pairs), and `curves` the predicted
    covariances by size of the item effects, shape (2, sizes, pairs).
    """
    sums = products.sum(axis=1)
    influence = np.zeros((products.shape[1], 2, sums.shape[1]))
    for part, pair in np.ndindex(sums.shape):
        step = np.zeros_like(sums)
        # The step is relative to the sum, unless the sum is 0.
        size = STEP * (np.abs(sums[part, pair]) or 1.0)
        step[part, pair] = size
        _, excess_above = _excess_correlations(sums + step, curves)
        _, excess_below = _excess_correlations(sums - step, curves)
        derivative = (excess_above - excess_below) / (2 * size)
        influence += np.multiply.outer(products[part, :, pair], derivative)
    return influence


def _influences_of_slopes(
    fit: SlopeFit, residuals: _Residuals, sums: np.ndarray
) -> Iterator[np.ndarray]:
    """Yield, for each slope, what each item contributes to the excess, shape (clusters, 2, pairs).

    An item contributes through a slope because the slopes were fitted to the same items.
    """
    influence_on_slopes = fit.influence[:, fit.data.slope_columns]
    steps = STEP * np.eye(len(fit.slopes))
    for step, influence_on_slope in zip(steps, influence_on_slopes.T, strict=True):
        _, excess_above = _excess_correlations(
            sums, _covariance_curves(residuals, fit.slopes + step)
        )
        _, excess_below = _excess_correlations(
            sums, _covariance_curves(residuals, fit.slopes - step)
        )
        derivative = (excess_above - excess_below) / (2 * STEP)
        yield np.multiply.outer(influence_on_slope, derivative)


def _covariance_curves(residuals: _Residuals, slopes: np.ndarray) -> np.ndarray:
    """Return the covariances of both predictions by size of the item effects.

    The result has shape (2, sizes, pairs). The first prediction has effects that are equal for all
    judges, the second has effects that are proportional to their slopes.
    """
    return np.stack(
        [residuals.common_covariances(slopes, is_equal=is_equal) for is_equal in (True, False)]
    )


def _excess_correlations(sums: np.ndarray, curves: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the correlations of residuals, and their excess over either prediction.

    Args:
        sums: sums of `products` over all items, shape (4, pairs).
        curves: predicted covariances by size of the item effects, shape (2, sizes, pairs).

    Returns:
        Correlations, shape (pairs,), and their excess over either prediction, shape (2, pairs).
    """
    product, square, other_square, number = sums
    covariance = product / number
    norms = np.sqrt(square * other_square)
    predicted = np.empty((2, len(covariance)))
    sizes = np.arange(EFFECTS)
    for prediction, pair in np.ndindex(predicted.shape):
        # Find the size of item effects at which the mean covariance of the other pairs is the
        # observed one. This size predicts the covariance of this pair. `np.interp` needs values
        # that do not fall.
        mean_of_others = np.maximum.accumulate(
            np.delete(curves[prediction], pair, axis=1).mean(axis=1)
        )
        effect_size = np.interp(np.delete(covariance, pair).mean(), mean_of_others, sizes)
        predicted[prediction, pair] = np.interp(effect_size, sizes, curves[prediction][:, pair])
    return product / norms, (covariance - predicted) * number / norms


def _residuals_of_judges(fit: SlopeFit) -> _Residuals:
    """Return residuals by matchup and judge, and the pairs of judges to compare.

    The pairs have at least `FEWEST_BATTLES` common matchups.
    """
    data = fit.data
    models = len(fit.theta)
    matchups, _ = data.matchups()
    values = data.means_by_judge(data.coded.credit - fit.expected_credit)
    # The number of a matchup is item * models^2 + lower code * models + higher code. Divided by
    # models^2, it leaves the number of the pair of models.
    pair_numbers, pair_of_matchup = np.unique(matchups % models**2, return_inverse=True)
    strength_gaps = fit.theta[pair_numbers // models] - fit.theta[pair_numbers % models]
    is_judged = ~np.isnan(values)
    pairs = []
    for j, k in combinations(range(len(data.judges)), 2):
        is_judged_by_both = is_judged[:, j] & is_judged[:, k]
        common_matchups = is_judged_by_both.sum()
        if common_matchups >= FEWEST_BATTLES:
            pairs.append((j, k))
    # Shape (2, pairs), also if there are no pairs.
    first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    clusters = data.clusters_of_matchups()
    return _Residuals(values, pair_of_matchup, strength_gaps, clusters, first, second)
