"""What `--ranker` does with a run of lm-eval, once it is evaluated and before it is shown and saved."""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.errors import NotIdentifiedError, PodiumError, UsageError
from podium.hosts.lm_eval.options import RankerOptions, as_typed_here
from podium.text import some

if TYPE_CHECKING:
    # Tables and numbers are for after the run; `lm_eval --help` needs neither.
    from podium.battles import Battles
    from podium.hosts.lm_eval.runs import Others, Runs
    from podium.ranking import Ranking

DONE, PARTLY, STOPPED = 0, 3, 130
"""Exit codes: ranked; saved by lm-eval and not ranked, or not wholly; saved, and the ranking was stopped."""


@dataclass
class Plan:
    """A ranking that is to be made.

    Attributes:
        options: what is asked for.
        output_path: where lm-eval saves; None = nowhere.
        others: other runs.
        settings: options of the rankers.
        keeps_samples: whether lm-eval itself wants the samples.
        code: the exit code.
        notes: what people should know, said at the end.
        table: the standings, once there are some.
        log: of the tournament, once it is played.
    """

    options: RankerOptions
    output_path: str | None
    others: "Others"
    settings: Mapping[str, Any]
    keeps_samples: bool = False
    code: int = DONE
    notes: list[str] = field(default_factory=list)
    table: str = ""
    log: Path | None = None

    def rank(self, results: dict[str, Any], tracker: Any) -> None:
        """Rank the run and write the ranking into its results. Whatever fails, the results are lm-eval's at least."""
        try:
            self._rank(results, tracker)
        except KeyboardInterrupt:
            self.code, self.notes = STOPPED, [*self.notes, "not ranked: stopped; lm-eval's own results are saved"]
        # A tournament may fail in any provider's way, and the evaluation that it is about may have taken days.
        except (Exception, SystemExit) as error:
            told = str(error) if isinstance(error, PodiumError) else f"{type(error).__name__}: {error}"
            self.code, self.notes = PARTLY, [*self.notes, f"not ranked: {told}"]
        finally:
            if not self.keeps_samples:
                results.pop("samples", None)

    def told(self) -> int:
        """Say what came of it, on stderr; return the exit code."""
        from podium.hosts.lm_eval.hidden import secrets_in, without

        notes = as_typed_here("".join(f"podium: {note}\n" for note in self.notes))
        print(self.table, without(secrets_in(self.options), notes), sep="", end="", file=sys.stderr)
        return self.code

    def _rank(self, results: dict[str, Any], tracker: Any) -> None:
        from podium.hosts.lm_eval.runs import laid_out, refuse_nothing, written
        from podium.hosts.lm_eval.written import write_into

        with self._folder() as folder:
            own = written(folder / "this", results, tracker)
            runs = laid_out(folder / "others", own, self.options.label, self.others.files())
            self.notes += runs.notes
            if len(runs.sources) < 2 and not self.others.named:
                self.notes.append(
                    f"not ranked: {runs.model} is the first model in {self.output_path} with samples of "
                    "these tasks; the next run can be ranked against it"
                )
                return
            refuse_nothing(runs, self.others)
            try:
                rankings = self._rankings(results, runs)
            except PodiumError as error:
                raise PodiumError(runs.told(str(error))) from None
        whole, left_out = write_into(results, rankings, runs.model)
        self.table, self.notes = shown(whole), [*self.notes, *left_out]
        if whole.failures:
            self.code = PARTLY
        if self.log is not None:
            self._keep_in_log(whole, self.log)

    def _rankings(self, results: Mapping[str, Any], runs: "Runs") -> "dict[str, Ranking]":
        """Rank each task, and each group of tasks."""
        from podium.hosts.lm_eval.written import groups_of

        tasks = list(results["samples"])
        read = self._judged(runs) if self.options.judges else self._by_metric(runs)
        wanted = {task: [task] for task in tasks} | groups_of(results, tasks)
        rankings: dict[str, Ranking] = {}
        failures: list[PodiumError] = []
        for name, own in wanted.items():
            try:
                rankings[name] = self._ranked(read([] if own == tasks else own), runs)
            except PodiumError as error:
                failures.append(error)
                self.notes.append(f"not ranked: {name}: {runs.told(str(error))}")
                self.code = PARTLY
        if not rankings:
            self.notes = [note for note in self.notes if not note.startswith("not ranked: ")]
            raise failures[0]
        return rankings

    def _by_metric(self, runs: "Runs") -> "Callable[[Sequence[str]], Battles]":
        from podium.reading.judgements import read_battles

        def read(tasks: Sequence[str]) -> "Battles":
            where = {"task": tasks[0]} if len(tasks) == 1 else {}
            return _of(tasks, "task", read_battles(*runs.sources, metric=self.options.metric or "all", where=where))

        return read

    def _judged(self, runs: "Runs") -> "Callable[[Sequence[str]], Battles]":
        from podium.hosts.lm_eval.tournament import play
        from podium.reading.judgements import read_battles

        played = play(self.options, runs.sources, self.log_dir)
        self.log = played.log
        self.notes.append(f"the tournament's log: {played.log}")
        if played.failure:
            self.code, self.notes = PARTLY, [*self.notes, played.failure]
        one_sided = self.options.args.get("one_sided", "unread")
        battles = read_battles(str(played.log), format="inspect", one_sided=one_sided)
        return lambda tasks: _of(tasks, "category", battles)

    def _keep_in_log(self, ranking: "Ranking", log: Path) -> None:
        from podium.hosts.inspect_ai.write_back import write_beside, write_into_log

        try:
            write_beside(log, ranking)
            write_into_log(log, ranking)
        except (OSError, PodiumError) as error:
            self.code, self.notes = PARTLY, [*self.notes, f"the ranking is not in the tournament's log: {error}"]

    def _ranked(self, battles: "Battles", runs: "Runs") -> "Ranking":
        from podium.rank_battles import rank

        several = len(battles.judges) > 1
        ranking = rank(
            battles,
            self.options.rankers,
            by="judge" if several else None,
            calibration=self.options.calibration,
            **self.settings,
        )
        if battles.lost:
            self.code = PARTLY
        return _in_places(ranking, runs.told)

    @property
    def log_dir(self) -> Path:
        """Where the logs of tournaments lie: beside the results, apart from them because of what reads folders."""
        if not self.output_path:
            return Path(os.environ.get("INSPECT_LOG_DIR", "logs")).absolute()
        path = Path(self.output_path).absolute()
        folder = path.parent if path.suffix == ".json" else path
        return folder.with_name(f"{folder.name}.podium")

    @property
    def runs_dir(self) -> Path:
        """Where the runs of a tournament lie: apart from its logs, because `podium rank` reads whole folders."""
        return self.log_dir.with_name(f"{self.log_dir.name}.runs")

    @contextmanager
    def _folder(self) -> Iterator[Path]:
        """Give a folder for the runs: of a tournament it stays, so that its log can be taken up again."""
        if not self.options.judges:
            with tempfile.TemporaryDirectory() as place:
                yield Path(place)
            return
        folder = self.runs_dir / datetime.now().isoformat(timespec="milliseconds").replace(":", "-")
        folder.mkdir(parents=True)
        yield folder
        if self.log is None:
            shutil.rmtree(folder)
            with suppress(OSError):
                self.runs_dir.rmdir()


def planned(options: RankerOptions, output_path: str | None, *, predict_only: bool) -> Plan:
    """Check what is asked for before the run.

    Args:
        predict_only: whether the run computes no metric.

    Raises:
        UsageError: it cannot be done.
    """
    from podium.hosts.lm_eval.runs import others_of
    from podium.plugins.settings import parse_settings

    try:
        settings = parse_settings(options.settings, options.rankers)
    except UsageError as error:
        raise UsageError(as_typed_here(str(error))) from None
    if options.calibration:
        from podium.calibration_file import read_calibration

        read_calibration(options.calibration)
    others = others_of(options.against, output_path)
    if others.named:
        others.files()
    if options.judges:
        from podium.hosts.lm_eval.tournament import check

        check(options)
    elif predict_only:
        raise UsageError("--predict_only computes no metric to rank by: name a judge with --ranker_judge")
    return Plan(options, output_path, others, settings)


def shown(ranking: "Ranking") -> str:
    """Return the ranking as an aligned table, with its warnings and what could not be ranked."""
    from podium.cli.output import as_text

    told = dict.fromkeys(warning for one in ranking.standings for warning in one.warnings)
    lines = [f"podium: warning: {warning}\n" for warning in told]
    lines += [f"podium: not ranked: {failure}\n" for failure in ranking.failures]
    return as_text(ranking, "table") + as_typed_here("".join(lines))


def _in_places(ranking: "Ranking", told: Callable[[str], str]) -> "Ranking":
    """Return a ranking whose sources and warnings name the files where they really are."""
    return replace(
        ranking,
        standings=tuple(replace(one, warnings=tuple(map(told, one.warnings))) for one in ranking.standings),
        provenance={**ranking.provenance, "sources": list(map(told, ranking.provenance["sources"]))},
        failures=tuple(map(told, ranking.failures)),
    )


def _of(tasks: Sequence[str], column: str, battles: "Battles") -> "Battles":
    """Keep the battles of some tasks; all of them where none are named."""
    if not tasks:
        return battles
    if column not in battles.table:
        raise NotIdentifiedError(f"no battle says which of {some(tasks)} it is of")
    return battles.select(battles.table[column].astype(str).isin(list(tasks)).to_numpy())
