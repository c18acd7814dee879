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
        """Return a copy with a monotone function applied to the value and to the known ends.

        `decreasing` says that the function decreases, so that the ends are swapped. `changes` are
        new values of further fields of a subclass, by name.
        """
        low = None if self.low is None else function(self.low)
        high = None if self.high is None else function(self.high)
        if decreasing:
            low, high = high, low
        return replace(self, value=function(self.value), low=low, high=high, **changes)

    def excludes(self, value: float) -> bool:
        """Return whether the interval has both ends and does not contain the value.

        With an unknown end, the result is False. A value that equals an end is inside.
        """
        if self.low is None or self.high is None:
            return False
        is_inside = self.low <= value <= self.high
        return not is_inside
