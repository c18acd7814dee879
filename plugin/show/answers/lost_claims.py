"""Find the models about which nothing can be claimed, because of their unparsed battles.

A battle is lost here if the judge's reply on it could not be parsed.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from podium.check_results import Check
from podium.data.battles import Battles
from podium.diagnosis.checks.loss_checks import UNPARSED
from podium.errors import PodiumError
from podium.rankers.fit.coded import code_battles
from podium.rankers.fit.identification import fit_battles
from podium.rankers.fit.pairs import pair_sums, win_rates
from podium.rankers.fit.scale import POINTS
from podium.rankers.ranking import Entry, Standings

Scores = Mapping[str, float]
"""Scores by name of the model."""
Pair = tuple[str, str]
"""Names of two models."""


def unclaimed_models(
    standings: Standings, battles: Battles, losses: Check | None
) -> tuple[str, ...]:
    """Return the models about which nothing can be claimed because of their losses.

    If battles are unparsed, these are the models of `models_in_doubt`. If verdicts are absent or
    scores are lost, all models of the check are in doubt: what the losses would change is not
    computed. Empty if the check is not flagged.

    Args:
        standings: the standings.
        battles: the battles of these standings.
        losses: the flagged check of losses; None if it is not flagged.
    """
    if losses is None:
        return ()
    if losses.fields.get("lost") != UNPARSED:
        return losses.models
    return models_in_doubt(standings, battles, losses.models)


def models_in_doubt(
    standings: Standings, battles: Battles, models_with_losses: Sequence[str]
) -> tuple[str, ...]:
    """Return the models for which unparsed battles may explain a difference to another model.

    A claim that a model is clearly ahead must hold even if all its unparsed battles count as lost.
    A claim that it is clearly behind must hold even if they all count as won. The error of a
    difference is taken to be the sum of both models' errors, which is its upper bound.

    Args:
        standings: scores, errors and critical value.
        battles: the battles of these standings.
        models_with_losses: the models whose battles are unparsed more often than the battles of
            other models.

    Returns:
        The models in `models_with_losses` for which some claim may not hold. A model without a
        rank set, or too close to call with another model, is among these. If the claims cannot
        be checked, it is all of these models: without tests of pairs, on a scale without a
        function here, or if a fit fails.
    """
    if not models_with_losses:
        return ()
    separation = standings.separation
    scores_of = _score_function(standings)
    if separation is None or scores_of is None:
        return tuple(models_with_losses)
    names = separation.names
    critical = separation.critical
    # Models without rank sets are never among `certain`, so they are returned.
    ranked = [model for model in models_with_losses if model in names]
    try:
        changes = _largest_changes(battles, ranked, scores_of)
    except PodiumError:
        return tuple(models_with_losses)
    entries = {entry.model: entry for entry in standings.entries}
    certain = []
    for model in ranked:
        others = [name for name in names if name != model]
        pairs_that_hold = [
            _exceeds_errors(
                entries[model], entries[name], critical, _largest_change(changes, (model, name))
            )
            for name in others
        ]
        if all(pairs_that_hold):
            certain.append(model)
    return tuple(model for model in models_with_losses if model not in certain)


def _exceeds_errors(first: Entry, second: Entry, critical: float, change: float) -> bool:
    """Return whether two scores differ by more than their errors and unparsed battles explain.

    The gap must exceed `critical` times the sum of both errors, plus `change`. False if a score or
    an error is unknown.

    Args:
        first: the row of one model.
        second: the row of the other model.
        critical: critical value of a difference, in standard errors.
        change: how much unparsed battles can change the difference.
    """
    if first.score is None or second.score is None:
        return False
    if first.se is None or second.se is None:
        return False
    return abs(first.score - second.score) > critical * (first.se + second.se) + change


def _largest_change(changes: Mapping[Pair, float], pair: Pair) -> float:
    """Return how much the unparsed battles of both models can change their difference together.

    A pair without an entry in `changes` counts as 0.
    """
    first, second = pair
    return changes.get((first, second), 0.0) + changes.get((second, first), 0.0)


def _score_function(standings: Standings) -> Callable[[Battles, np.ndarray], Scores] | None:
    """Return the function that computes scores on the scale of the standings.

    The function takes the battles and the credits of `model_a`. The result is None if this module
    has no function for the scale: it has one for Elo, and one for the ranker `win-rate`.
    """
    if standings.scale.is_elo:
        return _elo_of
    return _win_rates_of if standings.ranker == "win-rate" else None


def _elo_of(battles: Battles, credit: np.ndarray) -> Scores:
    """Return Bradley-Terry ratings in Elo points, by model.

    Raises:
        PodiumError: no battle has a credit, or the fit fails.
    """
    coded = code_battles(battles, credit=credit)
    elo = POINTS * fit_battles(coded).theta
    return dict(zip(coded.models, elo.tolist(), strict=True))


def _win_rates_of(battles: Battles, credit: np.ndarray) -> Scores:
    """Return win rates, by model.

    Raises:
        PodiumError: no battle has a credit.
    """
    coded = code_battles(battles, credit=credit)
    rates = win_rates(pair_sums(coded))
    return dict(zip(coded.models, rates.tolist(), strict=True))


def _largest_changes(
    battles: Battles, models: Sequence[str], scores_of: Callable[[Battles, np.ndarray], Scores]
) -> dict[Pair, float]:
    """Return how much the unparsed battles of a model can change its difference to each other one.

    Scores are computed twice for each model: with all its unparsed battles as lost, and as won.
    The larger absolute change counts.

    Args:
        battles: the battles.
        models: the models whose unparsed battles are filled in, one model at a time; each of them
            has a readable battle.
        scores_of: computes scores from the battles and their credits.

    Returns:
        The changes, 0 or more, by (model, other model).

    Raises:
        PodiumError: a fit fails.
    """
    credit = battles.table["credit"].to_numpy()
    measured = scores_of(battles, credit)
    changes: dict[Pair, float] = {}
    for model in models:
        for credit_of_lost in (0.0, 1.0):
            changed_scores = scores_of(
                battles, _with_losses_as(battles, credit, model, credit_of_lost)
            )
            score_changes = {name: changed_scores[name] - measured[name] for name in measured}
            for name in measured:
                change = abs(score_changes[model] - score_changes[name])
                changes[model, name] = max(changes.get((model, name), 0.0), change)
    return changes


def _with_losses_as(
    battles: Battles, credit: np.ndarray, model: str, credit_of_lost: float
) -> np.ndarray:
    """Return the credits with the unparsed battles of a model as won or lost.

    Other unparsed battles keep the credit NaN.

    Args:
        battles: the battles.
        credit: credits of `model_a`, NaN if unparsed, shape (battles,); not changed.
        model: name of the model.
        credit_of_lost: credit of the model in its unparsed battles: 1.0 if they count as won, 0.0
            if they count as lost.

    Returns:
        Credits of `model_a`, shape (battles,).
    """
    code = battles.models.index(model)
    first_codes, second_codes = battles.model_codes
    is_unparsed = battles.is_unparsed
    credit_of_first = np.where(is_unparsed & (first_codes == code), credit_of_lost, credit)
    return np.where(is_unparsed & (second_codes == code), 1 - credit_of_lost, credit_of_first)
