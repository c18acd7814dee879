"""How many more items or human labels would make two models distinguishable with 80% power."""

from math import ceil

POWER_QUANTILE = 0.84
"""The normal quantile of 0.8, the power."""


def further_items(items: int, critical: float, z: float) -> int | None:
    """Return how many more items would detect the measured gap with 80% power: n (((c + 0.84) / z)^2 - 1), at least 0.

    The error falls with the root of the number of items. Without the 0.84 the power would be 50%.

    `items`: number of items on which the gap was measured; `critical`: the value that |z| must exceed, corrected for
    all simultaneous tests; `z`: the gap over its standard error.

    Returns: None if |z| is below 1: the size of the gap is too uncertain.

    >>> further_items(40, 1.96, 2.0), further_items(40, 1.96, 0.9)
    (39, None)
    """
    return ceil(items * max(((critical + POWER_QUANTILE) / z) ** 2 - 1, 0.0)) if abs(z) >= 1 else None


def further_labels(labels: float, critical: float, gap: float, joined: float, alone: float) -> int:
    """Return how many more human labels would detect a gap with 80% power if labels are combined with a judge.

    More labels reduce the error of the labels alone; the judge's information stays the same.

    `labels`: number of labels with which the gap was measured; `critical`: the value that |z| must exceed; `gap`:
    difference of two log-strengths; `joined`: variance of the gap by labels and judge together; `alone`: variance of
    the gap by the labels alone.

    >>> further_labels(200, 1.96, 2.0, 1.0, 1.0), further_labels(200, 1.96, 2.0, 1.0, 4.0)
    (192, 768)
    """
    wanted, judge = ((critical + POWER_QUANTILE) / gap) ** 2, max(1 / joined - 1 / alone, 0.0)
    return ceil(labels * max((wanted - judge) * alone - 1, 0.0))
