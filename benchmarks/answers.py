"""False alarm rate of the trust checks in a ranking's answer, and how often the answer names a
planted fault.

    python benchmarks/answers.py [WORLDS [SEED]]

The seeds of the simulated data sets start at SEED, by default 0. A judge without faults gets an
alarm in at most 10% of 400 data sets; each planted fault is named in at least 80%.
"""

import re
import sys
from collections.abc import Callable

import numpy as np
import pandas as pd

import podium
from podium.rankers.fit.scale import POINTS

MODELS, ITEMS = 6, 60
PASSED = re.compile(r"[\w ]+ checks? passed")


def simulate_judgments(seed: int, items: int = ITEMS, **judge: object) -> pd.DataFrame:
    """Simulate judgments of a judge that has only the given faults."""
    names = [f"model-{k}" for k in range(MODELS)]
    return podium.simulate(names, items, seed=seed, spread=0.7).judgments(podium.Judge(**judge))


def flips(seed: int) -> pd.DataFrame:
    """Simulate verdicts in which the response shown first wins 30% of the pairs."""
    frame, rng = simulate_judgments(seed), np.random.default_rng(seed)
    key = frame["item"] + frame["model_a"] + frame["model_b"]
    swayed = key.isin(rng.choice(key.unique(), int(0.3 * key.nunique()), replace=False))
    return frame.assign(credit=np.where(swayed, (frame["order"] == "ab") * 1.0, frame["credit"]))


def self_preference(seed: int) -> pd.DataFrame:
    """Simulate verdicts of a judge that favours two models of its family by 60 Elo."""
    names = ["gpt-x", "gpt-y", *(f"model-{k}" for k in range(MODELS - 2))]
    world = podium.simulate(names, ITEMS, seed=seed, spread=0.7)
    judge = podium.Judge(name="gpt-4o", self_preference=60 / POINTS, favours=("gpt-x", "gpt-y"))
    return world.judgments(judge)


def cycle(seed: int) -> pd.DataFrame:
    """Simulate verdicts with a cycle: each of three models beats the next with probability .65."""
    frame, rng = simulate_judgments(seed, items=200), np.random.default_rng(seed)
    ring = {
        ("model-0", "model-1"): 0.65,
        ("model-1", "model-2"): 0.65,
        ("model-0", "model-2"): 0.35,
    }
    rate = np.array(
        [ring.get(pair, np.nan) for pair in zip(frame["model_a"], frame["model_b"], strict=True)]
    )
    won = (rng.random(len(frame)) < rate) * 1.0
    return frame.assign(credit=np.where(np.isnan(rate), frame["credit"], won)).drop(
        columns="margin"
    )


def by_one_item(seed: int) -> pd.DataFrame:
    """Simulate verdicts in which the leader changes if one item is removed."""
    rng, rows = np.random.default_rng(seed), []
    for item in range(ITEMS + 1):
        half = 0.9 if item == 1 else float(item % 2 or not item)
        rows += [(f"q{item}", "model-0", "model-1", half, "merged")]
        rows += [
            (f"q{item}", top, "model-2", float(item % 4 > 0), "merged")
            for top in ("model-0", "model-1")
        ]
        rows += [
            (f"q{item}", "model-2", f"model-{k}", float(rng.random() < 0.7), "merged")
            for k in (3, 4)
        ]
    return pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit", "order"])


FAULTS: dict[str, tuple[Callable[[int], pd.DataFrame], str]] = {
    "30% flips": (flips, "flip when the responses change places"),
    "10% unparsed": (lambda seed: simulate_judgments(seed, unparsed=0.1), "replies are unparsed"),
    "0.5 log-odds per e-fold of length": (
        lambda seed: simulate_judgments(seed, items=100, length_bias=0.5),
        "log-odds per factor e in length",
    ),
    "self-preference, 60 Elo": (self_preference, "is of the same family as"),
    "a cycle of three at .65": (cycle, "no ranking explains all three"),
    "12 items": (lambda seed: simulate_judgments(seed, items=12), "Only 12 items"),
    "a leader by one item": (by_one_item, "is unknown: without item q"),
}
"""Planted faults: a function that simulates each, and the words by which the answer names it."""


def answer_to(frame: pd.DataFrame) -> tuple[str, ...]:
    """Return the answer of a ranking of these judgments."""
    return podium.rank(podium.read_battles(frame), seed=0).standings[0].answer


def false_alarm_rate(worlds: int, first: int = 0) -> float:
    """Return the share of data sets without faults in which a trust check fails."""
    seeds = range(first, first + worlds)
    return float(
        np.mean([not PASSED.match(answer_to(simulate_judgments(seed))[1]) for seed in seeds])
    )


def detection_rate(fault: str, worlds: int, first: int = 0) -> float:
    """Return the share of data sets in which the answer names the planted fault."""
    draw, words = FAULTS[fault]
    seeds = range(1_000 + first, 1_000 + first + worlds)
    return float(np.mean([words in " ".join(answer_to(draw(seed))) for seed in seeds]))


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    start = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    print(
        f"no fault: false alarms in {false_alarm_rate(number, start):.1%} of {number} (at most "
        "10%)",
        flush=True,
    )
    for name in FAULTS:
        few = max(number // 4, 20)
        print(
            f"{name}: named in {detection_rate(name, few, start):.0%} of {few} (at least 80%)",
            flush=True,
        )
