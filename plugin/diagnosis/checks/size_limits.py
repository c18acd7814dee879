"""The sizes beyond which checks of single pairs, items and lengths take longer than a fit."""

from podium.data.battles import Battles

MOST_BATTLES = 200_000
"""Largest number of battles with which checks of single pairs, items and lengths are made."""
MOST_MODELS = 60
"""Largest number of models with which checks of single pairs, items and lengths are made."""
FEWEST_COMPARED = 3
"""Fewest models with which lost battles, cycles and the fit are checked.

Two models lose the same battles, cannot form a cycle, and fit any win rate.
"""
TOO_MANY = "too many battles; `podium diagnose` checks it"


def are_too_many(battles: Battles) -> bool:
    """Return whether checks of single pairs, items or lengths would take longer than a fit.

    That is with more than `MOST_BATTLES` battles or `MOST_MODELS` models.
    """
    return len(battles) > MOST_BATTLES or len(battles.models) > MOST_MODELS
