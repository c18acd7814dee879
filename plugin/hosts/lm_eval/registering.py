"""Names in lm-eval's registries, given once: a module that is loaded a second time keeps those of the first."""

from collections.abc import Callable
from typing import Any, TypeVar

from lm_eval.api import registry

Registered = TypeVar("Registered", bound=Callable[..., Any])


def register_filter(name: str) -> Callable[[Registered], Registered]:
    """Name a filter."""
    return _once(name, registry.filter_registry, registry.register_filter(name))


def register_aggregation(name: str) -> Callable[[Registered], Registered]:
    """Name an aggregation."""
    return _once(name, registry.aggregation_registry, registry.register_aggregation(name))


def register_metric(name: str, *, higher_is_better: bool) -> Callable[[Registered], Registered]:
    """Name a metric whose aggregation goes by the same name."""
    register = registry.register_metric(metric=name, higher_is_better=higher_is_better, aggregation=name)
    return _once(name, registry.metric_registry, register)


def _once(name: str, known: Any, register: Callable[[Any], Any]) -> Callable[[Registered], Registered]:
    """Register where the name is free; leave it where it is this object's already, loaded before.

    Raises:
        ValueError: the name is another package's.
    """

    def decorate(named: Registered) -> Registered:
        try:
            register(named)
        except ValueError:
            taken = known.get(name)
            if getattr(taken, "fn", taken).__module__ != named.__module__:
                raise
        return named

    return decorate
