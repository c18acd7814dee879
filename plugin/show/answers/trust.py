"""Write the second sentence of a ranking's answer: what the checks found, or how many are ok."""

from collections.abc import Sequence

from podium.check_kinds import GRAVITY
from podium.check_results import Check
from podium.diagnosis.checks.all_checks import CAUTIONS, flagged_checks
from podium.show.answers import rank_templates
from podium.show.answers.rank_templates import all_of
from podium.wording import number_word

MOST_DESCRIBED = 2
"""At most this many flagged checks are described. The others are only named."""


def trust_sentence(checks: Sequence[Check]) -> str:
    """Write what the flagged checks found, or how many checks passed and which could not be made.

    Cautions (checks in `CAUTIONS`) are not counted among the flagged checks. Flagged cautions are
    described in any case, after all other findings.

    Args:
        checks: checks whose p-values are adjusted (`adjust_tests`).
    """
    flagged = flagged_checks(checks)
    cautions = [check for check in checks if check.is_flagged and check.name in CAUTIONS]
    parts = _flagged_parts(flagged) if flagged else [_passed_part(checks, len(cautions))]
    parts += [rank_templates.CAUTION.format(text=check.clause) for check in cautions]
    if not flagged:
        parts += _unknown_parts(checks)
    return f"{'; '.join(parts)}."


def _flagged_parts(flagged: Sequence[Check]) -> list[str]:
    """Describe the first `MOST_DESCRIBED` flagged checks, and name the others.

    A remedy of several checks is given once.

    Args:
        flagged: the checks without cautions, the gravest first; at least one.

    Returns:
        Clauses without a full stop; only the first one begins in upper case.
    """
    gravest = flagged[0]
    parts = [gravest.start_sentence(gravest.clause)]
    remedies = {gravest.remedy}
    for check in flagged[1:MOST_DESCRIBED]:
        text = check.finding_text if check.remedy in remedies else check.clause
        remedies.add(check.remedy)
        parts.append(rank_templates.ALSO_FLAGGED.format(text=text))
    others = flagged[MOST_DESCRIBED:]
    if others:
        names = ", ".join(check.name for check in others)
        parts.append(rank_templates.MORE_FLAGGED.format(names=names))
    return parts


def _passed_part(checks: Sequence[Check], cautions: int) -> str:
    """Write how many checks passed, or that none could be made.

    The text has no full stop.

    Args:
        checks: all checks; no check but cautions is flagged, so that all others that were made have
            passed.
        cautions: number of flagged cautions, which did not pass.
    """
    made = sum(check.is_known for check in checks)
    passed = made - cautions
    number = len(checks)
    if not made:
        return "No check could be made"
    if not passed:
        return "No check passed"
    if passed == number:
        return f"{all_of(number, 'check').capitalize()} passed"
    return f"{number_word(passed)} of {number_word(number)} checks passed".capitalize()


def _unknown_parts(checks: Sequence[Check]) -> list[str]:
    """Write which checks could not be made and why, the gravest first.

    Returns:
        A list of one text; empty if all checks were made.
    """
    ordered = sorted(checks, key=lambda check: GRAVITY[check.name])
    unknown = [
        f"{check.kind.question or check.name} ({check.reason})"
        for check in ordered
        if not check.is_known
    ]
    if not unknown:
        return []
    return [rank_templates.UNKNOWN_CHECKS.format(names=", ".join(unknown))]
