"""Recorded votes of humans and verdicts of judges: the scale correction against a literal
transcription, and few labels.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit

from podium import calibrate, read_battles
from podium.defaults import REGULARIZATION
from podium.rankers.fit.scale import POINTS

ROOT = Path(__file__).parents[3]
FOLDER = ROOT.parent / "shared" / "data" / "human_and_judges"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.real_data,
    pytest.mark.skipif(
        not FOLDER.is_dir(), reason="the recorded votes are not beside this checkout"
    ),
]


@pytest.mark.parametrize(
    ("file", "judge", "most"),
    [("arena20", "gpt-4-0125-preview", 0.62), ("hanna", "Beluga-13B", 0.92)],
)
def test_scale_corrected_ratings_err_less_on_recorded_votes_and_as_they_are_would_not(
    file: str, judge: str, most: float
):
    """Bars of the design; measured .54 and .75. The wrong variant: `--no-scale-correction` errs
    what Soft-Elo does."""
    battles = read_battles(FOLDER / f"{file}.parquet", where={"judge": judge})
    right, wrong = (
        calibrate(battles, scale_correction=scale_correction).accuracy["soft"]
        for scale_correction in (True, False)
    )
    assert right.mae <= most * right.plain_mae
    assert wrong.mae == pytest.approx(right.plain_mae, rel=1e-12)
    assert wrong.mae > most * right.plain_mae


def test_errors_on_recorded_votes_are_those_of_a_literal_transcription():
    """Each of 11 story tellers held out: beta, ratings and scale correction by general optimisers,
    without podium's code.
    """
    table = pd.read_parquet(FOLDER / "hanna.parquet")
    table = table[table["judge"] == "Beluga-13B"]
    names = sorted({*table["model_a"], *table["model_b"]})
    a, b = (table[side].astype(str).map(names.index).to_numpy() for side in ("model_a", "model_b"))
    human, margin = table["human"].to_numpy(), table["margin"].to_numpy()
    errors = []
    for own in range(len(names)):
        others, mine = (a != own) & (b != own), (a == own) | (b == own)
        code_a, code_b = a - (a > own), b - (b > own)
        decided = others & (human != 0.5)
        signed = margin[decided] * np.where(human[decided] > 0.5, 1, -1)
        beta = minimize_scalar(logistic_loss, args=(signed,), bounds=(1e-6, 20), method="bounded").x
        credits, side = (human, expit(beta * margin)), np.where(a[mine] == own, 1, -1)
        opponent = np.where(side > 0, code_b[mine], code_a[mine])
        human_ratings, judge_ratings = (
            joint_ratings(code_a[others], code_b[others], credit[others], len(names) - 1)
            for credit in credits
        )
        by_human, by_judge = (
            rating_alone(np.where(side > 0, credit[mine], 1 - credit[mine]), known[opponent])
            for credit, known in zip(credits, (human_ratings, judge_ratings), strict=True)
        )
        errors.append(
            (
                abs(by_judge - by_human),
                abs(factor(judge_ratings, human_ratings) * by_judge - by_human),
            )
        )
    plain, scale_corrected = POINTS * np.mean(errors, axis=0)
    found = calibrate(
        read_battles(FOLDER / "hanna.parquet", where={"judge": "Beluga-13B"})
    ).accuracy["soft"]
    assert (found.plain_mae, found.mae) == (
        pytest.approx(plain, abs=0.01),
        pytest.approx(scale_corrected, abs=0.01),
    )


def logistic_loss(beta: float, signed: np.ndarray) -> float:
    """Return minus the log likelihood of human winners, by margins that are positive where the
    judge agrees."""
    return float(np.logaddexp(0, -beta * signed).sum())


def joint_ratings(a: np.ndarray, b: np.ndarray, credit: np.ndarray, size: int) -> np.ndarray:
    """Return centred Bradley-Terry log-strengths by a general optimiser."""

    def loss(theta: np.ndarray) -> float:
        gap = theta[a] - theta[b]
        return float(
            np.sum(np.logaddexp(0, gap) - credit * gap) + REGULARIZATION * theta @ theta / 2
        )

    theta = minimize(loss, np.zeros(size), method="BFGS", options={"gtol": 1e-6}).x
    return theta - theta.mean()


def rating_alone(credit: np.ndarray, opponents: np.ndarray) -> float:
    """Return the log-strength of one whose opponents are known."""

    def loss(theta: float) -> float:
        gap = theta - opponents
        return float(np.sum(np.logaddexp(0, gap) - credit * gap) + REGULARIZATION * theta**2 / 2)

    return float(
        minimize_scalar(loss, bounds=(-10, 10), method="bounded", options={"xatol": 1e-10}).x
    )


def factor(judge: np.ndarray, human: np.ndarray) -> float:
    """Return the posterior mean of the scale correction on the design's grid: sigma integrated out,
    Cauchy(0, .5) on its log.
    """
    grid = np.exp(np.linspace(-2.5, 4, 300))
    left = ((human - grid[:, None] * judge) ** 2).sum(axis=1)
    log = -(len(judge) - 1) / 2 * np.log(left) - np.log1p((np.log(grid) / 0.5) ** 2)
    weight = np.exp(log - log.max())
    return float(weight @ grid / weight.sum())


def test_two_hundred_labels_and_a_judge_err_less_than_either_beside_all_labels():
    """30 draws of 200 of 26,919 votes: less than labels alone and than the judge's own Soft-Elo,
    which errs 25 Elo.

    The wrong variant: no judge, which is the column of labels alone.
    """
    sys.path.insert(0, str(ROOT / "benchmarks"))
    import ratings

    rows = {
        row[1]: [float(x) for x in row[2:]]
        for row in ratings.few(FOLDER, 30)[1]
        if row[0] == "arena20"
    }
    joined, alone, held = rows["gpt-4-0125-preview"]
    assert joined <= 0.4 * alone
    assert joined < 25
    assert held >= 0.9
