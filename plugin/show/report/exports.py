"""Write rankings as evaluation results of the Hugging Face hub, and name what is exported.

`every_eval_ever.py` writes the records of Every Eval Ever with the same names.
"""

import json
import re
from collections.abc import Iterator

from podium.errors import UsageError
from podium.numbers import number_text, percent
from podium.printable import printable
from podium.rankers.ranking import Entry, Ranking, Standings
from podium.show.report.export_options import ExportOptions
from podium.show.report.measured_scores import (
    differences_from_eval,
    direction_words,
    entry_in_eval,
    metric_of_scores,
)
from podium.show.report.ranking_view import standings_name
from podium.wording import quantity, some

UNSAFE_CHARACTERS = re.compile(r'[<>:"/\\|?*\s]+')
"""Matches characters that the name of a file cannot have on every system."""
WINDOWS_DEVICE = r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?"
"""Matches the names that Windows reserves for devices, such as `com1` and `con.txt`."""
STORE_NAME = r"data|unknown"
"""Matches the names that a datastore reserves."""
EMPTY_NAME = ""
"""Matches the empty name."""
RESERVED_NAME = re.compile(f"{WINDOWS_DEVICE}|{STORE_NAME}|{EMPTY_NAME}", re.IGNORECASE)
"""Matches names that Windows (`con`, `com1.txt`) or a datastore reserves, and the empty name."""
HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
"""Matches the name of a dataset on the Hugging Face hub: an owner and a name."""


def portable_name(text: str) -> str:
    """Return a name for a file: at most 80 characters of a text, the unsafe ones replaced by `_`.

    Dots and blanks at both ends are removed. A reserved or empty name gets a `_` in front.
    """
    name = UNSAFE_CHARACTERS.sub("_", printable(text))[:80].strip(". ")
    return f"_{name}" if RESERVED_NAME.fullmatch(name) else name


def path_of_model(model: str, developer: str) -> str:
    """Return DEVELOPER/MODEL as a path, with portable names.

    Args:
        model: name of the model. The part before the first slash is its developer.
        developer: the developer of a model whose name has no slash.
    """
    owner, slash, name = model.partition("/")
    if not slash:
        owner = developer
        name = model
    return f"{portable_name(owner)}/{portable_name(name)}"


def task_of_standings(standings: Standings, options: ExportOptions) -> str | None:
    """Return the task of the items, or several separated by commas; None if it is unknown.

    Raises:
        UsageError: the ranking names another task than the user.
    """
    tasks = ", ".join(standings.tasks)
    if options.task is not None and tasks not in ("", options.task):
        raise UsageError(
            f"--task {options.task!r}: by the ranking, its items are of {tasks}: leave out --task"
        )
    return options.task or tasks or None


def dataset_of_standings(
    ranking: Ranking, standings: Standings, options: ExportOptions
) -> str | None:
    """Return the dataset of the items on the Hugging Face hub.

    The dataset is the given one, else that of the runs; None if neither is known.

    Raises:
        UsageError: a dataset is given, and the ranking has several tasks, or the runs record
            another dataset.
    """
    recorded = _recorded_dataset(ranking, standings)
    typed_dataset = options.dataset
    if typed_dataset is None:
        return recorded
    tasks = _tasks_in_ranking(ranking)
    if len(tasks) > 1:
        raise UsageError(
            f"--dataset {typed_dataset}: the ranking has {quantity(len(tasks), 'task')} "
            f"({some(tasks)}), and a dataset belongs to one: rank one with --where task=NAME"
        )
    if recorded not in (None, typed_dataset):
        raise UsageError(
            f"--dataset {typed_dataset}: the runs record {recorded}; leave the option out"
        )
    return typed_dataset


def _tasks_in_ranking(ranking: Ranking) -> list[str]:
    """Return the sorted names of the tasks of a ranking."""
    return sorted({task for each in ranking.standings for task in each.tasks})


def _recorded_dataset(ranking: Ranking, standings: Standings) -> str | None:
    """Return the dataset of the items on the Hugging Face hub, as lm-eval's runs record it.

    The result is None if runs of its tasks name none, several, or one that is not on the hub.
    """
    paths = set()
    for run in ranking.provenance.get("runs", ()):
        if run.get("task") in standings.tasks:
            # The values of settings are JSON.
            dataset = dict(run.get("dataset", ()))
            paths.add(dataset.get("dataset_path", "null"))
    if len(paths) != 1:
        return None
    path = json.loads(paths.pop())
    return path if isinstance(path, str) and HUB_ID.fullmatch(path) else None


def table_name(standings: Standings) -> str:
    """Return the ranker's name, with the slice in brackets if there is one.

    A slice of a metric has the name that the eval gives the metric.
    """
    measure = metric_of_scores(standings)
    if measure is not None and standings.slice in measure.names:
        return f"{standings.ranker} [{measure.title}]"
    return standings_name(standings)


def shown_part(standings: Standings, task: str | None) -> str | None:
    """Return the slice as people read it; None if it says no more than the task or the metric.

    Args:
        standings: the table.
        task: the task of the items; None if it is unknown.
    """
    measure = metric_of_scores(standings)
    is_metric = measure is not None and standings.slice in measure.names
    return None if is_metric or standings.slice == task else standings.shown_slice


def scored_entries(ranking: Ranking) -> Iterator[tuple[Standings, Entry]]:
    """Yield each standings table with each of its entries that has a score.

    Scores of a metric, their intervals and errors are as the eval reports them.

    Raises:
        NotIdentifiedError: a score is no finite number in the eval's unit.
    """
    for standings in ranking.standings:
        measure = metric_of_scores(standings)
        for entry in standings.entries:
            if entry.score is not None:
                yield standings, entry_in_eval(entry, measure)


def hub_result_files(
    name: str, ranking: Ranking, options: ExportOptions
) -> Iterator[tuple[str, str]]:
    """Yield the path and the content of the file for each score of each model.

    The path is `DEVELOPER/MODEL/.eval_results/NAME.yaml`, and the content is described at
    huggingface.co/docs/hub/eval-results. If the ranking has several standings tables, the name of
    a table is added to NAME. Models without a score are left out.

    Args:
        name: name of the ranking.
        ranking: the ranking.
        options: options of the command.

    Raises:
        UsageError: the dataset of the items is unknown, is given for a ranking of several tasks,
            or is another one than the runs record; or the ranking names another task than
            `options.task`.
        NotIdentifiedError: a score is no finite number in the eval's unit.
    """
    for standings, entry in scored_entries(ranking):
        file = name
        if len(ranking.standings) > 1:
            file = f"{name}-{table_name(standings)}"
        dataset = dataset_of_standings(ranking, standings, options)
        if dataset is None:
            remedy = "name the benchmark's dataset on the hub, as --dataset openai/gsm8k"
            if len(_tasks_in_ranking(ranking)) > 1:
                remedy = "the runs name no dataset, and there are several tasks: rank one with "
                remedy += "--where task=NAME"
            raise UsageError(f"--to hf-eval-results: {remedy}")
        ids = f"{{id: {_yaml_text(dataset)}, task_id: {_yaml_text(options.task_id)}}}"
        lines = [f"- dataset: {ids}", f"  value: {entry.score:.6f}"]
        if options.source_url:
            lines.append(
                f"  source: {{url: {_yaml_text(options.source_url)}, name: {_yaml_text(name)}}}"
            )
        notes = _describe_result(ranking, standings, entry, task_of_standings(standings, options))
        lines.append(f"  notes: {_yaml_text(notes)}")
        path = f"{path_of_model(entry.model, options.developer)}/.eval_results/"
        path += f"{portable_name(file)}.yaml"
        yield path, "\n".join(lines) + "\n"


def _yaml_text(text: str) -> str:
    """Write a text as a JSON string, which is also valid YAML.

    Control characters are escaped.
    """
    return json.dumps(printable(text), ensure_ascii=False)


def describe_measured(standings: Standings, task: str | None) -> str:
    """Return a clause on what a score is.

    A score is a mean or median of a metric, or a rating (or win rate) by verdicts or metrics. The
    task is named if it is known.

    Args:
        standings: the table of the score.
        task: the task of the items; None if it is unknown.
    """
    of_task = "" if task is None else f" of {task}"
    measure = metric_of_scores(standings)
    if measure is not None:
        return f"{measure.title}{of_task}: {standings.ranker} over items"
    titles = dict.fromkeys(each.title for each in standings.measures)
    by_metric = f" by {some([*titles], most=3)}" if titles else ""
    kind = f"{standings.ranker} ({standings.scale.name})"
    return f"{kind}{by_metric}{of_task}"


def group_notes(standings: Standings, entry: Entry) -> list[str]:
    """Return a note on which models a score can be compared with.

    The list has one note if groups of models never met, and is empty if battles connect all models.
    """
    for group in standings.unconnected_groups:
        if entry.model in group:
            others = [name for name in group if name != entry.model]
            return [f"not comparable with models that it never met; comparable: {some(others)}"]
    return []


def _describe_result(ranking: Ranking, standings: Standings, entry: Entry, task: str | None) -> str:
    """Write metric, direction, interval, number of items and judges of a score.

    An interval with one end is written as a bound, and one without ends is left out. At most three
    judges are named.

    Args:
        ranking: the ranking.
        standings: one of its tables.
        entry: the row of the model in it, with values as the eval reports them.
        task: the task of the items; None if it is unknown.
    """
    measure = metric_of_scores(standings)
    part = shown_part(standings, task)
    of_part = "" if part is None else f" [{part}]"
    parts = [f"{describe_measured(standings, task)}{of_part}, by podium", direction_words(measure)]
    if measure is not None:
        # Several logs may differ in one way, which is written once.
        parts += list(dict.fromkeys(differences_from_eval(standings, measure)))
    if entry.low is not None and entry.high is not None:
        ends = f"{number_text(entry.low, digits=3)} to {number_text(entry.high, digits=3)}"
        parts.append(f"{percent(standings.level)} interval {ends} ({standings.interval})")
    elif entry.low is not None or entry.high is not None:
        bound = f"at least {number_text(entry.low, digits=3)}"
        if entry.high is not None:
            bound = f"at most {number_text(entry.high, digits=3)}"
        parts.append(f"{percent(standings.level)} bound: {bound} ({standings.interval})")
    parts.append(f"{quantity(standings.counts.items, 'item')}, {quantity(entry.battles, 'battle')}")
    parts += group_notes(standings, entry)
    judges = ranking.provenance.get("judges", ())
    if judges and not standings.measures:
        parts.append(f"judged by {some(judges, most=3)}")
    return "; ".join(parts)
