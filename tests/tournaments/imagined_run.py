"""A world that answers any judgment from a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan

import numpy as np

from podium.data.pairings import Field, Outcome, Pairing, Round
from podium.tournaments.schedule import TournamentRule


@dataclass(frozen=True, slots=True)
class ImaginedRun:
    """Credits of the response shown first for any judgment, shape (items, first, second).

    NaN is unparsed. `truth` are the log-strengths that a round robin on infinitely many such items
    would give.
    """

    field: Field
    earned: np.ndarray
    truth: np.ndarray

    def credits(self, places: Sequence[int], pairings: Sequence[Pairing]) -> list[float | None]:
        """Return the credit of `a` in the order of the pairing, else over both; None if unparsed.

        Args:
            places: of the battles' items in the field.
        """
        code = {name: k for k, name in enumerate(self.field.models)}
        a, b = (np.array([code[getattr(own, side)] for own in pairings]) for side in ("a", "b"))
        ahead, behind = self.earned[places, a, b], 1 - self.earned[places, b, a]
        first = np.array([-1 if own.first is None else code[own.first] for own in pairings])
        credit = np.where(first < 0, (ahead + behind) / 2, np.where(first == a, ahead, behind))
        return [None if isnan(value) else value for value in credit.tolist()]

    def play(self, rule: TournamentRule) -> list[Round]:
        """Play until it is over."""
        places = {item: k for k, item in enumerate(self.field.items)}
        rounds: list[Round] = []
        while coming := rule.next(self.field, rounds).pairings:
            credits = self.credits([places[each.item] for each in coming], coming)
            rounds.append(Round(tuple(map(Outcome, coming, credits))))
        return rounds
