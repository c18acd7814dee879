"""A budget of battles for any tournament."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from podium.errors import UsageError
from podium.tournaments.schedule import Field, NextRound, Round, TournamentRule


@dataclass(frozen=True, slots=True)
class Budget:
    """Play a tournament until its battles are used up."""

    rule: TournamentRule
    most: int
    given: int = 0

    def __post_init__(self) -> None:
        if self.most < 1:
            raise UsageError(f"max_battles={self.most}: give a number of battles, 1 or more")

    def next(self, field: Field, played: Sequence[Round]) -> NextRound:
        """Return the battles that the tournament plays next, cut to what is left of the budget."""
        left = self.most + self.given - sum(len(done.outcomes) for done in played)
        coming = self.rule.next(field, played)
        return coming if len(coming.pairings) <= left else replace(coming, pairings=coming.pairings[: max(left, 0)])

    def size(self, field: Field) -> int:
        """Return the maximum number of battles."""
        return min(self.rule.size(field), self.most)
