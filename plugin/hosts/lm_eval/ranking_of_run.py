"""Rank a run of lm-eval with `--ranker`, before lm-eval shows and saves its results."""

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from podium.data.battles import Battles
from podium.data.formats.lm_eval_groups import tasks_by_group
from podium.data.query import BattleQuery
from podium.data.reading.judgments import read_query
from podium.errors import NotIdentifiedError, PodiumError, UsageError
from podium.hosts.folder_pin import FolderPin
from podium.hosts.host_ranking import (
    lines_beside,
    rank_for_host,
    read_played_log,
    with_anchor,
)
from podium.hosts.inspect_ai.logs.log_files import RUNS_SUFFIX
from podium.hosts.lm_eval.lm_eval_runs import (
    RunFolders,
    collect_runs,
    find_other_samples,
    podium_folder,
    save_run,
    write_run,
)
from podium.hosts.own_figures import FIGURES, WrittenFigure
from podium.hosts.partial_rankings import is_partial
from podium.hosts.ranker_options import RankerOptions
from podium.hosts.secrets import redact
from podium.notices.notice import Notice
from podium.notices.notice_text import notice_text, notice_texts
from podium.notices.option_forms import option_text
from podium.printable import naming_places, printable
from podium.rankers.ranking import Ranking, Standings
from podium.show.answers.fixed_raters import limit_sentence
from podium.show.report.brief_view import brief_ranking_text
from podium.storage.remote import Place
from podium.storage.temporary_folders import temporary_folder
from podium.wording import some

KEY = "podium"
"""Key of the whole ranking in lm-eval's results.

It is also the name of the filter in podium's figures: `bradley-terry,podium`.
"""
EXIT_CODE_OF_SUCCESS = 0
"""Exit code of a run that was ranked."""
EXIT_CODE_OF_PART = 3
"""Exit code of a run that lm-eval saved, but that was not ranked or only in part."""
EXIT_CODE_OF_STOP = 130
"""Exit code of a run that lm-eval saved, but whose ranking the user stopped."""


@dataclass
class RunRanking:
    """Ranks a run of lm-eval among other runs.

    Attributes:
        options: podium's options of the run.
        output_path: where lm-eval saves its results; None if it does not save them.
        settings: parsed options of the rankers.
        keeps_samples: whether samples stay in the results after the ranking.
        pin: the pinned reference of the output path.
        code: the exit code: `EXIT_CODE_OF_SUCCESS`, `EXIT_CODE_OF_PART` or `EXIT_CODE_OF_STOP`.
        notes: messages that are printed at the end of the run.
        table: the standings as text.
        log: the log of the tournament; None if none was played.
        needs_responses: whether a tournament has begun and was not played to its end. Its log can
            then be resumed, which reads the responses again.
        saved: copies of the run that are kept until lm-eval saves its own files, in case the
            tournament is killed.
    """

    options: RankerOptions
    output_path: str | None
    settings: Mapping[str, Any]
    keeps_samples: bool
    pin: FolderPin
    code: int = EXIT_CODE_OF_SUCCESS
    notes: list[str] = field(default_factory=list)
    table: str = ""
    log: Place | None = None
    needs_responses: bool = False
    saved: tuple[Path, ...] = ()

    def rank(self, results: dict[str, Any], tracker: Any) -> None:
        """Rank the run and write the ranking into `results`.

        A failure becomes a note and leaves lm-eval's results as they are. The samples are removed
        from the results at the end, unless they are to stay.

        Args:
            results: the results that lm-eval returned, which are changed in place.
            tracker: lm-eval's tracker of the evaluation.
        """
        try:
            self._rank(results, tracker)
        except KeyboardInterrupt as stop:
            # The text of `stop` says how to go on with the tournament, if one has begun.
            note = f"not ranked: stopped; lm-eval's own results are saved{stop}"
            self._note_failure(note, EXIT_CODE_OF_STOP)
        # A tournament may fail with any error of a provider. The evaluation, which may have taken
        # days, must not be lost.
        except (Exception, SystemExit) as error:
            why = str(error)
            if not isinstance(error, PodiumError):
                why = f"{type(error).__name__}: {error}"
            self._note_failure(f"not ranked: {why}")
        finally:
            if not self.keeps_samples:
                results.pop("samples", None)

    def print_outcome(self) -> int:
        """Print standings and notes to stderr after lm-eval has saved the run.

        The copies in `saved` are deleted.

        Returns:
            the exit code. It is 0 if the run was not ranked, unless the user wants to know
            (`--ranker_strict`) or stopped it.
        """
        for path in self.saved:
            path.unlink(missing_ok=True)
        notes = "".join(f"podium: {printable(note)}\n" for note in dict.fromkeys(self.notes))
        # lm-eval has ended its last line.
        sys.stdout.flush()
        print(self.table + redact(notes, self.options.secrets()), end="", file=sys.stderr)
        is_told = self.options.strict or self.code == EXIT_CODE_OF_STOP
        return self.code if is_told else EXIT_CODE_OF_SUCCESS

    def _note_failure(self, note: str, code: int = EXIT_CODE_OF_PART) -> None:
        """Set the exit code, and keep a note that is printed at the end."""
        self.code = code
        self.notes.append(note)

    def _rank(self, results: dict[str, Any], tracker: Any) -> None:
        """Rank the run, and write the ranking into the results and the tournament's log.

        If there is no other run, a note says so and nothing is ranked.

        Raises:
            UsageError: the tasks of the run have no metric, and no judge is named.
            PodiumError: the run cannot be ranked.
        """
        with self._runs_folder() as folder:
            run = write_run(folder / "this", results, tracker)
            others = find_other_samples(self.options.against, self.output_path)
            runs = collect_runs(
                folder / "others",
                run,
                self.options.label,
                others,
                are_read_apart=bool(self.options.judges),
                every_run=(self.options.reading.get("runs") == "all"),
                names_joined=(self.options.reading.get("names") == "joined"),
            )
            self.notes += notice_texts(runs.notes)
            if self.options.judges and self.output_path:
                # Judging takes long, and the evaluation must not be lost if it is killed.
                self.saved = save_run(run, self.output_path)
            if len(runs.sources) < 2:
                self._note_lone_run(results, runs)
                self._save_pin(runs.model)
                return
            if not self.options.judges and not _have_metric(results):
                needed = f"name a judge with {option_text('judge')}"
                raise UsageError(f"the tasks of this run have no metric to rank by: {needed}")
            try:
                with naming_places(runs.name_origins):
                    rankings, figures = self._rankings_by_task(results, runs)
            except PodiumError as error:
                raise PodiumError(runs.name_origins(str(error))) from None
        for task, ranking in rankings.items():
            for standings in ranking.standings:
                self.notes += _notes_on_lack(task, standings, runs.model)
        self._save_pin(runs.model)
        whole = _merge_rankings(rankings)
        written_figures = [_write_figure(results, figure) for figure in figures]
        whole = replace(whole, provenance={**whole.provenance, FIGURES: written_figures})
        self._write_ranking(results, whole, runs.model)

    def _write_ranking(self, results: dict[str, Any], whole: Ranking, own_model: str) -> None:
        """Write the whole ranking into the results and the tournament's log.

        The table that is printed at the end is set, too. An error of writing into the log becomes a
        note.

        Args:
            results: lm-eval's results, which are changed in place.
            whole: the ranking of all tasks.
            own_model: name of this run's model.
        """
        results[KEY] = json.loads(whole.to_json())
        is_judged = bool(self.options.judges)
        figures = whole.provenance[FIGURES]
        beside = lines_beside(len(self.notes) + len(figures), self.options)
        self.table = brief_ranking_text(whole, [own_model], is_judged=is_judged, beside=beside)
        if self.log is not None:
            from podium.hosts.inspect_ai.logs.ranking_in_log import write_beside, write_into_log

            try:
                write_beside(self.log, whole)
                write_into_log(self.log, whole)
            except (OSError, PodiumError) as error:
                self._note_failure(f"the ranking is not in the tournament's log: {error}")

    def _save_pin(self, model: str) -> None:
        """Write the pinned reference beside the results, and keep the messages about it as notes.

        An error of writing becomes a note, too.

        Args:
            model: name of this run's model.
        """
        try:
            notices = self.pin.save([model])
        except (OSError, PodiumError) as error:
            self._note_failure(f"the pinned reference is not saved: {error}")
            return
        self.notes += [f"{notice.severity}: {notice_text(notice)}" for notice in notices]

    def _note_lone_run(self, results: Mapping[str, Any], runs: RunFolders) -> None:
        """Add a note that there is no other run to rank against.

        Raises:
            UsageError: the user named other runs with `--ranker_against`.
        """
        against = self.options.against
        if against:
            reasons = [f"no other model's samples of these tasks in {some(against)}"]
            if runs.notes:
                # Runs in `against` have the name of this run's model.
                reasons += notice_texts(runs.notes)
                reasons.append("if that is another model, name this one with --ranker_label")
            raise UsageError("; ".join(reasons))
        why = f"is the first model in {self.output_path} with samples of these tasks"
        what = "the next run can be ranked against it"
        if not self.options.judges and not _have_metric(results):
            what = f"they have no metric to rank by: name a judge with {option_text('judge')}"
        self.notes.append(f"not ranked: {runs.model} {why}; {what}")

    def _rankings_by_task(
        self, results: Mapping[str, Any], runs: RunFolders
    ) -> tuple[dict[str, Ranking], list[WrittenFigure]]:
        """Return the ranking of each task and group, by name, and the figures of this run's model.

        If a task cannot be ranked, a note is added. If none can be ranked, the first error is
        raised.
        """
        tasks = list(results["samples"])
        battles_of = self._make_battle_reader(runs)
        rankings: dict[str, Ranking] = {}
        figures: list[WrittenFigure] = []
        failures: dict[str, PodiumError] = {}
        parts = _groups_of(results, tasks) | {task: [task] for task in tasks}
        for name, members in parts.items():
            # A group of all tasks names none, so that its ranking is that of all battles.
            named_tasks = [] if members == tasks else members
            try:
                battles = battles_of(named_tasks)
                rankings[name] = self._rank_battles(battles, runs)
                figures += self.pin.written_figures(name, rankings[name], battles, [runs.model])
            except PodiumError as error:
                failures[name] = error
        if not rankings:
            raise next(iter(failures.values()))
        for name, failure in failures.items():
            self._note_failure(f"not ranked: {name}: {runs.name_origins(str(failure))}")
        return rankings, figures

    def _make_battle_reader(self, runs: RunFolders) -> Callable[[Sequence[str]], Battles]:
        """Return a function from names of tasks to their battles; for no names it returns all.

        If there are judges, this plays the tournament first.
        """
        if not self.options.judges:
            return partial(_read_scores_of_tasks, runs.sources, self.options.reading)
        from podium.hosts.inspect_ai.judged_run import play_tournament

        # lm-eval writes its results to stdout, so Inspect's output goes to stderr.
        self.needs_responses = True
        with redirect_stdout(sys.stderr):
            self.log, failure = play_tournament(
                with_anchor(
                    self.options, self.settings, self.pin.name_among(runs.models), runs.models
                ),
                runs.sources,
                [runs.model],
                str(self.log_dir),
                host="lm-eval",
                display=_display_of_inspect(),
            )
        self.needs_responses = failure is not None
        if not self.needs_responses:
            self._name_sources(self.log, runs)
        self.notes.append(f"the tournament's log: {self.log}")
        battles = read_played_log(self.log, failure, self.options)
        if failure:
            self._note_failure(failure.message)
        return lambda tasks: _select_tasks(tasks, "category", battles)

    def _name_sources(self, log: Place, runs: RunFolders) -> None:
        """Replace the folders of runs in a tournament's log by the names that the user knows.

        The folders are removed after the ranking. An error of writing becomes a note.
        """
        from podium.hosts.inspect_ai.logs.sources_in_log import rename_sources

        try:
            rename_sources(log, partial(runs.name_saved, output_path=self.output_path))
        except (OSError, PodiumError) as error:
            self._note_failure(f"the tournament's log names removed folders: {error}")

    def _rank_battles(self, battles: Battles, runs: RunFolders) -> Ranking:
        """Rank some battles. In the ranking, runs have the names under which the user has them.

        The exit code is set if the ranking is partial.
        """
        name = runs.name_origins
        ranking = rank_for_host(battles, self.options, self.settings)
        if is_partial(ranking, battles):
            self.code = EXIT_CODE_OF_PART
        place = partial(runs.name_saved, output_path=self.output_path)
        provenance: dict[str, Any] = {"sources": list(map(place, ranking.provenance["sources"]))}
        if "runs" in ranking.provenance:
            provenance["runs"] = [
                {**run, "source": place(run["source"])} for run in ranking.provenance["runs"]
            ]
        return replace(
            ranking,
            standings=tuple(each.map_texts(name) for each in ranking.standings),
            provenance={**ranking.provenance, **provenance},
            failures=tuple(map(name, ranking.failures)),
        )

    @property
    def log_dir(self) -> Path:
        """The folder of tournament logs.

        It is not in the folder of results, because `podium rank` reads whole folders.
        """
        if not self.output_path:
            return Path(os.environ.get("INSPECT_LOG_DIR", "logs")).absolute()
        return podium_folder(self.output_path)

    @contextmanager
    def _runs_folder(self) -> Iterator[Path]:
        """Yield a folder for the runs; keep it if a tournament was not played to its end.

        Otherwise it is removed after the body. Without judges, it is always removed.
        """
        if not self.options.judges:
            with temporary_folder() as folder:
                yield folder
            return
        # The folder is not in that of the logs, because `podium rank` reads whole folders.
        runs_dir = self.log_dir.with_name(f"{self.log_dir.name}{RUNS_SUFFIX}")
        folder = runs_dir / datetime.now().isoformat(timespec="milliseconds").replace(":", "-")
        folder.mkdir(parents=True)
        try:
            yield folder
        finally:
            if not self.needs_responses:
                shutil.rmtree(folder)
                with suppress(OSError):
                    runs_dir.rmdir()


def _have_metric(results: Mapping[str, Any]) -> bool:
    """Return whether any task has a metric, which lm-eval writes as `METRIC,FILTER`."""
    return any("," in name for figures in results["results"].values() for name in figures)


def _display_of_inspect() -> Any:
    """Return Inspect's display: the user's choice, or `rich` on a terminal, or `none`."""
    usual = "rich" if sys.stderr.isatty() else "none"
    return os.environ.get("INSPECT_DISPLAY") or usual


def _read_scores_of_tasks(
    sources: Sequence[str], reading: Mapping[str, Any], tasks: Sequence[str]
) -> Battles:
    """Read battles by a metric, of some tasks, or of all if no task is named.

    Args:
        sources: the runs.
        reading: options of reading, by field of `BattleQuery`.
        tasks: names of tasks.
    """
    return _select_tasks(tasks, "task", read_query(query_of_tasks(sources, reading, tasks)))


def query_of_tasks(
    sources: Sequence[str], reading: Mapping[str, Any], tasks: Sequence[str]
) -> BattleQuery:
    """Return the query for `_read_scores_of_tasks`, whose arguments it has.

    A condition selects the task if there is only one. If there are several, the query is for the
    battles of all tasks in the sources, of which the caller selects some.
    """
    where = [*reading.get("where", ())]
    if len(tasks) == 1:
        where.append(("task", tasks[0]))
    options = {**reading, "where": where}
    return BattleQuery(sources, **options)


def _select_tasks(tasks: Sequence[str], column: str, battles: Battles) -> Battles:
    """Return the battles of some tasks, or all if no task is named. They are ranked together.

    Args:
        tasks: names of the tasks.
        column: the column with the task of each battle.
        battles: the battles.

    Raises:
        NotIdentifiedError: tasks are named, and the battles have no such column.
    """
    battles = replace(battles, apart=None)
    if not tasks:
        return battles
    if column not in battles.table:
        raise NotIdentifiedError(
            f"the battles do not say which of the tasks {some(tasks)} they belong to"
        )
    is_of_tasks = battles.table[column].astype(str).isin(list(tasks))
    return battles.select(is_of_tasks.to_numpy())


def _write_figure(results: dict[str, Any], figure: WrittenFigure) -> dict[str, Any]:
    """Write a figure of this run's model and its error into `results`, in place.

    They go into the row of the task among tasks and among groups, where it has one. An unknown
    error is written as `N/A`, as lm-eval does. `higher_is_better` gets the name of the figure, too,
    as True.

    Returns:
        the record of the figure, with its key.
    """
    key = _key_of_figure(figure)
    name = key.removesuffix(f",{KEY}")
    error = "N/A" if figure.se is None else figure.se
    for section in ("results", "groups"):
        figures = results.get(section, {}).get(figure.task)
        if figures is not None:
            figures[key] = figure.value
            figures[f"{name}_stderr,{KEY}"] = error
    directions = results.setdefault("higher_is_better", {})
    directions_of_task = directions.setdefault(figure.task, {})
    directions_of_task[name] = True
    return {"key": key, **figure.to_json()}


def _key_of_figure(figure: WrittenFigure) -> str:
    """Return the key of a figure in lm-eval's results: `NAME,podium`.

    lm-eval divides keys at the comma, so the metric of a slice is part of the name, and its commas
    become spaces: `bradley-terry exact_match number,podium`. A slash becomes two underscores.
    """
    metric = "" if figure.slice is None else f" {figure.slice}"
    whole_name = f"{figure.name}{metric}".replace(",", " ").replace("/", "__")
    name = " ".join(whole_name.split())
    return f"{name},{KEY}"


def _notes_on_lack(task: str, standings: Standings, model: str) -> list[str]:
    """Return a list with a note on why a model has no score in standings; empty if it has one.

    A score that the data do not bound counts as none.
    """
    entry = next((entry for entry in standings.entries if entry.model == model), None)
    if entry is not None and entry.score is not None and not entry.separated:
        return []
    why = "its battles do not bound it" if entry else "it has no battle that could be read"
    return [f"no {standings.ranker} of {model} on {task} in lm-eval's table: {why}"]


def _merge_rankings(rankings: Mapping[str, Ranking]) -> Ranking:
    """Merge the rankings of several tasks into one with a slice per task.

    Each answer begins with the name of its task, and each table has a note that tasks are ranked
    alone. The provenance is that of the first ranking, with the sources of all. A single ranking is
    returned unchanged.
    """
    first, *others = rankings.values()
    if not others:
        return first
    apart = Notice("tasks-ranked-alone", {"column": "task", "values": list(rankings)})
    standings: list[Standings] = []
    details: list[Standings] = []
    failures: list[str] = []
    sources = set[str]()
    for task, ranking in rankings.items():
        for tables, tables_of_task in ((standings, ranking.standings), (details, ranking.details)):
            for standings_of_slice in tables_of_task:
                part = f"{task} {standings_of_slice.slice}" if standings_of_slice.slice else task
                answer = standings_of_slice.answer
                if answer:
                    models = [entry.model for entry in standings_of_slice.entries]
                    answer = (
                        limit_sentence(answer[0], of_slice=part, raters=None, models=models),
                        *answer[1:],
                    )
                notes = (*standings_of_slice.warnings, apart)
                tables.append(
                    replace(standings_of_slice, slice=part, answer=answer, warnings=notes)
                )
        failures += [f"{task}: {failure}" for failure in ranking.failures]
        sources |= {*ranking.provenance.get("sources", [])}
    provenance = {**first.provenance, "sources": sorted(sources)}
    return Ranking(tuple(standings), provenance, tuple(failures), tuple(details))


def _groups_of(results: Mapping[str, Any], tasks: Iterable[str]) -> dict[str, list[str]]:
    """Return the ranked tasks of each group that has a row in the results.

    Tasks of groups in the group are included. Groups with fewer than two such tasks are left out.
    """
    ranked = set(tasks)
    groups = {}
    for group, members in tasks_by_group(results).items():
        ranked_members = [task for task in members if task in ranked]
        if len(ranked_members) > 1:
            groups[group] = ranked_members
    return groups
