"""Basic types of tournaments: pairings, outcomes, rounds, and the field of models and items."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol


class Pairing(NamedTuple):
    """A battle to be played: two models on one item, `a` before `b` in the order of their names.

    Attributes:
        response: which responses of the models meet, from 1, if there are several to an item.
        first: the model whose response is shown first, in the only order that is asked; None for
            the run's `orders`.
    """

    item: str
    a: str
    b: str
    response: int = 1
    first: str | None = None

    @property
    def key(self) -> str:
        """A unique text for this pairing."""
        number = [f"response {self.response}"] if self.response > 1 else []
        shown = [] if self.first is None else [f"{self.first} first"]
        return "::".join(
            part.replace(":", "%3A") for part in (self.item, self.a, self.b, *number, *shown)
        )


def pairing(item: str, name: str, other: str, first: str | None = None) -> Pairing:
    """Build the pairing of two models on an item, with names in sorted order."""
    return Pairing(item, min(name, other), max(name, other), first=first)


class Outcome(NamedTuple):
    """The outcome of a battle: credit of `a` in [0, 1], None if unparsed; margin, score of `a`
    minus that of `b`."""

    pairing: Pairing
    credit: float | None
    margin: float | None = None


def merge_responses(outcomes: Sequence[Outcome]) -> tuple[Outcome, ...]:
    """Average outcomes over the responses to an item; return one outcome per item and pair."""
    if all(outcome.pairing.response == 1 for outcome in outcomes):
        return tuple(outcomes)
    battles: dict[Pairing, list[Outcome]] = {}
    for outcome in outcomes:
        battles.setdefault(outcome.pairing._replace(response=1), []).append(outcome)
    merged = []
    for battle, own in battles.items():
        credits = [outcome.credit for outcome in own if outcome.credit is not None]
        margins = [outcome.margin for outcome in own if outcome.margin is not None]
        credit = sum(credits) / len(credits) if credits else None
        margin = sum(margins) / len(margins) if margins and len(margins) == len(credits) else None
        merged.append(Outcome(battle, credit, margin))
    return tuple(merged)


@dataclass(frozen=True, slots=True)
class Round:
    """The outcomes of battles that were scheduled together, and why, for the log."""

    outcomes: tuple[Outcome, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Field:
    """The models (sorted), the items, and by item the models without a usable response."""

    models: tuple[str, ...]
    items: tuple[str, ...]
    absent: Mapping[str, frozenset[str]]

    def can_play(self, item: str, *models: str) -> bool:
        """Return whether all of these models have a usable response to the item."""
        return not self.absent.get(item, frozenset()) & set(models)


@dataclass(frozen=True, slots=True)
class NextRound:
    """The battles to play next, none when it is over; `left_out` counts those that lack a
    response."""

    pairings: tuple[Pairing, ...]
    note: str = ""
    left_out: int = 0


OVER = NextRound((), "over")


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
