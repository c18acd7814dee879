"""Probabilities and quantiles of the normal, t, F and binomial distributions, and a root finder.

They are podium's own, because the import of SciPy takes longer than all else that a small ranking
does. The tests compare them with SciPy: they agree to 1e-12 of the value, far tails included.
Functions whose names are SciPy's have its arguments, too. They take numbers or arrays that
broadcast, and return NaN for NaN.

Incomplete beta functions are integrated by the double exponential rule (Takahasi and Mori 1974).
It costs some hundred exponentials a value, so that long arrays are left to SciPy.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from podium.errors import NotConvergedError

MOST_PROBABILITIES = 400
"""Arrays of more probabilities than this are left to SciPy, which is then imported."""
MOST_QUANTILES = 16
"""The same for quantiles, each of which takes several probabilities."""
STEP = 0.1
"""Distance of two nodes of the double exponential rule. Half of it changes no result by more than
rounding error."""
_PLACES = np.arange(-4.2, 14.0, STEP)
"""Places of the nodes of the double exponential rule before their transformation."""
NODES = np.exp(_PLACES - np.exp(-_PLACES))
"""Points of the rule on the half line from 0, shape (nodes,)."""
NODE_WEIGHTS = STEP * NODES * (1 + np.exp(-_PLACES))
"""Weights of these points, shape (nodes,)."""
STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400)
"""Coefficients of 1/a, 1/a^3, ... in the series of Stirling for the logarithm of the gamma
function."""
FEWEST_BY_SERIES = 10.0
"""From this argument on, the series is accurate to rounding."""
LARGEST_LOG_ODDS = 40.0
"""Quantiles of beta distributions are searched between these log-odds. If a parameter is below 1,
they are searched as many times further as it is smaller."""
MOST_STEPS = 100
"""Largest number of steps of a search for a quantile or a root."""
LARGEST_LOG_QUANTILE = 345.0
"""Natural logarithm above which a quantile of t counts as infinite: the square of larger ones
overflows."""
PRECISION = 4 * np.finfo(np.float64).eps
"""The search for a quantile stops after a step of less than this share of it."""


def expit(x: Any) -> Any:
    """Return the logistic function 1 / (1 + exp(-x)) of a number or an array."""
    small = np.exp(-np.abs(x))
    return np.where(np.asarray(x) >= 0, 1.0, small)[()] / (1 + small)


def log_expit(x: Any) -> Any:
    """Return the logarithm of the logistic function of a number or an array, accurate for all x."""
    return np.minimum(x, 0.0) - np.log1p(np.exp(-np.abs(x)))


def logit(p: Any) -> Any:
    """Return the log-odds log(p / (1 - p)): infinite at 0 and 1, NaN below 0 and above 1."""
    p = np.asarray(p, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Near 0.5 the difference of two logarithms would lose digits.
        is_central = np.abs(p - 0.5) < 0.2
        central = 2 * np.arctanh(np.where(is_central, 2 * p - 1, 0.0))
        return np.where(is_central, central, np.log(p) - np.log1p(-p))[()]


def entr(p: Any) -> Any:
    """Return -p log(p), which is 0 at 0, for a number or an array p in [0, 1]."""
    p = np.asarray(p, dtype=np.float64)
    return -p * np.log(np.where(p > 0, p, 1.0))


def ndtr(z: Any) -> Any:
    """Return the standard normal distribution function, the probability of a value below z."""

    def probability_below(z: float) -> float:
        """Return the normal distribution function of one number."""
        return 0.5 * math.erfc(-z / math.sqrt(2))

    return _apply_to_values("ndtr", probability_below, z)


def ndtri(p: Any) -> Any:
    """Return the quantile of the standard normal distribution, NaN outside [0, 1]."""
    return _apply_to_values("ndtri", _normal_quantile, p, most=MOST_QUANTILES)


def stdtr(freedom: Any, t: Any) -> Any:
    """Return the distribution function of Student's t.

    Args:
        freedom: degrees of freedom, above 0 and finite; else the result is NaN.
        t: where it is evaluated.

    Returns:
        An array if an argument is one, else a number.
    """

    def probability_below(freedom: float, t: float) -> float:
        """Return the distribution function of Student's t of one number."""
        tail = _t_tail(freedom, abs(t))
        return 1 - tail if t > 0 else tail

    return _apply_to_values("stdtr", probability_below, _finite_or_nan(freedom), t)


def stdtrit(freedom: Any, p: Any) -> Any:
    """Return the quantile of Student's t, NaN outside [0, 1].

    Args:
        freedom: degrees of freedom, above 0 and finite; else the result is NaN.
        p: the probability of a smaller value.

    Returns:
        An array if an argument is one, else a number.
    """

    def quantile(freedom: float, p: float) -> float:
        """Return the quantile of Student's t of one probability."""
        # 1 - p is exact for p of 0.5 and more.
        return _quantile_of_t(freedom, 1 - p) if p > 0.5 else 0.0 - _quantile_of_t(freedom, p)

    return _apply_to_values("stdtrit", quantile, _finite_or_nan(freedom), p, most=MOST_QUANTILES)


def fdtrc(of_numerator: Any, of_denominator: Any, f: Any) -> Any:
    """Return the probability of a larger value of the F distribution, NaN for negative values.

    The arguments are numbers or arrays that broadcast.

    Args:
        of_numerator: degrees of freedom of the numerator, above 0.
        of_denominator: degrees of freedom of the denominator, above 0.
        f: where it is evaluated.
    """

    def probability_above(of_numerator: float, of_denominator: float, f: float) -> float:
        """Return the upper tail of the F distribution; NaN for arguments out of range."""
        if f == 0:
            return 1.0
        if f == math.inf:
            return 0.0
        # Degrees of freedom of NaN are not above 0, either.
        if f < 0 or not of_numerator > 0 or not of_denominator > 0:
            return math.nan
        log_odds = math.log(of_denominator) - math.log(of_numerator) - math.log(f)
        return _incomplete_beta(of_denominator / 2, of_numerator / 2, log_odds)

    return _apply_to_values("fdtrc", probability_above, of_numerator, of_denominator, f)


def bdtrc(successes: Any, trials: Any, p: Any) -> Any:
    """Return the probability of more successes than `successes` in binomial trials.

    The arguments are numbers or arrays that broadcast.

    Args:
        successes: a whole number from 0 to `trials`.
        trials: number of trials.
        p: probability of a success, above 0 and below 1.
    """

    def probability_above(successes: float, trials: float, p: float) -> float:
        """Return the upper tail of a binomial distribution."""
        if successes == trials:
            return 0.0
        return _incomplete_beta(successes + 1, trials - successes, math.log(p) - math.log1p(-p))

    return _apply_to_values("bdtrc", probability_above, successes, trials, p)


def betaincinv(a: Any, b: Any, y: Any) -> Any:
    """Return the place below which a beta distribution has the probability y.

    The arguments are numbers or arrays that broadcast.

    Args:
        a: first parameter of the distribution, above 1e-300 and below 1e15.
        b: second parameter, in the same range.
        y: the probability, above 0 and below 1.
    """

    def place(a: float, b: float, y: float) -> float:
        """Return the quantile of one beta distribution."""

        def excess(log_odds: float) -> float:
            """Return by how much the probability of smaller values exceeds y."""
            return _incomplete_beta(a, b, log_odds) - y

        # The smaller a is, the further below 0 most of the distribution may lie.
        reach = LARGEST_LOG_ODDS * max(1.0, 1 / a, 1 / b)
        return float(expit(find_root(excess, -reach, reach, xtol=1e-14, rtol=PRECISION)))

    return _apply_to_values("betaincinv", place, a, b, y, most=MOST_QUANTILES)


class _Point(NamedTuple):
    """A place and the value of a function there."""

    place: float
    value: float


def find_root(
    function: Callable[[float], float], low: float, high: float, *, xtol: float, rtol: float
) -> float:
    """Return a root of a continuous function between two points, by Brent's method (1973).

    It takes the steps of SciPy's `brentq`, and returns the same number where that returns one. The
    error of the root is at most `xtol` plus `rtol` times the absolute value of the root. If both
    points are roots, `low` is returned.

    Args:
        function: the function, of opposite signs at the two points, or 0 at one of them.
        low: one point.
        high: the other point.
        xtol: absolute part of the tolerance, above 0.
        rtol: relative part of the tolerance, as a share of the root.

    Raises:
        ValueError: the function has the same sign at both points, or is not a number at one of them
            while the other is no root.
        NotConvergedError: there is no root after 100 steps, or a value of the function between the
            points is not a number.
    """
    before = _Point(low, function(low))
    at = _Point(high, function(high))
    if before.value == 0:
        return low
    # NaN is not below 0, either.
    if not before.value * at.value <= 0:
        raise ValueError("the function has the same sign at both points")
    other = before
    step = last_step = 0.0
    for _ in range(MOST_STEPS):
        if math.isnan(at.value):
            raise NotConvergedError(f"the function is not a number at {at.place}")
        has_sign_change = (before.value < 0) != (at.value < 0)
        if before.value != 0 and has_sign_change:
            other = before
            step = last_step = at.place - before.place
        if abs(other.value) < abs(at.value):
            before, at, other = at, other, at
        error = (xtol + rtol * abs(at.place)) / 2
        half = (other.place - at.place) / 2
        if at.value == 0 or abs(half) < error:
            return at.place
        last_step, step = _next_steps(before, at, other, step, last_step, error)
        place = at.place + (step if abs(step) > error else math.copysign(error, half))
        before, at = at, _Point(place, function(place))
    raise NotConvergedError(f"no root between {low} and {high} after {MOST_STEPS} steps")


def _next_steps(
    before: _Point, at: _Point, other: _Point, step: float, last_step: float, error: float
) -> tuple[float, float]:
    """Choose the next step of Brent's method from `at`.

    The step is interpolated if the interpolated one is short enough for the interval to shrink
    fast, else it halves the interval between `at` and `other`.

    Args:
        before: the point before `at`.
        at: the latest point.
        other: the latest point at which the function has the opposite sign, so that a root lies
            between `at` and `other`.
        step: the step that led to `at`.
        last_step: the step before that one, which an interpolated step must at least halve.
        error: half of the tolerance. After a shorter step, nothing is interpolated.

    Returns:
        The `last_step` and the `step` of the next call: after an interpolated step, `step` and the
        interpolated one; after a halving, this step twice.
    """
    half = (other.place - at.place) / 2
    proposed = math.inf
    if abs(last_step) > error and abs(at.value) < abs(before.value):
        proposed = _interpolated_step(before, at, other)
    is_short = 2 * abs(proposed) < min(abs(last_step), 3 * abs(half) - error)
    return (step, proposed) if is_short else (half, half)


def _interpolated_step(before: _Point, at: _Point, other: _Point) -> float:
    """Return the step from `at` to the root of a curve through two or three points.

    The curve is a line if `before` and `other` are at the same place, else an inverse parabola. The
    step is infinite if the curve has no root.
    """
    try:
        if before.place == other.place:
            return -at.value * (at.place - before.place) / (at.value - before.value)
        slope_before = (before.value - at.value) / (before.place - at.place)
        slope_other = (other.value - at.value) / (other.place - at.place)
        numerator = other.value * slope_other - before.value * slope_before
        return -at.value * numerator / (slope_other * slope_before * (other.value - before.value))
    except ZeroDivisionError:
        return math.inf


def _apply_to_values(
    name: str,
    function: Callable[..., float],
    *arguments: Any,
    most: int = MOST_PROBABILITIES,
) -> Any:
    """Apply a function to each value, and return an array, or a number if all arguments are.

    The result is NaN where an argument is NaN.

    Args:
        name: name of the same function in `scipy.special`, which is called for long arrays.
        function: the function of as many numbers as there are `arguments`.
        arguments: numbers or arrays that broadcast.
        most: number of values above which an array is long.
    """

    def value_at(*numbers: float) -> float:
        """Return the value of the function; NaN if a number is NaN."""
        return math.nan if any(map(math.isnan, numbers)) else function(*numbers)

    if all(isinstance(each, int | float) for each in arguments):
        return np.float64(value_at(*map(float, arguments)))
    arrays = np.broadcast_arrays(*(np.asarray(each, dtype=np.float64) for each in arguments))
    if arrays[0].size > most:
        from scipy import special

        return getattr(special, name)(*arrays)
    values = zip(*(array.ravel().tolist() for array in arrays), strict=True)
    results = [value_at(*each) for each in values]
    return np.array(results, dtype=np.float64).reshape(arrays[0].shape)[()]


@lru_cache(maxsize=128)
def _normal_quantile(p: float) -> float:
    """Return the normal quantile of one probability: infinite for 0 and 1, NaN beyond.

    The last 128 results are kept, because searches for a number of items ask for one level many
    times.

    The computation starts at the approximation 26.2.23 of Abramowitz and Stegun (1964), and takes
    steps of Halley on the logarithm of the probability.
    """
    if not 0 < p < 1:
        return math.copysign(math.inf, p - 0.5) if p in (0, 1) else math.nan
    if p == 0.5:
        return 0.0
    tail = min(p, 1 - p)
    root = math.sqrt(-2 * math.log(tail))
    numerator = 2.515517 + root * (0.802853 + root * 0.010328)
    z = root - numerator / (1 + root * (1.432788 + root * (0.189269 + root * 0.001308)))
    for _ in range(MOST_STEPS):
        upper = 0.5 * math.erfc(z / math.sqrt(2))
        # The hazard is the negative derivative of log(upper) by z, its own is hazard (hazard - z).
        hazard = math.exp(-z * z / 2) / math.sqrt(2 * math.pi) / upper
        excess = math.log(upper / tail)
        newton = excess / hazard
        halley = newton / (1 - newton * (hazard - z) / 2)
        z += halley
        if abs(halley) <= PRECISION * abs(z) + 1e-17:
            break
    return z if p > 0.5 else -z


def _finite_or_nan(values: Any) -> Any:
    """Return numbers as they are, and an array with NaN in place of infinite values.

    SciPy, which is called for long arrays, takes infinite degrees of freedom for the normal
    distribution.
    """
    if isinstance(values, int | float):
        return values
    array = np.asarray(values, dtype=np.float64)
    return np.where(np.isinf(array), np.nan, array)


def _t_tail(freedom: float, t: float) -> float:
    """Return the probability of a value of Student's t above t, for t of 0 and more.

    NaN if the number of degrees of freedom is not positive and finite.
    """
    if not 0 < freedom < math.inf:
        return math.nan
    if t in (0.0, math.inf):
        return 0.5 if t == 0 else 0.0
    # With f degrees of freedom, this is half the beta distribution below f / (f + t^2), of which
    # the odds are f / t^2.
    log_odds = math.log(freedom) - 2 * math.log(t)
    return _incomplete_beta(a=freedom / 2, b=0.5, log_odds=log_odds) / 2


def _quantile_of_t(freedom: float, tail: float) -> float:
    """Return the t of 0 and more with this probability above it, by Newton's method.

    The result is NaN if the probability is not in [0, 0.5], or if the number of degrees of freedom
    is not positive and finite. It is infinite if its logarithm exceeds `LARGEST_LOG_QUANTILE`, as
    for less than about 0.01 degrees of freedom.
    """
    if not 0 <= tail <= 0.5 or not 0 < freedom < math.inf:
        return math.nan
    if tail in (0.0, 0.5):
        return math.inf if tail == 0 else 0.0
    log_density_at_0 = _log_gamma_ratio(freedom / 2) - 0.5 * math.log(freedom * math.pi)
    is_central = tail > 0.4
    # Both are below the quantile, as the tail is convex and heavier than the normal one.
    t = (0.5 - tail) / math.exp(log_density_at_0) if is_central else -_normal_quantile(tail)
    for _ in range(MOST_STEPS):
        upper = _t_tail(freedom, t)
        log_density = log_density_at_0 - (freedom + 1) / 2 * math.log1p(t * t / freedom)
        if is_central:
            following = t + (upper - tail) / math.exp(log_density)
        else:
            # The logarithm of the tail is concave in the logarithm of t.
            slope = math.exp(log_density - math.log(upper)) * t
            log_step = math.log(upper / tail) / slope if slope else math.inf
            if math.log(t) + log_step > LARGEST_LOG_QUANTILE:
                return math.inf
            following = t * math.exp(log_step)
        step = following - t
        t = following
        if abs(step) <= PRECISION * t:
            break
    return t


def _incomplete_beta(a: float, b: float, log_odds: float) -> float:
    """Return the regularized incomplete beta function I_x(a, b).

    With s = x exp(-v / a), it is x^a (1 - x)^(b - 1) / (a B(a, b)) times the integral over v > 0
    of exp(-v) (1 + x / (1 - x) (1 - exp(-v / a)))^(b - 1). Beyond the mean a / (a + b), it is 1
    minus the function of 1 - x.

    Args:
        a: first parameter, above 0.
        b: second parameter, above 0.
        log_odds: log(x / (1 - x)), which keeps the digits of an x near 0 or near 1.
    """
    if log_odds > math.log(a) - math.log(b):
        return 1 - _incomplete_beta(b, a, -log_odds)
    growth = math.exp(log_odds) * -np.expm1(NODES / -a)
    integral = float(np.exp((b - 1) * np.log1p(growth) - NODES) @ NODE_WEIGHTS)
    return integral * math.exp(_log_density(a, b, log_odds) + _softplus(log_odds)) / a


def _log_density(a: float, b: float, log_odds: float) -> float:
    """Return log(x^a (1 - x)^b / B(a, b)), without cancellation for large a and b.

    The parameters are those of `_incomplete_beta`. The gamma functions are split into Stirling's
    formula and its error (Loader 2000).
    """
    errors = _stirling_error(a) + _stirling_error(b) - _stirling_error(a + b)
    # The logarithm of the mean a / (a + b) is -log1p(b / a).
    from_mean = a * (math.log1p(b / a) - _softplus(-log_odds))
    from_mean += b * (math.log1p(a / b) - _softplus(log_odds))
    return from_mean + 0.5 * (math.log(a / (2 * math.pi)) - math.log1p(a / b)) - errors


def _softplus(x: float) -> float:
    """Return log(1 + exp(x)), also where exp(x) would overflow."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def _stirling_error(a: float) -> float:
    """Return log(gamma(a)) - ((a - 0.5) log(a) - a + log(2 pi) / 2), for a > 0."""
    if a < FEWEST_BY_SERIES:
        return math.lgamma(a) - (a - 0.5) * math.log(a) + a - 0.5 * math.log(2 * math.pi)
    series = 0.0
    for coefficient in reversed(STIRLING):
        series = coefficient + series / a**2
    return series / a


def _log_gamma_ratio(a: float) -> float:
    """Return log(gamma(a + 0.5) / gamma(a)) for a > 0."""
    errors = _stirling_error(a + 0.5) - _stirling_error(a)
    return a * math.log1p(0.5 / a) - 0.5 + 0.5 * math.log(a) + errors
