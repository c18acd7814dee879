"""Algorithm 1 of Soft-Elo (Kargi and Salinas 2026) as it is printed: rows stay rows, every fit
begins at zero.

Shares no code with podium. The penalty is podium's, (lambda / 2) |theta|^2 in both steps, where
equation 1 has lambda.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq, minimize, minimize_scalar
from scipy.special import expit

POINTS = 400 / np.log(10)
LAMBDA = 0.01
FLAT = 1e-7
"""Largest component of a gradient, per battle of a model, that counts as zero: about 1e-4 Elo
points."""
FARTHEST = 50.0
"""Bound, in logits, of the strength of a left-out model."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Battles of coded models.

    Attributes:
        a, b: model codes, shape (battles,).
        hard: the judge's label for a, 1, 0.5 or 0, shape (battles,).
        human: the label humans gave a, 1, 0.5 or 0, shape (battles,).
        margin: judge score of a minus that of b, shape (battles,).
        models: how many.
    """

    a: np.ndarray
    b: np.ndarray
    hard: np.ndarray
    human: np.ndarray
    margin: np.ndarray
    models: int

    def where(self, keep: np.ndarray) -> "Rows":
        """Return the battles of a mask."""
        columns = (self.a, self.b, self.hard, self.human, self.margin)
        return Rows(*(column[keep] for column in columns), self.models)


@dataclass(frozen=True, slots=True)
class Ratings:
    """Elo of every model held out, and standard errors of the judge's two, shape (models,) each."""

    human: np.ndarray
    hard: np.ndarray
    soft: np.ndarray
    hard_se: np.ndarray
    soft_se: np.ndarray


def held_out(rows: Rows, resamples: int, rng: np.random.Generator) -> Ratings:
    """Hold out each model in turn (line 1)."""
    folds = [fold(rows, model, resamples, rng) for model in range(rows.models)]
    return Ratings(*np.array(folds).T)


def fold(rows: Rows, model: int, resamples: int, rng: np.random.Generator) -> tuple[float, ...]:
    """Return the ratings and standard errors of one model (lines 2 to 8), in the order of
    `Ratings`."""
    plays = (rows.a == model) | (rows.b == model)
    others, own = rows.where(~plays), rows.where(plays)
    beta = temperature(others)
    human, _ = two_steps(others, own, model, lambda part: part.human, 0, rng)
    hard, hard_se = two_steps(others, own, model, lambda part: part.hard, resamples, rng)
    soft, soft_se = two_steps(
        others, own, model, lambda part: expit(beta * part.margin), resamples, rng
    )
    return human, hard, soft, hard_se, soft_se


def temperature(others: Rows) -> float:
    """Fit beta to the others' human preferences, ties left out (lines 3 and 4; equation 6)."""
    decided = others.where(others.human != 0.5)

    def loss(beta: float) -> float:
        logits = beta * decided.margin
        return float(np.sum(np.logaddexp(0, logits) - decided.human * logits))

    return float(minimize_scalar(loss).x)


def two_steps(
    others: Rows,
    own: Rows,
    model: int,
    target: Callable[[Rows], np.ndarray],
    resamples: int,
    rng: np.random.Generator,
) -> tuple[float, float]:
    """Rate the others, then the model against them; return its Elo and its standard error (lines 5
    to 8).

    The standard error draws the model's own battles with replacement and places it anew each time,
    targets and others fixed (section 3.3).
    """
    theta = strengths(others, target(others))
    first = own.a == model
    opponents = theta[np.where(first, own.b, own.a)]
    earned = np.where(first, target(own), 1 - target(own))
    draws = []
    for _ in range(resamples):
        drawn = rng.integers(0, len(earned), len(earned))
        draws.append(place(opponents[drawn], earned[drawn]))
    se = POINTS * float(np.std(draws, ddof=1)) if resamples else np.nan
    return 1500 + POINTS * place(opponents, earned), se


def strengths(rows: Rows, credit: np.ndarray) -> np.ndarray:
    """Fit Bradley-Terry on a dense design of rows by models (line 6); one without battles stays at
    0.

    Raises:
        RuntimeError: the gradient at the end is not zero.
    """
    design = np.zeros((len(rows.a), rows.models))
    design[np.arange(len(rows.a)), rows.a] = 1
    design[np.arange(len(rows.a)), rows.b] = -1

    def loss(theta: np.ndarray) -> tuple[float, np.ndarray]:
        gap = design @ theta
        value = np.sum(np.logaddexp(0, gap) - credit * gap) + LAMBDA / 2 * theta @ theta
        return float(value), design.T @ (expit(gap) - credit) + LAMBDA * theta

    start = np.zeros(rows.models)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"ftol": 0.0, "gtol": 1e-6})
    steepest = np.abs(found.jac).max() * rows.models / (2 * len(rows.a))
    if steepest > FLAT:
        raise RuntimeError(
            f"the transcription did not converge: gradient {steepest:.1e} per battle "
            f"({found.message})"
        )
    return found.x


def place(opponents: np.ndarray, earned: np.ndarray) -> float:
    """Rate one model against fixed opponents, given row by row (line 7)."""

    def slope(theta: float) -> float:
        return float(np.sum(earned - expit(theta - opponents)) - LAMBDA * theta)

    return brentq(slope, -FARTHEST, FARTHEST, xtol=1e-12)
