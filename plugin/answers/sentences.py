"""The sentences of a ranking: who, may it be trusted, what next."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from podium.answers.groups import leaders_of, who_sentence
from podium.answers.measures import findings_of, first_place_finding, hinge_of
from podium.answers.next_step import next_sentence
from podium.answers.trust import Finding, trust_sentence
from podium.nouns.battles import Battles
from podium.nouns.ranking import Standings


def add_answers(
    standings: Sequence[Standings], slices: Mapping[str | None, Battles], families: Mapping[str, str]
) -> tuple[Standings, ...]:
    """Return standings that say in words what was found.

    Args:
        standings: of one or more rankers and slices.
        slices: the battles of each.
        families: entrants and judges to their family, as given; the rest is guessed from names.
    """
    compared = {each.slice for each in standings if each.separation is not None}
    findings = {value: findings_of(battles, families) for value, battles in slices.items() if value in compared}
    return tuple(
        replace(each, answer=answer_of(each, slices[each.slice], findings[each.slice], _same_leaders(each, standings)))
        if each.slice in compared
        else each
        for each in standings
    )


def answer_of(
    standings: Standings, battles: Battles, findings: Sequence[Finding], slices: str | None = None
) -> tuple[str, ...]:
    """Return at most three sentences; none where no two entrants have an interval.

    Args:
        findings: of the battles.
        slices: what is said of other slices, instead of what next.
    """
    who = who_sentence(standings)
    if who is None:
        return ()
    hinge = hinge_of(battles, standings)
    first = first_place_finding(standings, hinge)
    trust = trust_sentence([*findings, *([first] if first else [])])
    after = slices or next_sentence(standings, hinge.items if hinge else (), hinge.rival if hinge else None)
    return (who, trust, *([after] if after else []))


def _same_leaders(standings: Standings, others: Sequence[Standings]) -> str | None:
    """Say in how many slices the same models lead; None where there is one."""
    slices = [other for other in others if other.ranker == standings.ranker]
    if len(slices) < 2:
        return None
    leaders = leaders_of(standings)
    same = sum(leaders_of(other) == leaders for other in slices)
    if not leaders:
        return f"No model is told to lead in {same} of {len(slices)} slices."
    return f"The same {'model leads' if len(leaders) == 1 else 'models lead'} in {same} of {len(slices)} slices."
