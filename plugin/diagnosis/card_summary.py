"""The summary of a judge card: a line per check, and at most three sentences, chosen by rules."""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

from podium.checks import CHECKS
from podium.diagnosis.card_words import ANSWERS, DOUBT, FIGURES, JUDGE, VERDICTS
from podium.diagnosis.figures import Figured, Missing, Statistic
from podium.diagnosis.human_agreement import agreement_lead
from podium.diagnosis.order_effect import may_decide_nothing_or_all
from podium.diagnosis.preferences import NAME_FAMILIES
from podium.tables import EMPTY
from podium.text import lower_first_word

Answers: TypeAlias = Mapping[str, Any]
"""The sections of a card by name: each a `CardAnswer`, or `Missing`."""
MOST_UNPARSED = CHECKS["unparsed"].threshold
FIRST_NUMBER = re.compile(r"-?[\d.]+(%| of [\d,]+| Elo)?")
MOST_BY_ORDER = CHECKS["order decides"].threshold
LARGEST_EFFECT = CHECKS["length"].threshold
"""Log-odds per e-fold of length: a smaller effect of length is fine."""
LARGEST_EXCESS = 20.0
"""Elo, 53% of battles: a smaller self-preference is fine."""
MATCHING_SLOPE = (0.8, 1.25)
"""Slopes between which Elo gaps match human ones, provided that the interval contains 1."""


class CheckLine(NamedTuple):
    """One check of a judge: its name, what was found, and the outcome (a key of `VERDICTS`)."""

    name: str
    figure: str
    outcome: str
    remedy: str = ""

    @property
    def verdict(self) -> str:
        """The outcome in words, with the remedy."""
        return VERDICTS[self.outcome].format(remedy=self.remedy).removesuffix(": ")

    @property
    def short(self) -> str:
        """The first number of the figure; a dash if the check could not be made."""
        number = FIRST_NUMBER.search(self.figure)
        return (
            EMPTY
            if self.outcome in ("unknown", "untested")
            else number[0]
            if number
            else self.figure
        )


def check_lines(answers: Answers) -> tuple[CheckLine, ...]:
    """Return one line per check, in the order of `RULES`."""
    lines = []
    for name, (section, needed, judge_section) in RULES.items():
        reply = answers[section]
        lacking = reply if isinstance(reply, Missing) or not needed else getattr(reply, needed)
        if isinstance(lacking, Missing):
            remedy = "--families" if lacking.remedy == NAME_FAMILIES else lacking.remedy
            remedy, figure = (
                ("--repeats 2", "never") if name == "repeated" else (remedy, lacking.why)
            )
            lines.append(CheckLine(name, figure, "unknown", remedy))
        else:
            lines.append(CheckLine(name, FIGURES[name].format(section=reply), judge_section(reply)))
    return tuple(lines)


def card_answer(answers: Answers) -> tuple[str, ...]:
    """Say whether the judge may rank, whether its Elo gaps match human ones, and what to do
    next."""
    return tuple(filter(None, (_may_rank(answers), _scale(answers), _next_step(answers))))


def best_with_humans(cards: Mapping[str, Any]) -> str:
    """Name the two judges that humans agree with most, and their difference; empty without human
    labels."""
    shares = {
        name: getattr(card.answers["human"], "agreement", None) for name, card in cards.items()
    }
    known = {name: share for name, share in shares.items() if isinstance(share, Statistic)}
    best = sorted(known, key=lambda name: (-known[name].value, name))[:2]
    texts = [JUDGE.format(name=name, share=known[name]) for name in best]
    if len(texts) < 2:
        return ANSWERS["only judge with labels"].format(best=texts[0]) if texts else ""
    lead = agreement_lead(*(cards[name].subject for name in best))
    doubt = "" if lead.low is not None and lead.low > 0 else DOUBT
    fields = {"points": 100 * lead.value, "interval": lead.interval, "doubt": doubt}
    return ANSWERS["best judge"].format(best=texts[0], second=texts[1], **fields)


def _may_rank(answers: Answers) -> str:
    """Say whether the order decides verdicts, else whether the judge agrees with humans on most of
    the winners."""
    if _position_outcome(answers["position"]) == "order decides":
        return ANSWERS["order decides"].format(section=answers["position"])
    human, cycles = answers["human"], answers["cycles"]
    agreement: Any = getattr(human, "agreement", human)
    if isinstance(agreement, Missing):
        return ANSWERS["ranking unknown"].format(why=agreement.why)
    if agreement.low is None or agreement.low <= 0.5:
        return ANSWERS["ranking rejected"].format(agreement=agreement)
    certain = 0 if isinstance(cycles, Missing) else cycles.certain
    return ANSWERS["ranking has cycles" if certain else "ranking accepted"].format(
        agreement=agreement, cycles=certain
    )


def _scale(answers: Answers) -> str:
    """Say whether the judge's Elo gaps match human ones."""
    reply = answers["self_preference"]
    slope: Any = getattr(reply, "slope", reply)
    if isinstance(slope, Missing):
        return ANSWERS["scale unknown"].format(why=slope.why)
    if reply.who != "human":
        return ANSWERS["scale unknown"].format(why="there are no human labels")
    least, most = MATCHING_SLOPE
    matches = slope.low is not None and not slope.excludes(1.0) and least <= slope.value <= most
    return ANSWERS["scale matches" if matches else "scale differs"].format(slope=slope)


def _next_step(answers: Answers) -> str:
    """Say what to do about the checks that failed, the gravest first; empty if nothing is
    needed."""
    outcomes = [(line.name, line.outcome) for line in check_lines(answers)]
    steps = [_step_text(key, answers[RULES[key[0]][0]]) for key in STEPS if key in outcomes]
    if not steps and ("human", "unknown") in outcomes:
        steps = [ANSWERS["ask humans"]]
    first, rest = steps[:1], map(lower_first_word, steps[1:])
    return "; ".join([*(step.removesuffix(".") for step in first), *rest]) + "." * len(first)


def _step_text(check: tuple[str, str], section: Any) -> str:
    """Say what to do about a check with this name and outcome; of flips also how many go to the
    first, if any flip."""
    step = STEPS[check]
    if step == "keep both orders" and isinstance(section.swaps.all.flips_to_first, Statistic):
        step = "keep both orders, first"
    return ANSWERS[step].format(section=section)


def _side(figure: Figured, middle: float) -> int:
    """Return 1 or -1 if the interval lies above or below a value, else 0."""
    if isinstance(figure, Missing) or not figure.excludes(middle):
        return 0
    return 1 if figure.value > middle else -1


def _effect_outcome(effect: Any, largest: float, above: str, below: str) -> str:
    """Judge an effect: its side, `fine` if the interval holds small effects only, else `open`."""
    if side := _side(effect, 0.0):
        return above if side > 0 else below
    is_small = effect.low is not None and max(-effect.low, effect.high) <= largest
    return "fine" if is_small else "open"


def _cycle_outcome(section: Any) -> str:
    """Judge whether models beat each other in cycles; unknown if no triple has enough items to show
    one."""
    if section.certain:
        return "cyclic"
    return "untested" if isinstance(section.sntd, Missing) else "fine"


def _position_outcome(section: Any) -> str:
    """Judge whether the response shown first wins more or less than half, or so much that the order
    decides."""
    if isinstance(section, Missing):
        return "unknown"
    rate = section.first_win_rate
    if _side(rate, 0.5) and abs(rate.value - 0.5) > MOST_BY_ORDER:
        return "order decides"
    if not _side(section.prefers_first, 0.5):
        known = section.prefers_first if isinstance(rate, Missing) else rate
        return "open" if may_decide_nothing_or_all(known) else "fine"
    return "biased" if isinstance(section.swaps.all, Missing) else "cancelled"


CHANCE = "no better than chance"
RULES: Mapping[str, tuple[str, str, Callable[[Any], str]]] = {
    "reading": (
        "consistency",
        "unparsed",
        lambda it: "unparsed" if it.unparsed.value > MOST_UNPARSED else "fine",
    ),
    "position": ("position", "prefers_first", _position_outcome),
    "repeated": ("consistency", "retest", lambda _: "noise"),
    "verbosity": (
        "verbosity",
        "effect",
        lambda it: _effect_outcome(it.effect, LARGEST_EFFECT, "longer", "shorter"),
    ),
    "self-preference": (
        "self_preference",
        "excess",
        lambda it: _effect_outcome(it.excess, LARGEST_EXCESS, "favoured", "disfavoured"),
    ),
    "human": ("human", "agreement", lambda it: ("open", "fine", CHANCE)[_side(it.agreement, 0.5)]),
    "transitivity": (
        "transitivity",
        "hard",
        lambda it: ("open", CHANCE, "fine")[_side(it.hard, it.chance)],
    ),
    "cycles": ("cycles", "", _cycle_outcome),
    "fit": (
        "fit",
        "",
        lambda it: "untested" if not it.tested else "misfit" if it.missed else "fine",
    ),
}
"""Checks by name: section of the card, figure that the check needs, and the rule that returns an
outcome."""
STEPS = {
    ("position", "order decides"): "ask without order",
    ("position", "biased"): "show both orders",
    ("position", "cancelled"): "keep both orders",
    ("self-preference", "favoured"): "ask another family",
    ("verbosity", "longer"): "control length",
    ("verbosity", "shorter"): "control length",
    ("reading", "unparsed"): "fix replies",
}
"""What to do (a key of `ANSWERS`), by check and outcome, the gravest first."""
