"""Standard errors of weighted means whose units have unequal weights.

A unit with a large weight pulls the mean towards itself, so that its residual is too small, and
the variance rests on few units. If the weights of 20 units are lognormal (sigma = 1), the usual
sandwich with t of 19 degrees of freedom calls equal models different in 12% of the samples instead
of 5%. So residuals are enlarged, and the degrees of freedom are those of Satterthwaite, as Bell
and McCaffrey (2002) do for regressions. With equal weights both are the usual ones: n / (n - 1) and
n - 1.
"""

import numpy as np

LEAST_EQUAL = 0.7
"""Weights of n units are unequal if the effective degrees of freedom are below this share of n - 1:
the covariance of scores is then too rough, or its intervals too wide, to compare models by it."""


def residual_factors(share: np.ndarray) -> np.ndarray:
    """Return the factors that make squared residuals of weighted means unbiased.

    They have the shape of `share`. If all units have the variance v, the residual of unit i has the
    variance v (1 - 2 p_i + sum of p^2). The factor is one over the root of what multiplies v; it is
    0 for a unit with all the weight, whose residual is 0.

    Args:
        share: share p of each unit in the weight of a mean; each column adds up to 1, shape
            (units, ...).
    """
    expected_square = 1 - 2 * share + np.sum(share**2, axis=0)
    is_known = expected_square > 1e-12
    return np.where(is_known, 1 / np.sqrt(np.where(is_known, expected_square, 1.0)), 0.0)


def are_unequal(share: np.ndarray) -> bool:
    """Return whether the weights of units are unequal, by `LEAST_EQUAL`.

    The effective degrees of freedom are those of `effective_freedom`, and n is the number of units
    with a share above 0.

    Args:
        share: share of each unit in the weight of a mean, shape (units, ...). If there are several
            means, the weights of one suffice.
    """
    units = np.count_nonzero(share, axis=0)
    is_unequal = effective_freedom(share) < LEAST_EQUAL * (units - 1)
    return bool(np.any(is_unequal))


def effective_freedom(share: np.ndarray) -> np.ndarray:
    """Return the degrees of freedom of the variances of weighted means (Satterthwaite 1946).

    The variance is the sum over units of (p r f)^2, with shares p, residuals r and the factors f of
    `residual_factors`. The degrees of freedom are 2 E^2 / Var of this sum for normal values of one
    variance; n - 1 for n equal shares, and 0 if one unit has all the weight.

    Args:
        share: share p of each unit in the weight of a mean, shape (units, ...).
    """
    sum_of_squares = np.sum(share**2, axis=0)
    scaled = (share * residual_factors(share)) ** 2
    # The residuals of units i and j have the covariance S - p_i - p_j, plus 1 if i is j, where S
    # is the sum of squares. The double sum over units of its square is expanded into sums.
    total = scaled.sum(axis=0)
    first_moment = (scaled * share).sum(axis=0)
    second_moment = (scaled * share**2).sum(axis=0)
    between = (
        (total * sum_of_squares) ** 2
        + 2 * total * second_moment
        + 2 * first_moment**2
        - 4 * sum_of_squares * total * first_moment
    )
    # (1 + c)^2 - c^2 for the covariance c = S - 2 p_i.
    within = np.sum(scaled**2 * (1 + 2 * (sum_of_squares - 2 * share)), axis=0)
    half_variance = between + within
    variance_of_residual = 1 - 2 * share + sum_of_squares
    squared_mean = (scaled * variance_of_residual).sum(axis=0) ** 2
    freedom: np.ndarray = np.zeros_like(half_variance)
    np.divide(squared_mean, half_variance, out=freedom, where=(half_variance > 0))
    return freedom
