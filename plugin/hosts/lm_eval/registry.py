"""What podium gives to lm-eval in this process: names in its registries, given once, and the verdicts of its filter."""

from collections.abc import Callable
from hashlib import sha256
from typing import Any, TypeVar

from lm_eval.api import registry

from podium.formats.lm_eval_judged import parse_verdicts

Registered = TypeVar("Registered", bound=Callable[..., Any])
_ISSUED: set[bytes] = set()
"""Digests of the verdicts: a model may answer with a text that looks like some."""


def register_filter(name: str) -> Callable[[Registered], Registered]:
    """Name a filter."""
    return _register_once(name, registry.filter_registry, registry.register_filter(name))


def register_aggregation(name: str) -> Callable[[Registered], Registered]:
    """Name an aggregation."""
    return _register_once(name, registry.aggregation_registry, registry.register_aggregation(name))


def register_metric(name: str, *, higher_is_better: bool) -> Callable[[Registered], Registered]:
    """Name a metric whose aggregation goes by the same name."""
    register = registry.register_metric(metric=name, higher_is_better=higher_is_better, aggregation=name)
    return _register_once(name, registry.metric_registry, register)


def _register_once(name: str, known: Any, register: Callable[[Any], Any]) -> Callable[[Registered], Registered]:
    """Register where the name is free; leave it where it is this object's already, its module loaded before.

    Raises:
        ValueError: the name is another package's.
    """

    def decorate(function: Registered) -> Registered:
        try:
            register(function)
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
