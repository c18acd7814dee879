"""What the scores of an eval measure: a metric, and the scorer and filter that computed it."""

from dataclasses import dataclass
from math import exp
from typing import Literal

from podium.errors import NotIdentifiedError

Unit = Literal["log-likelihood"]
"""Unit of values in the battles table, named only if the eval reports the metric in another unit:
lm-eval reports perplexities, and the table has the log-likelihoods."""
PLAIN_FILTER = "none"
"""Name of lm-eval's filter that changes no reply."""


def _perplexity(value: float) -> float:
    """Return exp(-value) of a mean log-likelihood.

    Raises:
        NotIdentifiedError: it is too large for a floating-point number.
    """
    try:
        return exp(-value)
    except OverflowError:
        raise NotIdentifiedError(
            f"the perplexity of a mean log-likelihood of {value:,.4g} is no finite number: export "
            "a metric per word or byte, or leave out the metric with --where"
        ) from None


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric of an eval. None means: the files do not say.

    Attributes:
        metric: the eval's name for the metric, or for one part of a scorer's value. It is empty if
            the whole value of a scorer is meant.
        task: the task whose items were scored.
        scorer: in Inspect, the scorer that gave the values.
        filter: in lm-eval, the filter that was applied to a reply before it was scored.
        higher_is_better: whether larger values are better in the eval. In the battles table, larger
            values are always better.
        unit: unit of the values in the battles table, if it differs from that of the eval.
        task_is_named: whether the name of the metric begins with the task.
        statistic: in Inspect, what the log calls the mean of the values: `accuracy` or `mean`.
    """

    metric: str
    task: str | None = None
    scorer: str | None = None
    filter: str | None = None
    higher_is_better: bool | None = None
    unit: Unit | None = None
    task_is_named: bool = False
    statistic: str | None = None

    @property
    def own_name(self) -> str:
        """The task if `task_is_named`, the scorer and the metric, and the filter after a comma.

        Parts that are unknown are left out. `name` adds what podium did to the values.
        """
        names = [self.scorer, self.metric]
        if self.task_is_named:
            names.insert(0, self.task)
        name = " ".join(part for part in names if part)
        return name if self.filter is None else f"{name},{self.filter}"

    @property
    def is_negated(self) -> bool:
        """Whether the values in the battles table have the opposite sign of those in the eval.

        They have if lower values are better in the eval and are no log-likelihoods (`unit`). False
        if the direction is unknown.
        """
        return self.higher_is_better is False and self.unit is None

    @property
    def lower_is_better(self) -> bool:
        """Whether smaller values are better in the eval; an unknown direction counts as False.

        Of log-likelihoods, lm-eval reports perplexities, of which smaller ones are better.
        """
        return self.higher_is_better is False or self.unit is not None

    def value_in_eval(self, value: float) -> float:
        """Return a mean of values in the battles table as the eval reports it.

        It has the eval's sign; of log-likelihoods, it is exp(-mean), as in lm-eval.

        Raises:
            NotIdentifiedError: exp(-mean) is too large for a floating-point number.
        """
        if self.unit is not None:
            return _perplexity(value)
        # 0 - 0 is 0, and -0 would be written as -0.
        return 0 - value if self.is_negated else value

    def error_in_eval(self, value: float, error: float) -> float:
        """Return the standard error of `value_in_eval`; that of exp(-mean) by the delta method.

        Args:
            value: a mean of values in the battles table.
            error: its standard error.

        Raises:
            NotIdentifiedError: exp(-mean) is too large for a floating-point number.
        """
        return error if self.unit is None else _perplexity(value) * error

    @property
    def name(self) -> str:
        """The text in the column `metric` of the battles table.

        It is `own_name`, and after it, in brackets, the unit or `negated`.
        """
        if self.unit is not None:
            return f"{self.own_name} ({self.unit})"
        return f"{self.own_name} (negated)" if self.is_negated else self.own_name

    @property
    def name_without_task(self) -> str:
        """The scorer and the metric, without task and filter; unknown parts are left out."""
        return " ".join(part for part in (self.scorer, self.metric) if part)

    @property
    def reported_name(self) -> str:
        """The metric as the eval reports it.

        If the metric has no name, it is the statistic. If the statistic is `mean` or unknown, it is
        the scorer; empty if there is none.
        """
        if self.metric:
            return self.metric
        if self.statistic not in (None, "mean"):
            return str(self.statistic)
        return self.scorer or ""

    @property
    def title(self) -> str:
        """The reported name, with the scorer, and with a filter that is not lm-eval's plain one."""
        details = []
        if self.scorer not in (None, self.reported_name):
            details.append(f"scorer {self.scorer}")
        if self.filter not in (None, PLAIN_FILTER):
            details.append(f"filter {self.filter}")
        return f"{self.reported_name} ({', '.join(details)})" if details else self.reported_name

    @property
    def names(self) -> frozenset[str]:
        """All texts by which a user may name the metric.

        They are `name`, `own_name`, `metric` and `name_without_task`, without an empty text.
        """
        accepted_names = {self.name, self.own_name, self.metric, self.name_without_task}
        return frozenset(accepted_names - {""})


def metric_names(measure: Measure | None) -> frozenset[str]:
    """Return the texts by which a user may name a metric; empty if the metric is unknown."""
    return frozenset() if measure is None else measure.names
