"""Whose response is shown first, and how often."""

from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from podium.errors import UsageError

Orders = Literal["both", "random", "as-given"]
ORDERS = ("both", "random", "as-given")


@dataclass(frozen=True, slots=True)
class Presentation:
    """One call of a judge: two entrants on one item, in the order in which their responses are shown.

    Attributes:
        item: which instruction.
        first: whose response is shown first.
        second: whose response is shown second.
        order: `ab` where the entrant that was given first is shown first, else `ba`.
        repeat: which repetition, from 0.
    """

    item: str
    first: str
    second: str
    order: Literal["ab", "ba"]
    repeat: int


def presentations(
    item: str, a: str, b: str, *, orders: Orders = "both", repeats: int = 1, seed: int = 0
) -> tuple[Presentation, ...]:
    """Return the calls that make the battle of two entrants on an item.

    Args:
        item: which instruction.
        a: an entrant; order `ab` shows it first.
        b: its opponent.
        orders: `both` shows either first, once per repeat; `random` draws one order per repeat; `as-given` shows a
            first.
        repeats: how often, per order.
        seed: of the draw, which is a hash of seed, item, pair and repeat: the same whichever entrant is named first,
            and whatever else is played.

    Raises:
        UsageError: the orders are unknown, or there is not at least one repeat.
    """
    if orders not in ORDERS:
        raise UsageError(f"no orders called {orders!r}; available: {', '.join(ORDERS)}")
    if repeats < 1:
        raise UsageError(f"there must be at least one repeat, not {repeats}")
    shown: list[Presentation] = []
    for repeat in range(repeats):
        as_given = Presentation(item, a, b, "ab", repeat)
        swapped = Presentation(item, b, a, "ba", repeat)
        if orders == "both":
            shown += [as_given, swapped]
        else:
            first = a if orders == "as-given" else _drawn(seed, item, a, b, repeat)
            shown.append(as_given if first == a else swapped)
    return tuple(shown)


def _drawn(seed: int, item: str, a: str, b: str, repeat: int) -> str:
    low, high = sorted((a, b))
    named = "\0".join(f"{len(part)}:{part}" for part in (str(seed), item, low, high, str(repeat)))
    return (low, high)[sha256(named.encode("utf-8", "surrogatepass")).digest()[0] % 2]
