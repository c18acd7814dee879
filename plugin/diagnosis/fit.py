"""Win rates that no strengths explain: cycles of models, and pairs that a fit does not explain."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from podium.data.battles import Battles
from podium.diagnosis.clustered import reflected_interval
from podium.diagnosis.figures import CardAnswer, Figured, Missing, Statistic, Unit, Value
from podium.diagnosis.fit_p_value import ModelTest, smallest_adjusted_p
from podium.diagnosis.subject import Subject
from podium.diagnosis.transitivity import ROUND_ROBINS, deviation, triples_among
from podium.distinct_values import distinct_values
from podium.distributions import fdtrc, stdtr
from podium.rankers.errors.intervals import finite_or_none, holm, resample, t_quantile
from podium.rankers.fit.coded import CodedBattles, code_battles, ratio_or_nan
from podium.rankers.fit.identification import fit_battles
from podium.rankers.fit.pairs import (
    PairCells,
    Pairs,
    cells_by_cluster,
    items_per_pair,
    pair_positions,
    pair_sums,
)
from podium.rankers.fit.strengths import Strengths
from podium.tables import Table
from podium.wording import quantity

RESAMPLES = 500
"""Number of bootstrap resamples from which the noise of the SNTD is computed."""
MOST_TRIPLES_TIMES_DRAWS = 20_000_000
"""Largest product of triples and resamples.

With more triples, fewer than `RESAMPLES` are drawn, but never fewer than `FEWEST_RESAMPLES`.
"""
FEWEST_RESAMPLES = 100
"""Smallest number of resamples, however many triples there are."""
MOST_MODELS = 300
"""Largest number of models among which cycles are searched."""
MOST_LISTED = 100
"""Largest number of cycles that are listed; all are counted."""
FEWEST_ITEMS = 10
"""Fewest items of a pair that enters the model-level SNTD, or that is tested against the fit."""
CLOSE_CYCLE_REMEDY = "judge pairs that close a cycle, for example a round robin of three models"
"""Remedy if the pairs that met form no cycle, so that nothing can be tested."""
FEWEST_EXPECTED = 5
"""Fewest expected wins, and fewest expected losses, of a pair that is tested against the fit.

With fewer, the t distribution does not hold.
"""
ROUNDING_SE = 1e-9
"""Standard errors up to this count as 0: the residual is the same on all items."""


class Cycle(NamedTuple):
    """Three models that beat one another in a circle: a beats b, b beats c, and c beats a.

    Attributes:
        models: names of a, b and c.
        rates: win rates of a against b, of b against c, and of c against a.
        p: the largest of the three p-values of the hypotheses that a win rate is at most 0.5.
        adjusted: the p-value, adjusted by Holm's rule over both possible cycles of every triple.
    """

    models: tuple[str, str, str]
    rates: tuple[float, float, float]
    p: float
    adjusted: float


@dataclass(frozen=True, slots=True)
class Cycles(CardAnswer):
    """Cycles among the win rates of models.

    Attributes:
        triples: number of triples of models whose pairs all met.
        level: confidence level.
        cycle_count: number of cycles, of which `cycles` may list only a part.
        certain: number of cycles with an adjusted p of at most 1 - level.
        cluster: what a cluster of the tests is: `item`, a group of items such as `passage`, or
            `row`.
        sntd: soft non-transitivity deviation (SNTD) of the win rates in nats, the mean over
            triples with at least 10 items per pair. Source: Xu et al. 2025, appendix C.2.
        beyond_noise: `sntd` without the part that the sampling of items adds.
        cycles: at most 100 cycles, those with the smallest p-values first.
    """

    triples: int
    level: float
    cycle_count: int
    certain: int
    cluster: str
    sntd: float | Missing
    beyond_noise: Figured
    cycles: tuple[Cycle, ...]

    def labelled_values(self) -> tuple[tuple[str, Value], ...]:
        """Return label and value: numbers of cycles, model-level SNTD with and without noise."""
        certain = (
            f"{self.certain:,} beyond chance at {self.level:.0%} "
            f"(Holm over all cycles, {self.cluster}-clustered t)"
        )
        sntd: Value
        if isinstance(self.sntd, Missing):
            sntd = self.sntd
        else:
            sntd = f"{self.sntd:.5f} nats, noise of the items included"
        return (
            (
                "cycles of win rates",
                f"{self.cycle_count:,} of {quantity(self.triples, 'triple')}; {certain}",
            ),
            ("model-level SNTD", sntd),
            ("model-level SNTD beyond noise", self.beyond_noise),
        )

    def tables(self) -> tuple[Table, ...]:
        """Return a table of the five cycles with the smallest p-values.

        The tuple has one table, or is empty without a cycle.
        """
        rows = []
        for cycle in self.cycles[:5]:
            path = " > ".join((*cycle.models, cycle.models[0]))
            rates = [f"{rate:.1%}" for rate in cycle.rates]
            rows.append((path, *rates, f"{cycle.adjusted:.3g}"))
        header = ("each beats the next", "first", "second", "third", "p (Holm)")
        return (Table(title="Cycles", header=header, rows=tuple(rows)),) if rows else ()


def cycles(subject: Subject) -> Cycles | Missing:
    """Find cycles among the win rates, and measure how far the win rates are from transitive.

    The win rates are over all battles of a pair; ties count half.

    Returns:
        The cycles; `Missing` for more than 300 models, or if no three models have all met.

    Raises:
        NotIdentifiedError: no battle is readable.
    """
    coded = code_battles(subject.battles)
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
    all_cycles = find_cycles(coded.models, cells, triples)
    sntd, beyond_noise = _estimate_deviation(cells, triples, subject, coded.unit)
    return Cycles(
        triples=len(triples),
        level=subject.level,
        cycle_count=len(all_cycles),
        certain=sum(cycle.adjusted <= 1 - subject.level for cycle in all_cycles),
        cluster=coded.unit,
        sntd=sntd,
        beyond_noise=beyond_noise,
        cycles=tuple(all_cycles[:MOST_LISTED]),
    )


def _estimate_deviation(
    cells: PairCells, triples: np.ndarray, subject: Subject, unit: str
) -> tuple[float | Missing, Figured]:
    """Return the mean SNTD of win rates, over triples whose pairs have `FEWEST_ITEMS` items each.

    Args:
        cells: the credits by cluster and pair.
        triples: positions of the three pairs of each triple, shape (triples, 3).
        subject: the judge.
        unit: what a cluster is.

    Returns:
        The SNTD in the sample. And its value corrected for the noise that the sampling of items
        adds, with an interval. Both are `Missing` without such a triple. The corrected value is
        also `Missing` if most resamples leave a pair without a verdict.
    """
    remedy = "judge every pair on more items"
    has_enough = cells.items >= FEWEST_ITEMS
    kept_triples = triples[has_enough[triples].all(axis=1)]
    if not len(kept_triples):
        missing = Missing(f"no three models have {FEWEST_ITEMS} items in each pair", remedy)
        return missing, missing
    sntd = float(model_deviation(cells.pairs.credit / cells.pairs.weight, kept_triples))
    resamples = max(FEWEST_RESAMPLES, min(RESAMPLES, MOST_TRIPLES_TIMES_DRAWS // len(kept_triples)))
    draws = deviations_of_draws(cells, kept_triples, resamples, subject.rng)
    estimate = reflected_interval(sntd, draws, subject.level)
    if estimate is None:
        return sntd, Missing("in most resamples of the items some pair has no verdict", remedy)
    usable = int((~np.isnan(draws)).sum())
    beyond_noise = Statistic(
        *estimate,
        level=subject.level,
        method=f"{unit} bootstrap, reflected and corrected for noise, {usable} resamples",
        n=len(kept_triples),
        of="triples",
        clusters=cells.clusters,
        cluster=unit,
        unit=Unit.NATS,
    )
    return sntd, beyond_noise


def find_triples(pairs: Pairs) -> np.ndarray:
    """Return the triples of models whose pairs all met.

    Returns:
        The positions in `pairs` of the pairs (a, b), (b, c) and (a, c) of each triple of codes
        a < b < c, shape (triples, 3).
    """
    position = np.full((pairs.models, pairs.models), -1)
    position[pairs.first, pairs.second] = np.arange(len(pairs.first))
    a, b, c = triples_among(pairs.models).T
    edges = np.stack([position[a, b], position[b, c], position[a, c]], axis=1)
    return edges[(edges >= 0).all(axis=1)]


def model_deviation(rate: np.ndarray, triples: np.ndarray) -> np.ndarray:
    """Return the mean SNTD of win rates over triples.

    Args:
        rate: win rates of the pairs, shape (..., pairs).
        triples: positions of the pairs ab, bc and ac of each triple, shape (triples, 3).

    Returns:
        The mean in nats, NaN if a rate of these pairs is unknown, shape (...).
    """
    ab, bc, ac = (rate[..., edge] for edge in triples.T)
    return np.asarray(deviation(ab, bc, ac).mean(axis=-1))


def deviations_of_draws(
    cells: PairCells, triples: np.ndarray, resamples: int, rng: np.random.Generator
) -> np.ndarray:
    """Return `model_deviation` for bootstrap resamples of the items, shape (resamples,).

    The deviation is NaN for a resample in which a pair of the triples has no battle.
    """

    def deviations(counts: np.ndarray) -> np.ndarray:
        """Return the mean SNTD for item counts of shape (draws, items), shape (draws,)."""
        credit, weight = cells.resampled_sums(counts)
        return model_deviation(ratio_or_nan(credit, weight), triples)

    return resample(deviations, cells.clusters, resamples, rng, width=3 * len(triples))


def _win_p_values(cells: PairCells, rate: np.ndarray) -> np.ndarray:
    """Return one-sided p-values of the hypothesis that a win rate is at most 0.5.

    The shape is (2, pairs): the first row is for the win rate of each pair's first model, the
    second row for that of the second model. The test is a t test clustered by item. If all items
    have the same credit, or if there is a single item, the p-value of the model that wins more is
    the probability that it wins all items by chance, and that of the other model is 1.

    Args:
        cells: the credits by cluster and pair.
        rate: win rate of each pair's first model, shape (pairs,).
    """
    items = cells.items
    squares = np.bincount(cells.pair, cells.surplus_over(rate) ** 2, len(rate))
    freedom = np.maximum(items - 1, 1)
    se = np.sqrt(squares * items / freedom) / cells.pairs.weight
    has_no_variance = (se < 1e-12) | (items < 2)
    t = (rate - 0.5) / np.where(has_no_variance, 1, se)
    # Without variance, the p-value of the better model is the probability that it wins all items if
    # each is won with probability 0.5. The p-value of the other model is 1. At a win rate of 0.5,
    # both p-values are 1.
    p_of_all_won = 0.5**items
    first_without_variance = np.where(rate > 0.5, p_of_all_won, 1.0)
    second_without_variance = np.where(rate < 0.5, p_of_all_won, 1.0)
    first = np.where(has_no_variance, first_without_variance, stdtr(freedom, -t))
    second = np.where(has_no_variance, second_without_variance, stdtr(freedom, t))
    return np.stack([first, second])


def find_cycles(models: tuple[str, ...], cells: PairCells, triples: np.ndarray) -> list[Cycle]:
    """Return the cycles among the win rates, the smallest p-value first.

    Both directions of each triple are searched: a beats b beats c beats a, and the reverse. A win
    rate of 0.5 belongs to no cycle. Equal p-values keep the order of the triples, forward cycles
    first.

    Args:
        models: names of the models.
        cells: the credits by cluster and pair.
        triples: positions of the pairs ab, bc and ac of each triple, shape (triples, 3).
    """
    pairs = cells.pairs
    rate = pairs.credit / pairs.weight
    p_values = _win_p_values(cells, rate)
    # Whether the first model of each pair has won, or lost, shape (triples, 3).
    above = (rate > 0.5)[triples]
    below = (rate < 0.5)[triples]
    is_forward = above[:, 0] & above[:, 1] & below[:, 2]
    is_backward = below[:, 0] & below[:, 1] & above[:, 2]
    # A cycle of a triple runs forward (a beats b, b beats c, c beats a) or backward. `direction` is
    # 0 or 1, and also the row of `p_values` for the winners of the pairs ab and bc; the winner of
    # ac is in the other row. Two cycles per triple are possible, which makes 2 * triples tests.
    edges = np.concatenate([triples[is_forward], triples[is_backward]])
    direction = np.repeat([0, 1], [is_forward.sum(), is_backward.sum()])
    ab, bc, ac = edges.T
    p = np.max(
        [p_values[direction, ab], p_values[direction, bc], p_values[1 - direction, ac]], axis=0
    )
    adjusted = holm(p, tests=2 * len(triples))
    cycles_found = []
    for k in np.argsort(p, kind="stable").tolist():
        a = models[pairs.first[ab[k]]]
        b = models[pairs.second[ab[k]]]
        c = models[pairs.second[bc[k]]]
        rate_ab, rate_bc, rate_ac = rate[edges[k]].tolist()
        names = (a, b, c)
        rates = (rate_ab, rate_bc, 1 - rate_ac)
        if direction[k]:
            names = (a, c, b)
            rates = (rate_ac, 1 - rate_bc, 1 - rate_ab)
        cycles_found.append(
            Cycle(models=names, rates=rates, p=float(p[k]), adjusted=float(adjusted[k]))
        )
    return cycles_found


class PairResidual(NamedTuple):
    """The residual of a pair: observed minus expected win rate of the stronger model, and its test.

    Attributes:
        first: the model that the strengths put ahead.
        second: the other model.
        battles: number of battles of the two.
        observed: win rate of the first model.
        expected: win rate of the first model by the strengths.
        residual: observed - expected win rate.
        low: lower end of the interval of the residual; None if there is no interval.
        high: upper end of the interval of the residual; None if there is no interval.
        p: two-sided p-value that the residual is 0; None if it cannot be tested.
        adjusted: the p-value, adjusted by Holm's rule over all pairs that can be tested.
    """

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
    """An F test that all residuals are 0.

    Attributes:
        statistic: the value of F.
        degrees: degrees of freedom of numerator and denominator.
        p: p-value.
    """

    statistic: float
    degrees: tuple[int, int]
    p: float

    def __str__(self) -> str:
        return f"F({self.degrees[0]}, {self.degrees[1]}) = {self.statistic:.2f}, p = {self.p:.2g}"


class MisfitModel(NamedTuple):
    """The model whose pairs, taken together, differ most from the strengths.

    Attributes:
        model: name of the model.
        p: p-value of an F test that all residuals of the model's pairs are 0, adjusted by
            Bonferroni's rule over models.
    """

    model: str
    p: float

    def __str__(self) -> str:
        method = "F test, Bonferroni over models"
        return f"{self.model}, all its pairs together: p = {self.p:.2g} ({method})"


@dataclass(frozen=True, slots=True)
class BradleyTerryFit(CardAnswer):
    """The fit of strengths to the win rates of all pairs.

    Attributes:
        pairs: number of pairs that met.
        tested: number of pairs that could be tested.
        level: confidence level.
        method: description of the tests.
        missed: number of pairs with an adjusted p-value of at most 1 - level, which the strengths
            do not explain.
        whole: test that the residuals of all pairs are 0.
        worst: the model whose pairs differ most from the strengths; None if no model can be
            tested.
        p: the smallest p-value of all pairs and models, adjusted for all of them (min-P); None if
            none can be tested.
        residuals: the residuals of all pairs, whether or not the strengths explain them. The pair
            with the smallest p-value comes first, pairs that cannot be tested last.
    """

    pairs: int
    tested: int
    level: float
    method: str
    missed: int
    whole: JointTest | Missing
    worst: MisfitModel | None
    p: float | None
    residuals: tuple[PairResidual, ...]

    def labelled_values(self) -> tuple[tuple[str, Value], ...]:
        """Return label and value of the number of pairs that do not fit, and of the joint tests."""
        missed = f"{self.missed:,} of {quantity(self.tested, 'tested pair')} ({self.pairs:,} met)"
        whole = self.whole if isinstance(self.whole, Missing) else str(self.whole)
        lines: list[tuple[str, Value]] = [
            ("pairs that it misses", f"{missed} at {self.level:.0%}, Holm; {self.method}"),
            ("all pairs together", whole),
        ]
        if self.worst:
            lines.append(("model that it misses most", str(self.worst)))
        if self.p is not None:
            adjusted = f"p = {self.p:.2g} (min-P, adjusted for all of them)"
            lines.append(("pairs and models together", adjusted))
        return tuple(lines)

    def tables(self) -> tuple[Table, ...]:
        """Return a table of the five pairs with the smallest p-values, significant or not.

        If fewer than five pairs can be tested, untested ones with the largest residuals follow.
        """
        rows = []
        for pair in self.residuals[:5]:
            ends = [f"{100 * end:+.1f}" for end in (pair.low, pair.high) if end is not None]
            row = (
                f"{pair.first} - {pair.second}",
                f"{pair.battles:,}",
                f"{pair.observed:.1%}",
                f"{pair.expected:.1%}",
                f"{100 * pair.residual:+.1f}",
                " to ".join(ends) or "-",
                "-" if pair.adjusted is None else f"{pair.adjusted:.2g}",
            )
            rows.append(row)
        header = ("pair", "battles", "observed", "expected", "points off", "interval", "p (Holm)")
        return (
            Table(
                title="Pairs farthest from the fit",
                header=header,
                rows=tuple(rows),
                spare=("battles",),
            ),
        )


def bradley_terry_fit(battles: Battles, *, level: float = 0.95) -> BradleyTerryFit | Missing:
    """Test every pair's win rate against fitted strengths, one by one and all together.

    A single pair is tested by a t test, all pairs together by Hotelling's T^2.

    Args:
        battles: the battles.
        level: confidence level of intervals, in (0, 1).

    Returns:
        The tests; `Missing` if fewer pairs met than there are models. The comparison graph is then
        a tree, and strengths explain all win rates exactly.

    Raises:
        NotIdentifiedError: no battle is readable, or the battles do not connect all models.
        NotConvergedError: the fit does not converge.
    """
    coded = code_battles(battles)
    strengths = fit_battles(coded)
    pairs = strengths.pairs
    names = coded.models
    if len(pairs.first) < len(names):
        met = quantity(len(pairs.first), "pair")
        why = f"{len(names)} models met in {met} only, which some strengths always explain"
        return Missing(why, CLOSE_CYCLE_REMEDY)
    influence = influence_on_residuals(coded, strengths)
    expected = expected_without_penalty(strengths)
    residual = pairs.credit / pairs.weight - expected
    items = items_per_pair(coded, pairs)
    p, half_width = _test_pairs(strengths, expected, influence, items, level)
    has_interval = ~np.isnan(half_width)
    known_models = len(
        distinct_values(np.concatenate([pairs.first[has_interval], pairs.second[has_interval]]))
    )
    tests = _test_models(strengths, names, residual, influence, has_interval)
    tested = quantity(int(has_interval.sum()), "tested pair")
    tested += f" on {quantity(coded.clusters, 'item')}"
    no_joint_test = Missing(f"no joint test with {tested}", "judge more pairs and items")
    return BradleyTerryFit(
        pairs=len(pairs.first),
        tested=int((~np.isnan(p)).sum()),
        level=level,
        method=f"{coded.unit}-clustered sandwich of the residuals, t",
        missed=int((holm(p) <= 1 - level).sum()),
        whole=_joint_test(residual[has_interval], influence[:, has_interval], known_models)
        or no_joint_test,
        worst=_worst_model(tests),
        p=smallest_adjusted_p(p, tests, influence[:, has_interval]),
        residuals=_sorted_residuals(coded, strengths, expected, half_width, p),
    )


def _sorted_residuals(
    coded: CodedBattles,
    strengths: Strengths,
    expected: np.ndarray,
    half_width: np.ndarray,
    p: np.ndarray,
) -> tuple[PairResidual, ...]:
    """Build the records of all pairs, in the order of `BradleyTerryFit.residuals`.

    Args:
        coded: the battles.
        strengths: the fit.
        expected: win rate of each pair by the fit, shape (pairs,).
        half_width: half-width of the interval of each residual, NaN if there is none, shape
            (pairs,).
        p: p-value of each residual, NaN if it cannot be tested, shape (pairs,).
    """
    pairs = strengths.pairs
    residual = pairs.credit / pairs.weight - expected
    adjusted = holm(p)
    battle_counts = np.bincount(pair_positions(coded, pairs), minlength=len(pairs.first))
    residuals = []
    # The smallest p-value comes first, then the largest |residual|. Pairs without a p-value come
    # last, since 2 is above every p-value. The last key of `lexsort` sorts first.
    p_or_two = np.nan_to_num(p, nan=2.0)
    for k in np.lexsort((-np.abs(residual), p_or_two)).tolist():
        record = _pair_residual(
            models=(coded.models[pairs.first[k]], coded.models[pairs.second[k]]),
            battles=int(battle_counts[k]),
            expected=float(expected[k]),
            residual=float(residual[k]),
            half_width=float(half_width[k]),
            p_values=(p[k], adjusted[k]),
        )
        residuals.append(record)
    return tuple(residuals)


def _pair_residual(
    models: tuple[str, str],
    battles: int,
    expected: float,
    residual: float,
    half_width: float,
    p_values: tuple[float, float],
) -> PairResidual:
    """Build the record of a pair, seen from the model that the strengths put ahead.

    Args:
        models: names of the first and the second model.
        battles: number of their battles.
        expected: win rate of the first model by the strengths.
        residual: observed - expected win rate of the first model.
        half_width: half-width of the interval of the residual, NaN if there is no interval.
        p_values: the p-value and the adjusted p-value, NaN if the residual cannot be tested.
    """
    first, second = models
    if expected < 0.5:
        first, second = second, first
        expected = 1 - expected
        residual = -residual
    p, adjusted = p_values
    return PairResidual(
        first=first,
        second=second,
        battles=battles,
        observed=expected + residual,
        expected=expected,
        residual=residual,
        low=finite_or_none(residual - half_width),
        high=finite_or_none(residual + half_width),
        p=finite_or_none(p),
        adjusted=finite_or_none(adjusted),
    )


def expected_without_penalty(strengths: Strengths) -> np.ndarray:
    """Return the expected win rate of each pair without the effect of the regularization.

    The correction is of first order, so that a rate can lie slightly outside [0, 1]. Without it, a
    pair that some strengths explain exactly would have a residual that is due to the penalty
    alone, with hardly any error, and would be flagged.

    Returns:
        The win rate of each pair's first model, shape (pairs,).
    """
    pairs = strengths.pairs
    shrinkage = strengths.solve(strengths.regularization * strengths.theta)
    expected = strengths.expected_credit(pairs.first, pairs.second)
    slope = expected * (1 - expected)
    return expected + slope * (shrinkage[pairs.first] - shrinkage[pairs.second])


def influence_on_residuals(coded: CodedBattles, strengths: Strengths) -> np.ndarray:
    """Return the influence of each cluster on each pair's residual, shape (clusters, pairs).

    The influence on a residual is the influence on the observed win rate minus the influence on the
    expected win rate.
    """
    pairs = strengths.pairs
    cells = cells_by_cluster(coded, pairs)
    expected = strengths.expected_credit(pairs.first, pairs.second)
    surplus = np.zeros(cells.shape)
    surplus[cells.cluster, cells.pair] = cells.surplus_over(expected)
    on_observed = surplus / pairs.weight
    on_strengths = strengths.influence(coded)
    on_difference = on_strengths[:, pairs.first] - on_strengths[:, pairs.second]
    on_expected = expected * (1 - expected) * on_difference
    return on_observed - on_observed.mean(axis=0) - on_expected


def _test_pairs(
    strengths: Strengths,
    expected: np.ndarray,
    influence: np.ndarray,
    items: np.ndarray,
    level: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Test the residual of each pair.

    A pair is tested if it has at least `FEWEST_ITEMS` items, at least `FEWEST_EXPECTED` expected
    wins and as many expected losses, and no model that won or lost all its battles. A pair of which
    one model won all battles has a p-value but no interval. A pair whose residual is the same on
    all items has neither.

    Args:
        strengths: the fit.
        expected: win rate of each pair by the fit, shape (pairs,).
        influence: influence of each cluster on the residuals, shape (clusters, pairs).
        items: number of items of each pair, shape (pairs,).
        level: confidence level.

    Returns:
        P-values and half-widths of the intervals, NaN if not tested, shape (pairs,) each.
    """
    pairs = strengths.pairs
    clusters = len(influence)
    residual = pairs.credit / pairs.weight - expected
    is_separated = strengths.graph.separated
    is_bounded = ~(is_separated[pairs.first] | is_separated[pairs.second])
    smaller_rate = np.minimum(expected, 1 - expected)
    # items * smaller_rate is the smaller of the expected numbers of wins and losses.
    is_tested = is_bounded & (items >= FEWEST_ITEMS) & (items * smaller_rate >= FEWEST_EXPECTED)
    is_one_sided = (pairs.credit == 0) | (pairs.credit == pairs.weight)
    se = np.sqrt((influence**2).sum(axis=0) * clusters / max(clusters - 1, 1))
    has_interval = is_tested & ~is_one_sided & (se > ROUNDING_SE)
    t = np.divide(residual, se, out=np.zeros(len(se)), where=has_interval)
    p_of_t = 2 * stdtr(np.maximum(items - 1, 1), -np.abs(t))
    # If one model won all battles of the pair, there is no variance. The p-value is then twice the
    # probability that it wins all items, at the win rate that is expected by the fit.
    p_of_all_won = np.where(residual > 0, expected, 1 - expected) ** items
    p = np.where(has_interval, p_of_t, np.nan)
    p = np.where(is_tested & is_one_sided, np.minimum(2 * p_of_all_won, 1), p)
    half_width = t_quantile(np.maximum(items, 2), level) * se
    return p, np.where(has_interval, half_width, np.nan)


def _joint_test(residual: np.ndarray, influence: np.ndarray, models: int) -> JointTest | None:
    """Test that all residuals are 0, by Hotelling's T^2.

    Args:
        residual: the residuals, shape (pairs,).
        influence: influence of each cluster on them, shape (clusters, pairs).
        models: number of models, whose fitted strengths take models - 1 dimensions.

    Returns:
        The test; None if there are too few pairs or clusters, or if residuals do not vary.
    """
    # With G clusters and k = pairs - (models - 1) dimensions, T^2 (G - k) / (k (G - 1)) is
    # distributed as F(k, G - k). The covariance has rank k: its k largest eigenvalues are used.
    clusters = len(influence)
    dimensions = len(residual) - (models - 1)
    if not len(residual) or not 1 <= dimensions < clusters - 1:
        return None
    values, vectors = np.linalg.eigh(influence.T @ influence * (clusters / (clusters - 1)))
    largest = np.argsort(values)[::-1][:dimensions]
    if values[largest].min() <= 1e-12 * values.max():
        return None
    t_squared = float(np.sum((vectors[:, largest].T @ residual) ** 2 / values[largest]))
    statistic = t_squared * (clusters - dimensions) / (dimensions * (clusters - 1))
    further_degrees = clusters - dimensions
    p_value = float(fdtrc(dimensions, further_degrees, statistic))
    return JointTest(statistic, (dimensions, further_degrees), p_value)


def _test_models(
    strengths: Strengths,
    names: Sequence[str],
    residual: np.ndarray,
    influence: np.ndarray,
    has_error: np.ndarray,
) -> list[ModelTest]:
    """Test for each model that the residuals of all its pairs are 0.

    Args:
        strengths: the fit.
        names: names of the models.
        residual: the residuals, shape (pairs,).
        influence: influence of each cluster on the residuals, shape (clusters, pairs).
        has_error: mask of the pairs whose residual has an error, shape (pairs,).

    Returns:
        The tests, each with a p-value that is not adjusted; none for a model that has not enough
        pairs or items.
    """
    first = strengths.pairs.first[has_error]
    second = strengths.pairs.second[has_error]
    residual = residual[has_error]
    influence = influence[:, has_error]
    tests = []
    for k, name in enumerate(names):
        positions_of_model = np.flatnonzero((first == k) | (second == k))
        # The model's own strength takes one dimension, as in a fit of two models.
        test = _joint_test(residual[positions_of_model], influence[:, positions_of_model], models=2)
        if test:
            tests.append(
                ModelTest(
                    model=name, p=test.p, pairs=positions_of_model, dimensions=test.degrees[0]
                )
            )
    return tests


def _worst_model(tests: Sequence[ModelTest]) -> MisfitModel | None:
    """Return the model with the smallest p-value, or None without tests.

    The p-value is multiplied by the number of tested models (Bonferroni), up to 1.
    """
    if not tests:
        return None
    worst = min(tests, key=lambda test: (test.p, test.model))
    return MisfitModel(worst.model, min(1.0, worst.p * len(tests)))
