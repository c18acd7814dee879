"""`--require better` by the default test and by betting, on scores from 0 to 1.

The first worlds have a true difference of 0, the others a difference to be found. The last column
is the share of worlds in which betting passes at one of the looks after 20, 40, ... items.
"""

from collections.abc import Callable, Mapping

import numpy as np
from claim_bars import share_text
from tables import show

from podium.rankers.errors.betting import betting_difference
from podium.rankers.errors.difference import paired_difference

ITEMS = (50, 100, 200, 500)
WORLDS = 2_000
LEVEL = 0.05
LOOK = 20
"""Number of items between two looks."""
Draw = Callable[[np.random.Generator, int], np.ndarray]
"""Differences of n items, candidate minus baseline, in [-1, 1]."""


def rare_losses(rng: np.random.Generator, items: int) -> np.ndarray:
    """Draw losses of 1 on 1% of the items, and gains of the same sum elsewhere; the mean is 0."""
    return np.where(rng.random(items) < 0.01, -1.0, 0.01 / 0.99)


def equal_answers(rng: np.random.Generator, items: int) -> np.ndarray:
    """Draw differences of two models that are each right on half of the items; the mean is 0."""
    right = rng.random((items, 2)) < 0.5
    return right[:, 0].astype(float) - right[:, 1]


def better_answers(rng: np.random.Generator, items: int) -> np.ndarray:
    """Draw differences of models that are right on 60 and 50% of the items; the mean is 0.1."""
    right = rng.random((items, 2)) < (0.6, 0.5)
    return right[:, 0].astype(float) - right[:, 1]


def better_scores(rng: np.random.Generator, items: int) -> np.ndarray:
    """Draw normal differences of mean 0.1 and sd 0.3, cut at -1 and 1."""
    return np.clip(rng.normal(0.1, 0.3, items), -1, 1)


CASES: Mapping[str, Draw] = {
    "no difference: losses on 1% of items": rare_losses,
    "no difference: right or wrong": equal_answers,
    "60% right against 50%": better_answers,
    "normal, mean 0.1, sd 0.3": better_scores,
}


def pass_counts(draw: Draw, items: int, worlds: int) -> tuple[int, int, int]:
    """Count worlds in which `--require better` passes.

    Returns:
        the counts of the default test, of betting, and of betting at any look.
    """
    rng = np.random.default_rng([44, items])
    by_default = by_betting = at_any_look = 0
    for _ in range(worlds):
        differences = draw(rng, items)
        has_two_values = set(np.unique(differences)) <= {-1.0, 0.0, 1.0}
        default = paired_difference(differences, 1.0 if has_two_values else None, 1.0)
        looks = [*range(LOOK, items, LOOK), items]
        passes = [betting_difference(differences[:n], 1.0).p_above() <= LEVEL for n in looks]
        by_default += default.p_above() <= LEVEL
        by_betting += passes[-1]
        at_any_look += any(passes)
    return by_default, by_betting, at_any_look


def report(worlds: int | None, markdown: bool) -> None:
    """Print a row per world and number of items."""
    number = worlds or WORLDS
    rows = []
    for name, draw in CASES.items():
        for items in ITEMS:
            shares = [share_text(count, number) for count in pass_counts(draw, items, number)]
            rows.append([name, str(items), f"{number:,}", *shares])
    header = ("differences", "items", "worlds", "default, %", "betting, %", "at any look, %")
    show("PASS of `podium compare --require better`", header, rows, markdown=markdown)
