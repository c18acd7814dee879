"""A judge card in three sentences and a line a check: may it rank, are its distances human ratings, what to do."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from podium.checks import CHECKS
from podium.diagnosis.figures import Figured, Missing, Statistic
from podium.diagnosis.human_agreement import agreement_lead
from podium.diagnosis.self_preference import NAME_FAMILIES
from podium.diagnosis.subject import Subject
from podium.report.model import EMPTY
from podium.text import plural

Answers: TypeAlias = Mapping[str, Any]
"""What a card says, by name of the section: a `CardAnswer`, or `Missing`."""
FIRST_NUMBER = re.compile(r"-?[\d.]+(%| of [\d,]+| Elo)?")
FINE, NOT_SHOWN = "fine", "not shown"
LEVEL_SLOPE = (0.8, 1.25)
"""Factors between which distances are called human ratings, if the interval holds 1: a fifth off either way."""


@dataclass(frozen=True, slots=True)
class CheckLine:
    """One check of a judge: its name, what was found, what follows."""

    name: str
    figure: str
    verdict: str

    @property
    def short(self) -> str:
        """The bare figure; a dash where nothing is known."""
        number = FIRST_NUMBER.search(self.figure)
        return EMPTY if self.verdict.startswith("not known") else number[0] if number else self.figure


def check_lines(answers: Answers) -> tuple[CheckLine, ...]:
    """Return a line a check, in the order of the sections."""
    makers: Mapping[str, tuple[str, str, Callable[[Any], tuple[str, str]]]] = {
        "reading": ("consistency", "unparsed", _reading_line),
        "position": ("position", "prefers_first", _position),
        "repeated": ("consistency", "", _repeated_verdicts),
        "verbosity": ("verbosity", "effect", _verbosity),
        "self-preference": ("self_preference", "excess", _self_preference),
        "human": ("human", "agreement", _human),
        "transitivity": ("transitivity", "hard", _transitivity),
        "cycles": ("cycles", "", _cycles),
        "fit": ("fit", "", _fit),
    }
    lines = []
    for name, (section, needed, line_of) in makers.items():
        reply = answers[section]
        lacking = reply if isinstance(reply, Missing) or not needed else getattr(reply, needed)
        if not isinstance(lacking, Missing):
            lines.append(CheckLine(name, *line_of(reply)))
            continue
        remedy = "--families" if lacking.remedy == NAME_FAMILIES else lacking.remedy
        lines.append(CheckLine(name, lacking.why, f"not known: {remedy}" if remedy else "not known"))
    return tuple(lines)


def card_answer(answers: Answers) -> tuple[str, ...]:
    """Say whether the judge may rank, whether its distances match human ratings, and what to do next."""
    return tuple(sentence for sentence in (_may_rank(answers), _distances(answers), _what_to_do(answers)) if sentence)


def best_with_humans(judges: Mapping[str, Answers], subjects: Mapping[str, Subject]) -> str:
    """Name the judge that humans agree with most, and how far the next is; empty where nobody labelled.

    Args:
        judges: what their cards say.
        subjects: what the cards are of.
    """
    shares = {name: getattr(answers["human"], "agreement", None) for name, answers in judges.items()}
    known = {name: share for name, share in shares.items() if isinstance(share, Statistic)}
    best = sorted(known, key=lambda name: (-known[name].value, name))[:2]
    texts = [f"{name} on {known[name].estimate} of winners ({known[name].interval})" for name in best]
    if len(texts) < 2:
        return f"Humans agree with {texts[0]}; of the others it is not known." if texts else ""
    lead = agreement_lead(*(subjects[name] for name in best))
    if lead is None or lead.low is None or lead.high is None:
        return f"Humans agree most with {texts[0]}, then with {texts[1]}."
    points, low, high = (f"{100 * share:.1f}" for share in (lead.value, lead.low, lead.high))
    doubt = "" if lead.low > 0 else ": not told apart"
    return f"Humans agree most with {texts[0]}, then with {texts[1]}: {points} points less ({low} … {high}){doubt}."


def _may_rank(answers: Answers) -> str:
    human, rings = answers["human"], answers["cycles"]
    agreement: Figured = human if isinstance(human, Missing) else human.agreement
    if isinstance(agreement, Missing):
        return f"Whether this judge may rank is not known: {agreement.why}."
    share = f"{agreement.estimate} of winners ({agreement.interval})"
    if agreement.low is None or agreement.low <= 0.5:
        return f"Do not rank by this judge yet: it agrees with humans on {share}, and a coin on 50%."
    certain = 0 if isinstance(rings, Missing) else rings.certain
    but = f", but the models of {certain} {plural('ring', certain)} beat each other" if certain else ""
    return f"This judge may rank: it agrees with humans on {share}{but}."


def _distances(answers: Answers) -> str:
    reply = answers["self_preference"]
    slope: Any = reply if isinstance(reply, Missing) else reply.slope
    if isinstance(slope, Missing) or reply.who != "human":
        why = slope.why if isinstance(slope, Missing) else "there are no human labels"
        return f"Whether its distances match human ratings is not known: {why}."
    text = f"{slope.value:.2f} times human ({slope.interval})"
    holds = slope.low is not None and slope.high is not None and slope.low <= 1 <= slope.high
    if holds and LEVEL_SLOPE[0] <= slope.value <= LEVEL_SLOPE[1]:
        return f"Its distances are {text}: they match human ratings, as far as these labels tell."
    return f"Its distances are {text}: calibrate before you quote Elo."


def _what_to_do(answers: Answers) -> str:
    lines = {line.name: line.verdict for line in check_lines(answers)}
    consistency: Any = answers["consistency"]
    if lines["reading"] != FINE:
        return f"Mend its replies first: {consistency.unparsed.estimate} could not be read."
    position: Any = answers["position"]
    if not isinstance(position, Missing) and _leans(position.prefers_first, 0.5):
        swaps = position.swaps.all
        if isinstance(swaps, Missing):
            return f"Show both orders: the first wins {position.prefers_first.estimate} of decided verdicts."
        first = swaps.flips_to_first
        to = "" if isinstance(first, Missing) else f", {first.estimate} of those to the response shown first"
        return f"Keep both orders: {swaps.flip.estimate} of verdicts flip{to}."
    if lines["self-preference"].startswith("favoured"):
        return "Let a judge of another family decide, too."
    if lines["verbosity"].startswith("favours"):
        return "Rank at equal length, too: `podium rank --set length_control=true`."
    if lines["human"].startswith("not known"):
        return "Ask humans: `podium label` draws the battles."
    return ""


def _leans(figure: Figured, middle: float) -> bool:
    """Tell whether an interval leaves out the value of no bias."""
    if isinstance(figure, Missing) or figure.low is None or figure.high is None:
        return False
    return not figure.low <= middle <= figure.high


def _brief(figure: Figured, words: str) -> str:
    return f"{words}{figure.estimate} ({figure.interval})" if isinstance(figure, Statistic) else figure.why


def _reading_line(section: Any) -> tuple[str, str]:
    worries = section.unparsed.value > CHECKS["unparsed"].threshold
    return f"{section.unparsed.estimate} unparsed", "give it a form that it keeps to" if worries else FINE


def _position(section: Any) -> tuple[str, str]:
    both = not isinstance(section.swaps.all, Missing)
    leaning = "cancelled by both orders" if both else "tilts each verdict: show both orders"
    return _brief(section.prefers_first, "the first wins "), leaning if _leans(section.prefers_first, 0.5) else FINE


def _repeated_verdicts(section: Any) -> tuple[str, str]:
    if isinstance(section.retest, Missing):
        return "never", "not known: --repeats 2"
    return _brief(section.retest, "the same verdict "), "noise, which intervals hold"


def _verbosity(section: Any) -> tuple[str, str]:
    figure = f"{section.effect.estimate} per e-fold of length ({section.effect.interval})"
    if not _leans(section.effect, 0.0):
        return figure, NOT_SHOWN
    return figure, f"favours {'longer' if section.effect.value > 0 else 'shorter'} responses"


def _self_preference(section: Any) -> tuple[str, str]:
    if not _leans(section.excess, 0.0):
        return section.excess.brief, NOT_SHOWN
    return section.excess.brief, "favoured" if section.excess.value > 0 else "disfavoured"


def _human(section: Any) -> tuple[str, str]:
    kappa = "" if isinstance(section.kappa, Missing) else f", kappa {section.kappa.value:.2f}"
    better = section.agreement.low is not None and section.agreement.low > 0.5
    return _brief(section.agreement, "same winner ") + kappa, FINE if better else "not shown to beat a coin"


def _transitivity(section: Any) -> tuple[str, str]:
    better = section.hard.high is not None and section.hard.high < section.chance
    figure = f"{section.hard.value:.0%} of triples on items (blind: {section.chance:.0%})"
    return figure, FINE if better else "not shown to beat blind"


def _cycles(section: Any) -> tuple[str, str]:
    certain = section.certain
    rings = f"{certain} of {section.triples:,} triples of models in a ring" if certain else "no cycle of models"
    return rings, "no order explains them" if certain else FINE


def _fit(section: Any) -> tuple[str, str]:
    figure = f"misses {section.missed} of {section.tested} pairs"
    judged = "read those pairs by themselves" if section.missed else FINE
    return figure, judged if section.tested else "not known: judge every pair on 10 items"
