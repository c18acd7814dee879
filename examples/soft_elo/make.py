"""Make `labelled.csv` and `newcomers.csv`: a simulated judge that inflates differences, and humans.

Twenty models have battles with human labels; three newcomers have none, only the judge's verdicts
against those. No real judge was used. Run from the repository's root: `python
examples/soft_elo/make.py`.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from podium import Judge, simulate

HERE = Path(__file__).parent
NAMES = """
alder apple ash aspen beech cherry chestnut elder elm hazel hornbeam juniper larch lime
maple oak pear pine plum rowan
"""
OLD = NAMES.split()
NEW = ["spruce", "willow", "yew"]
JUDGE = Judge(
    "rubric-judge",
    scale=2.2,
    position_bias=0.6,
    length_bias=0.7,
    noise=0.6,
    tie=0.25,
    unparsed=0.01,
)
BATTLES_PER_ITEM = 20


def main() -> None:
    """Simulate the verdicts, keep some pairs of each item, and write the two tables."""
    world = simulate(
        [*OLD, *NEW],
        items=60,
        seed=11,
        spread=0.7,
        item_sd=0.8,
        categories=("code", "essay", "chat"),
    )
    frame = world.judgments(JUDGE, human=True).round({"margin": 2})
    frame = with_human_ties(frame, np.random.default_rng(11))
    new_a, new_b = frame["model_a"].isin(NEW), frame["model_b"].isin(NEW)
    sampled(frame[~new_a & ~new_b], BATTLES_PER_ITEM).to_csv(HERE / "labelled.csv", index=False)
    sampled(frame[new_a ^ new_b], 9).drop(columns="human").to_csv(
        HERE / "newcomers.csv", index=False
    )


def with_human_ties(frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Set the human label to a tie in a fifth of the battles, the same in both orders."""
    battle = frame.groupby(["item", "model_a", "model_b"], sort=False).ngroup()
    tie = rng.random(battle.max() + 1) < 0.2
    return frame.assign(human=frame["human"].mask(tie[battle], 0.5))


def sampled(frame: pd.DataFrame, battles: int) -> pd.DataFrame:
    """Keep this many battles of each item, in both orders."""
    rng = np.random.default_rng(3)
    keys = ["item", "model_a", "model_b"]
    pairs = frame[keys].drop_duplicates()
    kept = pairs.groupby("item", sort=False).sample(battles, random_state=rng)
    return frame.merge(kept, on=keys)


if __name__ == "__main__":
    main()
