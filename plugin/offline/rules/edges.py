"""How a response, or each part of it, starts and ends."""

import re
from collections.abc import Callable

from podium.offline.constraint import Constraint
from podium.offline.reading import clauses, lines, quoted, sentences, words

MARKS = {
    "question mark": "?",
    "exclamation mark": "!",
    "exclamation point": "!",
    "full stop": ".",
    "period": ".",
    "colon": ":",
}
GAP = r"\b[^,;:\"“]{0,60}?\b"
START = re.compile(rf"\b(?:start|starts|starting|begin|begins|beginning){GAP}with\s+(?P<rest>.+)$", re.I | re.S)
END = re.compile(rf"\b(?:end|ends|ending|finish|finishes|close|closes){GAP}(?:with|in)\s+(?P<rest>.+)$", re.I | re.S)
EACH = re.compile(r"\b(?:each|every)\s+(?P<part>line|sentence|word)\b", re.I)
PARTS: dict[str, Callable[[str], list[str]]] = {"line": lines, "sentence": sentences, "word": words}
BEFORE = re.compile(
    r"(?:(?:the|a|an)\s+)?(?:exact\s+)?(?:words?|phrase|line|sentence|text|symbol)?\s*(?=[\"“'`])", re.I
)
LETTER = re.compile(r"\bthe\s+letter\s+[\"'“]?(?P<letter>[^\W\d_])\b", re.I)


NEGATION = re.compile(r"\b(?:not|never|don't)\s+(?:start|begin|end|finish|close)\b", re.I)


def constraints(instruction: str) -> list[Constraint]:
    """Find the beginnings and ends that are asked for.

    >>> [one.name for one in constraints('Start with "Dear" and end with a question mark.')]
    ['starts with Dear', 'ends with ?']
    """
    found = []
    for clause in clauses(instruction):
        for asked, verb, test in ((START, "starts", _starts), (END, "ends", _ends)):
            match = asked.search(clause)
            target = _target(match["rest"]) if match else None
            if match and target:
                found.append(_constraint(verb, target, test, clause[: match.start("rest")]))
    return found


def _constraint(verb: str, target: str, test: Callable[[str, str], bool], before: str) -> Constraint:
    each = EACH.search(before)
    if NEGATION.search(before):
        return Constraint(f"never {verb} with {target}", lambda text: bool(text.strip()) and not test(text, target))
    if each is None:
        return Constraint(f"{verb} with {target}", lambda text: test(text, target))
    return Constraint(
        f"each {each['part']} {verb} with {target}",
        lambda text: all(test(one, target) for one in PARTS[each["part"].lower()](text)) and bool(text.strip()),
    )


def _target(rest: str) -> str | None:
    """Return what stands first after `with`: a letter, a named mark, quoted words, or one plain word."""
    letter = LETTER.match(rest)
    if letter:
        return letter["letter"]
    marks = [(rest.lower().find(name), sign) for name, sign in MARKS.items() if name in rest.lower()[:30]]
    if marks:
        return min(marks)[1]
    before_quotation = BEFORE.match(rest)
    if before_quotation:
        return next(iter(quoted(rest[before_quotation.end() :])), None)
    plain = re.match(r"the\s+word\s+(?P<word>[\w'-]+)", rest, re.I)
    return plain["word"] if plain else None


def _starts(text: str, target: str) -> bool:
    bare = text.strip().lstrip("-*•\"'“ ") if target[0].isalnum() else text.strip()
    goes_on = len(target) > 1 and target[-1].isalnum() and bare[len(target) : len(target) + 1].isalnum()
    return bare.lower().startswith(target.lower()) and not goes_on


def _ends(text: str, target: str) -> bool:
    bare = text.strip()
    if target[-1].isalnum():
        bare = bare.rstrip(".!?\"'”* ")
    return bare.lower().endswith(target.lower())
