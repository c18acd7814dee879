"""The study: every anchor, numbers of items, anchors and entrants, tournaments and rankers, over seeds.

Sources: Don-Yehiya et al. 2026, Figures 1, 3, 4 and 7 (anchor, informativeness, number of items, number of anchors);
Xu et al. 2025, Figure 6 (number of entrants).
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from podium.errors import NotIdentifiedError, PodiumError, UsageError
from podium.nouns.battles import Battles
from podium.nouns.ranking import provenance
from podium.plugins.settings import ranker_names, ranker_options
from podium.progress import track
from podium.rankers.intervals import mean_interval
from podium.study.designs import Cell, Draw, Workbench
from podium.study.findings import AnchorProfile, Findings, Point, Spread
from podium.study.yardstick import Yardstick
from podium.text import some
from podium.verbs.rank_battles import rank
from podium.verbs.replays import Recording, divide_options, recording_of

ITEMS = (25, 50, 100, 200, 400, 800)
"""Numbers of items, as far as the record goes."""
TOURNAMENTS = ("round_robin", "anchor", "swim", "chain", "ring")
FEWEST = 3
"""Entrants that a ranking can be right or wrong about in more than one way."""
MEAN_ANCHOR = "anchor, mean of all"
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
    points = _played_points(Workbench(record), yardsticks, settings, sizes, range(seed, seed + seeds), level)
    counts, reference = record.battles.counts(), yardsticks[names[0]].reference
    asked = {"rankers": names, "tournaments": list(tournaments), "items": list(sizes), "seeds": seeds, "seed": seed}
    return Findings(
        reference=gold_name if gold is not None else f"all {counts.battles:,} battles of {most:,} items",
        known=int((~np.isnan(reference)).sum()),
        entrants=len(entrants),
        scales={name: yardstick.scale for name, yardstick in yardsticks.items()},
        level=level,
        anchors=tuple(_anchor_profiles(record.battles, reference, level, seed)),
        points=points,
        whole={"battles": counts.battles, "judged": counts.readable, "calls": counts.presentations, "items": most},
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
    everyone, most = len(field.entrants), len(field.items)
    by_anchor: defaultdict[tuple[str, int], list[np.ndarray]] = defaultdict(list)
    points = []
    for cell in track(list(_cells(settings, field.entrants, sizes, most)), "study"):
        fixed = cell.name == "round_robin" or (cell.name == "anchor" and "anchor" in cell.settings)
        is_certain = fixed and cell.items >= most and cell.entrants >= everyone
        draws = [bench.draw(cell, seed) for seed in (seeds[:1] if is_certain else seeds)]
        for ranker, yardstick in yardsticks.items():
            distances = np.array([yardstick.distance(draw.rows, draw.entrants) for draw in draws])
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
        **{name: getattr(cell, name) for name in ("figure", "design", "entrants", "items", "anchors")},
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


def _refuse_poor_reference(reference: np.ndarray, ranker: str, is_gold: bool, entrants: Sequence[str]) -> None:
    """Refuse a reference that scores fewer than three entrants, or gives all the same."""
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


def _cells(
    settings: Mapping[str, Mapping[str, Any]], entrants: Sequence[str], sizes: Sequence[int], most: int
) -> Iterator[Cell]:
    """Yield every tournament and every anchor on every number of items, and growing numbers drawn at random.

    The latter are of anchors, on all items, and of entrants, in every tournament.
    """
    everyone = len(entrants)
    # The study sets the number of items itself.
    own = {name: {key: value for key, value in of.items() if key != "items"} for name, of in settings.items()}
    for items in [*sizes, most]:
        for name in own:
            label = "anchor, by a pilot" if name == "anchor" and "anchor" not in own[name] else name
            yield Cell("tournament", label, name, items, everyone, own[name])
        for anchor in entrants:
            yield Cell("anchor", anchor, "anchor", items, everyone, {"anchor": (anchor,)})
    for number in range(1, everyone):
        noun = "anchor" if number == 1 else "anchors"
        yield Cell("anchors", f"{number} {noun} at random", "anchor", most, everyone, anchors=number)
    counts = np.linspace(FEWEST, everyone, min(8, everyone - FEWEST + 1)) if sizes else ()
    for number in sorted({round(count) for count in counts}):
        for name in own:
            if name == "anchor":
                yield Cell("entrants", "anchor at random", name, middle_size(sizes), number, anchors=1)
            else:
                yield Cell("entrants", name, name, middle_size(sizes), number, own[name])


def middle_size(sizes: Sequence[int]) -> int:
    """Return the number of items at which designs are shown in detail: the middle one, of two the larger."""
    return sizes[len(sizes) // 2]


def _anchor_profiles(battles: Battles, reference: np.ndarray, level: float, seed: int) -> Iterator[AnchorProfile]:
    """Yield each entrant's place in the reference, and its informativeness as the anchor, the strongest first."""
    try:
        entries = (
            rank(battles, "informativeness", level=level, seed=seed, pool=True, answers=False).standings[0].entries
        )
    except PodiumError:
        entries = ()
    measured = {entry.model: (entry.score, entry.low, entry.high) for entry in entries}
    names, strength = battles.entrants, np.nan_to_num(np.round(reference, 9), nan=-np.inf)
    # Rounding must not make an order of equals.
    for k in sorted(range(len(names)), key=lambda k: (-strength[k], names[k])):
        place = None if np.isnan(reference[k]) else 1 + int(np.sum(reference > reference[k] + LEVEL_WITH))
        yield AnchorProfile(names[k], place, *measured.get(names[k], (None, None, None)))


def _warnings(record: Recording, points: Sequence[Point], gold: Mapping[str, float] | None) -> Iterator[str]:
    if gold is not None and (unknown := [name for name in record.field.entrants if name not in gold]):
        yield f"the gold ranking does not know, so nothing is compared of: {some(unknown)}"
    lost = [f"{p.design}, {p.ranker}, {p.items} items: {p.failed} of {p.seeds}" for p in points if p.failed]
    if lost:
        yield f"no ranking of everyone, so left out of tau and error: {some(lost, '; ', most=5)}"
    yield from record.gaps()
