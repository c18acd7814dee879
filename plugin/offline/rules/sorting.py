"""What is to be sorted, or to be listed in alphabetical order."""

import re
from collections.abc import Sequence

from podium.offline.constraint import Constraint
from podium.offline.reading import listed

ALPHABETICAL = re.compile(r"\b(?P<reverse>reverse[d]?\s+)?alphabetical(?:ly)?\b", re.I)
NUMERIC = re.compile(
    r"\b(?:(?P<up>ascending|increasing|smallest (?:first|to largest)|lowest (?:first|to highest))|"
    r"(?P<down>descending|decreasing|largest (?:first|to smallest)|highest (?:first|to lowest)))\b",
    re.I,
)
GIVEN = re.compile(r":\s*(?P<items>[^:\n]{1,2000}?)(?:[.!?]?\s*$|[.!?]\s|\n)")
MOST = 100
"""Items; longer lists are not sorted."""


def constraints(instruction: str) -> list[Constraint]:
    """Find what is to be sorted, and how.

    >>> [one.name for one in constraints("Sort these alphabetically: pear, fig, apple.")]
    ['names all 3 items', 'in the order apple, fig, pear']
    """
    by_letter, by_size = ALPHABETICAL.search(instruction), NUMERIC.search(instruction)
    if not by_letter and not by_size:
        return []
    items = _given(instruction)
    if by_size and items and all(_is_number(one) for one in items):
        return _as(sorted(items, key=float, reverse=bool(by_size["down"])))
    if by_letter is None:
        return []
    backwards = bool(by_letter["reverse"])
    if items:
        return _as(sorted(items, key=str.casefold, reverse=backwards))
    return [Constraint("in alphabetical order", lambda text: _is_sorted(listed(text), backwards))]


def _as(items: Sequence[str]) -> list[Constraint]:
    return [
        Constraint(f"names all {len(items)} items", lambda text: set(_named(items, text)) == set(items)),
        Constraint(f"in the order {', '.join(items)}", lambda text: _holds_run(_named(items, text), items)),
    ]


def _given(instruction: str) -> list[str]:
    """Return the items after the colon; none where there are fewer than two."""
    match = GIVEN.search(instruction)
    parts = re.split(r",\s*(?:and\s+)?|\s+and\s+|;\s*", match["items"]) if match else []
    items = [part.strip(" \"'“”.") for part in parts]
    return items if 2 <= len(items) <= MOST and all(items) and len(set(items)) == len(items) else []


def _named(items: Sequence[str], text: str) -> list[str]:
    """Return the items in the order in which a text names them, as often as it does."""
    canonical = {one.casefold(): one for one in items}
    longest_first = sorted(map(re.escape, items), key=len, reverse=True)
    pattern = rf"(?<![\w.-])(?:{'|'.join(longest_first)})(?![\w-])(?!\.\d)"
    return [canonical.get(found.casefold(), found) for found in re.findall(pattern, text, re.I)]


def _holds_run(found: Sequence[str], expected: Sequence[str]) -> bool:
    size = len(expected)
    return any(list(found[start : start + size]) == list(expected) for start in range(len(found) - size + 1))


def _is_sorted(entries: Sequence[str], backwards: bool) -> bool:
    folded = [one.casefold() for one in entries]
    return len(folded) > 1 and folded == sorted(folded, reverse=backwards)


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?\d{1,12}(?:\.\d{1,6})?", text) is not None
