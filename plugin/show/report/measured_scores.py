"""What the scores of standings measure, with values as the eval itself reports them."""

from collections.abc import Iterator
from dataclasses import replace

from podium.data.measure import Measure
from podium.errors import NotIdentifiedError
from podium.rankers.ranking import Entry, Standings

SCALE_OF_METRICS = "score"
"""Name of the scale of scores that are in units of a metric."""
OTHER_FIGURES = {
    "mean-not-reported": "the eval aggregates its metric otherwise: its own figure is another one",
    "mean-of-shared": (
        "a mean over the items that all models have; the eval's own figure is over all of a "
        "model's items"
    ),
    "mean-differs-from-log": "the eval's own figure of a model is another one",
}
"""What a code of a warning says about the figures that the eval itself reports."""


def metric_of_scores(standings: Standings) -> Measure | None:
    """Return the metric of which scores are means or medians.

    The result is None if scores are ratings or win rates, if the standings name no metric, or if
    the metrics of the pooled tasks differ in title, direction or unit.
    """
    if standings.scale.name != SCALE_OF_METRICS or not standings.measures:
        return None
    first, *others = standings.measures
    is_same = all(
        (each.title, each.is_negated, each.unit) == (first.title, first.is_negated, first.unit)
        for each in others
    )
    return first if is_same else None


def entry_in_eval(entry: Entry, measure: Measure | None) -> Entry:
    """Return an entry with score, interval and standard error as the eval reports its metric.

    Where lower is better in the eval, a ranking has values of the opposite sign, or logarithms: the
    eval's are restored, and the ends of the interval change places. An entry without a score or
    without a metric, and an entry of a metric of which higher is better or whose direction is
    unknown, are returned as they are.

    Raises:
        NotIdentifiedError: the score is no finite number in the eval's unit.
    """
    if measure is None or entry.score is None or not measure.lower_is_better:
        return entry
    low = _end_in_eval(entry.high, measure)
    high = _end_in_eval(entry.low, measure)
    se = None if entry.se is None else measure.error_in_eval(entry.score, entry.se)
    return replace(entry, score=measure.value_in_eval(entry.score), low=low, high=high, se=se)


def _end_in_eval(end: float | None, measure: Measure) -> float | None:
    """Return the end of an interval as the eval reports its metric.

    The result is None if the end is unknown, or no finite number in the eval's unit.
    """
    try:
        return None if end is None else measure.value_in_eval(end)
    except NotIdentifiedError:
        return None


def direction_words(measure: Measure | None) -> str:
    """Return a clause on which values are better, such as `lower is better`.

    None stands for ratings and win rates, of which higher values are better.
    """
    if measure is None:
        return "higher is better"
    if measure.lower_is_better:
        return "lower is better"
    if measure.higher_is_better is None:
        return "higher is taken to be better: the source does not say"
    return "higher is better"


def differences_from_eval(standings: Standings, measure: Measure) -> Iterator[str]:
    """Yield clauses on why scores are not the figures that the eval itself reports.

    They are texts of `OTHER_FIGURES`, one per warning about this metric and task; a text may occur
    twice.
    """
    for warning in standings.warnings:
        is_of_metric = warning.fields.get("metric") in measure.names
        is_of_task = warning.fields.get("task", measure.task) == measure.task
        if warning.code in OTHER_FIGURES and is_of_metric and is_of_task:
            yield OTHER_FIGURES[warning.code]
