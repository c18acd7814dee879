"""Several judges side by side: how their rankings agree, and what differs if two judged the same
battles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from podium.data.battles import Battles
from podium.data.human_labels import is_turned, matchup_frame
from podium.diagnosis.clustered import Clustered, agreement_statistic
from podium.diagnosis.figures import CardAnswer, Figured, Missing, Statistic, Unit, Value, attempt
from podium.diagnosis.gold import match_gold_pairs
from podium.diagnosis.ratings import (
    BattleRatings,
    Ratings,
    bounded_by_all,
    fit_ratings,
    kendall_taus,
    number_items,
)
from podium.diagnosis.subject import Subject
from podium.errors import NotConvergedError, NotIdentifiedError
from podium.rankers.errors.intervals import resample
from podium.tables import EMPTY, Table

RESAMPLES = 200
AFRESH = "re-judge the old responses: inspect eval podium/recorded -T battles=LOG"
MATCHUP = ["item", "first", "second", "response"]
LENGTHS = ["length_first", "length_second"]

Drift: TypeAlias = dict[str, Statistic] | Missing
"""Change of each model's rating in Elo points, or why it is unknown."""


class JudgeStanding(NamedTuple):
    """One judge among others, and Kendall's tau of its ranking with the gold standard."""

    judge: str
    realization: str | None
    battles: int
    tau: Figured


class Correlation(NamedTuple):
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
        rows, square, names = [], [], [row.judge for row in self.judges]
        tau = {
            frozenset((pair.first, pair.second)): pair.tau.estimate for pair in self.correlations
        }
        for k, row in enumerate(self.judges, start=1):
            rows.append(
                (f"{k}. {row.judge}", row.realization or EMPTY, f"{row.battles:,}", row.tau.brief)
            )
            square.append(
                (
                    f"{k}. {row.judge}",
                    *(tau.get(frozenset((row.judge, name)), EMPTY) for name in names),
                )
            )
        standings = Table("", ("judge", "realization", "judged", "tau with gold"), tuple(rows))
        header = ("Kendall's tau", *(f"{k}." for k in range(1, len(names) + 1)))
        return (
            standings,
            *([Table("Rank correlations", header, tuple(square))] if 2 < len(names) <= 12 else []),
        )


def side_by_side(
    subjects: Sequence[Subject], *, resamples: int = RESAMPLES
) -> JudgesSideBySide | Missing:
    """Compare the rankings of several judges by Kendall's tau; items that judges share are
    resampled together."""
    if len(subjects) < 2:
        return Missing(
            "there is one judge only", "give the verdicts of several, named in a column judge"
        )
    level, ready, sources, why = subjects[0].level, [], [], []
    for subject in subjects:
        try:
            sources.append(subject.judge_ratings)
            ready.append(subject)
        except (NotIdentifiedError, NotConvergedError) as error:
            why.append(str(error))
    if len(ready) < 2:
        return Missing(f"fewer than two judges give a ranking: {why[0]}", "judge more battles")
    names = tuple(sorted(set.intersection(*(set(source.models) for source in sources))))
    if len(names) < 3:
        return Missing(
            f"{len(names)} models are ranked by all judges", "let all judge the same models"
        )
    theta, draws = _strengths(sources, names, resamples, subjects[0].rng)
    standings = []
    for k, subject in enumerate(ready):
        tau, battles = (
            _tau_with_gold(subject, theta[k], draws[:, k], names),
            len(sources[k].coded.credit),
        )
        standings.append(
            JudgeStanding(subject.judge or "(no judge)", subject.realization, battles, tau)
        )
    first, second = np.triu_indices(len(ready), 1)
    values, drawn = (
        kendall_taus(theta[first], theta[second]),
        kendall_taus(draws[:, first], draws[:, second]),
    )
    correlations = tuple(
        Correlation(
            standings[i].judge,
            standings[j].judge,
            _tau_of(values[k], drawn[:, k], len(names), level),
        )
        for k, (i, j) in enumerate(zip(first.tolist(), second.tolist(), strict=True))
    )
    mean = _tau_of(values.mean(), drawn.mean(axis=1), len(first), level, "pairs of judges")
    standings.sort(
        key=lambda row: (-row.tau.value if isinstance(row.tau, Statistic) else 0.0, row.judge)
    )
    return JudgesSideBySide(len(names), tuple(standings), correlations, mean)


def _strengths(
    sources: Sequence[BattleRatings],
    names: tuple[str, ...],
    resamples: int,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the judges' strengths of the named models, shape (judges, models), and in resamples
    (draws, ...)."""
    items, positions = number_items(sources)
    where = [np.array([source.models.index(name) for name in names]) for source in sources]
    parts = list(zip(sources, positions, where, strict=True))
    theta = np.stack([source.strengths()[place] for source, _, place in parts])
    if items < 2:
        return theta, np.full((0, *theta.shape), np.nan)

    def strengths_of_draws(counts: np.ndarray) -> np.ndarray:
        """Refit all judges to resampled items, shape (draws, judges, models)."""
        return np.stack(
            [source.strengths(counts[:, items_of])[:, place] for source, items_of, place in parts],
            axis=1,
        )

    return theta, resample(
        strengths_of_draws, items, resamples, rng, width=len(sources) * len(names) ** 2
    )


def _tau_with_gold(
    subject: Subject, theta: np.ndarray, draws: np.ndarray, names: tuple[str, ...]
) -> Figured:
    """Estimate a judge's tau with the gold standard, on the models that all judges rank."""
    gold = attempt(
        lambda: match_gold_pairs(subject), "judge the battles that would join the groups"
    )
    if isinstance(gold, Missing):
        return gold
    common = [name for name in names if name in gold.models]
    if len(common) < 3:
        return Missing(f"{len(common)} models are common to all", "rank more of them")
    here = np.array([names.index(name) for name in common])
    truth = gold.strengths()[1][[gold.models.index(name) for name in common]]
    taus = kendall_taus(theta[here], truth), kendall_taus(draws[:, here], truth)
    return _tau_of(*taus, len(common), subject.level)


def _tau_of(
    value: np.ndarray | float, draws: np.ndarray, n: int, level: float, of: str = "models"
) -> Figured:
    """Return Kendall's tau with its bootstrap interval; `n` and `of` are its sample size."""
    tau, usable = float(value), int((~np.isnan(draws)).sum())
    if np.isnan(tau):
        return Missing("a ranking puts all models level", "judge models that differ")
    method = f"item bootstrap, percentile or reflected, the farther end, {usable} resamples"
    return agreement_statistic(
        tau, draws, (-1.0, 1.0), method, level=level, n=n, of=of, unit=Unit.CORRELATION
    )


@dataclass(frozen=True, slots=True)
class Rejudged(CardAnswer):
    """Rating changes from the first judge to the second (`judge`), and beyond these on changed
    responses (`models`)."""

    first: str
    second: str
    battles: int
    most: int
    changed: int | None
    agreement: Figured
    judge: Drift
    models: Drift

    @property
    def drifts(self) -> tuple[tuple[str, Drift], ...]:
        """Both drifts with their labels."""
        return (("drift of the judge", self.judge), ("drift of the models", self.models))

    @property
    def sentence(self) -> str:
        """The comparison in one or two sentences."""
        share = (
            f", the same verdict on {self.agreement.brief}"
            if isinstance(self.agreement, Statistic)
            else ""
        )
        moved = [
            _models_that_moved(label, drift)
            for label, drift in self.drifts
            if not isinstance(drift, Missing)
        ]
        counted = f"re-judged: {self.battles:,} of {self.most:,} battles{share}"
        return "; ".join([counted, *moved]) + f" (from {self.first} to {self.second})"

    def labelled_values(self) -> tuple[tuple[str, Value], ...]:
        answers = "whether the responses are the same is not known: no lengths"
        if self.changed is not None:
            answers = f"{self.battles - self.changed:,} with the same responses, {self.changed:,} with changed ones"
        return (
            ("battles re-judged", f"{self.battles:,} of {self.most:,}; {answers}"),
            ("same verdict", self.agreement),
            *((label, drift) for label, drift in self.drifts if isinstance(drift, Missing)),
        )

    def tables(self) -> tuple[Table, ...]:
        if isinstance(self.judge, Missing):
            return ()
        further = {} if isinstance(self.models, Missing) else self.models
        rows = []
        for name, drift in sorted(self.judge.items(), key=lambda row: (-abs(row[1].value), row[0])):
            rows.append(
                (
                    name,
                    drift.brief,
                    *([further[name].brief if name in further else "-"] if further else []),
                )
            )
        header = ("model", "by the judge", *(["by its responses"] if further else []))
        return (Table(f"Elo by {self.second} less Elo by {self.first}", header, tuple(rows)),)


def compare_rejudged(subjects: Sequence[Subject]) -> Rejudged | Missing:
    """Compare two judges on the battles that both judged, apart for changed and unchanged responses
    (by length)."""
    if len(subjects) != 2:
        several = len(subjects) > 1
        why = f"there are {len(subjects)} judges" if several else "there is one judge only"
        return Missing(why, "give the verdicts of two" if several else AFRESH)
    if not all(subject.battles.has_items for subject in subjects):
        return Missing("no row names its item, which judges share", "give a column item")
    tables = [_by_matchup(subject.battles) for subject in subjects]
    own = [
        table[table["row"] < 0].groupby(MATCHUP, as_index=False)[["credit", *LENGTHS]].mean()
        for table in tables
    ]
    both = own[0].merge(own[1], on=MATCHUP, suffixes=("", "_then"))
    if both.empty:
        return Missing("no battle was judged by both", AFRESH)
    now, then = both[LENGTHS].to_numpy(), both[[f"{name}_then" for name in LENGTHS]].to_numpy()
    known = ~np.isnan(now + then).any(axis=1)
    other = known & (now != then).any(axis=1)
    wins = np.sign(both[["credit", "credit_then"]].to_numpy() - 0.5)
    rows = Clustered(pd.factorize(both["item"])[0], "item", subjects[0].level)
    models: Drift = Missing("the responses are the same: the judge alone changed", "")
    if other.any():
        models = _drift(subjects, tables, both[other], less=both[~other])
    return Rejudged(
        first=subjects[0].judge or "(no judge)",
        second=subjects[1].judge or "(no judge)",
        battles=len(both),
        most=max(map(len, own)),
        changed=int(other.sum()) if known.any() else None,
        agreement=rows.share(
            wins[:, 0] == wins[:, 1], "battles", among=~np.isnan(wins).any(axis=1)
        ),
        judge=_drift(subjects, tables, both[~other]),
        models=models,
    )


def _by_matchup(battles: Battles) -> pd.DataFrame:
    """Return item, models, response, credit and lengths of each battle; the model whose name sorts
    first is first."""
    turned = is_turned(battles.table).to_numpy()
    credit, of_a, of_b = battles.outcomes, *map(battles.numbers_of, ("length_a", "length_b"))
    lengths = np.where(turned, of_b, of_a), np.where(turned, of_a, of_b)
    shown = {
        "credit": np.where(turned, 1 - credit, credit),
        **dict(zip(LENGTHS, lengths, strict=True)),
    }
    return matchup_frame(battles).assign(**shown)


def _drift(
    subjects: Sequence[Subject],
    tables: Sequence[pd.DataFrame],
    on: pd.DataFrame,
    less: pd.DataFrame | None = None,
) -> Drift:
    """Estimate the rating changes from the first judge to the second on some battles, minus those
    on other battles."""
    terms = [
        (way * sign, k, chosen)
        for way, chosen in ((1, on), (-1, less))
        for k, sign in enumerate((-1, 1))
    ]
    try:
        parts = [
            (sign, _fit_on(subjects[k], tables[k], chosen))
            for sign, k, chosen in terms
            if chosen is not None
        ]
    except (NotIdentifiedError, NotConvergedError) as error:
        return Missing(str(error), AFRESH)
    signs, ratings = [sign for sign, _ in parts], bounded_by_all(*(own for _, own in parts))
    names, level = ratings[0].models, subjects[0].level
    if len(names) < 2:
        return Missing(f"{len(names)} models have bounded ratings by both", "judge more battles")
    rows = Clustered(
        np.concatenate([own.rows.code for own in ratings]), "item", 1 - (1 - level) / len(names)
    )
    value = np.sum([sign * own.elo for sign, own in zip(signs, ratings, strict=True)], axis=0)
    shares = np.concatenate(
        [sign * own.influence for sign, own in zip(signs, ratings, strict=True)]
    )
    # Centred on 0 among these models.
    value, shares = value - value.mean(), shares - shares.mean(axis=1, keepdims=True)
    facts = (len(on), "battles", Unit.ELO, f"{{}}, Bonferroni over {len(names)} models")
    drifts = zip(names, value.tolist(), shares.T, strict=True)
    return {
        name: replace(rows.linear(elo, share, *facts), level=level) for name, elo, share in drifts
    }


def _fit_on(subject: Subject, table: pd.DataFrame, on: pd.DataFrame) -> Ratings:
    """Fit ratings to a judge's battles of some matchups; raises NotIdentifiedError."""
    chosen = pd.MultiIndex.from_frame(table[MATCHUP]).isin(pd.MultiIndex.from_frame(on[MATCHUP]))
    return fit_ratings(subject.battles.select(chosen)).ratings


def _models_that_moved(label: str, drift: Mapping[str, Statistic]) -> str:
    """Write how many ratings changed beyond their intervals, and the two largest."""
    moved = [name for name, by in drift.items() if by.excludes(0.0)]
    moved.sort(key=lambda name: -abs(drift[name].value))
    most = [f"{name} {drift[name].value:+.0f} Elo ({drift[name].interval})" for name in moved[:2]]
    return f"{label}: {f'{len(moved)} of {len(drift)} models move, ' + ', '.join(most) if moved else 'no model moves'}"
