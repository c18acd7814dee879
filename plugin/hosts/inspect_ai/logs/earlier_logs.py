"""Find the logs of other models that a finished eval is ranked with."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log

from podium.data.formats.files import find_files, local_files, split_label
from podium.errors import LoneModelError, PodiumError, UsageError
from podium.hosts.inspect_ai.logs.log_files import is_beside_logs, is_log
from podium.hosts.inspect_ai.logs.podium_entries import is_tournament
from podium.hosts.inspect_ai.logs.ranking_in_log import absolute_name
from podium.hosts.ranker_options import RankerOptions
from podium.names import joined_name
from podium.notices.option_forms import option_text
from podium.storage.remote import Place, RemoteFile, local_file, place_of
from podium.wording import some


@dataclass(frozen=True, slots=True)
class RankedLogs:
    """The logs of one task that are ranked together.

    Attributes:
        run: the logs of the run.
        others: the logs of other runs, each with its label; None if it has none.
        names: by log, the name of its model in the ranking. Logs that do not count are left out.
    """

    run: Sequence[Place]
    others: dict[Place, str | None]
    names: dict[Place, str]

    @property
    def sources(self) -> list[str]:
        """The logs in the form in which podium reads them."""
        labelled = [f"{label}={place}" if label else f"{place}" for place, label in self.labels]
        return [*map(str, self.run), *labelled]

    @property
    def labels(self) -> list[tuple[Place, str | None]]:
        """The logs of other runs with their labels."""
        return [*self.others.items()]

    @property
    def own_models(self) -> list[str]:
        """The names of the models of this run that count."""
        return [self.names[place] for place in self.run if place in self.names]


def gather_logs(logs: Sequence[EvalLog], options: RankerOptions) -> RankedLogs:
    """Return the logs that the logs of a run on one task are ranked with.

    They are the finished logs of this task that `--ranker-against` names, or else those in the
    folder of the run. Of each model and its settings, the newest counts, or all of them if the
    options say so. A tournament has no others.

    Raises:
        UsageError: there is none in what `--ranker-against` names.
    """
    run = [place_of(log.location) for log in logs]
    if is_tournament(logs[0]):
        return RankedLogs(run, {}, _names_in_ranking(dict.fromkeys(run), options))
    task = logs[0].eval.task
    labels: dict[Place, str | None] = {}
    if options.against:
        labels = dict(_logs_against(options.against, task))
    else:
        labels = dict.fromkeys(_logs_beside(run[0], task))
    known = {absolute_name(place) for place in run}
    labels = {place: label for place, label in labels.items() if absolute_name(place) not in known}
    if options.against and not labels:
        given = option_text("against", some(options.against))
        raise UsageError(f"{given}: there is no finished log of task {task}")
    names = _names_in_ranking({**dict.fromkeys(run), **labels}, options)
    others = {place: label for place, label in labels.items() if place in names}
    return RankedLogs(run, others, names)


def require_other_model(gathered: RankedLogs, logs: Sequence[EvalLog]) -> None:
    """Raise PodiumError if a run did not finish, and LoneModelError if there is no other model."""
    if is_tournament(logs[0]):
        return
    is_cut = len(logs) == 1 and logs[0].status != "success"
    if is_cut or not gathered.own_models:
        raise PodiumError(f"the eval of {logs[0].eval.model} ended with status {logs[0].status}")
    if len({*gathered.names.values()}) > 1 or len(logs) > 1:
        return
    spec = logs[0].eval
    model = gathered.own_models[0]
    folder = _folder_of(gathered.run[0])
    raise LoneModelError(
        f"{model} is the first model in {folder} with a finished log of task {spec.task}; the next "
        f"run can be ranked against it, or name logs with {option_text('against', 'PATH')}"
    )


def find_sources(against: Sequence[str]) -> None:
    """Raise UsageError before a run if a source of other runs has no log."""
    for source in against:
        option = option_text("against", source)
        try:
            paths = [*_log_paths(source)]
        except UsageError as error:
            raise UsageError(f"{option}: {error}") from None
        if not paths:
            raise UsageError(f"{option}: there is no log of Inspect")


def tournament_folder(log: Place) -> str:
    """Return the folder for the tournaments of a log's folder, which lies beside it.

    It is not in the folder of the logs, because podium and Inspect read whole folders.
    """
    return f"{_folder_of(log)}.podium"


def _folder_of(log: Place) -> str:
    """Return the folder of a log as a path or URL."""
    if isinstance(log, RemoteFile):
        return str(log).rpartition("/")[0]
    return str(log.parent)


def _log_paths(source: str) -> Iterator[Path]:
    """Yield the paths of the logs in a file, folder, glob or URL."""
    place = local_files(find_files(source, (".eval",)), ("*.eval", "*.json"))
    for path in place.paths:
        if not is_beside_logs(path) and is_log(path):
            yield path


def _logs_against(against: Sequence[str], task: str) -> Iterator[tuple[Place, str | None]]:
    """Yield the finished logs of a task in some sources, each with the label of its source."""
    for source in against:
        label, _ = split_label(source)
        for path in _log_paths(source):
            if _is_finished(str(path), task):
                yield path, label


def _logs_beside(log: Place, task: str) -> Iterator[Place]:
    """Yield the finished logs of a task in the folder of a log, and in folders below it."""
    stem = _task_in_name(task)
    for info in list_eval_logs(_folder_of(log)):
        place = place_of(info.name)
        # The header is read only if the name may be of the task, as Inspect names logs by default.
        is_of_other_task = stem in log.name and stem not in PurePosixPath(info.name).name
        if not is_of_other_task and _is_finished(info.name, task):
            yield place


def _task_in_name(task: str) -> str:
    """Return how Inspect writes a task in the names of its logs."""
    for sign in "_/:+":
        task = task.replace(sign, "-")
    return task


def _is_finished(name: str, task: str) -> bool:
    """Return whether a log can be read, and is that of a finished eval of a task."""
    try:
        header = read_eval_log(name, header_only=True)
    # Other people's logs may be damaged; they are of no run that anybody asked for.
    except Exception:
        return False
    is_of_task = header.eval.task == task and not is_tournament(header)
    return is_of_task and header.status == "success"


def _names_in_ranking(labels: dict[Place, str | None], options: RankerOptions) -> dict[Place, str]:
    """Return the logs that count among some, each with the name of its model in the ranking."""
    from podium.hosts.inspect_ai.logs.folders import choose_logs

    by_path = {Path(local_file(place)): place for place in labels}
    given = {path: labels[place] for path, place in by_path.items()}
    every = options.reading.get("runs") == "all"
    is_joined = options.reading.get("names") == "joined"
    names = {}
    for run in choose_logs(given, every=every).logs:
        names[by_path[run.path]] = joined_name(run.who) if is_joined else run.who
    return names
