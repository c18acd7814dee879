"""What each design costs, and what it will be able to tell."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from podium.errors import NotIdentifiedError
from podium.planning.costs import Bill, Design, battles_of
from podium.planning.imagined import MOST_ENTRANTS, WORLDS, middle, worlds
from podium.planning.plan import Line
from podium.planning.precision import Known, Precision, of_pilot, of_worlds
from podium.planning.sign_test import informative_needed, items_needed
from podium.planning.wish import Notes, Wish
from podium.replays import Recording
from podium.text import some

PAIRS = "pairs of interest"
DESIGNS = ("anchor", "round_robin", "swim", "chain")


class Pricing:
    """Prices designs for a wish; what cannot be known is noted and does not stop the rest.

    Args:
        anchor: who is to be the anchor; None to let a pilot choose.
    """

    def __init__(self, wish: Wish, record: Recording | None, anchor: str | None, notes: Notes) -> None:
        self.wish = wish
        self.record = record
        self.anchor = anchor
        self.notes = notes

    def lines(self) -> Iterator[Line]:
        """Yield a line per design: the pairs of interest, if there are any, and the tournaments."""
        wish = self.wish
        if self.wish.pairs:
            yield self._pairs_line()
        for design in self._designs():
            yield self._line(design, self._precision(design))
        if wish.items is None:
            self.notes.lack("costs of the planned items", "no number of items was given", "give --items")
        if lacking := wish.tariff.lacking:
            options = ", ".join(f"--{name.replace('_', '-')}" for name in lacking)
            self.notes.lack("tokens and money", "not all of what a call takes and costs is known", f"give {options}")
        if self.record is None and wish.entrants > MOST_ENTRANTS:
            why = f"worlds of more than {MOST_ENTRANTS} entrants are not imagined"
            self.notes.lack("precision and rank sets of the designs", why, "play a pilot and plan from it")
        if self.record is not None and not self._same_entrants:
            why = f"the pilot has {len(self.record.field.entrants)} entrants, the plan {wish.entrants}"
            remedy = "play a pilot with all entrants"
            self.notes.lack("precision and rank sets of the designs", why, remedy, unanswerable=True)

    def _line(self, design: Design, precision: Precision | None) -> Line:
        wish = self.wish
        planned = None if wish.items is None else self._bill(design, wish.items)
        if precision is None:
            return Line(design.label, planned)
        self.notes.methods["precision"] = f"{100 * wish.level:g}%, {precision.method}"
        items = precision.items_for(self.wish.gap_elo, alpha=wish.alpha, power=wish.power)
        line = Line(
            design.label,
            planned,
            items=items,
            needed=self._bill(design, int(items.value)),
            needed_low=None if items.low is None else self._bill(design, int(items.low)),
            needed_high=None if items.high is None else self._bill(design, int(items.high)),
        )
        if wish.items is None:
            return line
        return replace(
            line,
            error=precision.standard_error(wish.items),
            gap=precision.smallest_gap(wish.items, alpha=wish.alpha, power=wish.power),
            rank_width=precision.rank_width(wish.items, level=wish.level, seed=wish.seed),
        )

    def _pairs_line(self) -> Line:
        """Return the direct comparison of the pairs of interest: each is a sign test of its own."""
        wish, number = self.wish, len(self.wish.pairs)
        informative = informative_needed(wish.edge, alpha=wish.alpha, power=wish.power)
        items = items_for(informative, complement(wish.ties))
        return Line(
            PAIRS,
            None if wish.items is None else wish.tariff.bill(number * wish.items),
            items=items,
            needed=wish.tariff.bill(number * int(items.value)),
            needed_low=None if items.low is None else wish.tariff.bill(number * int(items.low)),
            needed_high=None if items.high is None else wish.tariff.bill(number * int(items.high)),
        )

    def _designs(self) -> Iterator[Design]:
        for name in DESIGNS:
            if name != "anchor":
                yield Design(name, name, {"seed": self.wish.seed})
            elif self.anchor is None:
                yield Design("anchor, by a pilot", name, {"seed": self.wish.seed})
            else:
                yield Design(f"anchor {self.anchor}", name, {"anchor": self.anchor, "seed": self.wish.seed})

    def _precision(self, design: Design) -> Precision | None:
        """Return the precision of a design; None, and a note of it, where it cannot be known."""
        part = f"precision of {design.label}"
        if not self._same_entrants:
            return None
        try:
            if self.record is not None:
                return of_pilot(design, self.record, level=self.wish.level)
            return None if self.wish.entrants > MOST_ENTRANTS else self._imagined(design)
        except NotIdentifiedError as error:
            remedy = "play a round robin of all entrants as the pilot, on more items"
            self.notes.lack(part, error, remedy, unanswerable=self.record is not None)
            return None

    def _imagined(self, design: Design) -> Precision:
        """Return the precision over imagined worlds, in each of which the anchor is a middling entrant."""
        found = self._worlds

        def of_world(k: int) -> Design:
            settings = {"anchor": middle(found[k])} if design.name == "anchor" else {}
            return replace(design, settings={**design.settings, **settings})

        return of_worlds(of_world, found, level=self.wish.level)

    @cached_property
    def _worlds(self) -> list[Recording]:
        wish = self.wish
        number = WORLDS if wish.entrants <= 20 else WORLDS // 2
        orders = wish.tariff.orders
        return worlds(wish.entrants, ties=wish.ties.value, orders=orders, seed=wish.seed, number=number)

    @property
    def _same_entrants(self) -> bool:
        """Whether the entrants are those of the pilot, if there is one."""
        return self.record is None or len(self.record.field.entrants) == self.wish.entrants

    def _bill(self, design: Design, items: int) -> Bill:
        return self.wish.tariff.bill(battles_of(design, self.names, items))

    @property
    def names(self) -> tuple[str, ...]:
        """Names for all entrants: the anchor, those of the pilot, and as many others as there will be."""
        own = self.record.field.entrants if self.record else ()
        chosen = [self.anchor] if self.anchor else []
        names = [*chosen, *own, *(f"entrant {k}" for k in range(self.wish.entrants))]
        return tuple(dict.fromkeys(names))[: self.wish.entrants]


def cheapest(lines: Sequence[Line]) -> str | None:
    """Say which design tells the asked edge at the least cost, and which cannot be told from it."""
    known = [line for line in lines if line.needed is not None]
    if not known:
        return None
    paid = all(line.needed is not None and line.needed.money is not None for line in known)

    def cost(bill: Bill | None) -> float | None:
        return None if bill is None else bill.money if paid else float(bill.calls)

    ordered = sorted(known, key=lambda line: cost(line.needed) or 0.0)
    best, *others = ordered
    most = cost(best.needed_high)
    near = [one.design for one in others if most is not None and (cost(one.needed_low) or np.inf) <= most]
    total = f"{cost(best.needed):,.2f}" if paid else f"{cost(best.needed):,.0f} judge calls"
    items = f"{best.items.value:,.0f} items" if best.items else ""
    doubt = f"; within the intervals, {some(near)} may cost no more" if near else ""
    return f"{best.design}: {total} on {items}{doubt}"


def complement(ties: Known) -> Known:
    """Return the share of battles that decide, with its interval."""
    ends = (None if end is None else 1 - end for end in (ties.high, ties.low))
    return Known(1 - ties.value, *ends)


def items_for(informative: int, share: Known) -> Known:
    """Return the items that hold so many informative ones, with the interval that the share's gives."""
    ends = (None if not end else float(items_needed(informative, end)) for end in (share.high, share.low))
    return Known(float(items_needed(informative, share.value)), *ends)
