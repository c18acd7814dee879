"""Pairs of judges whose errors agree more than those of the other pairs, on battles that several of
them judged.

Where an item favours a model, all judges err alike. A pair is named only if its covariance of
residuals exceeds what the other pairs predict in two ways: the correlations of all pairs are equal;
or each item shifts the gaps of two models by one normal effect for all judges, which a judge of a
larger slope follows more.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import expit, ndtri

from podium.checks import CHECKS
from podium.rankers.errors.judge_slopes import SlopeFit

ERROR = CHECKS["shared errors"].threshold
"""Shared among the pairs of judges."""
FEWEST_BATTLES = 30
"""Battles judged by both below which a pair of judges is not tested."""
ATTENUATION = 16 * np.sqrt(3) / (15 * np.pi)
"""A normal effect of standard deviation s shrinks a logistic slope b to b / sqrt(1 + (ATTENUATION b
s)^2)."""
LARGEST_SHRINKAGE = 0.98
LARGEST_EFFECT = 4.0
NODES, NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(21)
EFFECTS = 40
"""Sizes of item effects for which covariances are computed; between them they are interpolated."""
STEP = 0.02
"""Change of a slope, and share of a sum, by which the excess is differentiated."""


@dataclass(frozen=True, slots=True)
class SharedErrors:
    """The correlation of residuals of two judges over the `battles` of both, and the mean of the
    other pairs."""

    judges: tuple[str, str]
    battles: int
    correlation: float
    others: float
    is_named: bool


@dataclass(frozen=True)
class _Residuals:
    """Residuals of battles by judge, (battles, judges), NaN where not judged; `gap` is a code of
    the battle's models, `gaps` their difference of log-strengths; `item` is the cluster; `first,
    second` are the codes of two judges."""

    values: np.ndarray
    gap: np.ndarray
    gaps: np.ndarray
    item: np.ndarray
    first: np.ndarray
    second: np.ndarray

    def products(self, clusters: int) -> np.ndarray:
        """Return sums by item: products, both squares and numbers of common battles, (4, clusters,
        pairs)."""
        a, b = self.values[:, self.first], self.values[:, self.second]
        both = ~np.isnan(a * b)
        parts = (np.where(both, part, 0.0) for part in (a * b, a**2, b**2, both))
        sums = [[np.bincount(self.item, column, clusters) for column in part.T] for part in parts]
        return np.array(sums).swapaxes(1, 2)

    def common_covariances(self, slopes: np.ndarray, *, equal: bool) -> np.ndarray:
        """Return each pair's covariance of credits due to item effects of growing size, (sizes,
        pairs): a normal effect on the logits that is equal for all judges, or proportional to their
        slopes."""
        both = ~np.isnan(self.values[:, self.first] * self.values[:, self.second])
        shares = np.stack(
            [np.bincount(self.gap, column, len(self.gaps)) / column.sum() for column in both.T]
        )
        weights, curves = NODE_WEIGHTS / NODE_WEIGHTS.sum(), []
        for share in np.linspace(0, 1, EFFECTS):
            if equal:
                effect = np.full(len(slopes), share * LARGEST_EFFECT)
                own = slopes * np.sqrt(1 + (ATTENUATION * effect) ** 2)
            else:
                shrinkage = LARGEST_SHRINKAGE * share * slopes / np.abs(slopes).max()
                own = slopes / np.sqrt(1 - shrinkage**2)
                effect = shrinkage / ATTENUATION / np.sqrt(1 - shrinkage**2)
            credit = expit(
                np.multiply.outer(own, self.gaps)[:, :, None]
                + np.multiply.outer(effect, NODES)[:, None]
            )
            centred = credit - (credit @ weights)[:, :, None]
            curves.append(
                ((centred[self.first] * centred[self.second]) @ weights * shares).sum(axis=1)
            )
        return np.array(curves)


def shared_errors(fit: SlopeFit) -> list[SharedErrors]:
    """Test each pair of judges; empty unless three pairs or more have enough common battles."""
    residuals = _residuals(fit)
    if len(residuals.first) < 3:
        return []
    products = residuals.products(fit.data.coded.clusters)
    sums = products.sum(axis=1)
    curves = _covariance_curves(residuals, fit.slopes)
    correlation, excess = _excess(sums, curves)
    # By the delta method: the excess follows the items' sums, and the slopes that were fitted to
    # the same items.
    influence = np.zeros((products.shape[1], *excess.shape))
    for place in np.ndindex(sums.shape):
        step = np.zeros_like(sums)
        step[place] = STEP * (np.abs(sums[place]) or 1.0)
        change = _excess(sums + step, curves)[1] - _excess(sums - step, curves)[1]
        influence += np.multiply.outer(products[place[0], :, place[1]], change / (2 * step[place]))
    for step, moved in zip(
        STEP * np.eye(len(fit.slopes)), fit.influence[:, fit.data.slope_columns].T, strict=True
    ):
        high, low = (
            _excess(sums, _covariance_curves(residuals, fit.slopes + sign * step))[1]
            for sign in (1, -1)
        )
        influence += np.multiply.outer(moved, (high - low) / (2 * STEP))
    spread = np.sqrt(len(influence)) * influence.std(axis=0)
    named = (excess > ndtri(1 - ERROR / len(residuals.first)) * spread).all(axis=0)
    others, names = (correlation.sum() - correlation) / (len(correlation) - 1), fit.data.judges
    return [
        SharedErrors(
            (names[j], names[k]),
            int(sums[3, n]),
            float(correlation[n]),
            float(others[n]),
            bool(named[n]),
        )
        for n, (j, k) in enumerate(
            zip(residuals.first.tolist(), residuals.second.tolist(), strict=True)
        )
    ]


def _covariance_curves(residuals: _Residuals, slopes: np.ndarray) -> np.ndarray:
    """Return the covariances of both predictions by size of the item effects, shape (2, sizes,
    pairs)."""
    return np.stack([residuals.common_covariances(slopes, equal=equal) for equal in (True, False)])


def _excess(sums: np.ndarray, curves: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return correlations, (pairs,), and their excess over both predictions, (2, pairs), from sums,
    (4, pairs)."""
    product, square, other_square, number = sums
    covariance, size = product / number, np.sqrt(square * other_square)
    predicted, sizes = np.empty((2, len(covariance))), np.arange(EFFECTS)
    for n, k in np.ndindex(predicted.shape):
        # The size of item effects at which the other pairs covary as they do.
        others = np.maximum.accumulate(np.delete(curves[n], k, axis=1).mean(axis=1))
        effect = np.interp(np.delete(covariance, k).mean(), others, sizes)
        predicted[n, k] = np.interp(effect, sizes, curves[n][:, k])
    return product / size, (covariance - predicted) * number / size


def _residuals(fit: SlopeFit) -> _Residuals:
    """Return residuals by matchup and judge, and the pairs of judges with enough common battles."""
    data, models = fit.data, len(fit.theta)
    distinct, _ = data.matchups()
    values = data.means_by_judge(data.coded.credit - fit.expected_credit)
    codes, gap = np.unique(distinct % models**2, return_inverse=True)
    gaps = fit.theta[codes // models] - fit.theta[codes % models]
    known, judges = ~np.isnan(values), range(len(data.judges))
    pairs = [
        (j, k)
        for j, k in combinations(judges, 2)
        if (known[:, j] & known[:, k]).sum() >= FEWEST_BATTLES
    ]
    first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return _Residuals(values, gap, gaps, distinct // models**2, first, second)
