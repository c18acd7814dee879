"""Bars of what rankings claim: intervals of shares of worlds, and whether a bar is failed."""

import numpy as np
from scipy.stats import binomtest

from podium.rankers.ranking import Standings

LEAST_COVERAGE = 0.93
MOST_FALSE = 0.07


def share_text(hits: int, worlds: int) -> str:
    """Format a share in percent with its 95% interval (Clopper and Pearson 1934)."""
    ends = binomtest(hits, worlds).proportion_ci(0.95, method="exact")
    return f"{100 * hits / worlds:.1f} [{100 * ends.low:.1f}, {100 * ends.high:.1f}]"


def lies_beyond(hits: int, worlds: int, bar: float, *, above: bool) -> bool:
    """Return whether the 99% binomial interval of a share lies beyond a bar."""
    ends = binomtest(hits, worlds).proportion_ci(0.99, method="exact")
    return ends.low > bar if above else ends.high < bar


def is_claimed(standings: Standings) -> bool:
    """Return whether any model is clearly ahead of another."""
    return standings.separation is not None and any(standings.separation.beats)


def covered(standings: Standings, truth: np.ndarray) -> tuple[int, int]:
    """Return how many intervals hold the truth, and how many there are."""
    ends = {entry.model: (entry.low, entry.high) for entry in standings.entries}
    known = [ends[f"m{k:02}"] for k in range(len(truth))]
    inside = [
        low is not None and high is not None and low <= own <= high
        for (low, high), own in zip(known, truth, strict=True)
    ]
    return sum(inside), len(inside)
