"""What podium gives to lm-eval in this process: names in its registries, given once, and the verdicts of its filter."""

from collections.abc import Callable
from hashlib import sha256
from typing import Any, TypeVar

from lm_eval.api import registry

from podium.formats.lm_eval_judged import parse_verdicts

Registered = TypeVar("Registered", bound=Callable[..., Any])
_ISSUED: set[bytes] = set()
"""Digests of the verdicts: a model may answer with a text that looks like some."""


def register(kind: str, name: str, **more: Any) -> Callable[[Registered], Registered]:
    """Name a `filter`, `metric` or `aggregation`; leave the name where it is this object's, its module loaded before.

    Args:
        more: `higher_is_better` of a metric, whose aggregation goes by the same name.

    Raises:
        ValueError: the name is another package's.
    """
    known = getattr(registry, f"{kind}_registry")
    named = {"metric": name, "aggregation": name, **more} if kind == "metric" else {"name": name}

    def decorate(function: Registered) -> Registered:
        try:
            getattr(registry, f"register_{kind}")(**named)(function)
        except ValueError:
            owner = known.get(name)
            if getattr(owner, "fn", owner).__module__ != function.__module__:
                raise
        return function

    return decorate


def issue_verdicts(text: str) -> str:
    """Return the verdicts on a document, remembered as some that the judging filter of this process made."""
    _ISSUED.add(_digest(text))
    return text


def issued_verdicts(kept: Any) -> dict[str, Any] | None:
    """Return the verdicts that a filtered response holds; None where the judging filter did not make it."""
    if isinstance(kept, list | tuple) and len(kept) == 1:
        return issued_verdicts(kept[0])
    return parse_verdicts(kept) if isinstance(kept, str) and _digest(kept) in _ISSUED else None


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()
