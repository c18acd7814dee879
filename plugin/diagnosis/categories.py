"""Columns that sort items into categories, such as tasks, languages or topics."""

from collections.abc import Iterator

import numpy as np

from podium.data.battles import COLUMNS, REPLIES, Battles, criterion_columns
from podium.data.counting.relations import ROW
from podium.diagnosis.column_names import is_of_categories

NAMED = ("category", "task", "document_category")
"""Columns of categories in battles of any source, and of lm-eval's documents. They come first."""
MOST_OF_NAMED = 60
"""Largest number of categories in a column that is one by its name. MMLU has 57 subjects."""
MOST_CATEGORIES = 9
"""Largest number of categories in a column with another name. A column with more may hold groups of
items (`check_groups`)."""
FEWEST_BATTLES = 1.5
"""A column with another name holds categories only if items have at least this number of battles on
average. If an item has one battle, its verdict may be the reason for the value."""
NO_CATEGORIES = frozenset({*COLUMNS, *REPLIES, ROW, "source", "turn"}) - {"category"}
"""Columns that are no categories, or are known to have another meaning."""


def category_columns(battles: Battles, is_counted: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the columns that sort items into categories, with the value of each battle.

    Such a column has one value in all battles of an item, and at least two values. It has at most
    `MOST_OF_NAMED` values if its name is one of categories, such as `category` or `subject`, else
    at most `MOST_CATEGORIES`. Columns with other names than `NAMED` are yielded only if items have
    `FEWEST_BATTLES` on average. Columns with another known meaning (`NO_CATEGORIES`) and criteria
    are left out. Battles without a value have None. Of columns that sort alike, the first is
    yielded.

    Args:
        battles: the battles.
        is_counted: mask of the battles with an item that are looked at, shape (battles,).

    Yields:
        Name of the column, and the values as text, shape (known battles,).
    """
    _, item = np.unique(battles.item_codes[is_counted], return_inverse=True)
    if not len(item):
        return
    items = int(item.max()) + 1
    has_enough_battles = len(item) >= FEWEST_BATTLES * items
    others = battles.columns - NO_CATEGORIES - {*NAMED, *criterion_columns(battles.columns)}
    seen = set[bytes]()
    for name in (*NAMED, *sorted(others)):
        is_named = name in NAMED
        if name not in battles.columns:
            continue
        if not is_named and not has_enough_battles:
            continue
        texts = battles.rows.texts_of(name)[is_counted]
        code = _codes_by_first_row(texts)
        categories = int(code.max()) + 1
        most = MOST_OF_NAMED if is_of_categories(name) else MOST_CATEGORIES
        if not 2 <= categories <= most:
            continue
        code_of_item = np.full(int(item.max()) + 1, -1)
        # Of several codes of an item, the last remains, so that the others differ from it.
        code_of_item[item] = code
        has_several_codes = (code_of_item[item] != code).any()
        # Bytes can be in a set, arrays cannot.
        partition = code_of_item.tobytes()
        if has_several_codes or partition in seen:
            continue
        seen.add(partition)
        yield name, texts


def _codes_by_first_row(texts: np.ndarray) -> np.ndarray:
    """Number the distinct texts by their first row, from 0; -1 for None. Shape (texts,)."""
    distinct = dict.fromkeys(text for text in texts.tolist() if text is not None)
    number_of = {text: number for number, text in enumerate(distinct)}
    return np.array([number_of.get(text, -1) for text in texts.tolist()], dtype=np.int64)
