"""What the scores of an eval measure: a metric, with the scorer and the filter that made it."""

from dataclasses import dataclass
from typing import Literal

Unit = Literal["log-likelihood"]


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric of an eval. None means: the files do not say.

    Attributes:
        metric: name that the eval gives to the figure, or to one part of a scorer's value; empty
            for the whole value of a scorer.
        task: the task whose items were scored.
        scorer: the scorer that gave the values, in Inspect.
        filter: what was done with a reply before it was scored, in lm-eval.
        higher_is_better: the direction of the eval's own values. In the battles table, more is
            always better.
        unit: of the values in the battles table.
        task_is_named: whether the name begins with the task.
    """

    metric: str
    task: str | None = None
    scorer: str | None = None
    filter: str | None = None
    higher_is_better: bool | None = None
    unit: Unit | None = None
    task_is_named: bool = False

    @property
    def own_name(self) -> str:
        """The name that the host gives to it, without what podium did to the values."""
        names = [self.task if self.task_is_named else None, self.scorer, self.metric]
        name = " ".join(part for part in names if part)
        return name if self.filter is None else f"{name},{self.filter}"

    @property
    def is_negated(self) -> bool:
        """Whether the battles table holds the values with the opposite sign."""
        return self.higher_is_better is False and self.unit is None

    @property
    def name(self) -> str:
        """The text in the column `metric` of the battles table."""
        if self.unit is not None:
            return f"{self.own_name} ({self.unit})"
        return f"{self.own_name} (negated)" if self.is_negated else self.own_name

    @property
    def names(self) -> frozenset[str]:
        """Texts by which a user may name it: with and without the task, the scorer and the
        filter."""
        without_task = " ".join(part for part in (self.scorer, self.metric) if part)
        return frozenset({self.name, self.own_name, self.metric, without_task} - {""})


def metric_names(measure: Measure | None) -> frozenset[str]:
    """Return the texts by which a user may name a metric; none for an unknown one."""
    return frozenset() if measure is None else measure.names
