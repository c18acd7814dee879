"""Non-transitivity of whole models: cycles of win rates, and how far win rates are from any strengths."""

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import stdtr

from podium.battles import Battles
from podium.diagnosis.answer import Figure, Grid, Missing, Row, Unit, as_dict
from podium.diagnosis.ratios import REFLECTED, reflected
from podium.diagnosis.triples import KINDS, TIE, deviation, outcomes
from podium.rankers.coded import code
from podium.rankers.intervals import resample
from podium.rankers.pairs import PairCells, Pairs, cells_by_cluster, pair_sums

RESAMPLES = 500
MOST_DRAWN = 20_000_000
"""Triples times resamples beyond which fewer resamples are drawn."""
FEWEST_RESAMPLES = 100
MOST_ENTRANTS = 300
MOST_LISTED = 100
FEWEST_ITEMS = 10
"""Items that a pair needs before its win rate counts as that of two models."""
SHOWN = 5
RATES = "model-level non-transitivity"
SNTD = "model-level SNTD"


@dataclass(frozen=True, slots=True)
class Cycle:
    """Three entrants that beat each other in a ring.

    Attributes:
        entrants: each beats the next, the last beats the first.
        rates: win rates of each over the next.
        p: that one of the three is no win at all, by the weakest link (one-sided, item-clustered t).
        adjusted: p after Holm over both rings of every triple.
    """

    entrants: tuple[str, str, str]
    rates: tuple[float, float, float]
    p: float
    adjusted: float


@dataclass(frozen=True, slots=True)
class Cycles:
    """How far the win rates of whole models add up.

    Attributes:
        triples: with win rates between all three.
        possible: all triples of entrants.
        tie: win rates within 0.5 +- this are ties in `no_order`.
        rings: triples in which each beats the next, in the rates as they are.
        certain: those that are no accident of the items at `level`, all rings taken together.
        no_order: triples whose three outcomes are no weak order, ties included.
        sntd: mean model-level SNTD (Xu et al. 2025, appendix C.2), natural logarithm, noise included, over the triples
            whose pairs have at least 10 items each.
        beyond_noise: the same without what the sample of items adds.
        cycles: the surest first.
    """

    triples: int
    possible: int
    tie: float
    level: float
    rings: int
    certain: int
    no_order: int
    sntd: float | Missing
    beyond_noise: Figure | Missing
    cycles: tuple[Cycle, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the section for JSON."""
        return as_dict(self)

    def rows(self) -> tuple[Row, ...]:
        """Return the lines of the section."""
        of = f"of {self.triples:,} triples"
        sure = f"{self.certain:,} beyond chance at {self.level:.0%} (Holm over all rings, item-clustered t)"
        return (
            Row("rings of win rates", f"{self.rings:,} {of}; {sure}"),
            Row(f"no weak order (ties within {self.tie:g} of 0.5)", f"{self.no_order:,} {of}"),
            Row("model-level SNTD", _shown(self.sntd)),
            Row("model-level SNTD beyond noise", self.beyond_noise),
        )

    def grids(self) -> tuple[Grid, ...]:
        """Return the table of the surest rings."""
        if not self.cycles:
            return ()
        rows = tuple(
            (
                " > ".join((*one.entrants, one.entrants[0])),
                *(f"{rate:.1%}" for rate in one.rates),
                f"{one.adjusted:.3g}",
            )
            for one in self.cycles[:SHOWN]
        )
        return (Grid("Rings", ("each beats the next", "first", "second", "third", "p (Holm)"), rows),)


def cycles(
    battles: Battles, *, level: float = 0.95, rng: np.random.Generator, tie: float = TIE, resamples: int = RESAMPLES
) -> Cycles | Missing:
    """Look for rings among win rates, and measure how far they are from any strengths.

    A ring is certain when each of its three win rates is above a half: p is the largest of the three one-sided
    p-values (an intersection-union test), and Holm's rule covers both rings of every triple.

    Args:
        battles: of one judge, merged.
        level: of the interval; rings are certain at this family-wise level.
        rng: draws of items.
        tie: win rates within 0.5 +- this are ties.
        resamples: of the items; fewer with very many triples.
    """
    coded = code(battles)
    size = len(coded.entrants)
    if size > MOST_ENTRANTS:
        return Missing(RATES, f"{size:,} entrants are too many", f"choose at most {MOST_ENTRANTS} with --where")
    pairs = pair_sums(coded)
    triples = triples_of(pairs)
    if not len(triples):
        remedy = "judge round robins: all pairs of at least three entrants"
        return Missing(RATES, "no three entrants have all met", remedy)
    cells = cells_by_cluster(coded, pairs)
    rate = pairs.credit / pairs.weight
    rings = _rings(coded.entrants, pairs, triples, rate, _wins(cells, rate))
    solid = triples[(items_of(cells) >= FEWEST_ITEMS)[triples].all(axis=1)]
    few = Missing(SNTD, f"no three entrants have {FEWEST_ITEMS} items in each pair", "judge every pair on more items")
    kinds = KINDS[outcomes(rate[triples], tie) @ np.array([16, 4, 1])]
    return Cycles(
        triples=len(triples),
        possible=size * (size - 1) * (size - 2) // 6,
        tie=tie,
        level=level,
        rings=len(rings),
        certain=sum(one.adjusted <= 1 - level for one in rings),
        no_order=int((kinds == 1).sum()),
        sntd=float(model_deviation(rate, solid)) if len(solid) else few,
        beyond_noise=_beyond_noise(cells, solid, level, resamples, rng, coded.unit) if len(solid) else few,
        cycles=tuple(rings[:MOST_LISTED]),
    )


def triples_of(pairs: Pairs) -> np.ndarray:
    """Return the positions of pairs ab, bc and ac of all triples a < b < c that have all met, shape (triples, 3)."""
    number = np.full((pairs.entrants, pairs.entrants), -1)
    number[pairs.low, pairs.high] = np.arange(len(pairs.low))
    triples = np.array(list(combinations(range(pairs.entrants), 3)), dtype=np.int64).reshape(-1, 3)
    a, b, c = triples.T
    edges = np.stack([number[a, b], number[b, c], number[a, c]], axis=1)
    return edges[(edges >= 0).all(axis=1)]


def items_of(cells: PairCells) -> np.ndarray:
    """Return the number of items (clusters) on which each pair has a verdict, shape (pairs,)."""
    return np.diff(cells.weight.tocsc().indptr)


def model_deviation(rate: np.ndarray, triples: np.ndarray) -> np.ndarray:
    """Return the mean SNTD of win rates over triples, NaN where a rate is unknown, shape (...).

    Args:
        rate: win rate of each pair, shape (..., pairs).
        triples: positions of the pairs ab, bc and ac, shape (triples, 3).
    """
    ab, bc, ac = (rate[..., edge] for edge in triples.T)
    return np.asarray(deviation(ab, bc, ac).mean(axis=-1))


def _beyond_noise(
    cells: PairCells, triples: np.ndarray, level: float, resamples: int, rng: np.random.Generator, unit: str
) -> Figure | Missing:
    items = cells.credit.shape[0]
    draws = max(FEWEST_RESAMPLES, min(resamples, MOST_DRAWN // len(triples)))
    found = resample(lambda n: _drawn(cells, n, triples), items, draws, rng, width=3 * len(triples))
    rate = cells.pairs.credit / cells.pairs.weight
    ends = reflected(float(model_deviation(rate, triples)), found, level)
    if ends is None:
        why = "in most resamples of the items some pair has no verdict"
        return Missing(SNTD, why, "judge every pair on more items")
    usable = int((~np.isnan(found)).sum())
    method = REFLECTED.replace("item", unit) + f", {usable} resamples"
    return Figure(*ends, level, method, len(triples), "triples", items, Unit.NATS)


def _drawn(cells: PairCells, counts: np.ndarray, triples: np.ndarray) -> np.ndarray:
    credit, weight = cells.resampled(counts)
    rate = np.divide(credit, weight, out=np.full(credit.shape, np.nan), where=weight > 0)
    return model_deviation(rate, triples)


def _wins(cells: PairCells, rate: np.ndarray) -> np.ndarray:
    """Return one-sided p-values of a rate not above a half, first for low, then for high, shape (2, pairs).

    Clustered t over the items of each pair; where no item differs from another, the chance that all fall that way.
    """
    pairs = cells.pairs
    items = items_of(cells)
    error = (cells.credit - cells.weight.multiply(rate[None, :])).tocsc()
    squares = np.asarray(error.multiply(error).sum(axis=0)).ravel()
    se = np.sqrt(squares * items / np.maximum(items - 1, 1)) / pairs.weight
    flat = (se < 1e-12) | (items < 2)
    t = (rate - 0.5) / np.where(flat, 1, se)
    alone = np.where(rate == 0.5, 1.0, 0.5**items)
    low = np.where(flat, np.where(rate > 0.5, alone, 1.0), stdtr(np.maximum(items - 1, 1), -t))
    high = np.where(flat, np.where(rate < 0.5, alone, 1.0), stdtr(np.maximum(items - 1, 1), t))
    return np.stack([low, high])


def _rings(
    entrants: tuple[str, ...], pairs: Pairs, triples: np.ndarray, rate: np.ndarray, wins: np.ndarray
) -> list[Cycle]:
    """Return the rings among the rates, the surest first."""
    ab, bc, ac = triples.T
    forward = (rate[ab] > 0.5) & (rate[bc] > 0.5) & (rate[ac] < 0.5)
    backward = (rate[ab] < 0.5) & (rate[bc] < 0.5) & (rate[ac] > 0.5)
    found = [(row, 0) for row in np.flatnonzero(forward)] + [(row, 1) for row in np.flatnonzero(backward)]
    p = np.array([_weakest(wins, triples[row], way) for row, way in found])
    order = np.argsort(p, kind="stable")
    adjusted = _holm(p[order], 2 * len(triples))
    return [
        _cycle(entrants, pairs, rate, triples[found[k][0]], found[k][1], p[k], adjusted[n]) for n, k in enumerate(order)
    ]


def _weakest(wins: np.ndarray, edges: np.ndarray, way: int) -> float:
    ab, bc, ac = edges
    return float(max(wins[way, ab], wins[way, bc], wins[1 - way, ac]))


def _holm(ascending: np.ndarray, tests: int) -> np.ndarray:
    """Return Holm's adjusted p-values of the smallest of `tests` p-values, in ascending order."""
    raised = ascending * (tests - np.arange(len(ascending)))
    return np.minimum(np.maximum.accumulate(raised), 1)


def _cycle(
    entrants: tuple[str, ...], pairs: Pairs, rate: np.ndarray, edges: np.ndarray, way: int, p: float, adjusted: float
) -> Cycle:
    ab, bc, ac = edges
    a, b, c = (entrants[k] for k in (pairs.low[ab], pairs.high[ab], pairs.high[bc]))
    if way == 0:
        return Cycle((a, b, c), (float(rate[ab]), float(rate[bc]), float(1 - rate[ac])), float(p), float(adjusted))
    return Cycle((a, c, b), (float(rate[ac]), float(1 - rate[bc]), float(1 - rate[ab])), float(p), float(adjusted))


def _shown(value: float | Missing) -> str | Missing:
    return value if isinstance(value, Missing) else f"{value:.5f} nats, noise of the items included"


def _percent(rates: tuple[float, ...]) -> str:
    return " ".join(f"{100 * rate:.1f}" for rate in rates)


def _ring(one: Cycle) -> str:
    return " > ".join((*one.entrants, one.entrants[0]))
