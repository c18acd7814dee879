"""So many words, sentences, lines, paragraphs, bullet points, numbered items or characters, in all or in each part."""

import re
from collections.abc import Callable

from podium.offline.constraint import Constraint
from podium.offline.reading import (
    NUMBER,
    bullets,
    clauses,
    lines,
    listed,
    number,
    numbered,
    paragraphs,
    sentences,
    words,
)

UNITS: dict[str, Callable[[str], list[str]]] = {
    "word": words,
    "sentence": sentences,
    "line": lines,
    "paragraph": paragraphs,
    "bullet": bullets,
    "item": listed,
    "numbered": numbered,
    "character": lambda text: list(text.strip()),
}
KINDS = (
    r"(?P<kind>words?|sentences?|lines?|paragraphs?|bullet points?|bullets?|items?|characters?|"
    r"numbered (?:items?|points?|steps?))"
)
BOUNDS = {
    "exactly": "eq",
    "precisely": "eq",
    "at most": "le",
    "no more than": "le",
    "not more than": "le",
    "up to": "le",
    "a maximum of": "le",
    "fewer than": "lt",
    "less than": "lt",
    "under": "lt",
    "at least": "ge",
    "no fewer than": "ge",
    "no less than": "ge",
    "a minimum of": "ge",
    "more than": "gt",
}
BOUND = "|".join(sorted(BOUNDS, key=len, reverse=True))
DEMAND = re.compile(
    rf"\b(?:(?P<bound>{BOUND})\s+)?(?:between\s+)?(?P<least>{NUMBER})(?:\s*(?:to|and|-|–)\s*(?P<most>{NUMBER}))?"
    rf"[\s-]+(?:(?:short|more|different|single|full|complete|plain)\s+)?{KINDS}(?:\s+or\s+(?P<after>fewer|less|more))?\b",
    re.IGNORECASE,
)
ELIDED = re.compile(
    rf"(?P<first>\b(?:{BOUND})\s+{NUMBER})\s+(?:and|but)\s+(?=(?:{BOUND})\s+{NUMBER}[\s-]+{KINDS})", re.IGNORECASE
)
"""`at least three and at most eight words`: the first number has its unit later."""
EACH = re.compile(r"\b(?:each|every)\b(?:\s+(?P<part>line|sentence|paragraph|bullet|item))?", re.IGNORECASE)
OF = re.compile(r"\b(?P<part>line|sentence|paragraph|bullet|bullet point|item)s?,?\s+(?:of|with)\s+$", re.IGNORECASE)
TESTS: dict[str, Callable[[int, int, int], bool]] = {
    "eq": lambda found, least, most: least <= found <= most,
    "le": lambda found, least, _: found <= least,
    "lt": lambda found, least, _: found < least,
    "ge": lambda found, least, _: found >= least,
    "gt": lambda found, least, _: found > least,
}


def constraints(instruction: str) -> list[Constraint]:
    """Find the counts that are asked for; one after `each line` is asked of every line.

    >>> [one.name for one in constraints("Give exactly three bullet points, each of at most six words.")]
    ['exactly three bullet points', 'in each bullet: at most six words']
    """
    return [one for clause in clauses(instruction) for one in _in_clause(clause)]


def _in_clause(clause: str) -> list[Constraint]:
    found = []
    before = None
    clause = ELIDED.sub(r"\g<first> \g<kind> ", clause)
    for match in DEMAND.finditer(clause):
        unit = _unit(match["kind"])
        part = _part(clause[: match.start()], before)
        found.append(_constraint(match, unit, part))
        before = unit if part is None else before
    return found


def _constraint(match: re.Match[str], unit: str, part: str | None) -> Constraint:
    least = number(match["least"])
    most = number(match["most"]) if match["most"] else least
    fits = _fits(_bound(match), least, most)
    name = " ".join(match[0].split())
    if part is None:
        return Constraint(name, lambda text: fits(_size(unit, text)))
    return Constraint(f"in each {part}: {name}", lambda text: _all(part, text, lambda one: fits(_size(unit, one))))


def _fits(bound: str, least: int, most: int) -> Callable[[int], bool]:
    return lambda found: TESTS[bound](found, least, most)


def _bound(match: re.Match[str]) -> str:
    if match["after"]:
        return "ge" if match["after"].lower() == "more" else "le"
    return BOUNDS[match["bound"].lower()] if match["bound"] else "eq"


def _unit(kind: str) -> str:
    kind = kind.lower()
    if kind.startswith("numbered"):
        return "numbered"
    return kind.split()[0].rstrip("s")


def _part(before: str, last: str | None) -> str | None:
    """Return the part of which each must meet the demand; None for the whole response."""
    of = OF.search(before)
    if of:
        return _unit(of["part"])
    each = list(EACH.finditer(before))
    if not each:
        return None
    return _unit(each[-1]["part"]) if each[-1]["part"] else last


def _size(unit: str, text: str) -> int:
    return len(UNITS[unit](text))


def _all(part: str, text: str, test: Callable[[str], bool]) -> bool:
    parts = UNITS[part](text)
    return bool(parts) and all(test(one) for one in parts)
