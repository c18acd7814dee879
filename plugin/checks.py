"""The checks of whether a ranking may be trusted: what is looked at, from where on it worries, why, what is said.

One row a check; whoever looks compares with `threshold` and says `sentence`, and nothing is measured here.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that is looked at.

    Attributes:
        name: by which it is asked for.
        threshold: the figure from which on it worries, in the unit that `reason` names.
        reason: why there and not elsewhere.
        sentence: the warning, with the figures that it names in braces; what to do stands in it.
    """

    name: str
    threshold: float
    reason: str
    sentence: str

    def say(self, **figures: object) -> str:
        """Return the warning with its figures.

        >>> CHECKS["items"].say(items=3, many="fewer than 30")
        '3 items only (fewer than 30): intervals rest on little, read them with care'
        """
        return self.sentence.format(**figures)


_ROWS = (
    Check(
        "unread",
        0.03,
        "share of replies: good judges lose about one in a hundred, and what a judge cannot say is not lost at random",
        "{unread} of {battles} battles are unread, {share:.1%} of the replies{written}. What helps: {remedy}",
    ),
    Check(
        "own model",
        0,
        "verdicts of a judge on itself: judges know their own words and prefer them, so that one is too many",
        "the judge {judge} judges itself ({entrant}): let another model decide, or take {entrant} out with --where; "
        "`podium diagnose` shows its self-preference",
    ),
    Check(
        "own family",
        0,
        "entrants of the judge's family: most families have been found to favour their own, by unlike amounts",
        "the judge {judge} is of the family of {entrants} ({family}): let a judge of another family decide, too, and "
        "compare (--by judge); self-preference in `podium diagnose` measures it, --entrants corrects the family",
    ),
    Check(
        "items",
        30,
        "items: with fewer, t quantiles and sandwiches are approximations",
        "{items} items only ({many}): intervals rest on little, read them with care",
    ),
    Check(
        "items of an entrant",
        30,
        "items in which an entrant has a battle: its own error rests on these alone",
        "in fewer than {fewest} items, so their intervals are too narrow: {names}",
    ),
    Check(
        "items of beta",
        30,
        "items with a human preference: beta's own error rests on these alone, however many battles are rated with it",
        "beta rests on human labels of {items} {unit}s only ({preferences} preferences): its interval, and all that it "
        "softens, rest on little; label battles of more {unit}s",
    ),
    Check(
        "verdicts beside the target",
        0.05,
        "share of the verdicts' error: stretched, most targets err alike, and half of them a hair more than verdicts",
        "plain verdicts err less than the target: {hard:.1f} Elo, not {soft:.1f} ({between}{known}): --compare sets "
        "all targets side by side",
    ),
    Check(
        "design",
        0.1,
        "share of a round robin's precision: differences vary ten times as much, so that ten times the battles are "
        "needed for the same answer",
        "weakly identified: the pairs that met give {efficiency:.1%} of the precision of a balanced round robin with "
        "as many battles (rating differences vary {times:.0f} times as much)",
    ),
)
CHECKS = {check.name: check for check in _ROWS}
"""All checks by name; a new one is a row."""
