"""Lost verdicts: how often a loss that moves a rating is named, and how often a harmless one is.

Each world draws k models on n items. A judge reads each pair in both orders. A model's strength on
an item has an effect of the item (sd `ITEM`), a pair's an effect of its own (sd `PAIR`); the judge
leans to the first response by `LEAN` and is as certain as `CERTAINTY` says. Verdicts are then lost:

- at random, by the order, or on some items, which tells nothing about who would have won;
- those that the first model would have lost, at a rate that moves its rating by about 30 Elo;
- those that the weaker model of each pair wins, at a rate that moves a rating as much. Of equal
  models, none is weaker.

A loss is named if a check of losses is flagged. How far it moves a rating is measured by a
Bradley-Terry fit to the battles before and after.
"""

from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
import pandas as pd
from claim_bars import MOST_FALSE, lies_beyond, share_text
from drawn_battles import fit_elo
from scipy.optimize import brentq
from tables import show

from podium import rank, read_battles
from podium.check_results import Check, Result
from podium.rankers.ranking import Standings

WORLDS = 300
SIZES = ((2, 50), (2, 300), (6, 100), (10, 100), (20, 100))
"""Numbers of models and of items."""
ITEM, PAIR, LEAN = 0.6, 0.5, 0.3
CERTAINTY = 2.0
SPREAD = 0.5
"""Half of the distance between the weakest and the strongest of models that are not equal."""
MOVED = 30.0
"""Elo by which a loss has to move a rating to be counted in the bar."""
LEAST_NAMED = 0.9
MOST_ALARMS = 0.06
FEWEST_MODELS, FEWEST_ITEMS, LEAST_AGREEMENT = 6, 100, 0.9
LOSSES = ("lost replies", "lost outcomes")
BY_STRENGTH = "won by the weaker"
"""The kind of loss that equal models do not have."""

Verdicts = pd.DataFrame
"""A row per verdict: `item`, `a` and `b` (numbers of the models), `order` (0 if a was shown first,
else 1) and `won` (whether a won)."""
Lose = Callable[[np.random.Generator, Verdicts], np.ndarray]
"""Returns which verdicts are lost, shape (verdicts,)."""


def draw(rng: np.random.Generator, models: int, items: int, spread: float) -> Verdicts:
    """Draw the verdicts on all pairs in both orders; the last model is the strongest."""
    strength = np.linspace(-spread, spread, models) + rng.normal(0, ITEM, (items, models))
    parts = []
    for a, b in combinations(range(models), 2):
        gap = strength[:, a] - strength[:, b] + rng.normal(0, PAIR, items)
        for order, lean in enumerate((LEAN, -LEAN)):
            chance = 1 / (1 + np.exp(-CERTAINTY * (gap + lean)))
            won = rng.random(items) < chance
            parts.append(
                pd.DataFrame({"item": np.arange(items), "a": a, "b": b, "order": order, "won": won})
            )
    return pd.concat(parts, ignore_index=True)


def at_random(rng: np.random.Generator, verdicts: Verdicts) -> np.ndarray:
    """Lose one of twenty verdicts."""
    return rng.random(len(verdicts)) < 0.05


def by_order(rng: np.random.Generator, verdicts: Verdicts) -> np.ndarray:
    """Lose more verdicts of one order."""
    return rng.random(len(verdicts)) < np.where(verdicts["order"] == 0, 0.1, 0.01)


def on_some_items(rng: np.random.Generator, verdicts: Verdicts) -> np.ndarray:
    """Lose many verdicts of some items."""
    share = rng.beta(0.3, 4.0, int(verdicts["item"].max()) + 1)
    return rng.random(len(verdicts)) < share[verdicts["item"]]


def lost_by_first(rate: float) -> Lose:
    """Lose verdicts that the first model would have lost."""

    def lose(rng: np.random.Generator, verdicts: Verdicts) -> np.ndarray:
        is_lost_by_first = (verdicts["a"] == 0) & ~verdicts["won"]
        return rng.random(len(verdicts)) < np.where(is_lost_by_first, rate, 0.01)

    return lose


def won_by_weaker(rate: float) -> Lose:
    """Lose verdicts that the weaker model of a pair, which is a, would have won."""

    def lose(rng: np.random.Generator, verdicts: Verdicts) -> np.ndarray:
        return rng.random(len(verdicts)) < np.where(verdicts["won"], rate, 0.01)

    return lose


def rate_that_moves(lose: Callable[[float], Lose], models: int, spread: float) -> float:
    """Return the rate at which a loss moves a rating by 1.1 times `MOVED`, in a world of 4,000
    items for few models and fewer for many."""
    verdicts = draw(np.random.default_rng(1), models, 40_000 // models**2 + 400, spread)

    def excess(rate: float) -> float:
        is_lost = lose(rate)(np.random.default_rng(2), verdicts)
        return largest_move(verdicts, is_lost, models) - 1.1 * MOVED

    return float(brentq(excess, 0.01, 0.9, xtol=1e-3))


def largest_move(verdicts: Verdicts, is_lost: np.ndarray, models: int) -> float:
    """Return by how much Elo a loss moves the rating that it moves most.

    A battle of which one order is lost does not count.
    """
    kept = verdicts.groupby(["item", "a", "b"], sort=False)
    is_kept = ~pd.Series(is_lost).groupby(kept.ngroup()).transform("any").to_numpy()
    moved = ratings(verdicts[is_kept], models) - ratings(verdicts, models)
    return float(np.abs(moved).max())


def ratings(verdicts: Verdicts, models: int) -> np.ndarray:
    """Return Bradley-Terry ratings in Elo."""
    wins = np.zeros((models, models))
    np.add.at(wins, (verdicts["a"], verdicts["b"]), verdicts["won"])
    np.add.at(wins, (verdicts["b"], verdicts["a"]), ~verdicts["won"])
    met = wins + wins.T
    return fit_elo(wins / np.maximum(met, 1), met)


def ranked(verdicts: Verdicts, is_lost: np.ndarray) -> Standings:
    """Rank the verdicts that are left."""
    table = pd.DataFrame(
        {
            "item": [f"i{k:04}" for k in verdicts["item"]],
            "model_a": [f"m{k:02}" for k in verdicts["a"]],
            "model_b": [f"m{k:02}" for k in verdicts["b"]],
            "order": np.where(verdicts["order"] == 0, "ab", "ba"),
            "judge": "judge",
            "credit": np.where(is_lost, np.nan, verdicts["won"]),
        }
    )
    return rank(read_battles(table), "bradley-terry").standings[0]


def checks_of_losses(standings: Standings) -> list[Check]:
    """Return the checks of losses."""
    return [check for check in standings.checks if check.name in LOSSES]


def claims_an_order(standings: Standings) -> bool:
    """Return whether a model that has a rank set is placed before or behind another one."""
    models = len(standings.entries)
    return any(
        entry.rank_low is not None and (entry.rank_low > 1 or entry.rank_high < models)
        for entry in standings.entries
    )


def counts_of(
    kind: str, lose: Lose, size: tuple[int, int], worlds: int, *, has_equal: bool
) -> dict[str, float]:
    """Count, over worlds, what is found; `has_equal` says whether equal models are drawn, too.

    Returns:
        `named`; `moved` (worlds whose loss moves a rating by `MOVED`) and `named_moved` of these;
        `passed` (worlds with two models whose check of outcomes is ok); `agreement`, the mean
        share of verdicts that agree between both orders; `false`, the worlds of equal models with
        a claim, 0 if they are not drawn.
    """
    models, items = size
    found = dict.fromkeys(("named", "moved", "named_moved", "passed", "agreement", "false"), 0.0)
    for world in range(worlds):
        rng = np.random.default_rng([models, items, len(kind), world])
        verdicts = draw(rng, models, items, SPREAD)
        is_lost = lose(rng, verdicts)
        standings = ranked(verdicts, is_lost)
        checks = checks_of_losses(standings)
        is_named = any(check.is_flagged for check in checks)
        is_moved = largest_move(verdicts, is_lost, models) >= MOVED
        found["named"] += is_named
        found["moved"] += is_moved
        found["named_moved"] += is_named and is_moved
        found["passed"] += any(
            check.name == "lost outcomes" and check.result is Result.OK for check in checks
        )
        won = verdicts["won"].to_numpy().reshape(-1, 2, items)
        found["agreement"] += float((won[:, 0] == won[:, 1]).mean()) / worlds
        if has_equal:
            equal = draw(rng, models, items, 0.0)
            found["false"] += claims_an_order(ranked(equal, lose(rng, equal)))
    return found


def row_of(
    kind: str, lose: Lose, size: tuple[int, int], worlds: int, *, harmful: bool
) -> list[str]:
    """Return the row of a kind of loss, with a mark for failed bars."""
    models, items = size
    has_equal = kind != BY_STRENGTH
    found = counts_of(kind, lose, size, worlds, has_equal=has_equal)
    named, moved, named_moved, false = (
        int(found[name]) for name in ("named", "moved", "named_moved", "false")
    )
    failed = []
    has_bar = models >= FEWEST_MODELS and items >= FEWEST_ITEMS
    if harmful and has_bar and moved and lies_beyond(named_moved, moved, LEAST_NAMED, above=False):
        failed.append("not named")
    if not harmful and lies_beyond(named, worlds, MOST_ALARMS, above=True):
        failed.append("false alarms")
    if has_bar and lies_beyond(false, worlds, MOST_FALSE, above=True):
        failed.append("false claims")
    must_not_pass = items < FEWEST_ITEMS or found["agreement"] < LEAST_AGREEMENT
    if models == 2 and must_not_pass and found["passed"]:
        failed.append("passed")
    return [
        kind,
        f"{models} x {items}",
        f"{worlds:,}",
        share_text(named, worlds),
        f"{share_text(named_moved, moved)} of {moved}" if moved and harmful else "-",
        f"{100 * found['agreement']:.0f}",
        f"{100 * found['passed'] / worlds:.1f}" if models == 2 else "-",
        share_text(false, worlds) if has_equal else "-",
        "FAILED: " + ", ".join(failed) if failed else "ok",
    ]


def rows_of_table(worlds: int | None) -> Iterator[list[str]]:
    """Yield a row per size and kind of loss; fewer worlds for many models."""
    for size in SIZES:
        models, _ = size
        number = worlds or (WORLDS if models <= 10 else WORLDS // 3)
        for kind, lose in (
            ("at random", at_random),
            ("by the order", by_order),
            ("on some items", on_some_items),
        ):
            yield row_of(kind, lose, size, number, harmful=False)
        rate = rate_that_moves(lost_by_first, models, SPREAD)
        yield row_of("lost by one model", lost_by_first(rate), size, number, harmful=True)
        rate = rate_that_moves(won_by_weaker, models, SPREAD)
        yield row_of(BY_STRENGTH, won_by_weaker(rate), size, number, harmful=True)


def report(worlds: int | None, markdown: bool) -> None:
    """Print a row per size and kind of loss."""
    header = (
        "lost verdicts",
        "models x items",
        "worlds",
        "named, %",
        f"named where {MOVED:.0f} Elo are moved, %",
        "orders agree, %",
        "two models pass, %",
        "equal models: a claim, %",
        "",
    )
    show("lost verdicts", header, [*rows_of_table(worlds)], markdown=markdown)
