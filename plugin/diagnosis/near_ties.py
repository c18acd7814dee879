"""Which battles the judge itself calls close."""

import numpy as np

CLOSE_CREDIT = 0.025
"""Soft credits this near to 0.5 are ties. Source: Xu et al. 2025, thresholds 0.475 and 0.525."""
ROUNDING = 1e-9
LEVELS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Credits that one or two hard verdicts give; any other is soft."""


def by_view(credit: np.ndarray, margin: np.ndarray, near_tie: float) -> tuple[np.ndarray, str] | None:
    """Tell which battles are near-ties by the judge's own margin, or by its soft credit; None where it gives neither.

    Args:
        credit: merged credit, NaN where unread, shape (battles,).
        margin: merged margin, NaN where there is none, shape (battles,).
        near_tie: largest |margin| of a near-tie.

    Returns:
        A mask, and the rule in words. Battles without a margin are no near-ties, and neither are they the contrary:
        see `judged_by_margin`.
    """
    if np.isfinite(margin).any():
        return np.abs(margin) <= near_tie + ROUNDING, f"|margin| of both orders' mean up to {near_tie:g}"
    if is_soft(credit):
        return np.abs(credit - 0.5) <= CLOSE_CREDIT + ROUNDING, f"credit within 0.5 ± {CLOSE_CREDIT:g}"
    return None


def is_soft(credit: np.ndarray) -> bool:
    """Whether any credit is more than a hard verdict or the mean of two."""
    return not np.isin(credit[~np.isnan(credit)], LEVELS).all()
