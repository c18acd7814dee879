"""Further columns of items, such as a passage or a level, in the logs and samples of hosts.

Of the metadata of samples and the fields of documents, those are kept that divide the items. With
them, a ranking can check whether items depend on each other in groups, and take `--cluster` and
`--by`, even if no option named a column when the models were run.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from podium.data.battles import COLUMNS
from podium.text import text_of

if TYPE_CHECKING:
    import pandas as pd

COLUMNS_OF_ROWS = (
    "item",
    "model",
    "model_a",
    "model_b",
    "credit",
    "score",
    "margin",
    "repeat",
    "order",
)
"""Columns that cannot be groups of items, because they name the item or differ within it."""
MOST_EMPTY = 0.1
"""With a larger share of items without a group, a column is not taken for one of groups."""
FEWEST_PER_GROUP = 1.5
"""A column groups items only if it has at least this number of items per value."""
COLUMNS_OF_LOGS = {
    "attempts",
    "cost",
    "first",
    "label",
    "mass",
    "prompt_hash",
    "reply",
    "schema",
    "ungraded",
}
"""Columns of the verdicts in a log of podium that are no columns of battles."""
COLUMNS_OF_VERDICTS = {*COLUMNS_OF_ROWS, *COLUMNS, *COLUMNS_OF_LOGS} - {"category"}
"""Columns that cannot be groups of items, as they are those of verdicts in a tournament's log."""
LONGEST_VALUE = 80
"""Largest number of characters of a value that is kept. Longer texts are contents, not labels."""
NOT_OF_ITEMS = COLUMNS_OF_VERDICTS | {"task", "source", "turn", "group"}
"""Columns that are not kept: those of verdicts, and those with another meaning in readers."""


def short_values(cells: Mapping[str, Any]) -> dict[str, str]:
    """Return the values of a row that are whole numbers or short texts of one line, as text.

    Columns of verdicts are left out (`NOT_OF_ITEMS`), and so are booleans, floats such as 3.0,
    texts of more than `LONGEST_VALUE` characters, and texts with a sign that is not printable, such
    as a tab.

    Args:
        cells: the values by column.
    """
    values = {}
    for column, value in cells.items():
        is_label = isinstance(value, str | int) and not isinstance(value, bool)
        if not is_label or column in NOT_OF_ITEMS:
            continue  # such as a list, a flag or a number with decimals
        text = text_of(value)
        if text is not None and len(text) <= LONGEST_VALUE and text.isprintable():
            values[column] = text
    return values


def agreed_values(rows: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return the columns that have one value in all rows of an item, with this value.

    A row without the column does not count.

    Args:
        rows: the short values of each row of the item.
    """
    first_values: dict[str, str] = {}
    differing = set()
    for row in rows:
        for column, value in row.items():
            if first_values.setdefault(column, value) != value:
                differing.add(column)
    return {column: value for column, value in first_values.items() if column not in differing}


def values_by_item(
    columns: Mapping[str, Mapping[str, Sequence[str]]],
) -> dict[str, dict[str, str]]:
    """Return the values of each item by column, from the items of each value.

    Items without a value in any column are left out.

    Args:
        columns: the items of each value, by column and value, as `dividing_columns` returns them.
    """
    values: dict[str, dict[str, str]] = {}
    for column, items_by_value in columns.items():
        for value, items in items_by_value.items():
            for item in items:
                values.setdefault(item, {})[column] = value
    return values


def dividing_columns(
    columns_by_item: Mapping[str, Mapping[str, str]],
) -> dict[str, dict[str, list[str]]]:
    """Return the columns that divide the items: groups such as passages, and categories.

    Such a column has at least two values, at least `FEWEST_PER_GROUP` items per value, and no value
    in at most the share `MOST_EMPTY` of the items.

    Args:
        columns_by_item: the value of each column of an item, by item.

    Returns:
        The items of each value, by column and value.
    """
    items_by_column: dict[str, dict[str, list[str]]] = {}
    for item, values in columns_by_item.items():
        for column, value in values.items():
            items_by_column.setdefault(column, {}).setdefault(value, []).append(item)
    dividing = {}
    for column, items_by_value in items_by_column.items():
        held = sum(map(len, items_by_value.values()))
        is_held = held >= (1 - MOST_EMPTY) * len(columns_by_item)
        has_groups = len(items_by_value) > 1 and held >= FEWEST_PER_GROUP * len(items_by_value)
        if is_held and has_groups:
            dividing[column] = items_by_value
    return dividing


class ItemColumns:
    """Collects the short values of items from rows, and finds the columns that divide the items."""

    def __init__(self) -> None:
        self._rows_by_item: dict[str, list[Mapping[str, str]]] = {}

    def add(self, item: str, cells: Mapping[str, Any]) -> None:
        """Add a row of an item, such as a sample; only its short values are kept (`short_values`).

        Args:
            item: the item.
            cells: the values of the row, by column.
        """
        self._rows_by_item.setdefault(item, []).append(short_values(cells))

    def add_to(self, frame: "pd.DataFrame") -> list[str]:
        """Add the columns that divide the items to a table, and return the names of those added.

        A value counts if all rows of an item agree on it. The table has a column `item` and is
        changed in place; a column that it has already is kept as it is.
        """
        rows = {item: agreed_values(rows) for item, rows in self._rows_by_item.items()}
        return add_columns(frame, dividing_columns(rows))


def add_columns(
    frame: "pd.DataFrame", columns: Mapping[str, Mapping[str, Sequence[str]]]
) -> list[str]:
    """Add columns of items to a table, unless it has a column of the name, and return their names.

    Args:
        frame: a table with a column `item`. It is changed in place. Items without a value have NaN.
        columns: the items of each value, by column and value, as `dividing_columns` returns them.
    """
    added = []
    for column, items_by_value in columns.items():
        if column not in frame:
            of_item = {item: value for value, items in items_by_value.items() for item in items}
            frame[column] = frame["item"].map(of_item)
            added.append(column)
    return added
