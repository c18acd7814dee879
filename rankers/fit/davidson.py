"""Log-strengths by Davidson's model, in which ties are outcomes of their own.

With strengths pi, a beats b with a probability proportional to pi_a, loses in proportion to pi_b,
and ties in proportion to nu sqrt(pi_a pi_b) (Davidson 1970). Only nu says how often models tie.
"""

from dataclasses import dataclass

import numpy as np

from podium.defaults import REGULARIZATION
from podium.rankers.fit.coded import CodedBattles, centre_columns
from podium.rankers.fit.newton import DesignMatrix, Likelihood, maximize
from podium.rankers.fit.pairs import pair_index, pair_sums

OUTCOME_PAIRS = 3
"""Rows of the design for each pair of models: win or tie, tie or loss, win or loss."""


@dataclass(frozen=True, slots=True)
class DavidsonFit:
    """Strengths by Davidson's model, and the influence of each cluster on them.

    Attributes:
        theta: log-strengths log pi, with mean zero, shape (models,).
        log_nu: the logarithm of nu.
        influence: influence of each cluster on `theta`, shape (clusters, models).
    """

    theta: np.ndarray
    log_nu: float
    influence: np.ndarray


def fit_davidson(coded: CodedBattles, regularization: float = REGULARIZATION) -> DavidsonFit:
    """Fit Davidson's model to battles by maximum likelihood.

    A credit between a tie and a win is counted in part as each: 0.75 is half a tie and half a win.

    Args:
        coded: the battles, with at least one tie.
        regularization: lambda of the penalty (lambda / 2) |theta|^2 on the log-strengths; nu has no
            penalty.

    Raises:
        NotIdentifiedError: the likelihood has no finite maximum.
        NotConvergedError: no maximum was found.
    """
    pairs = pair_sums(coded)
    pair, credit = pair_index(coded, pairs)
    number = len(pairs.first)
    win, tie, loss = outcome_masses(credit)
    weight = coded.weight
    # The weighted numbers of wins, of ties and of losses of each pair.
    sums = [np.bincount(pair, weight * mass, number) for mass in (win, tie, loss)]
    weight_of_pair = np.sum(sums, axis=0)
    # The strengths of the design are log(pi) / 2, so that all rows are their plain differences.
    design = DesignMatrix(
        columns=np.repeat([[-1.0], [1.0], [0.0]], number, axis=0),
        first=np.tile(pairs.first, OUTCOME_PAIRS),
        second=np.tile(pairs.second, OUTCOME_PAIRS),
        models=pairs.models,
    )
    # Half of a log-strength needs a penalty four times as large. The last parameter is log(nu).
    penalty = np.append(np.full(pairs.models, 4 * regularization), 0.0)
    likelihood = Likelihood(
        design,
        credit=np.concatenate(sums),
        weight=np.tile(weight_of_pair, OUTCOME_PAIRS),
        penalty=penalty,
        loss=outcomes_loss,
    )
    optimum = maximize(likelihood)
    half = optimum.parameters[:-1]
    log_nu = float(optimum.parameters[-1])
    lead = half[coded.a] - half[coded.b]
    p_win, p_tie, p_loss = outcome_probabilities(lead, log_nu)
    win_a, tie_a, loss_a = outcome_masses(coded.credit)
    # The derivatives of each battle's log-likelihood by the lead and by log(nu).
    score_of_lead = weight * ((win_a - loss_a) - (p_win - p_loss))
    score_of_nu = weight * (tie_a - p_tie)
    scores = _scores_by_cluster(coded, score_of_lead, score_of_nu)
    information = likelihood.information_at(optimum.parameters)
    influence = np.linalg.solve(information, centre_columns(scores).T).T
    return DavidsonFit(theta=2 * half, log_nu=log_nu, influence=2 * influence[:, :-1])


def outcome_masses(credit: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return how much of a win, of a tie and of a loss each credit is; the three add up to 1.

    A credit of 0.75 is half a win and half a tie, one of 0.25 half a tie and half a loss. Each
    result has the shape of `credit`.
    """
    lead = 2 * credit - 1
    return np.maximum(lead, 0.0), 1 - np.abs(lead), np.maximum(-lead, 0.0)


def outcome_probabilities(
    lead: np.ndarray, log_nu: float | np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the probabilities of a win, a tie and a loss of the first model.

    Args:
        lead: half the difference of the log-strengths, first minus second.
        log_nu: the logarithm of nu; a number, or an array of the shape of `lead`.
    """
    largest = np.maximum(np.abs(lead), log_nu)
    win = np.exp(lead - largest)
    tie = np.exp(log_nu - largest)
    loss = np.exp(-lead - largest)
    total = win + tie + loss
    return win / total, tie / total, loss / total


def outcomes_loss(
    credit: np.ndarray, weight: np.ndarray, logits: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return surplus and curvature of Davidson's likelihood, with three rows per pair of models.

    The rows are those of `fit_davidson`: of win and tie, of tie and loss, of win and loss. The
    surplus of two outcomes is the number of the first times the probability of the second, minus
    the reverse; the curvature is the product of both probabilities times the number of battles.

    Args:
        credit: numbers of wins, of ties and of losses, a third of the rows each.
        weight: number of battles of each row's pair.
        logits: lead - log(nu), lead + log(nu), and lead.
    """
    win, tie, loss = np.split(credit, OUTCOME_PAIRS, axis=-1)
    # The three rows of a pair have the same weight.
    number, *_ = np.split(weight, OUTCOME_PAIRS, axis=-1)
    below, above, lead = np.split(logits, OUTCOME_PAIRS, axis=-1)
    p_win, p_tie, p_loss = outcome_probabilities(lead, (above - below) / 2)
    # The lead counts twice between a win and a loss: once for each.
    surplus = [
        win * p_tie - tie * p_win,
        tie * p_loss - loss * p_tie,
        2 * (win * p_loss - loss * p_win),
    ]
    curvature = [number * p_win * p_tie, number * p_tie * p_loss, 4 * number * p_win * p_loss]
    return np.concatenate(surplus, axis=-1), np.concatenate(curvature, axis=-1)


def _scores_by_cluster(
    coded: CodedBattles, score_of_lead: np.ndarray, score_of_nu: np.ndarray
) -> np.ndarray:
    """Return the gradient of each cluster's log-likelihood, shape (clusters, models + 1).

    Args:
        coded: the battles.
        score_of_lead: derivative by the lead of the first model, shape (battles,).
        score_of_nu: derivative by log(nu), shape (battles,).
    """
    size = len(coded.models)
    cells = coded.clusters * size
    as_first = np.bincount(coded.cluster * size + coded.a, score_of_lead, cells)
    as_second = np.bincount(coded.cluster * size + coded.b, score_of_lead, cells)
    strengths = (as_first - as_second).reshape(coded.clusters, size)
    column_of_nu = np.bincount(coded.cluster, score_of_nu, coded.clusters)
    return np.column_stack([strengths, column_of_nu])
