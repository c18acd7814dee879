"""What a judge's ratings are held against, people, a gold standard or the other judges, and a line between the two."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from podium.battles import Battles
from podium.diagnosis.clustered import Clustered, column_of, sample_of
from podium.diagnosis.figures import Missing
from podium.diagnosis.gold_source import Gold
from podium.errors import NotConvergedError, NotIdentifiedError
from podium.rankers.coded import code_battles
from podium.rankers.identification import strengths_of
from podium.rankers.scale import POINTS

REMEDY = "give a column human, name a human judge (--human-judge), or a gold standard (--gold)"
ELSEWHERE = 1 << 40
"""Added to the codes of items that are not the judge's own, so that no two of them are taken for one."""
MOST_NOISE = 0.5
"""Share of the reference's variation that may be error."""


@dataclass(frozen=True, slots=True)
class Ratings:
    """Bradley-Terry ratings that remember what each item adds to their error, so that differences keep honest errors.

    Attributes:
        entrants: names by position.
        elo: centred on 0, shape (entrants,).
        influence: what each cluster adds to the error of each rating, Elo points, shape (clusters, entrants).
        rows: the clusters, one per row of `influence`.
        bounded: whether the data bound the rating, shape (entrants,).
    """

    entrants: tuple[str, ...]
    elo: np.ndarray
    influence: np.ndarray
    rows: Clustered
    bounded: np.ndarray

    def select(self, names: tuple[str, ...]) -> "Ratings":
        """Return the ratings of some entrants, in this order."""
        place = [self.entrants.index(name) for name in names]
        return Ratings(names, self.elo[place], self.influence[:, place], self.rows, self.bounded[place])

    @property
    def bounded_names(self) -> tuple[str, ...]:
        """Names of the entrants whose rating the data bound."""
        return tuple(name for name, sound in zip(self.entrants, self.bounded, strict=True) if sound)


@dataclass(frozen=True, slots=True)
class Reference:
    """Ratings of the same entrants by somebody else: `people`, `gold`, or `other judges`."""

    who: str
    ratings: Ratings

    def pair_with(self, judge: Ratings) -> tuple[Ratings, Ratings]:
        """Return a judge's ratings and these of the entrants that both bound."""
        names = tuple(name for name in judge.bounded_names if name in self.ratings.bounded_names)
        return judge.select(names), self.ratings.select(names)


def ratings_of(battles: Battles, credit: np.ndarray | None = None) -> Ratings:
    """Fit Bradley-Terry as `podium rank` does.

    Args:
        battles: of one judge.
        credit: what a earned instead, NaN where a battle is to be left out, shape (battles,).

    Raises:
        NotIdentifiedError: nothing is readable, or the entrants fall into groups that never met.
        NotConvergedError: the fit did not reach its maximum.
    """
    coded = code_battles(battles, credit=credit)
    strengths = strengths_of(coded)
    influence = POINTS * strengths.influence(strengths.surpluses(coded))
    rows = sample_of(battles).take(battles.readable if credit is None else ~np.isnan(credit))
    return Ratings(
        coded.entrants,
        POINTS * strengths.theta,
        influence - influence.mean(axis=1, keepdims=True),
        replace(rows, code=np.unique(rows.code)),
        ~strengths.graph.separated,
    )


def given_ratings(scores: dict[str, float]) -> Ratings:
    """Return ratings that are given, and without error."""
    names = tuple(sorted(scores))
    elo = np.array([scores[name] for name in names])
    nothing = Clustered(np.zeros(0, dtype=np.int64), "item")
    return Ratings(names, elo - elo.mean(), np.zeros((0, len(names))), nothing, np.ones(len(names), dtype=bool))


def reference_of(battles: Battles, gold: Gold | None = None, others: Battles | None = None) -> Reference | Missing:
    """Choose the best reference there is: people on the same battles, else the gold standard, else other judges.

    One whose battles fall into groups that never met is passed over.

    Args:
        battles: of one judge, with or without a column `human`.
        gold: the gold standard.
        others: battles of all other judges of the same table, so that items have the same codes.
    """
    human = column_of(battles, "human")
    candidates: dict[str, Callable[[], Ratings]] = {}
    if np.isfinite(human).any():
        candidates["people"] = lambda: ratings_of(battles, human)
    if gold is not None:
        candidates["gold"] = lambda: _ratings_by_gold(gold)
    if others is not None:
        candidates["other judges"] = lambda: _ratings_by_others(others)
    reasons = []
    for who, rate in candidates.items():
        try:
            return Reference(who, rate())
        except (NotIdentifiedError, NotConvergedError) as error:
            reasons.append(f"{who}: {error}")
    why = "; ".join(reasons) or "there are no human labels, no gold standard and no other judge"
    return Missing("ratings to compare with", why, REMEDY)


def _ratings_by_gold(gold: Gold) -> Ratings:
    if gold.scores is not None:
        return given_ratings(dict(gold.scores))
    if gold.battles is None:
        raise ValueError("a gold standard holds scores or battles")
    ratings = ratings_of(gold.battles)
    return replace(ratings, rows=replace(ratings.rows, code=ratings.rows.code + ELSEWHERE))


def _ratings_by_others(others: Battles) -> Ratings:
    """Let rows without an item stand alone: their codes mean something else in every table."""
    ratings = ratings_of(others)
    named = len(others.table["item"].cat.categories) if others.has_items else 0
    codes = ratings.rows.code
    return replace(ratings, rows=replace(ratings.rows, code=np.where(codes < named, codes, codes + ELSEWHERE)))


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
        parts = [
            (judge.rows, judge.influence @ self.by_judge[:, term]),
            (reference.rows, reference.influence @ self.by_reference[:, term]),
        ]
        parts = [part for part in parts if len(part[1])]
        codes = np.concatenate([rows.code for rows, _ in parts])
        return Clustered(codes, parts[0][0].unit, level), np.concatenate([influence for _, influence in parts])


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
