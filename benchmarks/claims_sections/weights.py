"""Items with unequal weights: coverage, false "clearly ahead" and power.

Each world draws n items with lognormal weights (sd `sigma` of their logarithm), 1 on average. On
each item, each model has a strength of its own (sd .7); for the power, the first model has
`LEAD` logits more. Battles are a round robin.
"""

from collections.abc import Iterator

import numpy as np
from claim_bars import (
    LEAST_COVERAGE,
    MOST_FALSE,
    covered,
    is_claimed,
    lies_beyond,
    share_text,
)
from tables import show

from claims_sections.slices import LEAD, MODELS, draw_slice, is_first_ahead
from podium.data.battles import Battles
from podium.rankers.bradley_terry import bradley_terry
from podium.rankers.pointwise import mean
from podium.rankers.win_rate import win_rate

WORLDS = 1_000
SIZES = ((20, 0.0), (20, 0.5), (20, 1.0), (20, 1.5), (60, 1.0), (200, 1.0))
"""Numbers of items, and `sigma`."""
RANKERS = {"bradley-terry": bradley_terry, "win-rate": win_rate, "mean": mean}
TRUTH = {"bradley-terry": 1500.0, "win-rate": 0.5, "mean": 0.0}


def draw_world(rng: np.random.Generator, items: int, sigma: float, lead: float = 0.0) -> Battles:
    """Draw a round robin on each item as `draw_slice`, with a weight of each item."""
    weight = np.exp(rng.normal(0, sigma, items))
    return draw_slice(rng, items, lead, weight=weight / weight.mean())


def cells(worlds: int) -> Iterator[list[str]]:
    """Yield a row of the table per ranker and size."""
    for name, ranker in RANKERS.items():
        for items, sigma in SIZES:
            false, found, inside, intervals = 0, 0, 0, 0
            for seed in range(worlds):
                rng = np.random.default_rng([items, int(10 * sigma), seed])
                standings = ranker(draw_world(rng, items, sigma), rng=rng)
                false += is_claimed(standings)
                hits, number = covered(standings, np.full(MODELS, TRUTH[name]))
                inside += hits
                intervals += number
                found += is_first_ahead(ranker(draw_world(rng, items, sigma, LEAD), rng=rng))
            # The intervals of one world are not independent: the true limit is wider.
            is_short = lies_beyond(inside, intervals, LEAST_COVERAGE, above=False)
            is_met = not is_short and not lies_beyond(false, worlds, MOST_FALSE, above=True)
            shares = [share_text(false, worlds), share_text(found, worlds)]
            row = [name, str(items), f"{sigma:g}", f"{worlds:,}", "met" if is_met else "failed"]
            yield [*row, f"{inside / intervals:.3f} of {intervals:,}", *shares]


def report(worlds: int | None, markdown: bool) -> None:
    """Print the table of all rankers and sizes."""
    bar = f"bars {LEAST_COVERAGE:.0%}, {MOST_FALSE:.0%}"
    header = ["ranker", "items", "sigma", "worlds", bar, "coverage", "false, %", "power, %"]
    title = f"{MODELS} equal models, items with lognormal weights; power at {LEAD} logits"
    show(title, header, [*cells(worlds or WORLDS)], markdown=markdown)
