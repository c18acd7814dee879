"""Ratings of one source (a judge, human labels or a gold standard) with their errors, and lines
between two of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.special import expit

from podium.data.battles import Battles
from podium.diagnosis.clustered import Clustered, cluster_battles
from podium.rankers.fit.coded import CodedBattles, code_battles, ratio_or_nan
from podium.rankers.fit.identification import fit_battles
from podium.rankers.fit.pairs import PairCells, cells_by_cluster, pair_sums
from podium.rankers.fit.scale import POINTS
from podium.rankers.fit.strengths import Strengths

FEWEST_DECIDED = 10
"""Decided battles that a gold pair needs. Source: Gera et al. 2025, appendix C."""

ELSEWHERE = 1 << 40
"""Offset of the item codes of another source, so that they differ from the judge's."""
REMEDY = "give a column human, name a human judge (--human-judge), or a gold standard (--gold)"
MOST_NOISE = 0.5
"""Largest share of the reference's variation that may be error."""


@dataclass(frozen=True, slots=True)
class Ratings:
    """Elo ratings centred on 0, their influence functions (clusters, models), and the mask of those
    the data bound."""

    models: tuple[str, ...]
    elo: np.ndarray
    influence: np.ndarray
    rows: Clustered
    bounded: np.ndarray
    who: str = ""

    def select(self, names: tuple[str, ...]) -> "Ratings":
        """Return the ratings of the named models, in this order."""
        place = [self.models.index(name) for name in names]
        return Ratings(
            names, self.elo[place], self.influence[:, place], self.rows, self.bounded[place]
        )

    def separate_clusters(self, shared: int = 0) -> "Ratings":
        """Renumber the clusters so that only codes below `shared` can occur in another source."""
        code = self.rows.code
        return replace(
            self, rows=replace(self.rows, code=np.where(code < shared, code, code + ELSEWHERE))
        )


def bounded_by_all(*ratings: Ratings) -> list[Ratings]:
    """Return each of the ratings for the models that are bounded in all of them; empty if there is
    none."""
    bounded = [np.array(own.models, dtype=object)[own.bounded] for own in ratings]
    names = tuple(sorted(set.intersection(*map(set, bounded))))
    return [own.select(names) for own in ratings]


@dataclass(frozen=True)
class BattleRatings:
    """Bradley-Terry strengths of battles; `wins` and `number` (by codes lower, higher) count
    decided battles only."""

    coded: CodedBattles
    fit: Strengths
    cells: PairCells
    wins: PairCells
    number: np.ndarray
    clusters: tuple[str | None, ...]
    rows: Clustered

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models, sorted."""
        return self.coded.models

    @cached_property
    def ratings(self) -> Ratings:
        """The ratings by Bradley-Terry, as `podium rank` computes them."""
        influence = POINTS * self.fit.influence(self.coded)
        centred = influence - influence.mean(axis=1, keepdims=True)
        return Ratings(
            self.models, POINTS * self.fit.theta, centred, self.rows, ~self.fit.graph.separated
        )

    def strengths(self, counts: np.ndarray | None = None) -> np.ndarray:
        """Return the log-strengths, shape (models,); in resamples (draws, models), NaN without a
        fit."""
        return self.fit.theta if counts is None else self.fit.resampled_theta(self.cells, counts)

    def rates(
        self, first: np.ndarray, second: np.ndarray, counts: np.ndarray | None = None
    ) -> np.ndarray:
        """Return win rates of the first of each pair, without ties; NaN if never decided, shape
        ([draws,] pairs)."""
        pairs, models = self.wins.pairs, len(self.models)
        credit, weight = (
            (pairs.credit, pairs.weight) if counts is None else self.wins.resampled_sums(counts)
        )
        share = np.full((*np.shape(credit)[:-1], len(pairs.first) + 1), np.nan)
        np.divide(credit, weight, out=share[..., :-1], where=weight > 0)
        place = np.full((models, models), len(pairs.first))
        place[pairs.first, pairs.second] = np.arange(len(pairs.first))
        return share[..., place[first, second]]


@dataclass(frozen=True, slots=True)
class GivenRatings:
    """Ratings that a ranking gives, taken as free of error; methods as of `BattleRatings`."""

    models: tuple[str, ...]
    scores: np.ndarray
    clusters: tuple[str | None, ...] = ()

    @property
    def ratings(self) -> Ratings:
        """The scores as ratings without error."""
        nothing, size = Clustered(np.zeros(0, dtype=np.int64), "item"), len(self.scores)
        elo = self.scores - self.scores.mean()
        return Ratings(self.models, elo, np.zeros((0, size)), nothing, np.ones(size, dtype=bool))

    def strengths(self, counts: np.ndarray | None = None) -> np.ndarray:
        """Return the scores as log-strengths."""
        theta = self.scores / POINTS
        return theta if counts is None else np.broadcast_to(theta, (len(counts), len(theta)))

    def rates(
        self, first: np.ndarray, second: np.ndarray, counts: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the win rates of the first of each pair, by the sigmoid of rating differences."""
        theta = self.strengths(counts)
        return expit(theta[..., first] - theta[..., second])

    @property
    def number(self) -> np.ndarray:
        """A number of battles that is enough for every pair, shape (models, models)."""
        return np.full((len(self.models),) * 2, FEWEST_DECIDED)


AnyRatings: TypeAlias = BattleRatings | GivenRatings


def fit_ratings(battles: Battles, credit: np.ndarray | None = None) -> BattleRatings:
    """Fit Bradley-Terry ratings to battles, or to other credits (NaN: left out); raises
    NotIdentifiedError."""
    coded = code_battles(battles, credit=credit)
    fit, size = fit_battles(coded), len(coded.models)
    no_tie = np.abs(coded.credit - 0.5) > 1e-12
    decided = replace(coded, credit=(coded.credit > 0.5) * 1.0).take(no_tie)
    met = np.minimum(decided.a, decided.b).astype(np.int64) * size + np.maximum(
        decided.a, decided.b
    )
    used = battles.readable if credit is None else ~np.isnan(credit)
    names = np.full(coded.clusters, None, dtype=object)
    if coded.unit == "item":
        items = battles.table["item"].cat
        number = items.codes.to_numpy()[used]
        names[coded.cluster[number >= 0]] = np.asarray(items.categories, dtype=object)[
            number[number >= 0]
        ]
    return BattleRatings(
        coded=coded,
        fit=fit,
        cells=cells_by_cluster(coded, fit.pairs),
        wins=cells_by_cluster(decided, pair_sums(decided)),
        number=np.bincount(met, minlength=size * size).reshape(size, size),
        clusters=tuple(names),
        rows=Clustered(np.unique(cluster_battles(battles).code[used]), coded.unit),
    )


def number_items(sources: Sequence[AnyRatings]) -> tuple[int, list[np.ndarray]]:
    """Number the items of several sources, a shared item once; rows without an item are never
    shared."""
    number: dict[str | tuple[int, int], int] = {}
    positions = []
    for k, source in enumerate(sources):
        keys = [name if name is not None else (k, row) for row, name in enumerate(source.clusters)]
        positions.append(
            np.array([number.setdefault(key, len(number)) for key in keys], dtype=np.int64)
        )
    return len(number), positions


def kendall_taus(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return Kendall's tau-b of scores along the last axis, NaN if one of them is constant or
    unknown, shape (...)."""
    upper, lower = np.triu_indices(first.shape[-1], 1)
    signs = [
        np.sign(np.round(scores[..., upper] - scores[..., lower], 9)) for scores in (first, second)
    ]
    scale = np.sqrt(np.abs(signs[0]).sum(axis=-1) * np.abs(signs[1]).sum(axis=-1))
    return ratio_or_nan((signs[0] * signs[1]).sum(axis=-1), scale)


class RatingLine(NamedTuple):
    """A line fitted to ratings: constant, slope, further weight; derivatives by either source
    (models, terms)."""

    weights: np.ndarray
    by_judge: np.ndarray
    by_reference: np.ndarray


def fit_line(
    judge: np.ndarray,
    reference: np.ndarray,
    beside: np.ndarray,
    noise: float = 0.0,
    shared: float = 0.0,
) -> RatingLine | None:
    """Fit judge = constant + slope * reference + weight * beside by least squares; None if `noise`
    is too large."""
    # Errors in the reference (`error_sums`) would flatten the line: they are subtracted from the
    # sums of squares. Source: Fuller 1987, section 2.2.
    columns = [
        np.ones(len(judge)),
        reference,
        *([beside.astype(np.float64)] if beside.any() else []),
    ]
    x = np.stack(columns, axis=1)
    outer, cross = x.T @ x, x.T @ judge
    if noise > MOST_NOISE / np.linalg.inv(outer)[1, 1]:
        return None
    outer[1, 1] -= noise
    cross[1] -= shared
    inverse = np.linalg.inv(outer)
    weights = inverse @ cross
    by_judge = x @ inverse
    return RatingLine(
        weights, by_judge, np.outer(judge - x @ weights, inverse[1]) - weights[1] * by_judge
    )


def error_sums(judge: Ratings, reference: Ratings, beside: np.ndarray) -> tuple[float, float]:
    """Return the variance of the reference's errors, and their covariance with the judge's, summed
    over models."""
    # Errors are projected off the constant and `beside`: what these absorb does not change the
    # slope.
    terms = np.stack([np.ones(len(beside)), beside.astype(np.float64)][: 1 + beside.any()], axis=1)
    rest = np.eye(len(beside)) - terms @ np.linalg.pinv(terms)
    ours, theirs = judge.influence @ rest, reference.influence @ rest
    _, here, there = np.intersect1d(judge.rows.code, reference.rows.code, return_indices=True)
    return float(np.sum(theirs**2)), float(np.sum(ours[here] * theirs[there]))
