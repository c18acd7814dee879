"""Designs of a study, and which rows of the record each plays."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from podium.plugins.catalogue import make_tournament
from podium.tournaments.schedule import Field
from podium.tournaments.selection import draw_items, draw_names
from podium.verbs.replays import Recording, asks_order, play, recording_of, seed_settings


@dataclass(frozen=True, slots=True)
class Cell:
    """One design in one setting, to be played with many seeds: a tournament by name, and what to call it.

    Attributes:
        figure: `anchor`, `tournament`, `anchors` or `entrants`.
        items, entrants: how many are drawn.
        settings: options of the tournament, without the seed.
        anchors: how many are drawn, where anchors are drawn at random; else None.
    """

    figure: str
    design: str
    name: str
    items: int
    entrants: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    anchors: int | None = None


@dataclass(frozen=True, slots=True)
class Draw:
    """What a cell plays with one seed: a mask of the record's rows, and the positions of those who take part.

    Battles are those asked for, calls the recorded ones for them, missing those not on record.
    """

    rows: np.ndarray
    entrants: np.ndarray
    battles: int
    calls: int
    missing: int


class Workbench:
    """Plays cells on a record: by masks where the schedule needs no verdicts, else as the tournament goes."""

    def __init__(self, record: Recording) -> None:
        table, whole = record.battles.table, record.field
        self.record = record
        self.a, self.b = (table[side].cat.codes.to_numpy() for side in ("model_a", "model_b"))
        self.place = {name: k for k, name in enumerate(whole.items)}
        # Rows without an item have the code -1: the last place, which is that of no item.
        places = np.array([self.place.get(name, -1) for name in table["item"].cat.categories] + [-1])
        self.item = places[table["item"].cat.codes]
        self._sizes: dict[tuple[Any, ...], int] = {}

    @cached_property
    def presentations(self) -> Recording:
        """The record with its two orders apart."""
        return recording_of(self.record.battles, pool=True, by_order=True)

    def draw(self, cell: Cell, seed: int) -> Draw:
        """Return what a cell plays with a seed; items and entrants of one seed are nested and shared by all cells."""
        whole = self.record.field
        names = tuple(sorted(draw_names(whole.entrants, cell.entrants, seed, "entrants")))
        part = Field(names, draw_items(whole, cell.items, seed), {})
        taking = np.isin(whole.entrants, names)
        settings = dict(cell.settings)
        if cell.anchors is not None:
            settings["anchor"] = tuple(sorted(draw_names(names, cell.anchors, seed, "anchors")))
        if cell.name == "round_robin" or (cell.name == "anchor" and settings.get("anchor", "auto") != "auto"):
            return self._draw_by_mask(cell, settings, part, taking)
        tournament = make_tournament(cell.name, seed_settings(cell.name, settings, seed))
        record = self.presentations if asks_order(tournament) else self.record
        played = play(tournament, replace(record, field=part))
        price = played.price
        return Draw(played.rows, np.flatnonzero(taking), price.battles, price.calls, price.missing)

    def _draw_by_mask(self, cell: Cell, settings: Mapping[str, Any], part: Field, taking: np.ndarray) -> Draw:
        """Return the rows of all pairs, or of all pairs with an anchor, on the items."""
        # One more than there are items: rows without an item have the place -1, and are never played.
        within = np.zeros(len(self.place) + 1, dtype=bool)
        within[[self.place[name] for name in part.items]] = True
        rows = within[self.item] & taking[self.a] & taking[self.b]
        anchors = np.atleast_1d(settings["anchor"]) if cell.name == "anchor" else np.array([])
        if cell.name == "anchor":
            is_anchor = np.isin(self.record.field.entrants, anchors)
            rows &= is_anchor[self.a] | is_anchor[self.b]
        codes = np.unique(self.record.code_of_row[rows])
        # How many battles the tournament counts depends on numbers only, so it is asked once.
        key = (cell.name, len(part.entrants), len(part.items), len(anchors))
        if key not in self._sizes:
            self._sizes[key] = make_tournament(cell.name, settings).size(part)
        calls, missing = int(self.record.calls[codes].sum()), self._sizes[key] - len(codes)
        return Draw(rows, np.flatnonzero(taking), self._sizes[key], calls, missing)
