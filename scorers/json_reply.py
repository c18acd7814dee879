"""Exactly one JSON object in a reply: prose and one code fence may stand around it, no second one may."""

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

INSIDE = re.compile(r"(?:\"\s*:|[,\[{\"])\Z")
"""What stands before an object that is part of something, blanks left out."""
AFTER = tuple(',:]}"')
"""What stands after one, blanks left out."""
MOST = 200
"""Opening braces to look at."""


def only_object(text: str, keys: frozenset[str]) -> dict[str, Any] | str:
    """Return the object that has these keys and no other, or why it cannot be told.

    An object that repeats a key, holds NaN or Infinity, or has one of the keys and not all, makes the reply
    unreadable; the same object twice is one. Numbers with a point come as `Decimal`.
    """
    starts = [brace.start() for brace in re.finditer(r"\{", text)]
    if not starts:
        return "no verdict"
    if len(starts) > MOST:
        return "bad JSON"
    claims = _claims(text, starts, keys)
    if len(claims) != len(_openings(text, keys)) or not claims:
        return "bad JSON"
    if any(claim != claims[0] for claim in claims[1:]):
        return "several verdicts"
    return claims[0] if claims[0].keys() == keys else "bad JSON"


def _openings(text: str, keys: frozenset[str]) -> list[str]:
    """Return the places that look like the beginning of such an object, whether they can be parsed or not."""
    return re.findall(rf"\{{\s*\"(?:{'|'.join(map(re.escape, sorted(keys)))})\"", text)


def _claims(text: str, starts: list[int], keys: frozenset[str]) -> list[dict[str, Any]]:
    """Return the objects that have one of the keys and are not part of another object."""
    found, end = [], 0
    for start in starts:
        if start < end:
            continue
        parsed = _parsed(text, start)
        if parsed is None:
            continue
        value, end = parsed
        if value.keys() & keys and not _is_part(text, start, end):
            found.append(value)
    return found


def _is_part(text: str, start: int, end: int) -> bool:
    return bool(INSIDE.search(text[:start].rstrip())) or text[end:].lstrip().startswith(AFTER)


def _parsed(text: str, start: int) -> tuple[dict[str, Any], int] | None:
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, ArithmeticError, RecursionError):
        return None


def _once(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key is repeated")
    return dict(pairs)


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_refuse, parse_float=Decimal)
