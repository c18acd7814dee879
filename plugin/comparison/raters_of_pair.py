"""Check whether one voter or judge decides which of two compared models is ahead."""

from collections.abc import Sequence

import numpy as np

from podium.check_results import Check
from podium.comparison.compared_pair import ELO, SCORE, WIN_RATE, ComparedPair
from podium.comparison.direct_battles import BattleColumns
from podium.comparison.equalized_credits import equalized_credits
from podium.comparison.outcomes import PairFinding
from podium.data.battles import Battles
from podium.diagnosis.checks.rater_checks import check_rater_of_pair, has_heavy_rater

RANKER_OF_MEASURE = {ELO: "bradley-terry", WIN_RATE: "win-rate", SCORE: "mean"}
"""The ranker that computes the scores whose difference is measured."""

P_OF_LEAST_Z = 0.32
"""Two-sided p-value of a lead of `podium.diagnosis.checks.rater_checks.LEAST_Z`."""


def rater_check_of(
    columns: BattleColumns, pair: ComparedPair, finding: PairFinding
) -> Check | None:
    """Return the flagged check that without one voter or judge the other model is ahead.

    Args:
        columns: columns of the battles of the question.
        pair: the two models.
        finding: what was found, not yet adjusted for several tests.

    Returns:
        The check; None if no removal changes who is ahead. The check is not made, and the result is
        None, if the lead is 0 or its p-value is too large. The largest p-value is 1 - level. If the
        error includes how voters or judges differ, it is at least `P_OF_LEAST_Z`, or 1 if a voter
        or judge gave many of the verdicts (`has_heavy_rater`).
    """
    battles = columns.battles
    value = finding.difference.value
    largest_p = 1 - finding.level
    if finding.difference.raters is not None:
        largest_p = 1.0 if has_heavy_rater(battles) else max(largest_p, P_OF_LEAST_Z)
    if value == 0 or finding.difference.p_value > largest_p:
        return None
    names = (pair.candidate, pair.baseline)
    if value > 0:
        leader, other = names
    else:
        other, leader = names
    credit = None
    compared = battles
    if finding.measure == ELO:
        credit = equalized_credits(columns, pair) if pair.identical else None
    else:
        is_compared = are_between(battles, names)
        if finding.measure == SCORE:
            is_compared &= _have_both_scores(battles)
        compared = battles.select(is_compared)
    ranker = RANKER_OF_MEASURE[finding.measure]
    checks = check_rater_of_pair(compared, ranker, leader, other, credit)
    return next((check for check in checks if check.is_flagged), None)


def are_between(battles: Battles, pair: Sequence[str]) -> np.ndarray:
    """Return the mask of the battles between two models, shape (battles,).

    Raises: ValueError: one of them is not among the models of the battles.
    """
    codes = [battles.models.index(name) for name in pair]
    a, b = battles.model_codes
    return np.isin(a, codes) & np.isin(b, codes)


def _have_both_scores(battles: Battles) -> np.ndarray:
    """Return the mask of the battles with the scores of both models, shape (battles,)."""
    first, second = (battles.numbers_of(side) for side in ("score_a", "score_b"))
    return ~np.isnan(first) & ~np.isnan(second)
