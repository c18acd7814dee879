"""Readable battles as arrays: what every ranker starts from."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from podium.errors import NotIdentifiedError, UsageError
from podium.nouns.battles import Battles
from podium.rankers.row_order import order_of_battles

Labels = Literal["soft", "hard"]
Cluster = Literal["item", "row"]
MOST_FLAGS = 100_000_000
"""Cells of items times models (or pairs) up to which presence is flagged in an array."""


@dataclass(frozen=True, slots=True)
class CodedBattles:
    """Readable battles.

    Attributes:
        a, b: model codes, shape (battles,).
        credit: what a earned, in [0, 1], shape (battles,).
        weight: above 0, shape (battles,).
        cluster: code of the item (or row) of each battle, shape (battles,).
        clusters: number of distinct clusters.
        unit: what a cluster is: `item`, or `row` when asked for or when no item is known.
        models: names of those with readable battles, by code; sorted.
        number: battles that each row adds up, all of one item and pair; None where each is one, shape (battles,).
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

    def battles_of(self) -> np.ndarray:
        """Return the number of battles of each model, shape (models,)."""
        size = len(self.models)
        battles = np.bincount(self.a, self.number, size) + np.bincount(self.b, self.number, size)
        return battles.astype(np.int64)

    def clusters_of(self) -> np.ndarray:
        """Return the number of clusters in which each model has a battle, shape (models,)."""
        shape = (self.clusters, len(self.models))
        return distinct_clusters(np.tile(self.cluster, 2), np.concatenate([self.a, self.b]), shape)

    def take(self, rows: np.ndarray) -> "CodedBattles":
        """Return some battles, given by a mask or by positions; clusters and models keep their codes."""
        number = None if self.number is None else self.number[rows]
        a, b, credit, weight = self.a[rows], self.b[rows], self.credit[rows], self.weight[rows]
        return replace(self, a=a, b=b, credit=credit, weight=weight, cluster=self.cluster[rows], number=number)

    def battles_among(self, kept: np.ndarray) -> "CodedBattles":
        """Return the battles between the models of a mask, these and the clusters coded anew, in their order."""
        part, codes = self.take(kept[self.a] & kept[self.b]), np.cumsum(kept) - 1
        distinct, cluster = np.unique(part.cluster, return_inverse=True)
        names = tuple(name for name, there in zip(self.models, kept, strict=True) if there)
        return replace(part, a=codes[part.a], b=codes[part.b], cluster=cluster, clusters=len(distinct), models=names)

    def blocks(self) -> Iterator["CodedBattles"]:
        """Yield all battles at once: they are in memory."""
        yield self


def code_battles(
    battles: Battles, *, labels: Labels = "soft", cluster: Cluster = "item", credit: np.ndarray | None = None
) -> CodedBattles:
    """Code the readable battles.

    Args:
        labels: `soft` takes credits as they are; `hard` maps them to win, tie, loss, and a flip to a tie.
        cluster: what resampling and standard errors treat as independent.
        credit: what a earned instead, NaN where a battle is to be left out, shape (battles,).

    Raises:
        UsageError: an unknown option.
        NotIdentifiedError: nothing is readable.
    """
    require_choice("labels", labels, ("soft", "hard"))
    require_choice("cluster", cluster, ("item", "row"))
    if credit is None:
        credit = hard_credits(battles.table) if labels == "hard" else battles.table["credit"].to_numpy()
    keep = ~np.isnan(credit)
    if not keep.any():
        raise nothing_readable(battles)
    table, credit = (battles.table, credit) if keep.all() else (battles.table[keep], credit[keep])
    a, b, models = _models(table["model_a"].cat, table["model_b"].cat)
    unit = cluster if battles.has_items else "row"
    codes = cluster_codes(battles, unit)[keep]
    present = np.bincount(codes) > 0
    weight = table["weight"].to_numpy() if "weight" in table else np.ones(len(table))
    return CodedBattles(a, b, credit, weight, (np.cumsum(present) - 1)[codes], int(present.sum()), unit, models)


def distinct_clusters(cluster: np.ndarray, code: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Return in how many clusters each code is found, shape (codes,).

    Args:
        cluster, code: shape (n,) each.
        shape: (clusters, codes).
    """
    clusters, codes = shape
    cells = cluster * np.int64(codes) + code
    if clusters * codes <= MOST_FLAGS:
        seen = np.zeros(clusters * codes, dtype=bool)
        seen[cells] = True
        return seen.reshape(shape).sum(axis=0)
    return np.bincount(np.unique(cells) % codes, minlength=codes)


def hard_credits(table: pd.DataFrame) -> np.ndarray:
    """Return credits as win, tie or loss, a flip as a tie, NaN where unparsed, shape (battles,).

    The label is what the judge said, not the sign of its margin: the two differ where a verdict flips with the order.
    """
    credit = table["credit"].to_numpy()
    flip = (table["swap"] == "flip").to_numpy() if "swap" in table else False
    return np.where(flip & ~np.isnan(credit), 0.5, (np.sign(credit - 0.5) + 1) / 2)


def cluster_codes(battles: Battles, cluster: Cluster = "item") -> np.ndarray:
    """Return the code of each battle's cluster, shape (battles,).

    Those of items are sorted by name; behind them, rows without an item stand alone. Where all rows are clusters,
    nothing but what they hold decides on their order.
    """
    known = cluster == "item" and "item" in battles.table
    codes = battles.table["item"].cat.codes.to_numpy(dtype=np.int64, copy=True) if known else np.full(len(battles), -1)
    alone = np.flatnonzero(codes < 0)
    if len(alone) == len(codes):
        return order_of_battles(battles)
    codes[alone] = codes.max() + 1 + np.arange(len(alone))
    return codes


def nothing_readable(battles: Battles) -> NotIdentifiedError:
    """Return the error of battles of which none can be read."""
    return NotIdentifiedError(f"none of the {len(battles)} battles has a readable verdict: nothing to rank")


def ratio_or_nan(total: np.ndarray, number: np.ndarray) -> np.ndarray:
    """Return total / number, NaN where the number is not above 0, same shape."""
    return np.divide(total, number, out=np.full(np.shape(number), np.nan), where=number > 0)


def require_choice(option: str, value: object, allowed: tuple[object, ...]) -> None:
    """Refuse an option's value that is not one of those allowed.

    Raises:
        UsageError: it is not.
    """
    if value not in allowed:
        raise UsageError(f"{option}={value!r} is unknown; use one of {', '.join(map(str, allowed))}")


def _models(a: Any, b: Any) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """Code the models that have readable battles; those without one are not ranked."""
    names, a, b = tuple(a.categories), a.codes.to_numpy(), b.codes.to_numpy()
    present = np.bincount(a, minlength=len(names)) + np.bincount(b, minlength=len(names)) > 0
    if present.all():
        return a, b, names
    position = np.cumsum(present) - 1
    return position[a], position[b], tuple(name for name, there in zip(names, present, strict=True) if there)
