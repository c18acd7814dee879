"""JSON objects in replies: the judge's own, with the slips that judges make, whatever prose stands around them."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from podium.scorers.reply import Reply, no_verdict
from podium.scorers.reply_structure import own_words

INSIDE = re.compile(r"(?:[\"']\s*:|[,\[{\"])(?<!boxed\{)\Z")
"""Text before a JSON object that is part of another value, blanks left out."""
MOST_BRACES = 200
"""Largest number of opening braces in a readable reply."""
REPAIRS = tuple(
    (re.compile(slip, re.MULTILINE), repair)
    for slip, repair in (
        (r"//[^\n\"]{0,200}$|/\*[^*\"]{0,200}\*/", ""),
        (r"[“”„]", '"'),
        (r"(?<=[{,\s:])'|'(?=\s*+[:,}])", '"'),
        (r"(?<=[{,])(\s*+)([A-Za-z][\w ]{0,40})(?=\s*+:)", r'\1"\2"'),
        (r",(?=\s*+[}\]])", ""),
    )
)
"""Comments, other quotation marks, names without any, and trailing commas."""

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Objects:
    """The judge's own JSON objects that have one of some names, their places, and its own words."""

    objects: list[dict[str, Any]]
    places: list[Span]
    view: str


def only_object(reply: Reply, keys: frozenset[str]) -> dict[str, Any] | str:
    """Return the one JSON object with exactly these keys, a point as `Decimal`, or why there is none: prose may stand
    around it, but no repeated key, NaN, or object with only some of the keys."""
    matching_objects = own_objects(reply, re.compile("|".join(map(re.escape, sorted(keys)))))
    if isinstance(matching_objects, str):
        return matching_objects
    if any(each != matching_objects.objects[0] for each in matching_objects.objects):
        return "several verdicts"
    return matching_objects.objects[0] if matching_objects.objects[0].keys() == keys else "bad JSON"


def own_objects(reply: Reply, names: re.Pattern[str]) -> Objects | str:
    """Return the objects that have a key of `names` and are not nested or quoted; or why the reply is unparsed."""
    if reply.reason_of_silence or "{" not in reply.text:
        return reply.reason_of_silence or no_verdict(reply.text)
    view = own_words(reply.text)
    if view is None or reply.text.count("{") > MOST_BRACES:
        return "bad JSON" if view else "no verdict"
    pieces = list(_decoded_objects(reply.text, view, names))
    if not pieces or any(value is None for value, _ in pieces):
        return "bad JSON"
    return Objects([value for value, _ in pieces if value is not None], [place for _, place in pieces], view)


def _decoded_objects(text: str, view: str, names: re.Pattern[str]) -> Iterator[tuple[dict[str, Any] | None, Span]]:
    """Yield the objects with one of the names, each with its start and end; None for one that cannot be pieces."""
    beginning, end = re.compile(rf"\{{\s*+(?://[^\n]*+\s*+)?[\"'“]?(?:{names.pattern})\b", names.flags), 0
    for start in (brace.start() for brace in re.finditer(r"\{", view)):
        if start < end:
            continue
        matching = _decode(text, start)
        is_inside = INSIDE.search(text[max(0, start - 100) : start].rstrip())
        if matching is None:
            if beginning.match(view, start):
                yield None, (start, start)
        elif any(names.fullmatch(key) for key in matching[0]) or beginning.search(text, start, matching[1]):
            end = matching[1]
            yield None if is_inside else matching[0], (start, end)


def _decode(text: str, start: int) -> tuple[dict[str, Any], int] | None:
    """Decode the JSON object that begins at a place, repaired if need be; return it and its end."""
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, ArithmeticError, RecursionError):
        pass
    depth = 0
    for brace in re.finditer("[{}]", text[start:]):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            block = text[start : start + brace.end()]
            for slip, repair in REPAIRS:
                block = slip.sub(repair, block)
            try:
                return _DECODER.decode(block), start + brace.end()
            except (ValueError, ArithmeticError, RecursionError):
                return None
    return None


def refuse_repeats(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    """Build a JSON object; ValueError if a key is repeated."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key is repeated")
    return dict(pairs)


def _refuse_constant(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=refuse_repeats, parse_constant=_refuse_constant, parse_float=Decimal)
