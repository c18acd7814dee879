"""What a design costs: battles, judge calls, tokens and money."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from podium.errors import UsageError
from podium.replays import make_tournament
from podium.scorers.orders import Orders, presentations
from podium.tournaments.schedule import Field

COUNTED = 1000
"""Items up to which a schedule is counted battle by battle; beyond, each further item costs what one more costs."""

UNITS = ("tokens_in", "tokens_out", "price_in", "price_out")


@dataclass(frozen=True, slots=True)
class Design:
    """A tournament with its settings.

    Attributes:
        label: what to call it.
        name: of the tournament.
        settings: its options.
    """

    label: str
    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tariff:
    """What one battle takes.

    Attributes:
        orders, repeats: which presentations make a battle.
        tokens_in, tokens_out: per judge call; None where unknown.
        price_in, price_out: per million tokens, in the user's currency; None where unknown.
    """

    orders: Orders = "both"
    repeats: int = 1
    tokens_in: float | None = None
    tokens_out: float | None = None
    price_in: float | None = None
    price_out: float | None = None

    def __post_init__(self) -> None:
        for name in UNITS:
            value = getattr(self, name)
            if value is not None and not 0 <= value < float("inf"):
                raise UsageError(f"{name}={value}: give a number of 0 or more")

    @property
    def calls(self) -> int:
        """Judge calls for one battle."""
        return len(presentations("", "a", "b", orders=self.orders, repeats=self.repeats))

    @property
    def lacking(self) -> tuple[str, ...]:
        """What would have to be known to say what a call costs."""
        return tuple(name for name in UNITS if getattr(self, name) is None)

    def bill(self, battles: int) -> "Bill":
        """Return what so many battles cost."""
        calls = battles * self.calls
        sides = ((self.tokens_in, self.price_in), (self.tokens_out, self.price_out))
        used = [None if tokens is None else calls * tokens for tokens, _ in sides]
        paid = [None if tokens is None or price is None else calls * tokens * price / 1e6 for tokens, price in sides]
        money = None if paid[0] is None or paid[1] is None else paid[0] + paid[1]
        return Bill(battles, calls, used[0], used[1], money)


@dataclass(frozen=True, slots=True)
class Bill:
    """What a number of battles costs; None where tokens or prices are unknown."""

    battles: int
    calls: int
    tokens_in: float | None
    tokens_out: float | None
    money: float | None


def battles_of(design: Design, entrants: Sequence[str], items: int) -> int:
    """Return how many battles a design plays on so many items, at most, as the tournament itself counts them.

    A schedule of millions is not written out: beyond 1,000 items, the last item counted stands for each further one.
    """
    counted = min(items, COUNTED)
    known = _size(design, entrants, counted)
    if counted == items:
        return known
    return known + (items - counted) * (known - _size(design, entrants, counted - 1))


def _size(design: Design, entrants: Sequence[str], items: int) -> int:
    field_ = Field(tuple(sorted(entrants)), tuple(f"item {k}" for k in range(items)), {})
    return make_tournament(design.name, design.settings).size(field_)
