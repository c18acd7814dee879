"""An estimate with its interval."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with the ends of its interval; an end is None where it is unknown or unbounded."""

    value: float
    low: float | None = None
    high: float | None = None

    def transform(
        self, function: Callable[[float], Any], *, decreasing: bool = False, **changes: Any
    ) -> Self:
        """Apply a monotone function to the value and both ends of the interval.

        `decreasing` says that the function decreases, so that the ends are swapped. `changes` are
        new values of other fields, by name.
        """
        ends = (self.high, self.low) if decreasing else (self.low, self.high)
        low, high = (None if end is None else function(end) for end in ends)
        return replace(self, value=function(self.value), low=low, high=high, **changes)

    def excludes(self, value: float) -> bool:
        """Return whether the interval has both ends and does not contain the value."""
        return self.low is not None and self.high is not None and not self.low <= value <= self.high
