"""How often a ranking's answer worries without reason, and how often it names a planted fault.

    python benchmarks/answers.py [WORLDS [SEED]]

Worlds are drawn from SEED on, by default 0. A healthy world worries in at most 10% of 400; each planted fault is named
in at least 80%.
"""

import sys
from collections.abc import Callable

import numpy as np
import pandas as pd

import podium
from podium.rankers.scale import POINTS

MODELS, ITEMS = 6, 60
PASSED = ("All ", "The one check")


def healthy(seed: int, items: int = ITEMS, **judge: object) -> pd.DataFrame:
    """Return judgments of a judge without faults, but for those given."""
    names = [f"model-{k}" for k in range(MODELS)]
    return podium.simulate(names, items, seed=seed, spread=0.7).judgments(podium.Judge(**judge))


def flips(seed: int) -> pd.DataFrame:
    """Return verdicts of which 30% of pairs go to whatever is shown first."""
    frame, rng = healthy(seed), np.random.default_rng(seed)
    key = frame["item"] + frame["model_a"] + frame["model_b"]
    swayed = key.isin(rng.choice(key.unique(), int(0.3 * key.nunique()), replace=False))
    return frame.assign(credit=np.where(swayed, (frame["order"] == "ab") * 1.0, frame["credit"]))


def self_preference(seed: int) -> pd.DataFrame:
    """Return verdicts of a judge that lifts two models of its family by 60 Elo."""
    names = ["gpt-x", "gpt-y", *(f"model-{k}" for k in range(MODELS - 2))]
    world = podium.simulate(names, ITEMS, seed=seed, spread=0.7)
    judge = podium.Judge(name="gpt-4o", self_preference=60 / POINTS, favours=("gpt-x", "gpt-y"))
    return world.judgments(judge)


def cycle(seed: int) -> pd.DataFrame:
    """Return verdicts in which three models of six beat each other in a ring, each in 65 of 100."""
    frame, rng = healthy(seed, items=200), np.random.default_rng(seed)
    ring = {("model-0", "model-1"): 0.65, ("model-1", "model-2"): 0.65, ("model-0", "model-2"): 0.35}
    rate = np.array([ring.get(pair, np.nan) for pair in zip(frame["model_a"], frame["model_b"], strict=True)])
    won = (rng.random(len(frame)) < rate) * 1.0
    return frame.assign(credit=np.where(np.isnan(rate), frame["credit"], won)).drop(columns="margin")


def by_one_item(seed: int) -> pd.DataFrame:
    """Return verdicts in which the second is ahead by a tenth of a battle, but for one item."""
    rng, rows = np.random.default_rng(seed), []
    for item in range(ITEMS + 1):
        half = 0.9 if item == 1 else float(item % 2 or not item)
        rows += [(f"q{item}", "model-0", "model-1", half, "merged")]
        rows += [(f"q{item}", top, "model-2", float(item % 4 > 0), "merged") for top in ("model-0", "model-1")]
        rows += [(f"q{item}", "model-2", f"model-{k}", float(rng.random() < 0.7), "merged") for k in (3, 4)]
    return pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit", "order"])


FAULTS: dict[str, tuple[Callable[[int], pd.DataFrame], str]] = {
    "30% flips": (flips, "flip when the responses change places"),
    "10% unparsed": (lambda seed: healthy(seed, unparsed=0.1), "replies are unparsed"),
    "0.5 log-odds per e-fold of length": (
        lambda seed: healthy(seed, items=100, length_bias=0.5),
        "log-odds per e-fold",
    ),
    "self-preference, 60 Elo": (self_preference, "is of the same family as"),
    "a cycle of three at .65": (cycle, "no ranking explains all three"),
    "12 items": (lambda seed: healthy(seed, items=12), "Only 12 items"),
    "a leader by one item": (by_one_item, "is unknown: without item q"),
}
"""What is planted, and what names it."""


def answer_to(frame: pd.DataFrame) -> tuple[str, ...]:
    """Return what a ranking of judgments says."""
    return podium.rank(podium.read_battles(frame), seed=0).standings[0].answer


def share_of_worries(worlds: int, first: int = 0) -> float:
    """Return how often a healthy world worries."""
    seeds = range(first, first + worlds)
    return float(np.mean([not answer_to(healthy(seed))[1].startswith(PASSED) for seed in seeds]))


def share_named(fault: str, worlds: int, first: int = 0) -> float:
    """Return how often a planted fault is named."""
    draw, words = FAULTS[fault]
    seeds = range(1_000 + first, 1_000 + first + worlds)
    return float(np.mean([words in " ".join(answer_to(draw(seed))) for seed in seeds]))


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    start = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    print(f"healthy: {share_of_worries(number, start):.1%} of {number} worry (at most 10%)", flush=True)
    for name in FAULTS:
        few = max(number // 4, 20)
        print(f"{name}: named in {share_named(name, few, start):.0%} of {few} (at least 80%)", flush=True)
