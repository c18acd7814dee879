"""Juries with known truth, drawn by NumPy: each judge follows the strengths and the items' effects
by its slope."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.special import expit

MODELS = 8


@dataclass(frozen=True)
class Jury:
    """A jury: slopes, standard deviations in logits of `shared` item effects, a judge's `own` and
    its `taste`, and two judges of whom the second copies a share of the first one's verdicts."""

    slopes: tuple[float, ...] = (2.6, 1.4, 0.55)
    shared: float = 0.6
    own: float = 0.3
    taste: float = 0.0
    position: float = 0.4
    copies: tuple[int, int] | None = None
    copied: float = 0.0

    def draw_world(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return the common strengths, (models,), and each judge's taste, (judges, models)."""
        theta = rng.normal(0, 0.7, MODELS)
        tastes = rng.normal(0, self.taste, (len(self.slopes), MODELS))
        return theta - theta.mean(), tastes - tastes.mean(axis=1, keepdims=True)


def play(
    jury: Jury, *, items: int, seed: int, overlap: float = 0.0, rotate: bool = True
) -> pd.DataFrame:
    """Return merged battles of random circles, one an item: a judge per battle in rotation, or all
    judges."""
    rng = np.random.default_rng(seed)
    strengths, tastes = jury.draw_world(rng)
    return play_world(jury, strengths + tastes, rng, items=items, overlap=overlap, rotate=rotate)


def play_world(jury, theta, rng, *, items, overlap=0.0, rotate=True, every_pair=False):
    """Return battles of a drawn world; `every_pair` plays all pairs on each item instead of a
    circle."""
    if every_pair:
        a, b = (np.tile(side, items) for side in np.array(list(combinations(range(MODELS), 2))).T)
    else:
        circle = np.argsort(rng.random((items, MODELS)), axis=1)
        a, b = circle.ravel(), np.roll(circle, -1, axis=1).ravel()
    item = np.repeat(np.arange(items), len(a) // items)
    judges, effects = len(jury.slopes), rng.normal(0, jury.shared, (items, MODELS))
    own = rng.normal(0, jury.own, (judges, items, MODELS))
    credit = np.empty((judges, len(a)))
    copied = rng.random(len(a)) < jury.copied
    for judge, slope in enumerate(jury.slopes):
        side = [
            theta[judge][model] + effects[item, model] + own[judge, item, model] for model in (a, b)
        ]
        logit = slope * (side[0] - side[1])
        credit[judge] = (
            sum(rng.random(len(a)) < expit(logit + sign * jury.position) for sign in (1, -1)) / 2
        )
        if jury.copies and judge == jury.copies[1]:
            credit[judge] = np.where(copied, credit[jury.copies[0]], credit[judge])
    turn = rng.permutation(np.arange(len(a)) % judges)
    judged = (turn == np.arange(judges)[:, None]) | (rng.random(len(a)) < overlap) | (not rotate)
    judge, row = np.nonzero(judged)
    names = {"model_a": a[row], "model_b": b[row]}
    return pd.DataFrame(
        {"item": [f"i{k}" for k in item[row]]}
        | {side: [f"m{k}" for k in code] for side, code in names.items()}
        | {"credit": credit[judge, row], "judge": [f"judge-{k}" for k in judge], "order": "merged"}
    )
