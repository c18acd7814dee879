"""May it be trusted: the worst of some checks in a sentence, or that all are fine, and which could not be made."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from podium.rankers.intervals import holm

ORDER = (
    *("unread", "items", "own model", "own family", "position", "length", "cycle", "fit", "first place"),
    "people",
)
"""Checks, the gravest first: what makes all others worth little, what tilts every rating, what the model misses."""
ABOUT = {"people": "whether distances are people's"}
"""What is not known where a check could not be made; by default its name."""
ERROR_RATE = 0.05
"""Of all tests together: nine at 5% each would alarm in 37% of healthy rankings."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found.

    Attributes:
        check: its name in `podium.checks.CHECKS`.
        sentence: what is said if it worries.
        worries: whether the figure is beyond the threshold; of a test only if it survives Holm's rule over all tests.
        p: of a test; None of what is none.
        unknown: why the check could not be made; empty where it was.
    """

    check: str
    sentence: str = ""
    worries: bool = False
    p: float | None = None
    unknown: str = ""


def settle_tests(findings: Sequence[Finding]) -> list[Finding]:
    """Take back the worries of tests that do not survive Holm's rule over all tests together."""
    p = np.array([np.nan if finding.p is None else finding.p for finding in findings])
    adjusted = holm(p)
    return [
        finding
        if finding.p is None
        else Finding(finding.check, finding.sentence, finding.worries and bool(q <= ERROR_RATE), float(q))
        for finding, q in zip(findings, adjusted, strict=True)
    ]


def trust_sentence(findings: Sequence[Finding]) -> str:
    """Say the worst check; if none worries, that all passed, and which could not be made: that is not a pass."""
    settled = sorted(settle_tests(findings), key=lambda finding: ORDER.index(finding.check))
    worst = next((finding for finding in settled if finding.worries), None)
    if worst is not None:
        return worst.sentence
    unknown = [
        f"{ABOUT.get(finding.check, finding.check)} ({finding.unknown})" for finding in settled if finding.unknown
    ]
    number = len(settled) - len(unknown)
    passed = f"All {number} checks passed" if number > 1 else "The one check passed" if number else "No check was made"
    return f"{passed}; not known: {', '.join(unknown)}." if unknown else f"{passed}."
