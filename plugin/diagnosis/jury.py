"""What a jury is worth: which judge, or which mix of judges, gives the smallest standard error at
equal calls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from podium.checks import CHECKS
from podium.data.battles import Battles
from podium.data.counting.battle_frame import BattleFrame
from podium.defaults import REGULARIZATION
from podium.diagnosis.clustered import Clustered
from podium.diagnosis.figures import CardAnswer, Figured, Missing, Statistic, Unit, Value, attempt
from podium.diagnosis.ratings import REMEDY
from podium.diagnosis.subject import Subject
from podium.numbers import cell_text
from podium.rankers.errors.intervals import finite_or_none
from podium.rankers.errors.judge_slopes import JuryBattles, SlopeFit, fit_slopes
from podium.rankers.fit.coded import code_battles
from podium.rankers.fit.graph import comparison_graph
from podium.rankers.fit.identification import fit_battles
from podium.rankers.fit.pairs import pair_sums
from podium.rankers.fit.scale import POINTS
from podium.rankers.judge_aware import jury_battles, jury_figures
from podium.tables import EMPTY, Table

ROTATION = "one judge per battle, in rotation"
ALL = "all judges on each battle"
TINY = 1e-12
MORE = "let each judge all models on 30 items or more, or leave out one that contradicts the others"
REMEDY_OF_SIGN = "check that human labels and verdicts are about the same model"
FEWEST_COMMON = 30
"""Battles judged by all judges below which asking all of them is not compared."""


class Spending(NamedTuple):
    """One way to spend the jury's calls: `se` is the root mean square standard error of the ratings
    in Elo, on the scale of all judges, if all calls were spent so; `error` is their distance from
    human ratings on that scale."""

    name: str
    battles: int
    se: float
    slope: Figured | None
    position: Figured | None
    cost: float | None
    error: Figured


@dataclass(frozen=True, slots=True, kw_only=True)
class JuryWorth(CardAnswer):
    """Ways to spend the calls, the most precise first; `ratio` is the first one's standard error
    over the second's."""

    spendings: tuple[Spending, ...]
    ratio: Statistic
    by_cost: tuple[tuple[str, ...], Statistic] | None
    left_out: tuple[str, ...]
    calls: int
    effective_judges: Figured

    @property
    def sentence(self) -> str:
        """The most precise way at equal calls and at equal cost, with the interval of its lead."""
        best, second = self.spendings[:2]
        text = f"at equal calls {best.name} gives the smallest standard error, {best.se:.1f} Elo; {second.name} "
        text += f"{second.se:.1f} {_ratio_text(self.ratio)}"
        if self.by_cost is None:
            return text
        (first, other, *_), ratio = self.by_cost
        return f"{text}; at equal cost {first}, then {other} {_ratio_text(ratio)}"

    def labelled_values(self) -> tuple[tuple[str, Value], ...]:
        out = f"{', '.join(self.left_out)}: no ratings of all models on 30 items"
        lines = (
            ("most precise", self.sentence),
            *([("not compared", out)] if self.left_out else []),
        )
        return (*lines, ("effective number of judges", self.effective_judges))

    def tables(self) -> tuple[Table, ...]:
        header = (
            "calls spent on",
            "battles",
            "slope",
            "position, log-odds",
            "cost per verdict",
            "se",
            "error",
        )
        rows = []
        for own in self.spendings:
            effects = (
                EMPTY if figure is None else figure.brief for figure in (own.slope, own.position)
            )
            errors = (cell_text(own.cost, ".2g"), f"{own.se:.1f}", own.error.brief)
            rows.append((own.name, f"{own.battles:,}", *effects, *errors))
        title = f"se: Elo, if all {self.calls:,} calls are spent so; error: Elo from humans"
        return (Table(title, header, tuple(rows)),)


def _ratio_text(ratio: Statistic) -> str:
    """Write the ratio of two standard errors, with a doubt if its interval reaches 1."""
    doubt = "" if ratio.high is not None and ratio.high < 1 else ", which may be chance"
    return f"(ratio {ratio.brief}{doubt})"


def jury_worth(subjects: Sequence[Subject]) -> JuryWorth | Missing:
    """Compare the precision of each judge alone, of all in rotation, and of all on each battle, at
    equal calls."""
    if sum(subject.battles.readable.any() for subject in subjects) < 2:
        return Missing(
            "there is one judge only", "give readable verdicts of several, named in a column judge"
        )
    battles, level = _join_battles(subjects), subjects[0].level
    data = jury_battles(battles)
    theta = fit_battles(data.coded).theta
    free = fit_slopes(data, theta, REGULARIZATION)
    ways, left_out = _ways(data, battles.judges, subjects[0].rng)
    fits = {
        name: fit_slopes(part, theta, REGULARIZATION, equal=True) for name, part in ways.items()
    }
    if len(ways) < 2 or not min(float(fit.theta @ free.theta) for fit in fits.values()) > 0:
        return Missing(
            "fewer than two ways to judge give ratings, or judges contradict each other", MORE
        )
    ratings = {name: _scaled_ratings(fit, free.theta) for name, fit in fits.items()}
    # With all calls, a way would have more items: variances fall as calls rise.
    share = {name: len(part.judge) / len(data.judge) for name, part in ways.items()}
    variances = {
        name: share[name] * np.mean(influence**2, axis=1)
        for name, (_, influence) in ratings.items()
    }
    items = Clustered(np.arange(data.coded.clusters), data.coded.unit, level)
    costs = _costs(battles, ways, data)
    priced = {name: cost * variances[name] for name, cost in costs.items() if cost}
    by_cost = _compare_ways(priced, free, items) if len(priced) == len(ways) else None
    order, ratio = _compare_ways(variances, free, items)
    errors, figures, spendings = (
        _human_errors(battles, ratings, data, items),
        _judge_figures(free, level),
        [],
    )
    for name in order:
        slope, position = figures.get(name, (None, None))
        spending = Spending(
            name=name,
            battles=len(ways[name].judge),
            se=float(np.sqrt(variances[name].sum())),
            slope=slope,
            position=position,
            cost=costs[name],
            error=errors[name],
        )
        spendings.append(spending)
    calls, effective = battles.counts().judgments, _effective_judges(battles, data, items)
    facts: dict[str, Any] = {"left_out": left_out, "calls": calls, "effective_judges": effective}
    return JuryWorth(spendings=tuple(spendings), ratio=ratio, by_cost=by_cost, **facts)


def _costs(
    battles: Battles, ways: Mapping[str, JuryBattles], data: JuryBattles
) -> dict[str, float | None]:
    """Return the mean cost of a verdict by way, from the judges' means in the column `cost`; None
    if unknown, or if a judge's costs are not numbers of 0 or more."""
    if "cost" not in battles.table:
        return dict.fromkeys(ways)
    given = battles.table["cost"].astype(object)
    cost = pd.to_numeric(given, errors="coerce").astype(np.float64)
    by_judge = (
        cost.where(given.isna() | (cost >= 0), np.inf)
        .groupby(battles.table["judge"], observed=True)
        .mean()
    )
    by_code = np.array([float(by_judge.get(judge, np.nan)) for judge in data.judges])
    return {name: finite_or_none(by_code[part.judge].mean()) for name, part in ways.items()}


def _compare_ways(
    variances: Mapping[str, np.ndarray], free: SlopeFit, items: Clustered
) -> tuple[tuple[str, ...], Statistic]:
    """Return the ways by rising standard error, and the ratio of the first two; its interval allows
    for the choice."""
    order = tuple(sorted(variances, key=lambda name: (variances[name].sum(), name)))
    judges, of_slopes, influences = free.data.judges, free.influence[:, free.data.slope_columns], []
    for name in order[:2]:
        influences.append(variances[name] / (2 * variances[name].sum()))
        if name in judges:
            # A judge's standard error is divided by its slope, which was estimated from the same
            # items.
            code = judges.index(name)
            influences[-1] = influences[-1] - of_slopes[:, code] / free.slopes[code]
    log_ratio = float(np.log(variances[order[0]].sum() / variances[order[1]].sum())) / 2
    simultaneous = replace(items, level=1 - (1 - items.level) / (len(order) - 1))
    of_logarithm = simultaneous.linear(
        log_ratio, influences[0] - influences[1], len(free.data.judge)
    )
    method = f"{of_logarithm.method} of logarithms, simultaneous over all ways"
    return order, of_logarithm.transform(np.exp, method=method, level=items.level)


def _join_battles(subjects: Sequence[Subject]) -> Battles:
    """Return the battles of all judges in one table."""
    table = pd.concat([subject.battles.to_frame() for subject in subjects], ignore_index=True)
    models = sorted({*table["model_a"], *table["model_b"]})
    sides = {side: pd.Categorical(table[side], models) for side in ("model_a", "model_b")}
    items = {"item": table["item"].astype("category")} if "item" in table else {}
    return Battles(BattleFrame(table.assign(**sides, **items)))


def _ways(
    data: JuryBattles, judges: Sequence[str], rng: np.random.Generator
) -> tuple[dict[str, JuryBattles], tuple[str, ...]]:
    """Return the battles of each judge, of a rotation, and, if enough were judged by all, of all
    judges; and the names of those left out because they do not rate all models on 30 items."""
    _, matchup = data.matchups()
    turn = rng.permutation(len(matchup))
    kept = turn[np.unique(matchup[turn], return_index=True)[1]]
    by_all = ~np.isnan(data.means_by_judge(data.coded.credit)).any(axis=1)
    common = {ALL: data.take(by_all[matchup])} if by_all.sum() >= FEWEST_COMMON else {}
    alone = {name: data.take(data.judge == code) for code, name in enumerate(data.judges)}
    ways = alone | {ROTATION: data.take(np.sort(kept))} | common
    rated = {name: part for name, part in ways.items() if _rates_all(part)}
    return rated, tuple(name for name in dict.fromkeys((*judges, *ways)) if name not in rated)


def _rates_all(part: JuryBattles) -> bool:
    """Return whether battles bound the ratings of all models, on at least 30 items and not by ties
    alone."""
    coded, fewest = part.coded, CHECKS["items"].threshold
    ties_alone = (coded.credit == 0.5).all()
    if len(np.unique(coded.cluster)) < fewest or ties_alone or not coded.battles_by_model().all():
        return False
    graph = comparison_graph(pair_sums(coded))
    return graph.groups == 1 and not graph.separated.any()


def _scaled_ratings(fit: SlopeFit, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return ratings and their influence by item in Elo, after the best rescaling to the strengths
    of all judges."""
    scale = POINTS * float(fit.theta @ theta) / float(fit.theta @ fit.theta)
    influence = fit.influence[:, : len(theta)]
    return scale * fit.theta, scale * (influence - influence.mean(axis=1, keepdims=True))


def _judge_figures(
    free: SlopeFit, level: float
) -> dict[str, tuple[Figured | None, Figured | None]]:
    """Return slope and position effect of each judge, None if no order is known."""
    method, units = (
        f"{free.data.coded.unit}-clustered sandwich",
        {"slope": Unit.NUMBER, "position": Unit.LOGITS},
    )
    figures: dict[str, tuple[Figured | None, Figured | None]] = {}
    for judge, row in jury_figures(free, level).items():
        facts: dict[str, Any] = {"level": level, "method": method, "n": row["battles"]}
        ends = {name: (row[name], row[f"{name}_low"], row[f"{name}_high"]) for name in units}
        known = {
            name: Statistic(*own, **facts, unit=units[name])
            for name, own in ends.items()
            if own[0] is not None
        }
        figures[judge] = (known.get("slope"), known.get("position"))
    return figures


def _human_errors(
    battles: Battles,
    ratings: Mapping[str, tuple[np.ndarray, np.ndarray]],
    data: JuryBattles,
    items: Clustered,
) -> dict[str, Figured]:
    """Return the root mean square distance of each rating from human ratings, both on the scale of
    all judges."""
    labels = np.where(battles.readable, battles.numbers_of("human"), np.nan)
    if np.isnan(labels).all():
        return dict.fromkeys(ratings, Missing("no human labels", REMEDY))
    human = attempt(lambda: fit_battles(code_battles(battles, credit=labels)), REMEDY)
    if isinstance(human, Missing):
        return dict.fromkeys(ratings, human)
    if human.pairs.models != len(data.coded.models):
        return dict.fromkeys(ratings, Missing("not all models have human labels", REMEDY))
    errors: dict[str, Figured] = {}
    for name, (elo, influence) in ratings.items():
        if not float(human.theta @ elo) > 0:
            errors[name] = Missing("these ratings do not rise with human ratings", REMEDY_OF_SIGN)
            continue
        off = elo - human.theta * float(human.theta @ elo) / float(human.theta @ human.theta)
        size = max(float(np.sqrt(np.mean(off**2))), TINY)
        of_items, number = influence @ off / (len(off) * size), int((~np.isnan(labels)).sum())
        errors[name] = items.linear(size, of_items, number, "labels", Unit.ELO, within=(0, np.inf))
    return errors


def _effective_judges(battles: Battles, data: JuryBattles, items: Clustered) -> Figured:
    """Return J / (1 + (J - 1) r), r the mean correlation of judges' distances from human labels,
    where all judged."""
    judges = len(data.judges)
    errors = np.abs(
        data.means_by_judge(data.coded.credit - battles.numbers_of("human")[battles.readable])
    )
    known, models = ~np.isnan(errors).any(axis=1), len(data.coded.models)
    if np.isnan(battles.numbers_of("human")).all():
        return Missing("no human labels", REMEDY)
    if known.sum() < FEWEST_COMMON:
        return Missing(
            f"fewer than {FEWEST_COMMON} labelled battles were judged by all",
            "play with overlap=0.1",
        )
    z = errors[known] - errors[known].mean(axis=0)
    if not (z.std(axis=0) > 0).all():
        return Missing(
            "the verdicts of a judge are all as far from the labels", "label more battles"
        )
    z /= z.std(axis=0)
    first, second = np.triu_indices(judges, 1)
    products, number = z[:, first] * z[:, second], len(z)
    r = products.mean(axis=0)
    influence = (products - r * (z[:, first] ** 2 + z[:, second] ** 2) / 2).mean(axis=1) / number
    spread = 1 + (judges - 1) * float(r.mean())
    by_item = replace(items, code=data.matchups()[0][known] // models**2)
    slope = -judges * (judges - 1) / spread**2
    return by_item.linear(
        judges / spread, slope * influence, number, "labelled battles", within=(0, judges)
    )
