"""Does one strength per entrant explain the judge's verdicts, and which pairs does it miss?"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, fdtrc, stdtr

from podium.battles import Battles
from podium.diagnosis.answer import Grid, Missing, Row, as_dict
from podium.diagnosis.cycles import items_of
from podium.rankers.coded import Cluster, Coded, code
from podium.rankers.defaults import REGULARIZATION
from podium.rankers.identification import strengths_of
from podium.rankers.intervals import holm, t_reach
from podium.rankers.pairs import cells_by_cluster, pair_of
from podium.rankers.strengths import Strengths

SHOWN = 5
FEWEST_ITEMS = 10
FEWEST_OF_A_KIND = 5
"""Expected wins, and losses, that a pair needs for a t test."""
FIT = "fit of Bradley-Terry"


@dataclass(frozen=True, slots=True)
class Miss:
    """A pair, what it did, and what strengths say.

    Attributes:
        first, second: the entrants, the stronger first.
        battles: readable ones of the two.
        observed: mean credit of the first.
        expected: by the fitted strengths.
        residual: observed - expected.
        low, high: its interval, this pair alone; None where nothing can be said.
        p: two-sided; None where nothing can be said.
        adjusted: p after Holm over all pairs.
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


@dataclass(frozen=True, slots=True)
class Whole:
    """One test of all pairs together.

    Attributes:
        statistic: F.
        degrees: of freedom: pairs beyond what strengths take up, and items beyond those.
        p: that residuals as large come from the sample of items alone.
    """

    statistic: float
    degrees: tuple[int, int]
    p: float


@dataclass(frozen=True, slots=True)
class BradleyTerryFit:
    """How well strengths explain the win rates of all pairs.

    Attributes:
        pairs: that met.
        tested: those with at least 10 items, and 5 expected wins and losses, between entrants whose ratings the data
            bound; the others have no test.
        items: independent clusters.
        level: of intervals; a pair is missed at this family-wise level.
        method: behind intervals and p-values.
        missed: pairs with an adjusted p of at most 1 - level.
        rms: root mean square of the residuals, noise included.
        whole: the test of all pairs together.
        misses: all pairs, the least likely first.
    """

    pairs: int
    tested: int
    items: int
    level: float
    method: str
    missed: int
    rms: float
    whole: Whole | Missing
    misses: tuple[Miss, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the section for JSON."""
        return as_dict(self)

    def rows(self) -> tuple[Row, ...]:
        """Return the lines of the section."""
        among = f"{self.missed:,} of {self.tested:,} tested pairs ({self.pairs:,} met) at {self.level:.0%}"
        return (
            Row("pairs that it misses", f"{among}, Holm; {self.method}"),
            Row("root mean square residual", f"{self.rms:.3f}, noise of the items included"),
            Row("all pairs together", self.whole if isinstance(self.whole, Missing) else _told(self.whole)),
        )

    def grids(self) -> tuple[Grid, ...]:
        """Return the table of the least likely pairs."""
        rows = tuple(
            (
                f"{one.first} - {one.second}",
                f"{one.battles:,}",
                f"{one.observed:.1%}",
                f"{one.expected:.1%}",
                f"{100 * one.residual:+.1f}",
                "-" if one.low is None or one.high is None else f"{100 * one.low:+.1f} to {100 * one.high:+.1f}",
                "-" if one.adjusted is None else f"{one.adjusted:.2g}",
            )
            for one in self.misses[:SHOWN]
        )
        header = ("pair", "battles", "observed", "expected", "points off", "interval", "p (Holm)")
        return (Grid("Pairs farthest from the fit", header, rows),)


def bradley_terry_fit(
    battles: Battles, *, level: float = 0.95, regularization: float = REGULARIZATION, cluster: Cluster = "item"
) -> BradleyTerryFit | Missing:
    """Compare every pair's mean credit with what fitted strengths say.

    The standard error of a residual is clustered by item, and accounts for the strengths being fitted to the same
    battles: an item moves a residual by its own surplus in the pair less p (1 - p) times its pull on the difference of
    the strengths. All pairs together are tested by Hotelling's T^2 of the residuals.

    Args:
        battles: of one judge, merged.
        level: of intervals; a pair is missed at this family-wise level.
        regularization: lambda of the fit.
        cluster: `item`, or `row` for comparison.

    Raises:
        NotIdentifiedError: the comparison graph is not connected.
        NotConvergedError: the fit did not reach its maximum.
    """
    coded = code(battles, cluster=cluster)
    rated = strengths_of(coded, regularization)
    pairs = rated.pairs
    if len(pairs.low) < len(coded.entrants):
        return Missing(
            FIT,
            f"{len(coded.entrants)} entrants met in {len(pairs.low)} pairs only, which some strengths always explain",
            "judge pairs that close a ring, for example a round robin of three entrants",
        )
    influence = influences(coded, rated)
    return _answer(coded, rated, influence, level)


def influences(coded: Coded, rated: Strengths) -> np.ndarray:
    """Return what each cluster adds to the error of each pair's residual, shape (clusters, pairs)."""
    pairs, cells = rated.pairs, cells_by_cluster(coded, rated.pairs)
    expected = expit(rated.theta[pairs.low] - rated.theta[pairs.high])
    own = (cells.credit - cells.weight.multiply(expected[None, :])).toarray() / pairs.weight
    pull = rated.influence(rated.surpluses(coded))
    return own - own.mean(axis=0) - expected * (1 - expected) * (pull[:, pairs.low] - pull[:, pairs.high])


@dataclass(frozen=True, slots=True)
class Residuals:
    """What each pair is off, and how surely; NaN where there is no test. All have shape (pairs,).

    Attributes:
        expected: mean credit of low by the fit.
        value: observed - expected.
        reach: half the width of the interval.
        p: two-sided.
        adjusted: p after Holm.
    """

    expected: np.ndarray
    value: np.ndarray
    reach: np.ndarray
    p: np.ndarray
    adjusted: np.ndarray


def residuals_of(rated: Strengths, influence: np.ndarray, items: np.ndarray, level: float) -> Residuals:
    """Test every pair that has enough items.

    A pair that only won, or only lost, has no variance to be tested by: its p is twice the chance of that.

    Args:
        influence: shape (clusters, pairs).
        items: clusters of each pair, shape (pairs,).
    """
    pairs, clusters = rated.pairs, len(influence)
    expected = expit(rated.theta[pairs.low] - rated.theta[pairs.high])
    value = pairs.credit / pairs.weight - expected
    out = rated.graph.separated
    rarer = np.minimum(expected, 1 - expected)
    tested = ~(out[pairs.low] | out[pairs.high]) & (items >= FEWEST_ITEMS) & (items * rarer >= FEWEST_OF_A_KIND)
    flat = (pairs.credit == 0) | (pairs.credit == pairs.weight)
    se = np.sqrt((influence**2).sum(axis=0) * clusters / max(clusters - 1, 1))
    varied = tested & ~flat & (se > 0)
    freedom = np.maximum(items - 1, 1)
    t = np.divide(value, se, out=np.zeros(len(se)), where=varied)
    p = np.where(varied, 2 * stdtr(freedom, -np.abs(t)), np.nan)
    p = np.where(tested & flat, np.minimum(2 * np.where(value > 0, expected, 1 - expected) ** items, 1), p)
    reach = np.where(varied, t_reach(freedom + 1, level) * se, np.nan)
    return Residuals(expected, value, reach, p, holm(p))


def _answer(coded: Coded, rated: Strengths, influence: np.ndarray, level: float) -> BradleyTerryFit:
    pairs = rated.pairs
    items = items_of(cells_by_cluster(coded, pairs))
    found = residuals_of(rated, influence, items, level)
    known = ~np.isnan(found.reach)
    among = len(np.unique(np.concatenate([pairs.low[known], pairs.high[known]])))
    return BradleyTerryFit(
        pairs=len(pairs.low),
        tested=int((~np.isnan(found.p)).sum()),
        items=coded.clusters,
        level=level,
        method=f"{coded.unit}-clustered sandwich of the residuals, t",
        missed=int((found.adjusted <= 1 - level).sum()),
        rms=float(np.sqrt(np.mean(found.value**2))),
        whole=_together(found.value[known], influence[:, known], among),
        misses=_misses(coded, rated, found),
    )


def _together(residual: np.ndarray, influence: np.ndarray, entrants: int) -> Whole | Missing:
    """Test all residuals at once; strengths take up one dimension per entrant but one."""
    clusters, surplus = len(influence), len(residual) - (entrants - 1)
    if not len(residual):
        return Missing("test of all pairs", "no pair has enough items to be tested", "judge more items")
    if surplus < 1:
        return Missing("test of all pairs", "strengths explain any win rates of the tested pairs", "judge more pairs")
    if clusters <= surplus + 1:
        why = f"{clusters} items cannot test {surplus} dimensions at once"
        return Missing("test of all pairs", why, f"judge at least {surplus + 2} items, or fewer entrants")
    values, vectors = np.linalg.eigh(influence.T @ influence * (clusters / (clusters - 1)))
    kept = np.argsort(values)[::-1][:surplus]
    if values[kept].min() <= 1e-12 * values.max():
        why = "the residuals of some pairs do not vary over items"
        return Missing("test of all pairs", why, "judge more items")
    square = float(np.sum((vectors[:, kept].T @ residual) ** 2 / values[kept]))
    statistic = square * (clusters - surplus) / (surplus * (clusters - 1))
    degrees = (surplus, clusters - surplus)
    return Whole(statistic, degrees, float(fdtrc(*degrees, statistic)))


def _misses(coded: Coded, rated: Strengths, found: Residuals) -> tuple[Miss, ...]:
    pairs, names = rated.pairs, coded.entrants
    battles = np.bincount(pair_of(coded, pairs)[0], minlength=len(pairs.low))
    columns = np.stack([found.expected, found.value, found.reach, found.p, found.adjusted])
    order = np.lexsort((-np.abs(found.value), np.nan_to_num(found.p, nan=2.0)))
    return tuple(
        _miss(names[pairs.low[k]], names[pairs.high[k]], int(battles[k]), *columns[:, k].tolist()) for k in order
    )


def _miss(
    first: str, second: str, battles: int, expected: float, residual: float, reach: float, p: float, adjusted: float
) -> Miss:
    if expected < 0.5:
        first, second, expected, residual = second, first, 1 - expected, -residual
    reached, known = not np.isnan(reach), not np.isnan(p)
    return Miss(
        first,
        second,
        battles,
        expected + residual,
        expected,
        residual,
        residual - reach if reached else None,
        residual + reach if reached else None,
        p if known else None,
        adjusted if known else None,
    )


def _told(whole: Whole) -> str:
    return f"F({whole.degrees[0]}, {whole.degrees[1]}) = {whole.statistic:.2f}, p = {whole.p:.2g}"
