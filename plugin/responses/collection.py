"""Responses of several entrants to the same items, and what is missing."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from podium.errors import UsageError, find_name
from podium.responses.answers import ABSENT
from podium.text import some
from podium.tournaments.schedule import Field


@dataclass(frozen=True, slots=True)
class Item:
    """One instruction.

    Attributes:
        id: its name.
        instruction: what entrants were asked.
        category: slice label, or None.
        reference: an answer that is known to be right, or None.
        system: the system prompt that entrants were given, or None.
        media: images, audio and the like that belong to the instruction, as the host's JSON, or None.
    """

    id: str
    instruction: str
    category: str | None = None
    reference: str | None = None
    system: str | None = None
    media: str | None = None


@dataclass(frozen=True, slots=True)
class Responses:
    """What entrants answered. Every entrant has, for every item, either a text or a reason why there is none.

    Attributes:
        items: in their own order.
        texts: the responses, by entrant and item.
        missing: why there is no response to judge, by entrant and item: `no response`, `empty response`, `errored`.
        sources: the files, sorted.
        notes: warnings made while reading.
        tasks: of Inspect that the items are of, sorted.
    """

    items: tuple[Item, ...]
    texts: Mapping[str, Mapping[str, str]]
    missing: Mapping[str, Mapping[str, str]]
    sources: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()

    def __repr__(self) -> str:
        lost = sum(map(len, self.missing.values()))
        return f"Responses({len(self.entrants)} entrants, {len(self.items)} items, {lost} missing)"

    @property
    def entrants(self) -> tuple[str, ...]:
        """Names, sorted."""
        return tuple(sorted(self.texts))

    @property
    def categories(self) -> tuple[str, ...]:
        """Names of the categories, sorted."""
        return tuple(sorted({item.category for item in self.items if item.category is not None}))

    def by_id(self) -> dict[str, Item]:
        """Return the items by their ids."""
        return {item.id: item for item in self.items}

    def field(self) -> Field:
        """Return who can play what."""
        items = tuple(item.id for item in self.items)
        absent = {item: frozenset(name for name in self.entrants if item in self.missing[name]) for item in items}
        return Field(self.entrants, items, {item: names for item, names in absent.items() if names})

    def missing_reasons(self) -> dict[str, dict[str, int]]:
        """Count what is missing, by entrant and reason; entrants that miss nothing are left out."""
        counted = {name: dict(sorted(Counter(self.missing[name].values()).items())) for name in self.entrants}
        return {name: reasons for name, reasons in counted.items() if reasons}

    def digest(self) -> str:
        """Return a hash of all that a judge could be shown, the same in whatever order files and rows were read."""
        shown = [[item.id, item.instruction, item.reference, item.system, item.media] for item in self.items]
        items = sorted(fields if fields[-1] else fields[:-1] for fields in shown)
        said = [[name, sorted(self.texts[name].items()), sorted(self.missing[name].items())] for name in self.entrants]
        return hashlib.sha256(json.dumps([items, said]).encode("ascii")).hexdigest()

    def only(self, entrants: Sequence[str]) -> "Responses":
        """Keep some entrants.

        Raises:
            UsageError: an entrant that is not there; the nearest is suggested.
        """
        kept = sorted({find_name("entrant", name, self.texts) for name in entrants})
        return replace(
            self,
            texts={name: self.texts[name] for name in kept},
            missing={name: self.missing[name] for name in kept},
        )

    def select(
        self,
        *,
        limit: int | None = None,
        category: str | Sequence[str] | None = None,
        seed: int | None = None,
        answered_by: str | None = None,
    ) -> "Responses":
        """Keep some items, in their own order.

        Args:
            limit: how many at most: the first ones, or drawn at random where a seed is given.
            category: only items of this category, or of these.
            answered_by: only items of which this entrant's files hold a row, however many others were asked.
            seed: of the draw; the same seed draws the same items, in whatever order files and rows were read.

        Raises:
            UsageError: a limit below one, a category that no item has, or an entrant that is not there.
        """
        if limit is not None and limit < 1:
            raise UsageError(f"limit={limit}: give a number of items, 1 or more")
        categories = [category] if isinstance(category, str) else category
        items = self.items if categories is None else self._items_in(categories)
        if answered_by is not None:
            missing = self.missing[find_name("entrant", answered_by, self.texts)]
            items = tuple(item for item in items if missing.get(item.id) != ABSENT)
        if limit is not None and limit < len(items):
            items = items[:limit] if seed is None else _draw_items(items, limit, seed)
        kept = {item.id for item in items}
        return replace(self, items=items, texts=_cells_of(kept, self.texts), missing=_cells_of(kept, self.missing))

    def _items_in(self, categories: Sequence[str]) -> tuple[Item, ...]:
        for name in categories:
            if name not in self.categories:
                known = some(self.categories) or "none: no source says any"
                raise UsageError(f"no item has category {name!r}; categories: {known}")
        return tuple(item for item in self.items if item.category in categories)


def _cells_of(items: set[str], cells: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    return {name: {item: text for item, text in row.items() if item in items} for name, row in cells.items()}


def _draw_items(items: Sequence[Item], limit: int, seed: int) -> tuple[Item, ...]:
    """Draw items at random; which ones depends on their ids and the seed alone."""
    import numpy as np

    ids = sorted(item.id for item in items)
    drawn = {ids[k] for k in np.random.default_rng(seed).permutation(len(ids))[:limit]}
    return tuple(item for item in items if item.id in drawn)
