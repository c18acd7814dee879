"""The difference of two win rates, tested by what each item contributes to it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from podium.rankers.errors.difference import (
    CONTRIBUTION_ROUNDING,
    DifferenceTest,
    difference_of_rates,
    drop_zeros,
    paired_difference,
)
from podium.rankers.errors.intervals import unit_of_tests
from podium.rankers.fit.cells import BattleData, pair_sums_with_items
from podium.rankers.fit.pairs import (
    PairCells,
    Pairs,
    cells_by_cluster,
    opponent_weights,
    win_rates,
)


@dataclass(frozen=True)
class RateTests:
    """Tests of the difference between the win rates of any two models.

    An item contributes the sum over pairs of w (S - c W) / N. Here w is the weight of the pair's
    credit in the difference of the rates, S the credit of the pair's first model on the item, W
    the pair's battles on the item, and N all battles of the pair. c is the expected credit: one
    half between the two compared models, else the mean of their rates (or 1 minus it if the pair's
    first model is the opponent). If all pairs met on all items equally often, c cancels out. If
    the two models are exchangeable, both signs of a contribution are equally likely, and so the
    test of paired differences is valid.
    """

    battles: BattleData

    @cached_property
    def pairs(self) -> Pairs:
        """Sums of credits and weights by pair."""
        return pair_sums_with_items(self.battles)

    @cached_property
    def rates(self) -> np.ndarray:
        """Win rate of each model, shape (models,)."""
        return win_rates(self.pairs)

    @cached_property
    def cells(self) -> Sequence[PairCells]:
        """Sums by cluster and pair, one element for each block of clusters."""
        return [cells_by_cluster(block, self.pairs) for block in self.battles.blocks()]

    @cached_property
    def weights(self) -> sparse.csc_matrix:
        """Weight of each pair's credit in each model's rate, shape (pairs, models)."""
        return rate_weights(self.pairs).tocsc()

    def difference(self, first: int, second: int) -> DifferenceTest | None:
        """Return the test of the win rate of one model minus that of another, given by code.

        The test is paired by item (`paired_difference`). The result is None if neither model has a
        battle. If there are no other models, the two rates add up to 1, and the test is that of the
        mean credit (`difference_of_only_pair`).
        """
        pairs = self.pairs
        unit = unit_of_tests(self.battles.unit)
        if len(pairs.first) == 1 and {first, second} == {*pairs.first, *pairs.second}:
            sign = 1 if first == pairs.first[0] else -1
            return difference_of_only_pair(self.cells, sign, unit)
        contributions = self._contributions(first, second)
        if not len(contributions):
            return None
        contributions = contributions * len(contributions)
        contributions = np.where(np.abs(contributions) > CONTRIBUTION_ROUNDING, contributions, 0.0)
        sizes = np.abs(drop_zeros(contributions))
        has_one_size = len(sizes) > 0 and np.ptp(sizes) <= CONTRIBUTION_ROUNDING * sizes.max()
        common_size = float(sizes[0]) if has_one_size else None
        return paired_difference(contributions, common_size=common_size, largest=1.0, unit=unit)

    def _contributions(self, first: int, second: int) -> np.ndarray:
        """Return what each item contributes to the difference of two models, shape (items,).

        Only the items count on which one of the two models has a battle, in the order of their
        codes.
        """
        pairs = self.pairs
        # The weights are sparse, so that their difference is a matrix of one column.
        difference_of_weights = self.weights[:, [first]] - self.weights[:, [second]]
        weight_in_difference = difference_of_weights.toarray().ravel()
        rate = float(np.mean(self.rates[[first, second]]))
        has_second = np.isin(pairs.second, (first, second))
        is_direct = np.isin(pairs.first, (first, second)) & has_second
        # The expected credit of each pair's first model. The two models are assumed to have the
        # same rate, so that it is 0.5 in their own battles. If the first model is an opponent of
        # the two, it is 1 minus the mean of their rates.
        expected_of_opponent = np.where(has_second, 1 - rate, rate)
        expected_credit = np.where(is_direct, 0.5, expected_of_opponent)
        share = weight_in_difference / pairs.weight
        contributions_by_block = []
        battles_by_block = []
        for block in self.cells:
            by_cell = share[block.pair] * block.surplus_over(expected_credit)
            contributions_by_block.append(np.bincount(block.cluster, by_cell, block.clusters))
            is_in_difference = weight_in_difference[block.pair] != 0
            battles_by_block.append(np.bincount(block.cluster, is_in_difference, block.clusters))
        has_battle = np.concatenate(battles_by_block) > 0
        return np.concatenate(contributions_by_block)[has_battle]


def difference_of_only_pair(cells: Sequence[PairCells], sign: int, unit: str) -> DifferenceTest:
    """Return the test of the mean credit of one model minus that of the other, of two models.

    An item counts by the sum of its weights, so that the mean is over battles.

    Args:
        cells: sums by cluster of the only pair, one element for each block of clusters.
        sign: 1 for the pair's first model minus its second, -1 for the opposite.
        unit: what the name of the test calls a cluster.
    """
    credit = np.concatenate([block.credit for block in cells])
    weight = np.concatenate([block.weight for block in cells])
    return difference_of_rates(sign * (2 * credit / weight - 1), weight, unit)


def rate_weights(pairs: Pairs) -> sparse.csr_matrix:
    """Return the weight of each pair's credit in each model's win rate, shape (pairs, models).

    Credits are those of the pair's first model, so the weight in the rate of the second model is
    negative.
    """
    weight_in_first, weight_in_second = opponent_weights(pairs)
    rows = np.tile(np.arange(len(pairs.first)), 2)
    codes = np.concatenate([pairs.first, pairs.second])
    values = np.concatenate([weight_in_first, -weight_in_second])
    return sparse.csr_matrix((values, (rows, codes)), shape=(len(pairs.first), pairs.models))
