"""Readable battles as integer-coded arrays: the input of every ranker."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from podium.errors import NotIdentifiedError, unknown_value
from podium.nouns.battles import Battles
from podium.rankers.row_order import order_of_battles

Labels = Literal["soft", "hard"]
Cluster = Literal["item", "row"]
MOST_FLAGS = 100_000_000
"""Clusters times codes up to which presence is flagged in an array."""


@dataclass(frozen=True, slots=True)
class CodedBattles:
    """Readable battles as arrays of shape (battles,).

    Attributes:
        a, b: model codes.
        credit: credit of a, in [0, 1].
        cluster: code of the item (or row) of each battle.
        unit: what a cluster is: `item`, or `row` if requested or if no item is known.
        models: names of the models with readable battles, by code; sorted.
        number: number of battles that each row sums, all of one item and pair; None if each is one.
    """

    a: np.ndarray
    b: np.ndarray
    credit: np.ndarray
    weight: np.ndarray
    cluster: np.ndarray
    clusters: int
    unit: Cluster
    models: tuple[str, ...]
    number: np.ndarray | None = None

    def battles_by_model(self) -> np.ndarray:
        """Return the number of battles of each model, shape (models,)."""
        size = len(self.models)
        battles = np.bincount(self.a, self.number, size) + np.bincount(self.b, self.number, size)
        return battles.astype(np.int64)

    def clusters_by_model(self) -> np.ndarray:
        """Return the number of clusters in which each model has a battle, shape (models,)."""
        shape = (self.clusters, len(self.models))
        return count_clusters(np.tile(self.cluster, 2), np.concatenate([self.a, self.b]), shape)

    def take(self, rows: np.ndarray) -> "CodedBattles":
        """Return the battles of a mask or of positions; clusters and models keep their codes."""
        number = None if self.number is None else self.number[rows]
        a, b, credit, weight = self.a[rows], self.b[rows], self.credit[rows], self.weight[rows]
        return replace(self, a=a, b=b, credit=credit, weight=weight, cluster=self.cluster[rows], number=number)

    def battles_among(self, kept: np.ndarray) -> "CodedBattles":
        """Return the battles between the models of a mask, models and clusters coded anew in the same order."""
        part, codes = self.take(kept[self.a] & kept[self.b]), np.cumsum(kept) - 1
        distinct, cluster = np.unique(part.cluster, return_inverse=True)
        names = tuple(name for name, there in zip(self.models, kept, strict=True) if there)
        return replace(part, a=codes[part.a], b=codes[part.b], cluster=cluster, clusters=len(distinct), models=names)

    def blocks(self) -> Iterator["CodedBattles"]:
        """Yield all battles as one block, as `SummedBattles.blocks` does for battles in a database."""
        yield self


def code_battles(
    battles: Battles, *, labels: Labels = "soft", cluster: Cluster = "item", credit: np.ndarray | None = None
) -> CodedBattles:
    """Convert the readable battles to integer-coded arrays.

    `labels`: `hard` maps credits to win, tie or loss, and a flip to a tie; `cluster`: the unit that standard errors
    treat as independent; `credit`: credits of a that replace those of the table, NaN to leave a battle out.
    """
    require_choice("labels", labels, ("soft", "hard"))
    require_choice("cluster", cluster, ("item", "row"))
    if credit is None:
        credit = hard_credits(battles.table) if labels == "hard" else battles.table["credit"].to_numpy()
    keep = ~np.isnan(credit)
    if not keep.any():
        raise nothing_readable(battles)
    table, credit = (battles.table, credit) if keep.all() else (battles.table[keep], credit[keep])
    a, b, models = _code_present_models(table["model_a"].cat, table["model_b"].cat)
    unit = cluster if battles.has_items else "row"
    codes = cluster_codes(battles, unit)[keep]
    present = np.bincount(codes) > 0
    weight = table["weight"].to_numpy() if "weight" in table else np.ones(len(table))
    return CodedBattles(a, b, credit, weight, (np.cumsum(present) - 1)[codes], int(present.sum()), unit, models)


def count_clusters(cluster: np.ndarray, code: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Return the number of distinct clusters in which each code occurs; `shape` is (clusters, codes)."""
    clusters, codes = shape
    cells = cluster * np.int64(codes) + code
    if clusters * codes <= MOST_FLAGS:
        seen = np.zeros(clusters * codes, dtype=bool)
        seen[cells] = True
        return seen.reshape(shape).sum(axis=0)
    return np.bincount(np.unique(cells) % codes, minlength=codes)


def hard_credits(table: pd.DataFrame) -> np.ndarray:
    """Round credits to win (1), tie (0.5) or loss (0), a flip to a tie, NaN where unparsed, shape (battles,).

    The judge's verdict decides, not the sign of its margin: the two differ where a verdict flips with the order.
    """
    credit = table["credit"].to_numpy()
    flip = (table["swap"] == "flip").to_numpy() if "swap" in table else False
    return np.where(flip & ~np.isnan(credit), 0.5, (np.sign(credit - 0.5) + 1) / 2)


def cluster_codes(battles: Battles, cluster: Cluster = "item") -> np.ndarray:
    """Return the code of each battle's cluster, shape (battles,).

    Items are coded in the order of their names, followed by rows without an item, each a cluster of its own. If all
    rows are clusters, their codes depend only on their content (`row_order`).
    """
    known = cluster == "item" and "item" in battles.table
    codes = battles.table["item"].cat.codes.to_numpy(dtype=np.int64, copy=True) if known else np.full(len(battles), -1)
    alone = np.flatnonzero(codes < 0)
    if len(alone) == len(codes):
        return order_of_battles(battles)
    codes[alone] = codes.max() + 1 + np.arange(len(alone))
    return codes


def nothing_readable(battles: Battles) -> NotIdentifiedError:
    """Return the error for battles without a readable verdict."""
    return NotIdentifiedError(f"none of the {len(battles)} battles has a readable verdict: nothing to rank")


def ratio_or_nan(total: np.ndarray, number: np.ndarray) -> np.ndarray:
    """Return total / number, NaN where the number is not above 0."""
    return np.divide(total, number, out=np.full(np.shape(number), np.nan), where=number > 0)


def require_choice(option: str, value: object, allowed: tuple[object, ...]) -> None:
    """Raise UsageError if an option's value is not among the allowed ones."""
    if value not in allowed:
        raise unknown_value(option, value, allowed)


def _code_present_models(a: Any, b: Any) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """Return the model codes of both sides and the names by code, leaving out models that occur on neither side."""
    names, a, b = tuple(a.categories), a.codes.to_numpy(), b.codes.to_numpy()
    present = np.bincount(a, minlength=len(names)) + np.bincount(b, minlength=len(names)) > 0
    if present.all():
        return a, b, names
    position = np.cumsum(present) - 1
    return position[a], position[b], tuple(name for name, there in zip(names, present, strict=True) if there)
