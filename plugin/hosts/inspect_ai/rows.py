"""Rows that become a table, kept column by column: a hundred thousand of them need little memory."""

from collections.abc import Mapping
from typing import Any

import pandas as pd


class Rows:
    """Rows as they come, of which each may lack columns that others have.

    Attributes:
        count: how many there are.
    """

    def __init__(self) -> None:
        self.count = 0
        self._columns: dict[str, list[Any]] = {}
        self._texts: dict[str, str] = {}

    def add(self, row: Mapping[str, Any]) -> None:
        """Add a row."""
        for name, value in row.items():
            column = self._columns.setdefault(name, [])
            column.extend([None] * (self.count - len(column)))
            # Each text once: a log repeats the name of its judge in every verdict.
            column.append(self._texts.setdefault(value, value) if isinstance(value, str) else value)
        self.count += 1

    def seen(self, name: str) -> list[Any]:
        """Return the distinct values of a column in the order of their first appearance."""
        return list(dict.fromkeys(self._columns.get(name, ())))

    def frame(self) -> pd.DataFrame:
        """Return the table; its index counts the rows from 1."""
        index = pd.RangeIndex(1, self.count + 1, name="row")
        whole = {name: [*own, *[None] * (self.count - len(own))] for name, own in self._columns.items()}
        return pd.DataFrame(whole, index=index)
