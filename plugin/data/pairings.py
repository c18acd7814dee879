"""The parts of a tournament: pairings, outcomes, rounds, and the field of models and items."""

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple, overload


class Pairing(NamedTuple):
    """A battle to be played: two models on one item.

    Attributes:
        item: id of the item.
        a: the model whose name sorts first.
        b: the other model.
        response: number of the responses that are compared, from 1, if the models gave several
            responses to an item.
        first: the model whose response is shown first. Only this order is then asked. None if the
            orders are those of the run.
    """

    item: str
    a: str
    b: str
    response: int = 1
    first: str | None = None

    @property
    def key(self) -> str:
        """A unique text for this pairing: item and models, with `::` between them.

        `response N` follows if it is not the first response, and `MODEL first` if the order is
        fixed. A `:` in a part becomes `%3A`.
        """
        parts = [self.item, self.a, self.b]
        if self.response > 1:
            parts.append(f"response {self.response}")
        if self.first is not None:
            parts.append(f"{self.first} first")
        return "::".join(part.replace(":", "%3A") for part in parts)


def pairing(item: str, name: str, other: str, first: str | None = None) -> Pairing:
    """Build the pairing of two models on an item, with names in sorted order.

    Args:
        item: id of the item.
        name: one of the models.
        other: the other one.
        first: the model whose response is shown first; None if the orders are those of the run.
    """
    return Pairing(item, min(name, other), max(name, other), first=first)


class PairingsByItem(Sequence[Pairing]):
    """Pairings of first responses in any order, item after item, each made when it is taken.

    Items with the same pairs share them, so that a round robin takes little memory.

    Args:
        pairs: the names of both models of each battle, sorted, by item.
    """

    __slots__ = ("_ends", "_items", "pairs")

    def __init__(self, pairs: Mapping[str, Sequence[tuple[str, str]]]) -> None:
        self.pairs = {item: pairs_of_item for item, pairs_of_item in pairs.items() if pairs_of_item}
        self._items = tuple(self.pairs)
        self._ends = [*accumulate(map(len, self.pairs.values()))]

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, place: int) -> Pairing: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Pairing, ...]: ...

    def __getitem__(self, place: int | slice) -> Pairing | tuple[Pairing, ...]:
        # A range for a slice, and one position, from 0, for an index.
        places = range(len(self))[place]
        if isinstance(places, range):
            return tuple(map(self._pairing_at, places))
        return self._pairing_at(places)

    def __iter__(self) -> Iterator[Pairing]:
        for item, pairs in self.pairs.items():
            for a, b in pairs:
                yield Pairing(item, a, b)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, PairingsByItem):
            return self.pairs == other.pairs and self._items == other._items
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(
            pairing == each for pairing, each in zip(self, other, strict=True)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"PairingsByItem({len(self)} on {len(self.pairs)} items)"

    def _pairing_at(self, place: int) -> Pairing:
        """Return the pairing at a position, from 0."""
        # The item's pairings are at the positions from `start` to before `_ends[k]`.
        k = bisect_right(self._ends, place)
        item = self._items[k]
        pairs = self.pairs[item]
        start = self._ends[k] - len(pairs)
        a, b = pairs[place - start]
        return Pairing(item, a, b)

    def on_items(self, items: Collection[str]) -> "PairingsByItem":
        """Return the pairings on those of some items that have any."""
        return PairingsByItem(
            {item: pairs_of_item for item, pairs_of_item in self.pairs.items() if item in items}
        )


def pairings_on_items(pairings: Sequence[Pairing], items: Collection[str]) -> Sequence[Pairing]:
    """Return those pairings that are on some items, in their order.

    The result is a `PairingsByItem` if the pairings are one, else a tuple.
    """
    if isinstance(pairings, PairingsByItem):
        return pairings.on_items(items)
    return tuple(pairing for pairing in pairings if pairing.item in items)


class Outcome(NamedTuple):
    """The outcome of a battle.

    Attributes:
        pairing: the battle.
        credit: what `a` earned, in [0, 1]; None if unparsed.
        margin: judge score of `a` minus judge score of `b`; None if there are no scores.
        is_asked: whether judges are asked; if not, it is a tie of identical responses.
    """

    pairing: Pairing
    credit: float | None
    margin: float | None = None
    is_asked: bool = True


def merge_responses(outcomes: Sequence[Outcome]) -> tuple[Outcome, ...]:
    """Average the outcomes of different responses to an item.

    Returns:
        One outcome per item and pair (and model that is shown first, if that is fixed), whose
        `response` is 1, in order of appearance. Its credit is the mean over the readable outcomes;
        None if there are none. A margin is averaged only if every readable outcome has one. All
        merged outcomes count as asked of judges. The outcomes are returned unchanged if all are
        about the first responses.
    """
    if all(outcome.pairing.response == 1 for outcome in outcomes):
        return tuple(outcomes)
    battles: dict[Pairing, list[Outcome]] = {}
    for outcome in outcomes:
        battles.setdefault(outcome.pairing._replace(response=1), []).append(outcome)
    merged = []
    for battle, outcomes_of_battle in battles.items():
        credits = [outcome.credit for outcome in outcomes_of_battle if outcome.credit is not None]
        margins = [outcome.margin for outcome in outcomes_of_battle if outcome.margin is not None]
        credit = sum(credits) / len(credits) if credits else None
        margin = None
        if margins and len(margins) == len(credits):
            margin = sum(margins) / len(margins)
        merged.append(Outcome(battle, credit=credit, margin=margin))
    return tuple(merged)


@dataclass(frozen=True, slots=True)
class Round:
    """The outcomes of battles that were scheduled together.

    Attributes:
        outcomes: the outcomes.
        note: why the battles were played, for the log.
    """

    outcomes: tuple[Outcome, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Field:
    """The models and items of a tournament.

    Attributes:
        models: names, sorted.
        items: ids of the items.
        absent: the models without a usable response to an item, by item. Items to which all models
            have one are left out.
        groups: the group of each item, whose items vary together; empty if each item is
            independent.
        unit: what varies: `item`, or the name of the groups, such as `passage`.
    """

    models: tuple[str, ...]
    items: tuple[str, ...]
    absent: Mapping[str, frozenset[str]]
    groups: Mapping[str, str] = field(default_factory=dict)
    unit: str = "item"

    def can_play(self, item: str, *models: str) -> bool:
        """Return whether all of these models have a usable response to the item."""
        return not self.absent.get(item, frozenset()) & set(models)


@dataclass(frozen=True, slots=True)
class NextRound:
    """The battles to play next.

    Attributes:
        pairings: the battles; empty if the tournament is over.
        note: why they are played, for the log.
        left_out: number of battles that were left out because a response is missing.
        left_out_of: the same number by item; empty if it is not known by item.
    """

    pairings: Sequence[Pairing]
    note: str = ""
    left_out: int = 0
    left_out_of: Mapping[str, int] = field(default_factory=dict)


OVER = NextRound((), "over")
"""The answer of a tournament that plays no further battle."""
