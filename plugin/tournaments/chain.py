"""Chain: each item plays a random path through all entrants."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from podium.tournaments.schedule import Field, Next, Pairing, Round, pairing, schedule_pairings
from podium.tournaments.selection import draw_items, generator


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Play, on each item, a random path that visits every entrant once.

    It costs M - 1 battles an item for M entrants, as one anchor does; but every pair meets on some items, so nothing
    hangs on the choice of an anchor. An entrant without a response is stepped over on that item.

    Attributes:
        items: how many items, drawn at random; by default all.
        seed: of the paths and of the draw of items. An item's path depends on its id alone, not on other items.
    """

    items: int | None = None
    seed: int = 0

    def next(self, field: Field, played: Sequence[Round]) -> Next:
        """Return the steps of all paths that were not played yet, item after item."""
        items = draw_items(field, self.items, self.seed)
        pairings = [step for item in items for step in self._path(field, item)]
        coming = schedule_pairings(
            field, pairings, played, f"a random path through all entrants on each of {len(items)} items"
        )
        return replace(coming, left_out=len(items) * max(len(field.entrants) - 1, 0) - len(pairings))

    def size(self, field: Field) -> int:
        """Return how many battles there will be."""
        return len(self.next(field, ()).pairings)

    def _path(self, field: Field, item: str) -> Iterator[Pairing]:
        names = sorted(field.entrants)
        visited = [names[k] for k in generator(self.seed, "path", item).permutation(len(names))]
        for a, b in pairwise(name for name in visited if field.can_play(item, name)):
            yield pairing(item, a, b)
