"""Battles and scores of drawn worlds for benchmarks, and the ratings that they estimate."""

from itertools import combinations

import numpy as np
import pandas as pd

from podium.data.battles import Battles
from podium.data.counting.battle_frame import BattleFrame

POINTS = 400 / np.log(10)


def battles_of(
    *,
    item: np.ndarray,
    a: np.ndarray,
    b: np.ndarray,
    models: int,
    group: str | None = "passage",
    **columns: np.ndarray,
) -> Battles:
    """Return battles of models `m00`, `m01` ...; `group` is the column of the groups of items."""
    names = [f"m{k:02}" for k in range(models)]
    sides = {"model_a": a, "model_b": b}
    coded = {name: pd.Categorical.from_codes(side, names) for name, side in sides.items()}
    distinct, code = np.unique(item, return_inverse=True)
    labels = [f"i{k:06}" for k in distinct]
    coded["item"] = pd.Categorical.from_codes(code, labels)
    return Battles(BattleFrame(pd.DataFrame(coded | columns), group))


def battles_of_verdicts(
    rng: np.random.Generator,
    strength: np.ndarray,
    item: np.ndarray | None = None,
    group: str | None = None,
    score: np.ndarray | None = None,
    **columns: np.ndarray,
) -> Battles:
    """Draw a verdict on each pair of models for each row of strengths.

    Args:
        rng: draws the verdicts.
        strength: strengths in logits, shape (rows, models).
        item: number of the item of each row, shape (rows,); None if each row is an item.
        group: the column of `columns` with the groups of items; None if there are none.
        score: scores that stand beside the verdicts, shape (rows, models); None for none.
        **columns: further columns with a value per row, shape (rows,) each.
    """
    pairs = _pairs_of(strength)
    gap = strength[:, pairs[:, 0]] - strength[:, pairs[:, 1]]
    won = rng.random(gap.shape) < 1 / (1 + np.exp(-gap))
    scores = {} if score is None else _scores_of_pairs(score)
    return _round_robin(strength, item, group, columns, credit=won.ravel().astype(float), **scores)


def battles_of_scores(
    score: np.ndarray,
    item: np.ndarray | None = None,
    group: str | None = None,
    **columns: np.ndarray,
) -> Battles:
    """Return the battles that scores of models make; arguments are those of `battles_of_verdicts`.

    Args:
        score: the score of each model, shape (rows, models).
        item: see `battles_of_verdicts`.
        group: see there.
        **columns: see there.
    """
    scores = _scores_of_pairs(score)
    credit = (np.sign(scores["margin"]) + 1) / 2
    return _round_robin(score, item, group, columns, credit=credit, **scores)


def _scores_of_pairs(score: np.ndarray) -> dict[str, np.ndarray]:
    """Return the columns of battles with the scores of both models and their difference."""
    pairs = _pairs_of(score)
    first, second = (score[:, pairs[:, side]].ravel() for side in (0, 1))
    return {"score_a": first, "score_b": second, "margin": first - second}


def _pairs_of(values: np.ndarray) -> np.ndarray:
    """Return the pairs of the models of which an array has columns, shape (pairs, 2)."""
    return np.array([*combinations(range(values.shape[1]), 2)])


def _round_robin(
    values: np.ndarray,
    item: np.ndarray | None,
    group: str | None,
    of_rows: dict[str, np.ndarray],
    **of_battles: np.ndarray,
) -> Battles:
    """Return a battle of each pair of models for each row of values.

    Args:
        values: an array of shape (rows, models).
        item: number of the item of each row; None if each row is an item.
        group: the column with the groups of items.
        of_rows: further columns with a value per row.
        of_battles: further columns with a value per battle.
    """
    pairs = _pairs_of(values)
    rows = np.arange(len(values)) if item is None else item
    repeated = {name: np.repeat(cells, len(pairs)) for name, cells in of_rows.items()}
    return battles_of(
        item=np.repeat(rows, len(pairs)),
        a=np.tile(pairs[:, 0], len(values)),
        b=np.tile(pairs[:, 1], len(values)),
        models=values.shape[1],
        group=group,
        **repeated,
        **of_battles,
    )


def mean_credits(strength: np.ndarray) -> np.ndarray:
    """Return the mean credit of each model against each other one, shape (models, models).

    Args:
        strength: strengths in logits on each of many items, shape (items, models).
    """
    gap = strength[:, :, None] - strength[:, None, :]
    return (1 / (1 + np.exp(-gap))).mean(axis=0)


def fit_elo(credit: np.ndarray, battles: np.ndarray | None = None) -> np.ndarray:
    """Return the ratings that fit the mean credits of all pairs, by minorization (Hunter 2004).

    Args:
        credit: mean credit of the row's model against the column's, shape (models, models).
        battles: number of battles of each pair, same shape; None if all pairs have as many.
    """
    met = (1 - np.eye(len(credit))) * (1 if battles is None else battles)
    won = (credit * met).sum(axis=1)
    worth = np.ones(len(credit))
    for _ in range(10_000):
        new = won / (met / (worth[:, None] + worth)).sum(axis=1)
        new /= np.exp(np.log(new).mean())
        if np.abs(np.log(new / worth)).max() < 1e-12:
            break
        worth = new
    return 1500 + POINTS * np.log(worth)
