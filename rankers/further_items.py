"""How many more items, or labels, would tell two models apart, if what was measured is real."""

from math import ceil

IN_EIGHT_OF_TEN = 0.84
"""The normal quantile of 0.8: with half as many items the same gap would be told as often as not."""


def further_items(items: int, critical: float, z: float) -> int | None:
    """Return the items that are lacking to tell a gap in eight cases of ten: n (((c + 0.84) / z)^2 - 1), at least 0.

    The error falls with the root of the items. Without the 0.84 the odds would be even at best, because the gap that
    was measured has an error of its own.

    Args:
        items: on which it was measured.
        critical: the value that |z| must exceed, as corrected for everything else that is tested.
        z: the gap over its standard error, any sign.

    Returns:
        None where |z| is below 1: how large the gap is, is not known well enough to say.

    >>> further_items(40, 1.96, 2.0), further_items(40, 1.96, 0.9)
    (39, None)
    """
    return ceil(items * max(((critical + IN_EIGHT_OF_TEN) / z) ** 2 - 1, 0.0)) if abs(z) >= 1 else None


def further_labels(labels: float, critical: float, gap: float, joined: float, alone: float) -> int:
    """Return the labels that are lacking where human labels are joined with a judge, as `further_items`.

    More labels lower the labels' error alone; what the judge adds to them stays.

    Args:
        labels: on which the gap was measured.
        gap: between two strengths.
        joined: its variance by labels and judge.
        alone: its variance by the labels alone.

    >>> further_labels(200, 1.96, 2.0, 1.0, 1.0), further_labels(200, 1.96, 2.0, 1.0, 4.0)
    (192, 768)
    """
    wanted, judge = ((critical + IN_EIGHT_OF_TEN) / gap) ** 2, max(1 / joined - 1 / alone, 0.0)
    return ceil(labels * max((wanted - judge) * alone - 1, 0.0))
