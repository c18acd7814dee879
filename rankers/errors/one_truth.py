"""Test of whether several judges share one truth: whether their own ratings agree up to slopes.

The alternative gives each judge j strengths of its own. The statistic is the sum over judges of
U_j' I_j^- U_j. Here U_j is the gradient of the log-likelihood by judge j's own strengths, taken at
the fit with slopes and without the effect of its penalty, and I_j^- is the pseudo-inverse of the
information about these strengths. The distribution of the statistic under one truth is simulated
by resampling items. Their gradients are centred, and what the fitted parameters would absorb is
subtracted.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from podium.rankers.errors.judge_slopes import SlopeFit, add_by_cluster

if TYPE_CHECKING:
    from scipy import sparse


RESAMPLES = 500
"""Number of resamples behind the p-values."""
CHUNK = 20
"""Number of resamples that are drawn at once; a million items then take 200 MB."""
RANK_TOLERANCE = 1e-9
"""Eigenvalues of a judge's information that are below this share of the largest one count as 0."""


@dataclass(frozen=True, slots=True)
class OneTruth:
    """The test of whether judges share one truth.

    Attributes:
        p_value: p-value of the hypothesis that all judges share one truth.
        deviation: root mean square deviation of each judge's own log-strengths from the common
            ones, in logits, after subtracting what chance explains, shape (judges,).
        p_value_of_judge: p-value of the hypothesis that the judge does not deviate, shape
            (judges,).
    """

    p_value: float
    deviation: np.ndarray
    p_value_of_judge: np.ndarray


def one_truth_test(fit: SlopeFit, rng: np.random.Generator, resamples: int = RESAMPLES) -> OneTruth:
    """Test that the judges of a fit with free slopes share their strengths.

    Args:
        fit: the fit with one slope per judge.
        rng: draws resamples of the items.
        resamples: number of resamples, a multiple of 20 (`CHUNK`).

    Returns:
        The test. The smallest possible p-value is 1 / (resamples + 1).
    """
    own_design = _own_design(fit)
    models = len(fit.theta)
    # `scores` are the gradients by the judges' own strengths, by item. `net_scores` are without
    # what the fitted parameters absorb. `cross_information` is the information between the fitted
    # parameters and the judges' own strengths.
    weighted_design = own_design.multiply(fit.curvature[:, None]).tocsr()
    scores = (add_by_cluster(fit.data.coded, fit.surplus) @ own_design).toarray()
    cross_information = (weighted_design.T @ fit.design).toarray()
    net_scores = scores - fit.influence @ cross_information.T
    inverse_root = _inverse_root((weighted_design.T @ own_design).toarray(), models)
    net_scores = net_scores - net_scores.mean(axis=0)
    penalty_effect = cross_information @ fit.step_without_penalty()
    observed_sums = (scores.sum(axis=0) - penalty_effect)[None] @ inverse_root
    drawn_sums = _resampled_sums(net_scores, resamples, rng) @ inverse_root
    # `_sum_squares` has a first axis of draws: one for the observed sums.
    [statistic] = _sum_squares(observed_sums, models)
    drawn_statistics = _sum_squares(drawn_sums, models)
    # The mean square of one Newton step from the common strengths to each judge's own.
    [sum_of_squares] = _sum_squares(observed_sums @ inverse_root.T, models)
    mean_square = sum_of_squares / models
    drawn_mean_squares = _sum_squares(drawn_sums @ inverse_root.T, models) / models
    as_large_together = np.sum(drawn_statistics.sum(axis=1) >= statistic.sum())
    as_large_by_judge = np.sum(drawn_statistics >= statistic, axis=0)
    return OneTruth(
        p_value=float((1 + as_large_together) / (resamples + 1)),
        deviation=np.sqrt(np.maximum(mean_square - drawn_mean_squares.mean(axis=0), 0.0)),
        p_value_of_judge=(1 + as_large_by_judge) / (resamples + 1),
    )


def _resampled_sums(values: np.ndarray, resamples: int, rng: np.random.Generator) -> np.ndarray:
    """Return the column sums of resampled rows, shape (resamples, columns).

    Rows are drawn with replacement, as many as there are. The number of resamples is raised to a
    multiple of `CHUNK`.
    """
    rows = len(values)
    share = np.full(rows, 1 / rows)
    sums = []
    for _ in range(0, resamples, CHUNK):
        counts = rng.multinomial(rows, share, CHUNK)
        sums.append(counts @ values)
    return np.concatenate(sums)


def _own_design(fit: SlopeFit) -> "sparse.csr_matrix":
    """Return the design matrix if each judge has its own strengths, shape (battles, judges *
    models).

    A row has +1 for the strength of a by the battle's judge, and -1 for the strength of b.
    """
    from scipy import sparse

    coded = fit.data.coded
    models = len(fit.theta)
    battles = len(coded.a)
    first_column = fit.data.judge * models
    rows = np.tile(np.arange(battles), 2)
    columns = np.concatenate([first_column + coded.a, first_column + coded.b])
    signs = np.repeat([1.0, -1.0], battles)
    shape = (battles, models * len(fit.data.judges))
    return sparse.csr_matrix((signs, (rows, columns)), shape=shape)


def _inverse_root(information: np.ndarray, models: int) -> np.ndarray:
    """Return R such that R R' is the pseudo-inverse of the judges' information.

    `information` and R are block-diagonal, with a block of `models` rows for each judge, shape
    (judges * models, judges * models).
    """
    inverse_root = np.zeros_like(information)
    for begin in range(0, len(information), models):
        block = slice(begin, begin + models)
        eigenvalues, eigenvectors = np.linalg.eigh(information[block, block])
        is_positive = eigenvalues > RANK_TOLERANCE * eigenvalues.max(initial=0.0)
        scaled = eigenvectors / np.sqrt(np.where(is_positive, eigenvalues, 1.0))
        inverse_root[block, block] = np.where(is_positive, scaled, 0.0)
    return inverse_root


def _sum_squares(values: np.ndarray, models: int) -> np.ndarray:
    """Return the sum of squares of each judge's part of each row, shape (samples, judges).

    `values` has shape (samples, judges * models), with the elements of a judge side by side.
    """
    return (values**2).reshape(len(values), -1, models).sum(axis=2)
