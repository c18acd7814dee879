"""Slices (`rank --by`): how often a model is called clearly ahead in any slice where all models are
equal, and the power in a slice where one is ahead.

Each world draws S slices of n items. On each item, each model has a strength of its own (sd
`ITEM`); for the power, the first model has `LEAD` logits more. Battles are a round robin. Each
world is also ranked with the slices apart, as if each were the only one.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from claim_bars import MOST_FALSE, is_claimed, lies_beyond, share_text
from drawn_battles import battles_of_verdicts
from tables import show

from podium.data.battles import Battles
from podium.rankers.bradley_terry import bradley_terry
from podium.rankers.pointwise import mean
from podium.rankers.ranking import Standings

WORLDS = 2_000
MODELS = 4
SIZES = ((1, 40), (2, 40), (10, 20), (10, 40))
"""Numbers of slices, and of items of each."""
ITEM = 0.7
LEAD = 0.6
RANKERS = {"bradley-terry": bradley_terry, "mean": mean}


def draw_slice(
    rng: np.random.Generator, items: int, lead: float = 0.0, **columns: np.ndarray
) -> Battles:
    """Draw a round robin on each item, with a score of each model.

    Args:
        rng: draws strengths, scores and verdicts.
        items: number of items.
        lead: logits by which the first model is stronger.
        **columns: further columns with a value per item, shape (items,) each.
    """
    strength = rng.normal(0, ITEM, (items, MODELS))
    strength[:, 0] += lead
    score = strength + rng.normal(size=strength.shape)
    return battles_of_verdicts(rng, strength, score=score, **columns)


def is_first_ahead(standings: Standings) -> bool:
    """Return whether the first model is clearly ahead of the second one."""
    separation = standings.separation
    if separation is None:
        return False
    first, second = (separation.names.index(name) for name in ("m00", "m01"))
    return second in separation.beats[first]


def count_claims(
    ranker: Callable[..., Standings], slices: int, items: int, worlds: int
) -> np.ndarray:
    """Count worlds with a false claim, and with the true lead found in the first slice.

    Returns:
        Counts with the slices together, and with the slices apart, shape (2, 2).
    """
    counts = np.zeros((2, 2), dtype=int)
    for seed in range(worlds):
        rng = np.random.default_rng([slices, items, seed])
        equal = [draw_slice(rng, items) for _ in range(slices)]
        unequal = draw_slice(rng, items, LEAD)
        for row, compared in enumerate((slices, 1)):
            is_false = any(
                is_claimed(ranker(replace(part, slice_count=compared), rng=rng)) for part in equal
            )
            found = ranker(replace(unequal, slice_count=compared), rng=rng)
            counts[row] += is_false, is_first_ahead(found)
    return counts


def cells(worlds: int) -> Iterator[list[str]]:
    """Yield a row of the table per ranker and size."""
    for name, ranker in RANKERS.items():
        for slices, items in SIZES:
            (false, found), (false_apart, found_apart) = count_claims(ranker, slices, items, worlds)
            shares = [share_text(int(n), worlds) for n in (false, false_apart, found, found_apart)]
            bar = "failed" if lies_beyond(int(false), worlds, MOST_FALSE, above=True) else "met"
            yield [name, str(slices), str(items), f"{worlds:,}", bar, *shares]


def report(worlds: int | None, markdown: bool) -> None:
    """Print the table of all rankers and sizes."""
    header = ["ranker", "slices", "items each", "worlds", f"bar {MOST_FALSE:.0%}"]
    header += ["false, %", "false, slices apart", "power, %", "power, slices apart"]
    title = f"{MODELS} equal models: a model is clearly ahead in any slice; power at {LEAD} logits"
    show(title, header, [*cells(worlds or WORLDS)], markdown=markdown)
