"""The summary of a judge card: at most three sentences, chosen by rules."""

from collections.abc import Mapping, Sequence
from typing import Any

from podium.check_kinds import GRAVITY
from podium.check_results import Check
from podium.diagnosis.card_words import ANSWERS, DOUBT, JUDGE
from podium.diagnosis.checks.card_sections import CardSections
from podium.diagnosis.figures import Missing, Statistic
from podium.diagnosis.human_agreement import agreement_lead

MATCHING_SLOPE = (0.8, 1.25)
"""Lowest and highest slope of the judge's ratings on human ones with which Elo gaps match.

The interval of the slope must also contain 1.
"""
CHECKS_WITH_STEP = frozenset(
    {
        "order decides",
        "only ties",
        "own model",
        "own family",
        "position",
        "one order",
        "self-preference",
        "length",
        "unparsed",
    }
)
"""Names of the checks whose remedy the summary mentions if they are flagged."""


def card_answer(card: CardSections, checks: Sequence[Check]) -> tuple[str, ...]:
    """Say whether the judge may rank, whether its Elo gaps match human ones, and what to do next.

    Args:
        card: the answers of the card's sections.
        checks: the checks of the card.

    Returns:
        A sentence on each of these, in this order. The sentence on what to do next is left out if
        nothing is to be done. If no judge decided the battles, a single sentence says so.
    """
    if not card.has_judge:
        return (ANSWERS["no judge"],)
    sentences = (_may_rank_sentence(card, checks), _scale_sentence(card), _next_step(checks))
    return tuple(sentence for sentence in sentences if sentence)


def best_with_humans(cards: Mapping[str, Any]) -> str:
    """Name the two judges that humans agree with most, and their difference.

    Args:
        cards: the `Card` of each judge, by name of the judge.

    Returns:
        A sentence on both judges. The sentence adds that they are too close to call, unless the
        interval of their difference lies above 0. If the agreement of only one judge is known, the
        sentence is about this judge. The text is empty if no agreement is known. Equal agreements
        are ordered by name.
    """
    agreements = {}
    for name, card in cards.items():
        share = getattr(card.answers["human"], "agreement", None)
        if isinstance(share, Statistic):
            agreements[name] = share
    best = sorted(agreements, key=lambda name: (-agreements[name].value, name))[:2]
    descriptions = [JUDGE.format(name=name, share=agreements[name]) for name in best]
    if not descriptions:
        return ""
    if len(descriptions) == 1:
        return ANSWERS["only judge with labels"].format(best=descriptions[0])
    first, second = best
    description_of_first, description_of_second = descriptions
    lead = agreement_lead(cards[first].subject, cards[second].subject)
    is_clear = lead.low is not None and lead.low > 0
    return ANSWERS["best judge"].format(
        best=description_of_first,
        second=description_of_second,
        points=100 * lead.value,
        interval=lead.interval,
        doubt="" if is_clear else DOUBT,
    )


def _may_rank_sentence(card: CardSections, checks: Sequence[Check]) -> str:
    """Return the sentence on whether the judge may rank.

    If there is a check `order decides`, its finding is the sentence. If the agreement with humans
    is missing, the sentence says that it is not known whether the judge may rank, and why.
    Otherwise, the judge may rank only if its agreement has an interval that lies above 0.5; the
    number of cycles beyond chance is then added, if there are any.
    """
    order_check = next((check for check in checks if check.name == "order decides"), None)
    if order_check is not None:
        return f"{order_check.start_sentence(order_check.finding_text)}."
    missing = card.find_lacking(section="human", figure="agreement")
    if missing is not None:
        return ANSWERS["ranking unknown"].format(why=missing.why)
    agreement = card.answers["human"].agreement
    if agreement.low is None or agreement.low <= 0.5:
        return ANSWERS["ranking rejected"].format(agreement=agreement)
    cycles = card.answers["cycles"]
    certain_cycles = 0 if isinstance(cycles, Missing) else cycles.certain
    name = "ranking has cycles" if certain_cycles else "ranking accepted"
    return ANSWERS[name].format(agreement=agreement, cycles=certain_cycles)


def _scale_sentence(card: CardSections) -> str:
    """Say whether the judge's Elo gaps match human ones, by the rule of `MATCHING_SLOPE`.

    The sentence says that this is not known if the slope is missing, or if the reference ratings
    are not by human labels.
    """
    missing = card.find_lacking(section="self_preference", figure="slope")
    if missing is not None:
        return ANSWERS["scale unknown"].format(why=missing.why)
    section = card.answers["self_preference"]
    if section.who != "human":
        return ANSWERS["scale unknown"].format(why="there are no human labels")
    slope = section.slope
    lowest, highest = MATCHING_SLOPE
    is_near_1 = lowest <= slope.value <= highest
    has_1_in_interval = slope.low is not None and not slope.excludes(1.0)
    name = "scale matches" if is_near_1 and has_1_in_interval else "scale differs"
    return ANSWERS[name].format(slope=slope)


def _next_step(checks: Sequence[Check]) -> str:
    """Say what the flagged checks found and what to do about them, the gravest first.

    Only the checks in `CHECKS_WITH_STEP` are named. If none of them is flagged and the agreement
    with humans is not known, the sentence asks for human labels.

    Returns:
        A sentence; empty if nothing is needed.
    """
    flagged = [check for check in checks if check.is_flagged and check.name in CHECKS_WITH_STEP]
    flagged.sort(key=lambda check: GRAVITY[check.name])
    if flagged:
        steps = [_step_text(check) for check in flagged]
        return f"{flagged[0].start_sentence('; '.join(steps))}."
    if any(check.name == "human" and not check.is_known for check in checks):
        return ANSWERS["ask humans"]
    return ""


def _step_text(check: Check) -> str:
    """Return what a check found and what to do.

    The text is a part of a sentence: the finding, a colon, and the remedy. For `order decides` it
    is the remedy alone, because the first sentence of the summary says what was found.
    """
    if check.name == "order decides":
        return check.remedy
    return f"{check.finding_text}: {check.remedy}"
