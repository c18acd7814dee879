"""Shares, means and ratios with intervals that are clustered by item."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from podium.battles import Battles
from podium.diagnosis.answer import Figure, Missing, Unit
from podium.diagnosis.ratios import wilson

UNBOUNDED = (-np.inf, np.inf)


@dataclass(frozen=True, slots=True)
class Clusters:
    """What is taken for independent: items, or rows where no item is known.

    Attributes:
        code: of each row, from 0, shape (rows,).
        unit: `item` or `row`.
    """

    code: np.ndarray
    unit: str

    def take(self, rows: np.ndarray) -> "Clusters":
        """Return those of some rows, given by a mask or by positions."""
        return Clusters(self.code[rows], self.unit)

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Add up values by cluster, clusters without a row left out, shape (clusters, ...)."""
        codes, place = np.unique(self.code, return_inverse=True)
        if values.ndim == 1:
            return np.bincount(place, values, len(codes))
        return np.stack([np.bincount(place, column, len(codes)) for column in values.T], axis=1)


def clusters_of(battles: Battles) -> Clusters:
    """Code the items; rows without one stand alone."""
    if not battles.has_items:
        return Clusters(np.arange(len(battles)), "row")
    code = battles.table["item"].cat.codes.to_numpy(dtype=np.int64).copy()
    alone = code < 0
    code[alone] = code.max() + 1 + np.arange(alone.sum())
    return Clusters(code, "item")


def share(hits: np.ndarray, clusters: Clusters, level: float, of: str = "battles") -> Figure | None:
    """Return a share with a Wilson interval for the effective sample size; None of nothing.

    The effective size is p (1 - p) over the clustered variance, and the number of clusters where that is 0; the t
    quantile has clusters - 1 degrees of freedom.

    Args:
        hits: in [0, 1], shape (rows,).
        clusters: of those rows.
        level: in (0, 1).
        of: what the rows are, in the plural.

    Source: Franco, Little, Louis and Slud 2019, Comparative study of confidence intervals for proportions in complex
    sample surveys.
    """
    if not len(hits):
        return None
    p = float(np.mean(hits))
    variance, number = _variance((hits - p) / len(hits), clusters)
    if number < 2:
        return _alone(p, level, len(hits), of, clusters, Unit.SHARE)
    low, high = wilson(p, variance, number, level)
    method = f"Wilson, {clusters.unit}-clustered effective sample size, t"
    return Figure(p, float(low), float(high), level, method, len(hits), of, number, Unit.SHARE)


def mean(
    values: np.ndarray,
    clusters: Clusters,
    level: float,
    of: str = "battles",
    within: tuple[float, float] = UNBOUNDED,
) -> Figure | None:
    """Return a mean with a clustered t interval; None of nothing."""
    if not len(values):
        return None
    centre = float(np.mean(values))
    return linear(centre, (values - centre) / len(values), clusters, level, len(values), of, within=within)


def linear(
    value: float,
    influence: np.ndarray,
    clusters: Clusters,
    level: float,
    n: int,
    of: str = "battles",
    unit: Unit = Unit.NUMBER,
    method: str = "",
    within: tuple[float, float] = UNBOUNDED,
) -> Figure:
    """Return an estimate with the t interval of its influence function, summed by cluster.

    Args:
        influence: what each row adds to the error of the estimate, shape (rows,).
        method: a word on how the influence was found, put before the name of the interval.
        within: least and largest possible value, at which the interval ends.
    """
    variance, number = _variance(influence, clusters)
    if number < 2:
        return _alone(value, level, n, of, clusters, unit)
    reach = float(stdtrit(number - 1, (1 + level) / 2) * np.sqrt(variance))
    name = ", ".join(filter(None, [method, f"{clusters.unit}-clustered t"]))
    low, high = max(within[0], value - reach), min(within[1], value + reach)
    return Figure(value, low, high, level, name, n, of, number, unit)


def stacked(parts: Sequence[tuple[Clusters, np.ndarray]]) -> tuple[Clusters, np.ndarray]:
    """Join influences of several sets of rows that share one coding of clusters."""
    code = np.concatenate([clusters.code for clusters, _ in parts])
    return Clusters(code, parts[0][0].unit), np.concatenate([influence for _, influence in parts])


def or_missing(figure: Figure | None, what: str, remedy: str = "judge more pairs") -> Figure | Missing:
    """Return the figure, or say that there is nothing of that kind."""
    return Missing(what, f"there are no {what}", remedy) if figure is None else figure


def _variance(influence: np.ndarray, clusters: Clusters) -> tuple[float, int]:
    """Return G / (G - 1) times the centred sum of squares of the clusters' sums, and G."""
    sums = clusters.sums(influence)
    number = len(sums)
    if number < 2:
        return 0.0, number
    return float(np.sum((sums - sums.mean()) ** 2) * number / (number - 1)), number


def _alone(value: float, level: float, n: int, of: str, clusters: Clusters, unit: Unit) -> Figure:
    return Figure(value, None, None, level, f"a single {clusters.unit}: no interval", n, of, 1, unit)
