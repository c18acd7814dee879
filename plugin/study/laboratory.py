"""The study: every anchor, numbers of items, anchors and entrants, tournaments and rankers, over seeds.

Sources: Don-Yehiya et al. 2026, Figures 1, 3, 4 and 7 (anchor, informativeness, number of items, number of anchors);
Xu et al. 2025, Figure 6 (number of entrants).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit
from scipy.stats import kendalltau

from podium.battles import Battles
from podium.errors import NotIdentifiedError, PodiumError, UsageError
from podium.plugins import catalogue
from podium.plugins.settings import options_of, ranker_names, ranker_options
from podium.progress import track
from podium.rank_battles import rank
from podium.ranking import provenance
from podium.replays import divide_options, recording_of
from podium.study.designs import Bench, Cell, Drawn
from podium.study.findings import Anchored, Findings, Point, Spread
from podium.study.scoring import Scorer, scorer
from podium.text import some

ITEMS = (25, 50, 100, 200, 400, 800)
"""Numbers of items, as far as the record goes."""
TOURNAMENTS = ("round_robin", "anchor", "swim", "chain")
FEWEST = 3
"""Entrants that a ranking can be right or wrong about in more than one way."""
LEVEL_WITH = 1e-9
"""Spread of scores below which all are the same."""


@dataclass(frozen=True, slots=True)
class Reference:
    """What rankings are compared with.

    Attributes:
        scores: of each entrant of the record, NaN where it has none, shape (entrants,).
        comparable: whether differences of scores are on the ranker's scale.
    """

    scores: np.ndarray
    comparable: bool


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
    known = {name: options_of(catalogue.tournament_rule(name)) for name in tournaments}
    settings, others = divide_options(options, known, names)
    if any("seed" in own for own in settings.values()):
        raise UsageError("a study counts its seeds from --seed; leave out the option seed")
    own = ranker_options(names, others)
    scorers = {name: scorer(name, record.battles, own[name]) for name in names}
    alone = {name: score for name, (score, _) in scorers.items()}
    laboratory = _Laboratory(Bench(record), alone, range(seed, seed + seeds))
    scales = {name: scale for name, (_, scale) in scorers.items()}
    laboratory.references = _references(laboratory, entrants, scales, gold, gold_scale)
    cells = [*_by_design(settings, entrants, sizes, most), *_by_anchors(entrants, most)]
    cells += [*_by_entrants(settings, len(entrants), sizes)]
    points = [point for cell in track(cells, "study") for point in laboratory.points(cell, level)]
    points += laboratory.mean_anchor(sizes, most, level)
    counts = record.battles.counts()
    asked = {"rankers": names, "tournaments": list(tournaments), "items": list(sizes), "seeds": seeds, "seed": seed}
    return Findings(
        reference=gold_name if gold is not None else f"all {counts.battles:,} battles of {most:,} items",
        known=int((~np.isnan(next(iter(laboratory.references.values())).scores)).sum()),
        entrants=len(entrants),
        scales=scales,
        level=level,
        anchors=tuple(_anchors(record.battles, laboratory, names[0], level, seed)),
        points=tuple(points),
        whole={"battles": counts.battles, "judged": counts.judged, "calls": counts.presentations, "items": most},
        provenance=provenance(record.battles.sources, {**asked, **options}),
        warnings=tuple(_warnings(laboratory, points, gold, entrants)),
    )


class _Laboratory:
    """Plays cells and compares; what was compared stays known, seed by seed, for means over anchors."""

    def __init__(self, bench: Bench, scorers: Mapping[str, Scorer], seeds: Sequence[int]) -> None:
        self.bench = bench
        self.scorers = scorers
        self.seeds = seeds
        self.references: dict[str, Reference] = {}
        self.by_anchor: dict[tuple[str, int], list[np.ndarray]] = {}

    def points(self, cell: Cell, level: float) -> Iterator[Point]:
        """Play a cell with all seeds; once where nothing is left to chance."""
        seeds = self.seeds[:1] if self._certain(cell) else self.seeds
        drawn = [self.bench.drawn(cell, seed) for seed in seeds]
        for ranker, score in self.scorers.items():
            found = np.array([self._compared(ranker, score(one.rows), one) for one in drawn])
            if cell.figure == "anchor":
                self.by_anchor.setdefault((ranker, cell.items), []).append(found)
            yield _point(cell, ranker, drawn, found, level)

    def mean_anchor(self, sizes: Sequence[int], most: int, level: float) -> Iterator[Point]:
        """Yield, for each number of items, the mean over all anchors, averaged seed by seed (Figure 4)."""
        entrants = len(self.bench.record.field.entrants)
        for items in [*sizes, most]:
            for ranker in self.scorers:
                known = self.by_anchor.get((ranker, items), [])
                if known:
                    cell = Cell("tournament", "anchor, mean of all", "anchor", items, entrants)
                    yield _point(cell, ranker, [], np.mean(known, axis=0), level)

    def _certain(self, cell: Cell) -> bool:
        field = self.bench.record.field
        everyone = cell.items >= len(field.items) and cell.entrants >= len(field.entrants)
        fixed = cell.name == "round_robin" or (cell.name == "anchor" and "anchor" in cell.settings)
        return everyone and fixed and cell.anchors is None

    def _compared(self, ranker: str, scores: np.ndarray, drawn: Drawn) -> tuple[float, float]:
        """Return tau-b and the mean absolute difference of centred scores, NaN where someone has no score."""
        reference = self.references[ranker]
        who = drawn.entrants[~np.isnan(reference.scores[drawn.entrants])]
        found, truth = scores[who], reference.scores[who]
        if len(who) < 2 or np.isnan(found).any():
            return np.nan, np.nan
        # Rounding must not make an order of equals.
        tau = float(kendalltau(np.round(found, 9), np.round(truth, 9)).statistic)
        error = np.abs((found - found.mean()) - (truth - truth.mean())).mean() if reference.comparable else np.nan
        return tau, float(error)


def _point(cell: Cell, ranker: str, drawn: Sequence[Drawn], found: np.ndarray, level: float) -> Point:
    """Summarise a cell.

    Args:
        found: tau and error of each seed, shape (seeds, 2).
    """
    ranked = ~np.isnan(found[:, 0])
    return Point(
        figure=cell.figure,
        design=cell.design,
        entrants=cell.entrants,
        items=cell.items,
        anchors=cell.anchors,
        ranker=ranker,
        battles=_mean([one.battles for one in drawn]),
        calls=_mean([one.calls for one in drawn]),
        missing=_mean([one.missing for one in drawn]),
        tau=spread_of(found[ranked, 0], level, bounds=(-1, 1)),
        error=spread_of(found[ranked, 1], level, bounds=(0, np.inf)),
        seeds=len(found),
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
    mean, number = float(values.mean()), len(values)
    if number < 2:
        return Spread(mean, None, None, None)
    se = float(values.std(ddof=1) / np.sqrt(number))
    reach = float(stdtrit(number - 1, (1 + level) / 2)) * se
    return Spread(mean, se, max(mean - reach, bounds[0]), min(mean + reach, bounds[1]))


def _sizes(items: Sequence[int], most: int) -> tuple[int, ...]:
    """Return the numbers of items below all of them, ascending.

    Raises:
        UsageError: more than there are.
    """
    large = [number for number in items if number > most]
    if large:
        raise UsageError(f"items={large[0]}: the record has {most:,}")
    return tuple(sorted({number for number in (items or ITEMS) if number < most}))


def _references(
    laboratory: _Laboratory,
    entrants: Sequence[str],
    scales: Mapping[str, str],
    gold: Mapping[str, float] | None,
    gold_scale: str,
) -> dict[str, Reference]:
    """Return what each ranker is compared with.

    Raises:
        NotIdentifiedError: fewer than three entrants have a score to compare with, or all have the same.
    """
    every = np.ones(len(laboratory.bench.a), dtype=bool)
    if gold is not None:
        scores = np.array([gold.get(name, np.nan) for name in entrants], dtype=np.float64)
        found = {name: Reference(scores, scale == gold_scale) for name, scale in scales.items()}
    else:
        found = {name: Reference(score(every), True) for name, score in laboratory.scorers.items()}
    for name, one in found.items():
        number = int((~np.isnan(one.scores)).sum())
        if number < FEWEST:
            what = "the gold ranking scores" if gold is not None else f"{name} scores, from the whole record,"
            raise NotIdentifiedError(
                f"{what} {number} of the record's {len(entrants)} entrants: a study needs {FEWEST} to compare; "
                f"entrants: {some(entrants)}"
            )
        if np.nanmax(one.scores) - np.nanmin(one.scores) < LEVEL_WITH:
            what = "the gold ranking" if gold is not None else f"{name}, from the whole record,"
            raise NotIdentifiedError(f"{what} puts all entrants level: no order is there for a study to find again")
    return found


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


def _anchors(battles: Battles, laboratory: _Laboratory, ranker: str, level: float, seed: int) -> Iterator[Anchored]:
    """Yield each entrant's place in the reference, and its informativeness as the anchor, the strongest first."""
    scores = laboratory.references[ranker].scores
    try:
        entries = rank(battles, "informativeness", level=level, seed=seed, pool=True).standings[0].entries
    except PodiumError:
        entries = ()
    known = {entry.model: entry for entry in entries}
    names = laboratory.bench.record.field.entrants
    for k in sorted(range(len(names)), key=lambda k: (-np.nan_to_num(scores[k], nan=-np.inf), names[k])):
        entry = known.get(names[k])
        place = None if np.isnan(scores[k]) else 1 + int(np.sum(scores > scores[k] + 1e-9))
        yield Anchored(
            names[k],
            place,
            None if entry is None else entry.score,
            None if entry is None else entry.low,
            None if entry is None else entry.high,
        )


def _warnings(
    laboratory: _Laboratory, points: Sequence[Point], gold: Mapping[str, float] | None, entrants: Sequence[str]
) -> Iterator[str]:
    if gold is not None and (unknown := [name for name in entrants if name not in gold]):
        yield f"the gold ranking does not know, so nothing is compared of: {some(unknown)}"
    failed = [one for one in points if one.failed]
    lost = [f"{one.design}, {one.ranker}, {one.items} items: {one.failed} of {one.seeds}" for one in failed]
    if lost:
        yield f"no ranking of everyone, so left out of tau and error: {some(lost, '; ', most=5)}"
    record = laboratory.bench.record
    cells = len(entrants) * (len(entrants) - 1) // 2 * len(record.field.items)
    if len(record.codes) < cells:
        yield f"the record is no full round robin: {len(record.codes) / cells:.1%} of its battles are there"


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None
