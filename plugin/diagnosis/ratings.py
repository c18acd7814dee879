"""Ratings by a judge, human labels or a gold standard, their errors, and lines through two sets.

The influence of a cluster (an item) on an estimate says how much the estimate changes with the
weight of the cluster. The sum of squared influences is the variance of the estimate.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from podium.data.battles import Battles
from podium.diagnosis.clustered import Clustered, cluster_battles
from podium.distinct_values import distinct_values
from podium.distributions import expit
from podium.rankers.fit.coded import CodedBattles, code_battles, ratio_or_nan
from podium.rankers.fit.identification import fit_battles
from podium.rankers.fit.pairs import PairCells, cells_by_cluster, pair_sums
from podium.rankers.fit.scale import POINTS
from podium.rankers.fit.strengths import Strengths

FEWEST_DECIDED = 10
"""Fewest decided battles with which a pair has a gold win rate.

Source: Gera et al. 2025, appendix C.
"""

CODE_OFFSET = 1 << 40
"""Number that is added to the item codes of another source, so that they differ from the judge's.
"""
REFERENCE_REMEDY = (
    "give a column human, name a human judge (--human-judge), or a gold standard (--gold)"
)
"""Remedy without reference ratings."""
CONNECT_REMEDY = "judge the battles that would join the groups"
"""What the user can do if battles do not connect all models, but form several groups of models."""
MOST_NOISE = 0.5
"""Largest share of the variation of reference ratings that may be error; else no line is fitted.
"""


@dataclass(frozen=True, slots=True)
class Ratings:
    """Ratings of models by one source, with their errors.

    Attributes:
        models: names of the models.
        elo: ratings in Elo, centred on 0, shape (models,).
        influence: influence of each cluster on them, shape (clusters, models).
        rows: the clusters as a sample.
        bounded: mask of the models whose rating is finite, because they neither won nor lost
            everything, shape (models,).
        who: name of the source.
    """

    models: tuple[str, ...]
    elo: np.ndarray
    influence: np.ndarray
    rows: Clustered
    bounded: np.ndarray
    who: str = ""

    def select(self, names: tuple[str, ...]) -> "Ratings":
        """Return the ratings of the named models, in this order, without the name of the source.

        All names must be among `models`. The ratings are not centred again.
        """
        codes = [self.models.index(name) for name in names]
        return Ratings(
            models=names,
            elo=self.elo[codes],
            influence=self.influence[:, codes],
            rows=self.rows,
            bounded=self.bounded[codes],
        )

    def separate_clusters(self, shared_codes: int = 0) -> "Ratings":
        """Change the codes of the clusters that other sources do not have.

        Args:
            shared_codes: clusters with codes below this number keep their codes, which stand for
                the same items in other sources. By default, all clusters get other codes.
        """
        code = self.rows.code
        separate_code = np.where(code < shared_codes, code, code + CODE_OFFSET)
        return replace(self, rows=replace(self.rows, code=separate_code))


def bounded_by_all(*ratings: Ratings) -> list[Ratings]:
    """Return each of the ratings, limited to the models that are bounded in all of them.

    The models are sorted by name; there may be none. The masks `bounded` of the results are True
    throughout, and `who` is empty.
    """
    bounded = [set(np.array(each.models, dtype=object)[each.bounded]) for each in ratings]
    names = tuple(sorted(set.intersection(*bounded)))
    return [each.select(names) for each in ratings]


@dataclass(frozen=True)
class BattleRatings:
    """Bradley-Terry strengths of battles.

    Attributes:
        coded: the battles, ties included.
        fit: the strengths.
        cells: credits of the battles by cluster and pair.
        wins: wins of the first model in decided battles (all but ties), by cluster and pair;
            credits above 0.5 count as wins.
        number: number of decided battles of each pair, shape (models, models). The row is the
            lower code of the pair, the column the higher one; all other cells are 0.
        clusters: the item of each cluster; None for a row without an item.
        rows: the clusters as a sample.
    """

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
        """The Bradley-Terry ratings in Elo, as `podium rank` computes them, with their errors."""
        influence = POINTS * self.fit.influence(self.coded)
        centred = influence - influence.mean(axis=1, keepdims=True)
        return Ratings(
            models=self.models,
            elo=POINTS * self.fit.theta,
            influence=centred,
            rows=self.rows,
            bounded=~self.fit.graph.separated,
        )

    def strengths(self, counts: np.ndarray | None = None) -> np.ndarray:
        """Return the log-strengths.

        Args:
            counts: how often resamples draw each cluster, shape (draws, clusters).

        Returns:
            The log-strengths in the sample, shape (models,). With `counts`, those in resamples,
            shape (draws, models), NaN for a resample that does not identify them.
        """
        if counts is None:
            return self.fit.theta
        return self.fit.resampled_theta(self.cells, counts)

    def rates(
        self, first: np.ndarray, second: np.ndarray, counts: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the win rate of the first model of each pair over decided battles.

        Args:
            first: code of the first model of each pair, the lower one of both, shape (pairs,).
            second: code of the second model of each pair, shape (pairs,).
            counts: how often resamples draw each cluster, shape (draws, clusters).

        Returns:
            The win rates, NaN for pairs without a decided battle, shape (pairs,), or
            (draws, pairs) with `counts`.
        """
        pairs = self.wins.pairs
        models = len(self.models)
        if counts is None:
            credit, weight = pairs.credit, pairs.weight
        else:
            credit, weight = self.wins.resampled_sums(counts)
        # The last column stays NaN. `column` is the number of a pair's column: the last one if the
        # pair has no decided battle.
        rates = np.full((*np.shape(credit)[:-1], len(pairs.first) + 1), np.nan)
        np.divide(credit, weight, out=rates[..., :-1], where=(weight > 0))
        column = np.full((models, models), len(pairs.first))
        column[pairs.first, pairs.second] = np.arange(len(pairs.first))
        return rates[..., column[first, second]]


@dataclass(frozen=True, slots=True)
class GivenRatings:
    """Ratings that a ranking gives, taken as free of error.

    The class has the methods of `BattleRatings`. There are no clusters, so that resamples do not
    change the ratings.

    Attributes:
        models: names of the models, sorted.
        scores: ratings in Elo, shape (models,).
        clusters: empty.
    """

    models: tuple[str, ...]
    scores: np.ndarray
    clusters: tuple[str | None, ...] = ()

    @property
    def ratings(self) -> Ratings:
        """The scores as ratings without error, centred on 0, all of them bounded."""
        models = len(self.scores)
        return Ratings(
            models=self.models,
            elo=self.scores - self.scores.mean(),
            influence=np.zeros((0, models)),
            rows=Clustered(np.zeros(0, dtype=np.int64), "item"),
            bounded=np.ones(models, dtype=bool),
        )

    def strengths(self, counts: np.ndarray | None = None) -> np.ndarray:
        """Return the scores as log-strengths, shape (models,).

        For resamples (`counts`), which do not change them, the shape is (resamples, models).
        """
        theta = self.scores / POINTS
        if counts is None:
            return theta
        return np.broadcast_to(theta, (len(counts), len(theta)))

    def rates(
        self, first: np.ndarray, second: np.ndarray, counts: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the win rate of the first model of each pair.

        A win rate is the sigmoid of the difference of log-strengths. With `counts`, there is a row
        for each resample. Shape (pairs,), or (draws, pairs) with `counts`.
        """
        theta = self.strengths(counts)
        return expit(theta[..., first] - theta[..., second])

    @property
    def number(self) -> np.ndarray:
        """The number of decided battles that each pair counts as having, shape (models, models).

        All cells have `FEWEST_DECIDED`, the fewest battles with which a pair has a gold win rate,
        because all pairs have a win rate by their scores.
        """
        models = len(self.models)
        return np.full((models, models), FEWEST_DECIDED)


AnyRatings: TypeAlias = BattleRatings | GivenRatings
"""Ratings of a judge, of human labels, or of a gold standard."""


def fit_ratings(battles: Battles, credit: np.ndarray | None = None) -> BattleRatings:
    """Fit Bradley-Terry ratings to battles, with the default regularization.

    Args:
        battles: the battles, with their weights. Ties count half.
        credit: replaces the credits of `model_a`, shape (battles,); NaN leaves a battle out.

    Raises:
        NotIdentifiedError: no battle has a credit, or the battles do not connect all models.
        NotConvergedError: the fit does not converge.
    """
    coded = code_battles(battles, credit=credit)
    fit = fit_battles(coded)
    models = len(coded.models)
    is_decided = np.abs(coded.credit - 0.5) > 1e-12
    wins = (coded.credit > 0.5) * 1.0
    decided = replace(coded, credit=wins).take(is_decided)
    lower = np.minimum(decided.a, decided.b).astype(np.int64)
    higher = np.maximum(decided.a, decided.b)
    decided_battles = np.bincount(lower * models + higher, minlength=models * models)
    is_used = battles.readable if credit is None else ~np.isnan(credit)
    return BattleRatings(
        coded=coded,
        fit=fit,
        cells=cells_by_cluster(coded, fit.pairs),
        wins=cells_by_cluster(decided, pair_sums(decided)),
        number=decided_battles.reshape(models, models),
        clusters=_items_of_clusters(battles, coded, is_used),
        rows=Clustered(distinct_values(cluster_battles(battles).code[is_used]), coded.unit),
    )


def _items_of_clusters(
    battles: Battles, coded: CodedBattles, is_used: np.ndarray
) -> tuple[str | None, ...]:
    """Return the name of each cluster: its group or item; None for a row without an item.

    Args:
        battles: the battles.
        coded: the battles that the fit uses.
        is_used: mask of the battles that the fit uses, shape (battles,).
    """
    names = np.full(coded.clusters, None, dtype=object)
    if battles.group is not None:
        names[coded.cluster] = battles.rows.texts_of(battles.group)[is_used]
    elif coded.unit == "item":
        items = battles.table["item"].cat
        item = items.codes.to_numpy()[is_used]
        is_named = item >= 0
        categories = np.asarray(items.categories, dtype=object)
        names[coded.cluster[is_named]] = categories[item[is_named]]
    return tuple(names)


def number_items(sources: Sequence[AnyRatings]) -> tuple[int, list[np.ndarray]]:
    """Number the items of several sources, so that a shared item has one number.

    A row without an item has a number of its own.

    Returns:
        The number of different items over all sources; and for each source an array with the
        number, from 0, of the item of each cluster, shape (clusters,).
    """
    number_of_item: dict[str | tuple[int, int], int] = {}
    item_numbers = []
    for k, source in enumerate(sources):
        numbers = []
        for row, name in enumerate(source.clusters):
            key = (k, row) if name is None else name
            # A new key gets the next number.
            numbers.append(number_of_item.setdefault(key, len(number_of_item)))
        item_numbers.append(np.array(numbers, dtype=np.int64))
    return len(number_of_item), item_numbers


def kendall_taus(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return Kendall's tau-b of scores along the last axis. Scores equal to 9 decimals are tied.

    Args:
        first: the scores by one source, shape (..., models).
        second: the scores by the other source, same shape.

    Returns:
        Tau, NaN if the scores of one source are all equal or if any score is NaN, shape (...).
    """
    upper, lower = np.triu_indices(first.shape[-1], 1)
    by_first = np.sign(np.round(first[..., upper] - first[..., lower], 9))
    by_second = np.sign(np.round(second[..., upper] - second[..., lower], 9))
    # tau-b = sum of products of signs / sqrt(pairs untied by first * pairs untied by second)
    untied_product = np.abs(by_first).sum(axis=-1) * np.abs(by_second).sum(axis=-1)
    return ratio_or_nan((by_first * by_second).sum(axis=-1), np.sqrt(untied_product))


class RatingLine(NamedTuple):
    """A line fitted to ratings by `fit_line`.

    Attributes:
        weights: constant, slope and, if there is a further variable, its weight, shape (terms,).
        by_judge: derivatives of the weights by the judge's ratings, shape (models, terms).
        by_reference: derivatives of the weights by the reference ratings, shape (models, terms).
    """

    weights: np.ndarray
    by_judge: np.ndarray
    by_reference: np.ndarray


def fit_line(
    judge: np.ndarray,
    reference: np.ndarray,
    variable: np.ndarray,
    noise: float = 0.0,
    shared: float = 0.0,
) -> RatingLine | None:
    """Fit judge = constant + slope * reference + weight * variable by least squares.

    Errors in the reference would flatten the line. Their variance is therefore subtracted from the
    sum of squares of the reference. Source: Fuller 1987, section 2.2.

    Args:
        judge: ratings by the judge, shape (models,).
        reference: reference ratings, which must not all be equal, shape (models,).
        variable: a further variable, shape (models,); left out if it is all 0.
        noise: variance of the errors of the reference, summed over models (see `error_sums`).
        shared: covariance of the errors of reference and judge, summed over models.

    Returns:
        The line; None if more than half of the reference's variation is error.
    """
    columns = [np.ones(len(judge)), reference]
    if variable.any():
        columns.append(variable.astype(np.float64))
    x = np.stack(columns, axis=1)
    squares = x.T @ x
    products = x.T @ judge
    # 1 / inv(squares)[1, 1] is the sum of squares of the reference that constant and `variable` do
    # not explain.
    if noise > MOST_NOISE / np.linalg.inv(squares)[1, 1]:
        return None
    squares[1, 1] -= noise
    products[1] -= shared
    inverse = np.linalg.inv(squares)
    weights = inverse @ products
    residual = judge - x @ weights
    by_judge = x @ inverse
    _, slope, *_ = weights
    by_reference = np.outer(residual, inverse[1]) - slope * by_judge
    return RatingLine(weights, by_judge, by_reference)


def error_sums(judge: Ratings, reference: Ratings, variable: np.ndarray) -> tuple[float, float]:
    """Sum the variance of errors over models: the arguments `noise` and `shared` of `fit_line`.

    The part of the errors that the constant and the variable explain is removed first, because it
    does not change the slope.

    Args:
        judge: ratings by the judge.
        reference: reference ratings of the same models.
        variable: a further variable of the line, shape (models,); left out if it is all 0.

    Returns:
        The variance of the reference's errors. And the covariance of the errors of reference and
        judge, which is 0 if they share no items.
    """
    columns = [np.ones(len(variable))]
    if variable.any():
        columns.append(variable.astype(np.float64))
    terms = np.stack(columns, axis=1)
    projection = np.eye(len(variable)) - terms @ np.linalg.pinv(terms)
    judge_errors = judge.influence @ projection
    reference_errors = reference.influence @ projection
    _, judge_rows, reference_rows = np.intersect1d(
        judge.rows.code, reference.rows.code, return_indices=True
    )
    noise = float(np.sum(reference_errors**2))
    shared = float(np.sum(judge_errors[judge_rows] * reference_errors[reference_rows]))
    return noise, shared
