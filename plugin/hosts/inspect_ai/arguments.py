"""Open-ended arguments as older Inspects hand them over: only under the name `kwargs`, and nested in logs."""

from collections.abc import Mapping
from typing import Any


def flat(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return keyword arguments as they were typed.

    Inspect 0.3.250 records `**kwargs` as one argument of that name, a level deeper with every replay of a log.

    >>> flat({"kwargs": {"kwargs": {"seed": 1}, "tie": True}})
    {'tie': True, 'seed': 1}
    """
    own = {name: value for name, value in kwargs.items() if name != "kwargs"}
    inner = kwargs.get("kwargs")
    return {**own, **flat(inner)} if isinstance(inner, Mapping) else dict(kwargs)
