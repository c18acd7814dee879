"""Several judges and realizations side by side: how their rankings agree."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from podium.diagnosis.clustered import agreement_statistic
from podium.diagnosis.figures import CardAnswer, Figured, Missing, Statistic, Unit, Value
from podium.diagnosis.gold import match_gold_pairs
from podium.diagnosis.judge_checks import split_judge_name
from podium.diagnosis.ratings import BattleRatings, kendall_taus, number_items
from podium.diagnosis.subject import Subject
from podium.diagnosis.transitivity import Transitivity, transitivity
from podium.errors import NotConvergedError, NotIdentifiedError
from podium.rankers.intervals import resample
from podium.report.model import EMPTY, Table

RESAMPLES = 200
SIDE_BY_SIDE = "judges side by side"
TAU = "tau with the gold standard"


@dataclass(frozen=True, slots=True)
class JudgeStanding:
    """One judge among others: share of intransitive triples (`hard`), and Kendall's tau with the gold standard."""

    judge: str
    model: str
    realization: str | None
    battles: int
    ties: float
    hard: Figured
    tau: Figured


@dataclass(frozen=True, slots=True)
class Correlation:
    """Kendall's tau of two judges' Bradley-Terry rankings."""

    first: str
    second: str
    tau: Figured


@dataclass(frozen=True, slots=True)
class JudgesSideBySide(CardAnswer):
    """Several judges, and how their rankings agree."""

    models: int
    judges: tuple[JudgeStanding, ...]
    correlations: tuple[Correlation, ...]
    mean: Figured

    def labelled_values(self) -> tuple[tuple[str, Value], ...]:
        return (
            ("judges", f"{len(self.judges):,}, {self.models:,} models ranked by all"),
            ("mean Kendall's tau between judges", self.mean),
        )

    def tables(self) -> tuple[Table, ...]:
        rows = []
        for k, row in enumerate(self.judges, start=1):
            counts = (f"{row.battles:,}", f"{row.ties:.1%}")
            rows.append((f"{k}. {row.judge}", row.realization or EMPTY, *counts, row.hard.estimate, row.tau.brief))
        tables = [Table("", ("judge", "realization", "judged", "ties", "PNT", "tau with gold"), tuple(rows))]
        names = [row.judge for row in self.judges]
        if 2 < len(names) <= 12:
            tau = {frozenset((pair.first, pair.second)): pair.tau.estimate for pair in self.correlations}
            square = tuple(
                (f"{k}. {name}", *(EMPTY if name == other else tau[frozenset((name, other))] for other in names))
                for k, name in enumerate(names, start=1)
            )
            header = ("Kendall's tau", *(f"{k}." for k in range(1, len(names) + 1)))
            tables.append(Table("Rank correlations", header, square))
        return tuple(tables)


def side_by_side(subjects: Sequence[Subject], *, resamples: int = RESAMPLES) -> JudgesSideBySide | Missing:
    """Compare the rankings of several judges by Kendall's tau; items that judges share are resampled together."""
    if len(subjects) < 2:
        return Missing(SIDE_BY_SIDE, "there is one judge only", "give the verdicts of several, named in a column judge")
    level, ready, sources, why = subjects[0].level, [], [], []
    for subject in subjects:
        try:
            sources.append(subject.judge_ratings)
            ready.append(subject)
        except (NotIdentifiedError, NotConvergedError) as error:
            why.append(str(error))
    if len(ready) < 2:
        return Missing(SIDE_BY_SIDE, f"fewer than two judges give a ranking: {why[0]}", "judge more battles")
    names = tuple(sorted(set.intersection(*(set(source.models) for source in sources))))
    if len(names) < 3:
        return Missing(SIDE_BY_SIDE, f"{len(names)} models are ranked by all judges", "let all judge the same models")
    theta, draws = _strengths(sources, names, resamples, subjects[0].rng)
    standings = []
    for k, subject in enumerate(ready):
        credit, triples = subject.judge_ratings.coded.credit, transitivity(subject.battles, level=level)
        hard = triples.hard if isinstance(triples, Transitivity) else triples
        tau = _tau_with_gold(subject, theta[k], draws[:, k], names)
        tied = np.abs(subject.battles.outcomes[subject.battles.readable] - 0.5) < 1e-12
        ties, judge = float(np.mean(tied)), subject.judge or "(no judge)"
        standings.append(JudgeStanding(judge, *split_judge_name(subject.judge), len(credit), ties, hard, tau))
    first, second = np.triu_indices(len(ready), 1)
    values, drawn = kendall_taus(theta[first], theta[second]), kendall_taus(draws[:, first], draws[:, second])
    correlations = tuple(
        Correlation(standings[i].judge, standings[j].judge, _tau_of(values[k], drawn[:, k], len(names), level))
        for k, (i, j) in enumerate(zip(first.tolist(), second.tolist(), strict=True))
    )
    mean = _tau_of(values.mean(), drawn.mean(axis=1), len(first), level, "pairs of judges")
    standings.sort(key=lambda row: (-row.tau.value if isinstance(row.tau, Statistic) else 0.0, row.judge))
    return JudgesSideBySide(len(names), tuple(standings), correlations, mean)


def _strengths(
    sources: Sequence[BattleRatings], names: tuple[str, ...], resamples: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return the judges' strengths of the named models, shape (judges, models), and in resamples (draws, ...)."""
    where = [np.array([source.models.index(name) for name in names]) for source in sources]
    items, positions = number_items(sources)
    parts = list(zip(sources, positions, where, strict=True))
    theta = np.stack([source.strengths()[place] for source, _, place in parts])
    if items < 2:
        return theta, np.full((0, *theta.shape), np.nan)

    def strengths_of_draws(counts: np.ndarray) -> np.ndarray:
        """Refit all judges to resampled items, shape (draws, judges, models)."""
        return np.stack([source.strengths(counts[:, items_of])[:, place] for source, items_of, place in parts], axis=1)

    return theta, resample(strengths_of_draws, items, resamples, rng, width=len(sources) * len(names) ** 2)


def _tau_with_gold(subject: Subject, theta: np.ndarray, draws: np.ndarray, names: tuple[str, ...]) -> Figured:
    """Estimate a judge's tau with the gold standard, on the models that all judges rank."""
    try:
        gold = match_gold_pairs(subject)
    except (NotIdentifiedError, NotConvergedError) as error:
        return Missing(TAU, str(error), "judge the battles that would join the groups")
    if isinstance(gold, Missing):
        return gold
    common = [name for name in names if name in gold.models]
    if len(common) < 3:
        return Missing(TAU, f"{len(common)} models are common to all", "rank more of them")
    here = np.array([names.index(name) for name in common])
    truth = gold.strengths()[1][[gold.models.index(name) for name in common]]
    taus = kendall_taus(theta[here], truth), kendall_taus(draws[:, here], truth)
    return _tau_of(*taus, len(common), subject.level)


def _tau_of(value: np.ndarray | float, draws: np.ndarray, n: int, level: float, of: str = "models") -> Figured:
    """Return Kendall's tau with its bootstrap interval; `n` and `of` are its sample size."""
    tau, usable = float(value), int((~np.isnan(draws)).sum())
    if np.isnan(tau):
        return Missing("Kendall's tau", "a ranking puts all models level", "judge models that differ")
    method = f"item bootstrap, percentile or reflected, the farther end, {usable} resamples"
    return agreement_statistic(tau, draws, (-1.0, 1.0), method, level=level, n=n, of=of, unit=Unit.CORRELATION)
