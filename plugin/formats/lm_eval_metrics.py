"""Which metric of lm-eval's is compared, and which direction of it is better."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isclose, log

from podium.errors import DataError, NotIdentifiedError, UsageError
from podium.formats.lm_eval_scores import Scores
from podium.text import some

ALL = "all"
"""What asks for every metric, each as a judge of its own."""
PERPLEXITY = "perplexity"
"""A metric whose value for one document is a log-likelihood, of which the perplexity is made for all together."""
SAME = 1e-6
"""Relative difference up to which two figures are one."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is compared on one task.

    Attributes:
        metrics: of each task, as `metric,filter`.
        notes: tasks that have none of those that were asked for.
    """

    metrics: Mapping[str, Sequence[str]]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Direction:
    """How a metric's values become scores of which the higher is better.

    Attributes:
        sign: 1, or -1 where lower is better.
        judge: the metric's name in the battles table; it says where values are turned around.
        note: for people; None where there is nothing to say.
    """

    sign: int
    judge: str
    note: str | None


def chosen(read: Sequence[Scores], asked: Sequence[str]) -> Chosen:
    """Choose the metric of each task: the one that was asked for, else the only one there is.

    Args:
        asked: `metric,filter`, or `metric` where a task has one filter; or `all`.

    Raises:
        UsageError: no task has a metric that was asked for.
        NotIdentifiedError: a task has several metrics or filters and nothing says which, or none that is a number.
    """
    usable, unusable = _offered(read)
    _refuse_unknown(asked, usable, unusable)
    taken = {task: _taken(asked, metrics) for task, metrics in usable.items()}
    several = {task: metrics for task, metrics in taken.items() if len(metrics) > 1 and not _meant(asked, metrics)}
    if several:
        raise NotIdentifiedError(_which(several))
    lacking = [task for task in usable if not taken[task]]
    if len(lacking) == len(usable):
        raise NotIdentifiedError(_refused(asked, unusable))
    return Chosen(
        {task: metrics for task, metrics in taken.items() if metrics},
        tuple(_left_out(lacking, asked, unusable)),
    )


def _offered(read: Sequence[Scores]) -> tuple[dict[str, list[str]], dict[str, dict[str, str]]]:
    """Return the metrics of each task that are numbers, and of the others why they are not."""
    usable: dict[str, list[str]] = {}
    unusable: dict[str, dict[str, str]] = {}
    for one in read:
        why = unusable.setdefault(one.file.task, {})
        why |= one.unusable
        metrics = usable.setdefault(one.file.task, [])
        metrics += [name for name in one.values if name not in metrics]
    return {task: [name for name in usable[task] if name not in unusable[task]] for task in sorted(usable)}, unusable


def _taken(asked: Sequence[str], metrics: Sequence[str]) -> list[str]:
    if not asked or ALL in asked:
        return list(metrics)
    return [name for name in metrics if any(_fits(one, name) for one in asked)]


def _fits(asked: str, metric: str) -> bool:
    return asked in (metric, metric.rpartition(",")[0])


def _meant(asked: Sequence[str], metrics: Sequence[str]) -> bool:
    """Whether several metrics of a task were asked for one by one, or all of them."""
    return ALL in asked or (bool(asked) and all(sum(_fits(one, name) for name in metrics) <= 1 for one in asked))


def _refuse_unknown(
    asked: Sequence[str], usable: Mapping[str, Sequence[str]], unusable: Mapping[str, Mapping[str, str]]
) -> None:
    """Refuse a name that no task has."""
    known = [name for task in usable for name in (*usable[task], *unusable[task])]
    for one in asked:
        if one != ALL and not any(_fits(one, name) for name in known):
            raise UsageError(f"no task has the metric {one!r}; there are: {_listed(usable)}")


def _which(several: Mapping[str, Sequence[str]]) -> str:
    example = next(iter(several.values()))[0]
    return (
        f"several metrics could be compared: {_listed(several)}; choose with --metric, as --metric {example}, "
        "or rank by each with --metric all --by judge"
    )


def _listed(metrics: Mapping[str, Sequence[str]]) -> str:
    """Name the metrics, tasks with the same ones together."""
    tasks: dict[tuple[str, ...], list[str]] = {}
    for task, names in metrics.items():
        tasks.setdefault(tuple(names), []).append(task)
    return "; ".join(f"{' | '.join(names) or 'none'} ({some(own, most=5)})" for names, own in tasks.items())


def _refused(asked: Sequence[str], unusable: Mapping[str, Mapping[str, str]]) -> str:
    wanted = [one for one in asked if one != ALL]
    why = [
        f"{metric} of {task}: {reason}"
        for task, metrics in sorted(unusable.items())
        for metric, reason in metrics.items()
        if not wanted or any(_fits(one, metric) for one in wanted)
    ]
    return f"no number per document to compare: {some(why, '; ', most=5)}"


def _left_out(lacking: Sequence[str], asked: Sequence[str], unusable: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Say which tasks are not compared, and why."""
    if not lacking:
        return []
    if asked:
        return [f"{len(lacking)} tasks without {' or '.join(asked)} are left out: {some(lacking, most=10)}"]
    why = [f"{task}, {metric}: {why}" for task in lacking for metric, why in unusable[task].items()]
    return [f"{len(lacking)} tasks are left out, having no number per document: {some(why, '; ', most=3)}"]


def direction(task: str, metric: str, read: Iterable[Scores]) -> Direction:
    """Return which direction of a metric is better, as the results files say.

    lm-eval's perplexity says that lower is better, of the figure for all documents; the values for single documents
    are log-likelihoods, of which higher is better.

    Raises:
        DataError: two results files contradict each other.
    """
    own = [one for one in read if one.file.task == task and metric in one.values]
    name = metric.rpartition(",")[0]
    said = {
        str(one.file.results.path): higher
        for one in own
        if one.file.results and (higher := one.file.results.higher_is_better(task, name)) is not None
    }
    if len(set(said.values())) > 1:
        yes, no = (next(path for path, higher in said.items() if higher is way) for way in (True, False))
        raise DataError(
            f"higher {name} of {task} is better by {yes}, and worse by this file",
            source=no,
            remedy="give runs of one version of the task",
        )
    if _is_log_likelihood(metric, own):
        note = f"{metric} of {task}: a document's value is its log-likelihood, higher is better"
        return Direction(1, f"{metric} (log-likelihood)", note)
    if not said:
        return Direction(1, metric, f"no results file says which {metric} of {task} is better: higher is taken to be")
    if all(said.values()):
        return Direction(1, metric, None)
    note = f"{metric} of {task}: lower is better, so scores are negated: -0.25 stands for 0.25"
    return Direction(-1, f"{metric} (negated)", note)


def _is_log_likelihood(metric: str, own: Sequence[Scores]) -> bool:
    """Tell by the figures: the reported one is exp(-mean); by the name where there are none."""
    told = [(one.mean(metric), _figure(one, metric)) for one in own]
    pairs = [(mean, figure) for mean, figure in told if mean is not None and figure is not None]
    if pairs:
        return all(figure > 0 > mean and isclose(-mean, log(figure), rel_tol=SAME) for mean, figure in pairs)
    return metric.rpartition(",")[0] == PERPLEXITY


def _figure(one: Scores, metric: str) -> float | None:
    return one.file.results.figure(one.file.task, metric) if one.file.results else None


def unlike_reported(metric: str, read: Iterable[Scores]) -> list[str]:
    """Return the files whose mean is not the figure that lm-eval reports, each with both."""
    found = []
    for one in read:
        mean, figure = one.mean(metric), _figure(one, metric)
        if mean is not None and figure is not None and not isclose(mean, figure, rel_tol=SAME, abs_tol=SAME):
            found.append(f"{one.file.path} ({mean:.4g} and {figure:.4g})")
    return found
