"""The study: every anchor, numbers of items, anchors and models, tournaments and rankers, over seeds.

Sources: Don-Yehiya et al. 2026, Figures 1, 3, 4 and 7 (anchor, informativeness, number of items, number of anchors);
Xu et al. 2025, Figure 6 (number of models).
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from podium.errors import NotIdentifiedError, PodiumError, UsageError
from podium.nouns.battles import Battles
from podium.nouns.ranking import provenance
from podium.plugins.catalogue import make_tournament
from podium.plugins.settings import ranker_names, ranker_options
from podium.progress import track
from podium.rankers.intervals import mean_interval
from podium.rankers.standings import rank_of
from podium.study.findings import AnchorProfile, Findings, Point, Spread
from podium.study.yardstick import Yardstick, seeds_from
from podium.text import some
from podium.tournaments.anchor import AUTO
from podium.tournaments.schedule import Field
from podium.tournaments.selection import draw_items, draw_names, parse_model_names
from podium.verbs.rank_battles import rank
from podium.verbs.replays import Recording, asks_order, divide_options, play, recording_of, seed_settings

ITEMS = (25, 50, 100, 200, 400, 800)
"""Numbers of items, as far as the record goes."""
TOURNAMENTS = ("round_robin", "anchor", "swim", "chain", "ring")
FEWEST = 3
"""Models that a ranking can be right or wrong about in more than one way."""
MEAN_ANCHOR = "anchor, mean of all"


@dataclass(frozen=True, slots=True)
class Cell:
    """One design in one setting, to be played with many seeds: a tournament by name, and what to call it.

    Attributes:
        figure: `anchor`, `tournament`, `anchors` or `models`.
        items, models: how many are drawn.
        settings: options of the tournament, without the seed.
        anchors: how many are drawn, where anchors are drawn at random; else None.
    """

    figure: str
    design: str
    name: str
    items: int
    models: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    anchors: int | None = None


@dataclass(frozen=True, slots=True)
class Draw:
    """What a cell plays with one seed: a mask of the record's rows, and the positions of those who take part.

    Battles are those asked for, calls the recorded ones for them, missing those not on record.
    """

    rows: np.ndarray
    models: np.ndarray
    battles: int
    calls: int
    missing: int


class Workbench:
    """Plays cells on a record: by masks where the schedule needs no verdicts, else as the tournament goes."""

    def __init__(self, record: Recording) -> None:
        table, whole = record.battles.table, record.field
        self.record = record
        self.a, self.b = record.battles.model_codes
        self.place = {name: k for k, name in enumerate(whole.items)}
        # Rows without an item have the code -1: the last place, which is that of no item.
        places = np.array([self.place.get(name, -1) for name in table["item"].cat.categories] + [-1])
        self.item = places[table["item"].cat.codes]
        self._sizes: dict[tuple[Any, ...], int] = {}

    @cached_property
    def judgments(self) -> Recording:
        """The record with its two orders apart."""
        return recording_of(self.record.battles, pool=True, by_order=True)

    def draw(self, cell: Cell, seed: int) -> Draw:
        """Return what a cell plays with a seed; items and models of one seed are nested and shared by all cells."""
        whole = self.record.field
        names = tuple(sorted(draw_names(whole.models, cell.models, seed, "models")))
        part = Field(names, draw_items(whole, cell.items, seed), {})
        taking = np.isin(whole.models, names)
        settings = dict(cell.settings)
        if cell.anchors is not None:
            settings["anchor"] = tuple(sorted(draw_names(names, cell.anchors, seed, "anchors")))
        if is_fixed(cell.name, settings):
            return self._draw_by_mask(cell, settings, part, taking)
        tournament = make_tournament(cell.name, seed_settings(cell.name, settings, seed))
        record = self.judgments if asks_order(tournament) else self.record
        played = play(tournament, replace(record, field=part))
        price = played.price
        return Draw(played.rows, np.flatnonzero(taking), price.battles, price.calls, price.missing)

    def _draw_by_mask(self, cell: Cell, settings: Mapping[str, Any], part: Field, taking: np.ndarray) -> Draw:
        """Return the rows of all pairs, or of all pairs with an anchor, on the items."""
        # One more than there are items: rows without an item have the place -1, and are never played.
        within = np.zeros(len(self.place) + 1, dtype=bool)
        within[[self.place[name] for name in part.items]] = True
        rows = within[self.item] & taking[self.a] & taking[self.b]
        anchors = parse_model_names(settings["anchor"], part.models) if cell.name == "anchor" else ()
        if anchors:
            is_anchor = np.isin(self.record.field.models, anchors)
            rows &= is_anchor[self.a] | is_anchor[self.b]
        codes = np.unique(self.record.code_of_row[rows])
        # How many battles the tournament counts depends on numbers only, so it is asked once.
        key = (cell.name, len(part.models), len(part.items), len(anchors))
        if key not in self._sizes:
            self._sizes[key] = make_tournament(cell.name, settings).size(part)
        calls, missing = int(self.record.calls[codes].sum()), self._sizes[key] - len(codes)
        return Draw(rows, np.flatnonzero(taking), self._sizes[key], calls, missing)


def is_fixed(name: str, settings: Mapping[str, Any]) -> bool:
    """Tell whether a tournament plays the same pairs on all its items, whatever verdicts and seed are."""
    is_given = name == "round_robin" or (name == "anchor" and settings.get("anchor", AUTO) != AUTO)
    return is_given and not settings.get("until")


def run_study(
    battles: Battles | pd.DataFrame | str | Path,
    rankers: str | Sequence[str] = ("bradley-terry", "win-rate"),
    *,
    tournaments: Sequence[str] = TOURNAMENTS,
    items: Sequence[int] = (),
    seeds: int = 20,
    seed: int = 0,
    level: float = 0.95,
    gold: Mapping[str, float] | None = None,
    gold_scale: str = "elo",
    gold_name: str = "gold",
    pool: bool = False,
    **options: Any,
) -> Findings:
    """Replay designs on a record with many seeds, and compare each ranking with the whole record's, or a gold one.

    Args:
        battles: from `read_battles`; or what it reads: a data frame, or a path.
        rankers: names, as a sequence or separated by commas.
        tournaments: that are set beside each other.
        items: numbers of items; by default 25, 50, 100 ... as far as the record goes. All items come in addition.
        seeds: how many seeds, counted from `seed`; each draws items, anchors and models anew.
        seed: the first.
        level: of Monte-Carlo intervals over seeds, in (0, 1).
        gold: scores of a gold ranking; by default each ranker's scores of the whole record.
        gold_scale: of those; rating errors are given for rankers of the same scale only.
        gold_name: what to call it.
        pool: take the verdicts of several judges together.
        **options: of the tournaments and rankers; `name.option` (through a dict) reaches one of them only.

    Raises:
        UsageError: an unknown name or option, or a number of items that the record does not have.
        NotIdentifiedError: several judges, no items, too few models, or the whole record cannot be ranked.
    """
    record = recording_of(battles, pool=pool)
    models, most = record.field.models, len(record.field.items)
    if len(models) < FEWEST:
        raise NotIdentifiedError(f"a study needs at least {FEWEST} models; the record has {len(models)}")
    names = ranker_names(rankers)
    sizes = _sizes(items, most)
    settings, others = divide_options(options, tournaments, names)
    all_seeds = seeds_from(seed, seeds, settings)
    scores = None if gold is None else np.array([gold.get(name, np.nan) for name in models], dtype=np.float64)
    yardsticks = {
        name: Yardstick(record.battles, name, own, gold=scores, gold_scale=gold_scale)
        for name, own in ranker_options(names, others).items()
    }
    for name, yardstick in yardsticks.items():
        _refuse_poor_reference(yardstick, name, gold is not None, models)
    points = _played_points(Workbench(record), yardsticks, settings, sizes, all_seeds, level)
    counts, reference = record.battles.counts(), yardsticks[names[0]].reference
    asked = {"rankers": names, "tournaments": list(tournaments), "items": list(sizes), "seeds": seeds, "seed": seed}
    return Findings(
        reference=gold_name if gold is not None else f"all {counts.battles:,} battles of {most:,} items",
        known=len(yardsticks[names[0]].places),
        models=len(models),
        scales={name: yardstick.scale for name, yardstick in yardsticks.items()},
        level=level,
        anchors=tuple(_anchor_profiles(record.battles, reference, level, seed)),
        points=points,
        whole={"battles": counts.battles, "judged": counts.readable, "calls": counts.judgments, "items": most},
        provenance=provenance(record.battles.sources, {**asked, **options}),
        warnings=tuple(_warnings(record, points, gold)),
    )


def _played_points(
    bench: Workbench,
    yardsticks: Mapping[str, Yardstick],
    settings: Mapping[str, Mapping[str, Any]],
    sizes: Sequence[int],
    seeds: Sequence[int],
    level: float,
) -> tuple[Point, ...]:
    """Play all cells with all seeds, once where nothing is left to chance, and compare what they find."""
    field = bench.record.field
    everyone, most = len(field.models), len(field.items)
    by_anchor: defaultdict[tuple[str, int], list[np.ndarray]] = defaultdict(list)
    points = []
    for cell in track(list(_cells(settings, field.models, sizes, most)), "study"):
        is_certain = is_fixed(cell.name, cell.settings) and cell.items >= most and cell.models >= everyone
        draws = [bench.draw(cell, seed) for seed in (seeds[:1] if is_certain else seeds)]
        for ranker, yardstick in yardsticks.items():
            distances = np.array([yardstick.distance(draw.rows, draw.models) for draw in draws])
            points.append(_point(cell, ranker, draws, distances, level))
            if cell.figure == "anchor":
                by_anchor[ranker, cell.items].append(distances)
    # The mean over all anchors, averaged seed by seed (Figure 4).
    for items in [*sizes, most]:
        cell = Cell("tournament", MEAN_ANCHOR, "anchor", items, everyone)
        points += [_point(cell, own, [], np.mean(by_anchor[own, items], axis=0), level) for own in yardsticks]
    return tuple(points)


def _point(cell: Cell, ranker: str, draws: Sequence[Draw], distances: np.ndarray, level: float) -> Point:
    """Summarise a cell, given tau and error of each seed, shape (seeds, 2)."""
    ranked = ~np.isnan(distances[:, 0])
    costs: dict[str, Any] = {
        name: float(np.mean([getattr(draw, name) for draw in draws])) if draws else None
        for name in ("battles", "calls", "missing")
    }
    return Point(
        **{name: getattr(cell, name) for name in ("figure", "design", "models", "items", "anchors")},
        ranker=ranker,
        **costs,
        tau=spread_of(distances[ranked, 0], level, bounds=(-1, 1)),
        error=spread_of(distances[ranked, 1], level, bounds=(0, np.inf)),
        seeds=len(distances),
        failed=int((~ranked).sum()),
    )


def spread_of(values: np.ndarray, level: float, bounds: tuple[float, float]) -> Spread | None:
    """Return the mean over seeds with its Monte-Carlo standard error and t interval; None without a value, or with NaN.

    Args:
        values: one per seed, shape (n,).
        bounds: that the interval is clipped to.
    """
    if not len(values) or np.isnan(values).any():
        return None
    mean, low, high = mean_interval(values, level)
    if low is None or high is None:
        return Spread(mean, None, None, None)
    se = float(values.std(ddof=1) / np.sqrt(len(values)))
    return Spread(mean, se, max(low, bounds[0]), min(high, bounds[1]))


def _sizes(items: Sequence[int], most: int) -> tuple[int, ...]:
    """Return the numbers of items below all of them, ascending; refuse more than there are."""
    large = [number for number in items if number > most]
    if large:
        raise UsageError(f"items={large[0]}: the record has {most:,}")
    return tuple(sorted({number for number in (items or ITEMS) if number < most}))


def _refuse_poor_reference(yardstick: Yardstick, ranker: str, is_gold: bool, models: Sequence[str]) -> None:
    """Refuse a reference that scores fewer than three models, or gives all the same."""
    number = len(yardstick.places)
    if number < FEWEST:
        what = "the gold ranking scores" if is_gold else f"{ranker} scores, from the whole record,"
        raise NotIdentifiedError(
            f"{what} {number} of the record's {len(models)} models: a study needs {FEWEST} to compare; "
            f"models: {some(models)}"
        )
    yardstick.refuse_level("the gold ranking" if is_gold else f"{ranker}, from the whole record,")


def _cells(
    settings: Mapping[str, Mapping[str, Any]], models: Sequence[str], sizes: Sequence[int], most: int
) -> Iterator[Cell]:
    """Yield every tournament and every anchor on every number of items, and growing numbers drawn at random.

    The latter are of anchors, on all items, and of models, in every tournament.
    """
    everyone = len(models)
    # The study sets the number of items itself.
    own = {name: {key: value for key, value in of.items() if key != "items"} for name, of in settings.items()}
    for items in [*sizes, most]:
        for name in own:
            label = "anchor, by a pilot" if name == "anchor" and own[name].get("anchor", AUTO) == AUTO else name
            yield Cell("tournament", label, name, items, everyone, own[name])
        for anchor in models:
            yield Cell("anchor", anchor, "anchor", items, everyone, {"anchor": (anchor,)})
    for number in range(1, everyone):
        noun = "anchor" if number == 1 else "anchors"
        yield Cell("anchors", f"{number} {noun} at random", "anchor", most, everyone, anchors=number)
    counts = np.linspace(FEWEST, everyone, min(8, everyone - FEWEST + 1)) if sizes else ()
    for number in sorted({round(count) for count in counts}):
        for name in own:
            if name == "anchor":
                yield Cell("models", "anchor at random", name, middle_size(sizes), number, anchors=1)
            else:
                yield Cell("models", name, name, middle_size(sizes), number, own[name])


def middle_size(sizes: Sequence[int]) -> int:
    """Return the number of items at which designs are shown in detail: the middle one, of two the larger."""
    return sizes[len(sizes) // 2]


def _anchor_profiles(battles: Battles, reference: np.ndarray, level: float, seed: int) -> Iterator[AnchorProfile]:
    """Yield each model's place in the reference, and its informativeness as the anchor, the strongest first."""
    measured = {}
    with suppress(PodiumError):
        ranking = rank(battles, "informativeness", level=level, seed=seed, pool=True, answers=False)
        measured = {entry.model: (entry.score, entry.low, entry.high) for entry in ranking.standings[0].entries}
    names, strength = battles.models, np.nan_to_num(np.round(reference, 9), nan=-np.inf)
    # Rounding must not make an order of equals.
    for k in sorted(range(len(names)), key=lambda k: (-strength[k], names[k])):
        place = None if np.isnan(reference[k]) else rank_of(reference, k)
        yield AnchorProfile(names[k], place, *measured.get(names[k], (None, None, None)))


def _warnings(record: Recording, points: Sequence[Point], gold: Mapping[str, float] | None) -> Iterator[str]:
    if gold is not None and (unknown := [name for name in record.field.models if name not in gold]):
        yield f"the gold ranking does not know, so nothing is compared of: {some(unknown)}"
    lost = [f"{p.design}, {p.ranker}, {p.items} items: {p.failed} of {p.seeds}" for p in points if p.failed]
    if lost:
        yield f"no ranking of everyone, so left out of tau and error: {some(lost, '; ', most=5)}"
    yield from record.gaps()
