"""Check that majority votes of lm-eval's filters use the same number of repeats in all runs."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from podium.data.formats.lm_eval_scores import Scores
from podium.findings import accept_or_raise
from podium.wording import some

VOTING_FILTER = "majority_vote"
"""Filter of lm-eval that chooses the most frequent answer."""
TRUNCATING_FILTER = "take_first_k"
"""Filter of lm-eval that keeps the first k answers."""
UNEQUAL_VOTES = (
    "{metric} of {task} is of a majority vote over different numbers of repeats: {numbers}"
)
"""Finding that the runs of a task vote over different numbers of repeats."""
REMEDY = "run the models with the same repeats"
"""What to do about it."""


def accept_repeats(
    task: str, metric: str, scores: Sequence[Scores], allowed: Collection[str]
) -> list[str]:
    """Check that the majority votes behind a metric use the same number of repeats in all runs.

    Args:
        task: the task.
        metric: `metric,filter`.
        scores: the runs of the task.
        allowed: names of findings that are not errors.

    Returns:
        A sentence on the accepted finding if the numbers differ; empty if they do not, or if fewer
        than two models have a run that says how many repeats vote. Of several such runs of a model,
        the last one counts.

    Raises:
        DataError: the numbers differ, and the finding `epochs` is not allowed.
    """
    votes_of_models = {}
    for run_scores in scores:
        number = _number_of_votes(run_scores, metric)
        if number is not None:
            votes_of_models[run_scores.file.model] = number
    if len(set(votes_of_models.values())) < 2:
        return []
    by_model = some([f"{model} {number}" for model, number in votes_of_models.items()], most=5)
    problem = UNEQUAL_VOTES.format(metric=metric, task=task, numbers=by_model)
    return [accept_or_raise("epochs", problem=problem, remedy=REMEDY, allowed=allowed)]


def _number_of_votes(scores: Scores, metric: str) -> int | None:
    """Return the number of repeats over which the filter of a metric votes.

    It is the number of repeats of the task, or fewer if the filter keeps only the first k answers.

    Returns:
        None if the filter does not vote, or if the results file does not say.
    """
    results = scores.file.results
    task = scores.file.task
    if results is None:
        return None
    repeats = results.value("configs", task, "repeats")
    steps = _steps_of_filter(
        results.value("configs", task, "filter_list"), metric.rpartition(",")[2]
    )
    has_votes = any(step.get("function") == VOTING_FILTER for step in steps)
    if not isinstance(repeats, int) or not has_votes:
        return None
    kept_answers = [step.get("k") for step in steps if step.get("function") == TRUNCATING_FILTER]
    limits = [number for number in kept_answers if isinstance(number, int)]
    return min([repeats, *limits])


def _steps_of_filter(filters: Any, name: str) -> list[Mapping[str, Any]]:
    """Return the steps of the filter with this name; empty if there is no such filter."""
    steps: list[Any] = []
    for filter_config in filters or ():
        if isinstance(filter_config, Mapping) and filter_config.get("name") == name:
            steps += filter_config.get("filter") or ()
    return [step for step in steps if isinstance(step, Mapping)]
