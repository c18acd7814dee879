"""Verdicts that strength and length tell without an exception: no finite length term fits them best."""

import numpy as np

from podium.rankers.coded import Coded


def length_separates(coded: Coded, term: np.ndarray) -> bool:
    """Tell whether some strengths and a slope of 1 or -1 name every winner.

    Then the likelihood grows along them for ever. A win says theta_a - theta_b >= -slope term, a loss <=, a tie both:
    such bounds can be met unless they add up to less than 0 around a circle of entrants (Bellman and Ford).

    Args:
        term: of each battle, positive where a's response is longer, shape (battles,).
    """
    counted = coded.weight > 0
    a, b, credit = coded.a[counted], coded.b[counted], coded.credit[counted]
    won, lost = credit > 0, credit < 1
    start, end = np.concatenate([a[won], b[lost]]), np.concatenate([b[won], a[lost]])
    lead = np.concatenate([term[counted][won], -term[counted][lost]])
    return any(_can_be_met(start, end, slope * lead, len(coded.entrants)) for slope in (1, -1))


def _can_be_met(start: np.ndarray, end: np.ndarray, most: np.ndarray, entrants: int) -> bool:
    """Tell whether strengths exist with theta of each end at most that of its start plus so much, rounding aside."""
    theta = np.zeros(entrants)
    for _ in range(entrants + 1):
        before = theta.copy()
        np.minimum.at(theta, end, before[start] + most)
        if np.all(theta >= before - 1e-12):
            return True
    return False
