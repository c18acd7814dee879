"""Non-transitivity between models: cycles of win rates, and their deviation from Bradley-Terry."""

from dataclasses import dataclass
from math import comb
from typing import Any

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
"""Triples times resamples; with more triples, fewer resamples are drawn."""
FEWEST_RESAMPLES = 100
MOST_MODELS = 300
MOST_LISTED = 100
FEWEST_ITEMS = 10
"""Items that a pair needs to enter the model-level SNTD."""
RATES = "model-level non-transitivity"
SNTD = "model-level SNTD"


@dataclass(frozen=True, slots=True)
class Cycle:
    """Three models that each beat the next, and the last the first; p is the largest of three, `adjusted` by Holm."""

    models: tuple[str, str, str]
    rates: tuple[float, float, float]
    p: float
    adjusted: float


@dataclass(frozen=True, slots=True)
class Cycles(CardAnswer):
    """Cycles (`rings`) among the win rates of models; those with an adjusted p of at most 1 - level are `certain`.

    `no_order` counts triples that agree with no weak order; `sntd` (nats, Xu et al. 2025, appendix C.2) is the mean
    over triples with at least 10 items per pair, and `beyond_noise` corrects it for sampling.
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

    def labelled_values(self) -> tuple[tuple[str, Value], ...]:
        of = f"of {self.triples:,} triples"
        sure = f"{self.certain:,} beyond chance at {self.level:.0%} (Holm over all cycles, item-clustered t)"
        sntd = self.sntd
        return (
            ("cycles of win rates", f"{self.rings:,} {of}; {sure}"),
            (f"no weak order (ties within {self.tie:g} of 0.5)", f"{self.no_order:,} {of}"),
            (SNTD, sntd if isinstance(sntd, Missing) else f"{sntd:.5f} nats, noise of the items included"),
            ("model-level SNTD beyond noise", self.beyond_noise),
        )

    def tables(self) -> tuple[Table, ...]:
        rows = []
        for cycle in self.cycles[:5]:
            rates = [f"{rate:.1%}" for rate in cycle.rates]
            rows.append((" > ".join((*cycle.models, cycle.models[0])), *rates, f"{cycle.adjusted:.3g}"))
        header = ("each beats the next", "first", "second", "third", "p (Holm)")
        return (Table("Cycles", header, tuple(rows)),) if rows else ()


def cycles(subject: Subject) -> Cycles | Missing:
    """Find cycles among the win rates, and measure how far the rates deviate from any strengths."""
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
    among = find_cycles(coded.models, cells, triples)
    sntd, beyond_noise = _estimate_deviation(cells, triples, subject, coded.unit)
    return Cycles(
        triples=len(triples),
        possible=comb(size, 3),
        tie=TIE,
        level=level,
        rings=len(among),
        certain=sum(cycle.adjusted <= 1 - level for cycle in among),
        no_order=int((KINDS[outcomes(rate[triples]) @ np.array([16, 4, 1])] == 1).sum()),
        sntd=sntd,
        beyond_noise=beyond_noise,
        cycles=tuple(among[:MOST_LISTED]),
    )


def _estimate_deviation(
    cells: PairCells, triples: np.ndarray, subject: Subject, unit: str
) -> tuple[float | Missing, Figured]:
    """Return the model-level SNTD over triples with enough items, as it is, and corrected for the sampling of items."""
    solid = triples[(cells.items >= FEWEST_ITEMS)[triples].all(axis=1)]
    if not len(solid):
        why, remedy = f"no three models have {FEWEST_ITEMS} items in each pair", "judge every pair on more items"
        few = Missing(SNTD, why, remedy)
        return few, few
    sntd = float(model_deviation(cells.pairs.credit / cells.pairs.weight, solid))
    number = max(FEWEST_RESAMPLES, min(RESAMPLES, MOST_DRAWN // len(solid)))
    draws = deviations_of_draws(cells, solid, number, subject.rng)
    estimate, usable = reflected_interval(sntd, draws, subject.level), int((~np.isnan(draws)).sum())
    if estimate is None:
        why = "in most resamples of the items some pair has no verdict"
        return sntd, Missing(SNTD, why, "judge every pair on more items")
    method = f"{unit} bootstrap, reflected and corrected for noise, {usable} resamples"
    facts: dict[str, Any] = {"level": subject.level, "clusters": cells.credit.shape[0], "unit": Unit.NATS}
    return sntd, Statistic(*estimate, method=method, n=len(solid), of="triples", **facts)


def find_triples(pairs: Pairs) -> np.ndarray:
    """Return, for all triples a < b < c whose pairs all met, the positions of ab, bc and ac, shape (triples, 3)."""
    number = np.full((pairs.models, pairs.models), -1)
    number[pairs.first, pairs.second] = np.arange(len(pairs.first))
    a, b, c = triples_among(pairs.models).T
    edges = np.stack([number[a, b], number[b, c], number[a, c]], axis=1)
    return edges[(edges >= 0).all(axis=1)]


def model_deviation(rate: np.ndarray, triples: np.ndarray) -> np.ndarray:
    """Return the mean SNTD of win rates over triples; NaN if a rate is unknown."""
    return np.asarray(deviation(*(rate[..., edge] for edge in triples.T)).mean(axis=-1))


def deviations_of_draws(cells: PairCells, triples: np.ndarray, resamples: int, rng: np.random.Generator) -> np.ndarray:
    """Return `model_deviation` for bootstrap resamples of the items, shape (resamples,)."""

    def deviations(counts: np.ndarray) -> np.ndarray:
        credit, weight = cells.resampled_sums(counts)
        return model_deviation(ratio_or_nan(credit, weight), triples)

    return resample(deviations, cells.credit.shape[0], resamples, rng, width=3 * len(triples))


def _win_p(cells: PairCells, rate: np.ndarray) -> np.ndarray:
    """Return one-sided p-values that a win rate is not above 0.5, for the first and second model, shape (2, pairs)."""
    items = cells.items
    error = (cells.credit - cells.weight.multiply(rate[None, :])).tocsc()
    squares = np.asarray(error.multiply(error).sum(axis=0)).ravel()
    freedom = np.maximum(items - 1, 1)
    se = np.sqrt(squares * items / freedom) / cells.pairs.weight
    flat = (se < 1e-12) | (items < 2)
    t = (rate - 0.5) / np.where(flat, 1, se)
    # If all items agree: the chance of that.
    alone = np.where(rate == 0.5, 1.0, 0.5**items)
    first = np.where(flat, np.where(rate > 0.5, alone, 1.0), stdtr(freedom, -t))
    second = np.where(flat, np.where(rate < 0.5, alone, 1.0), stdtr(freedom, t))
    return np.stack([first, second])


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
    cycles_found = []
    for k in np.argsort(p, kind="stable").tolist():
        a, b, c = (models[code] for code in (pairs.first[ab[k]], pairs.second[ab[k]], pairs.second[bc[k]]))
        of_ab, of_bc, of_ac = rate[edges[k]].tolist()
        backwards = (a, c, b), (of_ac, 1 - of_bc, 1 - of_ab)
        forwards = (a, b, c), (of_ab, of_bc, 1 - of_ac)
        cycles_found.append(Cycle(*(backwards if way[k] else forwards), float(p[k]), float(adjusted[k])))
    return cycles_found
