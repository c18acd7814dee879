"""Several judges and realizations side by side: how their rankings agree, and what makes them differ."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from podium.battles import Battles
from podium.diagnosis.answer import Figure, Grid, Missing, Row, Unit, as_dict
from podium.diagnosis.judge_names import parts_of
from podium.diagnosis.matched import Judged, Matched, judged, matched
from podium.diagnosis.ratios import farther_ends
from podium.diagnosis.resampled_gold import taus
from podium.diagnosis.subject import Subject
from podium.diagnosis.transitivity import Transitivity, transitivity
from podium.diagnosis.variance import Analysis, analyse
from podium.diagnosis.wording import EMPTY, brief, number
from podium.errors import NotConvergedError, NotIdentifiedError
from podium.rankers.intervals import FEWEST_DRAWS, resample
from podium.rankers.pairs import win_rates
from podium.rankers.pointwise import score_matrix

RESAMPLES = 200
MOST_SHOWN = 12
CROSSED = (("judge", "realization"), ("realization", "aggregation"))
"""Interplays that are effects of their own. With these, JuStRank's appendix D follows from its table 2."""
SIDES = "judges side by side"
VARIANCE = "variance of tau with the gold standard"


@dataclass(frozen=True, slots=True)
class Standing:
    """One judge among others.

    Attributes:
        judge: its identity.
        model: without realization.
        realization: how it is asked; None where the identity does not say.
        battles: readable ones.
        ties: share of them.
        hard: PNT.
        tau: Kendall's tau of its Bradley-Terry ranking with the gold standard.
    """

    judge: str
    model: str
    realization: str | None
    battles: int
    ties: float
    hard: Figure | Missing
    tau: Figure | Missing


@dataclass(frozen=True, slots=True)
class Correlation:
    """Kendall's tau of two judges' Bradley-Terry rankings."""

    first: str
    second: str
    tau: Figure | Missing


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Several judges.

    Attributes:
        entrants: ranked by all of them.
        judges: the nearest to the gold standard first, else by name.
        correlations: of every two.
        mean: of the correlations.
        aggregations: ways from verdicts to a ranking that the variance is shared out over.
        variance: of tau with the gold standard, by judge, realization and aggregation.
    """

    entrants: int
    judges: tuple[Standing, ...]
    correlations: tuple[Correlation, ...]
    mean: Figure | Missing
    aggregations: tuple[str, ...]
    variance: Analysis | Missing

    def to_dict(self) -> dict[str, Any]:
        """Return the section for JSON."""
        return as_dict(self)

    def rows(self) -> tuple[Row, ...]:
        """Return the lines of the section."""
        lines = [
            Row("judges", f"{len(self.judges):,}, {self.entrants:,} entrants ranked by all"),
            Row("mean Kendall's tau between judges", self.mean),
        ]
        if isinstance(self.variance, Missing):
            return (*lines, Row(VARIANCE, self.variance))
        told = f"{self.variance.n:,} rankings, {self.variance.residual:,} degrees of freedom left, "
        told += f"{self.variance.unexplained:.0%} unexplained"
        return (*lines, Row(VARIANCE, told))

    def grids(self) -> tuple[Grid, ...]:
        """Return the judges, their correlations and the shares of variance."""
        grids = [self._table()]
        if 2 < len(self.judges) <= MOST_SHOWN:
            grids.append(self._square())
        if not isinstance(self.variance, Missing):
            grids.append(_shares(self.variance))
        return tuple(grids)

    def _table(self) -> Grid:
        rows = tuple(
            (
                f"{k}. {one.judge}",
                one.realization or EMPTY,
                f"{one.battles:,}",
                f"{one.ties:.1%}",
                EMPTY if isinstance(one.hard, Missing) else number(one.hard),
                brief(one.tau),
            )
            for k, one in enumerate(self.judges, start=1)
        )
        return Grid("", ("judge", "realization", "judged", "ties", "PNT", "tau with gold"), rows)

    def _square(self) -> Grid:
        tau = {frozenset((one.first, one.second)): brief_value(one.tau) for one in self.correlations}
        names = [one.judge for one in self.judges]
        rows = tuple(
            (f"{k}. {name}", *(EMPTY if name == other else tau[frozenset((name, other))] for other in names))
            for k, name in enumerate(names, start=1)
        )
        header = ("Kendall's tau", *(f"{k}." for k in range(1, len(names) + 1)))
        return Grid("Rank correlations", header, rows)


def side_by_side(
    subjects: Sequence[Subject], *, level: float, rng: np.random.Generator, resamples: int = RESAMPLES
) -> SideBySide | Missing:
    """Compare the rankings of several judges.

    Items that judges share are resampled together. The variance of tau with the gold standard is analysed as JuStRank
    does (appendix D): factors judge, realization and aggregation (Bradley-Terry, win rate; mean and median of
    pointwise scores where there are any), interplays where there are rankings enough.

    Args:
        subjects: the judges.
        level: of intervals, in (0, 1).
        rng: draws of items.
        resamples: how many.
    """
    if len(subjects) < 2:
        return Missing(SIDES, "there is one judge only", "give the verdicts of several, told apart by a column judge")
    found = [(one, _side(one.battles)) for one in subjects]
    ready = [(one, side) for one, side in found if isinstance(side, Judged)]
    if len(ready) < 2:
        lost = next(side for _, side in found if isinstance(side, str))
        return Missing(SIDES, f"fewer than two judges give a ranking: {lost}", "judge more battles")
    names = tuple(sorted(set.intersection(*(set(side.entrants) for _, side in ready))))
    if len(names) < 3:
        return Missing(SIDES, f"{len(names)} entrants are ranked by all judges", "let all judge the same entrants")
    theta, draws = _strengths([side for _, side in ready], names, resamples, rng)
    golds = [_gold(one) for one, _ in ready]
    standings = [
        _standing(one, side, gold, theta[k], draws[:, k], names, level)
        for k, ((one, side), gold) in enumerate(zip(ready, golds, strict=True))
    ]
    labels = [one.judge for one in standings]
    correlations = _correlations(labels, theta, draws, level)
    aggregations, variance = _variance([one for one, _ in ready], golds, level)
    return SideBySide(
        entrants=len(names),
        judges=tuple(sorted(standings, key=_by_tau)),
        correlations=correlations,
        mean=_mean(theta, draws, level),
        aggregations=aggregations,
        variance=variance,
    )


def brief_value(said: Figure | Missing) -> str:
    """Write a correlation without its interval."""
    return EMPTY if isinstance(said, Missing) else number(said)


def _side(battles: Battles) -> Judged | str:
    try:
        return judged(battles)
    except (NotIdentifiedError, NotConvergedError) as error:
        return str(error)


def _gold(subject: Subject) -> Matched | Missing:
    try:
        return matched(subject.battles, subject.gold)
    except (NotIdentifiedError, NotConvergedError) as error:
        return Missing("tau with the gold standard", str(error), "judge the battles that would join the groups")


def _strengths(
    sides: Sequence[Judged], names: tuple[str, ...], resamples: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return strengths, shape (judges, entrants), and those of resamples, shape (draws, judges, entrants)."""
    where = [np.array([side.entrants.index(name) for name in names]) for side in sides]
    theta = np.stack([side.strengths(None)[place] for side, place in zip(sides, where, strict=True)])
    items, positions = _numbered(sides)
    if items < 2:
        return theta, np.full((0, *theta.shape), np.nan)

    def drawn(counts: np.ndarray) -> np.ndarray:
        parts = [
            side.strengths(counts[:, position])[:, place]
            for side, position, place in zip(sides, positions, where, strict=True)
        ]
        return np.stack(parts, axis=1)

    return theta, resample(drawn, items, resamples, rng, width=len(sides) * len(names) ** 2)


def _numbered(sides: Sequence[Judged]) -> tuple[int, list[np.ndarray]]:
    """Number the items of all sides, shared ones once; rows without an item stand alone."""
    number: dict[str | tuple[int, int], int] = {}
    positions = []
    for k, side in enumerate(sides):
        keys = [name if name is not None else (k, row) for row, name in enumerate(side.clusters)]
        positions.append(np.array([number.setdefault(key, len(number)) for key in keys]))
    return len(number), positions


def _standing(
    subject: Subject,
    side: Judged,
    gold: Matched | Missing,
    theta: np.ndarray,
    draws: np.ndarray,
    names: tuple[str, ...],
    level: float,
) -> Standing:
    model, realization = parts_of(subject.judge)
    said = transitivity(subject.battles, level=level)
    return Standing(
        judge=subject.judge or "(no judge)",
        model=model,
        realization=realization,
        battles=len(side.coded.credit),
        ties=float(np.mean(np.abs(side.coded.credit - 0.5) < 1e-12)),
        hard=said.hard if isinstance(said, Transitivity) else said,
        tau=gold if isinstance(gold, Missing) else _tau_with_gold(gold, theta, draws, names, level),
    )


def _tau_with_gold(
    gold: Matched, theta: np.ndarray, draws: np.ndarray, names: tuple[str, ...], level: float
) -> Figure | Missing:
    """Compare on the entrants that all judges rank, so that judges can be compared; the gold standard as given."""
    common = [name for name in names if name in gold.entrants]
    if len(common) < 3:
        return Missing("tau with the gold standard", f"{len(common)} entrants are common to all", "rank more of them")
    here = np.array([names.index(name) for name in common])
    truth = gold.strengths()[1][[gold.entrants.index(name) for name in common]]
    return _figure(float(taus(theta[here], truth)), taus(draws[:, here], truth), len(common), "entrants", level)


def _correlations(labels: Sequence[str], theta: np.ndarray, draws: np.ndarray, level: float) -> tuple[Correlation, ...]:
    first, second = np.triu_indices(len(labels), 1)
    return tuple(
        Correlation(
            labels[i],
            labels[j],
            _figure(float(taus(theta[i], theta[j])), taus(draws[:, i], draws[:, j]), theta.shape[1], "entrants", level),
        )
        for i, j in zip(first.tolist(), second.tolist(), strict=True)
    )


def _mean(theta: np.ndarray, draws: np.ndarray, level: float) -> Figure | Missing:
    i, j = np.triu_indices(len(theta), 1)
    value = float(np.mean(taus(theta[i], theta[j])))
    found = taus(draws[:, i], draws[:, j]).mean(axis=1) if len(draws) else np.empty(0)
    return _figure(value, found, len(i), "pairs of judges", level)


def _figure(value: float, draws: np.ndarray, n: int, of: str, level: float) -> Figure | Missing:
    if np.isnan(value):
        return Missing("Kendall's tau", "a ranking puts all entrants level", "judge entrants that differ")
    usable = draws[~np.isnan(draws)]
    if len(usable) < max(2, FEWEST_DRAWS * len(draws)):
        why = "too few usable resamples of the items: no interval"
        return Figure(value, None, None, level, why, n, of, None, Unit.CORRELATION)
    low, high = farther_ends(value, np.quantile(usable, [(1 - level) / 2, (1 + level) / 2]).tolist(), (-1.0, 1.0))
    method = f"item bootstrap, percentile or reflected, the farther end, {len(usable)} resamples"
    return Figure(value, low, high, level, method, n, of, None, Unit.CORRELATION)


def _variance(
    subjects: Sequence[Subject], golds: Sequence[Matched | Missing], level: float
) -> tuple[tuple[str, ...], Analysis | Missing]:
    """Rank by every aggregation, and share out the variance of tau with the gold standard."""
    ready = [(one, gold) for one, gold in zip(subjects, golds, strict=True) if isinstance(gold, Matched)]
    if not ready:
        told = next(gold for gold in golds if isinstance(gold, Missing))
        return (), Missing(VARIANCE, told.why, told.remedy)
    found = _distinct([_by_aggregation(one.battles, gold) for one, gold in ready])
    cells = [
        (*parts_of(one.judge), aggregation, tau)
        for (one, _), taus_of in zip(ready, found, strict=True)
        for aggregation, tau in taus_of.items()
        if not np.isnan(tau)
    ]
    if not cells:
        return (), Missing(VARIANCE, "one of the rankings puts all systems level", "judge systems that differ")
    models, realizations, aggregations, values = zip(*cells, strict=True)
    told_how = [one or "(not said)" for one in realizations]
    factors = {"judge": models, "realization": told_how, "aggregation": aggregations}
    return tuple(sorted(set(aggregations))), _analysed(np.array(values), factors, level)


def _distinct(found: list[dict[str, float]]) -> list[dict[str, float]]:
    """Leave out an aggregation that agrees with another throughout: a copy is no evidence.

    Win rates of a full round robin rank as Bradley-Terry does.
    """
    kept: dict[tuple[float | None, ...], str] = {}
    for name in ("bradley-terry", "mean", "median", "win-rate"):
        column = tuple(round(one[name], 9) if name in one else None for one in found)
        if any(value is not None for value in column):
            kept.setdefault(column, name)
    return [{name: one[name] for name in kept.values() if name in one} for one in found]


def _analysed(values: np.ndarray, factors: dict[str, Sequence[str]], level: float) -> Analysis | Missing:
    """Analyse with interplays as far as the rankings suffice for them, else by the factors alone."""
    for crossed in (CROSSED, CROSSED[:1], ()):
        try:
            return analyse(values, factors, crossed, level)
        except NotIdentifiedError as error:
            why = str(error)
    return Missing(VARIANCE, why, "give more judges, each in several realizations, so that effects differ from chance")


def _by_aggregation(battles: Battles, gold: Matched) -> dict[str, float]:
    """Return tau with the gold standard by aggregation."""
    truth = gold.strengths()[1]
    scores = {
        "bradley-terry": gold.judge.strengths(None)[gold.ours],
        "win-rate": win_rates(gold.judge.cells.pairs)[gold.ours],
    }
    scores |= _pointwise(battles, gold.entrants)
    return {name: float(taus(found, truth)) for name, found in scores.items()}


def _pointwise(battles: Battles, entrants: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Return mean and median scores; no median that two entrants share, for it does not rank them."""
    try:
        matrix = score_matrix(battles)
    except NotIdentifiedError:
        return {}
    place = [matrix.entrants.index(name) for name in entrants]
    mean, median = (rule(matrix.values, axis=0)[place] for rule in (np.nanmean, np.nanmedian))
    return {"mean": mean} | ({"median": median} if len(np.unique(median)) == len(place) else {})


def _by_tau(one: Standing) -> tuple[float, str]:
    return (-one.tau.value if isinstance(one.tau, Figure) else 0.0, one.judge)


def _shares(variance: Analysis) -> Grid:
    rows = tuple(
        (
            one.name,
            str(one.freedom),
            f"{one.share:.1%}",
            f"{one.partial:.2f}",
            f"{one.low:.2f} … {one.high:.2f}",
            f"{one.f:.1f}",
            f"{one.p:.2g}",
        )
        for one in variance.effects
    )
    title = f"Share of the variance of tau ({variance.level:.0%} interval of the partial share: non-central F)"
    return Grid(title, ("due to", "freedom", "share", "partial", "interval", "F", "p"), rows)
