"""Select the battles that a page lists.

Battles on which orders or judges disagree come first, then a random sample of the others.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from podium.data.battles import Battles
from podium.data.human_labels import is_turned, matchup_frame
from podium.responses.transcripts import read_pieces
from podium.show.page.sources import BattleTexts
from podium.text import as_text
from podium.wording import join_names, plural, quantity

MOST_LISTED = 5000
"""A page lists at most this many battles."""
LONGEST_TEXT = 20_000
"""A page cuts a longer text after this many characters."""
LARGEST_POOL = 12_000_000
"""Once the texts of a page have this many characters in all, further texts are left out."""
OTHER_ORDER = {"ab": "ba", "ba": "ab"}
"""The order of the two responses, by their order before models a and b are exchanged."""
CHANCE = ""
"""Kind of a battle without a disagreement, which is listed only if it is drawn at random."""
ORDERS = "the two orders disagree"
"""Kind of a battle whose two orders have different winners; the page shows this text."""
JUDGES = "judges disagree"
"""Kind of a battle on which two judges prefer different models; the page shows this text."""
HUMANS = "judge and humans disagree"
"""Kind of a battle on which judge and humans prefer different models; the page shows this text."""
BOTH_ORDERS = ("same", "half", "flip")
"""Values of the column `swap` of battles whose two orders were parsed."""
WHO_DISAGREES = {ORDERS: "the two orders", JUDGES: "the judges", HUMANS: "judge and humans"}
"""Who names different winners, by kind of disagreement."""


@dataclass(frozen=True, slots=True)
class ListedBattles:
    """The battles that a page lists.

    Attributes:
        rows: a row per battle, disagreements first. Their key `why` says which disagreement.
        pool: the distinct texts and transcripts. The rows refer to a text by its index, -1 if
            there is none.
        total: number of all battles.
        disagreeing: number of all battles on which orders, judges, or judge and humans disagree.
        compared: number of all battles on which a kind of disagreement could be seen, by kind;
            kinds that could be seen on no battle are left out.
        cut: number of texts that were shortened or left out.
    """

    rows: Sequence[Mapping[str, Any]]
    pool: Sequence[Any]
    total: int
    disagreeing: int
    cut: int
    compared: Mapping[str, int] = field(default_factory=dict)

    @property
    def agreement(self) -> str:
        """One sentence on disagreements about the winner.

        The sentence says how many battles have a disagreement and come first. If none has one, it
        says what was compared. If nothing could be compared, it says this.
        """
        if not self.compared:
            return (
                "No battle was judged in two orders, by two judges or by humans, so no "
                "disagreement can be seen."
            )
        if self.disagreeing:
            who = join_names([WHO_DISAGREES[kind] for kind in self.compared], "or")
            return f"Battles on which {who} disagree come first: {self.disagreeing:,}."
        compared = [
            f"{WHO_DISAGREES[kind]} ({number:,} {plural('battle', number)})"
            for kind, number in self.compared.items()
        ]
        return (
            f"No disagreement on a winner was found where it can be seen: {join_names(compared)}."
        )


def list_battles(
    battles: Battles, judgments: Battles, texts: BattleTexts, seed: int = 0
) -> ListedBattles:
    """Select at most 5,000 battles: disagreements, then a random sample of the others.

    If there are more disagreements, a random sample of them is listed. Both kinds are listed in
    the order of the table.

    Args:
        battles: the battles, with the judgments of both orders merged.
        judgments: the same battles before merging, with one row per judgment.
        texts: instructions, responses and replies.
        seed: seed of the sample.
    """
    table = battles.table
    why = _kinds_of_disagreement(battles)
    # Disagreements are chosen first, and battles of one kind at random (the last key of lexsort
    # sorts first). The chosen battles are then in the order of the table, disagreements first.
    random_keys = np.random.default_rng(seed).random(len(table))
    order = np.lexsort([random_keys, why == CHANCE])
    in_table_order = np.sort(order[:MOST_LISTED])
    is_by_chance = why[in_table_order] == CHANCE
    listed_rows = np.concatenate([in_table_order[~is_by_chance], in_table_order[is_by_chance]])
    rows = table.iloc[listed_rows]
    no_values = [None] * len(rows)
    columns: dict[str, Iterable[Any]] = {}
    for name in ("item", "category", "reason"):
        columns[name] = as_text(rows[name]) if name in rows else no_values
    columns["a"] = list(rows["model_a"])
    columns["b"] = list(rows["model_b"])
    columns["why"] = map(str, why[listed_rows])
    for name in ("credit", "human"):
        columns[name] = _rounded_numbers(rows[name]) if name in rows else no_values
    columns["orders"] = _list_judgments(judgments, rows)
    response_numbers: Iterable[int] = [1] * len(rows)
    if "response" in rows:
        response_numbers = rows["response"].fillna(1).astype(int)
    pool = TextPool(battles.short_judges)
    listed = []
    for number, *cells in zip(response_numbers, *columns.values(), strict=True):
        row = dict(zip(columns, cells, strict=True))
        codes = _pool_texts(texts, pool, str(row["item"] or ""), number, row["a"], row["b"])
        listed.append(row | codes)
    return ListedBattles(
        rows=listed,
        pool=pool.shown,
        total=len(table),
        disagreeing=int((why != CHANCE).sum()),
        cut=pool.cut,
        compared=_numbers_compared(battles),
    )


class TextPool:
    """Collects distinct texts and numbers them (the code of a text), up to a total size.

    Attributes:
        short_judges: short names of judges for people, by name.
        codes: the code of each text, as it is shown.
        shown: the text, or the pieces of a transcript, at the index of its code.
        cut: number of texts that were shortened or left out. A text that is left out counts each
            time that its code is asked for.
    """

    def __init__(self, short_judges: Mapping[str, str]) -> None:
        self.short_judges = short_judges
        self.codes: dict[str, int] = {}
        self.shown: list[Any] = []
        self.cut = 0
        self._size = 0

    def code(self, text: str | None, *, is_transcript: bool = False) -> int:
        """Return the code of a text, and add the text if there is room.

        A text of more than `LONGEST_TEXT` characters is shortened. Transcripts are not shortened
        here, because they have a limit of their own.

        Returns:
            The code; -1 if the text is None or empty, or if there is no room for it.
        """
        if not text:
            return -1
        excess = 0 if is_transcript else len(text) - LONGEST_TEXT
        shown_text = text
        if excess > 0:
            shown_text = f"{text[:LONGEST_TEXT]}\n\n[{quantity(excess, 'more character')}]"
        if shown_text in self.codes:
            return self.codes[shown_text]
        has_room = self._size + len(shown_text) <= LARGEST_POOL
        if excess > 0 or not has_room:
            self.cut += 1
        if not has_room:
            return -1
        self._size += len(shown_text)
        self.codes[shown_text] = len(self.codes)
        self.shown.append(read_pieces(text) if is_transcript else shown_text)
        return self.codes[shown_text]


def _kinds_of_disagreement(battles: Battles) -> np.ndarray:
    """Return the kind of disagreement on each battle, as an array of texts of shape (battles,).

    The kind is `ORDERS` if the order decides the winner, else `HUMANS` if judge and humans prefer
    different models, else `JUDGES` if two judges do, else `CHANCE`. Ties disagree with nothing.
    """
    table = battles.table
    why = np.full(len(table), CHANCE, dtype=object)
    preferred_side = np.sign(table["credit"].to_numpy(dtype=float) - 0.5)
    if len(battles.judges) > 1:
        keys = [column for _, column in matchup_frame(battles).items()]
        turned_side = pd.Series(
            np.where(is_turned(table), -preferred_side, preferred_side), table.index
        )
        # The sign of each judge's mean verdict counts, so a judge that contradicts itself does
        # not count as a disagreement of two judges.
        by_judge = turned_side.groupby([*keys, table["judge"].astype(str)], sort=False)
        matchups = by_judge.transform("mean").groupby(keys, sort=False)
        judges_differ = (matchups.transform("max") > 0) & (matchups.transform("min") < 0)
        why[judges_differ.to_numpy()] = JUDGES
    if "human" in table:
        side_preferred_by_humans = np.sign(table["human"].to_numpy(dtype=float) - 0.5)
        why[preferred_side * side_preferred_by_humans < 0] = HUMANS
    if "swap" in table:
        why[(table["swap"] == "flip").to_numpy()] = ORDERS
    return why


def _numbers_compared(battles: Battles) -> dict[str, int]:
    """Return the number of battles on which a kind of disagreement can be seen, by kind.

    A disagreement can be seen for `ORDERS` if both orders are parsed, for `JUDGES` if two judges
    gave a credit to the matchup, and for `HUMANS` if both judge and humans did. Kinds without such
    a battle are left out.
    """
    table = battles.table
    has_credit = table["credit"].notna()
    numbers = {}
    if "swap" in table:
        numbers[ORDERS] = int(table["swap"].isin(BOTH_ORDERS).sum())
    if len(battles.judges) > 1:
        keys = [column for _, column in matchup_frame(battles).items()]
        judge = table["judge"].astype(str).where(has_credit)
        judges_of_battle = judge.groupby(keys, sort=False).transform("nunique")
        numbers[JUDGES] = int((judges_of_battle > 1).sum())
    if "human" in table:
        numbers[HUMANS] = int((has_credit & table["human"].notna()).sum())
    return {kind: number for kind, number in numbers.items() if number}


def _list_judgments(judgments: Battles, rows: pd.DataFrame) -> list[list[list[Any]]]:
    """Return the judgments behind each battle.

    Order and credit are turned to the battle's model a. The credit is None if the judgment is
    unparsed, and the reason says why. A battle's list is empty if judgments have no items or no
    orders.

    Args:
        judgments: the judgments, one per order.
        rows: the battles, as rows of their table.

    Returns:
        A list for each row of `rows`, in their order. A judgment is a list of three: order (a text,
        empty if unknown), credit of model_a, and reason.
    """
    key_columns = [
        name
        for name in ("item", "judge", "repeat", "response")
        if name in rows and name in judgments.table
    ]
    if "item" not in key_columns or "order" not in judgments.table:
        return [[] for _ in range(len(rows))]
    keys_of_rows = _battle_keys(rows, key_columns)
    judgments_by_key: dict[tuple[Any, ...], list[list[Any]]] = {key: [] for key in keys_of_rows}
    on_items = judgments.table[judgments.table["item"].isin(rows["item"])]
    reasons: Iterable[str | None] = [None] * len(on_items)
    if "reason" in on_items:
        reasons = as_text(on_items["reason"])
    credits = _rounded_numbers(on_items["credit"])
    for key, order, credit, reason in zip(
        _battle_keys(on_items, key_columns), on_items["order"], credits, reasons, strict=True
    ):
        if key in judgments_by_key:
            judgments_by_key[key].append([str(order or ""), credit, reason])
        # The same judgment belongs to a battle that names the two models in the other order.
        *about_judgment, model_a, model_b = key
        turned_key = (*about_judgment, model_b, model_a)
        if turned_key in judgments_by_key:
            turned_order = OTHER_ORDER.get(order, str(order or ""))
            turned_credit = None if credit is None else round(1 - credit, 3)
            judgments_by_key[turned_key].append([turned_order, turned_credit, reason])
    return [judgments_by_key[key] for key in keys_of_rows]


def _battle_keys(table: pd.DataFrame, names: list[str]) -> list[tuple[Any, ...]]:
    """Return a tuple per row: the given columns as text, then model_a and model_b.

    An empty cell is None.
    """
    columns = [as_text(table[name]).to_numpy(object) for name in (*names, "model_a", "model_b")]
    return list(zip(*columns, strict=True))


def _pool_texts(
    texts: BattleTexts, pool: TextPool, item: str, number: int, a: str, b: str
) -> dict[str, Any]:
    """Add the texts of a battle to `pool`, and return their codes by column of the page.

    Args:
        texts: the texts of all battles.
        pool: the pool, which is changed in place.
        item: the battle's item.
        number: number of the two responses, from 1.
        a: name of model a.
        b: name of model b.

    Returns:
        The code of the instruction, of the response of model a (`first`) and of model b
        (`second`), and for each reply its order, judge and code (`words`). Codes are -1 for texts
        that are unknown or left out.
    """
    replies = list(texts.replies.get((item, number, a, b), []))
    for order, judge, reply in texts.replies.get((item, number, b, a), []):
        replies.append((OTHER_ORDER.get(order, order), judge, reply))
    key_a = (item, number, a)
    key_b = (item, number, b)
    first = pool.code(texts.responses.get(key_a), is_transcript=(key_a in texts.transcripts))
    second = pool.code(texts.responses.get(key_b), is_transcript=(key_b in texts.transcripts))
    coded_replies = [
        (order, pool.short_judges.get(judge, judge), pool.code(reply))
        for order, judge, reply in replies
    ]
    return {
        "instruction": pool.code(texts.instructions.get(item)),
        "first": first,
        "second": second,
        "words": coded_replies,
    }


def _rounded_numbers(values: pd.Series) -> list[float | None]:
    """Convert a column to a list of floats with three decimals, and NaN to None."""
    return [
        None if np.isnan(value) else round(float(value), 3)
        for value in values.to_numpy(dtype=float)
    ]
