"""The study: every anchor, numbers of items, anchors and entrants, tournaments and rankers, over seeds.

Sources: Don-Yehiya et al. 2026, Figures 1, 3, 4 and 7 (anchor, informativeness, number of items, number of anchors);
Xu et al. 2025, Figure 6 (number of entrants).
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from podium.battles import Battles
from podium.errors import NotIdentifiedError, PodiumError, UsageError
from podium.plugins.settings import ranker_names, ranker_options
from podium.progress import track
from podium.rank_battles import rank
from podium.rankers.intervals import mean_interval
from podium.ranking import provenance
from podium.replays import Recording, divide_options, recording_of
from podium.study.designs import Cell, Draw, Workbench
from podium.study.findings import AnchorProfile, Findings, Point, Spread
from podium.study.yardstick import Yardstick
from podium.text import some

ITEMS = (25, 50, 100, 200, 400, 800)
"""Numbers of items, as far as the record goes."""
TOURNAMENTS = ("round_robin", "anchor", "swim", "chain")
FEWEST = 3
"""Entrants that a ranking can be right or wrong about in more than one way."""
LEVEL_WITH = 1e-9
"""Spread of scores below which all are the same."""


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
        seeds: how many seeds, counted from `seed`; each draws items, anchors and entrants anew.
        seed: the first.
        level: of Monte-Carlo intervals over seeds, in (0, 1).
        gold: scores of a gold ranking; by default each ranker's scores of the whole record.
        gold_scale: of those; rating errors are given for rankers of the same scale only.
        gold_name: what to call it.
        pool: take the verdicts of several judges together.
        **options: of the tournaments and rankers; `name.option` (through a dict) reaches one of them only.

    Raises:
        UsageError: an unknown name or option, or a number of items that the record does not have.
        NotIdentifiedError: several judges, no items, too few entrants, or the whole record cannot be ranked.
    """
    record = recording_of(battles, pool=pool)
    entrants, most = record.field.entrants, len(record.field.items)
    if len(entrants) < FEWEST:
        raise NotIdentifiedError(f"a study needs at least {FEWEST} entrants; the record has {len(entrants)}")
    if seeds < 1:
        raise UsageError(f"seeds={seeds}: a study needs at least one")
    names = ranker_names(rankers)
    sizes = _sizes(items, most)
    settings, others = divide_options(options, tournaments, names)
    if any("seed" in own for own in settings.values()):
        raise UsageError("a study counts its seeds from --seed; leave out the option seed")
    scores = None if gold is None else np.array([gold.get(name, np.nan) for name in entrants], dtype=np.float64)
    yardsticks = {
        name: Yardstick(record.battles, name, own, gold=scores, gold_scale=gold_scale)
        for name, own in ranker_options(names, others).items()
    }
    for name, yardstick in yardsticks.items():
        _refuse_poor_reference(yardstick.reference, name, gold is not None, entrants)
    laboratory = _Laboratory(Workbench(record), yardsticks, range(seed, seed + seeds), level)
    cells = [*_by_design(settings, entrants, sizes, most), *_by_anchors(entrants, most)]
    cells += [*_by_entrants(settings, len(entrants), sizes)]
    points = [point for cell in track(cells, "study") for point in laboratory.points(cell)]
    points += laboratory.mean_anchor([*sizes, most], len(entrants))
    counts, reference = record.battles.counts(), yardsticks[names[0]].reference
    asked = {"rankers": names, "tournaments": list(tournaments), "items": list(sizes), "seeds": seeds, "seed": seed}
    return Findings(
        reference=gold_name if gold is not None else f"all {counts.battles:,} battles of {most:,} items",
        known=int((~np.isnan(reference)).sum()),
        entrants=len(entrants),
        scales={name: yardstick.scale for name, yardstick in yardsticks.items()},
        level=level,
        anchors=tuple(_anchor_profiles(record.battles, reference, level, seed)),
        points=tuple(points),
        whole={"battles": counts.battles, "judged": counts.readable, "calls": counts.presentations, "items": most},
        provenance=provenance(record.battles.sources, {**asked, **options}),
        warnings=tuple(_warnings(record, points, gold)),
    )


class _Laboratory:
    """Plays cells and compares; what was compared stays known, seed by seed, for means over anchors."""

    def __init__(
        self, bench: Workbench, yardsticks: Mapping[str, Yardstick], seeds: Sequence[int], level: float
    ) -> None:
        self.bench = bench
        self.yardsticks = yardsticks
        self.seeds = seeds
        self.level = level
        self.by_anchor: dict[tuple[str, int], list[np.ndarray]] = {}

    def points(self, cell: Cell) -> Iterator[Point]:
        """Play a cell with all seeds; once where nothing is left to chance."""
        seeds = self.seeds[:1] if self._is_certain(cell) else self.seeds
        draws = [self.bench.draw(cell, seed) for seed in seeds]
        for ranker, yardstick in self.yardsticks.items():
            distances = np.array([yardstick.distance(draw.rows, draw.entrants) for draw in draws])
            if cell.figure == "anchor":
                self.by_anchor.setdefault((ranker, cell.items), []).append(distances)
            yield _point(cell, ranker, draws, distances, self.level)

    def mean_anchor(self, sizes: Sequence[int], entrants: int) -> Iterator[Point]:
        """Yield, for each number of items, the mean over all anchors, averaged seed by seed (Figure 4)."""
        for items in sizes:
            cell = Cell("tournament", "anchor, mean of all", "anchor", items, entrants)
            for ranker in self.yardsticks:
                distances = np.mean(self.by_anchor[ranker, items], axis=0)
                yield _point(cell, ranker, [], distances, self.level)

    def _is_certain(self, cell: Cell) -> bool:
        whole = self.bench.record.field
        everyone = cell.items >= len(whole.items) and cell.entrants >= len(whole.entrants)
        fixed = cell.name == "round_robin" or (cell.name == "anchor" and "anchor" in cell.settings)
        return everyone and fixed and cell.anchors is None


def _point(cell: Cell, ranker: str, draws: Sequence[Draw], distances: np.ndarray, level: float) -> Point:
    """Summarise a cell.

    Args:
        distances: tau and error of each seed, shape (seeds, 2).
    """
    ranked = ~np.isnan(distances[:, 0])
    return Point(
        figure=cell.figure,
        design=cell.design,
        entrants=cell.entrants,
        items=cell.items,
        anchors=cell.anchors,
        ranker=ranker,
        battles=_mean([draw.battles for draw in draws]),
        calls=_mean([draw.calls for draw in draws]),
        missing=_mean([draw.missing for draw in draws]),
        tau=spread_of(distances[ranked, 0], level, bounds=(-1, 1)),
        error=spread_of(distances[ranked, 1], level, bounds=(0, np.inf)),
        seeds=len(distances),
        failed=int((~ranked).sum()),
    )


def spread_of(values: np.ndarray, level: float, bounds: tuple[float, float]) -> Spread | None:
    """Return the mean over seeds with its Monte-Carlo standard error and t interval; None without a value.

    Args:
        values: one per seed, shape (n,); all NaN where nothing can be compared.
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
    """Return the numbers of items below all of them, ascending.

    Raises:
        UsageError: more than there are.
    """
    large = [number for number in items if number > most]
    if large:
        raise UsageError(f"items={large[0]}: the record has {most:,}")
    return tuple(sorted({number for number in (items or ITEMS) if number < most}))


def _refuse_poor_reference(reference: np.ndarray, ranker: str, is_gold: bool, entrants: Sequence[str]) -> None:
    """Refuse a reference that orders nobody.

    Raises:
        NotIdentifiedError: fewer than three entrants have a score to compare with, or all have the same.
    """
    number = int((~np.isnan(reference)).sum())
    if number < FEWEST:
        what = "the gold ranking scores" if is_gold else f"{ranker} scores, from the whole record,"
        raise NotIdentifiedError(
            f"{what} {number} of the record's {len(entrants)} entrants: a study needs {FEWEST} to compare; "
            f"entrants: {some(entrants)}"
        )
    if np.nanmax(reference) - np.nanmin(reference) < LEVEL_WITH:
        what = "the gold ranking" if is_gold else f"{ranker}, from the whole record,"
        raise NotIdentifiedError(f"{what} puts all entrants level: no order is there for a study to find again")


def _by_design(
    settings: Mapping[str, Mapping[str, Any]], entrants: Sequence[str], sizes: Sequence[int], most: int
) -> Iterator[Cell]:
    """Yield every tournament and every anchor on every number of items (Figures 1, 3, 4)."""
    for items in [*sizes, most]:
        for name, own in settings.items():
            label = "anchor, by a pilot" if name == "anchor" and "anchor" not in own else name
            yield Cell("tournament", label, name, items, len(entrants), _without_items(own))
        for anchor in entrants:
            yield Cell("anchor", anchor, "anchor", items, len(entrants), {"anchor": (anchor,)})


def _by_anchors(entrants: Sequence[str], most: int) -> Iterator[Cell]:
    """Yield growing numbers of anchors, drawn at random, on all items (Figure 7)."""
    for number in range(1, len(entrants)):
        noun = "anchor" if number == 1 else "anchors"
        yield Cell("anchors", f"{number} {noun} at random", "anchor", most, len(entrants), anchors=number)


def _by_entrants(settings: Mapping[str, Mapping[str, Any]], most: int, sizes: Sequence[int]) -> Iterator[Cell]:
    """Yield growing numbers of entrants, drawn at random, in every tournament (SWIM, Figure 6)."""
    if not sizes:
        return
    items = middle_size(sizes)
    numbers = sorted({round(number) for number in np.linspace(FEWEST, most, min(8, most - FEWEST + 1))})
    for number in numbers:
        for name, own in settings.items():
            if name == "anchor":
                yield Cell("entrants", "anchor at random", name, items, number, anchors=1)
            else:
                yield Cell("entrants", name, name, items, number, _without_items(own))


def middle_size(sizes: Sequence[int]) -> int:
    """Return the number of items at which designs are shown in detail: the middle one, of two the larger."""
    return sizes[len(sizes) // 2]


def _without_items(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings but the number of items, which the study sets."""
    return {name: value for name, value in settings.items() if name != "items"}


def _anchor_profiles(battles: Battles, reference: np.ndarray, level: float, seed: int) -> Iterator[AnchorProfile]:
    """Yield each entrant's place in the reference, and its informativeness as the anchor, the strongest first."""
    try:
        entries = rank(battles, "informativeness", level=level, seed=seed, pool=True).standings[0].entries
    except PodiumError:
        entries = ()
    measured = {entry.model: (entry.score, entry.low, entry.high) for entry in entries}
    names = battles.entrants
    for k in sorted(range(len(names)), key=lambda k: (-np.nan_to_num(reference[k], nan=-np.inf), names[k])):
        place = None if np.isnan(reference[k]) else 1 + int(np.sum(reference > reference[k] + LEVEL_WITH))
        yield AnchorProfile(names[k], place, *measured.get(names[k], (None, None, None)))


def _warnings(record: Recording, points: Sequence[Point], gold: Mapping[str, float] | None) -> Iterator[str]:
    if gold is not None and (unknown := [name for name in record.field.entrants if name not in gold]):
        yield f"the gold ranking does not know, so nothing is compared of: {some(unknown)}"
    lost = [f"{p.design}, {p.ranker}, {p.items} items: {p.failed} of {p.seeds}" for p in points if p.failed]
    if lost:
        yield f"no ranking of everyone, so left out of tau and error: {some(lost, '; ', most=5)}"
    yield from record.gaps()


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None
