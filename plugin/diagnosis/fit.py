"""Win rates that no strengths explain: cycles of models, and pairs that a Bradley-Terry fit
misses."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import fdtrc, stdtr

from podium.data.battles import Battles
from podium.diagnosis.clustered import reflected_interval
from podium.diagnosis.figures import CardAnswer, Figured, Missing, Statistic, Unit, Value
from podium.diagnosis.subject import Subject
from podium.diagnosis.transitivity import ROUND_ROBINS, deviation, triples_among
from podium.rankers.errors.intervals import finite_or_none, holm, resample, t_quantile
from podium.rankers.fit.coded import CodedBattles, code_battles, ratio_or_nan
from podium.rankers.fit.identification import fit_battles
from podium.rankers.fit.pairs import (
    PairCells,
    Pairs,
    cells_by_cluster,
    items_per_pair,
    pair_index,
    pair_sums,
)
from podium.rankers.fit.strengths import Strengths
from podium.tables import Table
from podium.wording import plural

RESAMPLES = 500
MOST_DRAWN = 20_000_000
"""Triples times resamples; with more triples, fewer resamples are drawn."""
FEWEST_RESAMPLES = 100
MOST_MODELS = 300
MOST_LISTED = 100
FEWEST_ITEMS = 10
"""Items that a pair needs to enter the model-level SNTD."""
CLOSE_A_CYCLE = "judge pairs that close a cycle, for example a round robin of three models"
FEWEST_OF_A_KIND = 5
"""Expected wins, and losses, that a pair needs for a t test."""
ROUNDING = 1e-9
"""Standard error of a mean credit that counts as 0: all items agree."""


class Cycle(NamedTuple):
    """Three models that each beat the next, and the last the first; p is the largest of three,
    `adjusted` by Holm."""

    models: tuple[str, str, str]
    rates: tuple[float, float, float]
    p: float
    adjusted: float


@dataclass(frozen=True, slots=True)
class Cycles(CardAnswer):
    """Cycles (`rings`) among the win rates of models; `certain` ones have an adjusted p of at most
    1 - level.

    `sntd` (nats, Xu et al. 2025, appendix C.2) is the mean over triples with at least 10 items per
    pair, and `beyond_noise` corrects it for sampling."""

    triples: int
    level: float
    rings: int
    certain: int
    sntd: float | Missing
    beyond_noise: Figured
    cycles: tuple[Cycle, ...]

    def labelled_values(self) -> tuple[tuple[str, Value], ...]:
        sure = f"{self.certain:,} beyond chance at {self.level:.0%} (Holm over all cycles, item-clustered t)"
        sntd = (
            self.sntd
            if isinstance(self.sntd, Missing)
            else f"{self.sntd:.5f} nats, noise of the items included"
        )
        return (
            ("cycles of win rates", f"{self.rings:,} of {self.triples:,} triples; {sure}"),
            ("model-level SNTD", sntd),
            ("model-level SNTD beyond noise", self.beyond_noise),
        )

    def tables(self) -> tuple[Table, ...]:
        rows = tuple(
            (
                " > ".join((*own.models, own.models[0])),
                *(f"{rate:.1%}" for rate in own.rates),
                f"{own.adjusted:.3g}",
            )
            for own in self.cycles[:5]
        )
        header = ("each beats the next", "first", "second", "third", "p (Holm)")
        return (Table("Cycles", header, rows),) if rows else ()


def cycles(subject: Subject) -> Cycles | Missing:
    """Find cycles among the win rates, and measure how far the rates deviate from any strengths."""
    coded, level = code_battles(subject.battles), subject.level
    if len(coded.models) > MOST_MODELS:
        return Missing(
            f"{len(coded.models):,} models are too many",
            f"choose at most {MOST_MODELS} with --where",
        )
    pairs = pair_sums(coded)
    triples = find_triples(pairs)
    if not len(triples):
        return Missing("no three models have all met", f"judge {ROUND_ROBINS}")
    cells = cells_by_cluster(coded, pairs)
    among = find_cycles(coded.models, cells, triples)
    sntd, beyond_noise = _estimate_deviation(cells, triples, subject, coded.unit)
    return Cycles(
        triples=len(triples),
        level=level,
        rings=len(among),
        certain=sum(cycle.adjusted <= 1 - level for cycle in among),
        sntd=sntd,
        beyond_noise=beyond_noise,
        cycles=tuple(among[:MOST_LISTED]),
    )


def _estimate_deviation(
    cells: PairCells, triples: np.ndarray, subject: Subject, unit: str
) -> tuple[float | Missing, Figured]:
    """Return the model-level SNTD over triples with enough items, as it is, and corrected for the
    sampling of items."""
    solid, remedy = (
        triples[(cells.items >= FEWEST_ITEMS)[triples].all(axis=1)],
        "judge every pair on more items",
    )
    if not len(solid):
        few = Missing(f"no three models have {FEWEST_ITEMS} items in each pair", remedy)
        return few, few
    sntd = float(model_deviation(cells.pairs.credit / cells.pairs.weight, solid))
    number = max(FEWEST_RESAMPLES, min(RESAMPLES, MOST_DRAWN // len(solid)))
    draws = deviations_of_draws(cells, solid, number, subject.rng)
    estimate, usable = reflected_interval(sntd, draws, subject.level), int((~np.isnan(draws)).sum())
    if estimate is None:
        return sntd, Missing("in most resamples of the items some pair has no verdict", remedy)
    method = f"{unit} bootstrap, reflected and corrected for noise, {usable} resamples"
    facts: dict[str, Any] = {
        "level": subject.level,
        "clusters": cells.credit.shape[0],
        "unit": Unit.NATS,
    }
    return sntd, Statistic(*estimate, method=method, n=len(solid), of="triples", **facts)


def find_triples(pairs: Pairs) -> np.ndarray:
    """Return, for all triples a < b < c whose pairs all met, the positions of ab, bc and ac, shape
    (triples, 3)."""
    number = np.full((pairs.models, pairs.models), -1)
    number[pairs.first, pairs.second] = np.arange(len(pairs.first))
    a, b, c = triples_among(pairs.models).T
    edges = np.stack([number[a, b], number[b, c], number[a, c]], axis=1)
    return edges[(edges >= 0).all(axis=1)]


def model_deviation(rate: np.ndarray, triples: np.ndarray) -> np.ndarray:
    """Return the mean SNTD of win rates over triples; NaN if a rate is unknown."""
    return np.asarray(deviation(*(rate[..., edge] for edge in triples.T)).mean(axis=-1))


def deviations_of_draws(
    cells: PairCells, triples: np.ndarray, resamples: int, rng: np.random.Generator
) -> np.ndarray:
    """Return `model_deviation` for bootstrap resamples of the items, shape (resamples,)."""

    def deviations(counts: np.ndarray) -> np.ndarray:
        credit, weight = cells.resampled_sums(counts)
        return model_deviation(ratio_or_nan(credit, weight), triples)

    return resample(deviations, cells.credit.shape[0], resamples, rng, width=3 * len(triples))


def _win_p(cells: PairCells, rate: np.ndarray) -> np.ndarray:
    """Return one-sided p-values that a win rate is not above 0.5, for the first and second model,
    shape (2, pairs)."""
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
        a, b, c = (
            models[code] for code in (pairs.first[ab[k]], pairs.second[ab[k]], pairs.second[bc[k]])
        )
        of_ab, of_bc, of_ac = rate[edges[k]].tolist()
        backwards = (a, c, b), (of_ac, 1 - of_bc, 1 - of_ab)
        forwards = (a, b, c), (of_ab, of_bc, 1 - of_ac)
        cycles_found.append(
            Cycle(*(backwards if way[k] else forwards), float(p[k]), float(adjusted[k]))
        )
    return cycles_found


class PairResidual(NamedTuple):
    """Observed and expected win rate of a pair, stronger first, and a test (`adjusted`: Holm); None
    if untestable."""

    first: str
    second: str
    battles: int
    observed: float
    expected: float
    residual: float
    low: float | None
    high: float | None
    p: float | None
    adjusted: float | None


class JointTest(NamedTuple):
    """An F test that all residuals are 0, with its two degrees of freedom and p-value."""

    statistic: float
    degrees: tuple[int, int]
    p: float

    def __str__(self) -> str:
        return f"F({self.degrees[0]}, {self.degrees[1]}) = {self.statistic:.2f}, p = {self.p:.2g}"


class MisfitModel(NamedTuple):
    """The model whose pairs differ most from the strengths taken together, and p (F test,
    Bonferroni over models)."""

    model: str
    p: float

    def __str__(self) -> str:
        return f"{self.model}, all its pairs together: p = {self.p:.2g} (F test, Bonferroni over models)"


@dataclass(frozen=True, slots=True)
class BradleyTerryFit(CardAnswer):
    """The fit of strengths to the win rates of all pairs; `missed` counts adjusted p-values of at
    most 1 - level."""

    pairs: int
    tested: int
    level: float
    method: str
    missed: int
    whole: JointTest | Missing
    worst: MisfitModel | None
    misses: tuple[PairResidual, ...]

    def labelled_values(self) -> tuple[tuple[str, Value], ...]:
        among = f"{self.missed:,} of {self.tested:,} tested pairs ({self.pairs:,} met) at {self.level:.0%}"
        return (
            ("pairs that it misses", f"{among}, Holm; {self.method}"),
            (
                "all pairs together",
                self.whole if isinstance(self.whole, Missing) else str(self.whole),
            ),
            *([("model that it misses most", str(self.worst))] if self.worst else []),
        )

    def tables(self) -> tuple[Table, ...]:
        rows = []
        for miss in self.misses[:5]:
            rates = (f"{miss.observed:.1%}", f"{miss.expected:.1%}", f"{100 * miss.residual:+.1f}")
            ends = [f"{100 * end:+.1f}" for end in (miss.low, miss.high) if end is not None]
            p = "-" if miss.adjusted is None else f"{miss.adjusted:.2g}"
            rows.append(
                (
                    f"{miss.first} - {miss.second}",
                    f"{miss.battles:,}",
                    *rates,
                    " to ".join(ends) or "-",
                    p,
                )
            )
        header = ("pair", "battles", "observed", "expected", "points off", "interval", "p (Holm)")
        return (Table("Pairs farthest from the fit", header, tuple(rows), spare=("battles",)),)


def bradley_terry_fit(battles: Battles, *, level: float = 0.95) -> BradleyTerryFit | Missing:
    """Test every pair's win rate against fitted strengths, and all by Hotelling's T^2; raises
    NotIdentifiedError."""
    coded = code_battles(battles)
    strengths = fit_battles(coded)
    pairs, names = strengths.pairs, coded.models
    if len(pairs.first) < len(names):
        why = f"{len(names)} models met in {len(pairs.first)} pairs only, which some strengths always explain"
        return Missing(why, CLOSE_A_CYCLE)
    influence, expected = (
        influence_on_residuals(coded, strengths),
        expected_without_penalty(strengths),
    )
    residual, items = pairs.credit / pairs.weight - expected, items_per_pair(coded, pairs)
    p, reach = _test_pairs(strengths, expected, influence, items, level)
    adjusted, known = holm(p), ~np.isnan(reach)
    among = len(np.unique(np.concatenate([pairs.first[known], pairs.second[known]])))
    battles_of = np.bincount(pair_index(coded, pairs)[0], minlength=len(pairs.first))
    misses = []
    for k in np.lexsort((-np.abs(residual), np.nan_to_num(p, nan=2.0))).tolist():
        first, second, rate, off = (
            names[pairs.first[k]],
            names[pairs.second[k]],
            float(expected[k]),
            float(residual[k]),
        )
        if rate < 0.5:
            first, second, rate, off = second, first, 1 - rate, -off
        test = map(finite_or_none, (off - reach[k], off + reach[k], p[k], adjusted[k]))
        misses.append(PairResidual(first, second, int(battles_of[k]), rate + off, rate, off, *test))
    tested = f"{known.sum()} tested {plural('pair', known.sum())} on {coded.clusters} items"
    few = Missing(f"no joint test with {tested}", "judge more pairs and items")
    return BradleyTerryFit(
        pairs=len(pairs.first),
        tested=int((~np.isnan(p)).sum()),
        level=level,
        method=f"{coded.unit}-clustered sandwich of the residuals, t",
        missed=int((adjusted <= 1 - level).sum()),
        whole=_joint_test(residual[known], influence[:, known], among) or few,
        worst=_test_models(strengths, names, residual, influence, known),
        misses=tuple(misses),
    )


def expected_without_penalty(strengths: Strengths) -> np.ndarray:
    """Return the expected win rate of each pair, corrected for the regularization to first order,
    shape (pairs,)."""
    # Uncorrected, a pair that strengths always explain would have a residual from the penalty, and
    # hardly any error.
    pairs, back = strengths.pairs, strengths.solve(strengths.regularization * strengths.theta)
    expected = strengths.expected_credit(pairs.first, pairs.second)
    return expected + expected * (1 - expected) * (back[pairs.first] - back[pairs.second])


def influence_on_residuals(coded: CodedBattles, strengths: Strengths) -> np.ndarray:
    """Return the influence of each cluster on each pair's residual, shape (clusters, pairs)."""
    pairs, cells = strengths.pairs, cells_by_cluster(coded, strengths.pairs)
    expected = strengths.expected_credit(pairs.first, pairs.second)
    own = (cells.credit - cells.weight.multiply(expected[None, :])).toarray() / pairs.weight
    pull = strengths.influence(coded)
    return (
        own
        - own.mean(axis=0)
        - expected * (1 - expected) * (pull[:, pairs.first] - pull[:, pairs.second])
    )


def _test_pairs(
    strengths: Strengths,
    expected: np.ndarray,
    influence: np.ndarray,
    items: np.ndarray,
    level: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Return p-values of the residuals and half-widths of their intervals, NaN if untestable, shape
    (pairs,) each."""
    pairs, clusters, out = strengths.pairs, len(influence), strengths.graph.separated
    residual, rarer = pairs.credit / pairs.weight - expected, np.minimum(expected, 1 - expected)
    tested = (
        ~(out[pairs.first] | out[pairs.second])
        & (items >= FEWEST_ITEMS)
        & (items * rarer >= FEWEST_OF_A_KIND)
    )
    flat = (pairs.credit == 0) | (pairs.credit == pairs.weight)
    se = np.sqrt((influence**2).sum(axis=0) * clusters / max(clusters - 1, 1))
    varied = tested & ~flat & (se > ROUNDING)
    t = np.divide(residual, se, out=np.zeros(len(se)), where=varied)
    p = np.where(varied, 2 * stdtr(np.maximum(items - 1, 1), -np.abs(t)), np.nan)
    # If one model won all battles, there is no variance: twice the chance of that.
    p = np.where(
        tested & flat, np.minimum(2 * np.where(residual > 0, expected, 1 - expected) ** items, 1), p
    )
    return p, np.where(varied, t_quantile(np.maximum(items, 2), level) * se, np.nan)


def _joint_test(residual: np.ndarray, influence: np.ndarray, models: int) -> JointTest | None:
    """Test that all residuals are 0, by Hotelling's T^2 on the pairs beyond the models - 1 fitted
    strengths."""
    clusters, surplus = len(influence), len(residual) - (models - 1)
    if not len(residual) or not 1 <= surplus < clusters - 1:
        return None
    values, vectors = np.linalg.eigh(influence.T @ influence * (clusters / (clusters - 1)))
    kept = np.argsort(values)[::-1][:surplus]
    if values[kept].min() <= 1e-12 * values.max():
        return None
    square = float(np.sum((vectors[:, kept].T @ residual) ** 2 / values[kept]))
    statistic = square * (clusters - surplus) / (surplus * (clusters - 1))
    degrees = (surplus, clusters - surplus)
    return JointTest(statistic, degrees, float(fdtrc(*degrees, statistic)))


def _test_models(
    strengths: Strengths,
    names: Sequence[str],
    residual: np.ndarray,
    influence: np.ndarray,
    known: np.ndarray,
) -> MisfitModel | None:
    """Test the residuals of each model's pairs together; None if no model has enough pairs or
    items."""
    tests = []
    for k, name in enumerate(names):
        own = known & ((strengths.pairs.first == k) | (strengths.pairs.second == k))
        # The model's own strength takes one dimension, as in a fit of two models.
        test = _joint_test(residual[own], influence[:, own], 2)
        tests += [(test.p, name)] if test else []
    return MisfitModel(min(tests)[1], min(1.0, min(tests)[0] * len(tests))) if tests else None
