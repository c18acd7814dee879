"""The rules of tournaments: what is played next, from the rounds that were played."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from podium.data.pairings import Field, NextRound, Pairing, PairingsByItem, Round


def schedule_pairings(
    field: Field, pairings: Iterable[Pairing], played: Sequence[Round] = (), note: str = ""
) -> NextRound:
    """Return the next round: the pairings that have both responses and were not played yet.

    Pairings without both responses are counted in `left_out` of the result. Those that were played
    are not.

    Args:
        field: the models and items.
        pairings: the pairings asked for.
        played: the rounds so far.
        note: what the round is, for people.
    """
    requested = tuple(pairings)
    possible = requested
    if field.absent:
        possible = tuple(
            pairing for pairing in requested if field.can_play(pairing.item, pairing.a, pairing.b)
        )
    coming = possible
    if played_before := _played_among(requested, played):
        coming = tuple(pairing for pairing in possible if pairing not in played_before)
    left_out: Counter[str] = Counter()
    if len(possible) < len(requested):
        left_out = Counter(pairing.item for pairing in requested)
        left_out.subtract(pairing.item for pairing in possible)
    # The sign + drops the items of which nothing is left out.
    return NextRound(coming, note, len(requested) - len(possible), +left_out)


def schedule_pairs(
    field: Field, items: Iterable[str], pairs: Sequence[tuple[str, str]], note: str = ""
) -> NextRound:
    """Return the first round: the same pairs on each item, item after item.

    Pairs without both responses are counted in `left_out` of the result.

    Args:
        field: the models and items.
        items: the items that are played.
        pairs: the names of both models of each pair, sorted.
        note: what the round is, for people.
    """
    playable: dict[str, Sequence[tuple[str, str]]] = {}
    left_out: dict[str, int] = {}
    for item in items:
        playable[item] = pairs
        if item in field.absent:
            playable[item] = [pair for pair in pairs if field.can_play(item, *pair)]
            left_out[item] = len(pairs) - len(playable[item])
    left_out_of = {item: number for item, number in left_out.items() if number}
    return NextRound(PairingsByItem(playable), note, sum(left_out.values()), left_out_of)


def _played_among(requested: Sequence[Pairing], played: Sequence[Round]) -> set[Pairing]:
    """Return the pairings of earlier rounds that have an item and a pair of models asked for.

    The item and the pair may be asked for in different pairings. Other pairings are not collected,
    because rounds may be large.
    """
    if not played:
        return set()
    items = {pairing.item for pairing in requested}
    pairs = {(pairing.a, pairing.b) for pairing in requested}
    return {
        outcome.pairing
        for round_ in played
        for outcome in round_.outcomes
        if outcome.pairing.item in items and (outcome.pairing.a, outcome.pairing.b) in pairs
    }


def rounds_of(rule: Any, field: Field) -> int | None:
    """Return the maximum number of rounds; None if the tournament does not define `rounds`.

    Args:
        rule: the tournament, or a limit of its battles (`parts.Budget`), which does not change the
            number.
        field: the models and items.
    """
    tournament = getattr(rule, "rule", rule)  # a limit has its tournament in `rule`
    rounds = getattr(tournament, "rounds", None)
    return None if rounds is None else rounds(field)


class TournamentRule(Protocol):
    """A tournament as a pure, deterministic function of the rounds played so far.

    The battles of earlier rounds are taken from `played` and never computed again. Their verdicts
    may change, for example if replies are parsed again, but the opponents stay the same.
    """

    def next(self, field: Field, played: Sequence[Round]) -> NextRound:
        """Return the battles to play next, given the rounds so far; no pairings when it is
        over."""

    def size(self, field: Field) -> int:
        """Return the maximum number of battles of the whole tournament."""


def fixes_first_shown(rule: Any) -> bool:
    """Return whether the pairings of a tournament fix which response is shown first.

    Args:
        rule: the tournament, or its class.
            For the class `Recorded`, whose pairings decide, the result is True.
    """
    return bool(getattr(rule, "shows_first", False))


@dataclass(frozen=True, slots=True)
class TournamentDesign:
    """A tournament that is compared with others.

    Attributes:
        label: label of the tournament with its settings.
        name: name of the tournament.
        settings: its settings.
        budget: the largest number of battles that it may play; None for no limit.
    """

    label: str
    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    budget: int | None = None
