"""Checks of given ratings on whose scale newcomers were placed."""

from podium.check_results import Check, make_check, not_known
from podium.rankers.ladder_placement import failed_ladder_checks
from podium.rankers.ranking import Standings

FEW_RATED = "too few rated models with 20 items"
"""Why a check of the ladder is not known."""


def check_given_ratings(standings: Standings) -> tuple[Check, ...]:
    """Check the scale and the ratings of a ladder.

    Returns:
        The flagged checks, then those that are ok or, with too few rated models, not known; empty
        if no ladder was given.
    """
    ladder = standings.diagnostics.get("ladder")
    if not ladder:
        return ()
    flagged = [
        make_check(name, is_flagged=True, fields=fields)
        for name, fields in failed_ladder_checks(ladder)
    ]
    is_known = {
        "ladder rating": bool(ladder["drifts"]),
        "ladder scale": ladder["slope"] is not None,
    }
    others = []
    for name in sorted(is_known.keys() - {check.name for check in flagged}):
        if is_known[name]:
            others.append(make_check(name, is_flagged=False))
        else:
            others.append(not_known(name, reason=FEW_RATED))
    return (*flagged, *others)
