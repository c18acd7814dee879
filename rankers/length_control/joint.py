"""Bradley-Terry with a length term: one preference of the judge for length, shared by all
models."""

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

COLLINEAR = 1e-9
"""Share of the length term's information left by the models, below which it is confounded with
their strengths."""
FEW = 2.0
"""Effective number of items behind the slope below which a warning says so: 199 wins and a tie give
1.2."""


@dataclass(frozen=True, slots=True)
class EqualLength:
    """Strengths at equal length with the slope of the length term; `sd` is the root mean square
    difference."""

    strengths: Strengths
    lengths: Lengths
    sd: float

    def warnings(self) -> tuple[Notice, ...]:
        """Warn if strength and length predict the verdicts on all but an item or two."""
        coded = self.lengths.coded
        behind = float(
            effective_clusters(np.bincount(coded.cluster, slope_influence(self.strengths)))
        )
        fields = {"behind": behind, "clusters": coded.clusters, "unit": coded.unit}
        return (Notice("length-effect-of-few", fields),) if behind < FEW else ()

    def summary(self, level: float) -> dict[str, Any]:
        """Return model, slope and Elo points gained by a response that is longer by one sd, for the
        diagnostics."""
        coded, (slope,) = self.lengths.coded, self.strengths.coefficients.tolist()
        spread = self.strengths.covariance(coded)
        points, se = float(POINTS * np.tanh(1)), float(np.sqrt(spread[-1, -1]))
        reach = t_quantile(coded.clusters, level) * se
        ends = (
            (points * (slope - reach), points * (slope + reach))
            if coded.clusters > 1
            else (None, None)
        )
        return {
            "model": "bradley-terry with a length term",
            "sd": self.sd,
            "slope": slope,
            "slope_se": se,
            "elo_per_sd": points * slope,
            "elo_per_sd_low": ends[0],
            "elo_per_sd_high": ends[1],
            "level": level,
            "left_out": self.lengths.left_out,
            "lengths": self.lengths.named,
        }


def fit_at_equal_length(lengths: Lengths, plain: Strengths) -> EqualLength:
    """Fit P(a beats b) = s(theta_a - theta_b + slope tanh((length_a - length_b) / sd)), strengths
    at equal lengths. AlpacaEval's length term (Dubois et al. 2024), one slope for all models, in a
    joint fit; sd is the root mean square of the length differences, so that nothing depends on
    which model is a. The slope has no regularization. `plain` are strengths without the term."""
    sd = float(np.sqrt(np.mean(lengths.difference**2)))
    term = saturate_lengths(lengths.difference, sd) if sd > 0 else np.zeros(len(lengths.difference))
    fit = fit_with_length(lengths.coded, term, plain.regularization, plain.theta)
    return EqualLength(fit, lengths, sd)


def fit_with_length(
    coded: CodedBattles, term: np.ndarray, regularization: float, start: np.ndarray
) -> Strengths:
    """Fit strengths, penalized by lambda, and the slope of a length term; NotIdentifiedError if
    they are confounded."""
    likelihood = column_likelihood(coded, term[:, None], regularization)
    free = replace(likelihood, penalty=np.zeros_like(likelihood.penalty))
    matrix = free.information_at(np.append(start, 0.0))
    total, cross = matrix[-1, -1], matrix[:-1, -1]
    left = total - cross @ np.linalg.lstsq(matrix[:-1, :-1], cross, rcond=None)[0]
    if left <= COLLINEAR * total:
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
            pair_sums(coded),
            regularization,
            likelihood,
            maximize(likelihood, np.append(start, 0.0)),
        )
    except SingularError as error:
        raise NotConvergedError(
            f"no maximum with a length term ({error}); raise the regularization"
        ) from None


def slope_influence(fit: Strengths) -> np.ndarray:
    """Return what each battle adds to the error of the slope of the length term, shape
    (battles,)."""
    likelihood = fit.likelihood
    logits = likelihood.logits(fit.optimum.at[None])[0]
    surplus, _ = likelihood.loss(likelihood.credit, likelihood.weight, logits)
    direction = fit.solve(np.eye(likelihood.design.parameters)[-1])
    return surplus * likelihood.design.product(direction[None])[0]


def length_separates(coded: CodedBattles, term: np.ndarray) -> bool:
    """Return whether some strengths and a slope of 1 or -1 predict every winner, so that the
    likelihood has no maximum. A win says theta_a - theta_b >= -slope term, a loss <=, a tie both:
    such bounds can be met unless they add up to less than 0 around a circle of models (Bellman and
    Ford)."""
    counted = coded.weight > 0
    a, b, credit = coded.a[counted], coded.b[counted], coded.credit[counted]
    won, lost = credit > 0, credit < 1
    start, end = np.concatenate([a[won], b[lost]]), np.concatenate([b[won], a[lost]])
    lead = np.concatenate([term[counted][won], -term[counted][lost]])
    return any(_can_be_met(start, end, slope * lead, len(coded.models)) for slope in (1, -1))


def _can_be_met(start: np.ndarray, end: np.ndarray, most: np.ndarray, models: int) -> bool:
    """Return whether strengths exist with theta[end] <= theta[start] + most, rounding aside."""
    theta = np.zeros(models)
    for _ in range(models + 1):
        before = theta.copy()
        np.minimum.at(theta, end, before[start] + most)
        if np.all(theta >= before - 1e-12):
            return True
    return False
