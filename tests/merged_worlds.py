"""Battles of simulated worlds as `read_battles` gives them, in a thirtieth of its time: hundreds are drawn."""

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from podium import Battles, Judge, World
from podium.battles import COLUMNS
from podium.counting.relations import ONE_ORDER_UNREAD
from podium.simulation import UNREAD

Columns = dict[str, Any]


def battles_of(world: World, judge: Judge | None = None, *, orders: str = "both", human: bool = False) -> Battles:
    """Return what `World.battles` gives: the verdicts of one judge on all pairs, the two orders merged.

    Args:
        world: its entrants' names are sorted.
        judge: the default judge when none is given.
        orders: `both`, or `ab` for the first-named entrant first.
        human: add one human label per battle.
    """
    judge, rng = judge or Judge(), np.random.default_rng(world.seed)
    item, a, b = all_pairs(world)
    length = np.exp(world.log_length).round()
    won = rng.random(len(item)) < expit(world.quality[item, a] - world.quality[item, b]) if human else None
    shown = [world._verdict_columns(judge, item, a, b, order, rng) for order in ("ab", "ba")[: 1 + (orders == "both")]]
    columns = merged(*shown) if orders == "both" else single(shown[0])
    if human:
        columns["human"] = won * 1.0
    digits, categories = len(str(len(length))), sorted(set(world.categories))
    columns |= {
        "item": coded(item, [f"item-{k:0{digits}d}" for k in range(len(length))]),
        "judge": coded(np.zeros_like(item), [judge.name]),
        "category": coded(np.array([categories.index(name) for name in world.categories])[item], categories),
        "length_a": length[item, a],
        "length_b": length[item, b],
    }
    return in_order(world, a, b, columns)


def scored_battles(world: World) -> Battles:
    """Return the battles that `read_battles` makes of scores, the quality of each response."""
    item, a, b = all_pairs(world)
    score_a, score_b = world.quality[item, a], world.quality[item, b]
    margin = score_a - score_b
    names = [f"i{k:03d}" for k in range(len(world.quality))]
    columns = {"item": coded(item, names), "credit": (np.sign(margin) + 1) / 2, "margin": margin}
    columns |= {"score_a": score_a, "score_b": score_b, "reason": coded(np.full_like(item, -1), [])}
    return in_order(world, a, b, columns)


def all_pairs(world: World) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return item, first and second entrant of every battle, each of shape (battles,)."""
    items, (a, b) = len(world.quality), np.triu_indices(len(world.entrants), 1)
    return np.repeat(np.arange(items), len(a)), np.tile(a, items), np.tile(b, items)


def merged(ab: Columns, ba: Columns) -> Columns:
    """Return the columns of battles that were shown in both orders."""
    read = 2 - np.isnan(ab["credit"]) - np.isnan(ba["credit"])
    x, y = np.sign(ab["credit"] - 0.5), np.sign(ba["credit"] - 0.5)
    agreement = np.select([read == 0, read == 1, x == y, x == -y], [4, 2, 3, 0], 1)
    return {
        "credit": (ab["credit"] + ba["credit"]) / 2,
        "margin": (ab["margin"] + ba["margin"]) / 2,
        "order": coded(np.zeros_like(read), ["merged"]),
        "reason": coded(np.array([1, 0, -1])[read], [ONE_ORDER_UNREAD, UNREAD]).remove_unused_categories(),
        "swap": coded(agreement, ["flip", "half", "one-sided", "same", "unread"]).remove_unused_categories(),
    }


def single(shown: Columns) -> Columns:
    """Return the columns of battles that were shown in one order."""
    lost = np.isnan(shown["credit"])
    return {
        "credit": shown["credit"],
        "margin": shown["margin"],
        "order": coded(np.zeros(len(lost), dtype=int), ["ab"]),
        "reason": coded(np.where(lost, 0, -1), [UNREAD]).remove_unused_categories(),
    }


def in_order(world: World, a: np.ndarray, b: np.ndarray, columns: Columns) -> Battles:
    """Return battles with the columns in the order of the battles table, texts as categories."""
    columns |= {"model_a": coded(a, world.entrants), "model_b": coded(b, world.entrants)}
    return Battles(pd.DataFrame({name: columns[name] for name in COLUMNS if name in columns}))


def coded(code: np.ndarray, names: Any) -> pd.Categorical:
    """Return names by their codes, -1 for none."""
    return pd.Categorical.from_codes(code, pd.Index(names, dtype=object))
