"""Estimates with intervals clustered by item, and intervals from resamples."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import stdtr

from podium.data.battles import Battles
from podium.diagnosis.figures import Figured, Missing, Statistic, Unit
from podium.rankers.errors.intervals import FEWEST_DRAWS, t_quantile, wilson_interval
from podium.rankers.fit.coded import cluster_codes

UNBOUNDED = (-np.inf, np.inf)
MORE = "judge more pairs"


@dataclass(frozen=True, slots=True)
class Clustered:
    """A sample of rows in independent clusters, which estimates means and shares with clustered
    intervals."""

    code: np.ndarray
    unit: str
    level: float = 0.95

    def take(self, rows: np.ndarray) -> "Clustered":
        """Return the sample of some rows, given by mask or positions."""
        return replace(self, code=self.code[rows])

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Sum the values of the rows by cluster, shape (clusters,) or (clusters, columns)."""
        codes, place = np.unique(self.code, return_inverse=True)
        if values.ndim == 1:
            return np.bincount(place, values, len(codes))
        return np.stack([np.bincount(place, column, len(codes)) for column in values.T], axis=1)

    def share(
        self, hits: np.ndarray, of: str = "battles", what: str = "", remedy: str = MORE, **rows: Any
    ) -> Figured:
        """Estimate the share sum(hits) / sum(cells) with Wilson's interval; arguments as of
        `mean`."""
        return self.mean(hits, of, what, remedy, unit=Unit.SHARE, **rows)

    def mean(
        self,
        values: np.ndarray,
        of: str = "battles",
        what: str = "",
        remedy: str = MORE,
        *,
        among: np.ndarray | None = None,
        cells: np.ndarray | None = None,
        within: tuple[float, float] = UNBOUNDED,
        unit: Unit = Unit.NUMBER,
    ) -> Figured:
        """Estimate sum(values) / sum(cells), with a clustered interval cut at `within`; `Missing`
        without rows."""
        size = np.ones(len(values)) if cells is None else cells
        counted = size > 0 if among is None else among
        rows, values, size = self.take(counted), values[counted], size[counted]
        if not len(values):
            return Missing(f"there are no {what or of}", remedy)
        total = float(np.sum(size))
        centre = float(np.sum(values) / total)
        influence, method = (
            (values - centre * size) / total,
            "{}" if cells is None else "{}, linearised ratio",
        )
        statistic = rows.linear(centre, influence, int(total), of, unit, method, within)
        if unit is not Unit.SHARE or statistic.low is None:
            return statistic
        # Source: Franco, Little, Louis and Slud 2019, Confidence intervals for proportions in
        # complex sample surveys.
        sums = rows.sums(influence)
        low, high = wilson_interval(
            centre, _variance(sums), len(sums), self.level, sums - sums.mean()
        )
        method = f"Wilson, {self.unit}-clustered effective sample size, t"
        return replace(statistic, low=float(low), high=float(high), method=method)

    def linear(
        self,
        value: float,
        influence: np.ndarray,
        n: int,
        of: str = "battles",
        unit: Unit = Unit.NUMBER,
        method: str = "{}",
        within: tuple[float, float] = UNBOUNDED,
    ) -> Statistic:
        """Return a value with the clustered t interval of its influence, shape (rows,); none for a
        single cluster."""
        sums = self.sums(influence)
        facts: dict[str, Any] = {
            "level": self.level,
            "n": n,
            "of": of,
            "clusters": len(sums),
            "unit": unit,
        }
        if len(sums) < 2:
            return Statistic(value, method=f"a single {self.unit}: no interval", **facts)
        reach = float(t_quantile(len(sums), self.level) * np.sqrt(_variance(sums)))
        low, high = max(within[0], value - reach), min(within[1], value + reach)
        return Statistic(
            value, low, high, method=method.format(f"{self.unit}-clustered t"), **facts
        )


def two_sided_p(value: float, influence: np.ndarray) -> float:
    """Return the two-sided p-value of a clustered t test against 0; of a sign test if all clusters
    agree."""
    clusters = len(influence)
    if clusters < 2 or value == 0:
        return 1.0
    variance = float(np.sum((influence - influence.mean()) ** 2) * clusters / (clusters - 1))
    if variance == 0:
        return 2.0 ** (1 - clusters)
    return float(2 * stdtr(clusters - 1, -abs(value) / np.sqrt(variance)))


def cluster_battles(battles: Battles, level: float = 0.95) -> Clustered:
    """Return battles as a sample clustered by item; a row without an item is a cluster of its
    own."""
    return Clustered(cluster_codes(battles), "item" if battles.has_items else "row", level)


def usable_draws(draws: np.ndarray) -> np.ndarray | None:
    """Return the resampled values that are not NaN, shape (draws,); None if fewer than half are
    left."""
    usable = draws[~np.isnan(draws)]
    return usable if len(usable) >= max(2, FEWEST_DRAWS * len(draws)) else None


def reflected_interval(
    value: float, draws: np.ndarray, level: float
) -> tuple[float, float, float] | None:
    """Return a noise-corrected value and its reflected interval, cut at 0; None if too few draws
    are usable."""
    # Noise raises a mean of squares, and resampling once more by as much: 2 value - mean(draws) is
    # free of it. Source: Davison and Hinkley 1997, Bootstrap methods and their application,
    # sections 2.1 and 5.2.
    if (usable := usable_draws(draws)) is None:
        return None
    low, high = np.quantile(usable, [(1 - level) / 2, (1 + level) / 2])
    middle, least, most = (max(0.0, float(2 * value - end)) for end in (usable.mean(), high, low))
    return middle, least, most


def agreement_statistic(
    value: float,
    draws: np.ndarray,
    within: tuple[float, float],
    method: str,
    *,
    level: float,
    **facts: Any,
) -> Statistic:
    """Return an agreement with the `farther_ends` of its bootstrap interval; without, if too few
    draws are usable."""
    if (usable := usable_draws(draws)) is None:
        few = "too few usable resamples of the items: no interval"
        return Statistic(value, level=level, method=few, **facts)
    low, high = np.quantile(usable, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return Statistic(
        value, *farther_ends(value, (low, high), within), level=level, method=method, **facts
    )


def farther_ends(
    value: float, interval: tuple[float, float], within: tuple[float, float]
) -> tuple[float, float]:
    """Return the percentile interval, widened to the reflected one where wider: noise of resamples
    hides agreement."""
    low, high = interval
    return max(within[0], min(low, value, 2 * value - high)), min(
        within[1], max(high, value, 2 * value - low)
    )


def _variance(sums: np.ndarray) -> float:
    """Return G / (G - 1) times the centred sum of squares of the influence of G clusters."""
    return float(np.sum((sums - sums.mean()) ** 2) * len(sums) / (len(sums) - 1))
