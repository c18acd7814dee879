"""Non-transitivity on single items, over triples of models (Xu et al. 2025)."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import comb
from typing import Any, NamedTuple

import numpy as np
from scipy.special import entr, expit, logit

from podium.data.battles import MOST_SLICES, Battles
from podium.diagnosis.clustered import Clustered
from podium.diagnosis.figures import CardAnswer, Figured, Missing, Statistic, Unit, Value
from podium.numbers import cell_text, interval_text
from podium.rankers.errors.intervals import finite_or_none, wilson_interval
from podium.rankers.fit.coded import CodedBattles, code_battles, ratio_or_nan
from podium.rankers.fit.pairs import pair_sums, win_rates
from podium.tables import Table
from podium.text import as_text

TIE = 0.025
"""Credits within 0.5 +- this are ties. Source: Xu et al. 2025, appendix B.1 (0.475 to 0.525)."""
CLIP = 1e-6
"""Credits are kept this far from 0 and 1 before their log-odds are taken."""
LEAD = 0.1
"""Difference of two win rates from which on it is a lead, not a margin."""
MOST_CELLS = 400_000_000
"""Most triples times items that are counted."""
CHUNK_CELLS = 500_000
LOSS, TIED, WIN, UNKNOWN = range(4)
STEADY, SHAKY, UNSEEN = range(3)
SCENARIOS = ("lead, lead", "lead, margin", "margin, lead", "margin, margin")
ALL, CONSISTENT, AMBIGUOUS, FIRST_SCENARIO = range(4)
MOST_LISTED = 2_000
ROUND_ROBINS = "round robins: all pairs of at least three models"
CELLS = "triples on items"
GROUPS = ("all", "consistent", "ambiguous", *SCENARIOS)
UNSWAPPED = Missing(
    "no triple on an item has all three pairs judged in both orders",
    "show every pair in both orders, and let them be merged (a column order, or --shown)",
)
HARD_VERDICTS = Missing(
    "most credits are wins, ties and losses, on which it depends on the clip alone",
    "ask the judge for token probabilities, or give soft credits; the model-level SNTD is below",
)
WEAK_ORDERS = {
    tuple(np.sign([b - a, c - b, c - a]) + TIED) for a, b, c in product(range(3), repeat=3)
}
"""Outcome codes of ab, bc and ac that agree with a weak order (Xu et al. 2025, B.1, misprints
two)."""
KINDS = np.array(
    [2 if UNKNOWN in codes else codes not in WEAK_ORDERS for codes in product(range(4), repeat=3)],
    dtype=np.uint8,
)
"""0 transitive, 1 intransitive, 2 unknown, indexed by 16 ab + 4 bc + ac of the outcome codes, shape
(64,)."""


class TripleCounts(NamedTuple):
    """Verdicts, intransitive ones and summed SNTD, by triple (i < j < k, strongest first) and by
    group and item."""

    models: tuple[str, ...]
    soft: bool
    triples: np.ndarray
    scenario: np.ndarray
    by_triple: np.ndarray
    by_group: np.ndarray
    ties: float


def pair_number(i: np.ndarray, j: np.ndarray, models: int) -> np.ndarray:
    """Return the index of pairs i < j in the order of `numpy.triu_indices`, any shape."""
    return i * (2 * models - i - 1) // 2 + (j - i - 1)


def triples_among(models: int) -> np.ndarray:
    """Return all triples i < j < k of so many models, shape (triples, 3)."""
    return np.array(list(combinations(range(models), 3)), dtype=np.int64).reshape(-1, 3)


def count_triples(battles: Battles) -> TripleCounts | Missing:
    """Count outcomes over all triples of models and items; `Missing` without items, below 3 models,
    or if too many."""
    if not battles.has_items:
        return Missing("no row names its item", "name the item's column: --columns item=COLUMN")
    coded = code_battles(battles)
    size, items = len(coded.models), coded.clusters
    if size < 3:
        return Missing(f"{size} models make no triple", "judge at least three models")
    if comb(size, 3) * items > MOST_CELLS:
        why = f"{size:,} models on {items:,} items have too many triples"
        return Missing(why, "choose fewer models or items with --where")
    extreme = (coded.credit < CLIP) | (coded.credit > 1 - CLIP)
    coarse = extreme | (np.abs(4 * coded.credit - np.round(4 * coded.credit)) < 1e-9)
    soft = bool(coarse.mean() <= 0.5)
    rate = win_rates(pair_sums(coded))
    order = np.argsort(-rate, kind="stable")
    credit, steady = _arrange(battles, coded, np.argsort(order))
    outcome, triples = outcomes(credit), triples_among(size)
    gaps = -np.diff(rate[order][triples], axis=1)
    scenario = 2 * (gaps[:, 0] < LEAD) + (gaps[:, 1] < LEAD)
    sums = _sum_triples(triples, scenario, outcome, steady, credit if soft else None)
    ties = float((outcome == TIED).sum() / max((outcome != UNKNOWN).sum(), 1))
    return TripleCounts(tuple(coded.models[k] for k in order), soft, triples, scenario, *sums, ties)


def _sum_triples(
    triples: np.ndarray,
    scenario: np.ndarray,
    outcome: np.ndarray,
    steady: np.ndarray,
    credit: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Sum known triples, intransitive ones and SNTD over items, shape (3, triples), and by group
    (3, groups, items)."""
    models, items = int(triples.max()) + 1, outcome.shape[1]
    by_triple, by_group = np.zeros((3, len(triples))), np.zeros((3, len(GROUPS), items))
    chunk = max(1, CHUNK_CELLS // max(items, 1))
    for rows in (slice(start, start + chunk) for start in range(0, len(triples), chunk)):
        i, j, k = triples[rows].T
        edges = [pair_number(*ends, models) for ends in ((i, j), (j, k), (i, k))]
        kind = KINDS[16 * outcome[edges[0]] + 4 * outcome[edges[1]] + outcome[edges[2]]]
        known, broken, soft = kind < 2, kind == 1, np.zeros(kind.shape)
        if credit is not None:
            soft = np.where(
                known, deviation(*(np.nan_to_num(credit[edge], nan=0.5) for edge in edges)), 0
            )
        by_triple[:, rows] = [part.sum(axis=1) for part in (known, broken, soft)]
        swaps, gap = np.max([steady[edge] for edge in edges], axis=0), scenario[rows, None]
        groups = {ALL: True, CONSISTENT: swaps == STEADY, AMBIGUOUS: swaps == SHAKY}
        groups |= {FIRST_SCENARIO + number: gap == number for number in np.unique(gap).tolist()}
        for group, members in groups.items():
            by_group[0, group] += (known & members).sum(axis=0)
            by_group[1, group] += (broken & members).sum(axis=0)
            by_group[2, group] += (soft * members).sum(axis=0)
    return by_triple, by_group


def _arrange(
    battles: Battles, coded: CodedBattles, place: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the stronger model's mean credit, and its stability when the order is swapped, shape
    (pairs, items)."""
    first, second = place[coded.a], place[coded.b]
    pair = pair_number(np.minimum(first, second), np.maximum(first, second), len(place))
    cell, shape = pair * coded.clusters + coded.cluster, (comb(len(place), 2), coded.clusters)
    votes = np.bincount(cell, minlength=shape[0] * shape[1])
    total = np.bincount(cell, np.where(first < second, coded.credit, 1 - coded.credit), len(votes))
    mean = ratio_or_nan(total, votes)
    steady = np.full(len(votes), UNSEEN, dtype=np.uint8)
    if "swap" in battles.table:
        # Of several repeats, all must be steady.
        swap = battles.table["swap"].astype(object).to_numpy()[battles.readable]
        steady[votes > 0] = STEADY
        steady[cell[np.isin(swap, ("half", "flip"))]] = SHAKY
        steady[cell[~np.isin(swap, ("same", "half", "flip"))]] = UNSEEN
    return mean.reshape(shape), steady.reshape(shape)


def outcomes(credit: np.ndarray) -> np.ndarray:
    """Return the outcome codes (loss, tie, win, unknown) of credits, same shape."""
    beyond = np.round(np.abs(credit - 0.5) - TIE, 12) > 0
    outcome = np.where(beyond, np.where(credit > 0.5, WIN, LOSS), TIED)
    return np.where(np.isnan(credit), UNKNOWN, outcome).astype(np.uint8)


def deviation(ab: np.ndarray, bc: np.ndarray, ac: np.ndarray) -> np.ndarray:
    """Return the SNTD of three credits, in nats: the mean Jensen-Shannon divergence of each credit
    from the one that the other two imply, log-odds that are off by s_ab + s_bc - s_ac. Source: Xu
    et al. 2025, equations 3 to 5."""
    observed = [
        np.clip(np.asarray(credit, dtype=np.float64), CLIP, 1 - CLIP) for credit in (ab, bc, ac)
    ]
    odds = [logit(credit) for credit in observed]
    off = odds[0] + odds[1] - odds[2]
    implied = [
        np.clip(expit(lean), CLIP, 1 - CLIP)
        for lean in (odds[0] - off, odds[1] - off, odds[2] + off)
    ]
    return np.sum([divergence(p, q) for p, q in zip(observed, implied, strict=True)], axis=0) / 3


def divergence(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return the Jensen-Shannon divergence of two Bernoulli distributions, in nats, any shape."""
    of_mean, of_p, of_q = (entr(share) + entr(1 - share) for share in ((p + q) / 2, p, q))
    return np.maximum(of_mean - (of_p + of_q) / 2, 0)


def chance_of_no_order(ties: float) -> float:
    """Return the share of intransitive triples (PNT) among random verdicts with this share of
    ties."""
    p = {LOSS: (1 - ties) / 2, TIED: ties, WIN: (1 - ties) / 2}
    return float(
        sum(p[x] * p[y] * p[z] for x, y, z in product(p, repeat=3) if (x, y, z) not in WEAK_ORDERS)
    )


class TripleGroup(NamedTuple):
    """PNT (`hard`, share of intransitive triples) and SNTD (`soft`, mean deviation) of a group of
    triples and items."""

    name: str
    hard: Figured
    soft: Figured


class Triple(NamedTuple):
    """PNT (`hard`) with its interval and SNTD (`soft`) of three models, strongest first; the gaps
    of its `scenario`."""

    models: tuple[str, ...]
    items: int
    hard: float
    hard_low: float | None
    hard_high: float | None
    soft: float | None
    scenario: str


@dataclass(frozen=True, slots=True)
class Transitivity(CardAnswer):
    """PNT (`hard`) and SNTD (`soft`, nats) of verdicts on items; `chance` is the PNT of random,
    equally tied ones."""

    triples: int
    possible: int
    items: int
    hard: Figured
    chance: float
    soft: Figured
    consistent: TripleGroup | Missing
    ambiguous: TripleGroup | Missing
    consistent_share: Figured
    scenarios: tuple[TripleGroup, ...]
    categories: tuple[TripleGroup, ...] | Missing
    triplets: tuple[Triple, ...]

    def labelled_values(self) -> tuple[tuple[str, Value], ...]:
        groups = [
            group for group in (self.consistent, self.ambiguous) if isinstance(group, TripleGroup)
        ]
        return (
            ("judged", f"{self.triples:,} of {self.possible:,} triples, {self.items:,} items"),
            ("hard: intransitive triples on items (PNT)", self.hard),
            ("  of random verdicts with as many ties", f"{self.chance:.1%}"),
            ("soft: deviation from transitivity (SNTD)", self.soft),
            ("consistent under a swap, all three pairs", self.consistent_share),
            *((f"PNT, {group.name} items", group.hard) for group in groups),
            *((("by category", self.categories),) if isinstance(self.categories, Missing) else ()),
        )

    def tables(self) -> tuple[Table, ...]:
        groups = [group for group in self.scenarios if isinstance(group.hard, Statistic)]
        gaps = f"By gap in strength (A strongest; lead = win rates at least {LEAD:g} apart)"
        tables = [_triples_table(gaps, "A over B, B over C", groups)]
        if not isinstance(self.categories, Missing):
            tables.append(_triples_table("By category", "category", self.categories))
        worst = []
        for own in self.triplets[:5]:
            low, high = (
                None if end is None else 100 * end for end in (own.hard_low, own.hard_high)
            )
            figures = (
                f"{own.hard:.1%}",
                interval_text(low, high, ".1f"),
                cell_text(own.soft, ".4f"),
            )
            worst.append((" > ".join(own.models), f"{own.items:,}", *figures))
        header = ("triple, strongest first", "items", "PNT", "interval", "SNTD")
        return (*tables, Table("Least transitive triples", header, tuple(worst)))


def transitivity(battles: Battles, *, level: float = 0.95) -> Transitivity | Missing:
    """Measure PNT and SNTD over triples of models and items. Source: Xu et al. 2025, equations 2 to
    5."""
    counts = count_triples(battles)
    if isinstance(counts, Missing):
        return counts
    cells = counts.by_group[0]
    if not cells[ALL].any():
        why = "no three models have all three verdicts on one item"
        return Missing(why, f"judge {ROUND_ROBINS} on the same items")
    groups = [_group(name, counts, k, level) for k, name in enumerate(GROUPS)]
    swapped = cells[CONSISTENT] + cells[AMBIGUOUS]
    consistent_share: Figured = UNSWAPPED
    if swapped.any():
        items = Clustered(np.arange(len(swapped)), "item", level)
        consistent_share = items.share(cells[CONSISTENT], CELLS, cells=swapped)
    return Transitivity(
        triples=int((counts.by_triple[0] > 0).sum()),
        possible=len(counts.triples),
        items=int((cells[ALL] > 0).sum()),
        hard=groups[ALL].hard,
        chance=chance_of_no_order(counts.ties),
        soft=groups[ALL].soft,
        consistent=groups[CONSISTENT] if swapped.any() else UNSWAPPED,
        ambiguous=groups[AMBIGUOUS] if swapped.any() else UNSWAPPED,
        consistent_share=consistent_share,
        scenarios=tuple(groups[FIRST_SCENARIO:]),
        categories=_categories(battles, level),
        triplets=_triplets(counts, level),
    )


def _group(name: str, counts: TripleCounts, group: int, level: float) -> TripleGroup:
    """Estimate PNT and SNTD of one group of triples, with intervals over items."""
    cells, hits, sums = counts.by_group[:, group]
    items = Clustered(np.arange(len(cells)), "item", level)
    rows: dict[str, Any] = {
        "of": CELLS,
        "what": f"{CELLS} ({name})",
        "remedy": "judge more items or models",
    }
    soft = (
        items.mean(sums, cells=cells, within=(0.0, np.inf), unit=Unit.NATS, **rows)
        if counts.soft
        else HARD_VERDICTS
    )
    return TripleGroup(name, items.share(hits, cells=cells, **rows), soft)


def _categories(battles: Battles, level: float) -> tuple[TripleGroup, ...] | Missing:
    """Estimate PNT and SNTD by category of the items."""
    if "category" not in battles.table or battles.table["category"].isna().all():
        return Missing("there is no column category", "add a column category")
    categories = as_text(battles.table["category"]).nunique()
    if categories > MOST_SLICES:
        return Missing(f"{categories:,} categories are too many", "give at most 100")
    groups = []
    for name, part in battles.slices("category"):
        unparsed = Missing("no battle has a verdict", "re-judge the unparsed battles")
        counts = count_triples(part) if part.readable.any() else unparsed
        group = (
            TripleGroup(name, counts, counts)
            if isinstance(counts, Missing)
            else _group(name, counts, ALL, level)
        )
        groups.append(group)
    return tuple(groups)


def _triplets(counts: TripleCounts, level: float) -> tuple[Triple, ...]:
    """Return PNT and SNTD of single triples, the least transitive first."""
    known = np.flatnonzero(counts.by_triple[0] > 0)
    items, broken, _ = counts.by_triple[:, known]
    order = known[np.lexsort((known, -items, -broken / items))][:MOST_LISTED]
    items, broken, off = counts.by_triple[:, order]
    share, freedom = broken / items, np.maximum(items, 2)
    interval = wilson_interval(share, share * (1 - share) / (freedom - 1), freedom, level)
    columns = *np.where(items > 1, interval, np.nan), np.where(counts.soft, off / items, np.nan)
    low, high, soft = (map(finite_or_none, column) for column in columns)
    names = (tuple(counts.models[code] for code in triple) for triple in counts.triples[order])
    scenarios = (SCENARIOS[code] for code in counts.scenario[order])
    return tuple(
        map(Triple, names, items.astype(int).tolist(), share.tolist(), low, high, soft, scenarios)
    )


def _triples_table(title: str, what: str, groups: Sequence[TripleGroup]) -> Table:
    """Build the table of some groups."""
    rows = []
    for group in groups:
        number = f"{group.hard.n:,}" if isinstance(group.hard, Statistic) else "0"
        hard, soft = ((figure.estimate, figure.interval) for figure in (group.hard, group.soft))
        rows.append((group.name, *hard, number, *soft))
    return Table(title, (what, "PNT", "interval", CELLS, "SNTD", "interval"), tuple(rows))
