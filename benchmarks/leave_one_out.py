"""Leave-one-model-out calibration: podium compared with a transcription of Soft-Elo's Algorithm 1.

    OPENBLAS_NUM_THREADS=1 python benchmarks/leave_one_out.py             # about a minute
    OPENBLAS_NUM_THREADS=1 python benchmarks/leave_one_out.py --small     # 1,000 battles of 14
    models only OPENBLAS_NUM_THREADS=1 python benchmarks/leave_one_out.py --markdown  # tables as
    Markdown

Both fit beta of every fold, the human, hard and soft ratings of every left-out model, and standard
errors of hard and soft ratings from resamples; imports and reading are not counted. Up to seven
runs after a warm-up, in turn (fewer where they take long). Battles are simulated and seeded.
"""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy
from algorithm_1 import Ratings, Rows, held_out
from tables import Timing, machine, show, timed_in_turn

import podium

SEED = 20240501
CRITERIA, ORDERS = 6, 2
"""A margin is a mean difference of grades over criteria and both orders: a multiple of 1/12."""
SMALL, LARGE = (1_000, 14), (25_000, 55)
"""Battles and models; the large size is that of the paper's section 3.2."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Both tools on the same battles."""

    battles: int
    models: int
    timings: Mapping[str, Timing]
    ours: Ratings
    theirs: Ratings

    @property
    def size(self) -> str:
        """The size in words."""
        return f"{self.battles:,} battles, {self.models} models"

    def largest_difference(self, kind: str) -> float:
        """Return the largest difference of a rating, Elo points."""
        return float(np.abs(getattr(self.ours, kind) - getattr(self.theirs, kind)).max())

    def largest_se_difference(self, kind: str) -> float:
        """Return the largest difference of a standard error, relative to the transcription's."""
        ours, theirs = getattr(self.ours, f"{kind}_se"), getattr(self.theirs, f"{kind}_se")
        return float(np.abs(ours / theirs - 1).max())


def main() -> None:
    """Compare at both sizes and print times and differences."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--small", action="store_true", help="1,000 battles of 14 models only")
    parser.add_argument(
        "--resamples", type=int, default=200, help="behind every standard error; at least 20"
    )
    parser.add_argument("--markdown", action="store_true")
    arguments = parser.parse_args()
    print(
        machine(
            f"podium {podium.__version__}", f"numpy {np.__version__}", f"scipy {scipy.__version__}"
        )
    )
    found = [
        compare(*size, arguments.resamples)
        for size in ([SMALL] if arguments.small else [SMALL, LARGE])
    ]
    speed(found, arguments.resamples, arguments.markdown)
    differences(found, arguments.resamples, arguments.markdown)


def compare(battles: int, models: int, resamples: int) -> Comparison:
    """Time both tools on one draw, in turn."""
    rows = drawn(battles, models)
    read = podium.read_battles(frame(rows))
    results: dict[str, Any] = {}
    works = {
        "podium": lambda: results.update(
            ours=podium.calibrate(read, bootstrap=resamples, splits=5, scale_correction=False)
        ),
        "transcription": lambda: results.update(
            theirs=held_out(rows, resamples, np.random.default_rng(SEED))
        ),
    }
    timings = timed_in_turn(works, repeats=7, budget=30)
    return Comparison(battles, models, timings, ratings(results["ours"]), results["theirs"])


def drawn(battles: int, models: int) -> Rows:
    """Draw random pairings, one per item: human labels with ties, rubric margins, a tie where the
    orders disagree."""
    rng = np.random.default_rng([SEED, battles])
    quality = rng.normal(0, 0.6, models)
    a = rng.integers(0, models, battles)
    b = (a + rng.integers(1, models, battles)) % models
    better = quality[a] - quality[b] + rng.normal(0, 0.7, battles)
    felt = better + rng.logistic(0, 1, battles)
    human = np.where(np.abs(felt) < 0.5, 0.5, felt > 0)
    seen = (
        1.5 * better[:, None]
        + rng.normal(0, 1, (battles, 1))
        + rng.normal(0, 0.8, (battles, ORDERS))
    )
    graded = np.round(CRITERIA * np.clip(seen, -9, 9)).astype(int)
    margin = graded.sum(axis=1) / (CRITERIA * ORDERS)
    flips = graded[:, 0] * graded[:, 1] < 0
    hard = np.where(flips, 0.5, (np.sign(margin) + 1) / 2)
    return Rows(a, b, hard, human, margin, models)


def frame(rows: Rows) -> pd.DataFrame:
    """Return the battles as podium reads them; names sort like codes."""
    names = np.array([f"model-{k:03d}" for k in range(rows.models)], dtype=object)
    return pd.DataFrame(
        {
            "item": [f"item-{k:06d}" for k in range(len(rows.a))],
            "model_a": names[rows.a],
            "model_b": names[rows.b],
            "credit": rows.hard,
            "margin": rows.margin,
            "human": rows.human,
        }
    )


def ratings(calibration: podium.Calibration) -> Ratings:
    """Return podium's ratings by model code."""
    models = sorted(calibration.models, key=lambda one: one.model)
    columns = ("human_elo", "hard_elo", "soft_elo", "hard_se", "soft_se")
    return Ratings(
        *(
            np.array([getattr(one, column) for one in models], dtype=np.float64)
            for column in columns
        )
    )


def speed(found: list[Comparison], resamples: int, markdown: bool) -> None:
    """Print the seconds of both tools at each size."""
    show(
        f"Leave one model out with {resamples} resamples per standard error: seconds",
        ["tool", "battles", "models", "median", "fastest", "runs", "times podium"],
        [
            [
                name,
                f"{one.battles:,}",
                str(one.models),
                f"{timing.median:.3g}",
                f"{timing.best:.3g}",
                str(len(timing.seconds)),
                f"{timing.median / one.timings['podium'].median:.1f}",
            ]
            for one in found
            for name, timing in one.timings.items()
        ],
        markdown=markdown,
    )
    print(
        "\npodium: `calibrate(battles, bootstrap=..., splits=5)` on battles already read, with "
        "joint fits, half splits, agreement\nand the stability of beta; the transcription, in "
        "memory too, does none of these four."
    )


def differences(found: list[Comparison], resamples: int, markdown: bool) -> None:
    """Print the largest differences at each size."""
    show(
        "Largest difference of podium from the transcription over all models: Elo points, and "
        "share of a standard error",
        ["size", "human", "hard", "soft", "se, hard", "se, soft"],
        [
            [
                one.size,
                *(f"{one.largest_difference(kind):.1e}" for kind in ("human", "hard", "soft")),
                *(f"{one.largest_se_difference(kind):.0%}" for kind in ("hard", "soft")),
            ]
            for one in found
        ],
        markdown=markdown,
    )
    chance = 1 / np.sqrt(resamples - 1)
    print(
        f"\nStandard errors: the two draw different resamples. Two errors from {resamples} "
        f"resamples each differ by {chance:.0%} by chance alone\n(one standard deviation, where "
        "resampled ratings are normal); the largest of many differ by more."
    )


if __name__ == "__main__":
    main()
