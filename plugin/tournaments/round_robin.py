"""Round robin: every pair of models."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

from podium.data.pairings import Field, NextRound, Pairing, Round
from podium.tournaments.chained_pairs import chain_pairs
from podium.tournaments.schedule import schedule_pairings, schedule_pairs
from podium.tournaments.selection import draw_items
from podium.tournaments.stopping import Stopping
from podium.wording import quantity


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundRobin(Stopping):
    """Play every pair of models on every item, or on a sample of the items.

    It costs M (M - 1) / 2 battles an item for M models, and its result depends on no choice (Xu et
    al. 2025, section 3.3). On a sample it is a block design without an anchor.
    """

    def next(self, field: Field, played: Sequence[Round]) -> NextRound:
        """Return all pairs that were not played yet, item after item, in chains (`chain_pairs`).

        With `until`, these are the items up to the next look.

        Raises:
            UsageError: there are too few items or models for the question `until`.
        """
        items, last_look = self.items_to_next_look(field, played)
        pairs = list(chain_pairs(sorted(field.models)))
        note = f"{last_look}all {quantity(len(pairs), 'pair')} on {quantity(len(items), 'item')}"
        if not played:
            return schedule_pairs(field, items, pairs, note)
        pairings = (Pairing(item, a, b) for item in items for a, b in pairs)
        return schedule_pairings(field, pairings, played, note)

    def size(self, field: Field) -> int:
        """Return the maximum number of battles: all pairs on all items that are played.

        A pair without both responses to an item does not count there.
        """
        if field.absent:
            return Stopping.size(self, field)
        return len(draw_items(field, self.items, self.seed)) * comb(len(field.models), 2)
