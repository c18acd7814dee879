"""Select the battles that a page lists: disagreements first, then a random sample."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from podium.nouns.battles import Battles
from podium.nouns.human_labels import is_turned, matchup_frame
from podium.page.texts import BattleTexts
from podium.text import as_text

MOST = 5000
LONGEST = 20_000
"""Characters of one text that a page shows."""
LARGEST = 12_000_000
"""Characters of all texts of a page."""
CHANCE, ORDERS, JUDGES, HUMANS = "", "the two orders disagree", "judges disagree", "judge and humans disagree"


@dataclass(frozen=True, slots=True)
class ListedBattles:
    """The listed battles and their texts, packed for a page.

    Attributes:
        document: as JSON, columns of codes and figures; texts stand once each.
        total: battles that there are.
        listed: of them here.
        disagreeing: battles on which something disagrees.
        cut: texts that are longer than a page shows, and what was left out for want of room.
    """

    document: Mapping[str, Any]
    total: int
    listed: int
    disagreeing: int
    cut: int


def list_battles(battles: Battles, judgments: Battles, texts: BattleTexts | None, seed: int = 0) -> ListedBattles:
    """Select battles and pack them with their texts.

    Args:
        battles: the two orders merged.
        judgments: the same verdicts, the two orders apart.
        texts: of the battles; None to leave them out.
        seed: of the draw among those on which nothing disagrees.
    """
    table = battles.table
    why = _disagreements(battles)
    order = np.lexsort([np.random.default_rng(seed).random(len(table)), why == CHANCE])
    chosen = np.sort(order[:MOST])
    chosen = chosen[np.argsort(why[chosen] == CHANCE, kind="stable")]
    rows, pool = table.iloc[chosen], TextPool()
    names = {name: k for k, name in enumerate(battles.models)}
    cells = {
        name: as_text(rows[name]).to_numpy(object) for name in ("item", "judge", "category", "reason") if name in rows
    }
    items = cells.get("item", np.full(len(rows), None))
    reasons = cells.get("reason", np.full(len(rows), None))
    numbers = rows["response"].fillna(1).to_numpy() if "response" in rows else np.ones(len(rows))
    orders = _orders_of(judgments, rows)
    document: dict[str, Any] = {
        "models": list(battles.models),
        "a": [names[name] for name in rows["model_a"]],
        "b": [names[name] for name in rows["model_b"]],
        "item": list(items),
        "credit": _numbers(rows["credit"]),
        "human": _numbers(rows["human"]) if "human" in rows else [],
        "why": [str(reason) for reason in why[chosen]],
        "reason": list(reasons),
        "judge": list(cells.get("judge", [])) if len(battles.judges) > 1 else [],
        "category": list(cells.get("category", [])),
        "orders": orders,
    }
    if texts is not None:
        keys = zip(items, numbers, rows["model_a"], rows["model_b"], strict=True)
        document["texts"] = [_texts_of(texts, pool, item, int(n), str(a), str(b)) for item, n, a, b in keys]
        document["pool"] = pool.texts
    return ListedBattles(document, len(table), len(chosen), int((why != CHANCE).sum()), pool.cut)


class TextPool:
    """A pool of distinct texts, limited in total size."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.cut = 0
        self._codes: dict[str, int] = {}
        self._size = 0

    def code(self, text: str | None) -> int:
        """Return the index of a text in the pool, adding it if there is room; -1 otherwise."""
        if not text:
            return -1
        shown = text if len(text) <= LONGEST else f"{text[:LONGEST]}\n\n[{len(text) - LONGEST:,} more characters]"
        known = self._codes.get(shown)
        if known is not None:
            return known
        full = self._size + len(shown) > LARGEST
        self.cut += full or len(shown) != len(text)
        if full:
            return -1
        self._size += len(shown)
        self._codes[shown] = len(self.texts)
        self.texts.append(shown)
        return len(self.texts) - 1


def _disagreements(battles: Battles) -> np.ndarray:
    """Return the kind of disagreement (orders, judges, humans) per battle, empty if there is none, shape (battles,)."""
    table = battles.table
    why = np.full(len(table), CHANCE, dtype=object)
    side = np.sign(table["credit"].to_numpy(dtype=float) - 0.5)
    if len(battles.judges) > 1:
        keys = [column for _, column in matchup_frame(battles).items()]
        turned = pd.Series(np.where(is_turned(table), -side, side), table.index)
        # Each judge by all that it says: one that contradicts itself is no two judges.
        said = turned.groupby([*keys, table["judge"].astype(str)], sort=False)
        groups = said.transform("mean").groupby(keys, sort=False)
        why[((groups.transform("max") > 0) & (groups.transform("min") < 0)).to_numpy()] = JUDGES
    if "human" in table:
        why[side * np.sign(table["human"].to_numpy(dtype=float) - 0.5) < 0] = HUMANS
    if "swap" in table:
        why[(table["swap"] == "flip").to_numpy()] = ORDERS
    return why


def _orders_of(judgments: Battles, rows: pd.DataFrame) -> list[list[list[Any]]]:
    """Return order and credit of model_a for each judgment of each battle, or the reason if unparsed."""
    keys = [name for name in ("item", "judge", "repeat", "response") if name in rows and name in judgments.table]
    if "item" not in keys or "order" not in judgments.table:
        return [[] for _ in range(len(rows))]
    wanted = judgments.table[judgments.table["item"].isin(rows["item"])]
    shown: dict[tuple[Any, ...], list[tuple[str, str, float, Any]]] = {}
    reasons = wanted["reason"] if "reason" in wanted else pd.Series(None, wanted.index, dtype=object)
    columns = [wanted[name].astype(object) for name in ("model_a", "model_b", "order", "credit")]
    for key, a, b, order, credit, reason in zip(_keys(wanted, keys), *columns, reasons, strict=True):
        shown.setdefault((*key, *sorted((a, b))), []).append((a, order, credit, reason))
    orders = []
    for key, a, b in zip(_keys(rows, keys), rows["model_a"], rows["model_b"], strict=True):
        met = shown.get((*key, *sorted((a, b))), [])
        orders.append([[*_as_seen_by(a, *each[:3]), None if pd.isna(each[3]) else str(each[3])] for each in met])
    return orders


def _keys(table: pd.DataFrame, names: list[str]) -> list[tuple[Any, ...]]:
    """Return the key columns of each row as tuples."""
    columns = [as_text(table[name]).to_numpy(object) for name in names]
    return list(zip(*columns, strict=True))


def _as_seen_by(model: str, a: str, order: Any, credit: float) -> tuple[str, float | None]:
    """Return order and credit of a judgment from the view of `model`, as if it were model_a."""
    earned = None if pd.isna(credit) else round(float(credit), 3)
    if a == model or order not in ("ab", "ba"):
        return str(order or ""), earned if a == model or earned is None else round(1 - earned, 3)
    return "ba" if order == "ab" else "ab", None if earned is None else round(1 - earned, 3)


def _texts_of(texts: BattleTexts, pool: TextPool, item: Any, number: int, a: str, b: str) -> list[Any]:
    """Return the pool indices of a battle's instruction, responses and judge texts."""
    item = "" if item is None else str(item)
    words = [(order, judge, said) for order, judge, said in texts.words.get((item, number, a, b), [])]
    turned = {"ab": "ba", "ba": "ab"}
    words += [(turned.get(o, o), judge, said) for o, judge, said in texts.words.get((item, number, b, a), [])]
    sides = [pool.code(texts.responses.get((item, number, model))) for model in (a, b)]
    return [pool.code(texts.instructions.get(item)), *sides, [[o, judge, pool.code(said)] for o, judge, said in words]]


def _numbers(values: pd.Series) -> list[float | None]:
    """Convert a column to floats with None for NaN."""
    return [None if np.isnan(value) else round(float(value), 3) for value in values.to_numpy(dtype=float)]
