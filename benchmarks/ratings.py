"""What ratings err beside people's, and how often intervals hold them, in simulated worlds and on recorded labels.

python benchmarks/ratings.py errors                  # stretched over Soft-Elo, 12 worlds a judge
python benchmarks/ratings.py intervals               # newcomers, 14 worlds x 3 draws a case
python benchmarks/ratings.py structured              # few labels, 40 worlds a case
python benchmarks/ratings.py recorded FOLDER         # every file and judge of a folder of tables with labels
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from tables import show

import podium

sys.path += [str(Path(__file__).parents[1] / "tests" / "rankers" / part) for part in ("calibration", "")]

import few_labels
import people_worlds


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("errors", "intervals", "structured", "recorded"))
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--worlds", type=int)
    parser.add_argument("--markdown", action="store_true")
    asked = parser.parse_args()
    tables = {
        "errors": lambda: errors(asked.worlds or 12),
        "intervals": lambda: intervals(asked.worlds or 14),
        "structured": lambda: structured(asked.worlds or 40),
        "recorded": lambda: recorded(asked.folder),
    }
    header, rows = tables[asked.what]()
    show(f"people's ratings: {asked.what}", header, rows, markdown=asked.markdown)


def errors(worlds: int) -> tuple[Sequence[str], list[Sequence[str]]]:
    """Compare errors of ratings, stretched and as they are."""
    ratios = {name: people_worlds.error_ratio(name, range(worlds)) for name in people_worlds.JUDGES}
    rows = [(name, f"{ratio:.2f}", f"{people_worlds.MOST_RATIO[name]:.2f}") for name, ratio in ratios.items()]
    mean = np.exp(np.mean(np.log([*ratios.values()])))
    return ("judge", "stretched / Soft-Elo", "at most"), [*rows, ("geometric mean", f"{mean:.2f}", "0.75")]


def intervals(worlds: int) -> tuple[Sequence[str], list[Sequence[str]]]:
    """Count newcomers whose rating by people lies in their 90% interval."""
    inflated = podium.Judge(scale=2, noise=0.7, length_bias=0.6)
    judges = {"noisy": people_worlds.JUDGES["noisy"][0], "inflated": inflated}
    rows = []
    for name, judge in judges.items():
        for calibrated, battles, times in ((12, 1200, 1), (12, 600, 4), (6, 600, 1), (4, 600, 1)):
            how = (judge, range(worlds), calibrated, battles, times, 3)
            new, old = people_worlds.placements(*how), people_worlds.placements(*how, stretch=False)
            figures = [f"{each.coverage:.2f} / {np.mean(each.width):.0f}" for each in (new, old)]
            rows.append((name, str(calibrated), f"{times} x", *figures))
    return ("judge", "calibrated", "battles of a newcomer", "coverage / width", "without the stretch"), rows


def structured(worlds: int) -> tuple[Sequence[str], list[Sequence[str]]]:
    """Compare errors with few labels."""
    rows = []
    for name in few_labels.JUDGES:
        for labels in (30, 100):
            found = few_labels.mean_errors(name, labels, range(worlds))
            figures = (found.structured, found.alone, found.soft)
            rows.append((name, str(labels), *(f"{figure:.1f}" for figure in figures), f"{found.coverage:.2f}"))
    return ("judge", "labels a model", "structured", "labels alone", "Soft-Elo", "95% coverage"), rows


def recorded(folder: Path) -> tuple[Sequence[str], list[Sequence[str]]]:
    """Calibrate every judge of every table of a folder."""
    rows = []
    for path in sorted(folder.glob("*.parquet")):
        for judge in podium.read_battles(path).judges:
            found = podium.calibrate(podium.read_battles(path, where={"judge": judge}))
            hard, soft, stretch = found.accuracy["hard"], found.accuracy["soft"], found.stretch.get("soft")
            errors = [f"{mae:.1f}" for mae in (hard.plain_mae, soft.plain_mae, hard.mae, soft.mae)]
            ratio, kappa = f"{soft.mae / soft.plain_mae:.2f}", "" if stretch is None else f"{stretch.mean:.2f}"
            rows.append((path.stem, judge, *errors, ratio, kappa))
    header = ("file", "judge", "hard", "soft", "hard, stretched", "soft, stretched", "ratio", "stretch")
    return header, rows


if __name__ == "__main__":
    main()
