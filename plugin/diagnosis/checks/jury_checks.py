"""Checks of several judges that were ranked with a slope each."""

from podium.checks import Check, make_check, not_known
from podium.rankers.judge_aware import failed_jury_checks
from podium.rankers.ranking import Standings

NO_SLOPES = "the judges' slopes are not identified"
FEW_SHARED = "too few battles judged by three judges"


def check_jury(standings: Standings) -> tuple[Check, ...]:
    """Check whether judges contradict each other, differ in taste, or share errors.

    Returns:
        The checks; empty for rankers that give no judge a slope.
    """
    jury = standings.diagnostics.get("jury")
    if not jury:
        return ()
    flagged = [make_check(name, True, fields=fields) for name, fields in failed_jury_checks(jury)]
    without_slopes = NO_SLOPES if jury["one_truth_p"] is None else ""
    reasons = {
        "judges contradict": without_slopes,
        "one truth": without_slopes,
        "shared errors": "" if jury["shared_errors"] else FEW_SHARED,
    }
    others = reasons.keys() - {check.name for check in flagged}
    passed = [
        not_known(name, reasons[name]) if reasons[name] else make_check(name, False)
        for name in sorted(others)
    ]
    return (*flagged, *passed)
