"""Place newcomers on a ladder, and check that its ratings agree with the battles.

A ladder is a published ranking, and newcomers are models that it does not rate. The free fit is
the fit of the battles without the ladder. The check is a regression of the free fit y on the
ladder x with errors in both variables (York 1968): with covariances V of y and S of x, and slope
b, y - b x has the covariance V + b^2 S. So the ladder's own errors do not draw the slope towards
0.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from podium.check_kinds import CHECKS
from podium.data.battles import Battles
from podium.data.ladder import Ladder
from podium.distributions import ndtri, stdtr
from podium.errors import UsageError, unknown_name_error
from podium.notices.notice import Notice
from podium.rankers.errors.few_items import FEWEST_BY_RESIDUALS
from podium.rankers.errors.intervals import ScoreEstimates, finite_or_none, holm, t_quantile
from podium.rankers.fit.cells import BattleData, pair_sums_with_items, prepare_battles
from podium.rankers.fit.identification import bounded_models, fit_battles
from podium.rankers.fit.scale import POINTS, elo_scale
from podium.rankers.fit.strengths import LadderPrior, Strengths, build_prior, fit_strengths
from podium.rankers.given_ratings import Ratings, read_ladder
from podium.wording import quantity, some

SLOPE_LEVEL = 0.975
"""Confidence level of the slope's interval."""
FALSE_NAMES = CHECKS["ladder rating"].threshold
"""Probability that a check names any rating as wrong although the whole ladder is right. Together
with the check of the slope, a right ladder fails with a probability of about 7%."""
POWER = 0.8
"""Power with which the check finds a drift of the reported `detectable` size."""
RATED_ONLY = "the rated models"
"""Subject of the sentence on a ladder of another scale, if there are no newcomers to name."""
# The ends -pi/2 and pi/2 are left out, because the slope is infinite there.
ANGLES = np.linspace(-np.pi / 2, np.pi / 2, 3602)[1:-1]
"""The slopes b that are tried, as angles arctan b."""
VARIANCE_ROUNDING = 1e-9
"""If the variance of a log-strength is below this (logits squared), the model's results are the
same on every item, and the check is not made."""
NO_DRIFTS = np.empty(0)
"""Drifts, and their figures, if they are unknown."""


@dataclass(frozen=True, slots=True)
class LadderCheck:
    """How the ratings of a ladder agree with a free fit of the battles.

    Attributes:
        codes: codes of the compared models, shape (n,).
        slope: slope of the free fit on the ladder, NaN if unknown.
        low: lower end of the slope's 97.5% interval, infinite if unbounded.
        high: upper end of this interval.
        drift: each model's rating by the ladder minus its rating by the battles, in Elo points,
            shape (n,). `drift`, `p` and `detectable` are empty if the drifts are unknown.
        p: Holm's p-value of each drift, shape (n,).
        detectable: the smallest drift that is found with 80% power, in Elo points, shape (n,).
    """

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
        """Return the figures for the JSON; unknown ones are None.

        `models` are the names by code. `drifts` has the drift of each compared model, by name, and
        `drifted` names the models whose drift is significant.
        """
        slope_figures = {"slope": self.slope, "slope_low": self.low, "slope_high": self.high}
        # Without drifts, three of these arrays are empty.
        by_model = zip(self.codes, self.drift, self.p, self.detectable, strict=False)
        drifts = {
            models[k]: {"drift": float(d), "p": float(p), "detectable": float(e)}
            for k, d, p, e in by_model
        }
        drifted = [name for name, row in drifts.items() if row["p"] <= FALSE_NAMES]
        known_slope_figures = {name: finite_or_none(value) for name, value in slope_figures.items()}
        return {
            **known_slope_figures,
            "other_scale": self.is_other_scale,
            "drifts": drifts,
            "drifted": drifted,
        }


def check_ladder(battles: BattleData, prior: LadderPrior) -> LadderCheck:
    """Compare a fit of the battles without the ladder with the ladder.

    The compared models are the rated models with a bounded rating and 20 items or more, in the
    largest group that battles connect. The slope is NaN, its interval unbounded, and the drifts are
    unknown if fewer than two models are compared, if there are no more clusters than these models,
    or if a compared model has the same result on every item.
    """
    fit = fit_strengths(pair_sums_with_items(battles))
    graph = fit.graph
    codes_of_rated = np.flatnonzero(prior.is_rated)
    largest = np.argmax(np.bincount(graph.group[graph.has_battle]))
    has_items = battles.clusters_by_model()[codes_of_rated] >= FEWEST_BY_RESIDUALS
    is_compared = (
        (graph.group[codes_of_rated] == largest) & ~graph.separated[codes_of_rated] & has_items
    )
    codes = codes_of_rated[is_compared]
    fit_covariance = fit.covariance(battles)[np.ix_(codes, codes)]
    ladder_covariance = prior.covariance[np.ix_(is_compared, is_compared)]
    has_enough_models = 2 <= len(codes) < battles.clusters
    if not has_enough_models or np.diag(fit_covariance).min() < VARIANCE_ROUNDING:
        return LadderCheck(
            codes,
            slope=np.nan,
            low=-np.inf,
            high=np.inf,
            drift=NO_DRIFTS,
            p=NO_DRIFTS,
            detectable=NO_DRIFTS,
        )
    return compare_scales(
        codes,
        fit.theta[codes],
        fit_covariance,
        prior.mean[codes],
        ladder_covariance,
        battles.clusters,
    )


def compare_scales(
    codes: np.ndarray,
    fit_theta: np.ndarray,
    fit_covariance: np.ndarray,
    ladder_theta: np.ndarray,
    ladder_covariance: np.ndarray,
    clusters: int,
) -> LadderCheck:
    """Compare log-strengths of a free fit with those of a ladder.

    Args:
        codes: codes of the n compared models, shape (n,).
        fit_theta: log-strengths of the free fit, shape (n,).
        fit_covariance: covariance of `fit_theta`, shape (n, n).
        ladder_theta: log-strengths of the ladder, shape (n,).
        ladder_covariance: covariance of `ladder_theta`, shape (n, n).
        clusters: number of clusters of the battles.

    Returns:
        The comparison; for two models, it has no drifts. Drifts are distances from the line of
        slope 1. If the slope's interval excludes 1, and no single drift is more significant than
        the slope, they are distances from the line of the fitted slope.
    """
    # Differences from the first model, as log-strengths have no origin.
    identity = np.eye(len(codes))
    contrasts = identity[1:] - identity[0]
    y = contrasts @ fit_theta
    x = contrasts @ ladder_theta
    v = contrasts @ fit_covariance @ contrasts.T
    s = contrasts @ ladder_covariance @ contrasts.T
    slope, low, high, p_slope = _slope_with_errors(y, x, v, s, clusters)
    check = LadderCheck(
        codes=codes,
        slope=slope,
        low=low,
        high=high,
        drift=NO_DRIFTS,
        p=NO_DRIFTS,
        detectable=NO_DRIFTS,
    )
    if len(codes) < 3:
        return check
    drift, se, p = _drifts(
        residual=y - x, x=None, covariance=v + s, contrasts=contrasts, clusters=clusters
    )
    if check.is_other_scale and p_slope < p.min():
        # The ladder as a whole is on another scale. Each rating is then compared with the line of
        # the fitted slope instead of the line of slope 1.
        drift, se, p = _drifts(y - slope * x, x, v + slope**2 * s, contrasts, clusters)
    detectable_in_se = t_quantile(clusters, 1 - FALSE_NAMES / len(codes)) + ndtri(POWER)
    # `_drifts` are of the battles from the ladder; those of the check have the opposite sign.
    drift_of_ladder = -drift * POINTS
    detectable = detectable_in_se * se * POINTS
    return replace(check, drift=drift_of_ladder, p=holm(p), detectable=detectable)


def _slope_with_errors(
    y: np.ndarray, x: np.ndarray, v: np.ndarray, s: np.ndarray, clusters: int
) -> tuple[float, float, float, float]:
    """Return the slope with errors in both variables, its interval, and the p-value of slope 1.

    The slope b minimizes (y - b x)' (V + b^2 S)^-1 (y - b x). The interval has the slopes that
    score tests do not reject.

    Args:
        y: differences by the free fit, shape (n - 1,).
        x: differences by the ladder, shape (n - 1,).
        v: covariance V of y, shape (n - 1, n - 1).
        s: covariance S of x, shape (n - 1, n - 1).
        clusters: number of clusters of the battles.

    Returns:
        The slope, the ends of its 97.5% interval, infinite where unbounded, and the p-value.
    """
    from scipy import linalg

    # Rotate the differences so that V is the unit matrix and S is diagonal, with `ratio` on the
    # diagonal. Then V + b^2 S has the diagonal `variance`; rows below are slopes.
    eigenvalues, eigenvectors = linalg.eigh(s, v)
    slopes = np.tan(ANGLES)[:, None]
    ratio = np.maximum(eigenvalues, 0)
    rotated_x = eigenvectors.T @ x
    residual = eigenvectors.T @ y - slopes * rotated_x
    variance = 1 + slopes**2 * ratio
    # The most likely true rating of each model, given a slope. It is independent of the residual,
    # so that the score test is exact.
    likely_x = rotated_x + slopes * ratio * residual / variance
    slope_score = np.sum(likely_x * residual / variance, axis=1)
    score = slope_score**2 / np.sum(likely_x**2 / variance, axis=1)
    best_position = int(np.argmin(np.sum(residual**2 / variance, axis=1)))
    score_of_one = score[np.argmin(np.abs(slopes - 1))]
    p = 2 * stdtr(clusters - 1, -np.sqrt(score_of_one))
    # The interval extends from the best slope to the nearest rejected slope on either side. It is
    # infinite on a side without one.
    rejected = np.flatnonzero(score > t_quantile(clusters, SLOPE_LEVEL) ** 2)
    rejected_below = slopes[rejected[rejected < best_position], 0]
    rejected_above = slopes[rejected[rejected > best_position], 0]
    # Slopes ascend with the angle.
    low_end = float(rejected_below.max(initial=-np.inf))
    high_end = float(rejected_above.min(initial=np.inf))
    return float(slopes[best_position, 0]), low_end, high_end, float(p)


def _drifts(
    residual: np.ndarray,
    x: np.ndarray | None,
    covariance: np.ndarray,
    contrasts: np.ndarray,
    clusters: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the drift of each model: how far its free fit is from the line of the other models.

    A drift is above 0 if the battles rate the model higher than the line. It is estimated by
    generalized least squares.

    Args:
        residual: differences by the free fit minus differences by the line, shape (n - 1,).
        x: differences by the ladder, shape (n - 1,), if the slope of the line was fitted; None if
            the slope is 1.
        covariance: covariance of the residuals, shape (n - 1, n - 1).
        contrasts: the matrix of the differences, shape (n - 1, n).
        clusters: number of clusters of the battles.

    Returns:
        Drifts in logits, their standard errors, and their two-sided p-values (t with one degree of
        freedom less than clusters, not adjusted for several models), each of shape (n,).
    """
    from scipy import linalg

    # Multiplying by the inverse Cholesky factor makes the errors independent with variance 1. Then
    # a drift of model k adds a multiple of column k of `shift_by_model` to the residuals.
    root = linalg.cholesky(covariance, lower=True)
    shift_by_model = linalg.solve_triangular(root, contrasts, lower=True)
    residual = linalg.solve_triangular(root, residual, lower=True)
    if x is not None:
        slope_direction = linalg.solve_triangular(root, x, lower=True)
        slope_direction /= np.linalg.norm(slope_direction)
        # Remove the direction that the fitted slope explains.
        shift_by_model = shift_by_model - np.outer(
            slope_direction, slope_direction @ shift_by_model
        )
        residual = residual - slope_direction * (slope_direction @ residual)
    information = np.sum(shift_by_model**2, axis=0)
    drift = shift_by_model.T @ residual / information
    se = 1 / np.sqrt(information)
    return drift, se, 2 * stdtr(clusters - 1, -np.abs(drift / se))


def choose_ladder(
    battles: Battles,
    ratings: Ratings | None,
    models: Sequence[str],
    options_without_ladder: Sequence[str],
) -> tuple[Ladder | None, tuple[Notice, ...]]:
    """Return the ladder on which models are placed, if there is one, and warnings.

    Args:
        battles: the battles; if they come from a log, they may have the ladder of the log.
        ratings: given ratings, which replace the ladder of the log; None if there are none.
        models: names of the models with battles.
        options_without_ladder: names of the options in use that cannot be combined with a ladder.
            If there are any, the ladder of the log is not used.

    Returns:
        The ladder, without models that have no battle; None if there is none or it is not used.
        The warnings name an unused ladder, or rated models that are unknown, and have those of the
        ladder itself.

    Raises:
        UsageError: given ratings and one of these options, none of the rated models has a battle,
            or the ratings cannot be read.
        DataError: the file of the ratings is damaged.
    """
    if ratings is None and battles.ladder is None:
        return None, ()
    options_text = " and ".join(options_without_ladder)
    if ratings is None and options_without_ladder:
        return None, (Notice("kept-ladder-unused", {"options": options_text}),)
    if options_without_ladder:
        raise UsageError(f"ratings= cannot be combined with {options_text}: leave one of them out")
    given_ladder = battles.ladder if ratings is None else read_ladder(ratings)
    ladder = given_ladder.restrict_to(models) if given_ladder else None
    if given_ladder is None or ladder is None:
        raise UsageError(f"ratings=: none of the rated models has a battle; models: {some(models)}")
    unknown_notices = [
        Notice("unknown-in-ladder", {"why": str(unknown_name_error("model", name, models))})
        for name in given_ladder.unknown_names(models)
    ]
    return ladder, (*unknown_notices, *ladder.warnings())


def place_newcomers(
    strengths: Strengths, prior: LadderPrior, battles: BattleData, estimate: ScoreEstimates
) -> tuple[ScoreEstimates, dict[str, Any]]:
    """Remove the ends of intervals that the ladder does not support, and summarize the placement.

    The interval of a newcomer above all rated models gets an infinite upper end, and the interval
    of a newcomer below all of them an infinite lower end. If battles and ladder are on different
    scales, both ends of all newcomers become infinite, and their standard errors NaN.

    Returns:
        A changed copy of the estimates, and figures of the placement for the JSON: names of the
        `rated` and the `new` models, the newcomers `beyond` all rated models (a dictionary from
        names to `above` or `below`), and the figures of `LadderCheck.to_dict`.
    """
    check = check_ladder(battles, prior)
    sides = prior.sides_beyond(strengths.pairs, strengths.theta)
    # `is_other_scale` is of the whole ladder: all newcomers are hidden, or none.
    is_hidden = ~prior.is_rated & check.is_other_scale
    low = np.where((sides < 0) | is_hidden, -np.inf, estimate.low)
    high = np.where((sides > 0) | is_hidden, np.inf, estimate.high)
    covariance = np.where(is_hidden | is_hidden[:, None], np.nan, estimate.covariance)
    names = battles.models
    words_of_side = {1: "above", -1: "below"}
    beyond = {}
    for k in np.flatnonzero(sides):
        beyond[names[k]] = words_of_side[int(sides[k])]
    summary = {
        "rated": [names[k] for k in np.flatnonzero(prior.is_rated)],
        "new": [names[k] for k in np.flatnonzero(~prior.is_rated)],
        "beyond": beyond,
        **check.to_dict(names),
    }
    return replace(estimate, low=low, high=high, covariance=covariance), summary


def failed_ladder_checks(ladder: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name of each failed check with the figures of the check's message.

    The figures are the values of the fields of the message, by name; unknown ends of the slope are
    infinite there. The names are `ladder scale`, and `ladder rating` once for each rated model that
    drifted. `ladder` is the summary by `place_newcomers`.
    """
    if ladder["other_scale"]:
        low = ladder["slope_low"]
        high = ladder["slope_high"]
        figures = {
            "slope": ladder["slope"],
            "low": -math.inf if low is None else low,
            "high": math.inf if high is None else high,
            "new": some(ladder["new"] or [RATED_ONLY]),
        }
        yield "ladder scale", figures
    for name in ladder["drifted"]:
        drift = ladder["drifts"][name]["drift"]
        side = "high" if drift > 0 else "low"
        yield "ladder rating", {"model": name, "drift": abs(drift), "side": side}


def ladder_of_battles(battles: Battles, source: str) -> Ladder:
    """Fit Bradley-Terry to battles, and return the Elo ratings of all models as a ladder.

    If the battles have a ladder themselves, it is the prior of the fit. The variance of a
    separated model is computed from the penalty of the fit. Its covariances with other models are
    0.

    Args:
        battles: the battles.
        source: where the battles come from, for messages and as the source of the ladder.

    Raises:
        UsageError: fewer items than models, or as many.
        NotIdentifiedError: no battle is readable, or the comparison graph is disconnected.
        NotConvergedError: the fit did not reach its maximum.
    """
    coded = prepare_battles(battles)
    models = coded.models
    items = coded.clusters_by_model()
    if coded.clusters <= len(models):
        problem = f"too few items ({coded.clusters}) for errors of {quantity(len(models), 'model')}"
        raise UsageError(f"{source}: {problem}; give ratings=")
    ladder = battles.ladder.restrict_to(models) if battles.ladder else None
    prior = build_prior(ladder, models) if ladder else None
    fit = fit_battles(coded, prior=prior)
    if prior:
        scale = prior.scale
    else:
        scale = elo_scale(
            models, is_in_mean=bounded_models(fit.graph), items=items, centre=None, pin=None
        )
    separated = fit.graph.separated
    # The variances by the inverse Hessian, to which the penalty contributes.
    covariance = scale.covariance(fit.covariance(coded))
    covariance[separated] = 0
    covariance[:, separated] = 0
    inverse_hessian = fit.solve(np.eye(len(models)))
    penalty_variance = POINTS**2 * np.diag(inverse_hessian)
    covariance += np.diag(np.where(separated, penalty_variance, 0))
    se = np.sqrt(np.maximum(np.diag(covariance), 0))
    elo = tuple(scale.scores(fit.theta).tolist())
    covariance_rows = tuple(map(tuple, covariance.tolist()))
    return Ladder(
        models=models, elo=elo, se=tuple(se.tolist()), covariance=covariance_rows, source=source
    )
