"""JSON objects in replies: the one with the keys that were asked for, whatever prose stands around it."""

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from podium.scorers.reply import Reply, no_verdict
from podium.scorers.reply_structure import own_words

MOST_BRACES = 200
"""Largest number of opening braces in a readable reply."""


def only_object(reply: Reply, keys: frozenset[str]) -> dict[str, Any] | str:
    """Return the one JSON object with exactly these keys, a point as `Decimal`, or why there is none: no repeated key,
    NaN, or other object with one of the keys."""
    view = own_words(reply.text) if not reply.reason_of_silence else None
    if view is None or "{" not in reply.text:
        return reply.reason_of_silence or no_verdict(reply.text)
    if reply.text.count("{") > MOST_BRACES:
        return "bad JSON"
    objects, end = [], 0
    for start in (brace.start() for brace in re.finditer(r"\{", view)):
        if start >= end:
            try:
                value, end = _DECODER.raw_decode(reply.text, start)
            except (ValueError, ArithmeticError, RecursionError):
                continue
            objects += [value] if value.keys() & keys else []
    if any(value != objects[0] for value in objects):
        return "several verdicts"
    return objects[0] if objects and objects[0].keys() == keys else "bad JSON"


def refuse_repeats(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    """Build a JSON object; ValueError if a key is repeated."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key is repeated")
    return dict(pairs)


def _refuse_constant(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=refuse_repeats, parse_constant=_refuse_constant, parse_float=Decimal)
