"""Rows of a file that are left out because they cannot be a battle or a score."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from podium.errors import DataError

LARGEST_SHARE = 0.02
"""Largest share of the rows of each model that may be left out."""
LONGEST_CONTENT = 2000
"""Number of first characters of a malformed row that are kept."""


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that is left out if such rows are few.

    Attributes:
        error: the error that the row causes if such rows are not few. It names the place of the
            row, and the value.
        content: the beginning of a malformed row, in which names of models are looked for; empty if
            `model` is known.
        model: the model that plays against itself; None for a malformed row.
        problem: what is wrong with this row alone; empty if the error says no more than that.
    """

    error: DataError
    content: str = ""
    model: str | None = None
    problem: str = ""

    def is_of(self, name: str) -> bool:
        """Return whether the row is one of a model.

        For a malformed row, whose models are unknown: whether its content contains the name.
        """
        if self.model is None:
            return name in self.content
        return name == self.model


def sort_by_place(bad_rows: Iterable[BadRow]) -> list[BadRow]:
    """Return bad rows in the order of the file, by the numbers in their places (`row 7`).

    Rows without a place come first.
    """

    def numbers_of_place(bad: BadRow) -> list[int]:
        """Return the numbers in the place of a bad row."""
        return [int(number) for number in re.findall(r"\d+", bad.error.row or "")]

    return sorted(bad_rows, key=numbers_of_place)


def raise_if_too_many(bad_rows: list[BadRow], good_rows: int) -> None:
    """Raise the error of the first bad row if too many rows of some model must be bad.

    A bad row is one of at least one model, and each row is one of at most two. So if more than
    twice `LARGEST_SHARE` of all rows are bad, more than `LARGEST_SHARE` of the rows of some model
    are, whichever models the bad rows name.

    Args:
        bad_rows: the bad rows of a file.
        good_rows: the number of its other rows.
    """
    if len(bad_rows) > 2 * LARGEST_SHARE * (len(bad_rows) + good_rows):
        raise bad_rows[0].error
