"""Voters or judges as a second unit that varies: covariance clustered by item and by rater.

Items and raters are crossed, and need not be balanced. The covariance is that of the clusters of
items, plus that of the raters, minus that of the pairs of both (Cameron, Gelbach and Miller 2011).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil, log2
from typing import NamedTuple

import numpy as np

from podium.data.battles import Battles
from podium.distinct_values import distinct_values
from podium.rankers.errors.difference import sum_by_group
from podium.rankers.errors.intervals import covariance_of
from podium.rankers.errors.rater_shares import RaterShares, shares_of_raters
from podium.rankers.fit.coded import CodedBattles

FEWEST_RATERS = 10
"""With fewer voters or judges than this, how much they differ is unknown, and intervals speak of
these raters alone."""
FIXED_RATERS = "fixed_raters"
"""Key in the diagnostics of standings: the unit and the number of the judges or voters of the
verdicts, if the intervals speak of these alone."""
MOST_OF_FEW_RATERS = 2
"""Up to this many of three or more voters or judges do not speak for all of them."""
FEWEST_EFFECTIVE_RATERS = 4
"""If voters or judges count as fewer than this, because few of them gave most of the verdicts, the
97.5% quantile of t is above 3."""
UNITS_OF_RATERS = ("voter", "judge")
"""What a rater may be: names of columns, the preferred one first."""
MOST_READ = 200_000
"""With more battles than this, the names of raters are not read to count them."""
NOISE = 1e-9
"""An eigenvalue above minus this share of the largest one is not negative."""


@dataclass(frozen=True, slots=True)
class Raters:
    """Who gave the readable verdicts.

    Attributes:
        unit: what a rater is: `voter` or `judge`.
        number: number of raters that are named.
        code: code of the rater of each battle that counts, from 0, shape (battles,). All battles
            without a named rater have one code, the last: they may be by one rater.
        names: name of each rater by code, shape (number,).
    """

    unit: str
    number: int
    code: np.ndarray
    names: np.ndarray


class VaryingRaters(NamedTuple):
    """Voters or judges who vary beside the clusters of an estimate.

    Attributes:
        unit: what a rater is: `voter` or `judge`.
        number: number of raters.
        freedom: their degrees of freedom by model, shape (models,).
    """

    unit: str
    number: int
    freedom: np.ndarray


def raters_of(
    battles: Battles,
    counted: np.ndarray | None = None,
    fewest: int = FEWEST_RATERS,
    units: Sequence[str] = UNITS_OF_RATERS,
) -> Raters | None:
    """Return the voters of the battles that count, or else the judges, if there are enough.

    Voters are taken if `fewest` of them are named, else judges. The result is None if there are
    fewer of either.

    Args:
        battles: all battles.
        counted: mask of the battles that count, shape (battles,); None for the readable ones.
        fewest: least number of voters or judges.
        units: what raters may be, of which the first is preferred.
    """
    for column in units:
        # Counted before merging, because there are not more raters afterwards.
        if battles.rows.count_names(column) < fewest:
            continue
        names = battles.rows.texts_of(column)[battles.readable if counted is None else counted]
        is_named = np.array([name is not None for name in names], dtype=bool)
        distinct, named_code = np.unique(names[is_named].astype(str), return_inverse=True)
        if len(distinct) < fewest:
            continue
        code = np.empty(len(names), dtype=np.int64)
        code[is_named] = named_code
        code[~is_named] = len(distinct)
        return Raters(unit=column, number=len(distinct), code=code, names=distinct)
    return None


def fewest_raters(level: float) -> int:
    """Return the least number of raters whose verdicts can separate two models.

    A test of n raters has a two-sided p-value of at least 2^(1 - n), which must be at most 1 -
    `level`.
    """
    return ceil(1 - log2(1 - level))


def count_raters(battles: Battles) -> tuple[str, int] | None:
    """Return who gave the verdicts, as unit and number: `("judge", 4)`.

    Voters are counted if there are several, else judges, else a single voter who gave every
    readable verdict. Those without a readable verdict are not counted, unless there are more than
    `MOST_READ` battles. The result is None if there is no such voter and at most one judge, whom
    the heading of a ranking names.
    """
    numbers = {column: battles.rows.count_names(column) for column in ("voter", "judge")}
    for column, named in numbers.items():
        number = named
        if number > 1 and len(battles) <= MOST_READ:
            names = {*battles.rows.texts_of(column)[battles.readable].tolist()}
            number = len(names - {None})
        if number > 1:
            return column, number
    gave_all = numbers["voter"] and None not in battles.rows.texts_of("voter")[battles.readable]
    return ("voter", 1) if gave_all else None


def count_raters_of_models(battles: Battles, unit: str) -> dict[str, int]:
    """Return the number of raters who gave readable verdicts on each model, by name.

    All battles without a named rater count as those of one. The result is empty if no rater is
    named, or if there are more than `MOST_READ` battles. Models without such a verdict are left
    out.

    Args:
        battles: all battles.
        unit: what a rater is: `voter` or `judge`.
    """
    if len(battles) > MOST_READ:
        return {}
    raters = raters_of(battles, fewest=1, units=[unit])
    if raters is None:
        return {}
    models = len(battles.models)
    a, b = (codes[battles.readable] for codes in battles.model_codes)
    cell = np.concatenate([a, b]) + models * np.tile(raters.code, 2)
    numbers = np.bincount(np.unique(cell) % models, minlength=models)
    codes_with_raters = np.flatnonzero(numbers)
    return {battles.models[code]: int(numbers[code]) for code in codes_with_raters.tolist()}


def shares_in_battles(coded: CodedBattles, rater: np.ndarray) -> RaterShares:
    """Return how raters share in the battles of each model.

    Args:
        coded: the readable battles.
        rater: code of the rater of each battle; any integers, shape (battles,).
    """
    return shares_of_raters(
        rater=np.tile(rater, 2),
        model=np.concatenate([coded.a, coded.b]),
        weight=np.tile(coded.weight, 2),
        models=len(coded.models),
    )


def covariance_of_raters(
    covariance: Callable[[CodedBattles], np.ndarray],
    coded: CodedBattles,
    raters: Raters,
) -> tuple[np.ndarray, np.ndarray]:
    """Return what raters add to a covariance clustered by item, and their degrees of freedom.

    The shapes are (models, models) and (models,).

    It is V_r - V_ir, where V_r is the covariance clustered by rater and V_ir that by rater and
    item. If the sum with the covariance by items has a variance below 0 in some direction, V_ir is
    not subtracted; the result is then too large rather than too small.

    Args:
        covariance: function of battles to the covariance by their clusters.
        coded: the readable battles, with items or their groups as clusters.
        raters: who gave their verdicts.
    """
    code_of_both = raters.code * np.int64(coded.clusters) + coded.cluster
    by_rater, freedom = _covariance_by(covariance, coded, raters.code)
    by_both, _ = _covariance_by(covariance, coded, code_of_both)
    return _combine_covariances(covariance(coded), by_rater, by_both), freedom


def _covariance_by(
    covariance: Callable[[CodedBattles], np.ndarray], coded: CodedBattles, unit: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return a covariance by a unit with unequal shares, and the degrees of freedom by model.

    Args:
        covariance: function of battles to the covariance by their clusters.
        coded: the readable battles.
        unit: code of the unit of each battle; any integers, shape (battles,).
    """
    clustered = _with_clusters(coded, unit)
    shares = shares_in_battles(coded, clustered.cluster)
    return shares.enlarge(covariance(clustered), clustered.clusters), shares.freedom


def influence_of_raters(
    influence: np.ndarray,
    cluster: np.ndarray,
    rater: np.ndarray,
    mean: np.ndarray,
    weight: np.ndarray,
    by_item: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return what raters add to a covariance of means by item, and their degrees of freedom.

    The shapes are (means, means) and (means,). As in `covariance_of_raters`, it is V_r - V_ir, or
    V_r alone if the sum with the covariance by items has a negative variance in some direction.

    Args:
        influence: what each row contributes to the error of each mean, shape (rows, means).
        cluster: code of each row's item, or group of items; any integers, shape (rows,).
        rater: code of each row's rater; any integers, shape (rows,).
        mean: code of the mean that each row belongs to, shape (rows,).
        weight: weight of each row in this mean, shape (rows,).
        by_item: the covariance by item, shape (means, means); None for that of the clusters.
    """
    _, pairs = np.unique(np.stack([cluster, rater]), axis=1, return_inverse=True)
    enlarged = []
    freedoms = []
    for unit in (rater, np.ravel(pairs)):
        shares = shares_of_raters(rater=unit, model=mean, weight=weight, models=influence.shape[1])
        by_unit = clustered_covariance(influence, unit)
        units = len(distinct_values(unit))
        enlarged.append(shares.enlarge(by_unit, units))
        freedoms.append(shares.freedom)
    if by_item is None:
        by_item = clustered_covariance(influence, cluster)
    by_rater, by_rater_and_item = enlarged
    freedom, _ = freedoms
    return _combine_covariances(by_item, by_rater, by_rater_and_item), freedom


def clustered_covariance(influence: np.ndarray, cluster: np.ndarray) -> np.ndarray:
    """Return the covariance of means by clusters of rows, shape (means, means).

    `influence` is what each row contributes to the error of each mean, shape (rows, means).
    `cluster` is the code of each row's cluster; any integers, shape (rows,).
    """
    _, code = np.unique(cluster, return_inverse=True)
    return covariance_of(sum_by_group(influence, code))


def _combine_covariances(
    by_item: np.ndarray, by_rater: np.ndarray, by_both: np.ndarray
) -> np.ndarray:
    """Return V_r - V_ir, or V_r alone if the sum with V_i has a negative variance in a direction.

    The direction of all models alike counts, too: a mean or a win rate has an error of its own.

    Args:
        by_item: the covariance V_i clustered by item, shape (models, models).
        by_rater: the covariance V_r clustered by rater, same shape.
        by_both: the covariance V_ir clustered by pairs of both, same shape.
    """
    total = by_item + by_rater - by_both
    values = np.linalg.eigvalsh((total + total.T) / 2)
    smallest, largest = values[0], values[-1]
    if smallest < -NOISE * max(largest, 0.0):
        return by_rater
    return by_rater - by_both


def cluster_by_raters(coded: CodedBattles, raters: Raters) -> CodedBattles:
    """Return battles with raters as the clusters, instead of items."""
    return replace(_with_clusters(coded, raters.code), unit=raters.unit)


def _with_clusters(coded: CodedBattles, cluster: np.ndarray) -> CodedBattles:
    """Return battles with other clusters, given by any integers, shape (battles,)."""
    distinct, code = np.unique(cluster, return_inverse=True)
    return replace(coded, cluster=code, clusters=len(distinct))
