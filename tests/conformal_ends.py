"""Conformal intervals of tests, whose open ends are closed by symmetry."""

from podium.rankers.ranking import Entry


def mirrored_ends(entry: Entry) -> tuple[float | None, float | None]:
    """Return the ends of a conformal interval, of which an open one is as far from the score as the
    other; None if both are open."""
    low, high = entry.extra["conformal_low"], entry.extra["conformal_high"]
    if low is None and high is not None:
        low = 2 * entry.score - high
    elif high is None and low is not None:
        high = 2 * entry.score - low
    return low, high
