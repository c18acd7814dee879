"""Algorithm 1 of Soft-Elo: rate each model against the other models, which are rated without it.

The battles among the other models are called the fold of the model.
"""

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
    """Held-out ratings by one kind of credit.

    Attributes:
        elo: Elo rating of each model on a scale on which the mean of the others is 1500, NaN if
            unknown, shape (models,).
        se: standard error of the rating in Elo points, NaN if unknown, shape (models,).
        anchors: log-strengths in the joint fit of all models, mean zero, shape (models,).
        battles: number of battles of each model with the others, shape (models,).
        separated: mask of the models for which the battles do not bound the rating of the model or
            of one of the others, shape (models,).
        lost_resamples: number of resamples that the bootstrap left out, shape (models,).
        unbounded: mask of the models with an unbounded rating in the joint fit, shape (models,).
        theta_of_others: log-strengths of the other models, fitted without model k, in row k; they
            have mean zero, and the diagonal is NaN; shape (models, models).
    """

    elo: np.ndarray
    se: np.ndarray
    anchors: np.ndarray
    battles: np.ndarray
    separated: np.ndarray
    lost_resamples: np.ndarray
    unbounded: np.ndarray
    theta_of_others: np.ndarray


def fit_fold_weights(evidence: Evidence) -> np.ndarray:
    """Fit the map without each model in turn (Algorithm 1, lines 3 and 4).

    Returns:
        Weights of the map without each model, shape (models, features). They are NaN if the
        battles of the others do not determine a map, or if its beta is not above 0.

    Raises:
        UnknownScaleError, NotConvergedError: the map cannot be fitted to all battles
            (`Evidence.fit_weights`).
    """
    weights_of_all = evidence.fit_weights()
    fold_weights = np.full((len(evidence.models), len(weights_of_all)), np.nan)
    for model in range(len(fold_weights)):
        with suppress(NotIdentifiedError, NotConvergedError):
            is_in_fold = (evidence.first != model) & (evidence.second != model)
            weights = evidence.fit_weights(is_in_fold, weights_of_all)
            # If beta were 0 or less, soft credits would favour the model that the judge likes less.
            if beta_direction(evidence.signal.kind, weights) @ weights > 0:
                fold_weights[model] = weights
    return fold_weights


def leave_one_out(
    evidence: Evidence,
    joint_credit: np.ndarray,
    regularization: float,
    method: ErrorMethod,
    credit_kind: str,
    credit_of_fold: Callable[[int], np.ndarray] | None = None,
) -> HeldOutScale:
    """Rate every model alone against the others, whose ratings are fitted without it.

    A model has no rating (NaN) if the battles among the other models do not connect them, or if it
    has no battle with a credit against them.

    Args:
        evidence: the battles.
        joint_credit: credit of first in each battle for the joint fit of all models, NaN if
            unknown, shape (battles,).
        regularization: lambda of all ratings.
        method: method of the standard errors.
        credit_kind: kind of credit, for the progress bar and for messages.
        credit_of_fold: function from the code of a model to the credit of first in each battle if
            this model is held out, shape (battles,); by default that is `joint_credit`.

    Raises:
        NotIdentifiedError: the battles do not connect the models, a model is separated and lambda
            is 0, or a fit without a model did not reach its maximum.
        NotConvergedError: the joint fit, or the rating of a model alone, did not reach its maximum.

    Source: Soft-Elo, Algorithm 1.
    """
    noun = f"battles with {credit_kind} credits"
    joint = fit_battles(evidence.coded_by(joint_credit), regularization, noun=noun)
    size = len(evidence.models)
    # Log-strength of each model, placed alone among the others, which are rated without it.
    alone = np.full(size, np.nan)
    # Models whose rating, or that of one of the others without them, is unbounded.
    separated = joint.graph.separated.copy()
    se = np.full(size, np.nan)
    battles = np.zeros(size, dtype=np.int64)
    lost_resamples = np.zeros(size, dtype=np.int64)
    theta_of_others = np.full((size, size), np.nan)
    for k in track(range(size), credit_kind):
        credit = credit_of_fold(k) if credit_of_fold else joint_credit
        fold = _fit_fold(evidence, k, credit, joint.theta, regularization)
        if fold is None:
            continue
        battles_of_model, is_unbounded = fold
        battles[k] = len(battles_of_model.credit)
        alone[k] = fit_single_strength(battles_of_model, regularization)
        theta_of_others[k] = np.insert(battles_of_model.theta, k, np.nan)
        separated[k] |= is_unbounded
        se[k], lost_resamples[k] = method.standard_error(battles_of_model, alone[k], regularization)
    return HeldOutScale(
        elo=MEAN + POINTS * alone,
        se=se,
        anchors=joint.theta,
        battles=battles,
        separated=separated,
        lost_resamples=lost_resamples,
        unbounded=joint.graph.separated,
        theta_of_others=theta_of_others,
    )


def _fit_fold(
    evidence: Evidence, model: int, credit: np.ndarray, start: np.ndarray, regularization: float
) -> tuple[ModelBattles, bool] | None:
    """Rate all models but one by the battles among them, and collect the battles of that one.

    Args:
        evidence: the battles.
        model: code of the model that is held out.
        credit: credit of first in each battle, NaN if unknown, shape (battles,).
        start: log-strengths at which the fit starts, shape (models,).
        regularization: lambda.

    Returns:
        The model's battles against the others, and whether the rating of the model or of one of
        the others is unbounded. None if the battles among the others do not connect them.

    Raises:
        NotIdentifiedError: the fit of the others did not reach its maximum.
    """
    is_other = np.arange(len(evidence.models)) != model
    pairs_of_others = pair_sums(evidence.coded_by(credit)).pairs_among(is_other)
    has_battle = np.isin(
        np.arange(pairs_of_others.models), [pairs_of_others.first, pairs_of_others.second]
    )
    if comparison_graph(pairs_of_others).groups != 1 or not has_battle.all():
        return None
    try:
        theta = fit_strengths(pairs_of_others, regularization, np.delete(start, model)).theta
    except NotConvergedError as error:
        raise NotIdentifiedError(
            f"without {evidence.models[model]}, no ratings of the others: {error}"
        ) from None
    model_battles = build_model_battles(evidence, model, credit, np.insert(theta, model, np.nan))
    is_other_unbounded = bool(separated_models(pairs_of_others).any())
    return model_battles, model_battles.is_separated or is_other_unbounded


def build_model_battles(
    evidence: Evidence, model: int, credit: np.ndarray, theta: np.ndarray
) -> ModelBattles:
    """Return the battles of a model against the models of known strength.

    Opponents and clusters get new codes. The credit of a battle becomes that of the model.

    Args:
        evidence: the battles.
        model: code of the model.
        credit: credit of first in each battle, shape (battles,); battles with NaN are left out.
        theta: log-strengths, NaN if unknown, shape (models,).
    """
    is_known = ~np.isnan(theta)
    is_first = (evidence.first == model) & is_known[evidence.second]
    is_second = (evidence.second == model) & is_known[evidence.first]
    rows = np.flatnonzero((is_first | is_second) & ~np.isnan(credit))
    opponent = np.where(is_first, evidence.second, evidence.first)[rows]
    code_among_known = np.cumsum(is_known) - 1
    _, cluster = np.unique(evidence.cluster[rows], return_inverse=True)
    return ModelBattles(
        opponent=code_among_known[opponent],
        credit=np.where(is_first, credit, 1 - credit)[rows],
        weight=evidence.weight[rows],
        cluster=cluster,
        theta=theta[is_known],
    )
