"""The check whether models or judges changed while the battles were made.

The verdict of a battle, less the mean of its pair of models, is compared with the time of the
battle, less the mean time of the pair. So neither the strengths of the models nor the times at
which pairs met matter. Each model has a slope: how much its win rate against the same opponents
changes from the first battle to the last. Time is the rank of the battle among all, from 0 to 1, so
that a pause does not count as much as battles.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from podium.check_kinds import CHECKS
from podium.check_results import Check, make_check, not_known
from podium.data.battles import COLUMNS, Battles
from podium.data.reading.units import TIME_NAME
from podium.data.times import seconds_of_texts
from podium.diagnosis.checks.card_sections import ERROR_RATE
from podium.diagnosis.checks.group_checks import pair_values
from podium.diagnosis.checks.size_limits import are_too_many, why_too_many
from podium.distinct_values import distinct_values
from podium.distributions import stdtr
from podium.notices.option_forms import option_text
from podium.rankers.errors.intervals import t_quantile
from podium.rankers.errors.raters import raters_of
from podium.rankers.fit.coded import cluster_codes
from podium.wording import quantity

FEWEST_DATED = 0.9
"""With a smaller share of dated battles, a column is not used."""
FEWEST_CLUSTERS = 20
"""Models with battles on fewer items are not tested: errors of their slopes are unreliable."""
NO_TIMES = "no column has dates or times"
"""Why the check is not known, if no column has the name and values of a time."""
NO_VERDICT = "no battle has a verdict"
"""Why the check is not known, if no battle is readable."""
FEWEST_TIMES = 3
"""A column with fewer different times has periods, as categories, and no course of time."""


@dataclass(frozen=True, slots=True)
class Slope:
    """How much the win rate of a model changes from the first battle to the last.

    Attributes:
        model: name of the model.
        change: the change of the win rate.
        error: its standard error.
        clusters: number of items (or voters) behind the error.
    """

    model: str
    change: float
    error: float
    clusters: int

    @property
    def p(self) -> float:
        """The two-sided p-value of the hypothesis that the win rate does not change."""
        return float(2 * stdtr(self.clusters - 1, -abs(self.change) / self.error))


def check_time(battles: Battles) -> tuple[Check, ...]:
    """Test whether the win rate of a model against the same opponents changes over time.

    Returns:
        The check of the model with the smallest p-value, which is multiplied by the number of
        models (Bonferroni), and not yet adjusted with other checks. It is flagged if this p-value
        is at most 5% and the change is above the threshold. Of several usable columns of times, the
        one with the largest share of known times is used. Not known if no battle is readable, if no
        column has times, if a usable column is lacking (`_problem_of_times`), for too many battles,
        or if no model has enough items.
    """
    if not battles.tally.judged:
        return (not_known("time", reason=NO_VERDICT),)
    columns = _time_columns(battles)
    if not columns:
        return (not_known("time", reason=NO_TIMES),)
    name, seconds, problem = _choose_times(battles, dict(columns))
    if problem:
        return (not_known("time", reason=problem),)
    if are_too_many(battles):
        return (not_known("time", reason=why_too_many(battles)),)
    slopes = _slopes_of_models(battles, seconds)
    if not slopes:
        return (not_known("time", reason="too few items for each model"),)
    worst = min(slopes, key=lambda slope: (slope.p, slope.model))
    p = min(1.0, worst.p * len(slopes))
    half_width = worst.error * t_quantile(worst.clusters, 1 - ERROR_RATE / len(slopes))
    low, high = worst.change - half_width, worst.change + half_width
    fields = {
        "model": worst.model,
        "change": f"{100 * worst.change:+.1f} points",
        "interval": f"{100 * low:.1f} … {100 * high:.1f}",
        "column": name,
        "span": _span_text(seconds),
        "option": option_text("by", f"{name}:2"),
    }
    is_large = abs(worst.change) > CHECKS["time"].threshold
    return (
        make_check(
            "time",
            is_large and p <= ERROR_RATE,
            number=worst.change,
            interval=(low, high),
            p=p,
            fields=fields,
            models=(worst.model,),
        ),
    )


def _time_columns(battles: Battles) -> list[tuple[str, np.ndarray]]:
    """Return the columns with times, and the time of each battle in seconds since 1970.

    A time is NaN if unknown. A column counts if it has the name of a time, and any of its cells is
    readable as one.
    """
    columns = []
    for name in sorted(battles.columns - {*COLUMNS}):
        if TIME_NAME.search(name):
            seconds = seconds_of_texts(battles.rows.texts_of(name))
            if np.isfinite(seconds[battles.readable]).any():
                columns.append((name, seconds))
    return columns


def _choose_times(
    battles: Battles, columns: Mapping[str, np.ndarray]
) -> tuple[str, np.ndarray, str]:
    """Choose the column of times that most battles have, if any can be used, among those.

    Args:
        battles: the battles.
        columns: the times in seconds by column, shape (battles,) each; at least one column.

    Returns:
        The column's name, its times, and why it cannot be used; empty if it can.
    """
    problems = {name: _problem_of_times(battles, name, columns[name]) for name in columns}
    usable = [name for name, problem in problems.items() if not problem]
    # If no column can be used, the reason is that of the column with the most times.
    chosen_name = max(usable or columns, key=lambda name: _share_of_times(battles, columns[name]))
    return chosen_name, columns[chosen_name], problems[chosen_name]


def _share_of_times(battles: Battles, seconds: np.ndarray) -> float:
    """Return the share of readable battles whose time is known."""
    return float(np.isfinite(seconds[battles.readable]).mean())


def _problem_of_times(battles: Battles, name: str, seconds: np.ndarray) -> str:
    """Return why a column of times cannot be used, as a clause; empty if it can.

    It needs a time for `FEWEST_DATED` of the readable battles, and `FEWEST_TIMES` different times.
    """
    seconds_of_readable = seconds[battles.readable]
    readable = int(np.isfinite(seconds_of_readable).sum())
    if readable < FEWEST_DATED * len(seconds_of_readable):
        battles_with_verdict = quantity(len(seconds_of_readable), "battle", "has|have")
        return f"column {name}: {readable:,} of {battles_with_verdict} a readable date"
    different = len(distinct_values(seconds_of_readable[np.isfinite(seconds_of_readable)]))
    if different < FEWEST_TIMES:
        return f"column {name}: {quantity(different, 'different date')} only"
    return ""


def _slopes_of_models(battles: Battles, seconds: np.ndarray) -> list[Slope]:
    """Return the slope of each model for which all errors can be computed.

    Errors are clustered by item and, if voters (or judges) are many enough, also by voter; the
    larger one of both is kept. A model needs enough clusters of each kind (`_slope_of_model`).

    Args:
        battles: the battles.
        seconds: time of each battle, NaN if unknown, shape (battles,).

    Returns:
        The slopes, in the order of the models; a model without a slope is left out.
    """
    has_verdict_and_time = battles.readable & np.isfinite(seconds)
    low, high, value = pair_values(battles, has_verdict_and_time)
    rank = _mid_ranks(seconds[has_verdict_and_time])
    pair = low * len(battles.models) + high
    # What each battle differs from the mean of its pair: in outcome and in time.
    size = np.maximum(np.bincount(pair), 1)
    mean_value = np.bincount(pair, value) / size
    mean_rank = np.bincount(pair, rank) / size
    rest = value - mean_value[pair]
    moment = rank - mean_rank[pair]
    _, cluster = np.unique(cluster_codes(battles)[has_verdict_and_time], return_inverse=True)
    units = [cluster]
    raters = raters_of(battles, has_verdict_and_time)
    if raters is not None:
        units.append(raters.code)
    slopes = []
    for code, model in enumerate(battles.models):
        sign = np.where(low == code, 1.0, np.where(high == code, -1.0, 0.0))
        is_of_model = sign != 0
        earned = (sign * rest)[is_of_model]
        estimates = [
            _slope_of_model(model, earned, moment[is_of_model], unit[is_of_model]) for unit in units
        ]
        known_slopes = [slope for slope in estimates if slope is not None]
        if len(known_slopes) == len(units):
            slopes.append(max(known_slopes, key=lambda slope: slope.error))
    return slopes


def _mid_ranks(times: np.ndarray) -> np.ndarray:
    """Return the rank of each time among all, in (0, 1), shape (battles,).

    Battles at one time share a rank: the share of earlier battles plus half the share of theirs.

    Args:
        times: the time of each battle, finite, shape (battles,).
    """
    _, time_code = np.unique(times, return_inverse=True)
    battles_at_time = np.bincount(time_code)
    mid_rank = np.cumsum(battles_at_time) - battles_at_time / 2
    return mid_rank[time_code] / len(times)


def _slope_of_model(
    model: str, rest: np.ndarray, moment: np.ndarray, unit: np.ndarray
) -> Slope | None:
    """Return the least-squares slope of a model with its clustered error.

    The change is that over the span of `moment`, at most over the time of all battles.

    Args:
        model: name of the model.
        rest: what the model earned in each of its battles, less the mean of the pair.
        moment: the time of each, less the mean of the pair.
        unit: code of the cluster of each.

    Returns:
        The slope; None with fewer than `FEWEST_CLUSTERS` clusters, if all times are equal, or if
        the error is 0.
    """
    spread = float(np.sum(moment**2))
    distinct, cluster = np.unique(unit, return_inverse=True)
    clusters = len(distinct)
    if clusters < FEWEST_CLUSTERS or spread <= 0:
        return None
    # The line is not extrapolated beyond the times at which the pairs of the model met.
    reach = min(1.0, float(moment.max() - moment.min()))
    change = reach * float(np.sum(rest * moment) / spread)
    # Without a change, these are the residuals: so the test keeps its level with few items.
    scores = reach * np.bincount(cluster, rest * moment) / spread
    error = float(np.sqrt(np.sum(scores**2) * clusters / (clusters - 1)))
    return Slope(model, change, error, clusters) if error > 0 else None


def _span_text(seconds: np.ndarray) -> str:
    """Return the first and the last day of the battles, in UTC.

    For example: `2024-01-02 to 2024-03-04`. At least one time must be known.
    """
    known_seconds = seconds[np.isfinite(seconds)]
    first, last = (
        datetime.fromtimestamp(float(end), UTC).date()
        for end in (known_seconds.min(), known_seconds.max())
    )
    return f"{first} to {last}"
