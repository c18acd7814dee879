"""What `--ranker` does with a run of lm-eval, once it is evaluated and before it is shown and saved."""

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from podium.errors import NotIdentifiedError, PodiumError, UsageError
from podium.hosts.lm_eval.options import RankerOptions, as_typed_here
from podium.hosts.lm_eval.runs import RunFolders, lay_out, other_samples, results_folder, save_run, write_run
from podium.hosts.lm_eval.secrets import redact
from podium.nouns.battles import Battles
from podium.nouns.ranking import Ranking, Standings
from podium.printable import printable
from podium.reading.judgments import read_battles
from podium.report.ranking_view import ranking_text
from podium.text import some

KEY = "podium"
"""The filter's place in the names of figures, and the section with the whole ranking."""
DONE, PARTLY, STOPPED = 0, 3, 130
"""Exit codes: ranked; saved by lm-eval and not ranked, or not wholly; saved, and the ranking was stopped."""
BattlesOf = Callable[[Sequence[str]], Battles]
"""The battles of some tasks; of all where none are named."""


@dataclass
class RunRanking:
    """A ranking that is to be made of a run and others.

    Attributes:
        options: what is asked for.
        output_path: where lm-eval saves; None = nowhere.
        settings: options of the rankers.
        keeps_samples: whether lm-eval itself wants the samples.
        code: the exit code.
        notes: what humans should know, said at the end.
        table: the standings, once there are some.
        log: of the tournament, once it is played.
        saved: the run's results and samples, as long as lm-eval has not saved its own.
    """

    options: RankerOptions
    output_path: str | None
    settings: Mapping[str, Any]
    keeps_samples: bool
    code: int = DONE
    notes: list[str] = field(default_factory=list)
    table: str = ""
    log: Path | None = None
    saved: tuple[Path, ...] = ()

    def rank(self, results: dict[str, Any], tracker: Any) -> None:
        """Rank the run and write the ranking into its results. Whatever fails, the results are lm-eval's at least."""
        try:
            self._rank(results, tracker)
        except KeyboardInterrupt:
            self._note_failure("not ranked: stopped; lm-eval's own results are saved", STOPPED)
        # A tournament may fail in any provider's way, and the evaluation that it is about may have taken days.
        except (Exception, SystemExit) as error:
            why = str(error) if isinstance(error, PodiumError) else f"{type(error).__name__}: {error}"
            self._note_failure(f"not ranked: {why}")
        finally:
            if not self.keeps_samples:
                results.pop("samples", None)

    def print_outcome(self) -> int:
        """Say what came of it, on stderr, now that lm-eval has saved the run; return the exit code."""
        for path in self.saved:
            path.unlink(missing_ok=True)
        notes = as_typed_here("".join(f"podium: {printable(note)}\n" for note in self.notes))
        print(self.table, redact(notes, self.options.secrets()), sep="", end="", file=sys.stderr)
        return self.code

    def _note_failure(self, note: str, code: int = PARTLY) -> None:
        self.code = code
        self.notes.append(note)

    def _rank(self, results: dict[str, Any], tracker: Any) -> None:
        against = self.options.against
        with self._folder() as folder:
            own = write_run(folder / "this", results, tracker)
            runs = lay_out(folder / "others", own, self.options.label, other_samples(against, self.output_path))
            self.notes += runs.notes
            if self.options.judges and self.output_path:
                # Judging takes long, and whoever kills it must not lose what was evaluated.
                self.saved = save_run(own, self.output_path)
            if len(runs.sources) < 2 and not against:
                self.notes.append(
                    f"not ranked: {runs.model} is the first model in {self.output_path} with samples of "
                    "these tasks; the next run can be ranked against it"
                )
                return
            if len(runs.sources) < 2:
                advice = "; if that is another model, name this one with --ranker_label" if runs.notes else ""
                alone = "; ".join([f"no other model's samples of these tasks in {some(against)}", *runs.notes])
                raise UsageError(alone + advice)
            try:
                rankings = self._rankings(results, runs)
            except PodiumError as error:
                raise PodiumError(runs.name_places(str(error))) from None
        whole, left_out = _write_into(results, rankings, runs.model)
        self.table = ranking_text(whole, as_typed_here)
        self.notes += left_out
        if whole.failures:
            self.code = PARTLY
        if self.log is not None:
            from podium.hosts.inspect_ai.hook import write_beside, write_into_log

            try:
                write_beside(self.log, whole)
                write_into_log(self.log, whole)
            except (OSError, PodiumError) as error:
                self._note_failure(f"the ranking is not in the tournament's log: {error}")

    def _rankings(self, results: Mapping[str, Any], runs: RunFolders) -> dict[str, Ranking]:
        tasks = list(results["samples"])
        battles_of = self._battles_of(runs)
        rankings: dict[str, Ranking] = {}
        failures: list[PodiumError] = []
        notes: list[str] = []
        for name, own in ({task: [task] for task in tasks} | _groups_of(results, tasks)).items():
            try:
                rankings[name] = self._ranking(battles_of([] if own == tasks else own), runs)
            except PodiumError as error:
                failures.append(error)
                notes.append(f"not ranked: {name}: {runs.name_places(str(error))}")
        if not rankings:
            raise failures[0]
        for note in notes:
            self._note_failure(note)
        return rankings

    def _battles_of(self, runs: RunFolders) -> BattlesOf:
        """Return what gives the battles of some tasks: read by the metric, or judged in one tournament."""
        if not self.options.judges:
            read = partial(read_battles, *runs.sources, metric=self.options.metric or "all")
            return lambda tasks: _select(tasks, "task", read(where={"task": tasks[0]} if len(tasks) == 1 else {}))
        from podium.hosts.lm_eval.tournament import play_tournament

        self.log, failure = play_tournament(self.options, runs.sources, runs.model, self.log_dir)
        self.notes.append(f"the tournament's log: {self.log}")
        if failure:
            self._note_failure(failure)
        one_sided = self.options.args.get("one_sided", "unparsed")
        battles = read_battles(str(self.log), format="inspect", one_sided=one_sided)
        return lambda tasks: _select(tasks, "category", battles)

    def _ranking(self, battles: Battles, runs: RunFolders) -> Ranking:
        """Rank some battles; sources and warnings name the files where they really are."""
        from podium.verbs.rank_battles import rank

        ranking = rank(
            battles,
            self.options.rankers,
            by="judge" if len(battles.judges) > 1 else None,
            calibration=self.options.calibration,
            **self.settings,
        )
        if battles.lost:
            self.code = PARTLY
        return replace(
            ranking,
            standings=tuple(
                replace(standings, warnings=tuple(map(runs.name_places, standings.warnings)))
                for standings in ranking.standings
            ),
            provenance={**ranking.provenance, "sources": list(map(runs.name_places, ranking.provenance["sources"]))},
            failures=tuple(map(runs.name_places, ranking.failures)),
        )

    @property
    def log_dir(self) -> Path:
        """Where the logs of tournaments lie: beside the results, apart from them because of what reads folders."""
        if not self.output_path:
            return Path(os.environ.get("INSPECT_LOG_DIR", "logs")).absolute()
        folder = results_folder(self.output_path).absolute()
        return folder.with_name(f"{folder.name}.podium")

    @contextmanager
    def _folder(self) -> Iterator[Path]:
        """Give a folder for the runs: of a tournament it stays, so that its log can be taken up again."""
        if not self.options.judges:
            with tempfile.TemporaryDirectory() as place:
                yield Path(place)
            return
        # Apart from the logs, because `podium rank` reads whole folders.
        runs_dir = self.log_dir.with_name(f"{self.log_dir.name}.runs")
        folder = runs_dir / datetime.now().isoformat(timespec="milliseconds").replace(":", "-")
        folder.mkdir(parents=True)
        yield folder
        if self.log is None:
            shutil.rmtree(folder)
            with suppress(OSError):
                runs_dir.rmdir()


def _select(tasks: Sequence[str], column: str, battles: Battles) -> Battles:
    """Keep the battles of some tasks; all of them where none are named."""
    if not tasks:
        return battles
    if column not in battles.table:
        raise NotIdentifiedError(f"no battle says which of {some(tasks)} it is of")
    return battles.select(battles.table[column].astype(str).isin(list(tasks)).to_numpy())


def _write_into(results: dict[str, Any], rankings: Mapping[str, Ranking], model: str) -> tuple[Ranking, list[str]]:
    """Write what the rankers say of each task or group, and of this run's model, into lm-eval's results, in place.

    Returns:
        All standings as one ranking, and notes of figures that are left out because there is none.
    """
    notes = []
    for task, ranking in rankings.items():
        for standings in ranking.standings:
            notes += _write_figures(results, task, standings, model)
    whole = _merge_rankings(rankings)
    results[KEY] = json.loads(whole.to_json())
    return whole, notes


def _write_figures(results: dict[str, Any], task: str, standings: Standings, model: str) -> list[str]:
    """Write the score and its standard error of one model; return why where there is none."""
    entry = next((entry for entry in standings.entries if entry.model == model), None)
    name = standings.ranker
    if entry is None or entry.score is None or (entry.separated and entry.low is None):
        why = "its battles do not bound it" if entry else "it has no battle that could be read"
        return [f"no {name} of {model} on {task} in lm-eval's table: {why}"]
    filter_ = KEY + (f" {standings.slice}".replace("/", "__") if standings.slice else "")
    for section in ("results", "groups"):
        if task in results.get(section, {}):
            figures = results[section][task]
            figures[f"{name},{filter_}"] = float(entry.score)
            figures[f"{name}_stderr,{filter_}"] = float(entry.se) if entry.se is not None else "N/A"
    results.setdefault("higher_is_better", {}).setdefault(task, {})[name] = True
    return []


def _merge_rankings(rankings: Mapping[str, Ranking]) -> Ranking:
    """Put the rankings of several tasks into one, each a slice; that of a single task is left as it is."""
    first, *others = rankings.values()
    if not others:
        return first
    sources = {source for ranking in rankings.values() for source in ranking.provenance.get("sources", [])}
    return Ranking(
        tuple(
            replace(standings, slice=f"{task} {standings.slice}" if standings.slice else task)
            for task, ranking in rankings.items()
            for standings in ranking.standings
        ),
        {**first.provenance, "sources": sorted(sources)},
        tuple(f"{task}: {failure}" for task, ranking in rankings.items() for failure in ranking.failures),
    )


def _groups_of(results: Mapping[str, Any], tasks: Iterable[str]) -> dict[str, list[str]]:
    """Return the tasks of each group that has a row in the results, groups within groups opened up."""
    children: Mapping[str, list[str]] = results.get("group_subtasks", {})
    ranked = set(tasks)

    def leaves(name: str) -> list[str]:
        below = children.get(name) or []
        return [leaf for child in below for leaf in leaves(child)] if below else [name]

    groups = {group: [task for task in dict.fromkeys(leaves(group)) if task in ranked] for group in children}
    return {group: own for group, own in groups.items() if len(own) > 1 and group in results.get("results", {})}
