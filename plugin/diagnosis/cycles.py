"""Non-transitivity between models: cycles of win rates, and their deviation from Bradley-Terry."""

from dataclasses import dataclass, replace
from math import comb

import numpy as np
from scipy.special import stdtr

from podium.diagnosis.clustered import reflected_interval
from podium.diagnosis.figures import CardAnswer, Figured, Missing, Statistic, Unit, Value
from podium.diagnosis.subject import Subject
from podium.diagnosis.transitivity import KINDS, TIE, deviation, outcomes, triples_among
from podium.rankers.coded import code_battles, ratio_or_nan
from podium.rankers.intervals import holm, resample
from podium.rankers.pairs import PairCells, Pairs, cells_by_cluster, pair_sums
from podium.report.model import Table

RESAMPLES = 500
MOST_DRAWN = 20_000_000
"""Triples times resamples beyond which fewer resamples are drawn."""
FEWEST_RESAMPLES = 100
MOST_MODELS = 300
MOST_LISTED = 100
FEWEST_ITEMS = 10
"""Items that a pair needs before its win rate counts as that of two models."""
SHOWN = 5
RATES = "model-level non-transitivity"
SNTD = "model-level SNTD"


@dataclass(frozen=True, slots=True)
class Cycle:
    """Three models, each of which beats the next.

    Attributes:
        models, rates: each beats the next, the last the first, at these win rates.
        p: that one of the three is no win at all, by the weakest link (one-sided, item-clustered t).
        adjusted: p after Holm over both rings of every triple.
    """

    models: tuple[str, str, str]
    rates: tuple[float, float, float]
    p: float
    adjusted: float


@dataclass(frozen=True, slots=True)
class Cycles(CardAnswer):
    """Cycles among the win rates, and the deviation of win rates from any strengths.

    Attributes:
        triples, possible: of models: with win rates between all three, and all of them.
        tie: win rates within 0.5 +- this are ties in `no_order`.
        rings: triples in which each beats the next, in the rates as they are.
        certain: those that are no accident of the items at `level`, all rings taken together.
        no_order: triples whose three outcomes are no weak order, ties included.
        sntd: mean model-level SNTD (Xu et al. 2025, appendix C.2), natural logarithm, noise included, over the triples
            whose pairs have at least 10 items each.
        beyond_noise: the same without what the sample of items adds.
        cycles: the surest first (the first 100).
    """

    triples: int
    possible: int
    tie: float
    level: float
    rings: int
    certain: int
    no_order: int
    sntd: float | Missing
    beyond_noise: Figured
    cycles: tuple[Cycle, ...]

    def lines(self) -> tuple[tuple[str, Value], ...]:
        """Return the labelled figures of the section."""
        of = f"of {self.triples:,} triples"
        sure = f"{self.certain:,} beyond chance at {self.level:.0%} (Holm over all rings, item-clustered t)"
        sntd = self.sntd
        return (
            ("rings of win rates", f"{self.rings:,} {of}; {sure}"),
            (f"no weak order (ties within {self.tie:g} of 0.5)", f"{self.no_order:,} {of}"),
            (SNTD, sntd if isinstance(sntd, Missing) else f"{sntd:.5f} nats, noise of the items included"),
            ("model-level SNTD beyond noise", self.beyond_noise),
        )

    def tables(self) -> tuple[Table, ...]:
        """Return the table of the most certain cycles."""
        rows = []
        for ring in self.cycles[:SHOWN]:
            rates = [f"{rate:.1%}" for rate in ring.rates]
            rows.append((" > ".join((*ring.models, ring.models[0])), *rates, f"{ring.adjusted:.3g}"))
        header = ("each beats the next", "first", "second", "third", "p (Holm)")
        return (Table("Rings", header, tuple(rows)),) if rows else ()


def cycles(subject: Subject) -> Cycles | Missing:
    """Find cycles among the win rates, and measure how far the rates deviate from any strengths.

    A ring is certain when each of its three win rates is above a half: p is the largest of the three one-sided
    p-values (an intersection-union test), and Holm's rule covers both rings of every triple.
    """
    coded, level = code_battles(subject.battles), subject.level
    size = len(coded.models)
    if size > MOST_MODELS:
        return Missing(RATES, f"{size:,} models are too many", f"choose at most {MOST_MODELS} with --where")
    pairs = pair_sums(coded)
    triples = find_triples(pairs)
    if not len(triples):
        remedy = "judge round robins: all pairs of at least three models"
        return Missing(RATES, "no three models have all met", remedy)
    cells, rate = cells_by_cluster(coded, pairs), pairs.credit / pairs.weight
    rings = find_cycles(coded.models, cells, triples)
    solid = triples[(cells.items >= FEWEST_ITEMS)[triples].all(axis=1)]
    few = Missing(SNTD, f"no three models have {FEWEST_ITEMS} items in each pair", "judge every pair on more items")
    sntd: float | Missing = few
    beyond_noise: Figured = few
    if len(solid):
        sntd = float(model_deviation(rate, solid))
        number = max(FEWEST_RESAMPLES, min(RESAMPLES, MOST_DRAWN // len(solid)))
        draws = deviations_of_draws(cells, solid, number, subject.rng)
        estimate, usable = reflected_interval(sntd, draws, level), int((~np.isnan(draws)).sum())
        method = f"{coded.unit} bootstrap, reflected and corrected for noise, {usable} resamples"
        beyond_noise = replace(few, why="in most resamples of the items some pair has no verdict")
        if estimate is not None:
            facts = {"level": level, "method": method, "clusters": coded.clusters, "unit": Unit.NATS}
            beyond_noise = Statistic.from_estimate(estimate, n=len(solid), of="triples", **facts)
    return Cycles(
        triples=len(triples),
        possible=comb(size, 3),
        tie=TIE,
        level=level,
        rings=len(rings),
        certain=sum(ring.adjusted <= 1 - level for ring in rings),
        no_order=int((KINDS[outcomes(rate[triples]) @ np.array([16, 4, 1])] == 1).sum()),
        sntd=sntd,
        beyond_noise=beyond_noise,
        cycles=tuple(rings[:MOST_LISTED]),
    )


def find_triples(pairs: Pairs) -> np.ndarray:
    """Return the positions of pairs ab, bc, ac for all triples a < b < c whose pairs all met, shape (triples, 3)."""
    number = np.full((pairs.models, pairs.models), -1)
    number[pairs.first, pairs.second] = np.arange(len(pairs.first))
    a, b, c = triples_among(pairs.models).T
    edges = np.stack([number[a, b], number[b, c], number[a, c]], axis=1)
    return edges[(edges >= 0).all(axis=1)]


def model_deviation(rate: np.ndarray, triples: np.ndarray) -> np.ndarray:
    """Return the mean SNTD of win rates (..., pairs) over triples; NaN where a rate is unknown."""
    return np.asarray(deviation(*(rate[..., edge] for edge in triples.T)).mean(axis=-1))


def deviations_of_draws(cells: PairCells, triples: np.ndarray, resamples: int, rng: np.random.Generator) -> np.ndarray:
    """Return `model_deviation` for bootstrap resamples of the items, shape (resamples,)."""

    def deviations(counts: np.ndarray) -> np.ndarray:
        """Return the deviation for item counts of one or more resamples."""
        credit, weight = cells.resampled_sums(counts)
        return model_deviation(ratio_or_nan(credit, weight), triples)

    return resample(deviations, cells.credit.shape[0], resamples, rng, width=3 * len(triples))


def _win_p(cells: PairCells, rate: np.ndarray) -> np.ndarray:
    """Return one-sided p-values that a win rate is not above 0.5, for the lower and the higher code, shape (2, pairs).

    Clustered t over the items of each pair; where no item differs from another, the chance that all fall that way.
    """
    items = cells.items
    error = (cells.credit - cells.weight.multiply(rate[None, :])).tocsc()
    squares = np.asarray(error.multiply(error).sum(axis=0)).ravel()
    freedom = np.maximum(items - 1, 1)
    se = np.sqrt(squares * items / freedom) / cells.pairs.weight
    flat = (se < 1e-12) | (items < 2)
    t = (rate - 0.5) / np.where(flat, 1, se)
    alone = np.where(rate == 0.5, 1.0, 0.5**items)
    low = np.where(flat, np.where(rate > 0.5, alone, 1.0), stdtr(freedom, -t))
    high = np.where(flat, np.where(rate < 0.5, alone, 1.0), stdtr(freedom, t))
    return np.stack([low, high])


def find_cycles(models: tuple[str, ...], cells: PairCells, triples: np.ndarray) -> list[Cycle]:
    """Return the cycles among the win rates, most certain first."""
    pairs = cells.pairs
    rate = pairs.credit / pairs.weight
    above, below, win_p = (rate > 0.5)[triples], (rate < 0.5)[triples], _win_p(cells, rate)
    forward = above[:, 0] & above[:, 1] & below[:, 2]
    backward = below[:, 0] & below[:, 1] & above[:, 2]
    edges = np.concatenate([triples[forward], triples[backward]])
    way = np.repeat([0, 1], [forward.sum(), backward.sum()])
    ab, bc, ac = edges.T
    p = np.max([win_p[way, ab], win_p[way, bc], win_p[1 - way, ac]], axis=0)
    adjusted = holm(p, tests=2 * len(triples))
    rings = []
    for k in np.argsort(p, kind="stable").tolist():
        a, b, c = (models[code] for code in (pairs.first[ab[k]], pairs.second[ab[k]], pairs.second[bc[k]]))
        of_ab, of_bc, of_ac = rate[edges[k]].tolist()
        backwards = (a, c, b), (of_ac, 1 - of_bc, 1 - of_ab)
        ring = backwards if way[k] else ((a, b, c), (of_ab, of_bc, 1 - of_ac))
        rings.append(Cycle(*ring, float(p[k]), float(adjusted[k])))
    return rings
