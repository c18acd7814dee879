"""Algorithm 1: each model rated alone against the others, whose ratings were fitted without it."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from podium.defaults import MEAN
from podium.errors import NotConvergedError, NotIdentifiedError
from podium.progress import track
from podium.rankers.calibration.evidence import Evidence
from podium.rankers.calibration.placement import ErrorMethod, ModelBattles, fit_single_strength
from podium.rankers.calibration.signals import beta_direction
from podium.rankers.fit.graph import comparison_graph, separated_models
from podium.rankers.fit.identification import fit_battles
from podium.rankers.fit.pairs import pair_sums
from podium.rankers.fit.scale import POINTS
from podium.rankers.fit.strengths import fit_strengths


@dataclass(frozen=True, slots=True)
class HeldOutScale:
    """Held-out ratings by one kind of credit, 1500 at the mean of the others, NaN if unknown;
    `others` are log-strengths of each fold, mean zero; the data bound neither `separated` ratings
    nor `unbounded` joint ones."""

    elo: np.ndarray
    se: np.ndarray
    anchors: np.ndarray
    battles: np.ndarray
    separated: np.ndarray
    lost: np.ndarray
    unbounded: np.ndarray
    others: np.ndarray


def fit_fold_weights(evidence: Evidence) -> np.ndarray:
    """Fit the map without each model in turn, shape (models, features), NaN if none (Algorithm 1,
    lines 3 and 4)."""
    pooled = evidence.fit_weights()
    folds = np.full((len(evidence.models), len(pooled)), np.nan)
    for model in range(len(folds)):
        with suppress(NotIdentifiedError, NotConvergedError):
            weights = evidence.fit_weights(
                (evidence.first != model) & (evidence.second != model), pooled
            )
            # A slope of 0 or less would turn every target of this fold round.
            if beta_direction(evidence.signal.kind, weights) @ weights > 0:
                folds[model] = weights
    return folds


def leave_one_out(
    evidence: Evidence,
    pooled: np.ndarray,
    regularization: float,
    method: ErrorMethod,
    what: str,
    credits: Callable[[int], np.ndarray] | None = None,
) -> HeldOutScale:
    """Rate every model alone against the others, by its fold's `credits` or the `pooled` ones
    (Algorithm 1); raises the errors of `fit_battles`."""
    joint = fit_battles(
        evidence.coded_by(pooled), regularization, which=f"battles with {what} credits"
    )
    anchors, unbounded, size = joint.theta, joint.graph.separated, len(evidence.models)
    separated = unbounded.copy()
    theta, se = np.full(size, np.nan), np.full(size, np.nan)
    battles, lost = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    others = np.full((size, size), np.nan)
    for k in track(range(size), what):
        fold = _fit_fold(evidence, k, credits(k) if credits else pooled, anchors, regularization)
        if fold is None:
            continue
        own, outside = fold
        battles[k], theta[k] = len(own.credit), fit_single_strength(own, regularization)
        others[k] = np.insert(own.theta, k, np.nan)
        separated[k] |= outside
        se[k], lost[k] = method.standard_error(own, theta[k], regularization)
    return HeldOutScale(
        MEAN + POINTS * theta, se, anchors, battles, separated, lost, unbounded, others
    )


def _fit_fold(
    evidence: Evidence, model: int, credit: np.ndarray, start: np.ndarray, regularization: float
) -> tuple[ModelBattles, bool] | None:
    """Rate the others without a model, and return its battles against them (None if they never met)
    and whether its rating, or one of the others', is unbounded."""
    others = np.arange(len(evidence.models)) != model
    rest = pair_sums(evidence.coded_by(credit)).pairs_among(others)
    if (
        comparison_graph(rest).groups != 1
        or not np.isin(np.arange(rest.models), [rest.first, rest.second]).all()
    ):
        return None
    try:
        theta = fit_strengths(rest, regularization, np.delete(start, model)).theta
    except NotConvergedError as error:
        raise NotIdentifiedError(
            f"without {evidence.models[model]}, no ratings of the others: {error}"
        ) from None
    own = build_model_battles(evidence, model, credit, np.insert(theta, model, np.nan))
    return own, own.is_separated or bool(separated_models(rest).any())


def build_model_battles(
    evidence: Evidence, model: int, credit: np.ndarray, theta: np.ndarray
) -> ModelBattles:
    """Return a model's battles with a known credit against the models whose log-strength `theta` is
    not NaN."""
    known = ~np.isnan(theta)
    first = (evidence.first == model) & known[evidence.second]
    second = (evidence.second == model) & known[evidence.first]
    rows = np.flatnonzero((first | second) & ~np.isnan(credit))
    opponent = np.where(first, evidence.second, evidence.first)[rows]
    earned = np.where(first, credit, 1 - credit)[rows]
    cluster = np.unique(evidence.cluster[rows], return_inverse=True)[1]
    return ModelBattles(
        (np.cumsum(known) - 1)[opponent], earned, evidence.weight[rows], cluster, theta[known]
    )
