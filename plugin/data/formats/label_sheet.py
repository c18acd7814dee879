"""The label sheet: a CSV file in which humans write verdicts.

A row has an instruction and two responses. The models are hidden in an encoded text, the token.
"""

import base64
import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from podium.data.formats.verdict_cells import parse_words, reasons_where
from podium.errors import DataError
from podium.printable import escape_formula, printable
from podium.scorers.judge_record import JudgeRecord
from podium.text import as_text, parse_json

HUMANS = JudgeRecord("human", kind="human")
"""The judge of the verdicts in all sheets."""
CREDIT = {"1": 1.0, "2": 0.0, "tie": 0.5}
"""Credit of the model of response 1, by the text in the column `verdict`."""


@dataclass(frozen=True, slots=True)
class SheetRow:
    """One battle to be judged by humans.

    Response 1, of `model_1`, is shown first. Texts that are unknown are empty.

    Attributes:
        response: number of the response of each of the two models to the item, from 1. It is above
            1 only if models gave several responses to an item.
    """

    item: str
    instruction: str
    model_1: str
    model_2: str
    response_1: str
    response_2: str
    response: int = 1


def sheet_table(rows: Sequence[SheetRow]) -> pd.DataFrame:
    """Return the sheet as a table with a row per battle.

    The columns are `item`, `instruction`, `response_1`, `response_2`, `verdict` (empty) and
    `battle`, the token with the item, both models, and the number of the responses if it is not 1.
    Texts are escaped for spreadsheets.
    """
    columns = ["item", "instruction", "response_1", "response_2"]
    texts_of_rows = [(row.item, row.instruction, row.response_1, row.response_2) for row in rows]
    texts = pd.DataFrame(texts_of_rows, columns=columns).map(_escape)
    tokens = []
    for row in rows:
        number = [row.response] if row.response > 1 else []
        battle = json.dumps([row.item, row.model_1, row.model_2, *number]).encode()
        compressed = zlib.compress(battle)
        tokens.append(base64.urlsafe_b64encode(compressed).decode())
    return texts.assign(verdict="", battle=tokens)


def read(records: pd.DataFrame) -> pd.DataFrame:
    """Read a sheet that humans have filled in, as battles with response 1 as model_a.

    A verdict is `1`, `2` or `tie`, in upper or lower case. If it is empty, the battle is unparsed.
    The columns are `item`, `model_a`, `model_b`, `credit`, `reason` and `judge` (`HUMANS`), and
    `response` if any number of responses is above 1.

    Raises:
        DataError: a verdict is another word, a token was changed, or a token belongs to another
            item.
    """
    written = as_text(records["verdict"]).str.strip().str.lower()
    # Spreadsheet programs that store the column as numbers write 1 as 1.0.
    words = written.str.replace(r"\.0$", "", regex=True).rename("verdict").replace("", np.nan)
    remedy = "write 1, 2 or tie, or leave it empty"
    credit, unparsed = parse_words(words, CREDIT, remedy=remedy)
    battles = [_parse_token(str(token), row) for row, token in enumerate(records["battle"], 1)]
    items = as_text(records["item"])
    for row, written_item in enumerate(items, 1):
        item = battles[row - 1][0]
        if written_item not in (item, _escape(item)):
            problem = f"the battle is of item {item!r}, and the row of {written_item!r}"
            remedy = "keep the cells of a row together; the column battle belongs to its item"
            raise DataError(problem, remedy=remedy, row=f"row {row}")
    columns = pd.DataFrame(battles, columns=["item", "model_a", "model_b", "response"])
    if columns["response"].eq(1).all():
        columns = columns.drop(columns="response")
    labels = columns.assign(
        credit=credit, reason=reasons_where(unparsed, "not labelled"), judge=HUMANS.name
    )
    labels.attrs["judges"] = {HUMANS.name: HUMANS}
    return labels


def _escape(text: str) -> str:
    """Escape control characters, except line breaks, and make a formula plain text.

    Every line break becomes a line feed, and one at the end of the text is dropped.
    """
    lines = escape_formula(text).splitlines()
    return "\n".join(map(printable, lines))


def _parse_token(token: str, row: int) -> tuple[str, str, str, int]:
    """Return the item, both models and the number of the responses that a token encodes.

    Raises:
        DataError: the token in this row was changed.
    """
    try:
        parts = parse_json(zlib.decompress(base64.urlsafe_b64decode(token)))
        if len(parts) == 3:
            # The number is written only if it is not 1.
            parts = [*parts, 1]
        item, first, second, number = parts
        return str(item), str(first), str(second), int(number)
    except (TypeError, ValueError, zlib.error):
        problem = f"battle is {token!r}, which is no token of a label sheet"
        remedy = "leave the column battle as `podium label` wrote it"
        raise DataError(problem, remedy=remedy, row=f"row {row}") from None
