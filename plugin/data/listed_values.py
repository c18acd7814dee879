"""Read cells that list several values, such as the categories of a battle."""

import ast
import re

from podium.text import parse_json

PYTHON_TEXTS = re.compile(r"""\[(?:(?:'[^'\\]*'|"[^"\\]*")(?:, ?)?)+\]""")
"""A list of texts as Python or JSON writes it, such as `['math', 'code']`."""


def values_in_cell(cell: str) -> tuple[str, ...]:
    """Return the values that a cell lists, each once; the cell itself if it is no list.

    A list is a JSON list of texts, numbers and booleans, or texts in a list as Python prints them.
    Empty values in it are left out, so that an empty list has no values.
    """
    listed = _listed_in_text(cell) if cell.startswith("[") else None
    if listed is None:
        return (cell,)
    values = [value if isinstance(value, str) else str(value) for value in listed]
    return tuple(dict.fromkeys(value for value in values if value))


def _listed_in_text(text: str) -> list[str | int | float | bool] | None:
    """Return the list that a text has; None if it is no list, or one with other lists or objects.

    Null stands for no value and is left out.
    """
    if PYTHON_TEXTS.fullmatch(text):
        return list(ast.literal_eval(text))
    try:
        parsed = parse_json(text)
    except ValueError:
        return None
    if not isinstance(parsed, list):
        return None
    listed_values = [value for value in parsed if value is not None]
    return (
        listed_values
        if all(isinstance(value, str | int | float) for value in listed_values)
        else None
    )


def is_list(cell: str) -> bool:
    """Return whether a cell is a list of values, also of a single one or of none."""
    return values_in_cell(cell) != (cell,)
