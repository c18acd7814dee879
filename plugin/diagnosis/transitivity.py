"""Non-transitivity on single items: does the judge who prefers A to B and B to C prefer A to C?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from podium.battles import MOST_SLICES, Battles
from podium.diagnosis.answer import Figure, Grid, Missing, Row, Unit, as_dict
from podium.diagnosis.ratios import mean_of_sums, share_of_sums, wilson
from podium.diagnosis.triples import (
    ALL,
    AMBIGUOUS,
    CLIP,
    CONSISTENT,
    FIRST_SCENARIO,
    LEAD,
    SCENARIOS,
    TIE,
    Tally,
    Verdicts,
    chance,
    count,
    verdicts_of,
)
from podium.diagnosis.wording import EMPTY, ends, number
from podium.text import as_text

MOST_LISTED = 2_000
SHOWN = 5


@dataclass(frozen=True, slots=True)
class Group:
    """Some of the triples and items.

    Attributes:
        name: what they have in common.
        hard: PNT, the share of triples on an item whose outcomes are no weak order.
        soft: SNTD, the mean deviation from transitivity.
    """

    name: str
    hard: Figure | Missing
    soft: Figure | Missing


@dataclass(frozen=True, slots=True)
class Triplet:
    """Three entrants, the strongest first.

    Attributes:
        entrants: their names.
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
class Transitivity:
    """How far a judge's verdicts on single items add up.

    Attributes:
        entrants: how many.
        triples: of entrants with all three verdicts on at least one item.
        possible: all triples of entrants.
        items: with at least one such triple.
        tie: credits within 0.5 +- this are ties.
        lead: gap of win rates from which one leads by far.
        clip: see `CLIP`.
        clipped: share of credits that were moved by it; None for hard verdicts.
        hard: PNT over all triples and items.
        chance: PNT of a judge that draws each verdict blindly with the same share of ties.
        soft: SNTD, natural logarithm; at most ln 2.
        consistent: triples on an item whose three verdicts do not change with the order of presentation.
        ambiguous: those of which at least one does.
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
    hard: Figure | Missing
    chance: float
    soft: Figure | Missing
    consistent: Group | Missing
    ambiguous: Group | Missing
    consistent_share: Figure | Missing
    scenarios: tuple[Group, ...]
    categories: tuple[Group, ...] | Missing
    triplets: tuple[Triplet, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the section for JSON."""
        return as_dict(self)

    def rows(self) -> tuple[Row, ...]:
        """Return the lines of the section."""
        whole = f"{self.triples:,} of {self.possible:,} triples, {self.items:,} items"
        groups = [one for one in (self.consistent, self.ambiguous) if isinstance(one, Group)]
        apart = [Row(f"PNT, {one.name} items", one.hard) for one in groups]
        return (
            Row("judged", whole),
            Row("hard: outcomes that are no weak order (PNT)", self.hard),
            Row("  blind verdicts with as many ties", f"{self.chance:.1%}"),
            Row("soft: deviation from transitivity (SNTD)", self.soft),
            Row("consistent under a swap, all three pairs", self.consistent_share),
            *apart,
            *([Row("by category", self.categories)] if isinstance(self.categories, Missing) else []),
        )

    def grids(self) -> tuple[Grid, ...]:
        """Return the tables of the section: gaps in strength, categories, least transitive triples."""
        groups = [one for one in self.scenarios if isinstance(one.hard, Figure)]
        gaps = f"By gap in strength (A strongest; lead = win rates at least {self.lead:g} apart)"
        grids = [_grid(gaps, "A over B, B over C", groups)]
        if not isinstance(self.categories, Missing):
            grids.append(_grid("By category", "category", self.categories))
        worst = tuple(
            (" > ".join(one.entrants), f"{one.items:,}", f"{one.hard:.1%}", _between(one), _nats(one.soft))
            for one in self.triplets[:SHOWN]
        )
        header = ("triple, strongest first", "items", "PNT", "interval", "SNTD")
        return (*grids, Grid("Least transitive triples", header, worst))


def transitivity(
    battles: Battles, *, level: float = 0.95, tie: float = TIE, lead: float = LEAD
) -> Transitivity | Missing:
    """Measure PNT and SNTD (Xu et al. 2025, equations 2 to 5) over all triples of entrants.

    Repeats of a pair on an item are averaged. SNTD is given for soft credits only: on wins, ties and losses it depends
    on where they are clipped and on nothing else.

    Args:
        battles: of one judge, merged.
        level: of intervals, in (0, 1).
        tie: credits within 0.5 +- this are ties.
        lead: gap of win rates from which one entrant leads by far.
    """
    verdicts = verdicts_of(battles)
    if isinstance(verdicts, Missing):
        return verdicts
    tally = count(verdicts, tie=tie, lead=lead)
    if not tally.cells[ALL].any():
        return Missing(
            "non-transitivity",
            "no three entrants have all three verdicts on one item",
            "judge round robins: all pairs of at least three entrants on the same items",
        )
    return _answer(battles, verdicts, tally, level, tie, lead)


def _answer(battles: Battles, verdicts: Verdicts, tally: Tally, level: float, tie: float, lead: float) -> Transitivity:
    whole = _group("all", verdicts, tally, ALL, level)
    size = len(verdicts.entrants)
    seen = tally.cells[CONSISTENT] + tally.cells[AMBIGUOUS]
    return Transitivity(
        entrants=size,
        triples=int((tally.known > 0).sum()),
        possible=size * (size - 1) * (size - 2) // 6,
        items=int((tally.cells[ALL] > 0).sum()),
        tie=tie,
        lead=lead,
        clip=CLIP,
        clipped=verdicts.clipped,
        hard=whole.hard,
        chance=chance(tally.ties),
        soft=whole.soft,
        consistent=_apart("consistent", verdicts, tally, CONSISTENT, level),
        ambiguous=_apart("ambiguous", verdicts, tally, AMBIGUOUS, level),
        consistent_share=share_of_sums(tally.cells[CONSISTENT], seen, level, "triples on items") or _unswapped(),
        scenarios=tuple(_group(name, verdicts, tally, FIRST_SCENARIO + k, level) for k, name in enumerate(SCENARIOS)),
        categories=_categories(battles, level, tie, lead),
        triplets=_triplets(verdicts, tally, level),
    )


def _group(name: str, verdicts: Verdicts, tally: Tally, group: int, level: float) -> Group:
    none = Missing(f"non-transitivity, {name}", "no triple on an item is of this kind", "judge more items or entrants")
    hard = share_of_sums(tally.hits[group], tally.cells[group], level, "triples on items") or none
    if not verdicts.soft:
        return Group(name, hard, _hard_verdicts())
    soft = mean_of_sums(tally.sums[group], tally.cells[group], level, "triples on items", Unit.NATS)
    return Group(name, hard, soft or none)


def _apart(name: str, verdicts: Verdicts, tally: Tally, group: int, level: float) -> Group | Missing:
    if not tally.cells[[CONSISTENT, AMBIGUOUS]].any():
        return _unswapped()
    return _group(name, verdicts, tally, group, level)


def _unswapped() -> Missing:
    return Missing(
        "consistent and ambiguous items",
        "no triple on an item has all three pairs judged in both orders",
        "show every pair in both orders, and let them be merged (a column order, or --shown)",
    )


def _hard_verdicts() -> Missing:
    return Missing(
        "SNTD",
        "most credits are wins, ties and losses, on which it depends on the clip alone",
        "ask the judge for token probabilities, or give soft credits; the model-level SNTD is below",
    )


def _categories(battles: Battles, level: float, tie: float, lead: float) -> tuple[Group, ...] | Missing:
    if "category" not in battles.table or battles.table["category"].isna().all():
        return Missing("by category", "no column says the category of an item", "add a column category")
    categories = as_text(battles.table["category"]).nunique()
    if categories > MOST_SLICES:
        return Missing("by category", f"{categories:,} categories are too many to set apart", "give at most 100")
    return tuple(_category(name, part, level, tie, lead) for name, part in battles.slices("category"))


def _category(name: str, battles: Battles, level: float, tie: float, lead: float) -> Group:
    verdicts = verdicts_of(battles) if battles.readable.any() else _none_readable(name)
    if isinstance(verdicts, Missing):
        return Group(name, verdicts, verdicts)
    return _group(name, verdicts, count(verdicts, tie=tie, lead=lead), ALL, level)


def _none_readable(name: str) -> Missing:
    return Missing(f"non-transitivity, {name}", "no battle has a verdict", "judge the unread battles again")


def _triplets(verdicts: Verdicts, tally: Tally, level: float) -> tuple[Triplet, ...]:
    known = np.flatnonzero(tally.known > 0)
    share = tally.broken[known] / tally.known[known]
    order = known[np.lexsort((known, -tally.known[known], -share))][:MOST_LISTED]
    items, share = tally.known[order], tally.broken[order] / tally.known[order]
    freedom = np.maximum(items, 2)
    low, high = wilson(share, share * (1 - share) / (freedom - 1), freedom, level)
    names = verdicts.entrants
    return tuple(
        Triplet(
            entrants=(names[i], names[j], names[k]),
            items=int(items[row]),
            hard=float(share[row]),
            hard_low=float(low[row]) if items[row] > 1 else None,
            hard_high=float(high[row]) if items[row] > 1 else None,
            soft=float(tally.deviation[order[row]] / items[row]) if verdicts.soft else None,
            scenario=SCENARIOS[tally.scenario[order[row]]],
        )
        for row, (i, j, k) in enumerate(tally.triples[order].tolist())
    )


def _grid(title: str, what: str, groups: Sequence[Group]) -> Grid:
    rows = tuple((one.name, *_cells(one.hard), _count(one.hard), *_cells(one.soft)) for one in groups)
    return Grid(title, (what, "PNT", "interval", "triples on items", "SNTD", "interval"), rows)


def _cells(said: Figure | Missing) -> tuple[str, str]:
    return (EMPTY, EMPTY) if isinstance(said, Missing) else (number(said), ends(said))


def _count(said: Figure | Missing) -> str:
    return "0" if isinstance(said, Missing) else f"{said.n:,}"


def _between(one: Triplet) -> str:
    if one.hard_low is None or one.hard_high is None:
        return EMPTY
    return f"{100 * one.hard_low:.1f} … {100 * one.hard_high:.1f}"


def _nats(value: float | None) -> str:
    return EMPTY if value is None else f"{value:.4f}"
