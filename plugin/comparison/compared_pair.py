"""The two models of a comparison, and how they are compared."""

from collections.abc import Collection
from dataclasses import dataclass

ELO = "elo"
"""Measure: the difference in points of Elo."""
WIN_RATE = "win-rate"
"""Measure: the win rate in the battles between the two."""
SCORE = "score"
"""Measure: the difference of mean scores, in the metric's units."""
MEASURES = ("auto", SCORE, ELO, WIN_RATE)
"""Values of the option `measure`."""
BETTING = "betting"
"""Method: tests by betting, which allow for rare losses and may be looked at again."""
METHODS = ("auto", BETTING)
"""Values of the option `method`."""


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """Two models that are compared.

    Attributes:
        candidate: the model that may be better.
        baseline: the model that it is compared with.
        measure: one of `MEASURES`.
        level: confidence level.
        identical: items on which the answers of both are identical; None if the answers are not
            known.
        method: one of `METHODS`.
    """

    candidate: str
    baseline: str
    measure: str
    level: float
    identical: Collection[str] | None = None
    method: str = "auto"

    @property
    def bets(self) -> bool:
        """Whether differences are tested by betting."""
        return self.method == BETTING
