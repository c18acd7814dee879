"""Whether a ladder's ratings agree with the battles: the slope of the free fit on the ladder, and each rated model.

With y the free fit, x the ladder, V and S their covariances, and b the slope, y - b x has the covariance V + b^2 S, up
to a constant: a regression with errors in both variables (York 1968), in which the ladder's own errors do not draw the
slope towards 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg
from scipy.special import ndtri, stdtr

from podium.rankers.cells import BattleData, pair_sums_with_items
from podium.rankers.few_items import FEW
from podium.rankers.intervals import finite_or_none, holm, t_quantile
from podium.rankers.ladder_prior import LadderPrior
from podium.rankers.scale import POINTS
from podium.rankers.strengths import fit_strengths

LEVEL = 0.95
"""Level of the slope's interval, and of the tests of all rated models together."""
POWER = 0.8
ANGLES = np.linspace(-np.pi / 2, np.pi / 2, 3602)[1:-1]
"""Slopes that are tried, as angles."""
VARIANCE_ROUNDING = 1e-9
"""Logits squared below which a model's results are the same on every item."""
EMPTY = np.empty(0)


@dataclass(frozen=True, slots=True)
class LadderCheck:
    """The slope of the free fit on the ladder with its 95% interval, infinite if unbounded; and by model in `codes` its
    drift (ladder minus battles, Elo), Holm's p-value and the smallest drift found with 80% power; empty if unknown."""

    codes: np.ndarray
    slope: float
    low: float
    high: float
    drift: np.ndarray
    p: np.ndarray
    detectable: np.ndarray

    @property
    def is_other_scale(self) -> bool:
        """Whether the slope's interval excludes 1."""
        return not self.low <= 1 <= self.high

    def to_dict(self, models: Sequence[str]) -> dict[str, Any]:
        """Return plain values, unknown ones None; `drifted` names the models whose rating is off."""
        ends = {"slope": self.slope, "slope_low": self.low, "slope_high": self.high}
        by_model = zip(self.codes, self.drift, self.p, self.detectable, strict=False)
        drifts = {models[k]: {"drift": float(d), "p": float(p), "detectable": float(e)} for k, d, p, e in by_model}
        return {
            **{name: finite_or_none(value) for name, value in ends.items()},
            "other_scale": self.is_other_scale,
            "drifts": drifts,
            "drifted": [name for name, row in drifts.items() if row["p"] <= 1 - LEVEL],
        }


def check_ladder(battles: BattleData, prior: LadderPrior) -> LadderCheck:
    """Compare the fit of some battles without the ladder with the ladder, for rated models in 20 items or more."""
    fit = fit_strengths(pair_sums_with_items(battles))
    graph, rated = fit.graph, np.flatnonzero(prior.is_rated)
    largest = np.argmax(np.bincount(graph.group[graph.played]))
    sound = (graph.group[rated] == largest) & ~graph.separated[rated] & (battles.clusters_by_model()[rated] >= FEW)
    codes = rated[sound]
    noise, error = fit.covariance(battles)[np.ix_(codes, codes)], prior.covariance[np.ix_(sound, sound)]
    if not 2 <= len(codes) < battles.clusters or np.diag(noise).min() < VARIANCE_ROUNDING:
        return LadderCheck(codes, np.nan, -np.inf, np.inf, EMPTY, EMPTY, EMPTY)
    return compare_scales(codes, fit.theta[codes], noise, prior.mean[codes], error, battles.clusters)


def compare_scales(
    codes: np.ndarray, free: np.ndarray, noise: np.ndarray, rated: np.ndarray, error: np.ndarray, clusters: int
) -> LadderCheck:
    """Compare log-strengths of a free fit (covariance `noise`) with those of a ladder (covariance `error`)."""
    contrasts = np.eye(len(codes))[1:] - np.eye(len(codes))[0]
    y, x = contrasts @ free, contrasts @ rated
    v, s = contrasts @ noise @ contrasts.T, contrasts @ error @ contrasts.T
    slope, low, high, p_slope = _slope_with_errors(y, x, v, s, clusters)
    if len(codes) < 3:
        return LadderCheck(codes, slope, low, high, EMPTY, EMPTY, EMPTY)
    drift, se, p = _drifts(y - x, None, v + s, contrasts, clusters)
    if not low <= 1 <= high and p_slope < p.min():
        # The scale explains more than any one rating: the others are compared with the line of that slope.
        drift, se, p = _drifts(y - slope * x, x, v + slope**2 * s, contrasts, clusters)
    reach = t_quantile(clusters, 1 - (1 - LEVEL) / len(codes)) + ndtri(POWER)
    return LadderCheck(codes, slope, low, high, -drift * POINTS, holm(p), reach * se * POINTS)


def _slope_with_errors(
    y: np.ndarray, x: np.ndarray, v: np.ndarray, s: np.ndarray, clusters: int
) -> tuple[float, float, float, float]:
    """Return the slope of y on x that minimizes (y - b x)' (V + b^2 S)^-1 (y - b x), the ends of its
    interval, and the p-value of a slope of 1."""
    values, vectors = linalg.eigh(s, v)
    slopes, ratio = np.tan(ANGLES)[:, None], np.maximum(values, 0)
    residual, variance = vectors.T @ y - slopes * (vectors.T @ x), 1 + slopes**2 * ratio
    # Where a ladder's model truly is, given a slope: independent of the residual, so that the score test is exact.
    place = vectors.T @ x + slopes * ratio * residual / variance
    score = np.sum(place * residual / variance, axis=1) ** 2 / np.sum(place**2 / variance, axis=1)
    best = int(np.argmin(np.sum(residual**2 / variance, axis=1)))
    p = 2 * stdtr(clusters - 1, -np.sqrt(score[np.argmin(np.abs(slopes - 1))]))
    outside = np.flatnonzero(score > t_quantile(clusters, LEVEL) ** 2)
    low, high = outside[outside < best].max(initial=-1), outside[outside > best].min(initial=len(slopes))
    ends = np.concatenate([[-np.inf], slopes[:, 0], [np.inf]])[[low + 1, high + 1]]
    return float(slopes[best, 0]), float(ends[0]), float(ends[1]), float(p)


def _drifts(
    residual: np.ndarray, x: np.ndarray | None, covariance: np.ndarray, contrasts: np.ndarray, clusters: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return by model how far its free fit is off the others' line, by generalized least squares, se and p-value."""
    root = linalg.cholesky(covariance, lower=True)
    shift, residual = (linalg.solve_triangular(root, part, lower=True) for part in (contrasts, residual))
    if x is not None:
        along = linalg.solve_triangular(root, x, lower=True)
        along /= np.linalg.norm(along)
        shift, residual = shift - np.outer(along, along @ shift), residual - along * (along @ residual)
    information = np.sum(shift**2, axis=0)
    drift, se = shift.T @ residual / information, 1 / np.sqrt(information)
    return drift, se, 2 * stdtr(clusters - 1, -np.abs(drift / se))
