"""Variances of weighted means of units with unequal weights, beside dense matrices."""

import numpy as np
import pytest

from podium.rankers.fit.coded import centred_gram
from podium.rankers.fit.unequal_weights import effective_freedom, residual_factors


def shares(units, seed):
    weight = np.exp(np.random.default_rng(seed).normal(size=units))
    return weight / weight.sum()


@pytest.mark.parametrize("units", [2, 7, 40])
def test_equal_weights_have_the_usual_factor_and_degrees_of_freedom(units):
    share = np.full(units, 1 / units)
    assert residual_factors(share) ** 2 == pytest.approx(units / (units - 1))
    assert effective_freedom(share) == pytest.approx(units - 1)


@pytest.mark.parametrize("seed", range(3))
def test_factors_and_degrees_of_freedom_are_those_of_dense_matrices(seed):
    share = shares(15, seed)
    maker = np.eye(15) - share
    covariance = maker @ maker.T
    scale = share**2 / np.diag(covariance)
    assert residual_factors(share) ** 2 == pytest.approx(1 / np.diag(covariance))
    # The variance of a quadratic form of normal values is twice the trace of the square.
    expected = (scale @ np.diag(covariance)) ** 2 / (scale @ covariance**2 @ scale)
    assert effective_freedom(share) == pytest.approx(expected)
    assert effective_freedom(share) < 14


def test_variances_of_drawn_values_are_unbiased():
    share = shares(10, 0)
    values = np.random.default_rng(1).normal(size=(200_000, 10))
    mean = values @ share
    residuals = values - mean[:, None]
    variance = np.sum((share * residuals * residual_factors(share)) ** 2, axis=1)
    assert variance.mean() == pytest.approx(mean.var(), rel=0.02)


def test_a_unit_with_all_the_weight_has_no_variance():
    share = np.array([[1.0, 0.5], [0.0, 0.5]])
    assert residual_factors(share)[0].tolist() == pytest.approx([0, np.sqrt(2)])
    assert effective_freedom(share).tolist() == pytest.approx([0, 1])


def test_rows_of_several_blocks_are_centred_before_they_are_multiplied():
    rng = np.random.default_rng(2)
    rows = rng.normal(1, 1, (12, 3))
    factor = rng.uniform(0.5, 2, 12)
    centred = rows - rows.mean(axis=0)
    gram, number = centred_gram([rows[:5], rows[5:]], factor)
    assert number == 12
    assert gram == pytest.approx(centred.T @ np.diag(factor) @ centred)
