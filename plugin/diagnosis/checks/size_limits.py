"""The sizes beyond which checks of single pairs, items and lengths take longer than a fit."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from podium.data.battles import Battles

MOST_BATTLES = 200_000
"""Largest number of battles with which checks of single pairs, items and lengths are made."""
TOO_MANY_BATTLES = "too many battles; `podium diagnose` checks it"
"""Why a check is not made for more than `MOST_BATTLES` battles, and what makes it instead."""
MOST_MODELS = 60
"""Largest number of models with which these checks are made, except in an audit."""
MOST_MODELS_OF_AUDIT = 200
"""Largest number of models with which an audit makes these checks: it may take half a minute."""
FEWEST_COMPARED = 3
"""Fewest models with which lost battles, cycles and the fit are checked.

Two models lose the same battles, cannot form a cycle, and fit any win rate.
"""
_MOST_MODELS: ContextVar[int] = ContextVar("most models", default=MOST_MODELS)
"""The largest number of models in the present context."""


@contextmanager
def limits_of_audit() -> Iterator[None]:
    """Let `are_too_many` allow `MOST_MODELS_OF_AUDIT` models, more than usual, inside the block."""
    token = _MOST_MODELS.set(MOST_MODELS_OF_AUDIT)
    try:
        yield
    finally:
        _MOST_MODELS.reset(token)


def are_too_many(battles: Battles) -> bool:
    """Return whether checks of single pairs, items or lengths would take longer than a fit.

    That is with more than `MOST_BATTLES` battles, or with more than `MOST_MODELS` models
    (`MOST_MODELS_OF_AUDIT` in an audit).
    """
    return len(battles) > MOST_BATTLES or len(battles.models) > _MOST_MODELS.get()


def why_too_many(battles: Battles) -> str:
    """Return why a check is not made for so many battles or models, and what makes it instead.

    The text is a clause. Call the function only if `are_too_many`.
    """
    if len(battles) > MOST_BATTLES:
        return TOO_MANY_BATTLES
    if _MOST_MODELS.get() == MOST_MODELS:
        return f"more than {MOST_MODELS} models; `podium audit` checks it"
    return f"more than {MOST_MODELS_OF_AUDIT} models"
