"""Who leads, from simultaneous differences: cuts make groups, and a group that leads is looked into."""

from collections.abc import Sequence
from itertools import pairwise

from scipy.special import expit

from podium.nouns.ranking import Separation, Standings
from podium.rankers.graph import largest_distinguishable_block
from podium.rankers.scale import POINTS
from podium.text import plural, some

MOST_NAMES = 5
MOST_GROUPS = 3
MOST_PAIRS = 2
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def who_sentence(standings: Standings) -> str | None:
    """Say who leads, and whom the data do not bound; None where no two models have an interval, and some differ.

    Nothing but the simultaneous differences of the rank sets is used: intervals that overlap say nothing of a gap.
    """
    separation = standings.separation
    if separation is None or len(separation.names) < 2:
        scores = [round(entry.score, 6) for entry in standings.entries if entry.score is not None]
        level = f"All {number_word(len(scores))} models are level." if len(scores) > 1 == len({*scores}) else None
        return level or _newcomers_sentence(standings)
    names = unplaced_models(standings)
    unplaced = f" Where {and_list(names)} {'stand' if len(names) > 1 else 'stands'} is not known." if names else ""
    return f"{_placed_sentence(standings, separation)}{unplaced}"


def _newcomers_sentence(standings: Standings) -> str | None:
    """Say what humans would rate new models, with the intervals of a calibration; None where there are none."""
    placed = [entry for entry in standings.entries if entry.extra.get("conformal_low") is not None]
    if not placed:
        return None
    ends = [(entry.extra["conformal_low"], entry.extra["conformal_high"]) for entry in placed]
    ratings = [
        f"{entry.model} {entry.score:.0f} Elo ({low:.0f} … {high:.0f})"
        for entry, (low, high) in zip(placed, ends, strict=True)
    ]
    each = f"{100 * placed[0].extra['conformal_level']:g}%{' each' if len(placed) > 1 else ''}"
    return f"Humans would rate {and_list(ratings)}, {each}, if they are like the calibrated models."


def number_word(number: int) -> str:
    """Write a small number as a word.

    >>> number_word(3), number_word(1200)
    ('three', '1,200')
    """
    return NUMBERS[number] if number < len(NUMBERS) else f"{number:,}"


def _placed_sentence(standings: Standings, separation: Separation) -> str:
    evidence = evidence_of(standings)
    if not separation.cuts:
        return _without_cut(separation, evidence)
    groups = groups_of(separation)
    if len(groups[0]) == 1:
        others = f"all others{' that can be placed' if unplaced_models(standings) else ''}"
        return f"{separation.names[0]} is ahead of {others}{_lead(standings)}."
    said = [_following_clause(separation, group, last=group is groups[-1]) for group in groups[1:]]
    if len(groups) > MOST_GROUPS:
        between = groups[2:-1]
        middle = f"{len(between)} {plural('group', len(between))} of {sum(map(len, between))} models"
        said = [said[0], f"{middle} are between", said[-1]]
    return f"{_first_group(separation, groups[0], evidence)} {'; '.join(said)}."


def groups_of(separation: Separation) -> list[range]:
    """Return the places of each group, best first: a cut ends one."""
    ends = [0, *separation.cuts, len(separation.names)]
    return [range(start, end) for start, end in pairwise(ends)]


def unplaced_models(standings: Standings) -> list[str]:
    """Return the models that have a score and no place: the data do not bound it."""
    placed = set(standings.separation.names) if standings.separation else set()
    return [entry.model for entry in standings.entries if entry.score is not None and entry.model not in placed]


def leaders_of(standings: Standings) -> frozenset[str]:
    """Return the models above the first cut; nobody's where there is none."""
    separation = standings.separation
    if separation is None or not separation.cuts:
        return frozenset()
    return frozenset(separation.names[: separation.cuts[0]])


def evidence_of(standings: Standings) -> str:
    """Name what the models were compared on."""
    labels = standings.diagnostics.get("structured", {}).get("labels")
    number, noun = (standings.counts.items, "item") if labels is None else (round(labels), "label")
    return f"{'this' if number == 1 else 'these'} {number:,} {plural(noun, number)}"


def and_list(names: Sequence[str], word: str = "and") -> str:
    """Join names as a sentence does, the many counted.

    >>> and_list(["a", "b", "c"]), and_list(["a", "b"], "or")
    ('a, b and c', 'a or b')
    """
    if len(names) > MOST_NAMES:
        return some(names, most=MOST_NAMES - 1)
    return f" {word} ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _first_group(separation: Separation, group: range, evidence: str) -> str:
    names = [separation.names[k] for k in group]
    beaten = {k: [j for j in group if k in separation.beats[j]] for k in group}
    if not any(beaten.values()):
        return f"{and_list(names)} lead; {evidence} {_do(evidence)} not tell them apart."
    first = [separation.names[k] for k in group if not beaten[k]]
    behind = [
        f"{separation.names[k]} is behind {and_list([separation.names[j] for j in above])}"
        for k, above in beaten.items()
        if above
    ]
    more = len(behind) - MOST_PAIRS
    others = [f"{more} more {'is' if more == 1 else 'are'} behind others"] if more > 0 else []
    behind_text = "; ".join([*behind[:MOST_PAIRS], *others])
    return f"{and_list(names)} are ahead of the rest; first is {and_list(first, 'or')}; {behind_text}."


def _following_clause(separation: Separation, group: range, *, last: bool) -> str:
    names, verb = [separation.names[k] for k in group], "is last" if last else "follows"
    if len(names) == 1:
        return f"{names[0]} {verb}"
    inside = any(j in separation.beats[k] for k in group for j in group)
    return f"{and_list(names)} follow{'' if inside else ', not told apart'}"


def _without_cut(separation: Separation, evidence: str) -> str:
    names, beats = separation.names, separation.beats
    pairs, number = len(names) * (len(names) - 1) // 2, sum(map(len, beats))
    if not number:
        whom = (
            f"{and_list(names)} apart" if len(names) == 2 else f"any two of the {number_word(len(names))} models apart"
        )
        return f"{evidence.capitalize()} {_do(evidence)} not tell {whom}."
    above, below = largest_distinguishable_block(beats)
    ahead = f"{and_list([names[k] for k in above])} {'are each' if len(above) > 1 else 'is'} ahead of"
    return (
        f"No place is certain: {number} of {pairs} pairs can be told apart; {ahead} "
        f"{and_list([names[k] for k in below])}."
    )


def _lead(standings: Standings) -> str:
    """Say by how much the first is ahead of the second, with the ends that its cut rests on."""
    separation = standings.separation
    if separation is None or separation.lead is None:
        return ""
    gap, low, high = separation.lead
    second = separation.names[1]
    if standings.scale == "elo":
        wins = 100 * expit(gap / POINTS)
        return f", of {second} by {gap:.0f} Elo ({low:.0f} … {high:.0f}), which is {wins:.0f} wins in 100"
    if standings.scale.startswith("win rate"):
        return f", of {second} by {100 * gap:.1f} points of win rate ({100 * low:.1f} … {100 * high:.1f})"
    return f", of {second} by {gap:.3g} ({low:.3g} … {high:.3g})"


def _do(evidence: str) -> str:
    return "does" if evidence.startswith("this") else "do"
