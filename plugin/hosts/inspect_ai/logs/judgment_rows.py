"""Inspect logs as tables: the verdicts of a tournament, or the scores of an ordinary eval."""

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from inspect_ai.log import (
    EvalLog,
)

from podium.data.item_columns import add_columns
from podium.errors import DataError, named_in_errors
from podium.hosts.inspect_ai.inspect_ai_compatibility import flatten_arguments
from podium.hosts.inspect_ai.logs.asked_inputs import AskedInputs, LogInputs
from podium.hosts.inspect_ai.logs.eval_scores import EvalScores, LeftOut, LeftOutSample, number_of
from podium.hosts.inspect_ai.logs.missing_by_task import MissingByTask
from podium.hosts.inspect_ai.logs.podium_entries import (
    AGAIN,
    BattleMetadata,
    KeptJudgment,
    PackMetadata,
    RequestMetadata,
    RoundMetadata,
    SampleMetadata,
    SampleReplies,
    TournamentMetadata,
    battles_in_score,
    is_cancelled,
    judges_in_score,
    parse_answers,
    parse_sample,
    read_judges,
    read_tournament,
    refused_in_score,
    verdict_rows_in,
    was_judge_asked,
)
from podium.hosts.inspect_ai.logs.score_summaries import Summary, read_score_summaries
from podium.hosts.inspect_ai.logs.stop_reasons import reason_of_stop
from podium.hosts.inspect_ai.logs.stored_samples import (
    ScoredSample,
    checked_log,
    read_by_inspect,
    samples_of,
)
from podium.hosts.inspect_ai.logs.unscored_tasks import unscored_task_error
from podium.run_record import RunRecord
from podium.scorers.judge_record import SCHEMA_FIRST, JudgeRecord
from podium.scorers.judging import excerpt_of, load_reply
from podium.scorers.reply import FAILED, NOT_SHOWN, UnparsedReason
from podium.tournaments.judge_rotation import jury_cells, name_jury
from podium.wording import word_for

HUMAN_RATINGS = "precomputed_scores"
"""Name of Inspect's scorer that reads ratings from a file.

Its scores hold the credit that humans gave to model_a.
"""
BATTLE = ("item", "response", "model_a", "model_b")
"""Columns that identify a battle."""


class TableBuilder:
    """Builds a table row by row. It stores columns, because they take less memory than rows."""

    def __init__(self) -> None:
        self.count = 0
        self.columns: dict[str, list[Any]] = {}

    def add_row(self, row: Mapping[str, Any]) -> None:
        """Add a row, which may lack columns that others have."""
        for name, value in row.items():
            column = self.columns.setdefault(name, [])
            column.extend([None] * (self.count - len(column)))
            # Equal texts share memory: a log repeats the name of its judge in every verdict.
            column.append(sys.intern(value) if type(value) is str else value)
        self.count += 1

    def build(self) -> pd.DataFrame:
        """Return the table. The index `row` counts from 1, and empty cells are None."""
        index = pd.RangeIndex(1, self.count + 1, name="row")
        whole = {
            name: [*values, *[None] * (self.count - len(values))]
            for name, values in self.columns.items()
        }
        return pd.DataFrame(whole, index=index)


class LogRows(NamedTuple):
    """The rows of a log. An ordinary eval may have verdicts, scores, or both.

    Attributes:
        verdicts: a row per judgment; None if an ordinary eval has no verdict.
        scores: a row per score that is no verdict; None if there are none, as in a tournament.
        judging: names of the scorers that judged samples of an ordinary eval, in any order.
        unjudged: why no battle of these scorers was judged; empty if one was.
    """

    verdicts: pd.DataFrame | None
    scores: pd.DataFrame | None = None
    judging: tuple[str, ...] = ()
    unjudged: str = ""


def log_rows(
    path: Path,
    inputs: AskedInputs | None = None,
    cluster: str | None = None,
    header: EvalLog | None = None,
) -> LogRows:
    """Return the rows of a log: its verdicts, its scores, or both.

    Facts about the log are in `attrs` of both tables:
    - `invalidated`: the invalidated samples (`LeftOut`), which are left out.

    Those of verdicts also have `judges`, the records of the judges by name; those of scores what
    `EvalScores.finish` adds. Those of a tournament, or of verdicts with missing battles, also have:
    - `missing`: number of all battles without a row; `unplayed`: those that the run never played.
    - `missing_by_task`: the first number by task; None if it is not known.
    - `silent`: number of battles by judge, for judges without any verdict.
    - `unshown`: the judge's words on each battle that did not fit its context or was rejected.
    - `answer`: the answer of the tournament, and `ladder`: the ratings that newcomers joined.
    - `by_schema`: number of verdicts in a JSON schema after a reply as text had failed.
    - `refused`: for each judge that refused options of calls: the server's words by option;
      `refused_by_models`: the same for the models that answered on demand.
    - `ungraded`: number of verdicts without a graded credit, by name of the check.
    - `cluster`: the column with the groups of items, if the tournament had groups.

    Args:
        path: the log.
        inputs: the inputs of samples in logs that were read before; this log's are added.
        cluster: the key of samples' metadata with the groups of items; None for the key by which
            the log's own standard errors are clustered. Rows of scores have a column of this name
            if any sample has the key.
        header: the header of the log, if it was read before.

    Raises:
        OtherQuestionError: two epochs of a sample have different inputs.
        DataError: the log is damaged, or has no row and is not of an empty shard.
    """
    header = header or read_by_inspect(path, header_only=True)
    with named_in_errors(path):
        tournament = read_tournament(header)
        reader = _LogReader(path, header, tournament, inputs or AskedInputs(), cluster)
        summaries = None
        if reader.scores and reader.scores.needs_only_values:
            summaries = read_score_summaries(path, header)
            for summary in summaries or ():
                reader.add_summary(summary)
        for sample in samples_of(path) if summaries is None else ():
            reader.add_sample(sample, parse_sample(sample.metadata) if tournament else None)
        with checked_log(path):
            return reader.build()


class _LogReader:
    """Collects the rows of a log, and counts the battles without rows.

    A sample that repeats failed calls has `earlier` in its metadata, and its id ends with `AGAIN`.
    """

    def __init__(
        self,
        path: Path,
        header: EvalLog,
        tournament: TournamentMetadata | None,
        inputs: AskedInputs,
        cluster: str | None = None,
    ) -> None:
        self.path = path
        self.header = header
        self.tournament = tournament
        run = RunRecord(header.eval.model, header.eval.task, str(path))
        self.inputs = LogInputs(run, inputs)
        self.table = TableBuilder()
        # In an ordinary eval: the scores that are no verdicts; the number of samples without a
        # score of a judge; battles that were not judged; and the scorers that judged.
        self.score_table = TableBuilder()
        self.unjudged = 0
        self.judging: dict[str, None] = {}
        self.lacking: set[tuple[Any, ...]] = set()
        self.scores = None if tournament else EvalScores(path, header, cluster)
        self.samples = 0
        self.invalidated: list[LeftOutSample] = []
        self.epochs = header.eval.config.epochs or 1
        self.missing = self.epochs * tournament.left_out if tournament else 0
        self.missing_by_task = MissingByTask(tournament, self.epochs)
        self.scheduled = self.epochs * tournament.scheduled if tournament else 0
        self.played = 0
        self.failed: list[tuple[dict[str, Any], list[str]]] = []
        # Rows of judgments whose calls failed. They count unless a later sample repeats the calls.
        self.failed_rows: dict[tuple[Any, ...], dict[str, Any]] = {}
        self.repeated: set[tuple[Any, ...]] = set()
        self.unshown: list[str] = []
        self.failure: str | None = None
        self.judges: dict[str, JudgeRecord] = {}
        # The judges of a jury that all judge every battle.
        self.jury: dict[str, None] = {}
        self.refused: dict[str, dict[str, str]] = {}
        self.refused_by_models: dict[str, dict[str, str]] = {}
        self.answer: dict[str, Any] | None = None

    def add_sample(self, sample: ScoredSample, contents: SampleMetadata | None) -> None:
        """Add the rows of a sample, and count its battles, judges and failures.

        A sample that repeats the battles of an invalidated one is ignored. An invalidated sample is
        left out.

        Args:
            sample: the sample.
            contents: its metadata; None in an ordinary eval.
        """
        if isinstance(contents, RoundMetadata):
            self._add_round(contents)
        if isinstance(contents, RequestMetadata):
            self._add_refused_options(contents, sample.kept)
        battles = contents.to_battles() if isinstance(contents, PackMetadata) else [contents]
        repeats = (
            isinstance(contents, BattleMetadata | PackMetadata) and contents.earlier is not None
        )
        played = [battle for battle in battles if isinstance(battle, BattleMetadata)]
        self.played += 0 if repeats else len(played)
        self.samples += 1
        if repeats and self._is_left_out(f"{sample.id}".removesuffix(AGAIN), sample.epoch):
            return
        if sample.invalidated is not None and not isinstance(contents, RoundMetadata):
            lost = LeftOutSample(sample.id, sample.epoch, sample.invalidated)
            self._leave_out(lost, () if repeats else played)
            return
        if sample.error is not None and not is_cancelled(sample.error):
            self.failure = self.failure or sample.error
        if sample.error is not None and not sample.scores and not repeats:
            self._add_failed_sample(sample, played)
        self._add_input(sample)
        rows = []
        for score in sample.scores.values():
            verdicts = verdict_rows_in(score)
            rows += verdicts
            judges = dict.fromkeys(str(row.get("judge")) for row in verdicts)
            in_turn = self.tournament is not None and self.tournament.jury
            if len(judges) > 1 and not in_turn:
                self.jury |= judges
            self.judges |= judges_in_score(score)
            self.refused |= refused_in_score(score)
        if self.scores:
            self._add_unjudged(sample, self.scores, has_verdicts=bool(rows))
        label = sample.scores.get(HUMAN_RATINGS) if isinstance(contents, BattleMetadata) else None
        rating = number_of(label.value) if label else None
        self._add_verdicts(rows, rating, repeats=repeats)

    def _add_unjudged(
        self, sample: ScoredSample, scores: EvalScores, *, has_verdicts: bool
    ) -> None:
        """Add the battles of a sample that were not judged, and the scores that are no verdicts.

        Args:
            sample: a sample of an ordinary eval.
            scores: builds the rows of the scores.
            has_verdicts: whether the sample has a row of a judgment.
        """
        others = {}
        for name, score in sample.scores.items():
            battles = battles_in_score(score)
            missing_battles = [battle for battle in battles if battle.get("missing")]
            self.lacking.update(_battle_key(battle) for battle in missing_battles)
            if missing_battles:
                self.failure = self.failure or missing_battles[0]["missing"]
            if battles:
                self.judging[name] = None
            else:
                others[name] = score
        if not has_verdicts and len(others) == len(sample.scores):
            self.unjudged += 1
        scores.add_group(f"{sample.id}", sample.metadata)
        scores.item_columns.add(f"{sample.id}", sample.metadata)
        for row in scores.rows_of(f"{sample.id}", sample.epoch, others):
            self.score_table.add_row(row)

    def _count_unjudged(self) -> int:
        """Count the battles of an ordinary eval that were not judged, although others were.

        They are the samples without a score of a judge, and the battles that have no verdict.
        """
        count = self.table.count
        # The cells of each column in `BATTLE`; zipped, they are the keys of the judged battles.
        keys = []
        for name in BATTLE:
            # A column ends with its last value that was set.
            cells = self.table.columns.get(name, [])
            keys.append([*cells, *[None] * (count - len(cells))])
        judged_keys = zip(*keys, strict=True)
        return self.unjudged + len(self.lacking.difference(judged_keys))

    def add_summary(self, summary: Summary) -> None:
        """Add the scores of a sample of an ordinary eval from its summary in the log.

        The values in the summary must be exact, as those of `read_score_summaries` are.
        """
        item = str(summary["id"])
        self.samples += 1
        self.failure = self.failure or summary.get("error")
        choices = summary.get("choices") or ()
        self.inputs.add(item, summary["input"], {}, choices, summary.get("target") or ())
        if self.scores:
            self.scores.add_values(item, summary["epoch"], summary.get("scores") or {})
            self.scores.item_columns.add(item, summary.get("metadata") or {})

    def _add_refused_options(self, request: RequestMetadata, entry: Any) -> None:
        """Note which options the models that answered a request refused.

        Args:
            request: the request.
            entry: podium's entry in the store of its sample; None if there is none.
        """
        for (name, _), answer in parse_answers(request, entry).items():
            if answer.refused:
                self.refused_by_models.setdefault(name, {}).update(answer.refused)

    def _add_round(self, announced: RoundMetadata) -> None:
        """Count the battles that a round schedules, and those that it leaves out as missing.

        Numbers of the schedule that it replaces are subtracted. If the round has the answer of the
        tournament, this is kept.
        """
        self.answer = announced.answer or self.answer
        scheduled_before, left_out_before = announced.replaced
        self.missing += announced.left_out - left_out_before
        self.missing_by_task.add_round(announced)
        self.scheduled += len(announced.pairings) - scheduled_before

    def _add_verdicts(
        self, rows: Sequence[dict[str, Any]], rating: float | None, *, repeats: bool
    ) -> None:
        """Add the verdicts of a sample, with the rating of humans if there is one.

        A battle that the judge could not be shown has no row: its words are added to `unshown`.

        Args:
            rows: one per judgment.
            rating: what humans credited model_a with; None if they did not rate the battle.
            repeats: whether the sample repeats calls that failed before.
        """
        # If several scores parsed the same replies, the last one counts.
        verdicts = {(_judged_battle(row), row.get("order")): row for row in rows}
        judged_battles = {
            battle for (battle, _), row in verdicts.items() if row.get("reason") not in NOT_SHOWN
        }
        refused: dict[tuple[Any, ...], str] = {}
        for (battle, _), row in verdicts.items():
            if self.tournament and self.tournament.preferred:
                row["human"] = float(row["model_a"] == self.tournament.preferred)
            if rating is not None:
                row["human"] = rating
            if battle in judged_battles:
                self._add_judgment(row, repeats=repeats)
            else:
                refused[battle] = f"{row['reason']}: {row.get('reply', 'no words')}"
        self.unshown += refused.values()
        self.missing_by_task.add(battle[0] for battle in refused)

    def _add_input(self, sample: ScoredSample) -> None:
        """Add the input of a sample; OtherQuestionError if another epoch has another input."""
        if self.scores:
            own = sample
            self.inputs.add(f"{own.id}", own.input, own.attachments, own.choices, own.target)

    def _add_judgment(self, row: dict[str, Any], *, repeats: bool) -> None:
        """Add a judgment. If its call failed, it is kept apart: a later sample may repeat it."""
        if UnparsedReason.parse(str(row.get("reason") or "")).code == FAILED:
            self.failed_rows[_judgment_of(row)] = row
            return
        if repeats:
            self.repeated.add(_judgment_of(row))
        self.table.add_row(row)

    def _leave_out(self, sample: LeftOutSample, battles: Sequence[BattleMetadata]) -> None:
        """Leave out an invalidated sample, and count its battles as missing."""
        self.invalidated.append(sample)
        self.missing += len(battles)
        self.missing_by_task.add(battle.item for battle in battles)
        if self.scores:
            self.scores.leave_out(f"{sample.id}")

    def _is_left_out(self, sample_id: str, epoch: int) -> bool:
        """Return whether the sample with this id and epoch was invalidated."""
        return any(
            (f"{invalid_sample.id}", invalid_sample.epoch) == (sample_id, epoch)
            for invalid_sample in self.invalidated
        )

    def _add_failed_sample(self, sample: ScoredSample, played: Sequence[BattleMetadata]) -> None:
        """Keep the judgments of a failed sample, or its battles if no judge was asked.

        The judgments go into `failed_rows`, the battles into `failed`. Battles of identical
        responses are skipped: a later sample plays them again.
        """
        if not was_judge_asked(sample.kept):
            # Epochs count from 1 and repeats from 0: each epoch is taken to be one repeat.
            repeat = sample.epoch - 1
            self.failed += [(_failed_row(battle, repeat), battle.judges) for battle in played]
            return
        replies_by_battle = SampleReplies.parse(sample.kept).to_battles()
        for battle, replies in zip(played, replies_by_battle, strict=True):
            self.judges |= read_judges(replies.judges)
            if replies.identical:
                # It is played again with the failed battles of its pack.
                continue
            for judgment in replies.judgments:
                row = {
                    **_failed_row(battle, judgment["repeat"]),
                    "judge": judgment["judge"],
                    **_failure_in(judgment),
                }
                self.failed_rows[_judgment_of(row)] = row

    def build(self) -> LogRows:
        """Return the verdicts and the scores, with their `attrs`.

        Raises:
            DataError: there is no row, and the log is not of an empty shard.
        """
        verdicts = self._build_verdicts()
        scores = self._build_scores(self.scores) if self.scores else None
        if verdicts is None and scores is None:
            raise self._nothing_judged_error()
        for frame in (verdicts, scores):
            if frame is not None:
                frame.attrs["invalidated"] = LeftOut.of_samples(
                    self.invalidated, self.samples, several_epochs=self.epochs > 1
                )
        unjudged = ""
        if self.judging and verdicts is None:
            reasons = [self.failure, *self.unshown, "no call to the judge succeeded"]
            unjudged = next(filter(None, reasons))
        return LogRows(verdicts, scores, tuple(self.judging), unjudged)

    def _build_scores(self, scores: EvalScores) -> pd.DataFrame | None:
        """Return the scores, from the samples or from their summaries; None if there are none."""
        self.inputs.finish()
        for row in scores.rows_at_end():
            self.score_table.add_row(row)
        frame = self.score_table.build() if self.score_table.count else scores.frame_of_values()
        if frame.empty:
            return None
        finished = scores.finish(frame)
        scores.item_columns.add_to(finished)
        return finished

    def _build_verdicts(self) -> pd.DataFrame | None:
        """Return the table of verdicts, with counts of battles in its `attrs`.

        It may be empty if the log is of an empty shard. Otherwise, None if there is no verdict.
        """
        silent = self._add_failed_rows()
        if self.tournament and self.tournament.shard and not self.scheduled:
            # If a tournament has few battles, a shard may have none.
            frame = self.table.build()
            frame.attrs = {"missing": self.missing}
            return self._with_item_columns(frame)
        if not self.table.count:
            return None
        frame = self._with_item_columns(self.table.build())
        # Battles of an ordinary eval that were not judged are missing, beside others that were.
        self.missing += self._count_unjudged() if self.scores else 0
        config = self.header.eval.config
        scheduled = self.scheduled
        if self.tournament and (config.limit is not None or config.sample_id is not None):
            # Rounds after the cut were never announced, so the planned number counts.
            scheduled = max(scheduled, self.epochs * self.tournament.planned)
        unplayed = max(scheduled - self.played, 0)
        for name, cell in self._jury_cells().items():
            frame[name] = cell
        frame.attrs["judges"] = self.judges
        if self.judges:
            frame.attrs["one_sided"] = self._recorded_options().get("one_sided") or "unparsed"
        frame.attrs["refused"] = self.refused
        frame.attrs["refused_by_models"] = self.refused_by_models
        if self.tournament or self.missing or self.unshown:
            frame.attrs |= {
                "missing": self.missing + unplayed + len(self.unshown),
                "missing_by_task": None if unplayed else self.missing_by_task.numbers(),
                "unplayed": unplayed,
                "unshown": self.unshown,
                "silent": silent,
                "answer": self.answer,
                "ladder": self.tournament and self.tournament.ladder,
            }
            if "ungraded" in frame:
                frame.attrs["ungraded"] = frame["ungraded"].value_counts().to_dict()
            if "schema" in frame:
                frame.attrs["by_schema"] = self._count_repeated_in_schema(frame)
        return frame

    def _with_item_columns(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the verdicts with the columns of items that the log holds.

        They are the column of the groups of items, if a tournament has any, and further columns
        that divide the items.
        """
        if self.scores:
            self.scores.item_columns.add_to(frame)
        if not self.tournament:
            return frame
        if self.tournament.cluster:
            if "group" in frame:
                frame[self.tournament.cluster] = frame.pop("group")
            frame.attrs["cluster"] = self.tournament.cluster
        add_columns(frame, self.tournament.item_columns)
        return frame

    def _jury_cells(self) -> dict[str, Any]:
        """Return the columns of a jury, each with the one value of all its rows, by name.

        The judges of a jury took turns, or all of them judged every battle. Empty if no battle has
        several judges, and judges did not take turns.
        """
        if self.tournament and self.tournament.jury:
            return {"jury": name_jury(self.tournament.jury)}
        if not self.jury:
            return {}
        options = self._recorded_options()
        judges = [*self.jury, *(name for name in self.judges if name not in self.jury)]
        return jury_cells(judges, options.get("rule") or "mean", options.get("quorum"))

    def _recorded_options(self) -> dict[str, Any]:
        """Return the options of the judge in the log, by name; those of scorers come last."""
        options = dict(flatten_arguments(self.header.eval.task_args))
        for scorer in self.header.eval.scorers or []:
            options |= flatten_arguments(scorer.options or {})
        return options

    def _count_repeated_in_schema(self, frame: pd.DataFrame) -> int:
        """Count the readable verdicts in a JSON schema by judges that are asked for text first."""
        text_first = [judge.name for judge in self.judges.values() if judge.replies != SCHEMA_FIRST]
        is_by_schema = frame["schema"].eq(True) & frame["credit"].notna()
        return int((is_by_schema & frame["judge"].isin(text_first)).sum())

    def _add_failed_rows(self) -> dict[str, int]:
        """Add an unparsed row per judge of a failed battle.

        Battles of a judge without any verdict (a silent judge) have no row. They count as missing,
        unless other judges of a jury judged them. If the run was stopped because its judge cannot
        judge, the battles about which no judge was asked count as missing, too.

        Returns:
            The number of battles of each silent judge.
        """
        judges = [*dict.fromkeys(self.table.columns.get("judge", ()))]
        silent = Counter[str]()
        # Battle, judge and repeat (`_judged_battle`) of failed judgments of silent judges.
        lost = set()
        for judgment, row in self.failed_rows.items():
            if judgment in self.repeated:
                continue
            if row["judge"] in judges:
                self.table.add_row(row)
            else:
                lost.add(_judged_battle(row))
        # The judge comes after the columns of `BATTLE`, the first of which is the item.
        silent.update(key[len(BATTLE)] for key in lost)
        silent_items = [key[0] for key in lost]
        stop = reason_of_stop(self.header)
        if stop and stop.cannot_judge:
            self.missing += len(self.failed)
            self.missing_by_task.add(battle["item"] for battle, _ in self.failed)
            self.failed = []
        # A battle that names no judges was for all judges of the log.
        for battle, judges_of_battle in self.failed:
            for judge in judges_of_battle or judges:
                if judge in judges:
                    self.table.add_row({**battle, "judge": judge})
                else:
                    silent[judge] += 1
                    silent_items.append(battle["item"])
        # A battle that one judge of a jury never judged is not missing: the others may decide it.
        if not self.jury:
            self.missing += silent.total()
            self.missing_by_task.add(silent_items)
        return silent

    def _nothing_judged_error(self) -> DataError:
        """Return the error for a log without rows, with the first reason that applies.

        All samples are invalidated; of an ordinary eval, no battle was judged, the task has no
        scorer, or no sample has a score; of a tournament, why its judge was stopped, the error of a
        sample, the words of a judge that could not be shown a battle, or the error of the log.
        """
        if self.invalidated and len(self.invalidated) == self.samples:
            all_are = f"all {self.samples:,} samples are"
            problem = f"{word_for(self.samples, 'the only sample is', all_are)} invalidated"
            return DataError(
                problem, remedy="run them again with `inspect eval-retry`, or leave this log out"
            )
        if not self.tournament:
            if self.lacking:
                problem = f"no battle was judged: {self.failure}"
                return DataError(problem, remedy="name a reference that has these responses")
            if not self.header.eval.scorers:
                return unscored_task_error(self.path, self.header.eval.task)
            remedy = "score the log with `inspect score` first"
            return DataError("no scored samples", remedy=remedy)
        message = self.header.error.message.strip() if self.header.error else ""
        stop = reason_of_stop(self.header)
        ending = (message or "it holds no battle").splitlines()[-1]
        reasons = [stop.text if stop else "", self.failure, *self.unshown, ending]
        why = next(filter(None, reasons))
        remedy = "fix the cause, then run `inspect eval-retry` on the log"
        return DataError(f"no battle was judged: {why}", remedy=remedy)


def _battle_key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the values that identify the battle of a verdict, in the order of `BATTLE`.

    Values that the row lacks are None.
    """
    return tuple(row.get(name) for name in BATTLE)


def _judged_battle(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the values that identify battle, judge and repeat of a verdict, in this order.

    The verdicts of both orders have the same values.
    """
    return (*_battle_key(row), row.get("judge"), row.get("repeat"))


def _judgment_of(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the values that identify a judgment: battle, judge, repeat and order."""
    return (*_judged_battle(row), row.get("order"))


def _failure_in(judgment: KeptJudgment) -> dict[str, Any]:
    """Return the columns `order`, `reason` and `reply` of a judgment of a failed sample.

    `reply` is the beginning of the error message. A judgment with two replies, of a pointwise
    judge, has the order `merged`. If no reply failed, the sample failed after them, and `reply` is
    left out.
    """
    order = judgment["order"] if len(judgment["replies"]) == 1 else "merged"
    failed_reply = next(
        (reply for reply in map(load_reply, judgment["replies"]) if reply.failed), None
    )
    if failed_reply is None:
        reason = UnparsedReason(FAILED, details="the sample, after the judge's reply")
        return {"order": order, "reason": str(reason)}
    return {
        "order": order,
        "reason": failed_reply.reason_of_no_answer,
        "reply": excerpt_of(failed_reply.refused),
    }


def _failed_row(battle: BattleMetadata, repeat: int) -> dict[str, Any]:
    """Return the unparsed verdict on a battle whose sample failed.

    The columns are those of `BATTLE`, `category` and `group` (as far as the battle has them),
    `order`, `repeat`, `credit` (None) and `reason` (`FAILED`). The order is `merged` unless the
    battle says which model is shown first.
    """
    row: dict[str, Any] = {}
    for name in (*BATTLE, "category", "group"):
        value = getattr(battle, name)
        if value is not None:
            row[name] = value
    order = "merged"
    if battle.first is not None:
        order = "ab" if battle.first == battle.model_a else "ba"
    return {**row, "order": order, "repeat": repeat, "credit": None, "reason": FAILED}
