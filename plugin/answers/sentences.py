"""The sentences of a ranking: who, may it be trusted, what next."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy.special import ndtri

from podium.answers.groups import leaders_of, number_word, who_sentence
from podium.answers.measures import Finding, findings_of, first_place_finding, items_text, robustness_of, trust_sentence
from podium.checks import LENGTH_CONTROL
from podium.nouns.battles import Battles
from podium.nouns.ranking import Separation, Standings
from podium.rankers.defaults import RANKER_OF_CLAIMS
from podium.rankers.further_items import further_items, further_labels
from podium.report.numbers import further_sentence
from podium.text import plural


def add_answers(
    standings: Sequence[Standings], slices: Mapping[str | None, Battles], families: Mapping[str, str]
) -> tuple[Standings, ...]:
    """Return standings that say in words what was found.

    Args:
        standings: of one or more rankers and slices.
        slices: the battles of each.
        families: models and judges to their family, as given; the rest is guessed from names.
    """
    compared = {each.slice for each in standings if who_sentence(each) is not None}
    findings = {value: findings_of(battles, families) for value, battles in slices.items() if value in compared}
    several = len(slices) > 1
    return tuple(
        replace(
            each,
            answer=answer_of(
                each,
                slices[each.slice],
                findings[each.slice],
                about=f"On {each.slice}: " if several else "",
                slices=_same_leaders(each, standings),
            ),
        )
        if each.slice in compared
        else each
        for each in standings
    )


def answer_of(
    standings: Standings,
    battles: Battles,
    findings: Sequence[Finding],
    *,
    about: str = "",
    slices: str | None = None,
) -> tuple[str, ...]:
    """Return at most three sentences; none where no two models have an interval.

    Args:
        findings: of the battles.
        standings: those of a tournament that was asked a question open with what it claims.
        about: what the first sentence begins with: the slice, where there are several.
        slices: what is said of other slices, instead of what next.
    """
    who = who_sentence(standings)
    if who is None:
        return ()
    tournament = standings.diagnostics.get("answer", {}) if standings.ranker == RANKER_OF_CLAIMS else {}
    who = next(iter(tournament.get("claims", ())), who)
    robustness = robustness_of(battles, standings)
    first = first_place_finding(standings, robustness)
    trust = trust_sentence([*findings, *([first] if first else [])])
    if standings.ranker not in ("bradley-terry", "win-rate"):
        trust = trust.replace(LENGTH_CONTROL, f"--ranker bradley-terry {LENGTH_CONTROL}")
    further = slices or next_sentence(
        standings, robustness.items if robustness else (), robustness.new_leader if robustness else None
    )
    after = connecting_sentence(standings) or tournament.get("advice") or further
    return (f"{about}{who}", trust, *([after] if after else []))


def _same_leaders(standings: Standings, others: Sequence[Standings]) -> str | None:
    """Say in how many slices the same models lead; None where there is one."""
    slices = [other for other in others if other.ranker == standings.ranker]
    if len(slices) < 2:
        return None
    leaders = leaders_of(standings)
    same = sum(leaders_of(other) == leaders for other in slices)
    if not leaders:
        return f"No place is certain in {same} of {len(slices)} slices."
    return f"The same {'model leads' if len(leaders) == 1 else 'models lead'} in {same} of {len(slices)} slices."


def next_sentence(standings: Standings, hinge: Sequence[str] = (), rival: str | None = None) -> str | None:
    """Say how many more items tell the first from the second; None where they are told, or a tournament said it.

    The critical value is that of the rank sets: what is advised is what this very table would need.

    Args:
        hinge: one or two items without which `rival` leads; none where there are none.
        rival: who leads without them.
    """
    separation = standings.separation
    settled = separation is None or 1 in separation.cuts or len(separation.names) < 2
    if separation is None or settled or separation.z is None or "claims" in standings.diagnostics.get("answer", {}):
        return None
    first, second = separation.names[:2]
    if 1 in separation.beats[0]:
        return None
    noun, amount = "item" if standings.counts.items > 1 else "battle", f"{separation.gap:.3g}"
    if "structured" in standings.diagnostics:
        noun, number = "label", _lacking_labels(standings, separation)
    else:
        number = further_items(separation.clusters, separation.critical, separation.z)
    if number is None:
        within = "their gap is within its error" if separation.z < 1 else "labels alone do not bound them"
        why = f"without {items_text(hinge)} {rival} leads" if hinge else within
        return f"How many more {noun}s would tell {first} from {second} is not known: {why}."
    if standings.scale == "elo":
        amount = f"{separation.gap:.0f} Elo"
    elif standings.scale.startswith("win rate"):
        amount = f"{100 * separation.gap:.1f} points"
    return further_sentence(f"the {amount} measured are", number, "tell", f"{first} from {second}", noun)


def _lacking_labels(standings: Standings, separation: Separation) -> int | None:
    """Return how many labels by humans are lacking to tell the first two; None where nobody can say."""
    extra = {entry.model: entry.extra for entry in standings.entries}
    ends = [extra[name][end] for end in ("human_low", "human_high") for name in separation.names[:2]]
    z = separation.z
    if not z or z < 1 or None in ends:
        return None
    errors = np.subtract(ends[2:], ends[:2]) / (2 * ndtri((1 + standings.level) / 2))
    # Ratings of the labels alone sum to 0: the errors of two of them are opposed.
    alone = float(np.sum(errors**2)) * len(extra) / (len(extra) - 1)
    labels, joined = standings.diagnostics["structured"]["labels"], (separation.gap / z) ** 2
    return further_labels(labels, separation.critical, separation.gap, joined, alone)


def connecting_sentence(standings: Standings) -> str | None:
    """Say how many battles would connect groups that never met, one less than the groups; None where all hang together.

    Rankers that need one scale refuse such battles; win rates are said group by group.
    """
    groups = standings.fit.components
    if groups is None or groups < 2:
        return None
    battles = f"{number_word(groups - 1).capitalize()} {plural('battle', groups - 1)} would connect"
    return (
        f"{battles} the {number_word(groups)} groups of models that never met; until then, compare within a group only."
    )
