"""The sizes beyond which checks of single pairs, items and lengths take longer than a fit."""

from podium.data.battles import Battles

MOST_BATTLES = 200_000
"""Battles with which checks of single pairs, items and lengths are made."""
MOST_MODELS = 60
"""Models with which these checks are made."""
FEWEST_COMPARED = 3
"""Models that comparisons among them need.

Two models have the same battles, make no cycle, and fit any rating.
"""
TOO_MANY = "too many battles; `podium diagnose` checks it"


def are_too_many(battles: Battles) -> bool:
    """Return whether checks of single pairs, items or lengths would take longer than a fit."""
    return len(battles) > MOST_BATTLES or len(battles.models) > MOST_MODELS
