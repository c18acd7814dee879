"""Find the logs of other models that a finished eval is ranked with."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log

from podium.data.formats.files import find_files, local_files, split_label
from podium.data.formats.lm_eval_layout import TOURNAMENTS
from podium.errors import LoneModelError, PodiumError, UsageError
from podium.hosts.inspect_ai.logs.epoch_scores import measure_of_part
from podium.hosts.inspect_ai.logs.log_files import is_beside_logs, is_log
from podium.hosts.inspect_ai.logs.podium_entries import is_tournament
from podium.hosts.inspect_ai.logs.ranking_in_log import absolute_name
from podium.hosts.inspect_ai.logs.score_summaries import (
    may_have_verdicts,
    scorers_of_verdicts,
)
from podium.hosts.inspect_ai.logs.unscored_tasks import no_scorer_problem
from podium.hosts.ranker_options import RankerOptions
from podium.notices.notice import Notice
from podium.notices.notice_text import notice_texts
from podium.notices.option_forms import option_text
from podium.storage.remote import Place, RemoteFile, local_file, place_of
from podium.wording import some_paths


@dataclass(frozen=True, slots=True)
class RankedLogs:
    """The logs of one task that are ranked together.

    Attributes:
        run: the logs of the run.
        others: the logs of other runs, each with its label; None if it has none.
        names: by log, the name of its model in the ranking. Logs that do not count are left out.
        lost: notes on logs of other runs that cannot be used: those that cannot be read, and those
            that the user named and whose evals did not finish.
    """

    run: Sequence[Place]
    others: dict[Place, str | None]
    names: dict[Place, str]
    lost: Sequence[Notice] = ()

    @property
    def sources(self) -> list[str]:
        """The logs of the run, then the other ones, each as `PATH` or `LABEL=PATH`."""
        labelled = [
            f"{label}={place}" if label else f"{place}" for place, label in self.others.items()
        ]
        return [*map(str, self.run), *labelled]

    @property
    def own_models(self) -> list[str]:
        """The names of the models of this run that count."""
        return [self.names[place] for place in self.run if place in self.names]


def gather_logs(logs: Sequence[EvalLog], options: RankerOptions) -> RankedLogs:
    """Return the logs that the logs of a run on one task are ranked with.

    They are the finished logs of this task that `--ranker-against` names, or else those in the
    folder of the run. Of each model and its settings, the newest counts, or all of them if the
    options say so. A tournament has no others. A log that cannot be read may be of this task, so it
    is among the logs that are lost.

    Args:
        logs: headers of the run's logs, at least one.
        options: podium's options of the run.

    Raises:
        UsageError: what `--ranker-against` names cannot be found, or has no finished log of the
            task.
        DataError: there is a single log, and it cannot be read.
    """
    run = [place_of(log.location) for log in logs]
    if is_tournament(logs[0]):
        names, _ = _names_in_ranking(dict.fromkeys(run), options, run)
        return RankedLogs(run, {}, names)
    task = logs[0].eval.task
    unfinished: list[Notice] = []
    labels: dict[Place, str | None] = {}
    if options.against:
        labels, unfinished = _logs_against(options.against, task)
    else:
        labels = dict.fromkeys(_logs_beside(run[0], task))
    names_of_own_logs = {absolute_name(place) for place in run}
    labels = {
        place: label
        for place, label in labels.items()
        if absolute_name(place) not in names_of_own_logs
    }
    names, unreadable = _names_in_ranking({**dict.fromkeys(run), **labels}, options, run)
    # The ranking itself has notes on logs of the run.
    paths = {local_file(place) for place in labels}
    damaged = [note for note in unreadable if Path(note.fields["path"]) in paths]
    others = {place: label for place, label in labels.items() if place in names}
    lost = [*damaged, *unfinished]
    if options.against and not others and len(damaged) == len(labels):
        option_as_typed = option_text("against", some_paths(options.against))
        why = "".join(f"; {text}" for text in notice_texts(lost))
        raise UsageError(f"{option_as_typed}: there is no finished log of task {task}{why}")
    return RankedLogs(run, others, names, lost)


def require_other_model(
    gathered: RankedLogs, logs: Sequence[EvalLog], options: RankerOptions
) -> None:
    """Check that a run has a model to be ranked with.

    The reference of `podium/pairwise` is such a model, unless judges compare the responses anew.
    Several logs of the run count as several models. A tournament is not checked.

    Args:
        gathered: the logs that are ranked together.
        logs: headers of the run's logs.
        options: podium's options of the run. If they name judges, no scores are needed.

    Raises:
        PodiumError: the run did not finish, or its task has no scorer.
        LoneModelError: there is no other model.
    """
    if is_tournament(logs[0]):
        return
    is_cut = len(logs) == 1 and logs[0].status != "success"
    if is_cut or not gathered.own_models:
        raise PodiumError(f"the eval of {logs[0].eval.model} ended with status {logs[0].status}")
    is_judged = bool(options.judges)
    spec = logs[0].eval
    has_scores = logs[0].results is not None and bool(logs[0].results.scores)
    if len({*gathered.names.values()}) > 1 or len(logs) > 1:
        if not (is_judged or has_scores or spec.scorers):
            raise PodiumError(no_scorer_text(spec.task))
        return
    if not is_judged and _is_ranked_by_verdicts(gathered.run[0], logs[0], options):
        return
    model = gathered.own_models[0]
    folder = folder_of(gathered.run[0])
    is_first_model = (
        f"{model} is the first model in {folder} with a finished log of task {spec.task}"
    )
    if not (is_judged or has_scores):
        judge = option_text("judge", "MODEL")
        raise LoneModelError(
            f"{is_first_model}, which has no score to rank by: name a judge with {judge}"
        )
    raise LoneModelError(
        f"{is_first_model}; the next run can be ranked against it, or name logs with "
        f"{option_text('against', 'PATH')}"
    )


def _is_ranked_by_verdicts(log: Place, header: EvalLog, options: RankerOptions) -> bool:
    """Return whether a log may have verdicts on its model and a reference, and these count.

    They do not count if the user names metrics, none of which is a scorer of verdicts.
    """
    path = local_file(log)
    asked_metrics = {*options.reading.get("metric", ())}
    if not asked_metrics:
        return may_have_verdicts(path, header)
    scorers = scorers_of_verdicts(path)
    return any(
        not asked_metrics.isdisjoint(measure_of_part(header.eval.task, scorer).names)
        for scorer in scorers
    )


def no_scorer_text(task: str) -> str:
    """Return the message that a task has no scorer, and that a judge has to be named."""
    return f"{no_scorer_problem([task])}: name a judge with {option_text('judge', 'MODEL')}"


def require_logs(against: Sequence[str]) -> None:
    """Check before a run that each source of other runs has a log.

    Args:
        against: files, folders, globs or URLs, as `--ranker-against` has them.

    Raises:
        UsageError: a source has no log of Inspect, or cannot be found.
    """
    for source in against:
        option = option_text("against", source)
        try:
            paths = [*_log_paths(source)]
        except UsageError as error:
            raise UsageError(f"{option}: {error}") from None
        if not paths:
            raise UsageError(f"{option}: there is no log of Inspect")


def models_of_logs(against: Sequence[str], log_dir: str) -> list[str]:
    """Return the names of the models in logs, each once; logs that cannot be read are skipped.

    Args:
        against: the sources of logs; if empty, those in `log_dir` are read.
        log_dir: a folder of logs, which need not exist.

    Raises:
        UsageError: a source in `against` cannot be found, or has no log.
    """
    if against:
        names = [str(path) for source in against for path in _log_paths(source)]
    else:
        names = [info.name for info in list_eval_logs(log_dir)]
    headers = filter(None, map(_read_header, names))
    return [*dict.fromkeys(str(header.eval.model) for header in headers)]


def tournament_folder(log: Place) -> str:
    """Return the folder for the tournaments of a log's folder, which lies beside it.

    It is not in the folder of the logs, because podium and Inspect read whole folders.
    """
    return f"{folder_of(log)}{TOURNAMENTS}"


def folder_of(log: Place) -> str:
    """Return the folder of a log as a path or URL, without a slash at the end."""
    if isinstance(log, RemoteFile):
        return str(log).rpartition("/")[0]
    return str(log.parent)


def _log_paths(source: str) -> Iterator[Path]:
    """Yield the paths of the logs in a file, folder, glob or URL.

    Lists of logs and rankings that lie beside logs are left out.

    Raises:
        UsageError: there is no such file, or the folder has no file of a log's suffix.
    """
    place = local_files(find_files(source, (".eval",)), ("*.eval", "*.json"))
    for path in place.paths:
        if not is_beside_logs(path) and is_log(path):
            yield path


def _logs_against(
    against: Sequence[str], task: str
) -> tuple[dict[Place, str | None], list[Notice]]:
    """Return the logs of a task in some sources, each with the label of its source or None.

    Returns:
        The label of each finished log, and of each log that cannot be read, by place; and a note on
        each log of the task that did not finish, unless a finished log is a retry of it.

    Raises:
        UsageError: a source cannot be found.
    """
    labels: dict[Place, str | None] = {}
    finished = set[str]()
    unfinished: dict[Path, EvalLog] = {}
    for source in against:
        label, _ = split_label(source)
        for path in _log_paths(source):
            header = _read_header(str(path))
            if header is None:
                labels[path] = label
            elif _is_of_task(header, task):
                if header.status == "success":
                    labels[path] = label
                    finished.add(header.eval.task_id)
                else:
                    unfinished[path] = header
    notes = []
    for path, header in unfinished.items():
        if header.eval.task_id not in finished:
            fields = {"path": str(path), "status": header.status}
            notes.append(Notice("log-unfinished", fields))
    return labels, notes


def _logs_beside(log: Place, task: str) -> Iterator[Place]:
    """Yield the finished logs of a task in the folder of a log, and in folders below it.

    Logs that cannot be read, and may be of the task, are among them.
    """
    stem = _task_in_name(task)
    for info in list_eval_logs(folder_of(log)):
        place = place_of(info.name)
        # The header is read only if the name may be of the task, as Inspect names logs by default.
        is_of_other_task = stem in log.name and stem not in PurePosixPath(info.name).name
        if is_of_other_task:
            continue
        header = _read_header(info.name)
        if header is None or (_is_of_task(header, task) and header.status == "success"):
            yield place


def _task_in_name(task: str) -> str:
    """Return how Inspect writes a task in the names of its logs: some signs become `-`."""
    for sign in "_/:+":
        task = task.replace(sign, "-")
    return task


def _read_header(name: str) -> EvalLog | None:
    """Return the header of a log; None if it cannot be read, for which `choose_logs` has a note."""
    try:
        return read_eval_log(name, header_only=True)
    # A damaged log may fail with any error.
    except Exception:
        return None


def _is_of_task(header: EvalLog, task: str) -> bool:
    """Return whether a log is of an eval of a task, not of a tournament."""
    return header.eval.task == task and not is_tournament(header)


def _names_in_ranking(
    labels: dict[Place, str | None], options: RankerOptions, run: Sequence[Place]
) -> tuple[dict[Place, str], list[Notice]]:
    """Choose the logs that are ranked, and name their models as the ranking will name them.

    Of several runs of one model with the same settings, only the newest is ranked, unless the
    option `runs=all` is given (`choose_logs`). A log of the run that has just ended is preferred to
    earlier ones, even if `--limit` cut it.

    Args:
        labels: the logs to choose from, those of the run among them, each with its label; None if
            it has none.
        options: podium's options of the run.
        run: the logs of the run that has just ended.

    Returns:
        the name of the model of each log that is ranked, by log; and notes on the logs that cannot
        be read.

    Raises:
        DataError: there is a single log, and it cannot be read.
    """
    from podium.hosts.inspect_ai.logs.folders import choose_logs

    by_path = {Path(local_file(place)): place for place in labels}
    typed_labels = {path: labels[place] for path, place in by_path.items()}
    every = options.reading.get("runs") == "all"
    is_joined = options.reading.get("names") == "joined"
    paths_of_run = {Path(local_file(place)) for place in run}
    names = {}
    counted_logs = choose_logs(
        typed_labels, every=every, names_joined=is_joined, first=paths_of_run
    )
    for filed in counted_logs.logs:
        names[by_path[filed.path]] = filed.who
    return names, [note for note in counted_logs.lost if note.code == "left-out"]
