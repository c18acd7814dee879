"""Compare two judges on the same battles: agreement, and the change of each model's rating."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import pandas as pd

from podium.diagnosis.clustered import Clustered
from podium.diagnosis.figures import CardAnswer, Figured, Missing, Statistic, Unit, Value
from podium.diagnosis.ratings import Ratings, bounded_by_all, fit_ratings
from podium.diagnosis.subject import Subject
from podium.errors import NotConvergedError, NotIdentifiedError
from podium.nouns.battles import Battles
from podium.nouns.human_labels import is_turned, matchup_frame
from podium.report.model import Table

AGAIN, DRIFT, MODELS = "battles re-judged", "drift of the judge", "drift of the models"
AFRESH = "re-judge the old responses: inspect eval podium/recorded -T battles=LOG"
KEY = ["item", "first", "second", "response"]
LENGTHS = ["length_first", "length_second"]

Drift: TypeAlias = dict[str, Statistic] | Missing
"""Change of each model's rating in Elo points, or why it is unknown."""


@dataclass(frozen=True, slots=True)
class Rejudged(CardAnswer):
    """Rating changes from the first judge to the second (`judge`), and beyond these on changed responses (`models`)."""

    first: str
    second: str
    battles: int
    most: int
    changed: int | None
    agreement: Figured
    judge: Drift
    models: Drift

    @property
    def sentence(self) -> str:
        """The comparison in one or two sentences."""
        share = f", the same verdict on {self.agreement.brief}" if isinstance(self.agreement, Statistic) else ""
        drifts = [_models_that_moved(name, drift) for name, drift in ((DRIFT, self.judge), (MODELS, self.models))]
        counted = f"re-judged: {self.battles:,} of {self.most:,} battles{share}"
        return "; ".join([counted, *filter(None, drifts)]) + f" (from {self.first} to {self.second})"

    def labelled_values(self) -> tuple[tuple[str, Value], ...]:
        answers = "whether the responses are the same is not known: no lengths"
        if self.changed is not None:
            answers = f"{self.battles - self.changed:,} with the same responses, {self.changed:,} with changed ones"
        return (
            (AGAIN, f"{self.battles:,} of {self.most:,}; {answers}"),
            ("same verdict", self.agreement),
            *((drift.what, drift) for drift in (self.judge, self.models) if isinstance(drift, Missing)),
        )

    def tables(self) -> tuple[Table, ...]:
        if isinstance(self.judge, Missing):
            return ()
        further = {} if isinstance(self.models, Missing) else self.models
        rows = []
        for name, drift in sorted(self.judge.items(), key=lambda row: (-abs(row[1].value), row[0])):
            rows.append((name, drift.brief, *([further[name].brief if name in further else "-"] if further else [])))
        header = ("model", "by the judge", *(["by its responses"] if further else []))
        return (Table(f"Elo by {self.second} less Elo by {self.first}", header, tuple(rows)),)


def compare_rejudged(subjects: Sequence[Subject]) -> Rejudged | Missing:
    """Compare two judges on the battles that both judged, apart for changed and unchanged responses (by length)."""
    if len(subjects) != 2:
        several = len(subjects) > 1
        why = f"there are {len(subjects)} judges" if several else "there is one judge only"
        return Missing(AGAIN, why, "give the verdicts of two" if several else AFRESH)
    if not all(subject.battles.has_items for subject in subjects):
        return Missing(AGAIN, "no row names its item, which judges share", "give a column item")
    tables = [_by_matchup(subject.battles) for subject in subjects]
    own = [table[table["row"] < 0].groupby(KEY, as_index=False)[["credit", *LENGTHS]].mean() for table in tables]
    both = own[0].merge(own[1], on=KEY, suffixes=("", "_then"))
    if both.empty:
        return Missing(AGAIN, "no battle was judged by both", AFRESH)
    then = [f"{name}_then" for name in LENGTHS]
    known = both[[*LENGTHS, *then]].notna().all(axis=1).to_numpy()
    other = known & (both[LENGTHS].to_numpy() != both[then].to_numpy()).any(axis=1)
    level = subjects[0].level
    wins = np.sign(both[["credit", "credit_then"]].to_numpy() - 0.5)
    rows = Clustered(pd.factorize(both["item"])[0], "item", level)
    judge = _drift(subjects, tables, both[~other])
    models = _drift(subjects, tables, both[other], less=both[~other]) if other.any() else None
    return Rejudged(
        first=subjects[0].judge or "(no judge)",
        second=subjects[1].judge or "(no judge)",
        battles=len(both),
        most=max(map(len, own)),
        changed=int(other.sum()) if known.any() else None,
        agreement=rows.share(wins[:, 0] == wins[:, 1], "battles", among=~np.isnan(wins).any(axis=1)),
        judge=judge,
        models=Missing(MODELS, "the responses are the same: the judge alone changed", "") if models is None else models,
    )


def _by_matchup(battles: Battles) -> pd.DataFrame:
    """Return item, models, response, credit and lengths of each battle; the model whose name sorts first is first."""
    turned = is_turned(battles.table).to_numpy()
    credit, of_a, of_b = battles.outcomes, *map(battles.numbers_of, ("length_a", "length_b"))
    lengths = np.where(turned, of_b, of_a), np.where(turned, of_a, of_b)
    shown = {"credit": np.where(turned, 1 - credit, credit), **dict(zip(LENGTHS, lengths, strict=True))}
    return matchup_frame(battles).assign(**shown)


def _drift(
    subjects: Sequence[Subject], tables: Sequence[pd.DataFrame], on: pd.DataFrame, less: pd.DataFrame | None = None
) -> Drift:
    """Estimate the rating changes from the first judge to the second on some battles, minus those on other battles."""
    what = DRIFT if less is None else MODELS
    terms = [(way * sign, k, chosen) for way, chosen in ((1, on), (-1, less)) for k, sign in enumerate((-1, 1))]
    try:
        parts = [(sign, _ratings(subjects[k], tables[k], chosen)) for sign, k, chosen in terms if chosen is not None]
    except (NotIdentifiedError, NotConvergedError) as error:
        return Missing(what, str(error), AFRESH)
    signs, ratings = [sign for sign, _ in parts], bounded_by_all(*(own for _, own in parts))
    names, level = ratings[0].models, subjects[0].level
    if len(names) < 2:
        return Missing(what, f"{len(names)} models have bounded ratings by both", "judge more battles")
    rows = Clustered(np.concatenate([own.rows.code for own in ratings]), "item", 1 - (1 - level) / len(names))
    value = np.sum([sign * own.elo for sign, own in zip(signs, ratings, strict=True)], axis=0)
    shares = np.concatenate([sign * own.influence for sign, own in zip(signs, ratings, strict=True)])
    # Centred on 0 among these models.
    value, shares = value - value.mean(), shares - shares.mean(axis=1, keepdims=True)
    method = f"{{}}, Bonferroni over {len(names)} models"
    drifts = [
        rows.linear(*own, len(on), "battles", Unit.ELO, method) for own in zip(value.tolist(), shares.T, strict=True)
    ]
    return {name: replace(drift, level=level) for name, drift in zip(names, drifts, strict=True)}


def _ratings(subject: Subject, table: pd.DataFrame, on: pd.DataFrame) -> Ratings:
    """Fit ratings to a judge's battles of some matchups; raises NotIdentifiedError."""
    chosen = pd.MultiIndex.from_frame(table[KEY]).isin(pd.MultiIndex.from_frame(on[KEY]))
    return fit_ratings(subject.battles.select(chosen)).ratings


def _models_that_moved(what: str, drift: Drift) -> str:
    """Write how many ratings changed beyond their intervals, and the two largest; empty if unknown."""
    if isinstance(drift, Missing):
        return ""
    moved = [name for name, by in drift.items() if by.excludes(0.0)]
    moved.sort(key=lambda name: -abs(drift[name].value))
    most = [f"{name} {drift[name].value:+.0f} Elo ({drift[name].interval})" for name in moved[:2]]
    return f"{what}: {f'{len(moved)} of {len(drift)} models move, ' + ', '.join(most) if moved else 'no model moves'}"
