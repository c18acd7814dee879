"""Errors of ratings against human ratings, and coverage of their intervals, in simulations and on
recorded labels.

python benchmarks/ratings.py errors                     # scale-corrected over Soft-Elo, 12 worlds a
judge python benchmarks/ratings.py intervals                  # newcomers, 14 worlds a case and
three draws of each: minutes python benchmarks/ratings.py structured                 # few labels,
40 worlds a case python benchmarks/ratings.py recorded FOLDER            # every file and judge of a
folder of tables with labels python benchmarks/ratings.py few FOLDER                 # 200 random
labels, 30 draws, compared with all labels python benchmarks/ratings.py size                       #
seconds of the ranker with few labels, to 200 models
"""

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from tables import show

import podium
from podium.defaults import REGULARIZATION
from podium.rankers.calibration.human_label_fit import human_label_fit, human_ratings
from podium.rankers.fit.coded import CodedBattles, code_battles
from podium.rankers.fit.identification import fit_battles
from podium.rankers.fit.random_effects import fit_with_misjudged
from podium.rankers.fit.scale import POINTS

sys.path += [
    str(Path(__file__).parents[1] / "tests" / "rankers" / part) for part in ("calibration", "")
]

import few_labels
import human_worlds


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "what", choices=("errors", "intervals", "structured", "recorded", "few", "size")
    )
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--worlds", type=int, help="fewer or more than are usual")
    parser.add_argument(
        "--draws",
        type=int,
        default=3,
        help="of models and battles in each world, under `intervals`",
    )
    parser.add_argument("--markdown", action="store_true")
    asked = parser.parse_args()
    if asked.what in ("recorded", "few") and asked.folder is None:
        parser.error(f"{asked.what}: name the folder of tables with labels")
    tables = {
        "errors": lambda: errors(asked.worlds or 12),
        "intervals": lambda: intervals(asked.worlds or 14, asked.draws),
        "structured": lambda: structured(asked.worlds or 40),
        "recorded": lambda: recorded(asked.folder),
        "few": lambda: few(asked.folder, asked.worlds or 30),
        "size": size,
    }
    header, rows = tables[asked.what]()
    show(f"human ratings: {asked.what}", header, rows, markdown=asked.markdown)


def errors(worlds: int) -> tuple[Sequence[str], list[Sequence[str]]]:
    """Compare errors of ratings, scale-corrected and as they are."""
    ratios = {name: human_worlds.error_ratio(name, range(worlds)) for name in human_worlds.JUDGES}
    rows = [
        (name, f"{ratio:.2f}", f"{human_worlds.MOST_RATIO[name]:.2f}")
        for name, ratio in ratios.items()
    ]
    mean = np.exp(np.mean(np.log([*ratios.values()])))
    return ("judge", "scale-corrected / Soft-Elo", "at most"), [
        *rows,
        ("geometric mean", f"{mean:.2f}", "0.75"),
    ]


CASES = ((12, 1200, 1), (12, 600, 4), (6, 600, 1), (4, 600, 1))
"""Calibrated models, battles among them, and how many times as many battles a newcomer has as each
of them."""


def intervals(worlds: int, draws: int) -> tuple[Sequence[str], list[Sequence[str]]]:
    """Count newcomers whose rating by humans lies in their 90% interval."""
    inflated = podium.Judge(scale=2, noise=0.7, length_bias=0.6)
    rows = []
    for name, judge in {"noisy": human_worlds.JUDGES["noisy"][0], "inflated": inflated}.items():
        found = [
            [
                human_worlds.placements(
                    judge, range(seed, seed + 1), *case, draws, scale_correction=s
                )
                for s in (True, False)
            ]
            for seed in range(worlds)
            for case in CASES
        ]
        for k, (calibrated, _, times) in enumerate(CASES):
            figures = [
                coverage_and_width(each) for each in zip(*found[k :: len(CASES)], strict=True)
            ]
            rows.append((name, str(calibrated), f"{times} x", *figures))
    return (
        "judge",
        "calibrated",
        "battles of a newcomer",
        "coverage / width",
        "without the scale correction",
    ), rows


def coverage_and_width(parts: Sequence[human_worlds.Placements]) -> str:
    """Return both, of all worlds."""
    hits, width = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("hits", "width")
    )
    return f"{hits.mean():.2f} / {width.mean():.0f} ({len(hits)})"


def structured(worlds: int) -> tuple[Sequence[str], list[Sequence[str]]]:
    """Compare errors with few labels."""
    rows = []
    for name in few_labels.JUDGES:
        for labels in (30, 100):
            found = few_labels.mean_errors(name, labels, range(worlds))
            figures = (found.structured, found.alone, found.soft)
            rows.append(
                (
                    name,
                    str(labels),
                    *(f"{figure:.1f}" for figure in figures),
                    f"{found.coverage:.2f}",
                )
            )
    return (
        "judge",
        "labels a model",
        "structured",
        "labels alone",
        "Soft-Elo",
        "95% coverage",
    ), rows


def few(folder: Path, draws: int, number: int = 200) -> tuple[Sequence[str], list[Sequence[str]]]:
    """Draw a few of the labels of every file and judge, and compare ratings with those of all
    labels."""
    rows = []
    for path in sorted(folder.glob("*.parquet")):
        for judge in podium.read_battles(path).judges:
            battles = podium.read_battles(path, where={"judge": judge})
            coded = code_battles(battles)
            phi, all_labels = fit_battles(coded).theta, human_label_fit(battles, coded.models).coded
            truth = POINTS * human_ratings(all_labels, REGULARIZATION)[0]
            found = [
                one_draw(all_labels, phi, truth, number, np.random.default_rng(k))
                for k in range(draws)
            ]
            joined, alone, held = np.nanmean(found, axis=0)
            rows.append((path.stem, judge, f"{joined:.1f}", f"{alone:.1f}", f"{held:.2f}"))
    return ("file", "judge", f"{number} labels and the judge", "labels alone", "95% coverage"), rows


def one_draw(
    labels: CodedBattles, phi: np.ndarray, truth: np.ndarray, number: int, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Return a draw's errors of combined and labels-only ratings, and the coverage of the ratings
    by all labels."""
    part = labels.take(rng.choice(len(labels.a), number, replace=False))
    cluster = np.unique(part.cluster, return_inverse=True)[1]
    part = replace(part, cluster=cluster, clusters=int(cluster.max()) + 1)
    joined = fit_with_misjudged(part, phi)
    error = POINTS * joined.fit.theta - truth
    reach, widening = joined.interval_parts(0.95)
    below, above = POINTS * np.sqrt(reach**2 * np.diag(joined.fit.covariance) + widening)
    alone = POINTS * human_ratings(part, REGULARIZATION)[0]
    gap = alone - truth
    error_alone = (
        float(np.nanmean(np.abs(gap - np.nanmean(gap)))) if not np.isnan(gap).all() else np.nan
    )
    return (
        float(np.abs(error).mean()),
        error_alone,
        float(np.mean((-above <= error) & (error <= below))),
    )


def size() -> tuple[Sequence[str], list[Sequence[str]]]:
    """Time the ranker with few labels: ten a model, and ten times as many verdicts."""
    rows = []
    for models in (20, 50, 200):
        rng = np.random.default_rng(models)
        quality, number = rng.normal(0, 0.6, models), 50 * models
        a = rng.integers(0, models, number)
        b = (a + rng.integers(1, models, number)) % models
        margin, votes = (
            quality[a] - quality[b] + rng.logistic(0, spread, number) for spread in (0.5, 1.0)
        )
        human = np.where(np.arange(number) < 5 * models, votes > 0, np.nan)
        names = np.array([f"model-{k:03d}" for k in range(models)], dtype=object)
        items = [f"item-{k:05d}" for k in range(number)]
        columns = {
            "item": items,
            "model_a": names[a],
            "model_b": names[b],
            "credit": (margin > 0) * 1.0,
        }
        battles = podium.read_battles(pd.DataFrame({**columns, "margin": margin, "human": human}))
        began = time.process_time()
        podium.rank(battles, "structured-bradley-terry")
        rows.append(
            (str(models), f"{number:,}", f"{5 * models:,}", f"{time.process_time() - began:.2f}")
        )
    return ("models", "verdicts", "labels", "CPU seconds"), rows


def recorded(folder: Path) -> tuple[Sequence[str], list[Sequence[str]]]:
    """Calibrate every judge of every table of a folder."""
    rows = []
    for path in sorted(folder.glob("*.parquet")):
        for judge in podium.read_battles(path).judges:
            found = podium.calibrate(podium.read_battles(path, where={"judge": judge}))
            hard, soft, scale_correction = (
                found.accuracy["hard"],
                found.accuracy["soft"],
                found.scale_correction.get("soft"),
            )
            errors = [f"{mae:.1f}" for mae in (hard.plain_mae, soft.plain_mae, hard.mae, soft.mae)]
            ratio, kappa = (
                f"{soft.mae / soft.plain_mae:.2f}",
                "" if scale_correction is None else f"{scale_correction.value:.2f}",
            )
            rows.append((path.stem, judge, *errors, ratio, kappa))
    header = (
        "file",
        "judge",
        "hard",
        "soft",
        "hard, scale-corrected",
        "soft, scale-corrected",
        "ratio",
        "scale_correction",
    )
    return header, rows


if __name__ == "__main__":
    main()
