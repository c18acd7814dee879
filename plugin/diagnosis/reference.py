"""What a judge's ratings are held against, people, a gold standard or the other judges, and a line between the two."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from podium.diagnosis.clustered import Clustered
from podium.diagnosis.figures import Missing
from podium.diagnosis.sides import Ratings
from podium.errors import NotConvergedError, NotIdentifiedError

REMEDY = "give a column human, name a human judge (--human-judge), or a gold standard (--gold)"
MOST_NOISE = 0.5
"""Share of the reference's variation that may be error."""


@dataclass(frozen=True, slots=True)
class Reference:
    """Ratings of the same entrants by somebody else: `people`, `gold`, or `other judges`."""

    who: str
    ratings: Ratings


def first_reference(candidates: Mapping[str, Callable[[], Ratings]]) -> Reference | Missing:
    """Return the first reference there is; one whose battles fall into groups that never met is passed over."""
    reasons = []
    for who, rate in candidates.items():
        try:
            return Reference(who, rate())
        except (NotIdentifiedError, NotConvergedError) as error:
            reasons.append(f"{who}: {error}")
    why = "; ".join(reasons) or "there are no human labels, no gold standard and no other judge"
    return Missing("ratings to compare with", why, REMEDY)


@dataclass(frozen=True, slots=True)
class RatingLine:
    """A line between two judges' ratings, with a term beside it.

    Attributes:
        weights: constant, slope, and what stands beside, shape (terms,).
        by_judge, by_reference: derivatives of the weights by each rating, shape (entrants, terms).
    """

    weights: np.ndarray
    by_judge: np.ndarray
    by_reference: np.ndarray

    def influence(self, term: int, judge: Ratings, reference: Ratings, level: float) -> tuple[Clustered, np.ndarray]:
        """Return what each cluster adds to the error of a weight, through both ratings."""
        codes = np.concatenate([judge.rows.code, reference.rows.code])
        ours, theirs = judge.influence @ self.by_judge[:, term], reference.influence @ self.by_reference[:, term]
        return Clustered(codes, judge.rows.unit, level), np.concatenate([ours, theirs])


def fit_line(
    judge: np.ndarray, reference: np.ndarray, beside: np.ndarray, noise: float = 0.0, shared: float = 0.0
) -> RatingLine | None:
    """Fit judge = a + slope * reference + weight * beside by least squares; where `beside` is 0, without that term.

    The reference's own error would flatten the line, so it is taken out of the sums of squares. None where more than
    half of the reference's variation is error.

    Args:
        judge, reference: ratings, shape (entrants,) each.
        beside: mask of a family, or a length, shape (entrants,).
        noise: sum over entrants of the variance of the reference's error, beyond the other terms.
        shared: sum over entrants of the covariance of both errors, likewise.

    Source: Fuller 1987, Measurement error models, section 2.2.
    """
    columns = [np.ones(len(judge)), reference, *([beside.astype(np.float64)] if beside.any() else [])]
    x = np.stack(columns, axis=1)
    outer, cross = x.T @ x, x.T @ judge
    if noise > MOST_NOISE / np.linalg.inv(outer)[1, 1]:
        return None
    outer[1, 1] -= noise
    cross[1] -= shared
    inverse = np.linalg.inv(outer)
    weights = inverse @ cross
    by_judge = x @ inverse
    return RatingLine(weights, by_judge, np.outer(judge - x @ weights, inverse[1]) - weights[1] * by_judge)


def error_sums(judge: Ratings, reference: Ratings, beside: np.ndarray) -> tuple[float, float]:
    """Return the variance of the reference's errors and their covariance with the judge's, summed over entrants.

    Only errors count that the constant and `beside` leave: the rest moves no slope.
    """
    terms = np.stack([np.ones(len(beside)), beside.astype(np.float64)][: 1 + beside.any()], axis=1)
    rest = np.eye(len(beside)) - terms @ np.linalg.pinv(terms)
    ours, theirs = judge.influence @ rest, reference.influence @ rest
    _, here, there = np.intersect1d(judge.rows.code, reference.rows.code, return_indices=True)
    return float(np.sum(theirs**2)), float(np.sum(ours[here] * theirs[there]))
