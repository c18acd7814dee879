"""Checks of several judges that were ranked with a slope each."""

from podium.check_results import Check, make_check, not_known
from podium.rankers.ranking import Standings

NO_SLOPES = "the judges' slopes are not identified"
"""Why it is not known whether judges contradict each other or differ in taste."""
FEW_SHARED = "too few battles judged by three judges"
"""Why it is not known whether judges share errors."""


def check_jury(standings: Standings) -> tuple[Check, ...]:
    """Check whether judges contradict each other, differ in taste, or share errors.

    Returns:
        The flagged checks, then those that are ok or not known; empty for rankers that give no
        judge a slope.
    """
    jury = standings.diagnostics.get("jury")
    if not jury:
        return ()
    from podium.rankers.judge_aware import failed_jury_checks

    flagged = [
        make_check(name, is_flagged=True, fields=fields)
        for name, fields in failed_jury_checks(jury)
    ]
    without_slopes = NO_SLOPES if jury["one_truth_p"] is None else ""
    # Why each check is not known; empty if it is ok.
    reasons = {
        "judges contradict": without_slopes,
        "one truth": without_slopes,
        "shared errors": "" if jury["shared_errors"] else FEW_SHARED,
    }
    others = []
    for name in sorted(reasons.keys() - {check.name for check in flagged}):
        if reasons[name]:
            others.append(not_known(name, reason=reasons[name]))
        else:
            others.append(make_check(name, is_flagged=False))
    return (*flagged, *others)
