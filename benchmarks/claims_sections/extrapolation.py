"""New models stronger than all calibrated models: how often the conformal interval holds the rating
that humans give them, how often they are detected, and what a closed interval would cover.

Each world draws `CALIBRATED` models with normal strengths, and `NEW` models `LEAD` logits above the
strongest of them. Humans vote by the strengths. A judge gives margins by its own strengths, with
noise: `linear` ones are a multiple of the true ones; `saturated` ones hardly rise above the median
of the calibrated models, as those of a judge that cannot tell the best models apart. The rating
by humans is the one that their votes against the calibrated models give, with the strengths of
those by human votes.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from claim_bars import LEAST_COVERAGE, lies_beyond, share_text
from drawn_battles import POINTS
from scipy.optimize import brentq
from tables import show

import podium
from podium.rankers.calibration.calibration import Calibration

WORLDS = 100
CALIBRATED = 20
NEW = 2
ITEMS = 20
LEADS = (0.2, 0.6, 1.2)
"""Logits by which the new models are above the strongest calibrated one."""
LEVEL = 0.95
SPREAD = 0.8
NOISE = 1.0
SLOPE = 1.5
SATURATED_SLOPE = 0.25
"""Slope of the saturated judge above the median, as a share of its slope below."""
LARGEST = 12.0
"""No rating by humans is further from the calibrated models than this, in logits."""


def linear(theta: np.ndarray, _median: float) -> np.ndarray:
    """Return the strengths of a judge that agrees with humans up to the scale."""
    return SLOPE * theta


def saturated(theta: np.ndarray, median: float) -> np.ndarray:
    """Return the strengths of a judge that hardly tells the better half apart."""
    excess = np.maximum(theta - median, 0)
    return SLOPE * (theta - (1 - SATURATED_SLOPE) * excess)


JUDGES: dict[str, Callable[[np.ndarray, float], np.ndarray]] = {
    "linear": linear,
    "saturated": saturated,
}


@dataclass(slots=True)
class Counts:
    """What was found in the worlds of one row.

    Attributes:
        models: number of new models that were rated.
        detected: number of those whose interval has no upper end.
        inside: number whose interval holds the rating by humans.
        closed: number whose interval would hold it with an upper end as far from the rating as the
            lower one.
    """

    models: int = 0
    detected: int = 0
    inside: int = 0
    closed: int = 0


def draw_table(rng: np.random.Generator, judge: str, lead: float) -> pd.DataFrame:
    """Draw a battle of each pair on each item, with a human vote and the judge's margin.

    New models, `new0` ..., do not meet each other.
    """
    theta = rng.normal(0, SPREAD, CALIBRATED)
    theta = np.concatenate([theta, np.full(NEW, theta.max() + lead)])
    names = np.array([f"old{k:02}" for k in range(CALIBRATED)] + [f"new{k}" for k in range(NEW)])
    pairs = np.array([pair for pair in combinations(range(len(theta)), 2) if pair[0] < CALIBRATED])
    a, b = np.tile(pairs, (ITEMS, 1)).T
    seen = JUDGES[judge](theta, float(np.median(theta[:CALIBRATED])))
    human = rng.random(len(a)) < 1 / (1 + np.exp(theta[b] - theta[a]))
    margin = seen[a] - seen[b] + rng.normal(0, NOISE, len(a))
    columns = {
        "item": np.repeat([f"i{k:02}" for k in range(ITEMS)], len(pairs)),
        "model_a": names[a],
        "model_b": names[b],
        "credit": (margin > 0).astype(float),
        "margin": margin,
        "human": human.astype(float),
    }
    return pd.DataFrame(columns)


def human_rating(table: pd.DataFrame, name: str, calibration: Calibration) -> float:
    """Return the rating of a model by human votes against the calibrated models, in Elo."""
    own = table[table["model_b"] == name]
    theta = {anchor.model: anchor.human_theta for anchor in calibration.anchors}
    opponents = own["model_a"].map(theta).to_numpy(dtype=float)
    won = float((1 - own["human"]).sum())

    def surplus(strength: float) -> float:
        return won - float((1 / (1 + np.exp(opponents - strength))).sum())

    if surplus(LARGEST) > 0:
        return np.inf
    return 1500 + POINTS * brentq(surplus, -LARGEST, LARGEST)


def count(judge: str, lead: float, worlds: int) -> Counts:
    """Calibrate in each world, and rate its new models."""
    counts = Counts()
    for world in range(worlds):
        table = draw_table(np.random.default_rng([67, world, int(10 * lead)]), judge, lead)
        is_new = table["model_b"].str.startswith("new")
        among_old = podium.read_battles(table[~is_new])
        calibration = podium.calibrate(among_old, bootstrap=25, seed=world)
        arrivals = podium.read_battles(table[is_new].drop(columns="human"))
        ranking = podium.rank(
            arrivals, "soft-elo", calibration=calibration, conformal_level=LEVEL, answers=False
        )
        inside = []
        for entry in ranking.standings[0].entries:
            low, high = (entry.extra[f"conformal_{end}"] for end in ("low", "high"))
            if not entry.model.startswith("new") or (low is None and high is None):
                continue
            truth = human_rating(table, entry.model, calibration)
            inside.append((low is None or low <= truth) and (high is None or truth <= high))
            counts.models += 1
            counts.detected += high is None
            reach = entry.score - low if low is not None else high - entry.score
            counts.closed += abs(truth - entry.score) <= reach
        counts.inside += sum(inside)
    return counts


def cells(worlds: int) -> Iterator[list[str]]:
    """Yield a row of the table per judge and lead of the new models."""
    for judge in JUDGES:
        for lead in LEADS:
            counts = count(judge, lead, worlds)
            share = counts.inside / counts.models
            # Models of one world share their calibration: the worlds are what is counted.
            is_failed = lies_beyond(round(share * worlds), worlds, LEAST_COVERAGE, above=False)
            yield [
                judge,
                f"{lead:g}",
                f"{worlds:,}",
                str(counts.models),
                share_text(counts.detected, counts.models),
                share_text(counts.inside, counts.models),
                share_text(counts.closed, counts.models),
                "FAILED" if is_failed else "ok",
            ]


def report(worlds: int | None, markdown: bool) -> None:
    """Print the table of all judges and leads."""
    header = ["judge", "lead", "worlds", "new models", "detected, %", "coverage, %"]
    header += ["closed interval, %", ""]
    title = (
        f"new models above {CALIBRATED} calibrated ones: {LEVEL:.0%} conformal intervals; "
        f"bar {LEAST_COVERAGE:.0%}"
    )
    show(title, header, [*cells(worlds or WORLDS)], markdown=markdown)
