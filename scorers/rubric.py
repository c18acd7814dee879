"""rubric: both responses scored on six criteria (Soft-Elo, appendix A); the margin is the mean difference."""

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

from podium.scorers.asking import Settings
from podium.scorers.json_reply import only_object
from podium.scorers.reading import no_verdict, says_nothing
from podium.scorers.realization import Realization
from podium.scorers.template import packaged
from podium.scorers.verdict import Reply, Verdict, unread

CRITERIA = ("adherence", "helpfulness", "factuality", "completeness", "clarity", "fluency")
SIDES = frozenset("AB")
LOW, HIGH = 1, 10


def read(reply: Reply, settings: Settings) -> Verdict:  # noqa: ARG001
    """Read the scores of both responses; the credit is the sign of the mean difference."""
    nothing = says_nothing(reply)
    if nothing:
        return unread(nothing)
    found = only_object(reply.text, SIDES)
    if isinstance(found, str):
        return unread(no_verdict(reply.text) if found == "no verdict" else found)
    reason = _why_not(found["A"]) or _why_not(found["B"])
    return unread(reason) if reason else _verdict(found["A"], found["B"])


def _why_not(scores: Any) -> str | None:
    """Return what is wrong with the scores of one response."""
    if not isinstance(scores, dict) or scores.keys() != set(CRITERIA):
        return "bad JSON"
    if any(isinstance(score, bool) or not isinstance(score, int | Decimal) for score in scores.values()):
        return "bad JSON"
    return None if all(LOW <= score <= HIGH for score in scores.values()) else "out of range"


def _verdict(a: Mapping[str, int | Decimal], b: Mapping[str, int | Decimal]) -> Verdict:
    """Return the verdict of two lists of scores; fractions, so that rounding decides no tie."""
    difference = {name: Fraction(a[name]) - Fraction(b[name]) for name in CRITERIA}
    margin = sum(difference.values(), Fraction()) / len(CRITERIA)
    credit = (margin > 0) + (margin == 0) / 2
    return Verdict(credit, margin=float(margin), criteria={name: float(one) for name, one in difference.items()})


RUBRIC = Realization(
    name="rubric",
    kind="pairwise",
    template=partial(packaged, "rubric"),
    read=read,
    yields=("credit", "margin", "criteria"),
    max_tokens=1024,
)
