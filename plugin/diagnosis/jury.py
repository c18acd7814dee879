"""What a jury is worth: which judge, or mix of judges, is the most precise at equal calls.

A way to spend the calls is one judge alone, one judge per battle in rotation, or all judges on
each battle. Ratings of different ways are comparable after they are scaled to those of all judges.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from podium.check_kinds import CHECKS
from podium.data.battles import Battles
from podium.data.counting.battle_frame import BattleFrame
from podium.defaults import REGULARIZATION
from podium.diagnosis.clustered import Clustered
from podium.diagnosis.figures import CardAnswer, Figured, Missing, Statistic, Unit, Value, attempt
from podium.diagnosis.ratings import REFERENCE_REMEDY
from podium.diagnosis.subject import Subject
from podium.distinct_values import distinct_values
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
from podium.wording import quantity

ROTATION = "one judge per battle, in rotation"
"""Name of the way in which one random judge judges each matchup."""
ALL_JUDGES = "all judges on each battle"
"""Name of the way in which all judges judge each matchup."""
SMALLEST_DISTANCE = 1e-12
"""Replaces smaller distances from human ratings, because errors are divided by the distance."""
MORE_ITEMS = (
    "let each judge all models on 30 items or more, or leave out one that contradicts the others"
)
"""Remedy if fewer than two ways give ratings, or if there are too few items."""
REMEDY_OF_SIGN = "check that human labels and verdicts are about the same model"
"""Remedy if ratings do not rise with human ratings."""
FEWEST_CLUSTERS = int(CHECKS["items"].threshold or 0)
"""Fewest items, or groups of items, on which ways to judge are compared."""
FEWEST_COMMON_BATTLES = 30
"""Fewest battles judged by all judges with which the way `ALL_JUDGES` is compared."""


class Spending(NamedTuple):
    """One way to spend the jury's calls.

    Attributes:
        name: name of the judge, `ROTATION`, or `ALL_JUDGES`.
        battles: number of battles that were judged in this way.
        se: standard error of the ratings if all calls were spent in this way, in Elo on the scale
            of all judges; the root mean square over models.
        slope: slope of the judge's ratings; None for a mix of judges.
        position: log-odds that being shown first adds; None for a mix of judges, or if no order is
            known.
        cost: mean cost of a verdict, in the unit of the column `cost`; None if unknown.
        error: root mean square distance of the ratings from human ratings, in Elo on the scale of
            all judges.
    """

    name: str
    battles: int
    se: float
    slope: Figured | None
    position: Figured | None
    cost: float | None
    error: Figured


@dataclass(frozen=True, slots=True, kw_only=True)
class JuryWorth(CardAnswer):
    """Ways to spend the calls of a jury.

    Attributes:
        spendings: the ways, the most precise first.
        ratio: standard error of the first way divided by the standard error of the second.
        by_cost: the comparison at equal cost: the names of the ways, the most precise first, and
            the ratio of the first two standard errors. None if a cost is unknown.
        left_out: names of the ways that do not rate all models on 30 items.
        calls: number of judgments.
        effective_judges: number of independent judges that would be as precise as this jury, if
            all judges judge each battle.
    """

    spendings: tuple[Spending, ...]
    ratio: Statistic
    by_cost: tuple[tuple[str, ...], Statistic] | None
    left_out: tuple[str, ...]
    calls: int
    effective_judges: Figured

    @property
    def sentence(self) -> str:
        """The most precise way at equal calls and, if costs are known, at equal cost.

        Each is followed by the second way and the ratio of both standard errors. The text has no
        full stop and begins in lower case.
        """
        first, second = self.spendings[:2]
        text = (
            f"at equal calls {first.name} gives the smallest standard error, {first.se:.1f} Elo; "
            f"{second.name} {second.se:.1f} {_ratio_text(self.ratio)}"
        )
        if self.by_cost is None:
            return text
        ways_by_cost, cost_ratio = self.by_cost
        cheapest, next_cheapest = ways_by_cost[:2]
        return f"{text}; at equal cost {cheapest}, then {next_cheapest} {_ratio_text(cost_ratio)}"

    def labelled_values(self) -> tuple[tuple[str, Value], ...]:
        """Return label and value of each line.

        The lines are the most precise way, the ways that are not compared, and the number of
        effective judges.
        """
        lines: list[tuple[str, Value]] = [("most precise", self.sentence)]
        if self.left_out:
            reason = "no ratings of all models on 30 items"
            lines.append(("not compared", f"{', '.join(self.left_out)}: {reason}"))
        lines.append(("effective number of judges", self.effective_judges))
        return tuple(lines)

    def tables(self) -> tuple[Table, ...]:
        """Return a table with a row per way to spend the calls, the most precise first."""
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
        for way in self.spendings:
            slope = EMPTY if way.slope is None else way.slope.brief
            position = EMPTY if way.position is None else way.position.brief
            cost = cell_text(way.cost, ".2g")
            effects = (slope, position, cost)
            rows.append((way.name, f"{way.battles:,}", *effects, f"{way.se:.1f}", way.error.brief))
        title = f"se: Elo, if all {self.calls:,} calls are spent so; error: Elo from humans"
        return (Table(title=title, header=header, rows=tuple(rows)),)


def _ratio_text(ratio: Statistic) -> str:
    """Write the ratio of two standard errors in brackets.

    If the interval of the ratio reaches 1, the text says that the ratio may be chance.
    """
    doubt = "" if ratio.high is not None and ratio.high < 1 else ", which may be chance"
    return f"(ratio {ratio.brief}{doubt})"


def jury_worth(subjects: Sequence[Subject]) -> JuryWorth | Missing:
    """Compare the precision of several ways to spend the calls of a jury, at equal calls.

    Args:
        subjects: the judges.

    Returns:
        The ways, the most precise first; `Missing` if fewer than two judges have readable verdicts,
        if there are fewer than 30 items, if fewer than two ways give ratings, or if judges
        contradict each other.

    Raises:
        NotIdentifiedError: the battles do not connect all models.
    """
    if sum(subject.battles.readable.any() for subject in subjects) < 2:
        remedy = "give readable verdicts of several, named in a column judge"
        return Missing("there is one judge only", remedy)
    battles = _join_battles(subjects)
    level = subjects[0].level
    data = jury_battles(battles)
    if data.coded.clusters < FEWEST_CLUSTERS:
        size = quantity(data.coded.clusters, data.coded.unit)
        why = f"there are {size}, and errors of a jury need {FEWEST_CLUSTERS}"
        return Missing(why, MORE_ITEMS)
    theta = fit_battles(data.coded).theta
    fit_of_all = fit_slopes(data, theta, REGULARIZATION)
    ways, left_out = _battles_by_way(data, battles.judges, subjects[0].rng)
    ratings = _ratings_by_way(ways, theta, fit_of_all)
    if len(ways) < 2 or ratings is None:
        why = "fewer than two ways to judge give ratings, or judges contradict each other"
        return Missing(why, MORE_ITEMS)
    variances = _variances_at_equal_calls(ways, ratings, len(data.judge))
    items = Clustered(np.arange(data.coded.clusters), data.coded.unit, level)
    costs = _cost_by_way(battles, ways, data)
    by_cost = _compare_by_cost(variances, costs, fit_of_all, items)
    order, ratio = _compare_ways(variances, fit_of_all, items)
    errors = _distances_from_humans(battles, ratings, data, items)
    figures = _judge_figures(fit_of_all, level)

    def spending_of(name: str) -> Spending:
        """Return the figures of one way to spend the calls."""
        se = float(np.sqrt(variances[name].sum()))
        slope, position = figures.get(name, (None, None))
        return Spending(name, len(ways[name].judge), se, slope, position, costs[name], errors[name])

    return JuryWorth(
        spendings=tuple(spending_of(name) for name in order),
        ratio=ratio,
        by_cost=by_cost,
        left_out=left_out,
        calls=battles.counts().judgments,
        effective_judges=_effective_judges(battles, data, items),
    )


def _variances_at_equal_calls(
    ways: Mapping[str, JuryBattles],
    ratings: Mapping[str, tuple[np.ndarray, np.ndarray]],
    calls: int,
) -> dict[str, np.ndarray]:
    """Return the variance of ratings by way and item, if all calls were spent in this way.

    Args:
        ways: the battles by way.
        ratings: the ratings and their influence by item, by way.
        calls: number of all calls. A variance is inversely proportional to it.

    Returns:
        For each way, the part of each item in the variance of a rating, mean over models, in Elo
        squared, shape (items,). The sum over items is the variance.
    """
    variances = {}
    for name, (_, influence) in ratings.items():
        share_of_calls = len(ways[name].judge) / calls
        # A rating's error is the sum of the influences of all items: its variance is the sum of
        # their squares, and no mean over items.
        mean_over_models = np.mean(influence**2, axis=1)
        variances[name] = share_of_calls * mean_over_models
    return variances


def _ratings_by_way(
    ways: Mapping[str, JuryBattles], theta: np.ndarray, fit_of_all: SlopeFit
) -> dict[str, tuple[np.ndarray, np.ndarray]] | None:
    """Fit ratings to the battles of each way.

    Args:
        ways: the battles by way.
        theta: log-strengths to start from, shape (models,).
        fit_of_all: the fit of all judges, on whose scale ratings are given.

    Returns:
        For each way, the ratings and their influence by item, as `_ratings_on_common_scale` returns
        them. None if the ratings of some way do not rise with the ratings of all judges.
    """
    fits = {}
    for name, battles in ways.items():
        fits[name] = fit_slopes(battles, theta, REGULARIZATION, equal=True)
    are_all_alike = all(float(fit.theta @ fit_of_all.theta) > 0 for fit in fits.values())
    if not are_all_alike:
        return None
    return {name: _ratings_on_common_scale(fit, fit_of_all.theta) for name, fit in fits.items()}


def _compare_by_cost(
    variances: Mapping[str, np.ndarray],
    costs: Mapping[str, float | None],
    fit_of_all: SlopeFit,
    items: Clustered,
) -> tuple[tuple[str, ...], Statistic] | None:
    """Compare the ways at equal cost; None if a cost is unknown or 0.

    The ways are compared by `_compare_ways`, after the variances of each way are multiplied by the
    mean cost of a verdict in this way (`costs`).
    """
    variances_at_equal_cost = {}
    for name, cost in costs.items():
        if not cost:
            return None
        variances_at_equal_cost[name] = cost * variances[name]
    return _compare_ways(variances_at_equal_cost, fit_of_all, items)


def _cost_by_way(
    battles: Battles, ways: Mapping[str, JuryBattles], data: JuryBattles
) -> dict[str, float | None]:
    """Return the mean cost of a verdict by name of the way.

    The mean cost of a judge is over all its battles with a cost in the column `cost`; the mean of a
    way weights judges by their numbers of verdicts. The cost of a way is None if one of its judges
    has no costs, or has a cost that is not a number of 0 or more. All costs are None without the
    column.
    """
    import pandas as pd

    if "cost" not in battles.table:
        return dict.fromkeys(ways)
    given_costs = battles.table["cost"].astype(object)
    cost = pd.to_numeric(given_costs, errors="coerce").astype(np.float64)
    # An unusable cost becomes infinite, and so do all means that contain it.
    usable_or_infinite = cost.where(given_costs.isna() | (cost >= 0), np.inf)
    mean_of_judge = usable_or_infinite.groupby(battles.table["judge"], observed=True).mean()
    mean_of_code = np.array([float(mean_of_judge.get(judge, np.nan)) for judge in data.judges])
    return {name: finite_or_none(mean_of_code[part.judge].mean()) for name, part in ways.items()}


def _compare_ways(
    variances: Mapping[str, np.ndarray], fit_of_all: SlopeFit, items: Clustered
) -> tuple[tuple[str, ...], Statistic]:
    """Sort the ways by standard error, and compare the first two.

    Args:
        variances: for each way, the part of each item in the variance of the ratings, shape
            (items,). Its sum is the square of the standard error.
        fit_of_all: the fit of all judges.
        items: the items as a sample.

    Returns:
        The names, the smallest standard error first; and the first standard error divided by the
        second one. The interval of the ratio is computed at a higher level than that of `items`
        (Bonferroni over all ways but one), because the first two ways were chosen among all ways.
    """
    order = tuple(sorted(variances, key=lambda name: (variances[name].sum(), name)))
    judges = fit_of_all.data.judges
    influence_on_slopes = fit_of_all.influence[:, fit_of_all.data.slope_columns]
    influences = []
    for name in order[:2]:
        # Influence of each item on the logarithm of the standard error, which is half the
        # logarithm of the variance.
        influence = variances[name] / (2 * variances[name].sum())
        if name in judges:
            # A judge's standard error is divided by its slope, which was estimated from the same
            # items.
            code = judges.index(name)
            influence = influence - influence_on_slopes[:, code] / fit_of_all.slopes[code]
        influences.append(influence)
    most_precise, next_precise, *_ = order
    ratio_of_variances = variances[most_precise].sum() / variances[next_precise].sum()
    log_ratio = float(np.log(ratio_of_variances)) / 2
    items_at_higher_level = replace(items, level=1 - (1 - items.level) / (len(order) - 1))
    influence_of_first, influence_of_next = influences
    log_statistic = items_at_higher_level.linear(
        log_ratio, influence_of_first - influence_of_next, n=len(fit_of_all.data.judge)
    )
    method = f"{log_statistic.method} of logarithms, simultaneous over all ways"
    return order, log_statistic.transform(np.exp, method=method, level=items.level)


def _join_battles(subjects: Sequence[Subject]) -> Battles:
    """Join the battles of all judges in one table, with one list of models.

    Returns:
        New battles with the models sorted by name, and the group of items of the first judge.
    """
    import pandas as pd

    table = pd.concat([subject.battles.to_frame() for subject in subjects], ignore_index=True)
    models = sorted({*table["model_a"], *table["model_b"]})
    sides = {side: pd.Categorical(table[side], models) for side in ("model_a", "model_b")}
    items = {"item": table["item"].astype("category")} if "item" in table else {}
    return Battles(BattleFrame(table.assign(**sides, **items), subjects[0].battles.group))


def _battles_by_way(
    data: JuryBattles, judges: Sequence[str], rng: np.random.Generator
) -> tuple[dict[str, JuryBattles], tuple[str, ...]]:
    """Return the battles of each way to spend the calls.

    A way is each judge alone (its name), `ROTATION`, which has one verdict of a random judge on
    each matchup, or `ALL_JUDGES`. The last one has the verdicts on the matchups that all judges
    judged, and exists only if there are at least 30 of these.

    Args:
        data: the battles of all judges.
        judges: names of the judges.
        rng: random generator that draws the rotation.

    Returns:
        The battles by name of the way, judges first. And the names of the judges and ways that are
        left out, because their battles do not rate all models on 30 items, or because a judge has
        no readable verdict.
    """
    ways = {}
    for code, name in enumerate(data.judges):
        ways[name] = data.take(data.judge == code)
    _, matchup = data.matchups()
    # In a random order of verdicts, the first verdict on each matchup is by a random judge.
    shuffled = rng.permutation(len(matchup))
    _, first_on_matchup = np.unique(matchup[shuffled], return_index=True)
    ways[ROTATION] = data.take(np.sort(shuffled[first_on_matchup]))
    judged_by_all = ~np.isnan(data.means_by_judge(data.coded.credit)).any(axis=1)
    if judged_by_all.sum() >= FEWEST_COMMON_BATTLES:
        ways[ALL_JUDGES] = data.take(judged_by_all[matchup])
    rating_ways = {name: part for name, part in ways.items() if _rates_all_models(part)}
    left_out = [name for name in dict.fromkeys((*judges, *ways)) if name not in rating_ways]
    return rating_ways, tuple(left_out)


def _rates_all_models(battles: JuryBattles) -> bool:
    """Return whether battles give every model a finite rating.

    The result is True if the battles cover 30 items, are not all ties, contain every model, connect
    all models, and if no model won or lost everything.
    """
    coded = battles.coded
    if len(distinct_values(coded.cluster)) < FEWEST_CLUSTERS:
        return False
    if (coded.credit == 0.5).all() or not coded.battles_by_model().all():
        return False
    graph = comparison_graph(pair_sums(coded))
    return graph.groups == 1 and not graph.separated.any()


def _ratings_on_common_scale(fit: SlopeFit, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ratings of one way on the scale of all judges, in Elo.

    Args:
        fit: the fit of one way.
        theta: log-strengths by all judges, shape (models,). The ratings are multiplied by the
            factor that brings them nearest to these log-strengths (least squares).

    Returns:
        The ratings, shape (models,), and the influence of each item on them, shape
        (items, models).
    """
    product = float(fit.theta @ theta)
    scale = POINTS * product / float(fit.theta @ fit.theta)
    influence = fit.influence[:, : len(theta)]
    return scale * fit.theta, scale * (influence - influence.mean(axis=1, keepdims=True))


def _judge_figures(
    fit_of_all: SlopeFit, level: float
) -> dict[str, tuple[Figured | None, Figured | None]]:
    """Return the slope and the effect of being shown first of each judge, by name.

    A slope or an effect is None if it is unknown; the effect is unknown if no order is known. The
    values are pairs of slope and effect.
    """
    method = f"{fit_of_all.data.coded.unit}-clustered sandwich"
    units = {"slope": Unit.NUMBER, "position": Unit.LOGITS}
    figures: dict[str, tuple[Figured | None, Figured | None]] = {}
    for judge, row in jury_figures(fit_of_all, level).items():
        effects = {}
        for name, unit in units.items():
            if row[name] is not None:
                effects[name] = Statistic(
                    row[name],
                    row[f"{name}_low"],
                    row[f"{name}_high"],
                    level=level,
                    method=method,
                    n=row["battles"],
                    unit=unit,
                )
        figures[judge] = (effects.get("slope"), effects.get("position"))
    return figures


def _distances_from_humans(
    battles: Battles,
    ratings: Mapping[str, tuple[np.ndarray, np.ndarray]],
    data: JuryBattles,
    items: Clustered,
) -> dict[str, Figured]:
    """Return the root mean square distance of each way's ratings from human ratings, in Elo.

    Human ratings are multiplied by the factor that brings them nearest to the ratings of the way. A
    distance is `Missing` if human labels do not rate all models, or if the ratings of the way do
    not rise with human ratings. The intervals ignore the errors of human ratings.

    Args:
        battles: the battles, with human labels.
        ratings: for each way, what `_ratings_on_common_scale` returns.
        data: the battles of all judges as arrays.
        items: the items as a sample.
    """
    labels = np.where(battles.readable, battles.numbers_of("human"), np.nan)
    if np.isnan(labels).all():
        return dict.fromkeys(ratings, Missing("no human labels", REFERENCE_REMEDY))
    human = attempt(lambda: fit_battles(code_battles(battles, credit=labels)), REFERENCE_REMEDY)
    if isinstance(human, Missing):
        return dict.fromkeys(ratings, human)
    if human.pairs.models != len(data.coded.models):
        return dict.fromkeys(ratings, Missing("not all models have human labels", REFERENCE_REMEDY))
    labelled = int((~np.isnan(labels)).sum())
    errors: dict[str, Figured] = {}
    for name, (elo, influence) in ratings.items():
        product = float(human.theta @ elo)
        if not product > 0:
            errors[name] = Missing("these ratings do not rise with human ratings", REMEDY_OF_SIGN)
            continue
        differences = elo - human.theta * product / float(human.theta @ human.theta)
        mean_square = np.mean(differences**2)
        distance = max(float(np.sqrt(mean_square)), SMALLEST_DISTANCE)
        influence_on_distance = influence @ differences / (len(differences) * distance)
        errors[name] = items.linear(
            value=distance,
            influence=influence_on_distance,
            n=labelled,
            of="labels",
            unit=Unit.ELO,
            within=(0, np.inf),
        )
    return errors


def _effective_judges(battles: Battles, data: JuryBattles, items: Clustered) -> Figured:
    """Return the number of independent judges that would be as precise as the jury.

    The number is J / (1 + (J - 1) r) for J judges. Here, r is the mean over pairs of judges of the
    correlation between their distances |credit - human label|, over the labelled battles that all
    judges judged. The number is `Missing` without human labels, with fewer than 30 such battles, or
    if the distances of a judge do not vary.

    Args:
        battles: the battles of all judges, with human labels.
        data: the same battles as arrays.
        items: the items as a sample.
    """
    labels = battles.numbers_of("human")
    if np.isnan(labels).all():
        return Missing("no human labels", REFERENCE_REMEDY)
    judges = len(data.judges)
    errors = np.abs(data.means_by_judge(data.coded.credit - labels[battles.readable]))
    has_all_errors = ~np.isnan(errors).any(axis=1)
    if has_all_errors.sum() < FEWEST_COMMON_BATTLES:
        return Missing(
            f"fewer than {FEWEST_COMMON_BATTLES} labelled battles were judged by all",
            "play with overlap=0.1",
        )
    centred = errors[has_all_errors] - errors[has_all_errors].mean(axis=0)
    sd = centred.std(axis=0)
    if not (sd > 0).all():
        return Missing(
            "the verdicts of a judge are all as far from the labels", "label more battles"
        )
    standardized = centred / sd
    first, second = np.triu_indices(judges, 1)
    products = standardized[:, first] * standardized[:, second]
    correlations = products.mean(axis=0)
    squares = standardized[:, first] ** 2 + standardized[:, second] ** 2
    # Influence on the correlation r of standardized z1 and z2: z1 z2 - r (z1^2 + z2^2) / 2.
    influence = (products - correlations * squares / 2).mean(axis=1) / len(standardized)
    inflation = 1 + (judges - 1) * float(correlations.mean())
    derivative = -judges * (judges - 1) / inflation**2
    by_cluster = replace(items, code=data.clusters_of_matchups()[has_all_errors])
    return by_cluster.linear(
        judges / inflation,
        derivative * influence,
        n=len(standardized),
        of="labelled battles",
        within=(0, judges),
    )
