"""The zero of a function of one number, without the import of scipy.optimize, which takes a tenth
of a second."""

from collections.abc import Callable
from math import copysign, sqrt

STEPS = 200
TOLERANCE = 1e-11
"""Distance of two successive approximations at which the search ends."""


def find_root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return a zero of a continuous function between two arguments at which it has different signs,
    by Ridders' method (1979): a secant step of the function times an exponential that puts its
    values at both ends and in the middle on a line. The bracket at least halves in each step."""
    at_low, at_high = function(low), function(high)
    root = low
    for _ in range(STEPS):
        middle = (low + high) / 2
        at_middle = function(middle)
        reach = (middle - low) * at_middle / sqrt(at_middle**2 - at_low * at_high)
        previous, root = root, middle + copysign(1.0, at_low - at_high) * reach
        at_root = function(root)
        if at_root == 0 or abs(root - previous) < TOLERANCE:
            break
        if at_middle * at_root < 0:
            low, at_low, high, at_high = middle, at_middle, root, at_root
        elif at_low * at_root < 0:
            high, at_high = root, at_root
        else:
            low, at_low = root, at_root
    return root
