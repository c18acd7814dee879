"""The kinds of checks of a ranking and of a judge: the threshold and the words of each.

`CHECKS` has a `CheckKind` per check, and `GRAVITY` their order. What a check found in some battles
is a `Check`, see `podium.check_results`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan
from typing import Literal

NO_THRESHOLD = nan
"""The `threshold` of a check that is not flagged by comparing a figure with a fixed number."""


NumberUnit = Literal["", "count", "share", "points", "p", "Elo", "log-odds"]
"""What the `number` of a check is, which says how tables write it and the threshold.

`points` are a difference of shares, and `p` is a p-value.
"""


@dataclass(frozen=True, slots=True)
class CheckKind:
    """What is fixed about a check: its threshold and its words.

    The texts are templates, filled with the fields of a `Check`. They are parts of sentences: they
    begin in lower case, unless with a name, and end without a full stop.

    Attributes:
        name: name in tables and in sentences.
        threshold: the check is flagged by comparing its figure with this number.
            docs/statistics.md says its unit and the reason for it. `NO_THRESHOLD` if the check
            has no fixed threshold.
        flagged: what was found if the check is flagged.
        ok: what was found if the check is ok.
        figure: the measured figure with its interval. Tables show it instead of `flagged` and
            `ok` if the `Check` has every field that this template names.
        number: the figure without its interval, for a table with a column per check.
        remedy: what to do if the check is flagged.
        remedy_apart: whether the remedy is left out of the clause that says what was found.
        starts_with_name: whether `flagged` begins with the name of a model or judge.
        question: what is unknown if the check cannot be made. If it is empty, texts show the
            name of the check instead.
        unit: what the number is; empty if tables show no number.
        by_p: whether the threshold is an error rate, with which the p-value is compared and not
            the number.
        is_descriptive: whether the check reports a figure and is never flagged.
    """

    name: str
    threshold: float
    flagged: str = ""
    ok: str = ""
    figure: str = ""
    number: str = ""
    remedy: str = ""
    remedy_apart: bool = False
    starts_with_name: bool = False
    question: str = ""
    unit: NumberUnit = ""
    by_p: bool = False
    is_descriptive: bool = False

    @property
    def column(self) -> str:
        """The header of this check in a table with a column per check.

        The four checks of the order of responses share the column `position`.
        """
        names = ("order decides", "one order", "order in slices")
        return "position" if self.name in names else self.name

    @property
    def code(self) -> str:
        """The name in JSON, for example `lost-replies`.

        A warning about the same finding has the same code.
        """
        return self.name.replace(" ", "-")

    @property
    def clause_template(self) -> str:
        """Template of what was found, followed by the remedy unless `remedy_apart` is set."""
        has_remedy = self.remedy and not self.remedy_apart
        return f"{self.flagged}: {self.remedy}" if has_remedy else self.flagged


_CHECKS = (
    CheckKind(
        "connected",
        threshold=1,
        flagged="{groups} groups of models never met",
        ok="battles connect all models",
        number="{groups}",
        remedy="{remedy}",
        remedy_apart=True,
        unit="count",
    ),
    CheckKind(
        "unit",
        threshold=0,
        flagged="rows are counted as independent, but the column {column!r} looks like the item",
        remedy="say --columns {option}",
    ),
    CheckKind(
        "score scale",
        threshold=10,
        flagged=(
            "scores{of_metric} of {low_models} look like {low_kind} and those of {high_models} "
            "like {high_kind} ({low:.3g} and {high:.3g} {place}{more}), and are compared as they "
            "are"
        ),
        remedy="write all scores in one unit",
    ),
    CheckKind(
        "same question",
        threshold=0,
        flagged=(
            "runs differ in the {what} of {conflicts:,} of {ids:,} ids{of} ({example}): "
            "these are not compared where no other run has the same"
        ),
        ok="all models were asked the same questions",
        question="whether all models were asked the same questions",
        remedy="run the models on the same dataset",
        unit="count",
    ),
    CheckKind(
        "same responses",
        threshold=0.05,
        flagged=(
            "{model} has different responses to {differing:,} of {items:,} items "
            "({example}{more}), and no column counts them as repeats"
        ),
        remedy="give each set of responses a name of its own",
        starts_with_name=True,
        unit="share",
    ),
    CheckKind(
        "same settings",
        threshold=0,
        flagged="models were run with different settings: {differences}",
        ok="all models had the same prompt, shots, task version, dataset and scorers{but}",
        figure=(
            "all models had the same prompt, shots, task version, dataset and scorers{but}; they "
            "differ in {own}"
        ),
        question="whether all models had the same prompt, shots, dataset and scorers",
        remedy="run them with the same settings",
        remedy_apart=True,
    ),
    CheckKind(
        "same items",
        threshold=0.9,
        flagged=(
            "{model} is scored on {number:,} of {items:,} items{more}, and means over different "
            "items are compared"
        ),
        remedy="{remedy}",
        remedy_apart=True,
        starts_with_name=True,
        unit="share",
    ),
    CheckKind(
        "unparsed",
        threshold=0.03,
        flagged="{share:.1%} of {replies}, and left out as if lost at random",
        ok="{share:.1%} of {replies}",
        figure=(
            "{unparsed:,} of {battles:,} battles are unparsed ({lost:.1%}){missing}{of_replies}"
        ),
        number="{share:.1%}",
        remedy="{remedy}",
        remedy_apart=True,
        unit="share",
    ),
    CheckKind(
        "order decides",
        threshold=0.25,
        flagged=(
            "{judges} may not rank: the response shown first has a win rate of {first} "
            "({interval}), and {flip:.0%} of verdicts flip"
        ),
        figure="the response shown first has a win rate of {first} ({interval})",
        number="{first}",
        remedy="use {other}{ways}",
        remedy_apart=True,
        unit="points",
    ),
    CheckKind(
        "only ties",
        threshold=0.9,
        flagged=(
            "{judges} gave ties on {share:.1%} of {battles:,} battles, which say little about who "
            "is better"
        ),
        number="{share:.1%}",
        remedy="use {other}{ways}",
        remedy_apart=True,
        unit="share",
    ),
    CheckKind(
        "order in slices",
        threshold=0.025,
        flagged=(
            "on {value}, the response shown first has a win rate of {first} ({interval}){whose}, "
            "unlike on the other values of {column}{others}"
        ),
        number="{first}",
        remedy="look at each value with {option}, or use another judge there",
        unit="points",
    ),
    CheckKind(
        "lost replies",
        threshold=0.05,
        flagged="{share:.1%} of the {results} of {model} are {lost}, and {all:.1%} of all",
        ok="no model's {results} are {lost} more often than others",
        remedy="{remedy}",
        unit="share",
        by_p=True,
    ),
    CheckKind(
        "lost outcomes",
        threshold=0.05,
        flagged=(
            "the unparsed verdicts{of_model} are not like the parsed ones: by {source}, {who} wins "
            "{lost_rate:.1%} of them, where {expected:.1%} would be usual"
        ),
        ok="by {source}, unparsed verdicts have the same winners as parsed ones",
        remedy="{remedy}",
        question="whether the unparsed verdicts would have had other winners",
        unit="points",
        by_p=True,
    ),
    CheckKind(
        "lost scores",
        threshold=0.05,
        flagged="{share:.1%} of the scores of {model} are missing, and {all:.1%} of all",
        ok="no model's scores are missing more often than others",
        remedy="score these responses, or count them as wrong",
        unit="share",
        by_p=True,
    ),
    CheckKind(
        "ladder scale",
        threshold=1,
        flagged=(
            "the ladder is on another scale (slope {slope:.2f}, {low:.2f} … {high:.2f}): nothing "
            "is"
            " claimed about {new}"
        ),
        ok="the ladder is on the scale of these battles",
    ),
    CheckKind(
        "ladder rating",
        threshold=0.045,
        flagged="the ladder's rating of {model} is {drift:.0f} Elo too {side} for these battles",
        ok="the ladder's ratings agree with these battles",
        remedy="correct it or leave it out",
        by_p=True,
    ),
    CheckKind(
        "groups",
        threshold=0.02,
        flagged=(
            "{units} of one {noun} favour the same models (column {column}, {groups} groups, "
            "p = {p}), and the intervals take them as independent"
        ),
        ok=(
            "{units} of one {noun} vary as much as others (column {column}, {groups} groups, "
            "p = {p})"
        ),
        number="{p}",
        remedy=(
            "take these groups as the unit with {option}; if only these groups matter, rank them "
            "one by one with {by}"
        ),
        unit="p",
    ),
    CheckKind(
        "categories",
        threshold=0.02,
        flagged=(
            "the order depends on the column {column}: {first} is ahead of {second} on {value} "
            "({here}) and behind it on {others} ({there})"
        ),
        ok="{finding} (p = {p})",
        number="{p}",
        remedy="rank the values one by one with {option}",
        unit="p",
    ),
    CheckKind(
        "items",
        threshold=30,
        flagged="only {items} {noun}: {intervals}",
        ok="{items:,} {noun}",
        number="{items:,}",
        unit="count",
    ),
    CheckKind(
        "own model",
        threshold=0,
        flagged="the judge {judge} judges itself",
        ok="the judge is none of the models",
        remedy="use another judge",
    ),
    CheckKind(
        "own family",
        threshold=0,
        flagged="the judge {judge} is of the same family as {models} ({family})",
        ok="no model is known to be of the judge's family",
        remedy="add a judge of another family",
        unit="count",
    ),
    CheckKind(
        "position",
        threshold=0.025,
        flagged=(
            "{flip:.0%} of {verdicts} flip when the responses change places, and the response "
            "shown"
            " first has a win rate of {first}"
        ),
        figure="the response shown first has a win rate of {first} ({interval})",
        number="{first}",
        remedy="keep both orders, which together cancel this preference",
        unit="points",
    ),
    CheckKind(
        "one order",
        threshold=0,
        flagged=(
            "the response shown first wins {estimate} ({interval}) of {verdicts}, and {pairs} in "
            "both orders"
        ),
        figure="the response shown first wins {estimate} ({interval}) of {verdicts}",
        number="{estimate}",
        remedy="show both orders",
        unit="points",
    ),
    CheckKind(
        "repeated",
        threshold=NO_THRESHOLD,
        figure="the same verdict on {estimate} ({interval}): noise that the intervals include",
        number="{estimate}",
        unit="share",
        is_descriptive=True,
    ),
    CheckKind(
        "length",
        threshold=0.1,
        flagged="{who} {longer} responses by {weight:.2f} log-odds per factor e in length",
        ok="neither longer nor shorter responses are favoured beyond chance",
        figure="log-odds per factor e in length: {estimate} ({interval})",
        number="{estimate}",
        remedy="{remedy}",
        unit="log-odds",
    ),
    CheckKind(
        "self-preference",
        threshold=20,
        flagged=(
            "the judge rates models of its family {size} ({interval}) {direction} than others do"
        ),
        figure="it rates models of its family {size} ({interval}) {direction} than others do",
        number="{estimate}",
        remedy="let a judge of another family decide, too",
        unit="Elo",
    ),
    CheckKind(
        "human",
        threshold=0.5,
        figure="the same winner as humans on {estimate} ({interval}), kappa {kappa}",
        number="{estimate}",
        remedy="do not rank by this judge: it is no better than chance",
        unit="share",
    ),
    CheckKind(
        "transitivity",
        threshold=NO_THRESHOLD,
        figure="{estimate} of verdicts on three models form a cycle (random ones: {random:.0%})",
        number="{estimate}",
        remedy="do not rank by this judge: its verdicts are no better than chance",
        unit="share",
    ),
    CheckKind(
        "cycle",
        threshold=0.05,
        flagged="{a} beats {b}, {b} beats {c}, and {c} beats {a}: no ranking explains all three",
        ok="no cycle of three models is beyond chance (triples: {triples:,})",
        number="{certain:,} of {triples:,}",
        starts_with_name=True,
        unit="count",
        by_p=True,
    ),
    CheckKind(
        "fit",
        threshold=0.02,
        flagged=(
            "the ratings do not explain {a} against {b}: it wins {observed:.0%}, the ratings "
            "predict {expected:.0%}"
        ),
        ok="the ratings explain the win rates of all {tested:,} tested pairs",
        number="{missed:,} of {tested:,}",
        remedy="look at such pairs one by one: `podium diagnose --section fit`",
        remedy_apart=True,
        unit="points",
    ),
    CheckKind(
        "ties",
        threshold=0.05,
        flagged=(
            "the order of {a} and {b} depends on how ties count: {a} is ahead if a tie is half a "
            "win, and {b} {how}"
        ),
        ok=(
            "no order of two models depends on whether ties count as half a win, as outcomes of "
            "their own (Davidson) or not at all"
        ),
        remedy="quote wins, ties and losses of these two models",
        unit="count",
        by_p=True,
    ),
    CheckKind(
        "time",
        threshold=0.05,
        flagged=(
            "the win rate of {model} against the same opponents changes by {change} ({interval}) "
            "from the first to the last battle (column {column}, {span})"
        ),
        ok=(
            "no model's win rate against the same opponents changes over time beyond chance "
            "(column {column}, {span})"
        ),
        remedy="rank the first and the second half of the battles by themselves",
        unit="points",
        question="whether models or judges changed over time",
    ),
    CheckKind(
        "judges contradict",
        threshold=0,
        flagged="the judges contradict each other (slope below 0: {who})",
        ok="no judge contradicts the others",
        remedy="leave out the one that is wrong",
    ),
    CheckKind(
        "one truth",
        threshold=0.05,
        flagged="the judges do not share one truth{who}: the ratings are of this mix of judges",
        ok="the judges' own ratings differ by slopes and chance only",
        by_p=True,
    ),
    CheckKind(
        "shared errors",
        threshold=0.05,
        flagged="{first} and {second} share errors: together they count as less than two judges",
        ok="no two judges share errors beyond the others",
        starts_with_name=True,
        by_p=True,
    ),
    CheckKind(
        "played pairs",
        threshold=0,
        flagged=(
            "what until={until} decided is about the pairs that were played: a round robin may "
            "contradict it"
        ),
    ),
    CheckKind(
        "misjudged models",
        threshold=0.01,
        flagged="human labels contradict the judge on {models}: rated mainly by the labels",
        question="whether the judge misjudges a model",
        unit="count",
    ),
    CheckKind(
        "first place",
        threshold=2,
        flagged="without {items}, {rival} leads instead of {leader}",
        ok="no removal of up to {tried} {nouns} was found that changes the leader {leader}",
        figure=(
            "dropping {dropped} changes the leader from {leader}: without {items}, {rival} leads"
        ),
        unit="count",
    ),
    CheckKind(
        "decisive rater",
        threshold=1,
        flagged="without {unit} {name} ({verdicts}), {change}{others}",
        ok="without any one of {raters}, {kept}",
        question="whether one voter or judge decides who is ahead",
        unit="count",
    ),
    CheckKind(
        "voters",
        threshold=NO_THRESHOLD,
        figure=(
            "{raters}: the busiest gave {share:.1%} of the {verdicts}; errors that include how "
            "they differ are {factor:.2f} times as large"
        ),
        question="how much voters or judges differ",
        unit="share",
        is_descriptive=True,
    ),
    CheckKind(
        "judges",
        threshold=NO_THRESHOLD,
        figure=(
            "{judge} agrees least with the others: on {estimate} ({interval}) of {verdicts} that "
            "name a winner{most}"
        ),
        question="which judge disagrees with the others",
        unit="share",
        is_descriptive=True,
    ),
    CheckKind(
        "places",
        threshold=NO_THRESHOLD,
        figure="{apart} of {pairs} neighbouring places {are} separated{which}{further}",
        question="which places are separated",
        unit="count",
        is_descriptive=True,
    ),
    CheckKind(
        "elo",
        threshold=NO_THRESHOLD,
        ok="{advice}",
        question="whether gaps in Elo may be quoted",
        is_descriptive=True,
    ),
    CheckKind(
        "human scale",
        threshold=NO_THRESHOLD,
        ok="the ratings are on the scale of humans {source} (beta {beta})",
        unit="log-odds",
        question="whether distances match human ratings",
        is_descriptive=True,
    ),
)
"""The checks, the gravest first.

The first make all other checks unreliable, the next bias every rating, and the last find where the
Bradley-Terry model does not fit.
"""
_WARNINGS = (
    CheckKind(
        "mass of text",
        threshold=0.5,
    ),
    CheckKind(
        "mass of schema",
        threshold=0.05,
    ),
    CheckKind(
        "items of a model",
        threshold=30,
    ),
    CheckKind(
        "items of beta",
        threshold=30,
    ),
    CheckKind(
        "verdicts beside the target",
        threshold=0.05,
    ),
    CheckKind(
        "design",
        threshold=0.1,
    ),
)
"""Thresholds of warnings about one ranker or judge. No list of checks shows these."""
CHECKS: Mapping[str, CheckKind] = {kind.name: kind for kind in (*_CHECKS, *_WARNINGS)}
NAME_OF_CODE: Mapping[str, str] = {kind.code: name for name, kind in CHECKS.items()}
"""Names of the checks, by their code in JSON."""
GRAVITY: Mapping[str, int] = {kind.name: place for place, kind in enumerate(_CHECKS)}
"""The place of each check by name: 0 is the gravest."""
