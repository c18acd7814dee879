"""What a jury is worth: which judge, or which mix of judges, gives the smallest standard error at equal calls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from podium.checks import CHECKS
from podium.diagnosis.clustered import Clustered
from podium.diagnosis.figures import CardAnswer, Figured, Missing, Statistic, Unit, Value
from podium.diagnosis.ratings import REMEDY
from podium.diagnosis.subject import Subject
from podium.errors import NotConvergedError, NotIdentifiedError
from podium.nouns.battles import Battles
from podium.rankers.coded import code_battles
from podium.rankers.defaults import REGULARIZATION
from podium.rankers.identification import fit_battles
from podium.rankers.judge_aware import jury_battles, jury_figures
from podium.rankers.judge_slopes import JuryBattles, SlopeFit, fit_slopes
from podium.rankers.scale import POINTS
from podium.report.model import EMPTY, Table

JURY = "worth of the jury"
ROTATION = "one judge per battle, in rotation"
ALL = "all judges on each battle"
FEWEST_COMMON = 30
"""Battles judged by all judges below which asking all of them is not compared."""


@dataclass(frozen=True, slots=True)
class Spending:
    """One way to spend the jury's calls: `se` is the root mean square standard error of the ratings in Elo, on the
    scale of all judges, if all calls were spent so; `error` is their distance from human ratings on that scale."""

    name: str
    battles: int
    se: float
    slope: Figured | None
    position: Figured | None
    cost: float | None
    error: Figured


@dataclass(frozen=True, slots=True)
class JuryWorth(CardAnswer):
    """Ways to spend the calls, the most precise first; `ratio` is the first one's standard error over the second's."""

    spendings: tuple[Spending, ...]
    ratio: Statistic
    calls: int
    effective_judges: Figured

    @property
    def sentence(self) -> str:
        """The most precise way at equal calls and at equal cost, with the interval of its lead."""
        best, second = self.spendings[:2]
        doubt = "" if self.ratio.high is not None and self.ratio.high < 1 else ", which may be chance"
        priced = [own for own in self.spendings if own.cost]
        cheapest = min(priced, key=lambda own: own.se**2 * (own.cost or 0.0)).name if len(priced) > 1 else ""
        return (
            f"at equal calls {best.name} gives the smallest standard error, {best.se:.1f} Elo; {second.name} "
            f"{second.se:.1f} (ratio {self.ratio.brief}{doubt})" + (f"; at equal cost, {cheapest}" if cheapest else "")
        )

    def labelled_values(self) -> tuple[tuple[str, Value], ...]:
        return (("most precise", self.sentence), ("effective number of judges", self.effective_judges))

    def tables(self) -> tuple[Table, ...]:
        header = ("calls spent on", "battles", "slope", "position, log-odds", "cost per verdict", "se", "error")
        rows = [
            (
                *(own.name, f"{own.battles:,}", _brief(own.slope), _brief(own.position)),
                *(EMPTY if own.cost is None else f"{own.cost:.2g}", f"{own.se:.1f}", own.error.brief),
            )
            for own in self.spendings
        ]
        return (
            Table(f"se: Elo, if all {self.calls:,} calls are spent so; error: Elo from humans", header, tuple(rows)),
        )


def jury_worth(subjects: Sequence[Subject]) -> JuryWorth | Missing:
    """Compare the precision of each judge alone, of all in rotation, and of all on each battle, at equal calls."""
    if len(subjects) < 2:
        return Missing(JURY, "there is one judge only", "give the verdicts of several, named in a column judge")
    battles, level = _join_battles(subjects), subjects[0].level
    data = jury_battles(battles)
    ways = _ways(data, subjects[0].rng)
    fewest = min(len(np.unique(part.coded.cluster)) for part in ways.values())
    if fewest < CHECKS["items"].threshold:
        return Missing(JURY, f"a judge has verdicts on {fewest} items, fewer than 30", "judge more items")
    theta = fit_battles(data.coded).theta
    free = fit_slopes(data, theta, REGULARIZATION)
    fits = {name: fit_slopes(part, theta, REGULARIZATION, equal=True) for name, part in ways.items()}
    ratings = {name: _scaled_ratings(fit, free.theta) for name, fit in fits.items()}
    # With all calls, a way would have more items: variances fall as calls rise.
    share = {name: len(part.judge) / len(data.judge) for name, part in ways.items()}
    variances = {name: share[name] * np.mean(influence**2, axis=1) for name, (_, influence) in ratings.items()}
    order = sorted(variances, key=lambda name: (variances[name].sum(), name))
    items = Clustered(np.arange(data.coded.clusters), data.coded.unit, level)
    ratio = _ratio_of_errors(variances, order, free, items)
    errors, figures = _human_errors(battles, ratings, data, items), _judge_figures(free, level)
    costs = battles.table.groupby("judge", observed=True)["cost"].mean().to_dict() if "cost" in battles.table else {}
    spendings = []
    for name in order:
        slope, position = figures.get(name, (None, None))
        se, number = float(np.sqrt(variances[name].sum())), len(ways[name].judge)
        spendings.append(Spending(name, number, se, slope, position, costs.get(name), errors[name]))
    return JuryWorth(tuple(spendings), ratio, battles.counts().judgments, _effective_judges(battles, data, items))


def _ratio_of_errors(
    variances: Mapping[str, np.ndarray], order: Sequence[str], free: SlopeFit, items: Clustered
) -> Statistic:
    """Return the first way's standard error over the second's; its interval allows for the choice among all ways."""
    judges, begin = free.data.judges, len(free.theta)
    influences = []
    for name in order[:2]:
        # A judge's standard error is divided by its slope, which was estimated from the same items.
        influences.append(variances[name] / (2 * variances[name].sum()))
        if name in judges:
            code = judges.index(name)
            influences[-1] = influences[-1] - free.influence[:, begin + code] / free.slopes[code]
    value = float(np.sqrt(variances[order[0]].sum() / variances[order[1]].sum()))
    simultaneous = replace(items, level=1 - (1 - items.level) / (len(order) - 1))
    influence = value * (influences[0] - influences[1])
    ratio = simultaneous.linear(value, influence, len(free.data.judge), method="{}, simultaneous over all ways")
    return replace(ratio, level=items.level)


def _join_battles(subjects: Sequence[Subject]) -> Battles:
    """Return the battles of all judges in one table."""
    table = pd.concat([subject.battles.to_frame() for subject in subjects], ignore_index=True)
    models = sorted({*table["model_a"], *table["model_b"]})
    sides = {side: pd.Categorical(table[side], models) for side in ("model_a", "model_b")}
    items = {"item": table["item"].astype("category")} if "item" in table else {}
    return Battles(table.assign(**sides, **items))


def _ways(data: JuryBattles, rng: np.random.Generator) -> dict[str, JuryBattles]:
    """Return the battles of each judge, of a rotation, and, if enough were judged by all, of all judges."""
    _, matchup = data.matchups()
    turn = rng.permutation(len(matchup))
    kept = turn[np.unique(matchup[turn], return_index=True)[1]]
    by_all = ~np.isnan(data.means_by_judge(data.coded.credit)).any(axis=1)
    common = {ALL: data.take(by_all[matchup])} if by_all.sum() >= FEWEST_COMMON else {}
    alone = {name: data.take(data.judge == code) for code, name in enumerate(data.judges)}
    return alone | {ROTATION: data.take(np.sort(kept))} | common


def _scaled_ratings(fit: SlopeFit, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return ratings and their influence by item in Elo, after the best rescaling to the strengths of all judges."""
    scale = POINTS * float(fit.theta @ theta) / float(fit.theta @ fit.theta)
    influence = fit.influence[:, : len(theta)]
    return scale * fit.theta, scale * (influence - influence.mean(axis=1, keepdims=True))


def _judge_figures(free: SlopeFit, level: float) -> dict[str, tuple[Figured | None, Figured | None]]:
    """Return slope and position effect of each judge, None if no order is known."""
    method, units = f"{free.data.coded.unit}-clustered sandwich", {"slope": Unit.NUMBER, "position": Unit.LOGITS}
    figures: dict[str, tuple[Figured | None, Figured | None]] = {}
    for judge, row in jury_figures(free, level).items():
        ends = {name: {end: row[f"{name}_{end}"] for end in ("low", "high")} for name in units}
        facts: dict[str, Any] = {"level": level, "method": method, "n": row["battles"]}
        slope, position = (
            None if row[name] is None else Statistic(row[name], **ends[name], **facts, unit=unit)
            for name, unit in units.items()
        )
        figures[judge] = (slope, position)
    return figures


def _human_errors(
    battles: Battles, ratings: Mapping[str, tuple[np.ndarray, np.ndarray]], data: JuryBattles, items: Clustered
) -> dict[str, Figured]:
    """Return the root mean square distance of each rating from human ratings, both on the scale of all judges."""
    labels = np.where(battles.readable, battles.numbers_of("human"), np.nan)
    try:
        if np.isnan(labels).all():
            return dict.fromkeys(ratings, Missing("error", "no human labels", REMEDY))
        human = fit_battles(code_battles(battles, credit=labels))
        if human.pairs.models != len(data.coded.models):
            raise NotIdentifiedError("not all models have human labels")
    except (NotIdentifiedError, NotConvergedError) as error:
        return dict.fromkeys(ratings, Missing("error", str(error), REMEDY))
    errors: dict[str, Figured] = {}
    for name, (elo, influence) in ratings.items():
        off = elo - human.theta * float(human.theta @ elo) / float(human.theta @ human.theta)
        size = float(np.sqrt(np.mean(off**2)))
        errors[name] = items.linear(
            size,
            influence @ off / (len(off) * size),
            int((~np.isnan(labels)).sum()),
            "labels",
            Unit.ELO,
            within=(0, np.inf),
        )
    return errors


def _effective_judges(battles: Battles, data: JuryBattles, items: Clustered) -> Figured:
    """Return J / (1 + (J - 1) r), r the mean correlation of judges' distances from human labels, where all judged."""
    name, judges = "effective number of judges", len(data.judges)
    errors = np.abs(data.means_by_judge(data.coded.credit - battles.numbers_of("human")[battles.readable]))
    known, models = ~np.isnan(errors).any(axis=1), len(data.coded.models)
    if np.isnan(battles.numbers_of("human")).all():
        return Missing(name, "no human labels", REMEDY)
    if known.sum() < FEWEST_COMMON:
        return Missing(name, f"fewer than {FEWEST_COMMON} labelled battles were judged by all", "play with overlap=0.1")
    z = errors[known] - errors[known].mean(axis=0)
    z /= z.std(axis=0)
    first, second = np.triu_indices(judges, 1)
    products, number = z[:, first] * z[:, second], len(z)
    r = products.mean(axis=0)
    influence = (products - r * (z[:, first] ** 2 + z[:, second] ** 2) / 2).mean(axis=1) / number
    spread = 1 + (judges - 1) * float(r.mean())
    by_item = replace(items, code=data.matchups()[0][known] // models**2)
    slope = -judges * (judges - 1) / spread**2
    return by_item.linear(judges / spread, slope * influence, number, "labelled battles", within=(0, judges))


def _brief(figure: Figured | None) -> str:
    """Format a figure with its interval; a dash without one."""
    return EMPTY if figure is None else figure.brief
