"""Bradley-Terry with a length term, whose slope is the judge's preference for length.

All models share the slope.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from podium.errors import NotConvergedError, NotIdentifiedError
from podium.notices.notice import Notice
from podium.rankers.errors.intervals import effective_clusters, t_quantile
from podium.rankers.fit.coded import CodedBattles
from podium.rankers.fit.newton import SingularError, maximize
from podium.rankers.fit.pairs import pair_sums
from podium.rankers.fit.scale import POINTS
from podium.rankers.fit.strengths import Strengths, column_likelihood
from podium.rankers.length_control.lengths import Lengths, saturate_lengths

LEAST_OWN_INFORMATION = 1e-9
"""If the strengths explain the length term but for a smaller share of its information than this,
length and strength are confounded, and the fit is rejected."""
FEWEST_EFFECTIVE_ITEMS = 2.0
"""If the effective number of items that determine the slope is below this, a warning says so. 199
wins and a tie give 1.2."""


@dataclass(frozen=True, slots=True)
class EqualLength:
    """Strengths at equal length, fitted jointly with the slope of the length term.

    Attributes:
        strengths: the fit.
        lengths: the battles with their differences in length.
        sd: root mean square of the differences in length, the unit of the length term.
    """

    strengths: Strengths
    lengths: Lengths
    sd: float

    def warnings(self) -> tuple[Notice, ...]:
        """Return a warning if strength and length predict the verdicts on all but an item or two.

        The result is empty if the slope rests on more items (`FEWEST_EFFECTIVE_ITEMS`).
        """
        coded = self.lengths.coded
        influence_of_item = np.bincount(coded.cluster, slope_influence(self.strengths))
        effective_items = float(effective_clusters(influence_of_item))
        if effective_items >= FEWEST_EFFECTIVE_ITEMS:
            return ()
        fields = {"behind": effective_items, "clusters": coded.clusters, "unit": coded.unit}
        return (Notice("length-effect-of-few", fields),)

    def summary(self, level: float) -> dict[str, Any]:
        """Return the figures for the JSON: the model, the slope, and its effect in Elo points.

        The keys are `model`, `sd`, `slope`, `slope_se`, `elo_per_sd`, `elo_per_sd_low`,
        `elo_per_sd_high`, `level`, `left_out` and `lengths`.

        The effect is what a response gains by one sd of length. `level` is the confidence level of
        the interval of these points, in (0, 1). Its ends are None for a single cluster.
        """
        coded = self.lengths.coded
        [slope] = self.strengths.coefficients.tolist()
        covariance = self.strengths.covariance(coded)
        # A response that is longer by one sd has a length term of tanh(1).
        elo_per_slope = float(POINTS * np.tanh(1))
        se = float(np.sqrt(covariance[-1, -1]))
        low = None
        high = None
        if coded.clusters > 1:
            half_width = t_quantile(coded.clusters, level) * se
            low = elo_per_slope * (slope - half_width)
            high = elo_per_slope * (slope + half_width)
        return {
            "model": "bradley-terry with a length term",
            "sd": self.sd,
            "slope": slope,
            "slope_se": se,
            "elo_per_sd": elo_per_slope * slope,
            "elo_per_sd_low": low,
            "elo_per_sd_high": high,
            "level": level,
            "left_out": self.lengths.left_out,
            "lengths": self.lengths.description,
        }


def fit_at_equal_length(lengths: Lengths, plain: Strengths) -> EqualLength:
    """Fit strengths at equal lengths, jointly with one slope of length for all models.

    P(a beats b) = s(theta_a - theta_b + slope tanh((length_a - length_b) / sd)), with the length
    term of AlpacaEval (Dubois et al. 2024). sd is the root mean square of the length differences,
    so that nothing depends on which model is a. The slope has no penalty.

    Args:
        lengths: battles with the lengths of both responses.
        plain: strengths fitted without the length term, at which the fit starts. Their lambda is
            used.

    Raises:
        NotIdentifiedError, NotConvergedError: as of `fit_with_length`.
    """
    sd = float(np.sqrt(np.mean(lengths.difference**2)))
    # If all responses are equally long, the term is 0, and the fit is rejected as confounded.
    term = np.zeros(len(lengths.difference))
    if sd > 0:
        term = saturate_lengths(lengths.difference, sd)
    fit = fit_with_length(lengths.coded, term, plain.regularization, plain.theta)
    return EqualLength(fit, lengths, sd)


def fit_with_length(
    coded: CodedBattles, term: np.ndarray, regularization: float, start: np.ndarray
) -> Strengths:
    """Fit strengths and the slope of a length term.

    Args:
        coded: the battles.
        term: length term of a, shape (battles,).
        regularization: lambda of the strengths.
        start: first guess of the strengths, shape (models,).

    Raises:
        NotIdentifiedError: strengths and slope are confounded, or predict every winner.
        NotConvergedError: the fit has no maximum.
    """
    likelihood = column_likelihood(coded, term[:, None], regularization)
    # The information about the slope, without and with free strengths (its Schur complement).
    unpenalized = replace(likelihood, penalty=np.zeros_like(likelihood.penalty))
    matrix = unpenalized.information_at(np.append(start, 0.0))
    strength_information = matrix[:-1, :-1]
    slope_information = matrix[-1, -1]
    cross_information = matrix[:-1, -1]
    solution, *_ = np.linalg.lstsq(strength_information, cross_information, rcond=None)
    information_left = slope_information - cross_information @ solution
    if information_left <= LEAST_OWN_INFORMATION * slope_information:
        raise NotIdentifiedError(
            "length and strength are confounded: between two models the same one is always longer "
            "by as much; judge items with other lengths"
        )
    if length_separates(coded, term):
        raise NotIdentifiedError(
            "length and strength predict every winner, so that no finite length term fits best: "
            "ratings at equal length need battles that the shorter response wins"
        )
    try:
        return Strengths(
            pairs=pair_sums(coded),
            regularization=regularization,
            likelihood=likelihood,
            optimum=maximize(likelihood, np.append(start, 0.0)),
        )
    except SingularError as error:
        raise NotConvergedError(
            f"no maximum with a length term ({error}); raise the regularization"
        ) from None


def slope_influence(fit: Strengths) -> np.ndarray:
    """Return what each battle adds to the error of the slope of length, shape (battles,).

    `fit` is a fit by `fit_with_length`.
    """
    likelihood = fit.likelihood
    # Parameters and logits have a first axis of samples, here of size 1.
    [logits] = likelihood.logits(fit.optimum.parameters[None])
    surplus, _ = likelihood.loss(likelihood.credit, likelihood.weight, logits)
    # The slope is the last parameter, and so its unit vector is the last row.
    *_, unit_vector_of_slope = np.eye(likelihood.design.parameter_count)
    direction = fit.solve(unit_vector_of_slope)
    [influence_of_unit] = likelihood.design.product(direction[None])
    return surplus * influence_of_unit


def length_separates(coded: CodedBattles, term: np.ndarray) -> bool:
    """Return whether strengths and length predict every winner.

    Then the likelihood has no maximum. Only the sign of the slope matters, so the slopes 1 and -1
    are tried. To predict a win of a, theta_a - theta_b >= -slope * term must hold; to predict a win
    of b, theta_a - theta_b <= -slope * term; and to predict a tie, both. Strengths that meet all of
    these bounds exist unless the bounds add up to less than 0 along a cycle of models (Bellman and
    Ford).

    `term` is the length term of a, shape (battles,). Battles of weight 0 are ignored.
    """
    is_counted = coded.weight > 0
    a = coded.a[is_counted]
    b = coded.b[is_counted]
    credit = coded.credit[is_counted]
    a_earned = credit > 0
    b_earned = credit < 1
    start = np.concatenate([a[a_earned], b[b_earned]])
    end = np.concatenate([b[a_earned], a[b_earned]])
    counted_term = term[is_counted]
    lead = np.concatenate([counted_term[a_earned], -counted_term[b_earned]])
    models = len(coded.models)
    is_met_with_positive_slope = _can_be_met(start, end, lead, models)
    return is_met_with_positive_slope or _can_be_met(start, end, -lead, models)


def _can_be_met(
    start: np.ndarray, end: np.ndarray, largest_difference: np.ndarray, models: int
) -> bool:
    """Return whether log-strengths exist that meet all bounds on their differences.

    A bound is theta[end] <= theta[start] + largest_difference. `start` and `end` are codes of
    models, and `largest_difference` is in logits, shape (bounds,) each. Bounds that are missed by
    rounding error count as met. `models` is the number of models.
    """
    # Bellman-Ford: theta are the shortest distances from a source that is at distance 0 from all
    # models. If they still change after models + 1 steps, the bounds along a cycle have a negative
    # sum, so that they cannot be met.
    theta = np.zeros(models)
    for _ in range(models + 1):
        before = theta.copy()
        np.minimum.at(theta, end, before[start] + largest_difference)
        if np.all(theta >= before - 1e-12):
            return True
    return False
