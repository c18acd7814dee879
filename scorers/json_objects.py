"""JSON objects in replies: the one with the keys that were asked for, whatever prose stands around it."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from podium.scorers.reply import Reply, no_verdict
from podium.scorers.reply_structure import own_words

INSIDE = re.compile(r"(?:\"\s*:|[,\[{\"])\Z")
"""Text before a JSON object that is part of another value, blanks left out."""
MOST_BRACES = 200
"""Largest number of opening braces in a readable reply."""
LENIENT = re.compile(r"//[^\n\"]{0,200}+$|,(?=\s*+[}\]])", re.MULTILINE)
"""Comments and trailing commas, which some judges write."""

Span = tuple[int, int]


def only_object(reply: Reply, keys: frozenset[str]) -> dict[str, Any] | str:
    """Return the one JSON object with exactly these keys, a point as `Decimal`, or why there is none: prose may stand
    around it, but no repeated key, NaN, or object with only some of the keys."""
    matching = objects_with_keys(reply, keys)
    return matching if isinstance(matching, str) else matching.objects[-1]


@dataclass(frozen=True, slots=True)
class Objects:
    """Equal JSON objects in a reply, their places, and the judge's own words as `own_words` returns them."""

    objects: list[dict[str, Any]]
    places: list[Span]
    view: str


def objects_with_keys(reply: Reply, keys: frozenset[str]) -> Objects | str:
    """Return the objects that have exactly these keys, all equal, with their places; or why the reply is unparsed."""
    text = reply.text
    if reply.reason_of_silence or "{" not in text:
        return reply.reason_of_silence or no_verdict(text)
    view = own_words(text)
    if text.count("{") > MOST_BRACES or view is None:
        return "bad JSON" if view else "no verdict"
    matching = list(_own_objects(text, view, keys))
    objects = [each for each, _ in matching]
    # Beginnings of such objects, whether they can be parsed or not.
    names = "|".join(map(re.escape, sorted(keys)))
    openings = re.finditer(rf"\{{\s*+(?://[^\n]*+\s*+)?\"(?:{names})\"", text)
    if not objects or len(objects) != sum(view[opening.start()] == "{" for opening in openings):
        return "bad JSON"
    if any(each != objects[0] for each in objects):
        return "several verdicts"
    return Objects(objects, [place for _, place in matching], view) if objects[0].keys() == keys else "bad JSON"


def _own_objects(text: str, view: str, keys: frozenset[str]) -> Iterator[tuple[dict[str, Any], Span]]:
    """Yield the objects that have one of the keys and are not nested or quoted, each with its start and end."""
    end, lenient = 0, None
    for start in (brace.start() for brace in re.finditer(r"\{", view)):
        if start < end:
            continue
        matching = _decode(text, start)
        if matching is None:
            lenient = lenient or LENIENT.sub(lambda match: " " * len(match[0]), text)
            matching = _decode(lenient, start)
        if matching is None:
            continue
        value, end = matching
        if value.keys() & keys and not INSIDE.search(text[:start].rstrip()):
            yield value, (start, end)


def _decode(text: str, start: int) -> tuple[dict[str, Any], int] | None:
    """Decode the JSON object that begins at a place; None if there is none."""
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, ArithmeticError, RecursionError):
        return None


def refuse_repeats(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    """Build a JSON object; ValueError if a key is repeated."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key is repeated")
    return dict(pairs)


def _refuse_constant(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=refuse_repeats, parse_constant=_refuse_constant, parse_float=Decimal)
