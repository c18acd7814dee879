"""Non-transitivity on single items: does the judge who prefers A to B and B to C prefer A to C?"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from podium.diagnosis.clustered import Clustered
from podium.diagnosis.figures import CardAnswer, Figured, Missing, Statistic, Unit, Value, cell
from podium.diagnosis.triples import (
    ALL,
    AMBIGUOUS,
    CLIP,
    CONSISTENT,
    FIRST_SCENARIO,
    LEAD,
    SCENARIOS,
    TIE,
    TripleCounts,
    chance_of_no_order,
    count_triples,
)
from podium.nouns.battles import MOST_SLICES, Battles
from podium.rankers.intervals import finite_or_none, wilson
from podium.report.model import EMPTY, Table
from podium.text import as_text

MOST_LISTED = 2_000
SHOWN = 5
CELLS = "triples on items"
GROUPS = ("all", "consistent", "ambiguous", *SCENARIOS)
UNSWAPPED = Missing(
    "consistent and ambiguous items",
    "no triple on an item has all three pairs judged in both orders",
    "show every pair in both orders, and let them be merged (a column order, or --shown)",
)
HARD_VERDICTS = Missing(
    "SNTD",
    "most credits are wins, ties and losses, on which it depends on the clip alone",
    "ask the judge for token probabilities, or give soft credits; the model-level SNTD is below",
)


@dataclass(frozen=True, slots=True)
class TripleGroup:
    """Some of the triples and items: PNT, the share whose outcomes are no weak order, and SNTD, the mean deviation."""

    name: str
    hard: Figured
    soft: Figured


@dataclass(frozen=True, slots=True)
class Triplet:
    """Three entrants, the strongest first.

    Attributes:
        items: on which all three pairs have a verdict.
        hard, hard_low, hard_high: PNT and its Wilson interval (items independent, t).
        soft: SNTD; None for hard verdicts.
        scenario: who leads whom by far.
    """

    entrants: tuple[str, str, str]
    items: int
    hard: float
    hard_low: float | None
    hard_high: float | None
    soft: float | None
    scenario: str


@dataclass(frozen=True, slots=True)
class Transitivity(CardAnswer):
    """How far a judge's verdicts on single items add up.

    Attributes:
        entrants, possible: how many, and all their triples.
        triples: of those, with all three verdicts on at least one item.
        items: with at least one such triple.
        tie, lead, clip: see `TIE`, `LEAD` and `CLIP`.
        clipped: share of credits that were moved by the clip; None for hard verdicts.
        hard, soft: PNT, and SNTD (natural logarithm, at most ln 2), over all triples and items.
        chance: PNT of a judge that draws each verdict blindly with the same share of ties.
        consistent, ambiguous: triples on an item none or some of whose verdicts change with the order of presentation.
        consistent_share: of the triples on an item with all three pairs judged in both orders.
        scenarios: by gaps in strength, the strongest entrant first.
        categories: by category of the item.
        triplets: every triple, the least transitive first (the first 2,000).
    """

    entrants: int
    triples: int
    possible: int
    items: int
    tie: float
    lead: float
    clip: float
    clipped: float | None
    hard: Figured
    chance: float
    soft: Figured
    consistent: TripleGroup | Missing
    ambiguous: TripleGroup | Missing
    consistent_share: Figured
    scenarios: tuple[TripleGroup, ...]
    categories: tuple[TripleGroup, ...] | Missing
    triplets: tuple[Triplet, ...]

    def lines(self) -> tuple[tuple[str, Value], ...]:
        """Return the lines of the section."""
        groups = [group for group in (self.consistent, self.ambiguous) if isinstance(group, TripleGroup)]
        return (
            ("judged", f"{self.triples:,} of {self.possible:,} triples, {self.items:,} items"),
            ("hard: outcomes that are no weak order (PNT)", self.hard),
            ("  blind verdicts with as many ties", f"{self.chance:.1%}"),
            ("soft: deviation from transitivity (SNTD)", self.soft),
            ("consistent under a swap, all three pairs", self.consistent_share),
            *((f"PNT, {group.name} items", group.hard) for group in groups),
            *((("by category", self.categories),) if isinstance(self.categories, Missing) else ()),
        )

    def tables(self) -> tuple[Table, ...]:
        """Return the tables of the section: gaps in strength, categories, least transitive triples."""
        groups = [group for group in self.scenarios if isinstance(group.hard, Statistic)]
        gaps = f"By gap in strength (A strongest; lead = win rates at least {self.lead:g} apart)"
        tables = [_table(gaps, "A over B, B over C", groups)]
        if not isinstance(self.categories, Missing):
            tables.append(_table("By category", "category", self.categories))
        worst = []
        for triplet in self.triplets[:SHOWN]:
            ends, interval = (triplet.hard_low, triplet.hard_high), EMPTY
            if None not in ends:
                interval = " … ".join(f"{100 * end:.1f}" for end in ends if end is not None)
            names, items = " > ".join(triplet.entrants), f"{triplet.items:,}"
            worst.append((names, items, f"{triplet.hard:.1%}", interval, cell(triplet.soft, ".4f")))
        header = ("triple, strongest first", "items", "PNT", "interval", "SNTD")
        return (*tables, Table("Least transitive triples", header, tuple(worst)))


def transitivity(
    battles: Battles, *, level: float = 0.95, tie: float = TIE, lead: float = LEAD
) -> Transitivity | Missing:
    """Measure PNT and SNTD (Xu et al. 2025, equations 2 to 5) over all triples of entrants.

    Repeats of a pair on an item are averaged. SNTD is given for soft credits only: on wins, ties and losses it depends
    on where they are clipped and on nothing else.
    """
    counts = count_triples(battles, tie, lead)
    if isinstance(counts, Missing):
        return counts
    if not counts.cells[ALL].any():
        return Missing(
            "non-transitivity",
            "no three entrants have all three verdicts on one item",
            "judge round robins: all pairs of at least three entrants on the same items",
        )
    groups = [_group(name, counts, k, level) for k, name in enumerate(GROUPS)]
    whole, consistent, ambiguous = groups[:FIRST_SCENARIO]
    size, swapped = len(counts.entrants), counts.cells[CONSISTENT] + counts.cells[AMBIGUOUS]
    items = Clustered(np.arange(len(swapped)), "item", level)
    return Transitivity(
        entrants=size,
        triples=int((counts.known > 0).sum()),
        possible=comb(size, 3),
        items=int((counts.cells[ALL] > 0).sum()),
        tie=tie,
        lead=lead,
        clip=CLIP,
        clipped=counts.clipped,
        hard=whole.hard,
        chance=chance_of_no_order(counts.ties),
        soft=whole.soft,
        consistent=consistent if swapped.any() else UNSWAPPED,
        ambiguous=ambiguous if swapped.any() else UNSWAPPED,
        consistent_share=items.share(counts.cells[CONSISTENT], CELLS, cells=swapped) if swapped.any() else UNSWAPPED,
        scenarios=tuple(groups[FIRST_SCENARIO:]),
        categories=_categories(battles, level, tie, lead),
        triplets=_triplets(counts, level),
    )


def _group(name: str, counts: TripleCounts, group: int, level: float) -> TripleGroup:
    cells = counts.cells[group]
    if not cells.any():
        why = "no triple on an item is of this kind"
        none = Missing(f"non-transitivity, {name}", why, "judge more items or entrants")
        return TripleGroup(name, none, none if counts.is_soft else HARD_VERDICTS)
    items = Clustered(np.arange(len(cells)), "item", level)
    soft: Figured = HARD_VERDICTS
    if counts.is_soft:
        soft = items.mean(counts.sums[group], CELLS, cells=cells, within=(0.0, np.inf), unit=Unit.NATS)
    return TripleGroup(name, items.share(counts.hits[group], CELLS, cells=cells), soft)


def _categories(battles: Battles, level: float, tie: float, lead: float) -> tuple[TripleGroup, ...] | Missing:
    if "category" not in battles.table or battles.table["category"].isna().all():
        return Missing("by category", "no column says the category of an item", "add a column category")
    categories = as_text(battles.table["category"]).nunique()
    if categories > MOST_SLICES:
        return Missing("by category", f"{categories:,} categories are too many to set apart", "give at most 100")
    groups = []
    for name, part in battles.slices("category"):
        unread = Missing(f"non-transitivity, {name}", "no battle has a verdict", "judge the unread battles again")
        counts = count_triples(part, tie, lead) if part.readable.any() else unread
        if isinstance(counts, Missing):
            groups.append(TripleGroup(name, counts, counts))
        else:
            groups.append(_group(name, counts, ALL, level))
    return tuple(groups)


def _triplets(counts: TripleCounts, level: float) -> tuple[Triplet, ...]:
    known = np.flatnonzero(counts.known > 0)
    share = counts.broken[known] / counts.known[known]
    order = known[np.lexsort((known, -counts.known[known], -share))][:MOST_LISTED]
    items, share = counts.known[order], counts.broken[order] / counts.known[order]
    freedom = np.maximum(items, 2)
    ends = np.where(items > 1, wilson(share, share * (1 - share) / (freedom - 1), freedom, level), np.nan).T
    soft = np.where(counts.is_soft, counts.deviation[order] / items, np.nan)
    triplets = []
    for row, (i, j, k) in enumerate(counts.triples[order].tolist()):
        names, scenario = (counts.entrants[i], counts.entrants[j], counts.entrants[k]), counts.scenario[order[row]]
        low, high, off = map(finite_or_none, (*ends[row], soft[row]))
        triplets.append(Triplet(names, int(items[row]), float(share[row]), low, high, off, SCENARIOS[scenario]))
    return tuple(triplets)


def _table(title: str, what: str, groups: Sequence[TripleGroup]) -> Table:
    rows = []
    for name, hard, soft in ((group.name, group.hard, group.soft) for group in groups):
        number = f"{hard.n:,}" if isinstance(hard, Statistic) else "0"
        rows.append((name, hard.estimate, hard.interval, number, soft.estimate, soft.interval))
    return Table(title, (what, "PNT", "interval", CELLS, "SNTD", "interval"), tuple(rows))
