"""`structured-bradley-terry`: coverage and error of ratings by few labels and a judge that
misjudges some models."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from claim_bars import share_text
from tables import show

import podium
from podium.rankers.calibration.human_label_fit import human_label_fit
from podium.rankers.fit.coded import code_battles
from podium.rankers.fit.identification import fit_battles
from podium.rankers.fit.random_effects import FALSE_FLAGS, fit_random_effects, fit_with_misjudged
from podium.rankers.ranking import Entry

MODELS, VERDICTS = 10, 40
"""Models of a world, and verdicts on each pair of them."""
LABELS = (30, 100, 300)
WORLDS = 150
THRESHOLDS = (FALSE_FLAGS, 0.05, 0.5, 2.0)
"""Chances that any of the models is flagged where the judge is right; each of 10 is tested at a
tenth of it."""
ELO = 400 / np.log(10)
Z = 1.959964
SPREAD = 0.8
"""Standard deviation of the true strengths, logits (139 Elo)."""
FIRST, SECOND = np.triu_indices(MODELS, 1)
Judge = Callable[[np.random.Generator, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]
"""Returns, given true strengths, the judge's, and masks of models judged by coin throws and of
misjudged models."""


def exact(
    _rng: np.random.Generator, theta: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Judge as humans do."""
    return theta, none(), none()


def inflated(
    _rng: np.random.Generator, theta: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Judge on a scale 2.2 times as wide."""
    return 2.2 * theta, none(), none()


def noise_for_two(
    rng: np.random.Generator, theta: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Throw coins on every battle of two models."""
    two = some_models(rng, 2)
    return theta, two, two


def family_bias(
    rng: np.random.Generator, theta: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Add 0.6 logits (104 Elo) to four models of a family."""
    four = some_models(rng, 4)
    return theta + 0.6 * four, none(), four


def useless(
    _rng: np.random.Generator, theta: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Throw coins on every battle."""
    return theta, ~none(), ~none()


def reversed_for_one(
    rng: np.random.Generator, theta: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rate one model as far below the mean as it is above, or the other way round."""
    one = some_models(rng, 1)
    return np.where(one, -theta, theta), none(), one


def none() -> np.ndarray:
    """Return a mask of no model."""
    return np.zeros(MODELS, dtype=bool)


def some_models(rng: np.random.Generator, number: int) -> np.ndarray:
    """Draw a mask of a number of models."""
    return np.isin(np.arange(MODELS), rng.choice(MODELS, number, replace=False))


JUDGES: Mapping[str, Judge] = {
    "exact": exact,
    "scale 2.2": inflated,
    "noise for 2 of 10": noise_for_two,
    "family bias of 4": family_bias,
    "useless": useless,
    "reversed for 1": reversed_for_one,
}


@dataclass(frozen=True)
class World:
    """One row per model and world, in Elo points relative to the mean of the world, and whether
    intervals hold it."""

    misjudged: np.ndarray
    flagged: np.ndarray
    covered: np.ndarray
    covered_before: np.ndarray
    width: np.ndarray
    width_alone: np.ndarray
    error: np.ndarray
    error_before: np.ndarray
    error_by_kappa: np.ndarray
    error_alone: np.ndarray


def draw_world(judge: str, labels: int, seed: int) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Draw a table of verdicts with a column of few human labels; return the true Elo and the
    misjudged models, too."""
    rng = np.random.default_rng([30, [*JUDGES].index(judge), labels, seed])
    theta = rng.normal(0, SPREAD, MODELS)
    theta -= theta.mean()
    psi, coins, misjudged = JUDGES[judge](rng, theta)
    a, b = np.repeat(FIRST, VERDICTS), np.repeat(SECOND, VERDICTS)
    verdict = np.where(coins[a] | coins[b], 0.5, chance(psi[a] - psi[b])) > rng.random(len(a))
    human = (chance(theta[a] - theta[b]) > rng.random(len(a))).astype(float)
    asked = np.isin(np.arange(len(a)), rng.choice(len(a), labels, replace=False))
    names = np.array([f"model-{k}" for k in range(MODELS)], dtype=object)
    columns = {
        "item": np.arange(len(a)),
        "model_a": names[a],
        "model_b": names[b],
        "credit": verdict.astype(float),
    }
    return (
        pd.DataFrame({**columns, "human": np.where(asked, human, np.nan)}),
        ELO * theta,
        misjudged,
    )


def chance(gap: np.ndarray) -> np.ndarray:
    """Return the probability of a win."""
    return 1 / (1 + np.exp(-gap))


def rank_world(judge: str, labels: int, seed: int) -> World:
    """Rank one world by `podium.rank`, by the fit that tests no model and takes its posterior as it
    is, and by one in which all priors are as wide as those of flagged models (always, or where the
    90% interval of kappa reaches 0)."""
    frame, truth, misjudged = draw_world(judge, labels, seed)
    battles = podium.read_battles(frame)
    standings = podium.rank(battles, "structured-bradley-terry", answers=False).standings[0]
    entries = sorted(standings.entries, key=lambda entry: entry.model)
    score, low, high, alone = (
        np.array([value(entry) for entry in entries], dtype=float)
        for value in (lambda e: e.score, lambda e: e.low, lambda e: e.high, human_score)
    )
    # 1500 is the mean of the models that verdicts bound: truth is relative to the mean of all.
    origin, coded = score.mean(), code_battles(battles)
    labelled, phi = human_label_fit(battles, coded.models).coded, fit_battles(coded).theta
    before = fit_random_effects(labelled, phi)
    labels_only = fit_random_effects(labelled, phi, misjudged=~none())
    reach = Z * ELO * np.sqrt(np.diag(before.covariance))
    error_before, error_alone = ELO * before.theta - truth, alone - truth
    flagged = standings.diagnostics["structured"].get("misjudged", {}).get("models", {})
    return World(
        misjudged=misjudged,
        flagged=np.array([entry.model in flagged for entry in entries]),
        covered=(low - origin <= truth) & (truth <= high - origin),
        covered_before=np.abs(error_before) <= reach,
        width=high - low,
        width_alone=2 * Z * ELO * np.sqrt(np.diag(labels_only.covariance)),
        error=score - origin - truth,
        error_before=error_before,
        error_by_kappa=error_before if before.kappa[1] > 0 else ELO * labels_only.theta - truth,
        error_alone=error_alone - np.nanmean(error_alone)
        if np.isfinite(error_alone).any()
        else error_alone,
    )


def human_score(entry: Entry) -> float:
    """Return the rating by labels alone, NaN where they do not bound it."""
    value = entry.extra["human"]
    return np.nan if value is None else float(value)


def report(worlds: int | None, markdown: bool) -> None:
    """Print coverage and error of each judge and number of labels."""
    number, coverage, errors = worlds or WORLDS, [], []
    for judge in JUDGES:
        for labels in LABELS:
            found = [rank_world(judge, labels, seed) for seed in range(number)]
            cell = (judge, str(labels), str(number))
            coverage.append([*cell, *coverage_cells(found)])
            errors.append([*cell, *error_cells(found)])
    start = ("judge", "labels", "worlds")
    header = (
        *start,
        "misjudged covered, %",
        "before",
        "all covered, %",
        "before",
        "width, Elo",
        "wide priors",
    )
    header += ("flagged, %", "flagged wrongly, %")
    show("structured-bradley-terry, 10 models: 95% intervals", header, coverage, markdown=markdown)
    header = (
        *start,
        "RMSE, Elo",
        "before",
        "wide if kappa may be 0",
        "labels alone",
        "not bounded by labels, %",
    )
    show("structured-bradley-terry: errors of ratings", header, errors, markdown=markdown)
    rows = [row for judge in JUDGES for row in threshold_rows(judge, number)]
    header = (
        "judge",
        "flagged below p =",
        "worlds",
        "RMSE, Elo",
        "misjudged covered, %",
        "flagged wrongly, %",
    )
    show("structured-bradley-terry: thresholds, 100 labels", header, rows, markdown=markdown)


def threshold_rows(judge: str, worlds: int) -> Iterator[list[str]]:
    """Yield errors and coverage at each threshold of the tests, with 100 labels."""
    drawn = []
    for seed in range(worlds):
        frame, truth, misjudged = draw_world(judge, 100, seed)
        battles = podium.read_battles(frame)
        coded = code_battles(battles)
        drawn.append(
            (
                human_label_fit(battles, coded.models).coded,
                fit_battles(coded).theta,
                truth,
                misjudged,
            )
        )
    for false_flags in THRESHOLDS:
        errors, covered, wrongly = [], [], []
        for labels, phi, truth, misjudged in drawn:
            found = fit_with_misjudged(labels, phi, false_flags=false_flags)
            error, (reach, widening) = ELO * found.fit.theta - truth, found.interval_parts(0.95)
            below, above = ELO * np.sqrt(reach**2 * np.diag(found.fit.covariance) + widening)
            errors.append(error)
            covered.append(((-above <= error) & (error <= below))[misjudged])
            wrongly.append((found.flagged & ~misjudged).any())
        cells = f"{np.sqrt(np.mean(np.square(errors))):.1f}", share(np.concatenate(covered))
        by_chance = share(np.array(wrongly)) if judge != "useless" else ""
        yield [judge, f"{false_flags / MODELS:g}", str(worlds), *cells, by_chance]


def coverage_cells(found: list[World]) -> list[str]:
    """Format coverage of the misjudged models and of all, and the worlds in which models are
    flagged.

    Models of one world count as independent; `flagged` is a share of misjudged models, `flagged
    wrongly` of worlds.
    """
    misjudged, covered, before, flagged = (
        np.array([getattr(world, name) for world in found])
        for name in ("misjudged", "covered", "covered_before", "flagged")
    )
    wrongly = (flagged & ~misjudged).any(axis=1)
    return [
        share(covered[misjudged]),
        percent(before[misjudged]),
        share(covered.ravel()),
        percent(before.ravel()),
        *(
            f"{np.mean([getattr(world, name) for world in found]):.0f}"
            for name in ("width", "width_alone")
        ),
        percent(flagged[misjudged]),
        share(wrongly) if not misjudged.all() else "",
    ]


def share(hits: np.ndarray) -> str:
    """Format a share with its interval; empty if there is none."""
    return share_text(int(hits.sum()), len(hits)) if len(hits) else ""


def percent(hits: np.ndarray) -> str:
    """Format a share without its interval; empty if there is none."""
    return f"{100 * hits.mean():.1f}" if len(hits) else ""


def error_cells(found: list[World]) -> list[str]:
    """Format the root mean squared errors over models and worlds, and the share without a rating by
    labels alone."""
    names = ("error", "error_before", "error_by_kappa", "error_alone")
    errors = [np.array([getattr(world, name) for world in found]) for name in names]
    return [
        *(f"{np.sqrt(np.nanmean(error**2)):.1f}" for error in errors),
        f"{100 * np.isnan(errors[-1]).mean():.0f}",
    ]
