"""The error of two tests on growing data, against SciPy's bivariate normal and published values."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from podium.rankers.errors.repeated_tests import error_of_two_tests
from podium.show.answers import tested_again


@pytest.mark.parametrize(("before", "added"), [(10, 3), (40, 40), (40, 400), (7, 1)])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_it_is_that_of_two_correlated_normal_statistics(level, before, added):
    critical = norm.ppf((1 + level) / 2)
    correlation = np.sqrt(before / (before + added))
    covariance = [[1, correlation], [correlation, 1]]
    inside = multivariate_normal.cdf(
        [critical] * 2, cov=covariance, lower_limit=[-critical] * 2, abseps=1e-9
    )
    assert error_of_two_tests(level, before, added) == pytest.approx(1 - inside, abs=1e-6)


def test_it_is_the_published_value_at_two_equal_steps():
    """Armitage, McPherson and Rowe 1969, table 2: 0.083 for two tests at 5%."""
    assert error_of_two_tests(0.95, 50, 50) == pytest.approx(0.0831, abs=1e-4)


def test_simulated_data_err_as_often():
    rng = np.random.default_rng(2)
    data = rng.normal(size=(40_000, 90))
    first = data[:, :30].sum(axis=1) / np.sqrt(30)
    both = data.sum(axis=1) / np.sqrt(90)
    found = (np.abs(first) > norm.ppf(0.975)) | (np.abs(both) > norm.ppf(0.975))
    assert error_of_two_tests(0.95, 30, 60) == pytest.approx(found.mean(), abs=0.005)


@pytest.mark.parametrize(
    ("level", "shares"),
    [(0.95, "8%, not 5%"), (0.975, "4%, not 2.5%"), (0.995, "0.9%, not 0.5%")],
)
def test_both_shares_are_written_so_that_they_differ(level, shares):
    text = tested_again.tested_again_text(level, 40, 40, has_verdicts=False)
    assert text.startswith(f"a second test errs in {shares}, of cases")
