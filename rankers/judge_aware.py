"""judge-aware: Bradley-Terry on the battles of several judges.

Each judge has a slope and a position effect.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from podium.check_kinds import CHECKS
from podium.data.battles import Battles
from podium.data.counting.relations import UNNAMED_JUDGE
from podium.defaults import LEVEL, REGULARIZATION
from podium.errors import UsageError
from podium.notices.notice import Notice
from podium.rankers.bradley_terry import bound_separated, hide_separated
from podium.rankers.errors.elo_difference import EloTests
from podium.rankers.errors.intervals import finite_or_none, sandwich_estimate, t_quantile
from podium.rankers.errors.judge_slopes import JuryBattles, SlopeFit, fit_slopes
from podium.rankers.errors.one_truth import OneTruth, one_truth_test
from podium.rankers.errors.shared_errors import SharedErrors, shared_errors
from podium.rankers.fit.coded import cluster_by_item, code_battles
from podium.rankers.fit.identification import bounded_models, fit_battles
from podium.rankers.fit.scale import POINTS, elo_scale
from podium.rankers.ranking import Fit, Standings
from podium.rankers.standings import RankerResult, build_standings, measure_exposure
from podium.score_scale import ELO
from podium.scorers.judge_names import shown_judge
from podium.wording import some

REJECTION_P = CHECKS["one truth"].threshold
"""p-value below which a test rejects that the judges share one theta."""
FEWEST_ITEMS = 5
"""If there are fewer items than this, all slopes are set to 1: they cannot be distinguished from
chance."""
FEWEST_BATTLES = 10
"""A judge with fewer battles than this has no interval and no p-value of its slope."""
FEWEST_ON_AVERAGE = 30
"""If there are fewer battles per judge than this, on average, all slopes are set to 1: intervals
with free slopes would be too narrow."""
MOST_FROM_PENALTY = 0.05
"""If the variance of a slope exceeds this share of the variance by the penalty alone, all slopes
are set to 1: the penalty, not the battles, would determine the slope."""
NUMBER_OF_ORDER = {"ab": 1.0, "ba": -1.0}
"""The order number o in the model's formula, for each value of the column `order`; other values
give 0."""


def judge_aware(
    battles: Battles,
    *,
    level: float = LEVEL,
    rng: np.random.Generator,
    regularization: float = REGULARIZATION,
    pin: str | None = None,
    centre: tuple[str, ...] | None = None,
) -> Standings:
    """Rank by the verdicts of several judges, each with a slope of its own, in Elo points.

    The slope beta says how well a judge discriminates. A judge prefers a to b with probability
    s(beta (theta_a - theta_b) + gamma o), where s is the logistic function, gamma the judge's
    position effect, and o is 1 if a was shown first only, -1 if b was, 0 if both orders are
    merged. The slopes have mean 1 over the battles. All slopes are 1 if a test rejects that the
    judges share one theta (p < 0.05), if a judge contradicts the others (the interval of its slope
    is below 0), or if the battles do not identify the slopes (too few items or battles, or the
    penalty determines a slope).

    Args (others as of `bradley_terry`):
        battles: credits in [0, 1], of two judges or more.
        regularization: lambda of strengths, slopes (from 1) and position effects.

    Returns:
        Standings whose intervals include the error of the slopes (sandwich by item, t quantiles);
        `diagnostics["jury"]` has the judges' slopes with intervals, the test of one truth, and
        pairs of judges whose errors agree more than those of the others.

    Raises:
        UsageError: battles of one judge only, or an impossible option.
        NotIdentifiedError: the comparison graph is disconnected, or a model is separated and
            lambda is 0.
        NotConvergedError: the fit did not reach its maximum.

    Source: slopes as in arXiv:2602.16610, equation 12; the tests are
    `podium.rankers.errors.one_truth` and `podium.rankers.errors.shared_errors`.
    """
    data = jury_battles(battles)
    coded = data.coded
    plain = fit_battles(coded, regularization)
    exposure = measure_exposure(battles, coded, plain.pairs)
    free = fit_slopes(data, plain.theta, regularization)
    truth = one_truth_test(free, rng)
    errors = shared_errors(free)
    jury = _label_judges(_summary_of_jury(free, truth, errors, level), battles.short_judges)
    fit = free
    if jury["equal_because"]:
        fit = fit_slopes(data, plain.theta, regularization, equal=True)
    scale = elo_scale(
        coded.models, bounded_models(plain.graph), coded.clusters_by_model(), centre, pin
    )
    strength_rows = slice(len(coded.models))
    covariance = scale.covariance(fit.covariance()[strength_rows, strength_rows])
    estimate = sandwich_estimate(
        scale.scores(fit.theta), covariance, coded.clusters, level=level, cluster=coded.unit
    )
    # The tests of single pairs, and the bounds of separated models, are those of equal slopes.
    tests = EloTests(coded, regularization).pair_tests
    estimate = replace(estimate, pinned=scale.pinned, tests=tests)
    estimate = hide_separated(bound_separated(estimate, plain, coded, scale, level), plain.graph)
    result = RankerResult(
        estimate,
        Fit(converged=True, components=plain.graph.groups, regularization=regularization),
        plain.graph.separated,
        diagnostics={"jury": jury},
        warnings=_warnings_of_jury(jury, _silent_judges(battles, data)),
    )
    return build_standings("judge-aware", ELO, exposure, result, level=level, rng=rng)


def _label_judges(jury: Mapping[str, Any], short: Mapping[str, str]) -> dict[str, Any]:
    """Return a summary of a jury with the short name of each judge in a further field `label`.

    `short` are the short names by name.
    """
    rows = {}
    for name, row in jury["judges"].items():
        rows[name] = {**row, "label": short[name]}
    return {**jury, "judges": rows}


def _silent_judges(battles: Battles, data: JuryBattles) -> list[str]:
    """Return the short names of the judges of `battles` that are not among those of `data`.

    These judges have no readable verdict. They are in the order of `battles.short_judges`.
    """
    return [short for name, short in battles.short_judges.items() if name not in data.judges]


def jury_battles(battles: Battles) -> JuryBattles:
    """Return the readable battles with the code of each battle's judge and its order of responses.

    Judges are coded in the order of their names. Rows without a judge count as those of a judge
    named `(no judge)`. The order is 1 if a was shown first only, -1 if b was, and else 0
    (`NUMBER_OF_ORDER`), also without a column `order`.

    Raises:
        UsageError: fewer than two judges have readable battles.
        NotIdentifiedError: no battle is readable.
    """
    coded = code_battles(battles)
    table = battles.table[battles.readable]
    if not battles.judges:
        raise _too_few_judges_error("without a column `judge`")
    name_of_row = table["judge"].astype(object).fillna(UNNAMED_JUDGE).astype(str)
    names, judge = np.unique(name_of_row, return_inverse=True)
    if len(names) < 2:
        raise _too_few_judges_error(f"of one judge ({names[0]})")
    order = np.zeros(len(table))
    if "order" in table:
        numbers = table["order"].astype(object).map(NUMBER_OF_ORDER)
        order = numbers.fillna(0.0).to_numpy(float)
    by_item, _ = cluster_by_item(battles, coded)
    return JuryBattles(
        coded=coded, judge=judge, judges=tuple(map(str, names)), order=order, items=by_item.cluster
    )


def _too_few_judges_error(problem: str) -> UsageError:
    """Return the error for readable battles of fewer than two judges; `problem` says why."""
    return UsageError(
        f"judge-aware compares several judges, and the readable battles are {problem}: "
        "use bradley-terry"
    )


def jury_figures(free: SlopeFit, level: float) -> dict[str, dict[str, Any]]:
    """Return number of battles, slope and position effect of each judge, with t intervals.

    Args:
        free: the fit with a slope for each judge.
        level: confidence level, in (0, 1).

    Returns:
        By name of the judge, `battles`, `slope` and `position`, with the ends `slope_low`,
        `slope_high`, `position_low` and `position_high` of the intervals. An unknown figure is
        None: the position effect of a judge without battles of known order, and the ends of a
        judge with fewer than 10 battles.
    """
    data = free.data
    columns = data.slope_columns
    se_of_parameter = np.sqrt(np.diag(free.covariance()))
    half_width_of_parameter = t_quantile(data.coded.clusters, level) * se_of_parameter
    position = np.full(len(data.judges), np.nan)
    # Parameters are ordered: strengths, slopes, then position effects of judges with known orders.
    position[free.positioned] = free.parameters[columns.stop :]
    position_half_width = np.full(len(data.judges), np.nan)
    position_half_width[free.positioned] = half_width_of_parameter[columns.stop :]
    figures = {
        "slope": (free.slopes, half_width_of_parameter[columns]),
        "position": (position, position_half_width),
    }
    rows: dict[str, dict[str, Any]] = {}
    for k, battles in enumerate(np.bincount(data.judge).tolist()):
        row: dict[str, Any] = {"battles": battles}
        for name, (values, half_widths) in figures.items():
            value = values[k]
            half_width = half_widths[k] if battles >= FEWEST_BATTLES else np.nan
            row[name] = finite_or_none(value)
            row[f"{name}_low"] = finite_or_none(value - half_width)
            row[f"{name}_high"] = finite_or_none(value + half_width)
        rows[data.judges[k]] = row
    return rows


def _summary_of_jury(
    free: SlopeFit, truth: OneTruth, errors: Sequence[SharedErrors], level: float
) -> dict[str, Any]:
    """Return the figures of the judges and of the tests for the JSON.

    `equal_because` is the reason why all slopes are set to 1: `not identified` (too few items or
    battles, or the penalty determines a slope), `contradiction` (the interval of a slope is below
    0) or `no common truth` (the test of one truth rejects). The first reason that applies is given;
    `equal_because` is None if the slopes are free.

    The keys are `judges` (by name, the figures of `jury_figures` with `disagreement` in Elo points
    and its `p_value`, both None below 10 battles), `one_truth_p` (None if slopes are not
    identified), `equal_because` and `shared_errors` (a list of dictionaries, one for each pair).

    Args:
        free: the fit with a slope for each judge.
        truth: the test of whether the judges share one truth.
        errors: tests of pairs of judges.
        level: confidence level of the judges' intervals, in (0, 1).
    """
    rows = jury_figures(free, level)
    for k, row in enumerate(rows.values()):
        row["disagreement"] = None
        row["p_value"] = None
        if row["battles"] >= FEWEST_BATTLES:
            row["disagreement"] = POINTS * float(truth.deviation[k])
            row["p_value"] = float(truth.p_value_of_judge[k])
    reason = None
    has_few_items = free.data.coded.clusters < FEWEST_ITEMS
    has_few_battles = len(free.data.judge) < FEWEST_ON_AVERAGE * len(rows)
    if has_few_items or has_few_battles or free.share_of_penalty() > MOST_FROM_PENALTY:
        reason = "not identified"
    elif any(_has_negative_slope(row) for row in rows.values()):
        reason = "contradiction"
    elif truth.p_value < REJECTION_P:
        reason = "no common truth"
    return {
        "judges": rows,
        "one_truth_p": None if reason == "not identified" else truth.p_value,
        "equal_because": reason,
        "shared_errors": [asdict(pair) for pair in errors],
    }


def _has_negative_slope(row: Mapping[str, Any]) -> bool:
    """Return whether the interval of a judge's slope is below 0; False if it is unknown."""
    return row["slope_high"] is not None and row["slope_high"] < 0


def failed_jury_checks(jury: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name of each failed check with the figures of the check's message.

    The figures are the values of the fields of the message, by name. The names are
    `judges contradict`, `one truth`, and `shared errors`, which may occur once for
    each pair of judges. `jury` is the summary in `diagnostics["jury"]`.
    """
    judges = {shown_judge(jury, name): row for name, row in jury["judges"].items()}
    p = jury["one_truth_p"]
    if jury["equal_because"] == "contradiction":
        contradicting = some([name for name, row in judges.items() if _has_negative_slope(row)])
        # If there are two judges, it is not known which of them contradicts the truth.
        judges_text = contradicting
        if len(judges) == 2:
            judges_text = " or ".join(judges)
        yield "judges contradict", {"who": judges_text}
    if p is not None and p < REJECTION_P:
        deviations = {}
        for name, row in judges.items():
            if row["p_value"] is not None and row["p_value"] < REJECTION_P:
                deviations[name] = row["disagreement"]
        # The largest deviation comes first; equal ones are in the order of the names.
        deviating = sorted(deviations, key=lambda name: (-deviations[name], name))
        judges_text = some([f"{name} by {deviations[name]:.0f} Elo" for name in deviating])
        # The sentence ends with the judges in brackets, or without them if none is known.
        in_brackets = f" ({judges_text})" if judges_text else ""
        yield "one truth", {"p": p, "who": in_brackets}
    for pair in jury["shared_errors"]:
        if not pair["is_named"]:
            continue
        first, second = (shown_judge(jury, name) for name in pair["judges"])
        figures = {"own": pair["correlation"], "others": pair["others"], "battles": pair["battles"]}
        yield "shared errors", {"first": first, "second": second, **figures}


def _warnings_of_jury(jury: Mapping[str, Any], silent: Sequence[str]) -> list[Notice]:
    """Return warnings of failed checks, of checks that could not be made, and of silent judges.

    `silent` are the names of the judges without a readable verdict.
    """
    warnings = [Notice("silent-judges", {"judges": list(silent)})] if silent else []
    warnings += [Notice(CHECKS[check].code, figures) for check, figures in failed_jury_checks(jury)]
    if jury["equal_because"] == "not identified":
        warnings.append(Notice("slopes-not-identified", {"fewest": FEWEST_ON_AVERAGE}))
    if not jury["shared_errors"]:
        warnings.append(Notice("shared-errors-unknown"))
    return warnings
