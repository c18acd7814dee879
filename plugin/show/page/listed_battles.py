"""Select the battles that a page lists.

Battles on which orders or judges disagree come first, then a random sample of the others.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from podium.data.battles import Battles
from podium.data.human_labels import is_turned, matchup_frame
from podium.responses.transcripts import read_pieces
from podium.show.page.sources import BattleTexts
from podium.text import as_text

MOST = 5000
"""A page lists at most this many battles."""
LONGEST = 20_000
"""A page cuts a longer text after this many characters."""
LARGEST = 12_000_000
"""Once the texts of a page have this many characters in all, further texts are left out."""
TURNED = {"ab": "ba", "ba": "ab"}
"""The order of the two responses after models a and b are exchanged."""
# Why a battle is listed; it is shown on the page. `CHANCE` means that it was drawn at random.
CHANCE = ""
ORDERS = "the two orders disagree"
JUDGES = "judges disagree"
HUMANS = "judge and humans disagree"


@dataclass(frozen=True, slots=True)
class ListedBattles:
    """The battles that a page lists.

    Attributes:
        rows: a row per battle.
        pool: the distinct texts. The rows refer to a text by its index.
        total: number of all battles.
        disagreeing: number of all battles on which orders, judges, or judge and humans disagree.
        cut: number of texts that were shortened or left out.
    """

    rows: Sequence[Mapping[str, Any]]
    pool: Sequence[Any]
    total: int
    disagreeing: int
    cut: int


def list_battles(
    battles: Battles, judgments: Battles, texts: BattleTexts, seed: int = 0
) -> ListedBattles:
    """Select at most 5,000 battles: disagreements, then a random sample of the others.

    Args:
        battles: the battles, with the judgments of both orders merged.
        judgments: the same battles before merging, with one row per judgment.
        texts: instructions, responses and replies.
        seed: seed of the sample.
    """
    table = battles.table
    why = _disagreements(battles)
    # Battles with a disagreement come first, and each kind is in random order (the last key of
    # lexsort sorts first).
    order = np.lexsort([np.random.default_rng(seed).random(len(table)), why == CHANCE])
    chosen = np.sort(order[:MOST])
    chosen = chosen[np.argsort(why[chosen] == CHANCE, kind="stable")]
    rows = table.iloc[chosen]
    nothing = [None] * len(rows)
    columns: dict[str, Iterable[Any]] = {}
    for name in ("item", "category", "reason"):
        columns[name] = as_text(rows[name]) if name in rows else nothing
    columns["a"] = list(rows["model_a"])
    columns["b"] = list(rows["model_b"])
    columns["why"] = map(str, why[chosen])
    for name in ("credit", "human"):
        columns[name] = _numbers(rows[name]) if name in rows else nothing
    columns["orders"] = _list_judgments(judgments, rows)
    numbers = rows["response"].fillna(1).astype(int) if "response" in rows else [1] * len(rows)
    pool = TextPool()
    listed = []
    for number, *cells in zip(numbers, *columns.values(), strict=True):
        row = dict(zip(columns, cells, strict=True))
        codes = _pool_texts(texts, pool, str(row["item"] or ""), number, row["a"], row["b"])
        listed.append(row | codes)
    return ListedBattles(listed, pool.shown, len(table), int((why != CHANCE).sum()), pool.cut)


class TextPool:
    """Collects distinct texts and numbers them (the code of a text), up to a total size.

    Attributes:
        codes: the code of each text.
        shown: the text, or the pieces of a transcript, at the index of its code.
        cut: number of texts that were shortened or left out.
    """

    def __init__(self) -> None:
        self.codes: dict[str, int] = {}
        self.shown: list[Any] = []
        self.cut = 0
        self._size = 0

    def code(self, text: str | None, *, is_transcript: bool = False) -> int:
        """Return the code of a text, and add the text if it is new and there is room.

        The code is -1 if there is no text or no room. Transcripts are not shortened here, because
        they have a limit of their own.
        """
        if not text:
            return -1
        more = 0 if is_transcript else len(text) - LONGEST
        shown = text if more <= 0 else f"{text[:LONGEST]}\n\n[{more:,} more characters]"
        if shown not in self.codes:
            is_full = self._size + len(shown) > LARGEST
            self.cut += is_full or len(shown) != len(text)
            if is_full:
                return -1
            self._size += len(shown)
            self.codes[shown] = len(self.codes)
            self.shown.append(read_pieces(text) if is_transcript else shown)
        return self.codes[shown]


def _disagreements(battles: Battles) -> np.ndarray:
    """Return the kind of disagreement on each battle, as an array of texts of shape (battles,).

    The text is empty (`CHANCE`) if there is no disagreement.
    """
    table = battles.table
    why = np.full(len(table), CHANCE, dtype=object)
    side = np.sign(table["credit"].to_numpy(dtype=float) - 0.5)
    if len(battles.judges) > 1:
        keys = [column for _, column in matchup_frame(battles).items()]
        turned = pd.Series(np.where(is_turned(table), -side, side), table.index)
        # The sign of each judge's mean verdict counts, so a judge that contradicts itself does
        # not count as a disagreement of two judges.
        said = turned.groupby([*keys, table["judge"].astype(str)], sort=False)
        groups = said.transform("mean").groupby(keys, sort=False)
        judges_differ = (groups.transform("max") > 0) & (groups.transform("min") < 0)
        why[judges_differ.to_numpy()] = JUDGES
    if "human" in table:
        side_of_humans = np.sign(table["human"].to_numpy(dtype=float) - 0.5)
        why[side * side_of_humans < 0] = HUMANS
    if "swap" in table:
        why[(table["swap"] == "flip").to_numpy()] = ORDERS
    return why


def _list_judgments(judgments: Battles, rows: pd.DataFrame) -> list[list[list[Any]]]:
    """Return the judgments of each battle as lists of order, credit of model_a, and reason.

    The reason says why a judgment is unparsed; it is None for others.
    """
    known = [
        name
        for name in ("item", "judge", "repeat", "response")
        if name in rows and name in judgments.table
    ]
    if "item" not in known or "order" not in judgments.table:
        return [[] for _ in range(len(rows))]
    listed = _battle_keys(rows, known)
    orders: dict[tuple[Any, ...], list[list[Any]]] = {key: [] for key in listed}
    wanted = judgments.table[judgments.table["item"].isin(rows["item"])]
    reasons = as_text(wanted["reason"]) if "reason" in wanted else [None] * len(wanted)
    credits = _numbers(wanted["credit"])
    for key, order, credit, reason in zip(
        _battle_keys(wanted, known), wanted["order"], credits, reasons, strict=True
    ):
        turned_credit = None if credit is None else round(1 - credit, 3)
        orders.get(key, []).append([str(order or ""), credit, reason])
        # The same judgment belongs to a battle that names the two models in the other order.
        orders.get((*key[:-2], key[-1], key[-2]), []).append(
            [TURNED.get(order, str(order or "")), turned_credit, reason]
        )
    return [orders[key] for key in listed]


def _battle_keys(table: pd.DataFrame, names: list[str]) -> list[tuple[Any, ...]]:
    """Return the given columns and both models of each row as tuples of text."""
    columns = [as_text(table[name]).to_numpy(object) for name in (*names, "model_a", "model_b")]
    return list(zip(*columns, strict=True))


def _pool_texts(
    texts: BattleTexts, pool: TextPool, item: str, number: int, a: str, b: str
) -> dict[str, Any]:
    """Add the texts of a battle to `pool`, and return their codes by column of the page."""
    words = list(texts.words.get((item, number, a, b), []))
    for order, judge, reply in texts.words.get((item, number, b, a), []):
        words.append((TURNED.get(order, order), judge, reply))
    key_a = (item, number, a)
    key_b = (item, number, b)
    first = pool.code(texts.responses.get(key_a), is_transcript=key_a in texts.transcripts)
    second = pool.code(texts.responses.get(key_b), is_transcript=key_b in texts.transcripts)
    said = [(order, judge, pool.code(text)) for order, judge, text in words]
    return {
        "instruction": pool.code(texts.instructions.get(item)),
        "first": first,
        "second": second,
        "words": said,
    }


def _numbers(values: pd.Series) -> list[float | None]:
    """Convert a column to floats with three decimals, and NaN to None."""
    return [
        None if np.isnan(value) else round(float(value), 3)
        for value in values.to_numpy(dtype=float)
    ]
