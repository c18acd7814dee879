"""What each design costs, and what it will be able to tell."""

from collections.abc import Sequence

import numpy as np

from podium.planning.plan import Bill, PricedDesign, TournamentDesign
from podium.replays import make_tournament
from podium.text import some
from podium.tournaments.schedule import Field

MOST_COUNTED = 1000
"""Items up to which a schedule is counted battle by battle; beyond, each further item costs what one more costs."""


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
