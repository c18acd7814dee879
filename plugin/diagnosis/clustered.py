"""Estimates with intervals clustered by item, and intervals from resamples.

The influence of a row on an estimate is the first-order effect of the row: summed by cluster, its
squares estimate the variance.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from podium.data.battles import Battles
from podium.diagnosis.figures import Figured, Missing, Statistic, Unit
from podium.distributions import stdtr
from podium.rankers.errors.intervals import LEAST_USABLE_SHARE, t_quantile, wilson_interval
from podium.rankers.fit.coded import cluster_codes

KIND_OF_INTERVAL = "{}"
"""Stands for the kind of the interval in the description of a method (`Clustered.linear`)."""
UNBOUNDED_INTERVAL = (-np.inf, np.inf)
"""Bounds at which no interval ends."""
MORE_PAIRS = "judge more pairs"
"""The default remedy if no row counts."""


@dataclass(frozen=True, slots=True)
class Clustered:
    """A sample of rows in independent clusters, which estimates means and shares.

    Attributes:
        code: number of each row's cluster, shape (rows,); any integers.
        unit: what a cluster is: `item`, a group of items such as `passage`, or `row`.
        level: confidence level of the intervals.
    """

    code: np.ndarray
    unit: str
    level: float = 0.95

    def take(self, rows: np.ndarray) -> "Clustered":
        """Return the sample of some rows, given by mask or positions.

        The argument is a mask of shape (rows,) or an array of positions; the sample keeps unit and
        level.
        """
        return replace(self, code=self.code[rows])

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Sum the values of the rows by cluster, in the order of the cluster codes.

        Args:
            values: shape (rows,) or (rows, columns).

        Returns:
            The sums, shape (clusters,) or (clusters, columns). Only clusters of this sample count.
        """
        codes, position = np.unique(self.code, return_inverse=True)
        if values.ndim == 1:
            return np.bincount(position, values, len(codes))
        sums = [np.bincount(position, column, len(codes)) for column in values.T]
        return np.stack(sums, axis=1)

    def share(
        self,
        hits: np.ndarray,
        of: str = "battles",
        what: str = "",
        remedy: str = MORE_PAIRS,
        **rows: Any,
    ) -> Figured:
        """Estimate the share sum(hits) / sum(cells) with Wilson's interval.

        Args:
            hits: number of hits of each row, or whether the row is a hit, shape (rows,).
            of: name of what is counted, as it stands beside the sample size.
            what: name of what is counted, as it stands in the message that there are none; by
                default `of`.
            remedy: what the user can do if there are none.
            **rows: the arguments `among`, `cells` and `within` of `mean`.

        Returns:
            The share; `Missing` if no row counts. With a single cluster it has no interval.
        """
        return self.mean(hits, of, what, remedy, unit=Unit.SHARE, **rows)

    def mean(
        self,
        values: np.ndarray,
        of: str = "battles",
        what: str = "",
        remedy: str = MORE_PAIRS,
        *,
        among: np.ndarray | None = None,
        cells: np.ndarray | None = None,
        within: tuple[float, float] = UNBOUNDED_INTERVAL,
        unit: Unit = Unit.NUMBER,
    ) -> Figured:
        """Estimate sum(values) / sum(cells) with a clustered interval.

        The interval of a share is Wilson's. Source: Franco, Little, Louis and Slud 2019,
        Confidence intervals for proportions in complex sample surveys.

        Args:
            values: the sum of each row's values, shape (rows,).
            of: name of what is counted, as it stands beside the sample size.
            what: name of what is counted, as it stands in the message that there are none; by
                default `of`.
            remedy: what the user can do if there are none.
            among: mask of the rows that count; by default the rows with `cells` above 0.
            cells: number of values that each row is the sum of; by default 1.
            within: lowest and highest possible mean, at which intervals end. Wilson's intervals
                end at 0 and 1 anyway.
            unit: unit of the mean; `Unit.SHARE` for Wilson's interval.

        Returns:
            The mean, whose sample size is sum(cells); `Missing` if no row counts. With a single
            cluster it has no interval.
        """
        size = np.ones(len(values)) if cells is None else cells
        is_counted = size > 0 if among is None else among
        rows = self.take(is_counted)
        values = values[is_counted]
        size = size[is_counted]
        if not len(values):
            return Missing(f"there are no {what or of}", remedy)
        total = float(np.sum(size))
        centre = float(np.sum(values) / total)
        influence = (values - centre * size) / total
        method = KIND_OF_INTERVAL
        if cells is not None:
            method += ", linearised ratio"
        statistic = rows.linear(
            centre, influence, n=int(total), of=of, unit=unit, method=method, within=within
        )
        if unit is not Unit.SHARE or statistic.low is None:
            return statistic
        sums = rows.sums(influence)
        low, high = wilson_interval(
            share=centre,
            variance=_variance(sums),
            clusters=len(sums),
            level=self.level,
            influence=sums - sums.mean(),
        )
        wilson_method = f"Wilson, {self.unit}-clustered effective sample size, t"
        return replace(statistic, low=float(low), high=float(high), method=wilson_method)

    def linear(
        self,
        value: float,
        influence: np.ndarray,
        n: int,
        of: str = "battles",
        unit: Unit = Unit.NUMBER,
        method: str = KIND_OF_INTERVAL,
        within: tuple[float, float] = UNBOUNDED_INTERVAL,
    ) -> Statistic:
        """Return a value with the clustered t interval of its influence function.

        Args:
            value: the estimate, which is not changed.
            influence: influence of each row on it, shape (rows,).
            n: sample size.
            of: what the sample size counts.
            unit: unit of the value.
            method: description of the method. The kind of the interval, such as `item-clustered
                t`, replaces `KIND_OF_INTERVAL` in it.
            within: lowest and highest possible value, at which the interval ends.

        Returns:
            The value, without an interval if there is a single cluster.
        """
        sums = self.sums(influence)
        facts: dict[str, Any] = {
            "level": self.level,
            "n": n,
            "of": of,
            "clusters": len(sums),
            "cluster": self.unit,
            "unit": unit,
        }
        if len(sums) < 2:
            return Statistic(value, method=f"a single {self.unit}: no interval", **facts)
        half_width = float(t_quantile(len(sums), self.level) * np.sqrt(_variance(sums)))
        lowest, highest = within
        low = max(lowest, value - half_width)
        high = min(highest, value + half_width)
        method = method.replace(KIND_OF_INTERVAL, f"{self.unit}-clustered t")
        return Statistic(value, low, high, method=method, **facts)


def two_sided_p(value: float, influence: np.ndarray) -> float:
    """Return the two-sided p-value of a clustered t test against 0.

    If all clusters have the same influence, it is the p-value of a sign test: 2 / 2^clusters. It
    is 1 for fewer than two clusters, or if the value is 0.

    Args:
        value: the estimate.
        influence: influence of each cluster on it, shape (clusters,); it is centred here.
    """
    clusters = len(influence)
    if clusters < 2 or value == 0:
        return 1.0
    variance = float(np.sum((influence - influence.mean()) ** 2) * clusters / (clusters - 1))
    if variance == 0:
        return 2.0 ** (1 - clusters)
    return float(2 * stdtr(clusters - 1, -abs(value) / np.sqrt(variance)))


def cluster_battles(battles: Battles, level: float = 0.95) -> Clustered:
    """Return battles as a sample clustered by item, or by group of items if there are groups.

    A row without an item is a cluster of its own.
    """
    return Clustered(cluster_codes(battles), battles.unit, level)


def usable_draws(draws: np.ndarray) -> np.ndarray | None:
    """Return the resampled values that are not NaN; None if fewer than half, or fewer than 2, are
    left.

    Args:
        draws: the values, shape (draws,).

    Returns:
        The values in their order, shape (usable,).
    """
    usable = draws[~np.isnan(draws)]
    return usable if len(usable) >= max(2, LEAST_USABLE_SHARE * len(draws)) else None


def reflected_interval(
    value: float, draws: np.ndarray, level: float
) -> tuple[float, float, float] | None:
    """Correct a mean of squares for noise, and return its reflected bootstrap interval.

    Noise in the sample raises a mean of squares. Resampling adds the same amount of noise again,
    so that 2 value - mean(draws) is free of noise. Source: Davison and Hinkley 1997, Bootstrap
    methods and their application, sections 2.1 and 5.2.

    Args:
        value: the value in the sample.
        draws: the value in resamples, NaN if unknown, shape (draws,).
        level: confidence level.

    Returns:
        The corrected value, and the lower and the upper end of its interval, each at least 0. None
        if too few draws are usable.
    """
    usable = usable_draws(draws)
    if usable is None:
        return None
    low, high = np.quantile(usable, [(1 - level) / 2, (1 + level) / 2])
    # Reflection exchanges the ends of the interval.
    corrected = max(0.0, float(2 * value - usable.mean()))
    reflected_low = max(0.0, float(2 * value - high))
    reflected_high = max(0.0, float(2 * value - low))
    return corrected, reflected_low, reflected_high


def agreement_statistic(
    value: float,
    draws: np.ndarray,
    within: tuple[float, float],
    method: str,
    *,
    level: float,
    **facts: Any,
) -> Statistic:
    """Return a measure of agreement with a bootstrap interval.

    Each end of the interval is that of the percentile interval, or that of the reflected interval
    if this lies farther out (`farther_ends`).

    Args:
        value: the agreement in the sample.
        draws: the agreement in resamples, NaN if unknown, shape (draws,).
        within: lowest and highest possible agreement.
        method: description of the method.
        level: confidence level.
        **facts: further fields of the statistic; `n` is required.

    Returns:
        The agreement. If fewer than half of the draws are usable, it has no interval, and its
        method says so.
    """
    usable = usable_draws(draws)
    if usable is None:
        no_interval = "too few usable resamples of the items: no interval"
        return Statistic(value, level=level, method=no_interval, **facts)
    low, high = np.quantile(usable, [(1 - level) / 2, (1 + level) / 2]).tolist()
    low, high = farther_ends(value, (low, high), within)
    return Statistic(value, low, high, level=level, method=method, **facts)


def farther_ends(
    value: float, interval: tuple[float, float], within: tuple[float, float]
) -> tuple[float, float]:
    """Widen a percentile interval: each end moves to the reflected interval if this lies farther.

    The reflected interval of (low, high) is (2 value - high, 2 value - low). The noise of
    resamples lowers agreement, so that the percentile interval alone lies too low.

    Args:
        value: the value in the sample.
        interval: lower and upper end of the percentile interval.
        within: lowest and highest possible value, beyond which no end lies.

    Returns:
        The lower and the upper end, between which the value lies.
    """
    low, high = interval
    farthest_low = min(low, value, 2 * value - high)
    farthest_high = max(high, value, 2 * value - low)
    least, largest = within
    return max(least, farthest_low), min(largest, farthest_high)


def _variance(sums: np.ndarray) -> float:
    """Return G / (G - 1) times the centred sum of squares of the influence of G clusters.

    Args:
        sums: influence of each cluster, shape (clusters,); at least two clusters.
    """
    return float(np.sum((sums - sums.mean()) ** 2) * len(sums) / (len(sums) - 1))
