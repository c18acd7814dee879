"""A demand of an instruction that a rule can check."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Constraint:
    """What is asked, and whether a response does it.

    Attributes:
        name: in a few words, for the judge's reasons.
        holds: response to whether it is met.
    """

    name: str
    holds: Callable[[str], bool]
