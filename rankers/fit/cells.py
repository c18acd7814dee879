"""Readable battles for rankers that need only sums by pair.

The battles are in memory, or in a database that sums them by item and pair, block by block.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from podium.data.battles import Battles
from podium.data.counting.battle_frame import BattleFrame
from podium.data.counting.verdicts import Verdicts
from podium.distinct_values import distinct_values
from podium.rankers.fit.coded import (
    Cluster,
    CodedBattles,
    Labels,
    code_battles,
    nothing_readable_error,
    order_rows,
    require_choice,
)
from podium.rankers.fit.pairs import Pairs, items_per_pair, pair_positions, pair_sums
from podium.wording import group_noun


class _ClusterCounts(NamedTuple):
    """Numbers and weights of clusters with readable battles.

    Attributes:
        total: number of all clusters.
        by_model: number of clusters in which each model has a battle, shape (models,).
        by_pair: number of clusters in which each pair met, shape (pairs,).
        weights: sum of the weights of each cluster's battles, shape (clusters,).
    """

    total: int
    by_model: np.ndarray
    by_pair: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True)
class SummedBattles:
    """Battles summed by item and pair in a database.

    Each sum is called a cell, and is coded like one battle.

    Attributes:
        verdicts: the table in the database that computes the sums.
        codes: codes in the database of the models with readable battles, ascending, shape
            (models,).
        hard: whether credits are rounded to win, tie or loss.
        anchor: code in the database of the model whose battles are selected; None for all.
    """

    verdicts: Verdicts
    codes: np.ndarray
    hard: bool = False
    anchor: int | None = None

    @property
    def unit(self) -> str:
        """What a cluster is: the name of a group of items, `item`, or `row` without items."""
        if self.verdicts.group is not None:
            return group_noun(self.verdicts.group)
        return "item" if self.verdicts.has_items else "row"

    @cached_property
    def models(self) -> tuple[str, ...]:
        """Names of the models with readable battles, by code; sorted."""
        return tuple(self.verdicts.models[code] for code in self.codes)

    @cached_property
    def pairs(self) -> Pairs:
        """Sums by pair of models, with the number of clusters in which each pair met."""
        return replace(self._pairs, items=self._cluster_counts.by_pair)

    @property
    def clusters(self) -> int:
        """Number of clusters with readable battles."""
        return self._cluster_counts.total

    def clusters_by_model(self) -> np.ndarray:
        """Return the number of clusters in which each model has a readable battle, shape
        (models,)."""
        return self._cluster_counts.by_model

    def cluster_weights(self) -> np.ndarray:
        """Return the sum of the weights of each cluster's battles, shape (clusters,).

        The clusters are in the order of the blocks.
        """
        return self._cluster_counts.weights

    def battles_by_model(self) -> np.ndarray:
        """Return the number of battles of each model, shape (models,)."""
        battles_of_pair = self._sums["judged"]
        return self._pairs.sum_by_model(battles_of_pair, battles_of_pair).astype(np.int64)

    def battles_of_anchor(self, anchor: str) -> "SummedBattles":
        """Select the battles of the model with this name; the codes of models stay the same.

        Raises:
            ValueError: no model with readable battles has this name.
        """
        return replace(self, anchor=int(self.codes[self.models.index(anchor)]))

    def blocks(self) -> Iterator[CodedBattles]:
        """Yield the cells in blocks of whole clusters, whose codes start at 0 in each block."""
        code = self._code_by_database_code
        for block in self.verdicts.blocks(hard=self.hard, against=self.anchor):
            yield CodedBattles(
                a=code[block.first],
                b=code[block.second],
                credit=block.credit,
                weight=block.weight,
                cluster=block.cluster,
                clusters=block.clusters,
                unit=self.unit,
                models=self.models,
                number=block.battles,
            )

    @cached_property
    def _sums(self) -> dict[str, np.ndarray]:
        """Sums over the battles of each pair, from the database, shape (pairs,) each.

        The keys are `first` and `second` (codes in the database), `credit` (of `first`, weighted),
        `weight`, and `judged` (number of battles).
        """
        return self.verdicts.pairs(hard=self.hard, against=self.anchor)

    @cached_property
    def _pairs(self) -> Pairs:
        """The pair sums; clusters are not counted (`Pairs.items` is None)."""
        sums = self._sums
        code = self._code_by_database_code
        return Pairs(
            first=code[sums["first"]],
            second=code[sums["second"]],
            credit=sums["credit"],
            weight=sums["weight"],
            models=len(self.codes),
        )

    @cached_property
    def _cluster_counts(self) -> _ClusterCounts:
        """Numbers of clusters (of all, by model and by pair), and the weight of each cluster."""
        total = 0
        by_model = np.zeros(len(self.codes), dtype=np.int64)
        by_pair = np.zeros(len(self._pairs.first), dtype=np.int64)
        weights = []
        for block in self.blocks():
            total += block.clusters
            weights.append(block.cluster_weights())
            by_model += block.clusters_by_model()
            # Cells of the same cluster and pair are adjacent, with a and b in either order. So each
            # pair is counted at the cell where a new pair or a new cluster begins.
            pair = pair_positions(block, self._pairs)
            is_other_pair = pair[1:] != pair[:-1]
            is_other_cluster = block.cluster[1:] != block.cluster[:-1]
            is_first_cell = np.append(True, is_other_pair | is_other_cluster)
            by_pair += np.bincount(pair[is_first_cell], minlength=len(by_pair))
        return _ClusterCounts(total, by_model, by_pair, np.concatenate(weights))

    @cached_property
    def _code_by_database_code(self) -> np.ndarray:
        """Model codes (positions in `models`) indexed by code in the database."""
        codes = np.zeros(int(self.codes[-1]) + 1, dtype=np.int64)
        codes[self.codes] = np.arange(len(self.codes))
        return codes


BattleData = CodedBattles | SummedBattles
"""Readable battles in memory or summed in a database."""


def cluster_shares(battles: BattleData) -> np.ndarray:
    """Return the share of each cluster in the weight of all battles, shape (clusters,)."""
    weights = battles.cluster_weights()
    return weights / weights.sum()


def pair_sums_with_items(battles: BattleData) -> Pairs:
    """Add up credits and weights by pair, and count the clusters in which each pair met.

    Pairs without a readable battle are left out. `Pairs.items` has the number of clusters.
    """
    if isinstance(battles, SummedBattles):
        return battles.pairs
    pairs = pair_sums(battles)
    return replace(pairs, items=items_per_pair(battles, pairs))


def load_battles(battles: BattleData) -> CodedBattles:
    """Load all battles, or all sums by item and pair, into memory.

    Battles that are in memory are returned as they are, with one exception: if each row is a
    cluster, the clusters are numbered in an order by content (`order_rows`).
    """
    blocks = list(battles.blocks())
    coded = blocks[0]
    if len(blocks) > 1:
        columns: dict[str, Any] = {}
        for name in ("a", "b", "credit", "weight", "number"):
            columns[name] = np.concatenate([getattr(block, name) for block in blocks])
        # Blocks number their clusters from 0, so those of a block are shifted by the number of
        # clusters in the blocks before it.
        clusters_before = 0
        shifted_clusters = []
        for block in blocks:
            shifted_clusters.append(block.cluster + clusters_before)
            clusters_before += block.clusters
        cluster = np.concatenate(shifted_clusters)
        coded = replace(coded, **columns, cluster=cluster, clusters=clusters_before)
    if coded.unit != "row":
        return coded
    # Clusters in an order by content make a seed draw the same resamples, whatever the models'
    # names and the order of the file are.
    # `order_rows` takes a value for each of the two models; the weight of a battle is that of both.
    weight_of_both = (coded.weight, coded.weight)
    return replace(coded, cluster=order_rows(coded.a, coded.b, coded.credit, [weight_of_both]))


def prepare_battles(
    battles: Battles, *, labels: Labels = "soft", cluster: Cluster = "item"
) -> BattleData:
    """Return the readable battles as arrays, or as sums by item and pair if they are in a database.

    Models without a readable battle have no code in the result.

    Args:
        battles: all battles; those without a credit are left out.
        labels: `hard` rounds credits to win, tie or loss, and makes a flip a tie.
        cluster: what is independent: items (or their groups, if they have any), or single battles.
            With `row`, the battles are always loaded as arrays.

    Raises:
        NotIdentifiedError: no battle has a readable verdict.
        UsageError: another value of `labels` or `cluster`; or `row` for items with groups.
    """
    rows = battles.rows
    if isinstance(rows, BattleFrame) or cluster != "item":
        return code_battles(battles, labels=labels, cluster=cluster)
    require_choice("labels", labels, ("soft", "hard"))
    is_hard = labels == "hard"
    sums = rows.pairs(hard=is_hard)
    if not len(sums["first"]):
        raise nothing_readable_error(battles)
    codes = distinct_values(np.concatenate([sums["first"], sums["second"]]))
    return SummedBattles(rows, codes, hard=is_hard)
