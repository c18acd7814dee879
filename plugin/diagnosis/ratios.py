"""Ratios of sums over items, and the interval of quantities that noise can only make larger."""

import numpy as np
from scipy.special import stdtrit

from podium.diagnosis.answer import Figure, Unit
from podium.rankers.intervals import FEWEST_DRAWS

REFLECTED = "item bootstrap, reflected and corrected for noise"


def share_of_sums(hits: np.ndarray, cells: np.ndarray, level: float, of: str) -> Figure | None:
    """Return sum(hits) / sum(cells) with a Wilson interval for the effective sample size; None of nothing.

    The effective size is p (1 - p) over the variance of the linearised ratio, and the number of items where that
    variance is 0; the t quantile has items - 1 degrees of freedom.

    Args:
        hits, cells: per item, 0 <= hits <= cells, shape (items,).
        level: in (0, 1).
        of: what the cells are, in the plural.

    Source: Franco, Little, Louis and Slud 2019, on proportions in complex samples.
    """
    hits, cells = hits[cells > 0], cells[cells > 0]
    if not len(cells):
        return None
    total, items = float(cells.sum()), len(cells)
    p = float(hits.sum() / total)
    if items < 2:
        return _of_one(p, level, total, of, Unit.SHARE)
    low, high = wilson(p, _variance((hits - p * cells) / total), items, level)
    return Figure(
        p,
        float(low),
        float(high),
        level,
        "Wilson, item-clustered effective sample size, t",
        int(total),
        of,
        items,
        Unit.SHARE,
    )


def mean_of_sums(sums: np.ndarray, cells: np.ndarray, level: float, of: str, unit: Unit = Unit.NUMBER) -> Figure | None:
    """Return sum(sums) / sum(cells) with the t interval of the linearised ratio, at least 0; None of nothing.

    Args:
        sums: of something that is never negative, per item, shape (items,).
        cells: how many were added up per item, shape (items,).
    """
    sums, cells = sums[cells > 0], cells[cells > 0]
    if not len(cells):
        return None
    total, items = float(cells.sum()), len(cells)
    centre = float(sums.sum() / total)
    if items < 2:
        return _of_one(centre, level, total, of, unit)
    reach = float(stdtrit(items - 1, (1 + level) / 2) * np.sqrt(_variance((sums - centre * cells) / total)))
    method = "item-clustered t, linearised ratio"
    return Figure(centre, max(0.0, centre - reach), centre + reach, level, method, int(total), of, items, unit)


def wilson(
    share: np.ndarray | float, variance: np.ndarray | float, clusters: np.ndarray | int, level: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of Wilson intervals for effective sample sizes, any shape.

    Args:
        share: p, in [0, 1].
        variance: of p; where it is 0, the number of clusters is the sample size.
        clusters: at least 2.
    """
    share, variance = np.asarray(share, dtype=np.float64), np.asarray(variance, dtype=np.float64)
    spread = share * (1 - share)
    flat = (variance <= 1e-24) | (spread <= 0)
    size = np.where(flat, clusters, spread / np.where(flat, 1, variance))
    t2 = stdtrit(np.asarray(clusters) - 1, (1 + level) / 2) ** 2
    middle = (share + t2 / (2 * size)) / (1 + t2 / size)
    reach = np.sqrt(t2 * (spread / size + t2 / (4 * size**2))) / (1 + t2 / size)
    return np.minimum(np.maximum(middle - reach, 0), share), np.maximum(np.minimum(middle + reach, 1), share)


def reflected(value: float, draws: np.ndarray, level: float) -> tuple[float, float, float] | None:
    """Return a corrected value and its interval from resamples, none of them below 0; None where too few are usable.

    Sampling noise adds to a mean of squares, and resampling adds as much again. So 2 value - mean(draws) removes it,
    and the basic (reflected) interval 2 value - quantiles has the right ends where a percentile one lies too high.

    Args:
        value: the estimate.
        draws: resampled, NaN where one is not usable, shape (draws,).

    Source: Davison and Hinkley 1997, Bootstrap methods and their application, sections 2.1 and 5.2.
    """
    usable = draws[~np.isnan(draws)]
    if len(usable) < max(2, FEWEST_DRAWS * len(draws)):
        return None
    low, high = np.quantile(usable, [(1 - level) / 2, (1 + level) / 2])
    ends = (2 * value - usable.mean(), 2 * value - high, 2 * value - low)
    centre, bottom, top = (max(0.0, float(end)) for end in ends)
    return centre, bottom, top


def farther_ends(value: float, interval: tuple[float, float], within: tuple[float, float]) -> tuple[float, float]:
    """Return the ends of the percentile or of the reflected interval, whichever are farther.

    Noise hides agreement where it is complete and adds to it where there is little. Resampling does so once more, so
    that a percentile interval of an agreement may end below its true value: of rankings that agree completely, but of
    entrants that are close, it hardly ever held tau = 1. Where entrants are closer than so many items can tell, these
    ends fall short of complete agreement, too, though less often.

    Args:
        value: the estimate.
        interval: quantiles of its resamples.
        within: least and largest possible value.

    >>> farther_ends(0.8, (0.5, 0.85), (-1, 1))
    (0.5, 1)
    """
    low, high = interval
    return max(within[0], min(low, value, 2 * value - high)), min(within[1], max(high, value, 2 * value - low))


def _variance(influence: np.ndarray) -> float:
    clusters = len(influence)
    return float(np.sum((influence - influence.mean()) ** 2) * clusters / (clusters - 1))


def _of_one(value: float, level: float, total: float, of: str, unit: Unit) -> Figure:
    return Figure(value, None, None, level, "a single item: no interval", int(total), of, 1, unit)
