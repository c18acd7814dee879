"""Select the battles that a page lists: disagreements first, then a random sample."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from podium.nouns.battles import Battles
from podium.nouns.human_labels import is_turned, matchup_frame
from podium.page.sources import BattleTexts
from podium.responses.transcripts import read_pieces
from podium.text import as_text

MOST = 5000
LONGEST = 20_000
"""Characters of one text that a page shows."""
LARGEST = 12_000_000
"""Characters of all texts of a page."""
TURNED = {"ab": "ba", "ba": "ab"}
CHANCE, ORDERS, JUDGES, HUMANS = "", "the two orders disagree", "judges disagree", "judge and humans disagree"


@dataclass(frozen=True, slots=True)
class ListedBattles:
    """A page's battles as a JSON document of columns, and how many there are; `cut` counts texts cut or left out."""

    document: Mapping[str, Any]
    total: int
    listed: int
    disagreeing: int
    cut: int


def list_battles(battles: Battles, judgments: Battles, texts: BattleTexts | None, seed: int = 0) -> ListedBattles:
    """Select disagreements and a sample of the other (merged) battles, and pack them with judgments and texts."""
    table = battles.table
    why = _disagreements(battles)
    order = np.lexsort([np.random.default_rng(seed).random(len(table)), why == CHANCE])
    chosen = np.sort(order[:MOST])
    chosen = chosen[np.argsort(why[chosen] == CHANCE, kind="stable")]
    rows, pool = table.iloc[chosen], TextPool()
    codes = {name: k for k, name in enumerate(battles.models)}
    nothing = np.full(len(rows), None)
    cells = {
        name: as_text(rows[name]).to_numpy(object) for name in ("item", "judge", "category", "reason") if name in rows
    }
    items = cells.get("item", nothing)
    document: dict[str, Any] = {
        "models": list(battles.models),
        "a": [codes[name] for name in rows["model_a"]],
        "b": [codes[name] for name in rows["model_b"]],
        "item": list(items),
        "credit": _numbers(rows["credit"]),
        "human": _numbers(rows["human"]) if "human" in rows else [],
        "why": [str(reason) for reason in why[chosen]],
        "reason": list(cells.get("reason", nothing)),
        "judge": list(cells.get("judge", [])) if len(battles.judges) > 1 else [],
        "category": list(cells.get("category", [])),
        "orders": _list_judgments(judgments, rows),
    }
    if texts is not None:
        numbers = rows["response"].fillna(1).to_numpy() if "response" in rows else np.ones(len(rows))
        keys = zip(items, numbers, rows["model_a"], rows["model_b"], strict=True)
        document["texts"] = [_pool_texts(texts, pool, item, int(n), str(a), str(b)) for item, n, a, b in keys]
        document["pool"] = [read_pieces(text) if text in pool.transcripts else text for text in pool.codes]
    return ListedBattles(document, len(table), len(chosen), int((why != CHANCE).sum()), pool.cut)


class TextPool:
    """A pool of distinct texts by code, limited in total size; `cut` counts texts shortened or left out."""

    def __init__(self) -> None:
        self.codes: dict[str, int] = {}
        self.transcripts: set[str] = set()
        self.cut = 0
        self._size = 0

    def code(self, text: str | None, *, is_transcript: bool = False) -> int:
        """Return the code of a text, adding it if there is room; -1 for no text or no room. Transcripts, which have a
        limit of their own, are not shortened."""
        if not text:
            return -1
        if is_transcript:
            self.transcripts.add(text)
        more = 0 if is_transcript else len(text) - LONGEST
        shown = text if more <= 0 else f"{text[:LONGEST]}\n\n[{more:,} more characters]"
        if shown not in self.codes:
            is_full = self._size + len(shown) > LARGEST
            self.cut += is_full or len(shown) != len(text)
            if is_full:
                return -1
            self._size += len(shown)
            self.codes[shown] = len(self.codes)
        return self.codes[shown]


def _disagreements(battles: Battles) -> np.ndarray:
    """Return the kind of disagreement (orders, judges, humans) per battle, empty if there is none, shape (battles,)."""
    table = battles.table
    why = np.full(len(table), CHANCE, dtype=object)
    side = np.sign(table["credit"].to_numpy(dtype=float) - 0.5)
    if len(battles.judges) > 1:
        keys = [column for _, column in matchup_frame(battles).items()]
        turned = pd.Series(np.where(is_turned(table), -side, side), table.index)
        # A judge counts by the mean of its verdicts: one judge that contradicts itself is not two judges.
        said = turned.groupby([*keys, table["judge"].astype(str)], sort=False)
        groups = said.transform("mean").groupby(keys, sort=False)
        why[((groups.transform("max") > 0) & (groups.transform("min") < 0)).to_numpy()] = JUDGES
    if "human" in table:
        why[side * np.sign(table["human"].to_numpy(dtype=float) - 0.5) < 0] = HUMANS
    if "swap" in table:
        why[(table["swap"] == "flip").to_numpy()] = ORDERS
    return why


def _list_judgments(judgments: Battles, rows: pd.DataFrame) -> list[list[list[Any]]]:
    """Return order, credit of model_a and the reason if unparsed, for each judgment of each battle."""
    known = [name for name in ("item", "judge", "repeat", "response") if name in rows and name in judgments.table]
    if "item" not in known or "order" not in judgments.table:
        return [[] for _ in range(len(rows))]
    listed = _battle_keys(rows, known)
    orders: dict[tuple[Any, ...], list[list[Any]]] = {key: [] for key in listed}
    wanted = judgments.table[judgments.table["item"].isin(rows["item"])]
    reasons = as_text(wanted["reason"]) if "reason" in wanted else [None] * len(wanted)
    credits = _numbers(wanted["credit"])
    for key, order, credit, reason in zip(_battle_keys(wanted, known), wanted["order"], credits, reasons, strict=True):
        turned_credit = None if credit is None else round(1 - credit, 3)
        orders.get(key, []).append([str(order or ""), credit, reason])
        orders.get((*key[:-2], key[-1], key[-2]), []).append(
            [TURNED.get(order, str(order or "")), turned_credit, reason]
        )
    return [orders[key] for key in listed]


def _battle_keys(table: pd.DataFrame, names: list[str]) -> list[tuple[Any, ...]]:
    """Return the given columns and both models of each row as tuples of text."""
    columns = [as_text(table[name]).to_numpy(object) for name in (*names, "model_a", "model_b")]
    return list(zip(*columns, strict=True))


def _pool_texts(texts: BattleTexts, pool: TextPool, item: Any, number: int, a: str, b: str) -> list[Any]:
    """Return the pool indices of a battle's instruction, responses and judge texts."""
    item = "" if item is None else str(item)
    words = list(texts.words.get((item, number, a, b), []))
    words += [(TURNED.get(o, o), judge, said) for o, judge, said in texts.words.get((item, number, b, a), [])]
    keys = [(item, number, model) for model in (a, b)]
    sides = [pool.code(texts.responses.get(key), is_transcript=key in texts.transcripts) for key in keys]
    return [pool.code(texts.instructions.get(item)), *sides, [[o, judge, pool.code(said)] for o, judge, said in words]]


def _numbers(values: pd.Series) -> list[float | None]:
    """Convert a column to floats with None for NaN."""
    return [None if np.isnan(value) else round(float(value), 3) for value in values.to_numpy(dtype=float)]
