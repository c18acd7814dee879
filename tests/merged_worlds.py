"""Battles of simulated worlds as `read_battles` gives them, in a thirtieth of its time: hundreds
are drawn."""

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from podium import Battles, Judge, World
from podium.data.battles import COLUMNS
from podium.data.counting.battle_frame import BattleFrame
from podium.data.counting.relations import ONE_ORDER_UNPARSED
from podium.planning.simulation import UNPARSED_REASON

Columns = dict[str, Any]


def battles_of(
    world: World, judge: Judge | None = None, *, orders: str = "both", human: bool = False
) -> Battles:
    """Return what `World.battles` gives: the verdicts of one judge on all pairs, the two orders
    merged.

    Args:
        judge: the default judge when none is given.
        orders: `both`, or `ab` for the first-named model first.
        human: add one human label per battle.
    """
    judge, rng = judge or Judge(), np.random.default_rng(world.seed)
    known = known_of(world, judge, human_labels(world, rng) if human else None)
    shown = [shown_as(world, judge, order, rng) for order in ("ab", "ba")[: 1 + (orders == "both")]]
    return in_order([known | (merged(*shown) if orders == "both" else shown[0])])


def unmerged_and_merged(world: World, judge: Judge, *, repeats: int = 1) -> tuple[Battles, Battles]:
    """Return a judge's verdicts with human labels, unmerged and merged.

    Args:
        repeats: how often the judge sees each judgment.
    """
    rng = np.random.default_rng(world.seed)
    known = known_of(world, judge, human_labels(world, rng))
    apart, together = [], []
    for repeat in range(repeats):
        own = known | (
            {"repeat": np.full(len(known["item"]), float(repeat))} if repeats > 1 else {}
        )
        shown = [shown_as(world, judge, order, rng) for order in ("ab", "ba")]
        apart += [own | columns for columns in shown]
        together.append(own | merged(*shown))
    return in_order(apart), in_order(together)


def scored_battles(world: World) -> Battles:
    """Return the battles that `read_battles` makes of scores, the quality of each response."""
    item, a, b = all_pairs(world)
    score_a, score_b = world.quality[item, a], world.quality[item, b]
    margin = score_a - score_b
    names = [f"i{k:03d}" for k in range(len(world.quality))]
    columns = {
        "item": coded(item, names),
        "model_a": names_of(world, a),
        "model_b": names_of(world, b),
    }
    columns |= {
        "credit": (np.sign(margin) + 1) / 2,
        "margin": margin,
        "score_a": score_a,
        "score_b": score_b,
    }
    return in_order([columns | {"reason": coded(np.full_like(item, -1), [])}])


def all_pairs(world: World) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return item, first and second model of every battle, each of shape (battles,)."""
    items, (a, b) = len(world.quality), np.triu_indices(len(world.models), 1)
    return np.repeat(np.arange(items), len(a)), np.tile(a, items), np.tile(b, items)


def human_labels(world: World, rng: np.random.Generator) -> np.ndarray:
    """Draw one label per battle, shape (battles,)."""
    item, a, b = all_pairs(world)
    return (rng.random(len(item)) < expit(world.quality[item, a] - world.quality[item, b])) * 1.0


def known_of(world: World, judge: Judge, human: np.ndarray | None) -> Columns:
    """Return the columns of item, models and judge."""
    item, a, b = all_pairs(world)
    length, categories = np.exp(world.log_length).round(), sorted(set(world.categories))
    digits = len(str(len(length)))
    return {
        "item": coded(item, [f"item-{k:0{digits}d}" for k in range(len(length))]),
        "model_a": names_of(world, a),
        "model_b": names_of(world, b),
        "judge": coded(np.zeros_like(item), [judge.name]),
        **({} if human is None else {"human": human}),
        "category": coded(
            np.array([categories.index(name) for name in world.categories])[item], categories
        ),
        "length_a": length[item, a],
        "length_b": length[item, b],
    }


def shown_as(world: World, judge: Judge, order: str, rng: np.random.Generator) -> Columns:
    """Return what a judge says of all pairs in one order."""
    stated = world._verdict_columns(judge, *all_pairs(world), order, rng)
    lost = np.isnan(stated["credit"])
    return {
        "credit": stated["credit"],
        "margin": stated["margin"],
        "order": coded(np.full(len(lost), order == "ba", dtype=int), ["ab", "ba"]),
        "reason": coded(np.where(lost, 0, -1), [UNPARSED_REASON]),
    }


def merged(ab: Columns, ba: Columns) -> Columns:
    """Return the columns of battles that were shown in both orders."""
    read = 2 - np.isnan(ab["credit"]) - np.isnan(ba["credit"])
    x, y = np.sign(ab["credit"] - 0.5), np.sign(ba["credit"] - 0.5)
    agreement = np.select([read == 0, read == 1, x == y, x == -y], [4, 2, 3, 0], 1)
    return {
        "credit": (ab["credit"] + ba["credit"]) / 2,
        "margin": (ab["margin"] + ba["margin"]) / 2,
        "order": coded(np.zeros_like(read), ["merged"]),
        "reason": coded(np.array([1, 0, -1])[read], [ONE_ORDER_UNPARSED, UNPARSED_REASON]),
        "swap": coded(agreement, ["flip", "half", "one-sided", "same", "unparsed"]),
    }


def in_order(parts: list[Columns]) -> Battles:
    """Return battles with the columns in the order of the battles table."""
    names = [name for name in COLUMNS if name in parts[0]]
    frames = [pd.DataFrame({name: columns[name] for name in names}) for columns in parts]
    table = pd.concat(frames, ignore_index=True) if len(frames) > 1 else frames[0]
    for name in {"order", "reason", "swap"} & set(table):
        table[name] = table[name].cat.remove_unused_categories()
    return Battles(BattleFrame(table))


def names_of(world: World, model: np.ndarray) -> pd.Categorical:
    """Return the names of models, given by their positions in the world."""
    names = sorted(world.models)
    return coded(np.array([names.index(name) for name in world.models])[model], names)


def coded(code: np.ndarray, names: Any) -> pd.Categorical:
    """Return names by their codes, -1 for none."""
    return pd.Categorical.from_codes(code, pd.Index(names, dtype=object))
