"""What each design costs, and what it will be able to tell."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from podium.errors import NotIdentifiedError
from podium.planning.plan import Bill, PricedDesign, Quantity, TournamentDesign
from podium.planning.precision import (
    MOST_ENTRANTS,
    WORLDS,
    Precision,
    middling_entrant,
    precision_in_pilot,
    precision_in_worlds,
    simulated_worlds,
)
from podium.planning.request import Notes, Request
from podium.planning.sample_size import informative_needed, items_needed
from podium.replays import Recording, make_tournament
from podium.text import some
from podium.tournaments.schedule import Field

PAIRS = "pairs of interest"
DESIGNS = ("anchor", "round_robin", "swim", "chain")
MOST_COUNTED = 1000
"""Items up to which a schedule is counted battle by battle; beyond, each further item costs what one more costs."""


class Pricing:
    """Prices designs; what cannot be known is noted and does not stop the rest.

    Args:
        record: of the pilot, if there is one.
        anchor: who is to be the anchor; None to let a pilot choose.
    """

    def __init__(self, request: Request, record: Recording | None, anchor: str | None, notes: Notes) -> None:
        self.request = request
        self.record = record
        self.anchor = anchor
        self.notes = notes

    def lines(self) -> Iterator[PricedDesign]:
        """Yield what each design costs and tells: the pairs of interest, if there are any, and the tournaments."""
        request = self.request
        if request.pairs:
            yield self._pairs_line()
        for design in self._designs():
            yield self._design_line(design)
        if request.items is None:
            self.notes.lack("costs of the planned items", "no number of items was given", "give --items")
        if lacking := request.tariff.unknown_units:
            options = ", ".join(f"--{name.replace('_', '-')}" for name in lacking)
            self.notes.lack("tokens and money", "not all of what a call takes and costs is known", f"give {options}")
        part = "precision and rank sets of the designs"
        if self.record is None and request.entrants > MOST_ENTRANTS:
            why = f"worlds of more than {MOST_ENTRANTS} entrants are not imagined"
            self.notes.lack(part, why, "play a pilot and plan from it")
        if not self._has_same_entrants:
            why = f"the pilot has {len(self._pilot_names)} entrants, the plan {request.entrants}"
            self.notes.lack(part, why, "play a pilot with all entrants", unanswerable=True)

    def _pairs_line(self) -> PricedDesign:
        """Return the direct comparison of the pairs of interest: each is a sign test of its own."""
        request, number = self.request, len(self.request.pairs)
        informative = informative_needed(request.edge, alpha=request.alpha, power=request.power)
        return self._price(PAIRS, lambda items: number * items, items_for(informative, request.share_decided))

    def _design_line(self, design: TournamentDesign) -> PricedDesign:
        request, precision = self.request, self._precision(design)
        names = tuple(
            dict.fromkeys([*filter(None, [self.anchor]), *self._pilot_names, *stand_in_names(request.entrants)])
        )

        def battles(items: int) -> int:
            return battles_of(design, names[: request.entrants], items)

        if precision is None:
            return self._price(design.label, battles, None)
        self.notes.methods["precision"] = f"{100 * request.level:g}%, {precision.method}"
        items = precision.items_for(request.gap_elo, alpha=request.alpha, power=request.power)
        line = self._price(design.label, battles, items)
        if request.items is None:
            return line
        return replace(
            line,
            error=precision.standard_error(request.items),
            gap=precision.smallest_gap(request.items, alpha=request.alpha, power=request.power),
            rank_width=precision.rank_width(request.items, level=request.level, seed=request.seed),
        )

    def _price(self, label: str, battles: Callable[[int], int], items: Quantity | None) -> PricedDesign:
        """Return what a design costs on the planned items, and on those that tell the asked edge."""

        def bill(number: float | None) -> Bill | None:
            return None if number is None else self.request.tariff.bill(battles(int(number)))

        needed = (None, None, None) if items is None else (bill(items.value), bill(items.low), bill(items.high))
        return PricedDesign(label, bill(self.request.items), None, None, None, items, *needed)

    def _designs(self) -> Iterator[TournamentDesign]:
        seed = {"seed": self.request.seed}
        for name in DESIGNS:
            if name != "anchor":
                yield TournamentDesign(name, name, seed)
            elif self.anchor is None:
                yield TournamentDesign("anchor, by a pilot", name, seed)
            else:
                yield TournamentDesign(f"anchor {self.anchor}", name, {"anchor": self.anchor, **seed})

    def _precision(self, design: TournamentDesign) -> Precision | None:
        """Return the precision of a design; None, and a note of it, where it cannot be known."""
        if not self._has_same_entrants or (self.record is None and self.request.entrants > MOST_ENTRANTS):
            return None

        def in_world(world: Recording) -> TournamentDesign:
            anchor = {"anchor": middling_entrant(world)} if design.name == "anchor" else {}
            return replace(design, settings={**design.settings, **anchor})

        try:
            if self.record is not None:
                return precision_in_pilot(design, self.record, level=self.request.level)
            return precision_in_worlds(in_world, self._worlds, level=self.request.level)
        except NotIdentifiedError as error:
            remedy = "play a round robin of all entrants as the pilot, on more items"
            self.notes.lack(f"precision of {design.label}", error, remedy, unanswerable=self.record is not None)
            return None

    @cached_property
    def _worlds(self) -> list[Recording]:
        request = self.request
        number = WORLDS if request.entrants <= 20 else WORLDS // 2
        ties, orders = request.ties.value, request.tariff.orders
        return simulated_worlds(request.entrants, ties=ties, orders=orders, seed=request.seed, number=number)

    @property
    def _pilot_names(self) -> tuple[str, ...]:
        return self.record.field.entrants if self.record else ()

    @property
    def _has_same_entrants(self) -> bool:
        """Whether the entrants are those of the pilot, if there is one."""
        return self.record is None or len(self._pilot_names) == self.request.entrants


def battles_of(design: TournamentDesign, entrants: Sequence[str], items: int) -> int:
    """Return how many battles a design plays on so many items, at most, as the tournament itself counts them.

    A schedule of millions is not written out: beyond 1,000 items, the last item counted stands for each further one.
    """

    def size(number: int) -> int:
        field = Field(tuple(sorted(entrants)), tuple(f"item {k}" for k in range(number)), {})
        return make_tournament(design.name, design.settings).size(field)

    counted = min(items, MOST_COUNTED)
    battles = size(counted)
    if counted == items:
        return battles
    return battles + (items - counted) * (battles - size(counted - 1))


def cheapest_design(lines: Sequence[PricedDesign]) -> str | None:
    """Say which design tells the asked edge at the least cost, and which cannot be told from it."""
    known = [line for line in lines if line.needed is not None]
    if not known:
        return None
    in_money = all(line.needed is not None and line.needed.money is not None for line in known)

    def cost(bill: Bill | None) -> float | None:
        return None if bill is None else bill.money if in_money else float(bill.calls)

    best, *others = sorted(known, key=lambda line: cost(line.needed) or 0.0)
    most = cost(best.needed_high)
    near = [line.design for line in others if most is not None and (cost(line.needed_low) or np.inf) <= most]
    total = f"{cost(best.needed):,.2f}" if in_money else f"{cost(best.needed):,.0f} judge calls"
    items = f"{best.items.value:,.0f} items" if best.items else ""
    doubt = f"; within the intervals, {some(near)} may cost no more" if near else ""
    return f"{best.design}: {total} on {items}{doubt}"


def items_for(informative: int, share: Quantity) -> Quantity:
    """Return the items that hold so many informative ones, with the interval that the share's gives."""
    return share.through(lambda part: float(items_needed(informative, part)) if part else None, falling=True)


def stand_in_names(number: int) -> list[str]:
    """Return names for entrants that are not known yet."""
    return [f"entrant {k}" for k in range(number)]
