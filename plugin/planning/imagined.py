"""Imagined verdicts where there is no pilot: worlds of a stated kind, with the share of ties that is expected."""

from typing import Literal

import numpy as np

from podium.replays import Recording, recording_of
from podium.scorers.orders import Orders
from podium.simulation import Judge, simulate

MOST_ENTRANTS = 60
BATTLES = 20_000
"""Of a round robin in one world, at most, as long as there are enough items."""
FEWEST, MOST = 25, 100
"""Items of a world."""
WORLDS = 10
SPREAD = 1.0
"""Standard deviation of the entrants' strengths, and of what an item adds to each, logits."""


def worlds(
    entrants: int, *, ties: float, orders: Orders = "both", seed: int = 0, number: int = WORLDS
) -> list[Recording]:
    """Return the records of full round robins in imagined worlds.

    Strengths are normal with a standard deviation of one logit (174 Elo), each item moves each entrant by as much
    again, and every call of the judge errs by a logistic error: what items and entrants leave open, one call decides.

    Args:
        ties: share of calls that end in a tie, in [0, 1).
        orders: `both` makes a battle of two calls.
    """
    items = int(np.clip(BATTLES // (entrants * (entrants - 1) // 2), FEWEST, MOST))
    return [_world(entrants, items, ties, orders, seed + k) for k in range(number)]


def middle(record: Recording) -> str:
    """Return an entrant of middling strength, by mean credit over what was read."""
    credits: dict[str, list[float]] = {name: [] for name in record.field.entrants}
    for one in record.outcomes:
        if one.credit is not None:
            credits[one.pairing.a].append(one.credit)
            credits[one.pairing.b].append(1 - one.credit)
    ranked = sorted((float(np.mean(found)), name) for name, found in credits.items() if found)
    return ranked[len(ranked) // 2][1]


def _world(entrants: int, items: int, ties: float, orders: Orders, seed: int) -> Recording:
    world = simulate(entrants, items, seed=seed, spread=SPREAD, item_sd=SPREAD)
    shown: Literal["both", "ab"] = "both" if orders == "both" else "ab"
    margins = world.presentations(Judge(), orders=shown)["margin"].abs()
    # The same seed gives the same margins, so this threshold makes just that share of them ties.
    judge = Judge(tie=float(np.quantile(margins, ties)))
    return recording_of(world.battles(judge, orders=shown))
