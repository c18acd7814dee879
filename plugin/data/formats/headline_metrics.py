"""Choose, of several metrics of a task, the one that the host of the eval shows first.

Hosts compute several metrics of one task, such as accuracy and normalized accuracy. A ranking is
by one of them unless the user names others.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from podium.hookspecs import Reading
from podium.notices.notice import Notice

ALL_METRICS = "all"
"""Name by which users ask for all metrics."""


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """A run of a model on a task.

    Attributes:
        model: name of the model.
        metrics: the metrics of the run, in the order in which the host shows them.
    """

    model: str
    metrics: Sequence[str]


@dataclass(frozen=True, slots=True)
class Headline:
    """The metric that was chosen for a task.

    Attributes:
        task: the task.
        metric: the metric.
        others: the metrics of the task that were not chosen.
    """

    task: str
    metric: str
    others: tuple[str, ...]


def metrics_asked_for(reading: Reading) -> Sequence[str]:
    """Return the names of metrics that the user asks for; empty if the host's first metric counts.

    A condition on the column `metric` asks for all metrics: it selects among them later.
    """
    if reading.metrics:
        return reading.metrics
    has_condition = any(column == "metric" for column, _ in reading.where)
    return (ALL_METRICS,) if has_condition else ()


def choose_headline(
    task: str, runs: Sequence[MeasuredRun], comparable: Collection[str]
) -> Headline | None:
    """Return the first metric that two models have, in the order in which the host shows them.

    If all runs are of one model, its first metric is chosen. If the runs show metrics in different
    orders, the first run decides; metrics that it lacks come later.

    Args:
        task: the task.
        runs: the runs on the task.
        comparable: the metrics that can be compared. Others are neither chosen nor among `others`.

    Returns:
        The metric with the others. None if there is no metric, or if there are several models, but
        no metric that two models have.
    """
    models_of_metric: dict[str, set[str]] = defaultdict(set)
    for run in runs:
        for metric in run.metrics:
            if metric in comparable:
                models_of_metric[metric].add(run.model)
    fewest_models = min(2, len({run.model for run in runs}))
    first_metric = next(
        (metric for metric, names in models_of_metric.items() if len(names) >= fewest_models), None
    )
    if first_metric is None:
        return None
    return Headline(
        task=task,
        metric=first_metric,
        others=tuple(metric for metric in models_of_metric if metric != first_metric),
    )


def note_other_metrics(headlines: Sequence[Headline]) -> list[Notice]:
    """Return a note that names the metrics that were not chosen; empty if there are none."""
    headlines_with_others = [headline for headline in headlines if headline.others]
    if not headlines_with_others:
        return []
    chosen_metrics = list(dict.fromkeys(headline.metric for headline in headlines_with_others))
    others = list(
        dict.fromkeys(metric for headline in headlines_with_others for metric in headline.others)
    )
    return [Notice("other-metrics", {"chosen": chosen_metrics, "others": others})]
