"""The rules of tournaments: what is played next, from the rounds that were played."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from podium.data.pairings import Field, NextRound, Pairing, Round


def schedule_pairings(
    field: Field, pairings: Iterable[Pairing], played: Sequence[Round] = (), note: str = ""
) -> NextRound:
    """Return the next round: the pairings that have both responses and were not played yet."""
    asked = tuple(pairings)
    possible = (
        [own for own in asked if field.can_play(own.item, own.a, own.b)] if field.absent else asked
    )
    items, pairs = {own.item for own in asked}, {(own.a, own.b) for own in asked}
    before = (outcome.pairing for round_ in played for outcome in round_.outcomes)
    done = {own for own in before if own.item in items and (own.a, own.b) in pairs}
    coming = tuple(own for own in possible if own not in done) if done else tuple(possible)
    return NextRound(coming, note, len(asked) - len(possible))


def rounds_of(rule: Any, field: Field) -> int | None:
    """Return the maximum number of rounds; None if the tournament does not define `rounds`."""
    own = getattr(getattr(rule, "rule", rule), "rounds", None)
    return None if own is None else own(field)


class TournamentRule(Protocol):
    """A tournament as a pure, deterministic function of the rounds played so far.

    Earlier schedules are read from `played`, never computed again: verdicts may be read anew,
    opponents stay.
    """

    def next(self, field: Field, played: Sequence[Round]) -> NextRound:
        """Return the battles to play next, given the rounds so far; no pairings when it is over."""

    def size(self, field: Field) -> int:
        """Return the maximum number of battles of the whole tournament."""


def asks_order(rule: Any) -> bool:
    """Return whether the pairings of a tournament, or of its class, say which model is shown
    first."""
    return bool(getattr(rule, "shows_first", False))


@dataclass(frozen=True, slots=True)
class TournamentDesign:
    """A tournament by name, its settings, a label for both, and the most battles that it may
    play."""

    label: str
    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    budget: int | None = None
