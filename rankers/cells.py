"""Readable battles summed per item and pair: what rankers of pair sums take from a database, block by block."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from podium.counting.verdicts import Verdicts
from podium.nouns.battles import Battles
from podium.rankers.coded import Cluster, CodedBattles, Labels, code_battles, nothing_readable, require_choice
from podium.rankers.pairs import Pairs, items_per_pair, pair_index, pair_sums
from podium.rankers.row_order import order_rows


@dataclass(frozen=True)
class SummedBattles:
    """SummedBattles in a database; a block of them is coded as if each were one battle, which no sum can tell.

    Attributes:
        verdicts: where they are.
        codes: in the database, of the models with readable battles, sorted, shape (models,).
        hard: credits are win, tie or loss, and a flip is a tie.
        anchor: code in the database of the model in all of them; None for all cells.
    """

    verdicts: Verdicts
    codes: np.ndarray
    hard: bool = False
    anchor: int | None = None

    @property
    def unit(self) -> Cluster:
        """What a cluster is: an item, or a row where no item is known."""
        return "item" if self.verdicts.has_items else "row"

    @cached_property
    def models(self) -> tuple[str, ...]:
        """Names of those with readable battles, by code; sorted."""
        return tuple(self.verdicts.models[code] for code in self.codes)

    @cached_property
    def pairs(self) -> Pairs:
        """Sums over the battles of each pair, and the clusters in which it met."""
        return replace(self._pairs, items=self._presence[2])

    @property
    def clusters(self) -> int:
        """Number of clusters with readable battles."""
        return self._presence[0]

    def clusters_of(self) -> np.ndarray:
        """Return the number of clusters in which each model has a readable battle, shape (models,)."""
        return self._presence[1]

    def battles_of(self) -> np.ndarray:
        """Return the number of battles of each model, shape (models,)."""
        pairs, number = self._pairs, self._sums["judged"]
        battles = np.bincount(pairs.first, number, pairs.models) + np.bincount(pairs.second, number, pairs.models)
        return battles.astype(np.int64)

    def cells_of(self, anchor: str) -> "SummedBattles":
        """Return the cells of one model."""
        return replace(self, anchor=int(self.codes[self.models.index(anchor)]))

    def blocks(self) -> Iterator[CodedBattles]:
        """Yield the cells, whole clusters at a time; codes of clusters count from 0 in each block."""
        code = self._code_of
        for block in self.verdicts.blocks(hard=self.hard, against=self.anchor):
            arrays = code[block.low], code[block.high], block.credit, block.weight, block.cluster
            yield CodedBattles(*arrays, block.clusters, self.unit, self.models, block.battles)

    @cached_property
    def _sums(self) -> dict[str, np.ndarray]:
        return self.verdicts.pairs(hard=self.hard, against=self.anchor)

    @cached_property
    def _pairs(self) -> Pairs:
        sums, code = self._sums, self._code_of
        return Pairs(code[sums["low"]], code[sums["high"]], sums["credit"], sums["weight"], len(self.codes))

    @cached_property
    def _presence(self) -> tuple[int, np.ndarray, np.ndarray]:
        """Clusters, those of each model, and those of each pair."""
        number, own = 0, np.zeros(len(self.codes), dtype=np.int64)
        met = np.zeros(len(self._pairs.first), dtype=np.int64)
        for block in self.blocks():
            number, own = number + block.clusters, own + block.clusters_of()
            # Cells of one cluster and pair lie side by side.
            pair = pair_index(block, self._pairs)[0]
            first = np.append(True, (pair[1:] != pair[:-1]) | (block.cluster[1:] != block.cluster[:-1]))
            met = met + np.bincount(pair[first], minlength=len(met))
        return number, own, met

    @cached_property
    def _code_of(self) -> np.ndarray:
        codes = np.zeros(int(self.codes[-1]) + 1, dtype=np.int64)
        codes[self.codes] = np.arange(len(self.codes))
        return codes


BattleData = CodedBattles | SummedBattles
"""Readable battles, each a row or added up: all that is asked of them are sums."""


def pair_sums_with_items(battles: BattleData) -> Pairs:
    """Return the sums over the battles of each pair, and the clusters in which it met."""
    if isinstance(battles, SummedBattles):
        return battles.pairs
    pairs = pair_sums(battles)
    return replace(pairs, items=items_per_pair(battles, pairs))


def load_battles(battles: BattleData) -> CodedBattles:
    """Return all battles or cells at once."""
    blocks = list(battles.blocks())
    if len(blocks) == 1:
        return sort_rows(blocks[0])
    starts = np.cumsum([0, *(block.clusters for block in blocks)])
    a, b, credit, weight = (
        np.concatenate([getattr(block, name) for block in blocks]) for name in ("a", "b", "credit", "weight")
    )
    cluster = np.concatenate([block.cluster + start for block, start in zip(blocks, starts, strict=False)])
    number = np.concatenate([block.number for block in blocks])
    return sort_rows(CodedBattles(a, b, credit, weight, cluster, int(starts[-1]), battles.unit, battles.models, number))


def sort_rows(coded: CodedBattles) -> CodedBattles:
    """Number clusters that are rows by what these hold: draws then depend on no name, and on no order of a file."""
    if coded.unit == "item":
        return coded
    return replace(coded, cluster=order_rows(coded.a, coded.b, coded.credit, [(coded.weight, coded.weight)]))


def prepare_battles(battles: Battles, *, labels: Labels = "soft", cluster: Cluster = "item") -> BattleData:
    """Return the readable battles, summed by item and pair in the database where that is where they are.

    Args:
        labels: `soft` takes credits as they are; `hard` maps them to win, tie, loss, and a flip to a tie.
        cluster: what resampling and standard errors treat as independent.

    Raises:
        UsageError: an unknown option.
        NotIdentifiedError: nothing is readable.
    """
    if battles.verdicts is None or cluster != "item":
        return code_battles(battles, labels=labels, cluster=cluster)
    require_choice("labels", labels, ("soft", "hard"))
    sums = battles.verdicts.pairs(hard=labels == "hard")
    if not len(sums["low"]):
        raise nothing_readable(battles)
    return SummedBattles(battles.verdicts, np.union1d(sums["low"], sums["high"]), labels == "hard")
