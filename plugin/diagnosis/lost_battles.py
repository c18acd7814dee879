"""Are the battles of one model unparsed more often than others? Exact tests, clustered by item.

A battle whose reply was not parsed is lost. The test compares a model's number of lost battles
with its distribution if losses do not depend on the model.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from podium.data.battles import Battles
from podium.diagnosis.absent_rows import AbsentVerdicts
from podium.diagnosis.clustered import cluster_battles
from podium.distinct_values import distinct_values
from podium.distributions import ndtr

LARGEST_SUM = 4096
"""Largest possible sum whose exact distribution is computed.

A Fourier transform of this length takes 1 ms.
"""
FEWEST_NORMAL_DRAWS = 200
"""Fewest draws with which a sum above `LARGEST_SUM` is treated as normally distributed."""


@dataclass(frozen=True, slots=True)
class LossOfModel:
    """How many of a model's battles are unparsed.

    Attributes:
        model: name of the model.
        share: share of its battles that are unparsed.
        p: two-sided p-value of the hypothesis that losses do not depend on the model.
    """

    model: str
    share: float
    p: float


class _SumPart(NamedTuple):
    """Independent random variables with the same distribution, which are terms of a sum.

    Attributes:
        probabilities: probabilities of the values 0, 1, 2, ..., shape (values,).
        variables: number of these variables.
        draws: number of draws of which each variable is the sum; 1 unless it is hypergeometric.
    """

    probabilities: np.ndarray
    variables: int
    draws: int = 1


class _LossSum(NamedTuple):
    """A model's number of unparsed battles on items where other models could have lost as well.

    Attributes:
        observed: the number in the data.
        parts: the terms whose sum has the distribution of the number if losses do not depend on
            the model.
    """

    observed: int
    parts: list[_SumPart]


class _Losses(NamedTuple):
    """Battles as arrays of shape (battles,).

    Attributes:
        first: the lower one of the two models' codes.
        second: the higher one of the two models' codes.
        cluster: number of the item.
        asked: number of judgments that the battle has, or should have.
        lost: how many of these are lost.
    """

    first: np.ndarray
    second: np.ndarray
    cluster: np.ndarray
    asked: np.ndarray
    lost: np.ndarray

    def take(self, rows: np.ndarray) -> "_Losses":
        """Return the battles of a boolean mask of shape (battles,)."""
        return _Losses(*(values[rows] for values in self))

    @property
    def sides(self) -> "Sides":
        """Both sides of each battle: first those of `first`, then those of `second`.

        A battle is lost for both of its models. The arrays have shape (2 * battles,).
        """
        return Sides(
            model=np.concatenate([self.first, self.second]),
            cluster=np.tile(self.cluster, 2),
            asked=np.tile(self.asked, 2),
            lost=np.tile(self.lost, 2),
        )


class Sides(NamedTuple):
    """What models were asked for on items: sides of battles, or scores; arrays of one shape.

    Attributes:
        model: code of the model.
        cluster: number of the item.
        asked: how many results the model has, or should have.
        lost: how many of these are lost.
    """

    model: np.ndarray
    cluster: np.ndarray
    asked: np.ndarray
    lost: np.ndarray

    def take(self, rows: np.ndarray) -> "Sides":
        """Return the sides of a boolean mask."""
        return Sides(*(values[rows] for values in self))

    def shares(self, models: int) -> np.ndarray:
        """Return the share of each model's results that are lost, shape (models,).

        The share is 0 for a model without results.
        """
        asked_of_model = np.bincount(self.model, self.asked, models)
        lost = np.bincount(self.model, self.lost, models)
        return lost / np.maximum(asked_of_model, 1)


def losses_by_model(battles: Battles, absent: AbsentVerdicts | None = None) -> list[LossOfModel]:
    """Test for each model whether its battles are unparsed more or less often than others.

    Items are independent. Within an item, battles may be lost together, for example because one
    response is too long. Suppose that the loss does not depend on the model. Then all models with
    the same number of battles on an item are equally likely to have any of the numbers of losses
    observed there. An item on which only one pair of models met is compared with other such items.

    Args:
        battles: the battles.
        absent: judgments that should exist and have no row, which count as lost; None if there are
            none.

    Returns:
        The losses, sorted by model. A model is left out if no battle is unparsed on the items where
        it can be compared with others. P-values are not adjusted for the number of models.
    """
    all_battles = _coded_losses(battles, absent)
    models = len(battles.models)
    has_one_pair = _has_one_pair(all_battles, models)[all_battles.cluster]
    within_items = _losses_within_items(all_battles.take(~has_one_pair).sides, models)
    between_items = _losses_between_items(all_battles.take(has_one_pair), models)
    shares = all_battles.sides.shares(models)
    losses = []
    for k, name in enumerate(battles.models):
        parts = [*within_items[k].parts, *between_items[k].parts]
        if parts:
            p = _p_of_sum(within_items[k].observed + between_items[k].observed, parts)
            losses.append(LossOfModel(model=name, share=float(shares[k]), p=p))
    return losses


def losses_of_scores(scores: Sides, models: Sequence[str]) -> list[LossOfModel]:
    """Test for each model whether its scores are lost more or less often than those of others.

    The test is that of `losses_by_model`, with scores in place of battles: all models with the same
    number of scores on an item are equally likely to have any of the numbers of lost ones there.

    Args:
        scores: the scores of each model on each item.
        models: names of the models, by code.

    Returns:
        The losses, sorted by model; models that cannot be compared are left out.
    """
    shares = scores.shares(len(models))
    losses = []
    sums = _losses_within_items(scores, len(models))
    for name, share, (observed, parts) in zip(models, shares, sums, strict=True):
        if parts:
            losses.append(LossOfModel(model=name, share=float(share), p=_p_of_sum(observed, parts)))
    return losses


def _coded_losses(battles: Battles, absent: AbsentVerdicts | None) -> _Losses:
    """Return battles as arrays, followed by the absent battles.

    If nothing is absent, a battle counts as one result; else as many as it has judgments. All
    judgments of an unparsed battle are lost.

    Returns:
        The battles in their order, then the absent ones; the clusters are numbered from 0.
    """
    codes = battles.model_codes
    _, cluster = np.unique(cluster_battles(battles).code, return_inverse=True)
    asked_of_battle = np.ones(len(cluster), dtype=np.int64) if absent is None else absent.judgments
    lost = np.where(battles.is_unparsed, asked_of_battle, 0)
    existing_battles = _Losses(
        first=np.minimum(*codes),
        second=np.maximum(*codes),
        cluster=cluster,
        asked=asked_of_battle,
        lost=lost,
    )
    if absent is None:
        return existing_battles
    absent_battles = _Losses(
        first=absent.first,
        second=absent.second,
        cluster=cluster[absent.row_of_item],
        asked=absent.number,
        # An absent judgment is lost.
        lost=absent.number,
    )
    both_parts = zip(existing_battles, absent_battles, strict=True)
    return _Losses(*(np.concatenate(arrays) for arrays in both_parts))


def _has_one_pair(battles: _Losses, models: int) -> np.ndarray:
    """Return whether all battles of a cluster are of the same two models.

    The result has shape (clusters,). Clusters are numbered from 0, and each has a battle.
    """
    pair = battles.first * models + battles.second
    clusters = int(battles.cluster.max()) + 1
    smallest_pair = np.full(clusters, models**2)
    largest_pair = np.full(clusters, -1)
    np.minimum.at(smallest_pair, battles.cluster, pair)
    np.maximum.at(largest_pair, battles.cluster, pair)
    return np.asarray(smallest_pair == largest_pair)


def _losses_within_items(sides: Sides, models: int) -> list[_LossSum]:
    """Return each model's number of losses over items on which several pairs met.

    The models that were asked for as many results on an item are a group. By chance, each model of
    a group is equally likely to have any of the numbers of losses that occur in the group. A model
    that is alone in its group on an item has no term for this item.

    Returns:
        A sum per model, by code; without terms if nothing is lost where the model can be compared.
    """
    if not sides.lost.any():
        return [_LossSum(observed=0, parts=[])] * models
    has_loss = np.bincount(sides.cluster, sides.lost) > 0
    # Items with a loss are numbered from 0, in their order.
    new_number = np.cumsum(has_loss) - 1
    sides_with_losses = sides.take(has_loss[sides.cluster])
    # A key numbers an item and a model that was asked on it.
    keys_of_sides = new_number[sides_with_losses.cluster] * models + sides_with_losses.model
    asked_of_key = np.bincount(keys_of_sides, sides_with_losses.asked).astype(np.int64)
    key = np.flatnonzero(asked_of_key)
    asked = asked_of_key[key]
    unparsed = np.bincount(keys_of_sides, sides_with_losses.lost)[key].astype(np.int64)
    # A group has the same item and number of results.
    item_and_asked = key // models * (int(asked.max()) + 1) + asked
    _, group = np.unique(item_and_asked, return_inverse=True)
    values = int(unparsed.max()) + 1
    cells = (int(group.max()) + 1) * values
    counts = np.bincount(group * values + unparsed, minlength=cells).reshape(-1, values)
    has_others = counts.sum(axis=1) > 1
    shares = counts / counts.sum(axis=1, keepdims=True)
    # Groups with the same distribution of losses are terms of the same kind.
    distributions, kind = np.unique(shares, axis=0, return_inverse=True)
    sums = []
    for model in range(models):
        is_term = (key % models == model) & has_others[group]
        counts_by_kind = np.bincount(kind.ravel()[group[is_term]], minlength=len(distributions))
        parts = [
            _SumPart(distributions[k], int(counts_by_kind[k]))
            for k in np.flatnonzero(counts_by_kind)
        ]
        sums.append(_LossSum(observed=int(unparsed[is_term].sum()), parts=parts))
    return sums


def _losses_between_items(battles: _Losses, models: int) -> list[_LossSum]:
    """Return each model's number of items with a loss, among items on which only one pair met.

    Items with the same number of battles are compared: by chance, the items with a loss are draws
    without replacement from them. A model that is on none of these items, or on all, is left out.

    Returns:
        A sum per model, by code; without terms for a model that cannot be compared.
    """
    sums = [_LossSum(observed=0, parts=[])] * models
    if not battles.lost.any():
        return sums
    _, start, item, size = np.unique(
        battles.cluster, return_index=True, return_inverse=True, return_counts=True
    )
    lost = np.bincount(item, battles.lost) > 0
    for battle_count in distinct_values(size):
        has_size = size == battle_count
        items = int(has_size.sum())
        hits = int((lost & has_size).sum())
        for model in range(models):
            has_model = (battles.first[start] == model) | (battles.second[start] == model)
            is_item_of_model = has_size & has_model
            items_of_model = int(is_item_of_model.sum())
            if 0 < items_of_model < items and hits:
                probabilities = _hypergeometric_probabilities(items, hits, items_of_model)
                part = _SumPart(probabilities, variables=1, draws=min(hits, items_of_model))
                observed, parts = sums[model]
                sums[model] = _LossSum(
                    observed=observed + int((lost & is_item_of_model).sum()), parts=[*parts, part]
                )
    return sums


def _hypergeometric_probabilities(items: int, hits: int, drawn: int) -> np.ndarray:
    """Return the hypergeometric probabilities of 0, 1 and more hits, shape (1 + most hits,).

    Args:
        items: number of items.
        hits: number of these items that are hits.
        drawn: number of items drawn without replacement.

    Returns:
        Probabilities of 0, 1, ..., min(hits, drawn) hits.
    """
    number = np.arange(min(hits, drawn) + 1)
    possible = number >= hits + drawn - items
    others = np.where(possible, drawn - number, 0)
    ways = _log_choices(hits, number) + _log_choices(items - hits, others)
    return np.where(possible, np.exp(ways - _log_choices(items, drawn)), 0.0)


def _log_choices(number: int, taken: np.ndarray | int) -> np.ndarray:
    """Return the natural logarithm of the binomial coefficient (number over taken)."""
    from scipy.special import gammaln

    taken = np.asarray(taken)
    others = number - taken
    return np.asarray(gammaln(number + 1) - gammaln(taken + 1) - gammaln(others + 1))


def _p_of_sum(observed: int, parts: Sequence[_SumPart]) -> float:
    """Return the two-sided p-value of a sum: twice its smaller tail probability, at most 1.

    Both tails contain the observed sum. The distribution is exact, unless the sum can be larger
    than `LARGEST_SUM` and has at least `FEWEST_NORMAL_DRAWS` draws; then it is treated as normal.
    """
    largest = sum(part.variables * (len(part.probabilities) - 1) for part in parts)
    draws = sum(part.variables * part.draws for part in parts)
    if largest > LARGEST_SUM and draws >= FEWEST_NORMAL_DRAWS:
        return _normal_p(observed, parts)
    values = largest + 1
    # The distribution of a sum is the convolution of the distributions of its terms, which is a
    # product of Fourier transforms.
    spectrum = np.ones(values // 2 + 1, dtype=complex)
    for part in parts:
        spectrum = spectrum * np.fft.rfft(part.probabilities, values) ** part.variables
    probabilities = np.fft.irfft(spectrum, values)
    tail = min(probabilities[: observed + 1].sum(), probabilities[observed:].sum())
    return float(np.clip(2 * tail, 0.0, 1.0))


def _normal_p(observed: int, parts: Sequence[_SumPart]) -> float:
    """Return the two-sided p-value of a sum that is treated as normally distributed.

    The p-value has a correction for continuity.
    """
    mean = 0.0
    variance = 0.0
    for part in parts:
        values = np.arange(len(part.probabilities))
        mean_of_part = float(values @ part.probabilities)
        mean += part.variables * mean_of_part
        variance += part.variables * float((values - mean_of_part) ** 2 @ part.probabilities)
    distance = max(abs(observed - mean) - 0.5, 0.0)
    return float(min(1.0, 2 * ndtr(-distance / np.sqrt(variance))))
