"""Valid JSON, with the keys that are named."""

import json
import re
from typing import Any

from podium.offline.constraint import Constraint
from podium.offline.reading import quoted

KEYS = re.compile(r"\b(?P<only>exactly|only)?\s*(?:the\s+)?(?:\w+\s+)?(?:keys?|fields?)\s*:?\s+(?P<rest>[^.]+)", re.I)
FENCE = re.compile(r"```(?:json)?[ \t]*\n(?P<body>.*?)\n[ \t]*```", re.S | re.I)
TOO_LONG = 200_000
"""Characters; nothing that long is parsed."""


def constraints(instruction: str) -> list[Constraint]:
    """Find the demand for JSON: bare, and with keys (prose and a fence around it break the first demand alone).

    >>> [one.name for one in constraints('Reply with JSON with the keys "name" and "age".')]
    ['bare JSON', 'has key name', 'has key age']
    """
    if not re.search(r"\bJSON\b", instruction):
        return []
    found = [Constraint("bare JSON", lambda text: parsed(text) is not None)]
    keys = KEYS.search(instruction)
    if keys:
        names = quoted(keys["rest"]) or _plain(keys["rest"])
        found += [_key(name) for name in names]
        found += [Constraint("no other keys", lambda text: set(_object(text)) == set(names))] if keys["only"] else []
    return found


def _plain(rest: str) -> list[str]:
    """Return names that stand there without quotation marks, up to what is no list."""
    names = re.match(r"[\w-]+(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+)[\w-]+){0,20}", rest)
    return re.split(r"\s*,\s*(?:and\s+)?|\s+and\s+", names[0]) if names else []


def _key(name: str) -> Constraint:
    return Constraint(f"has key {name}", lambda text: name in _object(text))


def parsed(text: str) -> Any:
    """Return the JSON that a text is; None where it is none (or null)."""
    try:
        return json.loads(text) if len(text) <= TOO_LONG else None
    except (ValueError, RecursionError):
        return None


def _object(text: str) -> dict[str, Any]:
    fence = FENCE.search(text)
    content = parsed(fence["body"] if fence else text)
    return content if isinstance(content, dict) else {}
