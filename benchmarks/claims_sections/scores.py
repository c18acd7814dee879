"""`podium compare` on scores, true difference 0: how often it claims one, by the losses of the
candidate."""

import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from claim_bars import share_text
from tables import show

from podium.rankers.errors.difference import paired_difference

ITEMS = (20, 40, 99, 100, 150, 200, 300, 500)
WORLDS = 10_000
LEVEL = 0.05
RARE = 0.03
Draw = Callable[[np.random.Generator, int], np.ndarray]
"""Differences of n items, candidate minus baseline, with a true mean of 0."""


def rare_losses(rng: np.random.Generator, items: int) -> np.ndarray:
    """Draw losses of 1 on 3% of the items, and small gains of the same sum elsewhere."""
    return np.where(rng.random(items) < RARE, -1.0, RARE / (1 - RARE)) + rng.normal(0, 0.02, items)


def rare_noisy_losses(rng: np.random.Generator, items: int) -> np.ndarray:
    """Draw losses around 0.97 on 3% of the items, and gains around 0.03 elsewhere, each with noise
    of sd 0.1."""
    return np.where(rng.random(items) < RARE, RARE - 1, RARE) + rng.normal(0, 0.1, items)


def lognormal_losses(rng: np.random.Generator, items: int) -> np.ndarray:
    """Draw losses with a lognormal tail (sigma 1, skewness -6.2)."""
    return np.exp(0.5) - rng.lognormal(0, 1, items)


def normal_differences(rng: np.random.Generator, items: int) -> np.ndarray:
    """Draw normal differences."""
    return rng.normal(size=items)


CASES: Mapping[str, tuple[Draw, float]] = {
    "losses on 3% of items": (rare_losses, 0.06),
    "the same, noisy": (rare_noisy_losses, 0.06),
    "lognormal losses": (lognormal_losses, 0.075),
    "normal": (normal_differences, 0.06),
}
"""Draws by name, with the largest rate of PASS (`--require better`) from 100 items on; two-sided
7.5% everywhere."""


def claim_counts(draw: Draw, items: int, worlds: int) -> tuple[int, int]:
    """Count worlds in which `--require better` passes, and in which the two-sided test finds a
    difference."""
    rng = np.random.default_rng([30, items])
    tests = [paired_difference(draw(rng, items)) for _ in range(worlds)]
    return sum(own.p_above() <= LEVEL for own in tests), sum(own.p_value <= LEVEL for own in tests)


def report(worlds: int | None, markdown: bool) -> None:
    """Print a row per world and number of items, and whether the command line says the same."""
    number, rows = worlds or WORLDS, []
    for name, (draw, most) in CASES.items():
        for items in ITEMS:
            passed, differs = claim_counts(draw, items, number)
            rarest = paired_difference(draw(np.random.default_rng(0), items)).rarest_seen()
            bars = (f"{100 * most:g}", "7.5") if items >= 100 else ("", "")
            shares = share_text(passed, number), bars[0], share_text(differs, number), bars[1]
            rows.append([name, str(items), f"{number:,}", *shares, f"1 in {rarest}"])
    header = (
        "differences",
        "items",
        "worlds",
        "PASS, %",
        "bar",
        "two-sided, %",
        "bar",
        "rarest loss seen",
    )
    show("compare on scores, true difference 0, tests at 5%", header, rows, markdown=markdown)
    same, tried = command_line_agrees()
    print(
        f"\n`podium compare --require better` gives the same verdict in {same} of {tried} worlds",
        flush=True,
    )


def command_line_agrees(worlds: int = 3, items: int = 100) -> tuple[int, int]:
    """Count worlds of each case in which the command's exit code is that of the function's
    p-values."""
    same = 0
    with tempfile.TemporaryDirectory() as folder:
        for draw, _ in CASES.values():
            for world in range(worlds):
                rng = np.random.default_rng([31, world])
                difference, old = draw(rng, items), rng.normal(2, 1, items)
                paths = [str(Path(folder) / f"{name}.csv") for name in ("new", "old")]
                for path, score in zip(paths, (old + difference, old), strict=True):
                    pd.DataFrame({"item": np.arange(items), "score": score}).to_csv(
                        path, index=False
                    )
                command = [sys.executable, "-m", "podium", "compare", *paths, "--require", "better"]
                code = subprocess.run(command, capture_output=True, check=False).returncode
                test = paired_difference(difference)
                same += code == (
                    0 if test.p_above() <= LEVEL else 4 if test.p_below() <= LEVEL else 5
                )
    return same, worlds * len(CASES)
