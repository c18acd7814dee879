"""How unequally voters or judges share in the battles of each model, and what their errors need.

Twenty voters of whom two gave most of the votes count as little more than two. As for clusters of
unequal weights (`podium.rankers.fit.unequal_weights`), variances are enlarged and the degrees of
freedom are those of Satterthwaite. Both are of each model, because few voters may have judged it.
With equal shares of n voters, both are the usual ones: n / (n - 1) and n - 1.
"""

from dataclasses import dataclass

import numpy as np

from podium.rankers.fit.unequal_weights import effective_freedom

NO_VARIANCE = 1e-12
"""An eigenvalue up to this share of the largest one is 0."""


@dataclass(frozen=True, slots=True)
class RaterShares:
    """What the errors by voter or judge of each model need.

    Attributes:
        enlargement: factor of the variance by raters without the factor G / (G - 1); 1 for a model
            that a single rater judged, shape (models,).
        freedom: degrees of freedom; 0 for a model that a single rater judged, shape (models,).
    """

    enlargement: np.ndarray
    freedom: np.ndarray

    def enlarge(self, covariance: np.ndarray, raters: int) -> np.ndarray:
        """Return a covariance by raters with the enlargement of each model.

        The result is new. Directions without variance, such as that of all ratings alike, stay
        without variance, except in a covariance with NaN.

        Args:
            covariance: the covariance with the factor G / (G - 1), shape (models, models).
            raters: the number G of raters.
        """
        factor = np.sqrt(self.enlargement * (raters - 1) / raters)
        enlarged: np.ndarray = covariance * np.outer(factor, factor)
        if not np.all(np.isfinite(enlarged)):
            return enlarged
        # Ratings have no variance in the direction of all models alike, and get none.
        values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
        directions = vectors[:, values > NO_VARIANCE * max(values[-1], 0.0)]
        projector = directions @ directions.T
        projected: np.ndarray = projector @ enlarged @ projector
        return projected


def shares_of_raters(
    rater: np.ndarray, model: np.ndarray, weight: np.ndarray, models: int
) -> RaterShares:
    """Return what errors by rater need, by the weights with which raters judged models.

    Args:
        rater: code of the rater of each row; any integers, shape (rows,). A battle has a row for
            each of its two models.
        model: code of the model of each row, shape (rows,).
        weight: weight of each row, shape (rows,).
        models: number of models.
    """
    codes, number = np.unique(rater, return_inverse=True)
    cells, cell = np.unique(model * np.int64(len(codes)) + number, return_inverse=True)
    sums = np.bincount(cell, weight)
    # Cells are sorted by model: those of a model begin at its element and end before the next.
    model_of_cell = cells // len(codes)
    first_cell = np.searchsorted(model_of_cell, np.arange(models + 1))
    enlargement = np.ones(models)
    freedom = np.zeros(models)
    for code in range(models):
        weight_of_raters = sums[first_cell[code] : first_cell[code + 1]]
        if len(weight_of_raters) > 1 and weight_of_raters.sum() > 0:
            share = weight_of_raters / weight_of_raters.sum()
            enlargement[code] = _enlargement_of(share)
            freedom[code] = effective_freedom(share)
    return RaterShares(enlargement, freedom)


def _enlargement_of(share: np.ndarray) -> float:
    """Return the factor that makes the sum of squared influences of raters unbiased.

    The residual of rater i has the variance v (1 - 2 p_i + sum of p^2); the variance of the mean is
    v times the sum of p^2.

    Args:
        share: share of each rater, which add up to 1, shape (raters,).
    """
    squares = share**2
    total = squares.sum()
    variance_of_residual = 1 - 2 * share + total
    return float(total / (squares * variance_of_residual).sum())
