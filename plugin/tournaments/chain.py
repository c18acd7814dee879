"""Chain: each item plays a random path through all models."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from podium.data.pairings import Field, NextRound, Pairing, Round, pairing
from podium.tournaments.schedule import schedule_pairings
from podium.tournaments.selection import generator
from podium.tournaments.stopping import Stopping


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain(Stopping):
    """Play, on each item, a random path that visits every model once: M - 1 battles an item for M
    models; every pair meets on some items. A model without a response to an item is skipped
    there."""

    def next(self, field: Field, played: Sequence[Round]) -> NextRound:
        """Return the pairs of neighbours on all paths that were not played yet; with `until`, up to
        the next look."""
        items, last_look = self.items_to_next_look(field, played)
        pairings = [step for item in items for step in self._path(field, item)]
        note = f"{last_look}a random path through all models on each of {len(items)} items"
        coming = schedule_pairings(field, pairings, played, note)
        return replace(coming, left_out=len(items) * max(len(field.models) - 1, 0) - len(pairings))

    def _path(self, field: Field, item: str) -> Iterator[Pairing]:
        names = sorted(field.models)
        visited = [names[k] for k in generator(self.seed, "path", item).permutation(len(names))]
        for a, b in pairwise(name for name in visited if field.can_play(item, name)):
            yield pairing(item, a, b)
