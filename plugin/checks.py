"""The trust checks of a ranking: threshold, reason and warning of each, without the computation."""

import re
from dataclasses import dataclass

LENGTH_CONTROL = "--set length_control=true"
"""The option of bradley-terry and win-rate, and of no other ranker, to rank at equal length."""


@dataclass(frozen=True, slots=True)
class Check:
    """One trust check: the figure that it warns from, in the unit that `reason` begins with, and its sentences."""

    name: str
    threshold: float
    reason: str
    sentence: str
    short: str = ""
    """For an answer of three sentences; empty if `sentence` is short enough."""

    def warning(self, **figures: object) -> str:
        """Format the warning with its figures."""
        return self.sentence.format(**figures)

    def short_warning(self, **figures: object) -> str:
        """Format the short warning with its figures, as a sentence."""
        return f"{(self.short or self.sentence).format(**figures)}."

    def is_warning(self, text: str) -> bool:
        """Return whether a text is this check's warning, with any figures."""
        fixed_parts = re.split(r"\{[^}]*\}", self.sentence)
        return re.fullmatch(".+".join(map(re.escape, fixed_parts)), text) is not None


_CHECKS = (
    Check(
        "unparsed",
        0.03,
        "share of replies: good judges lose about one in a hundred, and the ratings take lost ones for lost at random",
        "{unparsed} of {battles} battles are unparsed, {share:.1%} of the replies{written}. What helps: {remedy}",
        "{share:.1%} of the judge's replies are unparsed, and left out as if lost at random",
    ),
    Check(
        "order decides",
        0.25,
        "win rate of the response shown first beyond a half: twice as large is the share of pairs that the order alone "
        "decides (flips to the first less flips to the second), here half of them: it outweighs the responses",
        "{judges} may not rank: the response shown first has a win rate of {first} ({interval}), and {flip:.0%} of "
        "verdicts flip",
    ),
    Check(
        "mass of text",
        0.5,
        "probability of the allowed answers at a text verdict's token: with less, the judge would mostly have written "
        "something else, and the odds of the answers are no judgment that it made",
        "{number} of {verdicts} verdicts count as parsed, not graded: the allowed answers hold less than {mass:.0%} of "
        "the probability at their token; with replies=schema, more are graded",
    ),
    Check(
        "mass of schema",
        0.05,
        "probability of the allowed answers in a JSON reply: servers report it before the schema excludes all others, "
        ".35 was measured where the schema left two; below, rounding and the cut at 20 alternatives decide",
        "{number} of {verdicts} verdicts count as parsed, not graded: the allowed answers hold less than {mass:.0%} of "
        "the probability at their token in the JSON",
    ),
    Check(
        "lost replies",
        0.05,
        "adjusted p that the battles of one model are unparsed more or less often than all: not lost at random",
        "{share:.0%} of the battles of {model} are unparsed, and {all:.0%} of all: fix the judge's replies first",
    ),
    Check(
        "own model",
        0,
        "verdicts of a judge on itself: judges know their own words and prefer them, so that one is too many",
        "the judge {judge} judges itself ({model}): use another judge, or leave {model} out with --where. "
        "`podium diagnose` measures its self-preference",
        "The judge {judge} judges itself: use another judge",
    ),
    Check(
        "self-preference",
        0,
        "models of the judge's family: most families have been found to favour their own, by unlike amounts",
        "the judge {judge} is of the same family as {models} ({family}): add a judge of another family and compare "
        "(--by judge). `podium diagnose` measures self-preference; --models corrects a family",
        "The judge {judge} is of the same family as {models} ({family}): add a judge of another family",
    ),
    Check(
        "items",
        30,
        "items: with fewer, t quantiles and sandwiches are approximations",
        "only {items} items ({many}): the intervals are approximate",
        "Only {items} items: the intervals are approximate",
    ),
    Check(
        "items of a model",
        30,
        "items in which a model has a battle: its own error rests on these alone",
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
        "share of the verdicts' error: scale-corrected targets mostly err alike, half of them a bit more than verdicts",
        "{plain} verdicts err less than the target: {hard:.1f} Elo, not {soft:.1f} ({between}{known}): --compare sets "
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
    Check(
        "position",
        0.025,
        "credit of the response shown first beyond a half: one verdict in twenty is then the order's, not the judge's",
        "{flip:.0%} of verdicts flip when the responses change places, and the response shown first has a win rate "
        "of {first:.1%}: keep both orders, which together cancel this preference",
    ),
    Check(
        "length",
        0.1,
        "log-odds per e-fold of length, strengths held fixed: twice the length then wins 52 of 100 level battles",
        "The judge favours {longer} responses by {weight:.2f} log-odds per e-fold of length: also rank at equal "
        f"length ({LENGTH_CONTROL})",
    ),
    Check(
        "cycle",
        0.05,
        "adjusted p that three models beat each other in a ring: no order of models explains it",
        "{a} beats {b}, {b} beats {c}, and {c} beats {a}: no ranking explains all three",
    ),
    Check(
        "fit",
        0.02,
        "win rate of a pair off what strengths say, if it is no chance: less moves no rating by more than its error",
        "The ratings do not explain {a} against {b}: it wins {observed:.0%}, the ratings predict {expected:.0%}",
    ),
    Check(
        "ladder scale",
        1,
        "slope of these battles' ratings on the ladder, outside its 97.5% interval: no rating can be carried over",
        "the ladder is on another scale than these battles: their ratings rise by {slope:.2f} ({low:.2f} … {high:.2f}) "
        "per point of the ladder, so nothing is claimed about {new}. What helps: ratings by this judge and prompt",
        "The ladder is on another scale (slope {slope:.2f}, {low:.2f} … {high:.2f}): nothing is claimed about {new}",
    ),
    Check(
        "ladder rating",
        0.045,
        "adjusted p that the ladder's rating of a model is off these battles: another version, or another prompt; with "
        "the 2.5% of the slope, at most 7% of right ladders raise an alarm",
        "The ladder's rating of {model} is {drift:.0f} Elo too {side} for these battles: correct it or leave it out",
    ),
    Check(
        "judges contradict",
        0,
        "slope below which the interval of a judge's slope lies: it prefers what the others reject, and a slope would "
        "turn its verdicts around",
        "the judges contradict each other (slope below 0: {who}): all slopes are equal; leave out the wrong one",
        "The judges contradict each other (slope below 0: {who}): leave out the one that is wrong",
    ),
    Check(
        "one truth",
        0.05,
        "p-value of judges whose ratings agree up to slopes: otherwise slopes weight tastes, and ratings err more",
        "the judges do not share one truth (p = {p:.2g}): their own ratings differ beyond slopes and chance{who}. All "
        "slopes are equal, and the ratings are of this mix of judges",
        "The judges do not share one truth{who}: the ratings are of this mix of judges",
    ),
    Check(
        "shared errors",
        0.05,
        "probability that a pair of judges is named although items mislead all judges alike",
        "{first} and {second} share errors: their residuals correlate at {own:.2f} on {battles:,} battles, those of "
        "the other pairs at {others:.2f}, so that together they count as less than two judges",
        "{first} and {second} share errors: together they count as less than two judges",
    ),
    Check(
        "played pairs",
        0,
        "decisions of a tournament in which some pairs hardly met: no test of its battles finds what they would show",
        "what until={until} decided is about the pairs that were played: a round robin may contradict it",
        "What until={until} decided is about the pairs that were played: a round robin may contradict it",
    ),
    Check(
        "first place",
        2,
        "items without which a clear leader no longer leads: one or two may be mislabelled",
        "Without {items}, {rival} leads instead of {leader}",
    ),
    Check(
        "misjudged models",
        0.01,
        "chance that any of K models is flagged where the judge is right, each tested at a K-th of it: above, ratings "
        "by a right judge have larger errors, and the intervals of misjudged models cover no more",
        "Human labels contradict the judge on {models}: rated mainly by the labels",
    ),
)
CHECKS = {check.name: check for check in _CHECKS}
"""All checks by name."""
