"""Zeros of functions of one number."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit, ndtri

from podium.rankers.roots import find_root

FUNCTIONS = {
    "line": (lambda x: 3 * x - 1, -20.0, 20.0),
    "expected credit of 30 battles": (lambda x: 30 * expit(x - 4) - 28.6, -20.0, 20.0),
    "credit at the far end": (lambda x: 0.9999999 - expit(x), -20.0, 20.0),
    "falling": (lambda x: 0.025 - expit(x) + 1e-3 * x, -20.0, 1.0),
    "cube": (lambda x: (x - 1) ** 3, -7.0, 20.0),
    "quantile": (lambda x: ndtri(x) - 1.5, 1e-9, 1 - 1e-9),
    "steep": (lambda x: np.tanh(1e6 * (x - 0.3)), -20.0, 20.0),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_zero_is_that_of_brent_s_method(name):
    """Oracle: SciPy's brentq; for the cube, whose slope at the zero is 0, the exact zero."""
    function, low, high = FUNCTIONS[name]
    expected = 1.0 if name == "cube" else brentq(function, low, high)
    assert find_root(function, low, high) == pytest.approx(expected, rel=1e-10, abs=1e-10)
    assert find_root(lambda x: -function(x), low, high) == pytest.approx(
        expected, rel=1e-10, abs=1e-10
    )


def test_a_zero_in_the_middle_of_the_bracket_is_exact():
    assert find_root(lambda x: x, -20.0, 20.0) == 0.0


def test_a_smooth_function_takes_at_most_25_values():
    values = []

    def excess(x: float) -> float:
        values.append(x)
        return float(30 * expit(x - 4) - 28.6)

    find_root(excess, -20.0, 20.0)
    assert len(values) <= 25
