"""Words of sentences: plurals, lists of names, and what is typed; without libraries of numbers."""

import shlex
from collections.abc import Sequence

MOST_NAMES = 5
"""Names that a sentence has at most."""


def plural(noun: str, number: float) -> str:
    """Return the noun in singular or plural for a number."""
    return noun if number == 1 else f"{noun}s"


def some(names: Sequence[object], separator: str = ", ", most: int = 20) -> str:
    """Join the first names and count the rest."""
    rest = [f"and {len(names) - most} more"] if len(names) > most else []
    return separator.join([*map(str, names[:most]), *rest])


def join_names(names: Sequence[str], word: str = "and") -> str:
    """Join up to five names in a sentence; of more, name four and count the rest."""
    if len(names) > MOST_NAMES:
        return some(names, most=MOST_NAMES - 1)
    return f" {word} ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def join_item_names(names: Sequence[str], *, are_rows: bool) -> str:
    """Join names of items in a sentence; those of rows without an item say that they are rows."""
    joined = join_names(names)
    return joined if are_rows else f"{plural('item', len(names))} {joined}"


def item_option(column: str) -> str:
    """Return the value of `--columns` that names a column as the item, quoted for a shell."""
    return shlex.quote(f"item={column}")
