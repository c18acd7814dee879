"""What battles say of a plan: whether they can be its pilot, and how much scores differ."""

import numpy as np

from podium.data.battles import Battles
from podium.diagnosis.checks.size_limits import are_too_many
from podium.diagnosis.judge_checks import is_judged

FEWEST_UNITS = 4
"""Fewest items, or groups of items, of a pilot from which the precision of designs is computed."""


def can_be_pilot(battles: Battles) -> bool:
    """Return whether battles can be the pilot of a plan with all of its parts.

    The result is True if a judge decided the battles, if rows name their items, if there are at
    least `FEWEST_UNITS` items (or groups of items), and if at least one verdict is no tie.
    """
    if not is_judged(battles) or not battles.has_items:
        return False
    return bool(battles.tally.decided) and battles.counts().units >= FEWEST_UNITS


def spread_of_shares(battles: Battles) -> str:
    """Write the option of `podium plan` that says how much the scores of two models differ.

    The text is that of `spread_option`: `--disagree SHARE` or `--spread SD`. It is empty if that
    text is, for battles without scores, for scores of several tasks or metrics, for scores outside
    of [0, 1] (a plan does not know their unit), and for too many battles to read their scores.
    """
    columns = [name for name in ("task", "metric") if name in battles.columns]
    is_divided = any(len(battles.values_of(name)) > 1 for name in columns)
    if is_divided or "score_a" not in battles.columns or are_too_many(battles):
        return ""
    scores = battles.table[["score_a", "score_b"]].to_numpy(dtype=float)
    are_shares = bool(np.nanmin(scores) >= 0 and np.nanmax(scores) <= 1)
    return spread_option(battles) if are_shares else ""


def spread_option(battles: Battles) -> str:
    """Write the option of `podium plan` that says how much the scores of two models differ.

    For scores of 0 and 1 the option is `--disagree SHARE`, the share of battles with different
    scores. For other scores it is `--spread SD`, the standard deviation of the difference over
    battles. The text is empty if no two scores of a battle differ, or if other scores than 0 and 1
    always differ by the same amount. The battles must have the columns `score_a` and `score_b`.
    """
    table = battles.table
    difference = (table["score_a"] - table["score_b"]).dropna().to_numpy(dtype=float)
    if not difference.any():
        return ""
    scores = {*table["score_a"].dropna().unique(), *table["score_b"].dropna().unique()}
    if scores <= {0.0, 1.0}:
        return f"--disagree {np.mean(difference != 0):.2g}"
    spread = float(np.std(difference))
    return f"--spread {spread:.2g}" if spread > 0 else ""
