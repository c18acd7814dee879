"""How many more items or human labels would make two models distinguishable with 80% power."""

from math import ceil

POWER_QUANTILE = 0.84
"""The normal quantile of 0.8, the power."""


def further_items(items: int, critical: float, z: float) -> int | None:
    """Return how many more items would detect a gap of `z` standard errors with 80% power: n (((c + 0.84) / z)^2 - 1),
    at least 0; None if |z| is below 1. `critical` (c) is corrected for simultaneous tests."""
    return ceil(items * max(((critical + POWER_QUANTILE) / z) ** 2 - 1, 0.0)) if abs(z) >= 1 else None


def further_labels(labels: float, critical: float, gap: float, joined: float, alone: float) -> int:
    """Return how many more labels would detect a gap with 80% power beside a judge; `joined` and `alone`: variance of
    the gap by labels with and without the judge, whose information stays the same."""
    wanted, judge = ((critical + POWER_QUANTILE) / gap) ** 2, max(1 / joined - 1 / alone, 0.0)
    return ceil(labels * max((wanted - judge) * alone - 1, 0.0))
