"""Test of whether several judges share one truth: whether their own ratings agree up to slopes.

The alternative gives each judge strengths of its own. The statistic is the sum over judges of U_j'
I_j^- U_j, U_j the gradient by judge j's own strengths at the fit with slopes, net of the fit's
penalty, I_j its information. Its distribution under one truth is that of resampled items, whose
gradients are recentred and net of what the fitted parameters follow.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from podium.rankers.errors.judge_slopes import SlopeFit, add_by_cluster

RESAMPLES = 500
CHUNK = 20
"""Resamples that are drawn at once: a million items then take 200 MB."""
RANK_TOLERANCE = 1e-9
"""Share of the largest eigenvalue below which a judge's information has no direction."""


@dataclass(frozen=True, slots=True)
class OneTruth:
    """The p-value of one truth, and for each judge: `deviation`, the root mean square in logits of
    its own strengths from the common ones beyond chance, and the p-value that it has none,
    (judges,)."""

    p_value: float
    deviation: np.ndarray
    by_judge: np.ndarray


def one_truth_test(fit: SlopeFit, rng: np.random.Generator, resamples: int = RESAMPLES) -> OneTruth:
    """Test that the judges of a fit with free slopes share their strengths."""
    own, models = _own_design(fit), len(fit.theta)
    weighted = own.multiply(fit.curvature[:, None]).tocsr()
    scores = (add_by_cluster(fit.data.coded, fit.surplus) @ own).toarray()
    cross = (weighted.T @ fit.design).toarray()
    net = scores - fit.influence @ cross.T
    root = _inverse_root((weighted.T @ own).toarray(), models)
    clusters = len(scores)
    net, share = net - net.mean(axis=0), np.full(clusters, 1 / clusters)
    observed = (scores.sum(axis=0) - cross @ fit.step_without_penalty())[None] @ root
    drawn = (
        np.concatenate(
            [rng.multinomial(clusters, share, CHUNK) @ net for _ in range(0, resamples, CHUNK)]
        )
        @ root
    )
    size, sizes = _sum_squares(observed, models)[0], _sum_squares(drawn, models)
    # One Newton step from the common strengths to the judge's own.
    step, steps = (_sum_squares(values @ root.T, models) / models for values in (observed, drawn))
    return OneTruth(
        p_value=float((1 + np.sum(sizes.sum(axis=1) >= size.sum())) / (resamples + 1)),
        deviation=np.sqrt(np.maximum(step[0] - steps.mean(axis=0), 0.0)),
        by_judge=(1 + np.sum(sizes >= size, axis=0)) / (resamples + 1),
    )


def _own_design(fit: SlopeFit) -> sparse.csr_matrix:
    """Return +1 for a's and -1 for b's strength by the battle's judge, shape (battles, judges times
    models)."""
    coded, models = fit.data.coded, len(fit.theta)
    rows, begin = np.arange(len(coded.a)), fit.data.judge * models
    cells = np.tile(rows, 2), np.concatenate([begin + coded.a, begin + coded.b])
    signs = np.repeat([1.0, -1.0], len(rows))
    return sparse.csr_matrix((signs, cells), shape=(len(rows), models * len(fit.data.judges)))


def _inverse_root(information: np.ndarray, models: int) -> np.ndarray:
    """Return R with R R' the pseudo-inverse of each judge's information, a block-diagonal
    matrix."""
    root = np.zeros_like(information)
    for begin in range(0, len(information), models):
        block = slice(begin, begin + models)
        values, vectors = np.linalg.eigh(information[block, block])
        kept = values > RANK_TOLERANCE * values.max(initial=0.0)
        root[block, block] = np.where(kept, vectors / np.sqrt(np.where(kept, values, 1.0)), 0.0)
    return root


def _sum_squares(values: np.ndarray, models: int) -> np.ndarray:
    """Return the sum of squares of each judge's part, shape (samples, judges)."""
    return (values**2).reshape(len(values), -1, models).sum(axis=2)
