"""Recorded: the pairings of an earlier run, all of them or a balanced sample."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from podium.data.pairings import Field, NextRound, Pairing, Round
from podium.errors import UsageError
from podium.tournaments.schedule import schedule_pairings
from podium.tournaments.selection import draw_balanced, generator


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """Play recorded pairings again, for another judge, realization or prompt.

    Attributes:
        battles: the pairings; in Inspect, logs or tables of verdicts that have them.
        sample: number of pairings to play, drawn at random and balanced over pairs of models, then
            over models; all by default.
        seed: seed of the draw; samples of one seed are nested.
    """

    battles: Sequence[Pairing] = ()
    sample: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Raise UsageError for a sample below 1."""
        if self.sample is not None and self.sample < 1:
            raise UsageError(f"sample={self.sample}: give a number of battles, 1 or more")

    @property
    def shows_first(self) -> bool:
        """Whether all pairings fix which response is shown first.

        True if there are no pairings.
        """
        return all(battle.first is not None for battle in self.battles)

    def next(self, field: Field, played: Sequence[Round]) -> NextRound:
        """Return the pairings of this field that were not played yet.

        Raises:
            UsageError: nothing was played, and no recorded pairing is of this field.
        """
        pairings = self._battles_to_play(field)
        if not pairings and not played:
            raise UsageError(
                "no recorded battle is of these models and items: name a log with -T battles=LOG"
            )
        share_text = ""
        if len(pairings) < len(self._sorted_battles):
            share_text = f"{len(pairings):,} of {len(self._sorted_battles):,} "
        return schedule_pairings(field, pairings, played, f"{share_text}recorded battles again")

    def size(self, field: Field) -> int:
        """Return the number of battles."""
        return len(self._battles_to_play(field))

    def rounds(self, field: Field) -> int:  # noqa: ARG002
        """Return 1: all battles are played in one round."""
        return 1

    def _battles_to_play(self, field: Field) -> tuple[Pairing, ...]:
        """Return the recorded pairings of this field, or the sample of them, sorted by key.

        Pairings of other models or items, and those with an absent response, are left out before
        the draw.
        """
        names = {*field.models}
        items = {*field.items}
        possible = []
        for battle in self._sorted_battles:
            is_of_field = battle.item in items and {battle.a, battle.b} <= names
            if is_of_field and field.can_play(battle.item, battle.a, battle.b):
                possible.append(battle)
        if self.sample is None or self.sample >= len(possible):
            return tuple(possible)
        candidates = [(battle, (battle.a, battle.b)) for battle in possible]
        rng = generator(self.seed, "recorded")
        drawn, _ = draw_balanced(candidates, field.models, self.sample, rng, over_pairs=True)
        battles = [battle for battle, _ in drawn]
        return tuple(sorted(battles, key=lambda battle: battle.key))

    @cached_property
    def _sorted_battles(self) -> tuple[Pairing, ...]:
        """The recorded pairings in an order that does not depend on the file."""
        return tuple(sorted(set(self.battles), key=lambda battle: battle.key))
