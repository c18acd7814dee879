"""Choose the metrics of lm-eval's tasks that count."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from podium.data.formats import lm_eval_layout as layout
from podium.data.formats.headline_metrics import (
    ALL_METRICS,
    MeasuredRun,
    choose_headline,
    note_other_metrics,
)
from podium.data.formats.lm_eval_scores import Scores
from podium.errors import NotIdentifiedError, UsageError
from podium.notices.notice import Notice
from podium.notices.option_forms import judging_command, option_text, quoted_sources
from podium.wording import some, word_for


def choose_metrics(
    files: Sequence[Scores], asked_metrics: Sequence[str]
) -> tuple[dict[str, list[str]], list[Notice]]:
    """Choose the metrics by which each task is ranked.

    Args:
        files: the runs.
        asked_metrics: names as `metric,filter` or `metric`, or `all`. If it is empty, the first
            metric in lm-eval's own table that two models have is chosen for each task; see
            `_choose_first_metrics`.

    Returns:
        The metrics of each task that has any; and notes: one on the tasks that have none, and, if
        no metric is asked for, one on the metrics that were not chosen.

    Raises:
        UsageError: no task has a metric that is asked for.
        NotIdentifiedError: a name that is asked for fits several metrics of a task, no two models
            have the same metric, or no task has a metric that can be compared.
    """
    usable, unusable = _metrics_by_task(files)
    known_metrics = [metric for task in usable for metric in (*usable[task], *unusable[task])]
    for name in asked_metrics:
        is_known = any(_fits(name, metric) for metric in known_metrics)
        if name != ALL_METRICS and not is_known:
            raise UsageError(f"no task has the metric {name!r}; there are: {_list_metrics(usable)}")
    metrics_by_task = {}
    for task, names in usable.items():
        metrics_by_task[task] = [name for name in names if _is_wanted(asked_metrics, name)]
    notes: list[Notice] = []
    if asked_metrics:
        _reject_several_metrics(metrics_by_task, asked_metrics, files)
    else:
        metrics_by_task, notes = _choose_first_metrics(metrics_by_task, files)
    tasks_without_metric = [task for task, names in metrics_by_task.items() if not names]
    reasons = []
    for task in tasks_without_metric:
        reasons += [(task, metric, why) for metric, why in unusable[task].items()]
    if len(tasks_without_metric) == len(usable):
        raise _no_metric_error(asked_metrics, tasks_without_metric, reasons, files)
    metrics_of_tasks = {task: names for task, names in metrics_by_task.items() if names}
    if not tasks_without_metric:
        return metrics_of_tasks, notes
    if asked_metrics:
        fields = {"metrics": " or ".join(asked_metrics), "tasks": tasks_without_metric}
        return metrics_of_tasks, [*notes, Notice("tasks-without-metric", fields)]
    number = len(tasks_without_metric)
    why = _join_reasons(reasons)
    return metrics_of_tasks, [
        *notes,
        Notice("tasks-without-numbers", {"tasks": number, "why": why}),
    ]


def _choose_first_metrics(
    by_task: Mapping[str, Sequence[str]], files: Sequence[Scores]
) -> tuple[dict[str, list[str]], list[Notice]]:
    """Choose the first metric in the table that lm-eval prints that two models have, by task.

    If all runs of a task are of one model, its first metric is chosen.

    Args:
        by_task: the metrics of each task.
        files: the runs of all tasks.

    Returns:
        A list with the chosen metric, by task; it is empty for a task without metrics. And a note
        on the other metrics, if there are any.

    Raises:
        NotIdentifiedError: several models were run on a task, and no two have the same metric of
            it; or models of a task of HELM, whose files name no first metric, share several.
    """
    _reject_unordered_metrics(by_task, files)
    metrics_of_tasks: dict[str, list[str]] = {}
    headlines = []
    for task, metrics in by_task.items():
        scores_of_task = [scores for scores in files if scores.file.task == task]
        runs = [MeasuredRun(scores.file.model, scores.shown_metrics) for scores in scores_of_task]
        headline = choose_headline(task, runs, metrics)
        if headline is None and metrics:
            raise _no_common_metric_error(task, metrics, scores_of_task)
        metrics_of_tasks[task] = []
        if headline is not None:
            metrics_of_tasks[task] = [headline.metric]
            headlines.append(headline)
    return metrics_of_tasks, note_other_metrics(headlines)


def _reject_unordered_metrics(
    by_task: Mapping[str, Sequence[str]], files: Sequence[Scores]
) -> None:
    """Raise NotIdentifiedError if models of a task of HELM share several metrics.

    The files of HELM hold all metrics, such as the number of references, in no telling order. Tasks
    of other files are not checked.

    Args:
        by_task: the metrics of each task.
        files: the runs of all tasks.
    """
    unordered = {}
    for task, metrics in by_task.items():
        scores_of_task = [scores for scores in files if scores.file.task == task]
        if not any(scores.file.path.name == layout.HELM_DETAILS for scores in scores_of_task):
            continue
        shared_metrics = []
        for metric in metrics:
            models = {scores.file.model for scores in scores_of_task if metric in scores.values}
            if len(models) > 1:
                shared_metrics.append(metric)
        if len(shared_metrics) > 1:
            unordered[task] = shared_metrics
    if unordered:
        raise _several_metrics_error(unordered)


def _no_common_metric_error(
    task: str, metrics: Sequence[str], files: Sequence[Scores]
) -> NotIdentifiedError:
    """Return the error for a task of which no two models have the same metric.

    The replies of the models were then filtered in different ways, for example. The message says
    which models have which of `metrics`.
    """
    models: dict[tuple[str, ...], list[str]] = {}
    for scores in files:
        held_metrics = tuple(metric for metric in metrics if metric in scores.values)
        models.setdefault(held_metrics, []).append(scores.file.model)
    parts = []
    for held_metrics, names in models.items():
        has = word_for(len(names), "has", "have")
        parts.append(f"{some(names, most=5)} {has} only {' and '.join(held_metrics) or 'none'}")
    return NotIdentifiedError(
        f"no two models have one metric: not all models of {task} have them: {', '.join(parts)}; "
        "run the models with the same metrics and filters"
    )


def _reject_several_metrics(
    by_task: Mapping[str, Sequence[str]], asked_metrics: Sequence[str], files: Sequence[Scores]
) -> None:
    """Raise NotIdentifiedError if a name that is asked for fits several metrics of a task.

    It does if it has no filter, and the task has several. If no two models have one of them, the
    message says which model has which. Nothing is rejected if all metrics are asked for.

    Args:
        by_task: the metrics of each task that fit the names.
        asked_metrics: the names.
        files: the runs of all tasks.
    """
    if ALL_METRICS in asked_metrics:
        return
    metrics_by_task = {
        task: names for task, names in by_task.items() if _is_ambiguous(names, asked_metrics)
    }
    for task, names in metrics_by_task.items():
        scores_of_task = [scores for scores in files if scores.file.task == task]
        runs = [MeasuredRun(scores.file.model, scores.shown_metrics) for scores in scores_of_task]
        if choose_headline(task, runs, names) is None:
            raise _no_common_metric_error(task, names, scores_of_task)
    if metrics_by_task:
        raise _several_metrics_error(metrics_by_task)


def _several_metrics_error(by_task: Mapping[str, Sequence[str]]) -> NotIdentifiedError:
    """Return the error for tasks with several metrics between which the user must choose."""
    metrics_of_first_task = next(iter(by_task.values()))
    example = option_text("metric", metrics_of_first_task[0])
    by_each = f"{option_text('metric', ALL_METRICS)} {option_text('by', 'metric')}"
    remedy = f"choose with {option_text('metric')}, as {example}, or rank by each with {by_each}"
    return NotIdentifiedError(
        f"several metrics could be compared: {_list_metrics(by_task)}; {remedy}"
    )


def _no_metric_error(
    asked_metrics: Sequence[str],
    tasks: Sequence[str],
    reasons: Sequence[tuple[str, str, str]],
    files: Sequence[Scores],
) -> NotIdentifiedError:
    """Return the error for tasks that all have no metric to compare.

    It names the command that lets a judge compare the responses, or the one that ranks the verdicts
    of an earlier tournament of these runs.

    Args:
        asked_metrics: the metrics asked for.
        tasks: the tasks.
        reasons: task, metric, and why the metric is not usable.
        files: the runs, beside whose folder their tournaments may be.
    """
    wanted = [
        (task, metric, why) for task, metric, why in reasons if _is_wanted(asked_metrics, metric)
    ]
    cause = some(_join_reasons(wanted), "; ", most=5)
    if not cause:
        cause = f"{some(tasks, most=3)} has no metric"
    folders = _shortest_folders([scores.file.path.parent for scores in files])
    way = f"let a judge compare the responses: `{judging_command(folders)}`"
    tournaments = _folder_of_tournaments(files)
    if tournaments:
        command = f"podium rank {quoted_sources([tournaments])}"
        way = f"verdicts of judges are in {tournaments}: `{command}`"
    return NotIdentifiedError(f"no number per document to compare: {cause}; {way}")


def _shortest_folders(folders: Iterable[Path]) -> list[str]:
    """Return the folder directly above all folders of runs; if they have several, the folders.

    Folders further up are not taken: they may hold runs of other tasks.
    """
    parents = {folder.parent for folder in folders}
    short_folders = parents if len(parents) == 1 else dict.fromkeys(folders)
    return [str(folder) for folder in short_folders]


def _join_reasons(reasons: Sequence[tuple[str, str, str]]) -> list[str]:
    """Return texts on why metrics are not usable, such as `f1,none of amber and birch: ...`.

    There is one text for each metric and reason, on all tasks with both.

    Args:
        reasons: task, metric, and why the metric is not usable.
    """
    tasks_of_reason: dict[tuple[str, str], list[str]] = defaultdict(list)
    for task, metric, why in reasons:
        tasks_of_reason[metric, why].append(task)
    return [
        f"{metric} of {some(tasks, most=3)}: {why}"
        for (metric, why), tasks in tasks_of_reason.items()
    ]


def _folder_of_tournaments(files: Sequence[Scores]) -> str | None:
    """Return the folder beside that of the runs in which `--ranker_judge` keeps its logs.

    None if no run has such a folder with a log in it.
    """
    for scores in files:
        # lm-eval writes samples into the output folder, or into a folder per model in it.
        for folder in list(scores.file.path.parents)[:2]:
            if not folder.name:
                continue
            tournaments = folder.with_name(f"{folder.name}{layout.TOURNAMENTS}")
            if any(tournaments.glob("*.eval")):
                return str(tournaments)
    return None


def _metrics_by_task(
    files: Sequence[Scores],
) -> tuple[dict[str, list[str]], dict[str, dict[str, str]]]:
    """Return the metrics of each task that can be compared, and those that cannot.

    Returns:
        For each task, the metrics that are numbers in every file that has them; and for each task
        and other metric, why it is not usable.
    """
    names: dict[str, dict[str, None]] = defaultdict(dict)
    unusable: dict[str, dict[str, str]] = defaultdict(dict)
    for scores in files:
        task = scores.file.task
        unusable[task] |= scores.unusable
        names[task] |= dict.fromkeys(scores.values)
    usable = {}
    for task in sorted(names):
        usable[task] = [name for name in names[task] if name not in unusable[task]]
    return usable, unusable


def _is_wanted(asked_metrics: Sequence[str], metric: str) -> bool:
    """Return whether a metric is asked for. If no metric is named, all are."""
    return (
        not asked_metrics
        or ALL_METRICS in asked_metrics
        or any(_fits(name, metric) for name in asked_metrics)
    )


def _fits(asked_metric: str, metric: str) -> bool:
    """Return whether a name, with or without a filter, names the metric `metric,filter`."""
    without_filter, _, _ = metric.rpartition(",")
    return asked_metric in (metric, without_filter)


def _is_ambiguous(metrics: Sequence[str], asked_metrics: Sequence[str]) -> bool:
    """Return whether one of the names that are asked for fits several metrics of a task."""
    for name in asked_metrics:
        fitting = [metric for metric in metrics if _fits(name, metric)]
        if len(fitting) > 1:
            return True
    return False


def _list_metrics(by_task: Mapping[str, Sequence[str]]) -> str:
    """Format the metrics of tasks for a message, such as `acc | f1 (arc, boolq); none (mmlu)`.

    Tasks with the same metrics are put together.
    """
    tasks = defaultdict[tuple[str, ...], list[str]](list)
    for task, metrics_of_tasks in by_task.items():
        tasks[tuple(metrics_of_tasks)].append(task)
    parts = []
    for metrics_of_tasks, tasks_with_metrics in tasks.items():
        metrics = " | ".join(metrics_of_tasks) or "none"
        parts.append(f"{metrics} ({some(tasks_with_metrics, most=5)})")
    return "; ".join(parts)
