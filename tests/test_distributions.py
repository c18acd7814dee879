"""The distributions and the root finder, compared with SciPy, which is another implementation."""

import math
import subprocess
import sys

import numpy as np
import pytest
from scipy import special
from scipy.optimize import brentq

from podium import distributions
from podium.distributions import find_root
from podium.errors import NotConvergedError
from podium.planning.sample_size import signed_rank_items, three_levels

CLOSE = 1e-12


def error(own: np.ndarray, other: np.ndarray) -> float:
    """Return the largest relative difference where the other value is a normal number."""
    known = np.isfinite(other) & (np.abs(other) > 1e-290)
    assert (np.isnan(own) == np.isnan(other)).all()
    is_end = np.isinf(other) | (other == 0)
    assert np.allclose(own[is_end], other[is_end], rtol=0, atol=1e-290)
    return float(np.max(np.abs(own[known] / other[known] - 1)))


def by_value(name: str, *arguments: np.ndarray) -> np.ndarray:
    """Call one of podium's functions for one value after the other."""
    function = getattr(distributions, name)
    return np.array([function(*each) for each in zip(*arguments, strict=True)])


@pytest.mark.parametrize("name", ["expit", "log_expit"])
def test_logistic_functions_are_those_of_scipy(name: str) -> None:
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.normal(0, 5, 500), rng.uniform(-600, 600, 500)])
    assert error(getattr(distributions, name)(x), getattr(special, name)(x)) < CLOSE
    ends = np.array([np.inf, -np.inf, np.nan, 0.0])
    assert getattr(distributions, name)(ends) == pytest.approx(
        getattr(special, name)(ends), nan_ok=True
    )


@pytest.mark.parametrize("name", ["logit", "entr", "ndtri"])
def test_functions_of_probabilities_are_those_of_scipy(name: str) -> None:
    rng = np.random.default_rng(2)
    p = np.concatenate([rng.uniform(0, 1, 500), 10 ** rng.uniform(-290, 0, 500), [0, 0.5, 1]])
    p = np.append(p, np.nan)
    assert error(by_value(name, p), getattr(special, name)(p)) < CLOSE


def test_normal_probabilities_are_those_of_scipy() -> None:
    z = np.append(np.random.default_rng(3).uniform(-36, 36, 1000), [0, np.inf, -np.inf, np.nan])
    assert error(by_value("ndtr", z), special.ndtr(z)) < CLOSE


def t_of_scipy(freedom: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Return Student's t by SciPy's incomplete beta function.

    SciPy's own `stdtr` loses digits near 0: `stdtr(1, 1.3e-8) - 0.5` is 4.7e-9 instead of 4.0e-9.
    """
    outer = special.betainc(freedom / 2, 0.5, freedom / (freedom + t**2)) / 2
    inner = special.betainc(0.5, freedom / 2, t**2 / (freedom + t**2)) / 2
    central = 0.5 + np.sign(t) * inner
    return np.where(np.abs(t) < 1, central, np.where(t > 0, 1 - outer, outer))


def test_t_probabilities_are_those_of_scipy_far_into_the_tails() -> None:
    rng = np.random.default_rng(4)
    freedom = np.exp(rng.uniform(0, np.log(1e4), 2000))
    freedom[:1000] = freedom[:1000].round()
    t = np.exp(rng.uniform(np.log(1e-6), np.log(60), 2000)) * rng.choice([-1, 1], 2000)
    assert error(by_value("stdtr", freedom, t), t_of_scipy(freedom, t)) < CLOSE
    assert distributions.stdtr(5, [0.0, np.inf, -np.inf]).tolist() == [0.5, 1.0, 0.0]
    assert np.isnan(distributions.stdtr([0, np.nan, 3], [1, 1, np.nan])).all()


def test_t_probabilities_of_many_items_are_nearly_normal() -> None:
    for t in (0.3, 2.0, 6.0, 30.0):
        # The first term of Fisher's expansion (1925) is what is left of the difference.
        normal = special.ndtr(-t)
        density = math.exp(-t * t / 2) / math.sqrt(2 * math.pi)
        expected = normal + density * t * (t * t + 1) / (4 * 1e9)
        assert distributions.stdtr(1e9, -t) == pytest.approx(expected, rel=CLOSE)


def test_t_quantiles_are_those_of_scipy_and_give_back_their_probabilities() -> None:
    rng = np.random.default_rng(5)
    freedom = np.exp(rng.uniform(0, np.log(1e5), 600))
    p = np.concatenate([10 ** rng.uniform(-60, -0.4, 300), rng.uniform(0, 1, 300)])
    quantile = by_value("stdtrit", freedom, p)
    # SciPy's own quantiles have nine digits in older versions; its probabilities have more.
    assert error(special.stdtr(freedom, quantile), p) < CLOSE
    assert error(by_value("stdtr", freedom, quantile), p) < CLOSE
    assert distributions.stdtrit(7, [0.0, 0.5, 1.0]).tolist() == [-np.inf, 0.0, np.inf]
    assert np.isnan(distributions.stdtrit([0, 3, 3], [0.3, -0.1, 1.1])).all()


def test_f_probabilities_are_those_of_scipy() -> None:
    rng = np.random.default_rng(6)
    of_numerator = np.exp(rng.uniform(0, np.log(1000), 1000)).round()
    of_denominator = np.exp(rng.uniform(0, np.log(1000), 1000)).round()
    f = np.append(np.exp(rng.normal(0, 1.5, 997)), [0, np.inf, -1])
    arguments = (of_numerator, of_denominator, f)
    expected = special.fdtrc(*arguments)
    assert error(by_value("fdtrc", *arguments), expected) < CLOSE


@pytest.mark.slow
def test_binomial_probabilities_are_sums_of_whole_numbers() -> None:
    rng = np.random.default_rng(7)
    for trials in (1, 2, 7, 30, 200, 1_000):
        for successes in {0, trials - 1, trials, *rng.integers(0, trials, 10).tolist()}:
            ways = sum(math.comb(trials, more) for more in range(successes + 1, trials + 1))
            p = distributions.bdtrc(successes, trials, 0.5)
            assert p == pytest.approx(ways / 2**trials, rel=CLOSE)
    assert distributions.bdtrc(3, 9, 0.2) == pytest.approx(special.bdtrc(3, 9, 0.2), rel=CLOSE)


@pytest.mark.slow
def test_quantiles_of_beta_distributions_are_those_of_scipy() -> None:
    rng = np.random.default_rng(8)
    a = np.exp(rng.uniform(np.log(0.02), np.log(200), 400))
    b = np.exp(rng.uniform(np.log(0.5), np.log(1e6), 400))
    y = rng.uniform(0.001, 0.999, 400)
    place = by_value("betaincinv", a, b, y)
    expected = special.betaincinv(a, b, y)
    assert distributions.betaincinv(1e-15, 3.0, 0.025) == 0
    near_one = expected > 0.999
    assert error(place[~near_one], expected[~near_one]) < 1e-9
    assert np.abs(place - expected)[near_one].max(initial=0) < 1e-12


def test_numbers_have_the_values_of_arrays_and_the_type_of_their_elements() -> None:
    for name, value in (("ndtr", 0.3), ("ndtri", 0.975), ("ndtri", 1), ("ndtr", math.nan)):
        function = getattr(distributions, name)
        number, [element] = function(value), function(np.array([value]))
        assert type(number) is type(element) is np.float64
        assert number == element or math.isnan(number) == math.isnan(element) == math.isnan(value)


def test_a_search_for_a_number_of_items_computes_the_quantile_of_its_level_once() -> None:
    pool = [three_levels(0.3, edge) for edge in (0.04, 0.05, 0.06)]
    distributions._normal_quantile.cache_clear()
    assert signed_rank_items(pool, alpha=0.05) is not None
    assert distributions._normal_quantile.cache_info().misses == 1


def test_long_arrays_have_the_values_of_short_ones() -> None:
    t = np.linspace(-5, 5, 1001)
    assert distributions.stdtr(11.0, t)[::50] == pytest.approx(
        by_value("stdtr", np.full(21, 11.0), t[::50]), rel=1e-13
    )
    assert distributions.stdtr(11.0, t.reshape(7, -1)).shape == (7, 143)
    assert isinstance(distributions.stdtr(3, 1.0), float)


@pytest.mark.slow
def test_the_root_finder_takes_the_steps_of_scipys() -> None:
    rng = np.random.default_rng(8)
    for _ in range(300):
        root, rate = rng.normal(0, 3), rng.uniform(0.1, 3)
        low, high = root - rng.uniform(0.1, 20), root + rng.uniform(0.1, 20)
        for function in (
            lambda x, root=root, rate=rate: math.tanh(rate * (x - root)) + 0.1 * (x - root),
            lambda x, root=root, rate=rate: math.exp(rate * (x - root) / 5) - 1,
            lambda x, root=root: -1.0 if x < root else 2.0,
        ):
            for ends in ((low, high), (high, low)):
                options = {"xtol": 1e-9, "rtol": 1e-9}
                assert find_root(function, *ends, **options) == brentq(function, *ends, **options)


def test_a_root_that_is_not_found_is_an_error() -> None:
    with pytest.raises(ValueError, match="same sign"):
        find_root(lambda x: x + 5, 1.0, 2.0, xtol=1e-9, rtol=1e-9)
    with pytest.raises(NotConvergedError, match="100 steps"):
        find_root(lambda x: (x - 0.1) ** 9, -1e9, 1e10, xtol=1e-300, rtol=1e-300)


@pytest.mark.slow
def test_short_arrays_do_not_import_scipy() -> None:
    program = (
        "import sys; from podium import distributions as d; "
        "d.stdtr(9, [1.0] * 30); d.stdtrit(9, .9); d.ndtri(.9); d.ndtr(1); d.fdtrc(2, 9, 3); "
        "d.bdtrc(2, 9, .5); d.betaincinv(2, 9, [.5] * 9); print('scipy' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert done.stdout == "False\n"


def test_a_value_that_is_no_number_is_no_root():
    def function(x: float) -> float:
        return -1.0 if x <= 0 else 1.0 if x > 0.6 else np.nan

    with pytest.raises(NotConvergedError, match=r"not a number at 0\.5"):
        find_root(function, -1.0, 1.0, xtol=1e-12, rtol=1e-12)


@pytest.mark.parametrize("freedom", [0.02, 0.015, 0.01, 1e-3, 1e-6, 1e-16])
@pytest.mark.parametrize("p", [0.6, 0.975, 0.9957, 0.999, 0.001])
def test_t_quantiles_of_hardly_any_freedom_are_those_of_scipy_or_infinite(freedom, p) -> None:
    """Beyond its own largest value (1e100 in version 1.15), scipy is no oracle.

    There, the density is its leading term: P(T > t) = c t^-freedom.
    """
    quantile = float(distributions.stdtrit(freedom, p))
    expected = float(special.stdtrit(freedom, p))
    if abs(expected) < 1e99:
        assert quantile == pytest.approx(expected, rel=1e-9)
        return
    log_c = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - math.log(math.pi) / 2
    log_c += (freedom / 2 - 1) * math.log(freedom)
    log_size = (log_c - math.log(min(p, 1 - p))) / freedom
    sign = 1 if p > 0.5 else -1
    if log_size < 140 * math.log(10):
        assert quantile == pytest.approx(sign * math.exp(log_size), rel=1e-9)
    else:
        assert quantile == sign * np.inf


@pytest.mark.parametrize("number", [1, 400, 401, 20_000])
def test_infinite_freedom_is_no_t_distribution_however_many_values_there_are(number) -> None:
    freedom = np.full(number, np.inf)
    assert np.isnan(distributions.stdtr(freedom, np.ones(number))).all()
    assert np.isnan(distributions.stdtrit(freedom, np.full(number, 0.9))).all()
