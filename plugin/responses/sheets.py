"""A file's records on their way to answers, and the words in which a cell is refused."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from podium.errors import DataError
from podium.responses.answers import QuestionRow, entrant_names
from podium.text import text_of


@dataclass(frozen=True, slots=True)
class Sheet:
    """One file's content.

    Attributes:
        path: where it is.
        label: the user's word for the entrant, or None.
        frame: its records; the index names the rows.
    """

    path: Path
    label: str | None
    frame: pd.DataFrame

    @property
    def columns(self) -> frozenset[str]:
        """Names of the columns."""
        return frozenset(map(str, self.frame.columns))

    def records(self) -> Iterator["Record"]:
        """Yield the records with their places."""
        rows = self.frame.to_dict("records")
        for place, cells in zip(self.frame.index, rows, strict=True):
            yield Record(str(self.path), f"{self.frame.index.name} {place}", {str(key): cells[key] for key in cells})

    def entrants(self, column: str | None) -> dict[str | None, str]:
        """Return what to call each entrant that a column names; see `entrant_names`."""
        named = [text_of(value) for value in self.frame[column]] if column else []
        return entrant_names(named, self.label, stem(self.path))


@dataclass(frozen=True, slots=True)
class Record:
    """One row of a file."""

    source: str
    row: str
    cells: Mapping[str, Any]

    def name(self, column: str | None) -> str | None:
        """Return a cell as a name or id; None where it is empty or there is no such column."""
        name = None if column is None else text_of(self.cells.get(column))
        return None if name is None else self._encodable(name)

    def text(self, column: str | None) -> str | None:
        """Return a cell that must hold text; None where it is empty or there is no such column.

        Raises:
            DataError: it holds something else.
        """
        return None if column is None else self.as_text(column, self.cells.get(column))

    def as_text(self, name: str, value: Any) -> str | None:
        """Return a value that must be text, or None where it is empty.

        Raises:
            DataError: it is something else, or holds half a character.
        """
        if isinstance(value, str):
            return self._encodable(value)
        if is_empty(value):
            return None
        raise self.error(f"{name} is not text: {str(value)[:60]!r}", f"write the {name} as a string")

    def _encodable(self, words: str) -> str:
        try:
            words.encode()
        except UnicodeEncodeError as error:
            problem = f"half a surrogate pair, which no text can hold: {words[error.start]!r}"
            raise self.error(
                problem, "replace it by U+FFFD, or write the response again with the whole character"
            ) from None
        return words

    def question(self, item: str, instruction: str | None, **more: Any) -> QuestionRow:
        """Return a question that knows this place."""
        return QuestionRow(item, instruction, source=self.source, row=self.row, **more)

    def error(self, problem: str, remedy: str) -> DataError:
        """Return an error that names this place."""
        return DataError(problem, remedy=remedy, source=self.source, row=self.row)


def is_empty(value: Any) -> bool:
    """Whether a cell holds nothing: null, or the NaN that stands for it."""
    return value is None or (isinstance(value, float) and value != value) or value is pd.NA


def stem(path: Path) -> str:
    """Return a file's name without what says its container.

    >>> stem(Path("runs/wren-1.5.jsonl.gz"))
    'wren-1.5'
    """
    name = path.name.removesuffix(".gz")
    return name.rpartition(".")[0] or name
