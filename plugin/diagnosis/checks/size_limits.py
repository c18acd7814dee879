"""The sizes beyond which checks of single pairs, items and lengths take longer than a fit."""

from podium.data.battles import Battles

MOST_BATTLES, MOST_MODELS = 200_000, 60
FEWEST_COMPARED = 3
"""Models that comparisons among them need: two have the same battles, make no cycle, and fit any
rating."""
TOO_MANY = "too many battles; `podium diagnose` checks it"


def are_too_many(battles: Battles) -> bool:
    """Return whether checks of single pairs, items or lengths would take longer than a fit."""
    return len(battles) > MOST_BATTLES or len(battles.models) > MOST_MODELS
