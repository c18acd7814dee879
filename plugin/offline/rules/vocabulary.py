"""Words and letters that must be there, so many times, or must not be there."""

import re
from collections.abc import Callable
from itertools import pairwise

from podium.offline.constraint import Constraint
from podium.offline.reading import NUMBER, clauses, number, quoted
from podium.offline.rules.counts import BOUND, BOUNDS, TESTS

ASKED = re.compile(
    r"\b(?P<verb>include|includes|including|contain|contains|containing|use|uses|using|mention|mentions|mentioning|"
    r"avoid|without)\b"
    r"(?P<between>(?:\s+(?:both|all|any|either|of|the|following|a|an))*)\s+(?P<kind>words?|phrases?|terms?|letters?|names?)"
    r"\s+(?P<rest>.+)$",
    re.IGNORECASE | re.DOTALL,
)
NEGATION = re.compile(r"\b(?:not|never|avoid|without|no|don't|doesn't|mustn't)\b[^,;]*$", re.IGNORECASE)
TIMES = re.compile(
    rf"(?:\b(?P<bound>{BOUND})\s+)?\b(?P<times>once|twice|(?:{NUMBER})\s+times)\b",
    re.IGNORECASE,
)
LINKS = frozenset(["of", "in", "for", "that", "to", "from", "which", "limit", "count", "you"])
QUOTELESS = re.compile(r"\"[^\"]*\"|“[^”]*”")
NEXT = re.compile(
    r",?\s+(?:and|but|then)\s+(?:do|must|should|never|avoid|not|use|include|mention|start|end|begin|finish|write)\b"
    r"|,?\s+(?:starting|ending|beginning|finishing)\b|,\s+without\b",
    re.IGNORECASE,
)
"""Where another demand begins in the same sentence."""


def constraints(instruction: str) -> list[Constraint]:
    """Find the words that are asked for or forbidden.

    >>> [one.name for one in constraints('Use the word "tide" twice, and do not use the word "sea".')]
    ['says tide exactly 2 times', 'does not say sea']
    """
    return [one for clause in clauses(instruction) for part in _parts(clause) for one in _in_part(part)]


def _parts(clause: str) -> list[str]:
    cuts = [0, *(match.start() for match in NEXT.finditer(clause)), len(clause)]
    return [clause[start:end] for start, end in pairwise(cuts)]


def _in_part(part: str) -> list[Constraint]:
    asked = ASKED.search(part)
    if not asked:
        return []
    targets = quoted(asked["rest"]) or _plain(asked)
    count = occurrences_of_letters if asked["kind"].lower().startswith("letter") else occurrences_of_words
    if NEGATION.search(part[: asked.end("verb")]):
        return [Constraint(f"does not say {one}", _counted(count, one, "eq", 0)) for one in targets]
    return [_required(one, count, TIMES.search(QUOTELESS.sub(" ", asked["rest"]))) for one in targets]


def _plain(asked: re.Match[str]) -> list[str]:
    """Return the one word after `the word` or `the letter` that stands there without quotation marks."""
    word = re.match(r"[\w'-]+", asked["rest"])
    if word is None or asked["kind"].lower() not in ("word", "letter") or word[0].lower() in LINKS:
        return []
    return [word[0]]


def _required(target: str, count: Callable[[str, str], int], times: re.Match[str] | None) -> Constraint:
    if times is None:
        return Constraint(f"says {target}", _counted(count, target, "ge", 1))
    wanted = {"once": 1, "twice": 2}.get(times["times"].lower()) or number(times["times"].split()[0])
    bound = times["bound"].lower() if times["bound"] else "exactly"
    return Constraint(f"says {target} {bound} {wanted} times", _counted(count, target, BOUNDS[bound], wanted))


def _counted(count: Callable[[str, str], int], target: str, bound: str, wanted: int) -> Callable[[str], bool]:
    return lambda text: TESTS[bound](count(target, text), wanted, wanted)


def occurrences_of_words(target: str, text: str) -> int:
    """Count a word or phrase as a whole, in any case.

    >>> occurrences_of_words("tide", "Tide after tide, tides")
    2
    """
    pattern = r"\s+".join(map(re.escape, target.split()))
    return len(re.findall(rf"(?<!\w){pattern}(?!\w)", text, re.IGNORECASE))


def occurrences_of_letters(target: str, text: str) -> int:
    """Count letters, in any case."""
    return text.lower().count(target.lower())
