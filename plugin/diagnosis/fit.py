"""Goodness of fit of Bradley-Terry: pairs whose win rates the strengths do not explain."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import fdtrc, stdtr

from podium.diagnosis.cycles import FEWEST_ITEMS
from podium.diagnosis.figures import CardAnswer, Missing, Value
from podium.nouns.battles import Battles
from podium.rankers.coded import CodedBattles, code_battles
from podium.rankers.identification import fit_battles
from podium.rankers.intervals import finite_or_none, holm, t_quantile
from podium.rankers.pairs import cells_by_cluster, items_per_pair, pair_index
from podium.rankers.strengths import Strengths
from podium.report.model import Table

FEWEST_OF_A_KIND = 5
"""Expected wins, and losses, that a pair needs for a t test."""
ROUNDING = 1e-9
"""Standard error of a mean credit that counts as 0: all items agree."""


@dataclass(frozen=True, slots=True)
class PairResidual:
    """Observed and expected win rate of a pair, stronger first, and a test (`adjusted`: Holm); None if untestable."""

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


@dataclass(frozen=True, slots=True)
class JointTest:
    """An F test that all residuals are 0, with its two degrees of freedom and p-value."""

    statistic: float
    degrees: tuple[int, int]
    p: float


@dataclass(frozen=True, slots=True)
class MisfitModel:
    """The model whose pairs differ most from the strengths taken together, and p (F test, Bonferroni over models)."""

    model: str
    p: float

    def __str__(self) -> str:
        return f"{self.model}, all its pairs together: p = {self.p:.2g} (F test, Bonferroni over models)"


@dataclass(frozen=True, slots=True)
class BradleyTerryFit(CardAnswer):
    """The fit of strengths to the win rates of all pairs; `missed` counts adjusted p-values of at most 1 - level."""

    pairs: int
    tested: int
    items: int
    level: float
    method: str
    missed: int
    rms: float
    whole: JointTest | Missing
    worst: MisfitModel | None
    misses: tuple[PairResidual, ...]

    def labelled_values(self) -> tuple[tuple[str, Value], ...]:
        among = f"{self.missed:,} of {self.tested:,} tested pairs ({self.pairs:,} met) at {self.level:.0%}"
        joint: Value | JointTest = self.whole
        if isinstance(joint, JointTest):
            joint = f"F({joint.degrees[0]}, {joint.degrees[1]}) = {joint.statistic:.2f}, p = {joint.p:.2g}"
        worst = (("model that it misses most", str(self.worst)),) if self.worst else ()
        return (
            ("pairs that it misses", f"{among}, Holm; {self.method}"),
            ("root mean square residual", f"{self.rms:.3f}, noise of the items included"),
            ("all pairs together", joint),
            *worst,
        )

    def tables(self) -> tuple[Table, ...]:
        rows = []
        for miss in self.misses[:5]:
            rates = (f"{miss.observed:.1%}", f"{miss.expected:.1%}", f"{100 * miss.residual:+.1f}")
            ends = [f"{100 * end:+.1f}" for end in (miss.low, miss.high) if end is not None]
            p = "-" if miss.adjusted is None else f"{miss.adjusted:.2g}"
            rows.append((f"{miss.first} - {miss.second}", f"{miss.battles:,}", *rates, " to ".join(ends) or "-", p))
        header = ("pair", "battles", "observed", "expected", "points off", "interval", "p (Holm)")
        return (Table("Pairs farthest from the fit", header, tuple(rows), spare=("battles",)),)


def bradley_terry_fit(battles: Battles, *, level: float = 0.95) -> BradleyTerryFit | Missing:
    """Test every pair's win rate against fitted strengths, and all by Hotelling's T^2; raises NotIdentifiedError."""
    coded = code_battles(battles)
    strengths = fit_battles(coded)
    pairs, names = strengths.pairs, coded.models
    if len(pairs.first) < len(names):
        what = "fit of Bradley-Terry"
        why = f"{len(names)} models met in {len(pairs.first)} pairs only, which some strengths always explain"
        return Missing(what, why, "judge pairs that close a cycle, for example a round robin of three models")
    influence, expected = influence_on_residuals(coded, strengths), expected_without_penalty(strengths)
    residual, items = pairs.credit / pairs.weight - expected, items_per_pair(coded, pairs)
    p, reach = _test_pairs(strengths, expected, influence, items, level)
    adjusted, known = holm(p), ~np.isnan(reach)
    among = len(np.unique(np.concatenate([pairs.first[known], pairs.second[known]])))
    battles_of = np.bincount(pair_index(coded, pairs)[0], minlength=len(pairs.first))
    misses = []
    for k in np.lexsort((-np.abs(residual), np.nan_to_num(p, nan=2.0))).tolist():
        first, second, rate, off = names[pairs.first[k]], names[pairs.second[k]], float(expected[k]), float(residual[k])
        if rate < 0.5:
            first, second, rate, off = second, first, 1 - rate, -off
        test = map(finite_or_none, (off - reach[k], off + reach[k], p[k], adjusted[k]))
        misses.append(PairResidual(first, second, int(battles_of[k]), rate + off, rate, off, *test))
    return BradleyTerryFit(
        pairs=len(pairs.first),
        tested=int((~np.isnan(p)).sum()),
        items=coded.clusters,
        level=level,
        method=f"{coded.unit}-clustered sandwich of the residuals, t",
        missed=int((adjusted <= 1 - level).sum()),
        rms=float(np.sqrt(np.mean(residual**2))),
        whole=_joint_test(residual[known], influence[:, known], among),
        worst=_test_models(strengths, names, residual, influence, known),
        misses=tuple(misses),
    )


def expected_without_penalty(strengths: Strengths) -> np.ndarray:
    """Return the expected win rate of each pair, corrected for the regularization to first order, shape (pairs,)."""
    # Uncorrected, a pair that strengths always explain would have a residual from the penalty, and hardly any error.
    pairs, back = strengths.pairs, strengths.solve(strengths.regularization * strengths.theta)
    expected = strengths.expected_credit(pairs.first, pairs.second)
    return expected + expected * (1 - expected) * (back[pairs.first] - back[pairs.second])


def influence_on_residuals(coded: CodedBattles, strengths: Strengths) -> np.ndarray:
    """Return the influence of each cluster on each pair's residual, shape (clusters, pairs)."""
    pairs, cells = strengths.pairs, cells_by_cluster(coded, strengths.pairs)
    expected = strengths.expected_credit(pairs.first, pairs.second)
    own = (cells.credit - cells.weight.multiply(expected[None, :])).toarray() / pairs.weight
    pull = strengths.influence(coded)
    return own - own.mean(axis=0) - expected * (1 - expected) * (pull[:, pairs.first] - pull[:, pairs.second])


def _test_pairs(
    strengths: Strengths, expected: np.ndarray, influence: np.ndarray, items: np.ndarray, level: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return p-values of the residuals and half-widths of their intervals, NaN if untestable, shape (pairs,) each."""
    pairs, clusters, out = strengths.pairs, len(influence), strengths.graph.separated
    residual, rarer = pairs.credit / pairs.weight - expected, np.minimum(expected, 1 - expected)
    tested = ~(out[pairs.first] | out[pairs.second]) & (items >= FEWEST_ITEMS) & (items * rarer >= FEWEST_OF_A_KIND)
    flat = (pairs.credit == 0) | (pairs.credit == pairs.weight)
    se = np.sqrt((influence**2).sum(axis=0) * clusters / max(clusters - 1, 1))
    varied = tested & ~flat & (se > ROUNDING)
    t = np.divide(residual, se, out=np.zeros(len(se)), where=varied)
    p = np.where(varied, 2 * stdtr(np.maximum(items - 1, 1), -np.abs(t)), np.nan)
    # If one model won all battles, there is no variance: twice the chance of that.
    p = np.where(tested & flat, np.minimum(2 * np.where(residual > 0, expected, 1 - expected) ** items, 1), p)
    return p, np.where(varied, t_quantile(np.maximum(items, 2), level) * se, np.nan)


def _joint_test(residual: np.ndarray, influence: np.ndarray, models: int) -> JointTest | Missing:
    """Test that all residuals are 0, by Hotelling's T^2 on the pairs beyond the models - 1 fitted strengths."""
    what, clusters, surplus = "test of all pairs", len(influence), len(residual) - (models - 1)
    if not len(residual):
        return Missing(what, "no pair has enough items to be tested", "judge more items")
    if surplus < 1:
        return Missing(what, "strengths explain any win rates of the tested pairs", "judge more pairs")
    if clusters <= surplus + 1:
        why = f"{clusters} items cannot test {surplus} dimensions at once"
        return Missing(what, why, f"judge at least {surplus + 2} items, or fewer models")
    values, vectors = np.linalg.eigh(influence.T @ influence * (clusters / (clusters - 1)))
    kept = np.argsort(values)[::-1][:surplus]
    if values[kept].min() <= 1e-12 * values.max():
        return Missing(what, "the residuals of some pairs do not vary over items", "judge more items")
    square = float(np.sum((vectors[:, kept].T @ residual) ** 2 / values[kept]))
    statistic = square * (clusters - surplus) / (surplus * (clusters - 1))
    degrees = (surplus, clusters - surplus)
    return JointTest(statistic, degrees, float(fdtrc(*degrees, statistic)))


def _test_models(
    strengths: Strengths, names: Sequence[str], residual: np.ndarray, influence: np.ndarray, known: np.ndarray
) -> MisfitModel | None:
    """Test the residuals of each model's pairs together; None if no model has enough pairs or items."""
    tests = []
    for k, name in enumerate(names):
        own = known & ((strengths.pairs.first == k) | (strengths.pairs.second == k))
        # The model's own strength takes one dimension, as in a fit of two models.
        test = _joint_test(residual[own], influence[:, own], 2)
        tests += [(test.p, name)] if isinstance(test, JointTest) else []
    return MisfitModel(min(tests)[1], min(1.0, min(tests)[0] * len(tests))) if tests else None
