"""Several epochs on each item, of unequal numbers, too: coverage and false "clearly ahead".

On each item, each model has a strength of its own (sd `ITEM`, in logits), which all epochs share;
an epoch is one answer, right or wrong, or one verdict on each pair. With unequal numbers, an item
has 1 to 8 epochs, and for scores each model has a number of its own. The truth is the mean over
very many items, with equal weights of items for scores; items with more verdicts count more.
"""

from collections.abc import Callable, Iterator

import numpy as np
from claim_bars import LEAST_COVERAGE, MOST_FALSE, covered, is_claimed, lies_beyond, share_text
from drawn_battles import battles_of_scores, battles_of_verdicts, fit_elo, mean_credits
from tables import show

from claims_sections.groups import LARGE, SPREAD
from podium.data.battles import Battles
from podium.rankers.bradley_terry import bradley_terry
from podium.rankers.pointwise import mean
from podium.rankers.ranking import Standings
from podium.rankers.win_rate import win_rate

WORLDS = 1_000
MODELS = 4
SIZES = ((10, 5), (20, 5), (40, 2), (40, 0), (100, 0))
"""Numbers of items, and of epochs of each; 0 for unequal numbers."""
MOST_EPOCHS = 8
ITEM = 1.0


def draw_battles(rng: np.random.Generator, theta: np.ndarray, items: int, epochs: int) -> Battles:
    """Draw the verdicts of all epochs on all pairs; an item has as many epochs of each pair."""
    strength = theta + rng.normal(0, ITEM, (items, len(theta)))
    item = np.repeat(np.arange(items), _draw_epochs(rng, items, epochs))
    return battles_of_verdicts(rng, strength[item], item)


def _draw_epochs(rng: np.random.Generator, shape: int | tuple[int, ...], epochs: int) -> np.ndarray:
    """Return the same number of epochs for all, or numbers from 1 to 8 if it is 0."""
    if epochs:
        return np.full(shape, epochs)
    return rng.integers(1, MOST_EPOCHS + 1, shape)


def draw_scores(rng: np.random.Generator, theta: np.ndarray, items: int, epochs: int) -> Battles:
    """Draw the share of right answers of each model on each item, over its epochs."""
    strength = theta + rng.normal(0, ITEM, (items, len(theta)))
    number = _draw_epochs(rng, strength.shape, epochs)
    return battles_of_scores(rng.binomial(number, 1 / (1 + np.exp(-strength))) / number)


def strengths_on_items(theta: np.ndarray) -> np.ndarray:
    """Return the strengths on very many items, shape (items, models)."""
    return theta + np.random.default_rng(64).normal(0, ITEM, (10 * LARGE, len(theta)))


def true_elo(theta: np.ndarray) -> np.ndarray:
    """Return the ratings by very many items."""
    return fit_elo(mean_credits(strengths_on_items(theta)))


def true_rates(theta: np.ndarray) -> np.ndarray:
    """Return the win rates on very many items."""
    return (mean_credits(strengths_on_items(theta)).sum(axis=1) - 0.5) / (len(theta) - 1)


def true_means(theta: np.ndarray) -> np.ndarray:
    """Return the share of right answers on very many items."""
    return (1 / (1 + np.exp(-strengths_on_items(theta)))).mean(axis=0)


Draw = Callable[[np.random.Generator, np.ndarray, int, int], Battles]
KINDS: dict[str, tuple[Draw, Callable[..., Standings], Callable[[np.ndarray], np.ndarray]]] = {
    "battles, bradley-terry": (draw_battles, bradley_terry, true_elo),
    "battles, win-rate": (draw_battles, win_rate, true_rates),
    "right or wrong, mean": (draw_scores, mean, true_means),
}


def row_of(kind: str, items: int, epochs: int, worlds: int) -> list[str]:
    """Return the row of one kind of data and size: unequal models, and equal ones."""
    draw, ranker, truth_of = KINDS[kind]
    unequal = SPREAD * (np.arange(MODELS) - (MODELS - 1) / 2)
    truth = truth_of(unequal)
    false = hits = tried = 0
    for world in range(worlds):
        seeds = [65, world, items, epochs]
        drawn = draw(np.random.default_rng(seeds), unequal, items, epochs)
        inside, number = covered(ranker(drawn, rng=np.random.default_rng(0)), truth)
        hits += inside
        tried += number
        equal = draw(np.random.default_rng([66, *seeds]), np.zeros(MODELS), items, epochs)
        false += is_claimed(ranker(equal, rng=np.random.default_rng(0)))
    failed = []
    # The intervals of one world depend on each other: the worlds are what is counted.
    if lies_beyond(round(hits / tried * worlds), worlds, LEAST_COVERAGE, above=False):
        failed.append("coverage")
    if lies_beyond(false, worlds, MOST_FALSE, above=True):
        failed.append("false claims")
    return [
        kind,
        str(items),
        str(epochs) if epochs else f"1 to {MOST_EPOCHS}",
        f"{worlds:,}",
        f"{100 * hits / tried:.1f}",
        share_text(false, worlds),
        "FAILED: " + ", ".join(failed) if failed else "ok",
    ]


def cells(worlds: int) -> Iterator[list[str]]:
    """Yield a row of the table per kind of data and size."""
    for kind in KINDS:
        for items, epochs in SIZES:
            yield row_of(kind, items, epochs, worlds)


def report(worlds: int | None, markdown: bool) -> None:
    """Print the table of all kinds of data and sizes."""
    header = ["data", "items", "epochs", "worlds", "coverage, %", "false, equal models, %", ""]
    bars = f"bars {LEAST_COVERAGE:.0%} and {MOST_FALSE:.0%}"
    title = f"{MODELS} models, several epochs on each item; {bars}"
    show(title, header, [*cells(worlds or WORLDS)], markdown=markdown)
