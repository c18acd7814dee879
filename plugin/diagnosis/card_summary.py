"""A judge card in three sentences and a line a check: may it rank, are its distances people's, what to do."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from podium.checks import CHECKS
from podium.diagnosis.figures import Figured, Missing, Statistic
from podium.report.model import EMPTY

Answers: TypeAlias = Mapping[str, Any]
"""What a card says, by name of the section: a `CardAnswer`, or `Missing`."""
FIRST_NUMBER = re.compile(r"-?[\d.]+(%| of [\d,]+| Elo)?")
FINE, NOT_SHOWN = "fine", "not shown"
LEVEL_SLOPE = (0.8, 1.25)
"""Factors between which distances are called people's, if the interval holds 1: a fifth off either way."""


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
    makers: Mapping[str, tuple[str, Callable[[Any], tuple[str, str]]]] = {
        "reading": ("consistency", _reading_line),
        "position": ("position", _position),
        "asked again": ("consistency", _asked_again),
        "verbosity": ("verbosity", _verbosity),
        "own family": ("self_preference", _own_family),
        "people": ("people", _people),
        "transitivity": ("transitivity", _transitivity),
        "cycles": ("cycles", _cycles),
        "fit": ("fit", _fit),
    }
    lines = []
    for name, (section, line_of) in makers.items():
        reply = answers[section]
        figure, verdict = _unknown(reply) if isinstance(reply, Missing) else line_of(reply)
        lines.append(CheckLine(name, figure, verdict))
    return tuple(lines)


def card_answer(answers: Answers) -> tuple[str, ...]:
    """Say whether the judge may rank, whether its distances are people's, and what to do next."""
    return tuple(sentence for sentence in (_may_rank(answers), _distances(answers), _what_to_do(answers)) if sentence)


def best_with_people(judges: Mapping[str, Answers]) -> str:
    """Name the judge that people agree with most, and how far the next is; empty where nobody labelled."""
    shares = {name: getattr(answers["people"], "agreement", None) for name, answers in judges.items()}
    known = {name: share for name, share in shares.items() if isinstance(share, Statistic)}
    best = sorted(known, key=lambda name: (-known[name].value, name))[:2]
    texts = [f"{name} on {known[name].estimate} of winners ({known[name].interval})" for name in best]
    if len(texts) < 2:
        return f"People agree with {texts[0]}; of the others it is not known." if texts else ""
    return f"People agree most with {texts[0]}, then with {texts[1]}."


def _may_rank(answers: Answers) -> str:
    people, rings = answers["people"], answers["cycles"]
    if isinstance(people, Missing) or isinstance(people.agreement, Missing):
        why = people.why if isinstance(people, Missing) else people.agreement.why
        return f"Whether this judge may rank is not known: {why}."
    agreement: Statistic = people.agreement
    share = f"{agreement.estimate} of winners ({agreement.interval})"
    if agreement.low is None or agreement.low <= 0.5:
        return f"Do not rank by this judge yet: it agrees with people on {share}, and a coin on 50%."
    certain = 0 if isinstance(rings, Missing) else rings.certain
    but = f", but {certain} rings of models beat each other" if certain else ""
    return f"This judge may rank: it agrees with people on {share}{but}."


def _distances(answers: Answers) -> str:
    reply = answers["self_preference"]
    slope: Any = reply if isinstance(reply, Missing) else reply.slope
    who = None if isinstance(reply, Missing) else reply.who
    if isinstance(slope, Missing) or who != "people":
        why = slope.why if isinstance(slope, Missing) else "there are no human labels"
        return f"Whether its distances are people's is not known: {why}."
    text = f"{slope.value:.2f} times people's ({slope.interval})"
    low, high = LEVEL_SLOPE
    holds = slope.low is not None and slope.high is not None and slope.low <= 1 <= slope.high
    if holds and low <= slope.value <= high:
        return f"Its distances are {text}: as people's, as far as these labels tell."
    return f"Its distances are {text}: calibrate before you quote Elo."


def _what_to_do(answers: Answers) -> str:
    lines = {line.name: line.verdict for line in check_lines(answers)}
    consistency: Any = answers["consistency"]
    if lines["reading"] not in (FINE, EMPTY):
        return f"Mend its replies first: {consistency.unread.estimate} could not be read."
    position: Any = answers["position"]
    if not isinstance(position, Missing) and _leans(position.prefers_first, 0.5):
        swaps = position.swaps.all
        if isinstance(swaps, Missing):
            return f"Show both orders: the first wins {position.prefers_first.estimate} of decided verdicts."
        first = "" if isinstance(swaps.flips_to_first, Missing) else f", {swaps.flips_to_first.estimate} of those"
        to = f"{first} to the response shown first" if first else ""
        return f"Keep both orders: {swaps.flip.estimate} of verdicts flip{to}."
    if lines["own family"].startswith("favoured"):
        return "Let a judge of another family decide, too."
    if lines["verbosity"].startswith("favours"):
        return "Rank at equal length, too: `podium rank --set length_control=true`."
    if lines["people"].startswith("not known"):
        return "Ask people: `podium label` draws the battles."
    return ""


def _leans(figure: Figured, middle: float) -> bool:
    """Tell whether an interval leaves out the value of no bias."""
    if isinstance(figure, Missing) or figure.low is None or figure.high is None:
        return False
    return not figure.low <= middle <= figure.high


def _unknown(reply: Missing) -> tuple[str, str]:
    return reply.why, f"not known: {reply.remedy}" if reply.remedy else "not known"


def _brief(figure: Figured, words: str) -> str:
    return f"{words}{figure.estimate} ({figure.interval})" if isinstance(figure, Statistic) else figure.why


def _reading_line(section: Any) -> tuple[str, str]:
    if isinstance(section.unread, Missing):
        return _unknown(section.unread)
    worries = section.unread.value > CHECKS["unread"].threshold
    return f"{section.unread.estimate} unread", "give it a form that it keeps to" if worries else FINE


def _position(section: Any) -> tuple[str, str]:
    if isinstance(section.prefers_first, Missing):
        return _unknown(section.prefers_first)
    both = not isinstance(section.swaps.all, Missing)
    leaning = "cancelled by both orders" if both else "tilts each verdict: show both orders"
    return _brief(section.prefers_first, "the first wins "), leaning if _leans(section.prefers_first, 0.5) else FINE


def _asked_again(section: Any) -> tuple[str, str]:
    if isinstance(section.retest, Missing):
        return "never", "not known: --repeats 2"
    return _brief(section.retest, "the same verdict "), "noise, which intervals hold"


def _verbosity(section: Any) -> tuple[str, str]:
    if isinstance(section.effect, Missing):
        return _unknown(section.effect)
    figure = f"{section.effect.estimate} per e-fold of length ({section.effect.interval})"
    if not _leans(section.effect, 0.0):
        return figure, NOT_SHOWN
    return figure, f"favours {'longer' if section.effect.value > 0 else 'shorter'} responses"


def _own_family(section: Any) -> tuple[str, str]:
    if isinstance(section.excess, Missing):
        return section.excess.why, "not known: --families"
    if not _leans(section.excess, 0.0):
        return section.excess.brief, NOT_SHOWN
    return section.excess.brief, "favoured" if section.excess.value > 0 else "disfavoured"


def _people(section: Any) -> tuple[str, str]:
    if isinstance(section.agreement, Missing):
        return _unknown(section.agreement)
    kappa = "" if isinstance(section.kappa, Missing) else f", kappa {section.kappa.value:.2f}"
    better = section.agreement.low is not None and section.agreement.low > 0.5
    return _brief(section.agreement, "same winner ") + kappa, FINE if better else "no better than a coin"


def _transitivity(section: Any) -> tuple[str, str]:
    if isinstance(section.hard, Missing):
        return _unknown(section.hard)
    better = section.hard.high is not None and section.hard.high < section.chance
    return f"{section.hard.value:.0%} of triples on items (blind: {section.chance:.0%})", (
        FINE if better else "no better than blind"
    )


def _cycles(section: Any) -> tuple[str, str]:
    certain = section.certain
    rings = f"{certain} of {section.triples:,} triples of models in a ring" if certain else "no cycle of models"
    return rings, "no order explains them" if certain else FINE


def _fit(section: Any) -> tuple[str, str]:
    figure = f"misses {section.missed} of {section.tested} pairs"
    if not section.tested:
        return figure, "not known: judge every pair on 10 items"
    return figure, "read those pairs by themselves" if section.missed else FINE
