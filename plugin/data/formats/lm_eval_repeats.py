"""Whether the votes over repeats, by which lm-eval's filters choose an answer, are of equally many
in all runs."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from podium.data.formats.lm_eval_scores import Scores
from podium.findings import accept_or_raise
from podium.wording import some

VOTE, FIRST = "majority_vote", "take_first_k"
"""Filters of lm-eval: the most frequent answer, and the first k answers."""
UNEQUAL = "{metric} of {task} is of a majority vote over different numbers of repeats: {numbers}"
REMEDY = "run the models with the same repeats"


def accept_repeats(
    task: str, metric: str, scores: Sequence[Scores], allowed: Collection[str]
) -> list[str]:
    """Return a sentence if a metric is of votes over different numbers of repeats; DataError unless
    that is allowed."""
    numbers = {
        own.file.model: number for own in scores if (number := _votes_of(own, metric)) is not None
    }
    if len(set(numbers.values())) < 2:
        return []
    each = some([f"{model} {number}" for model, number in numbers.items()], most=5)
    problem = UNEQUAL.format(metric=metric, task=task, numbers=each)
    return [accept_or_raise("epochs", problem, REMEDY, allowed)]


def _votes_of(scores: Scores, metric: str) -> int | None:
    """Return over how many repeats the filter of a metric votes; None if it does not, or if the run
    does not say it."""
    results, task = scores.file.results, scores.file.task
    if results is None:
        return None
    repeats = results.value("configs", task, "repeats")
    steps = _steps_of(results.value("configs", task, "filter_list"), metric.rpartition(",")[2])
    if not isinstance(repeats, int) or all(step.get("function") != VOTE for step in steps):
        return None
    limits = [
        step["k"]
        for step in steps
        if step.get("function") == FIRST and isinstance(step.get("k"), int)
    ]
    return min([repeats, *limits])


def _steps_of(filters: Any, name: str) -> list[Mapping[str, Any]]:
    """Return the steps of the filter that has a name."""
    known = [
        each for each in filters or () if isinstance(each, Mapping) and each.get("name") == name
    ]
    return [
        step for each in known for step in each.get("filter") or () if isinstance(step, Mapping)
    ]
