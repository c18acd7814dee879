"""Chain: each item plays a random path through all models."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from podium.data.pairings import Field, NextRound, Pairing, Round, pairing
from podium.tournaments.schedule import schedule_pairings
from podium.tournaments.selection import generator
from podium.tournaments.stopping import Stopping
from podium.wording import quantity


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain(Stopping):
    """Play, on each item, a random path that visits every model once.

    There are M - 1 battles an item for M models, and every pair meets on some items. A model
    without a response to an item is skipped there.
    """

    def next(self, field: Field, played: Sequence[Round]) -> NextRound:
        """Return the pairs of neighbours on all paths that were not played yet.

        With `until`, these are the paths up to the next look. Each model without a response to an
        item makes its path a battle shorter, which counts in `left_out` of the result.

        Raises:
            UsageError: there are too few items or models for the question `until`.
        """
        items, last_look = self.items_to_next_look(field, played)
        paths = {item: [*self._path_of_item(field, item)] for item in items}
        pairings = [step for path in paths.values() for step in path]
        note = (
            f"{last_look}a random path through all models on each of {quantity(len(items), 'item')}"
        )
        coming = schedule_pairings(field, pairings, played, note)
        battles_of_all = max(len(field.models) - 1, 0)
        left_out = {item: battles_of_all - len(path) for item, path in paths.items()}
        return replace(coming, left_out=sum(left_out.values()), left_out_of=left_out)

    def _path_of_item(self, field: Field, item: str) -> Iterator[Pairing]:
        """Yield the battles of an item's path through the models that have a response."""
        names = sorted(field.models)
        rng = generator(self.seed, "path", item)
        visited = [names[k] for k in rng.permutation(len(names))]
        with_response = [name for name in visited if field.can_play(item, name)]
        for a, b in pairwise(with_response):
            yield pairing(item, a, b)
