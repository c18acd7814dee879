"""The trust checks of a ranking: threshold and warning of each, without the computation."""

from dataclasses import dataclass

LENGTH_CONTROL = "--set length_control=true"
"""The option of bradley-terry and win-rate, and of no other ranker, to rank at equal length."""


@dataclass(frozen=True, slots=True)
class Check:
    """One trust check: the figure from which it warns (unit and reason: docs/statistics.md), and
    its sentences."""

    name: str
    threshold: float
    sentence: str
    short: str = ""
    """For an answer of three sentences; empty if `sentence` is short enough."""

    @property
    def code(self) -> str:
        """The name as scripts know it, as `lost-replies`; the warning about it has the same."""
        return self.name.replace(" ", "-")

    def short_warning(self, **figures: object) -> str:
        """Format the short warning with its figures, as a sentence."""
        return f"{(self.short or self.sentence).format(**figures)}."


_CHECKS = (
    Check(
        "unit",
        0,
        "rows are counted as independent, but the column {column!r} looks like the item: say --columns {option}",
        "Rows are counted as independent, but the column {column!r} looks like the item: say --columns {option}",
    ),
    Check(
        "unparsed",
        0.03,
        "{unparsed} of {battles} battles are unparsed, {share:.1%} of the replies{written}. What helps: {remedy}",
        "{share:.1%} of the judge's replies are unparsed, and left out as if lost at random",
    ),
    Check(
        "order decides",
        0.25,
        "{judges} may not rank: the response shown first has a win rate of {first} ({interval}), and {flip:.0%} of "
        "verdicts flip",
    ),
    Check(
        "mass of text",
        0.5,
        "{number} of {verdicts} verdicts count as parsed, not graded: the allowed answers hold less than {mass:.0%} of "
        "the probability at their token; with replies=schema, more are graded",
    ),
    Check(
        "mass of schema",
        0.05,
        "{number} of {verdicts} verdicts count as parsed, not graded: the allowed answers hold less than {mass:.0%} of "
        "the probability at their token in the JSON",
    ),
    Check(
        "lost replies",
        0.05,
        "{share:.1%} of the battles of {model} are unparsed, and {all:.1%} of all: fix the judge's replies first",
    ),
    Check(
        "own model",
        0,
        "the judge {judge} judges itself ({model}): use another judge, or remove the rows of {model}. "
        "`podium diagnose` measures its self-preference",
        "The judge {judge} judges itself: use another judge",
    ),
    Check(
        "self-preference",
        0,
        "the judge {judge} is of the same family as {models} ({family}): add a judge of another family and compare "
        "(--by judge). `podium diagnose` measures self-preference; --models corrects a family",
        "The judge {judge} is of the same family as {models} ({family}): add a judge of another family",
    ),
    Check(
        "items",
        30,
        "only {items} items ({many}): the intervals are approximate",
        "Only {items} {noun}: the intervals are approximate",
    ),
    Check(
        "items of a model",
        30,
        "in fewer than {fewest} items, so their intervals are too narrow: {names}",
    ),
    Check(
        "items of beta",
        30,
        "beta rests on human labels of {items} {unit}s only ({preferences} preferences): its interval, and all that it "
        "softens, rest on little; label battles of more {unit}s",
    ),
    Check(
        "verdicts beside the target",
        0.05,
        "{plain} verdicts err less than the target: {hard:.1f} Elo, not {soft:.1f} ({between}{known}): --compare sets "
        "all targets side by side",
    ),
    Check(
        "design",
        0.1,
        "weakly identified: the pairs that met give {efficiency:.1%} of the precision of a balanced round robin with "
        "as many battles (rating differences vary {times:.0f} times as much)",
    ),
    Check(
        "position",
        0.025,
        "{flip:.0%} of {verdicts} flip when the responses change places, and the response shown first has a win rate "
        "of {first}: keep both orders, which together cancel this preference",
    ),
    Check(
        "length",
        0.1,
        "The judge favours {longer} responses by {weight:.2f} log-odds per e-fold of length: also rank at equal "
        f"length ({LENGTH_CONTROL})",
    ),
    Check(
        "cycle",
        0.05,
        "{a} beats {b}, {b} beats {c}, and {c} beats {a}: no ranking explains all three",
    ),
    Check(
        "fit",
        0.02,
        "The ratings do not explain {a} against {b}: it wins {observed:.0%}, the ratings predict {expected:.0%}",
    ),
    Check(
        "ladder scale",
        1,
        "the ladder is on another scale than these battles: their ratings rise by {slope:.2f} ({low:.2f} … {high:.2f}) "
        "per point of the ladder, so nothing is claimed about {new}. What helps: ratings by this judge and prompt",
        "The ladder is on another scale (slope {slope:.2f}, {low:.2f} … {high:.2f}): nothing is claimed about {new}",
    ),
    Check(
        "ladder rating",
        0.045,
        "The ladder's rating of {model} is {drift:.0f} Elo too {side} for these battles: correct it or leave it out",
    ),
    Check(
        "judges contradict",
        0,
        "the judges contradict each other (slope below 0: {who}): all slopes are equal; leave out the wrong one",
        "The judges contradict each other (slope below 0: {who}): leave out the one that is wrong",
    ),
    Check(
        "one truth",
        0.05,
        "the judges do not share one truth (p = {p:.2g}): their own ratings differ beyond slopes and chance{who}. All "
        "slopes are equal, and the ratings are of this mix of judges",
        "The judges do not share one truth{who}: the ratings are of this mix of judges",
    ),
    Check(
        "shared errors",
        0.05,
        "{first} and {second} share errors: their residuals correlate at {own:.2f} on {battles:,} battles, those of "
        "the other pairs at {others:.2f}, so that together they count as less than two judges",
        "{first} and {second} share errors: together they count as less than two judges",
    ),
    Check(
        "played pairs",
        0,
        "what until={until} decided is about the pairs that were played: a round robin may contradict it",
        "What until={until} decided is about the pairs that were played: a round robin may contradict it",
    ),
    Check(
        "first place",
        2,
        "Without {items}, {rival} leads instead of {leader}",
    ),
    Check(
        "misjudged models",
        0.01,
        "Human labels contradict the judge on {models}: rated mainly by the labels",
    ),
)
CHECKS = {check.name: check for check in _CHECKS}
"""All checks by name."""
