"""Read responses from sources: find the files, recognise their shape, read and assemble them.

A source is a file, a folder or a glob. The shape of a table is known by the names of its columns.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from podium.data.formats.bad_rows import BadRow
from podium.data.formats.containers import open_records, shared_engine
from podium.data.formats.files import find_files, local_files, split_label
from podium.data.formats.lm_eval_judged import model_of_verdicts, verdicts_in_row
from podium.data.formats.lm_eval_layout import SAMPLE_FIELDS, Samples, sample_rows
from podium.data.formats.lm_eval_run_records import run_of_samples
from podium.data.reading.model_names import note_doubtful_names
from podium.errors import DataError, PodiumError, UsageError, named_in_errors
from podium.findings import check_findings
from podium.hookspecs import SourceFiles
from podium.notices.notice import Notice
from podium.notices.notice_text import notice_texts
from podium.question_finding import QuestionFinding
from podium.responses import lm_eval_samples as lm_eval
from podium.responses import response_tables as tables
from podium.responses.answers import (
    ONLY_REASONING,
    QuestionRow,
    ResponseRow,
    Row,
    Sheet,
    name_models,
    stem,
)
from podium.responses.collection import Responses, add_pending, assemble, questions_in
from podium.responses.groups_of_responses import with_groups
from podium.responses.question_pairing import AllowedFindings, PairedRows, pair_rows
from podium.responses.transcripts import ANSWER_ALONE, Show
from podium.run_record import RunRecord
from podium.scorers.reasoning import Policy, check_policy, strip_reasoning
from podium.storage.remote import urls_in_errors, with_urls, without_secrets
from podium.wording import some, some_paths


class FileRows(NamedTuple):
    """What was read from a file.

    Attributes:
        path: the file.
        rows: rows of the file; None if the file was skipped because it holds no responses.
        run: the run that wrote the file, if a host recorded it.
    """

    path: Path
    rows: Sequence[Row] | None
    run: RunRecord | None = None


class RowForm(NamedTuple):
    """What is read of each row besides its texts and names.

    Attributes:
        show: says whether the response of an agent is its answer or its transcript.
        cluster: the column with the groups of items; None if items have no groups.
    """

    show: Show = ANSWER_ALONE
    cluster: str | None = None


NO_GROUPS = RowForm()
"""Answers of agents alone, and no groups of items."""


class Shape(NamedTuple):
    """A known shape of tables.

    Attributes:
        name: description of the shape, for error messages.
        read: function that reads the rows of such a table.
        required: sets of column names; the table must have a column of each set.
        excluded: names of columns that the table must not have.
        accepts: function that tests the content of a table that has the right columns.
    """

    name: str
    read: Callable[[Sheet], Sequence[Row]]
    required: Sequence[Iterable[str]]
    excluded: Iterable[str] = ()
    accepts: Callable[[Sheet], bool] = lambda sheet: True  # noqa: ARG005

    def has_columns(self, columns: Set[str]) -> bool:
        """Return whether a table with these columns may have this shape."""
        if columns & {*self.excluded}:
            return False
        return all(columns & {*names} for names in self.required)

    def fits(self, sheet: Sheet) -> bool:
        """Return whether a table has this shape, by its columns and its content."""
        return self.has_columns(sheet.columns) and self.accepts(sheet)


ITEM_COLUMNS = tables.COLUMN_NAMES["item"]
INSTRUCTION_COLUMNS = tables.COLUMN_NAMES["instruction"]
RESPONSE_COLUMNS = tables.COLUMN_NAMES["response"]
"""Names that the columns of ids, instructions and responses may have."""
BATTLE_COLUMNS = ("model_a", "model_b")
"""Columns of a table of verdicts. Its column `response` is a number, not a text."""
COLUMNS_OF_NO_QUESTIONS = (
    *RESPONSE_COLUMNS,
    *tables.COLUMN_NAMES["model"],
    *BATTLE_COLUMNS,
    "messages",
    "choices",
)
"""Columns that a table of questions does not have."""
ARENA_HARD_ITEM = ("uid", "question_id")
ARENA_HARD_MODEL = ("model", "model_id")
"""Names that the columns of the id and of the model may have in arena-hard's files."""
SAMPLES_COLUMNS = [*([name] for name in SAMPLE_FIELDS), ("resps", "filtered_resps")]
ANSWERS_COLUMNS = [ARENA_HARD_ITEM, ("choices", "messages"), ARENA_HARD_MODEL]
OUTPUTS_COLUMNS = [["instruction"], ["output"], ["generator"]]
"""`Shape.required` of lm-eval's samples, of arena-hard's answers and of AlpacaEval's outputs."""
SHAPE_OF_SAMPLES = Shape(
    "lm-eval samples of generated text",
    read=lm_eval.read_responses_in_samples,
    required=SAMPLES_COLUMNS,
    accepts=lm_eval.is_generated,
)
"""The shape of lm-eval's samples, whose files are found by their names."""
SHAPES = (
    SHAPE_OF_SAMPLES,
    Shape("arena-hard answers", read=tables.read_arena_hard_answers, required=ANSWERS_COLUMNS),
    Shape(
        "AlpacaEval outputs",
        read=tables.read_alpaca_outputs,
        required=OUTPUTS_COLUMNS,
        excluded=("id", "item", "uid"),
    ),
    Shape(
        "a row per response (instruction or id, response, model)",
        read=tables.read_responses_table,
        required=[RESPONSE_COLUMNS, (*ITEM_COLUMNS, *INSTRUCTION_COLUMNS)],
        excluded=BATTLE_COLUMNS,
    ),
    Shape(
        "arena-hard questions",
        read=tables.read_arena_hard_questions,
        required=[ARENA_HARD_ITEM, ["turns"]],
    ),
    Shape(
        "a row per item (id, instruction)",
        read=tables.read_instructions,
        required=[ITEM_COLUMNS, INSTRUCTION_COLUMNS],
        excluded=COLUMNS_OF_NO_QUESTIONS,
    ),
)
"""Shapes of tables of responses and questions. A table is read by the first shape that fits."""
PROMPT_SHAPES = (
    *SHAPES,
    Shape(
        "a row per prompt (instruction, and an id or none)",
        read=tables.read_instructions,
        required=[INSTRUCTION_COLUMNS],
    ),
)
"""Shapes of tables of prompts, which may lack ids. The first shape that fits is used."""


class UnansweredRun(NamedTuple):
    """A run of which no sample finished: model, task, and why its responses are missing."""

    model: str
    task: str
    reason: str


@dataclass(frozen=True, slots=True)
class ChosenLogs:
    """The log files of a host that are read.

    Attributes:
        names: the name of the model of each log that is read, by path; None if the names in the log
            are kept.
        runs: settings of the runs whose items are paired by what was asked, by path.
        notes: notes on the choice.
        clusters: the column with the groups of items of each log that is read, by path; None if it
            has none.
        unanswered: the runs of which no sample finished; their logs are not read.
    """

    names: Mapping[Path, str | None]
    runs: Mapping[Path, RunRecord]
    notes: Sequence[Notice]
    clusters: Mapping[Path, str | None] = field(default_factory=dict)
    unanswered: Sequence[UnansweredRun] = ()


@dataclass(frozen=True, slots=True)
class FileReader:
    """A reader of a host's log files.

    Attributes:
        suffixes: endings of the names of its files.
        accepts: function that returns whether a file is such a log.
        read: function that reads the responses in a file.
        choose: function that returns which files are to be read. Its argument has, for each source,
            the label or None of each file by path. If the function is None, all files are read.
    """

    suffixes: tuple[str, ...]
    accepts: Callable[[Path], bool]
    read: Callable[[Path, RowForm], Iterable[ResponseRow]]
    choose: Callable[[Sequence[Mapping[Path, str | None]]], ChosenLogs] | None = None


@urls_in_errors()
def read_responses(
    *sources: str | Path,
    readers: Sequence[FileReader] = (),
    reasoning: Policy = "strip",
    prompts: Sequence[QuestionRow] = (),
    on_demand: Sequence[str] = (),
    show: Show = ANSWER_ALONE,
    optional: bool = False,
    allow: Collection[str] = (),
    allow_option: str = "",
    cluster: str | None = None,
) -> Responses:
    """Read responses from files, folders or globs of any known shape.

    Tables of questions, which have no responses, are read for the instructions. Responses to the
    same question have the same item; see `podium.responses.question_pairing`.

    Args:
        sources: the sources; each may be written `label=path`, with a name for the model.
        readers: readers of hosts' log files.
        reasoning: whether reasoning before an answer is removed (`strip`) or kept (`keep`).
        prompts: questions that are put to the models of `on_demand`; if empty, the questions of the
            sources.
        on_demand: names of models that can be asked for responses that are in no source.
        show: says whether a response of an agent is its answer or its transcript.
        optional: if False, it is an error if a named file or all sources have no responses. If
            True, such files are skipped, and the result may have no items. A few malformed rows of
            tables are then left out, too, as they are where verdicts are read.
        allow: names of findings, such as `questions`, that are not treated as errors. The result
            names them.
        allow_option: the option that accepts the finding `questions`, as it is typed. If it is
            empty, `--allow questions`.
        cluster: the column with the groups of items, such as the passage of a question; in a log of
            Inspect, a key of samples' metadata; in samples of lm-eval, a field of documents. If it
            is None and all files are logs whose own standard errors are clustered by one key, the
            groups are of this key.

    Raises:
        UsageError: the sources have no responses, two sources have models of the same name, or
            `cluster` gives no groups.
        DataError: a file cannot be read, or rows contradict each other.
        OtherQuestionError: files have different questions under the same ids.
    """
    allowed = AllowedFindings(check_findings(allow), allow_option)
    strips_reasoning = check_policy(reasoning)
    show = replace(show, reasoning=reasoning)
    form = RowForm(show, cluster)
    parts, notes, form, unanswered = _read_all_sources(sources, readers, form, optional=optional)
    paired = pair_rows([*prompts, *_rows_in(parts)], _runs_in(parts), allowed)
    notes += paired.notes
    # The prompts come first, as rows keep their order.
    asked_questions = questions_in(paired.rows[: len(prompts)])
    rows, tasks, prompts = _name_tasks(paired.rows[len(prompts) :], asked_questions)
    answers = [row for row in rows if isinstance(row, ResponseRow)]
    has_questions = on_demand and (prompts or rows)
    if not answers and not optional and not has_questions:
        reasons = [*_why_unread(parts, readers), *notice_texts(notes)]
        raise _no_responses_error(sources, on_demand, reasons)
    if strips_reasoning:
        answers, notes_on_reasoning = _without_reasoning(answers)
        notes += notes_on_reasoning
    questions = [*prompts, *(row for row in rows if isinstance(row, QuestionRow))]
    answers = [*answers, *_missing_answers(unanswered, answers, on_demand)]
    if on_demand:
        answers, notes_on_pending = add_pending(answers, questions, prompts, on_demand)
        notes += notes_on_pending
    responses = assemble(answers, questions + _questions_in_neighbour_files(answers, questions))
    notes += [*_note_skipped(parts), *responses.notes, *note_doubtful_names(responses.models)]
    noted = replace(responses, notes=tuple(note.map_texts(with_urls) for note in notes))
    whole = replace(_add_runs(noted, paired), sources=_sources_of(parts), tasks=tasks)
    return with_groups(whole, form.cluster, required=cluster is not None)


def _sources_of(parts: Sequence[FileRows]) -> tuple[str, ...]:
    """Return the files that were read, sorted; local copies of URLs are named by their URLs."""
    files = sorted(str(part.path) for part in parts if part.rows is not None)
    return tuple(map(with_urls, files))


def _runs_in(parts: Sequence[FileRows]) -> dict[str, RunRecord]:
    """Return the runs of the files that have rows, by path."""
    return {str(part.path): part.run for part in parts if part.rows and part.run}


def _add_runs(responses: Responses, paired: PairedRows) -> Responses:
    """Add the runs, the findings on questions and the accepted findings to responses.

    Local copies of URLs are named by their URLs.
    """
    return replace(
        responses,
        runs=tuple(replace(run, source=with_urls(run.source)) for run in paired.runs),
        questions=tuple(map(_with_urls_in_example, paired.findings)),
        accepted=tuple(map(with_urls, paired.accepted)),
    )


def _with_urls_in_example(finding: QuestionFinding) -> QuestionFinding:
    """Name the URLs in the example of a finding instead of their local copies."""
    inputs = finding.example.get("inputs")
    if not inputs:
        return finding
    examples = {with_urls(source): text for source, text in inputs.items()}
    return replace(finding, example={**finding.example, "inputs": examples})


def _read_all_sources(
    sources: Sequence[str | Path], readers: Sequence[FileReader], form: RowForm, *, optional: bool
) -> tuple[list[FileRows], list[Notice], RowForm, Sequence[UnansweredRun]]:
    """Read the files of all sources.

    Returns:
        The files with their rows, and notes, in the order of the sources; the form with the column
        of groups that was read; and the runs whose logs have no responses.

    Raises:
        UsageError: two sources have models of the same name, and `optional` is False.
        DataError: a file cannot be read, or has no responses and `optional` is False.
    """
    places = [_locate_source(source, readers) for source in map(str, sources)]
    chosen_logs = _choose_logs_of_sources(places, readers)
    if form.cluster is None:
        form = form._replace(cluster=_cluster_of_logs(places, chosen_logs, readers))
    parts: list[FileRows] = []
    notes: list[Notice] = []
    owners: dict[str, str] = {}  # source by model
    newest = lm_eval.find_newest_samples(places)
    for source, place, samples in zip(map(str, sources), places, newest, strict=True):
        parts_of_source, notes_of_source = _read_source(
            place, samples, chosen_logs, readers, form=form, optional=optional
        )
        if not optional:
            _reject_repeated_models(owners, source, _rows_in(parts_of_source))
        parts += parts_of_source
        notes += notes_of_source
    return parts, [*notes, *chosen_logs.notes], form, chosen_logs.unanswered


def _cluster_of_logs(
    places: Sequence[SourceFiles], chosen_logs: ChosenLogs, readers: Sequence[FileReader]
) -> str | None:
    """Return the column of groups by which all logs cluster their own standard errors.

    Returns:
        The column; None if there is a file that is no log, or if logs have different ones.
    """
    columns = {*chosen_logs.clusters.values()}
    if len(columns) != 1:
        return None
    for place in places:
        for path in place.paths:
            if not any(_is_log_of(reader, path) for reader in readers):
                return None
    return columns.pop()


def _locate_source(source: str, readers: Sequence[FileReader]) -> SourceFiles:
    """Return the local files of a source; the files of a URL are downloaded.

    Files of a folder are found if they are tables, or if their suffix is one of the readers'.
    """
    suffixes = tuple(suffix for reader in readers for suffix in reader.suffixes)
    return local_files(find_files(source, suffixes))


def _choose_logs_of_sources(
    places: Sequence[SourceFiles], readers: Sequence[FileReader]
) -> ChosenLogs:
    """Let each reader choose which of its logs in all sources are read; all if it does not choose.

    The names of logs that are read without a choice are the labels of their sources.
    """
    names: dict[Path, str | None] = {}
    runs: dict[Path, RunRecord] = {}
    clusters: dict[Path, str | None] = {}
    notes: list[Notice] = []
    unanswered: list[UnansweredRun] = []
    for reader in readers:
        logs = []
        for place in places:
            logs_of_place = [path for path in place.paths if _is_log_of(reader, path)]
            logs.append(dict.fromkeys(logs_of_place, place.label))
        if not any(logs):
            continue
        if reader.choose is None:
            for label_of_log in logs:
                names |= label_of_log
            continue
        chosen_logs = reader.choose(logs)
        names |= chosen_logs.names
        runs |= chosen_logs.runs
        clusters |= chosen_logs.clusters
        notes += chosen_logs.notes
        unanswered += chosen_logs.unanswered
    return ChosenLogs(names, runs, notes, clusters, unanswered)


def _note_skipped(parts: Sequence[FileRows]) -> list[Notice]:
    """Return a note on the files that hold no responses."""
    skipped = [str(part.path) for part in parts if part.rows is None]
    if not skipped:
        return []
    return [Notice("files-without-responses", {"files": skipped})]


def _no_responses_error(
    sources: Sequence[str | Path], on_demand: Sequence[str], reasons: Sequence[str]
) -> UsageError:
    """Return the error that there are no responses, or no prompts for models that can be asked.

    Its text ends with the reasons.
    """
    if sources:
        problem = f"no responses in {without_secrets(some_paths(sources))}"
    elif on_demand:
        problem = (
            "no prompts were named for the role models: give a file, a task or a dataset "
            "(-T prompts=...)"
        )
    else:
        problem = "no responses were named: give files or folders (-T responses=...)"
    return UsageError("; ".join([problem, *reasons]))


def _why_unread(parts: Sequence[FileRows], readers: Sequence[FileReader]) -> list[str]:
    """Return why the first of the files that were skipped in folders has no responses.

    The file is read again as if it were named alone. The list has the text of the error, if there
    is one; it is empty if no file was skipped.
    """
    skipped = [part.path for part in parts if part.rows is None]
    if not skipped:
        return []
    first_skipped, *_ = skipped
    try:
        _read_all_sources([first_skipped], readers, NO_GROUPS, optional=False)
    except PodiumError as error:
        return [str(error)]
    return []


@urls_in_errors()
def read_prompts(
    *sources: str | Path, readers: Sequence[FileReader] = (), cluster: str | None = None
) -> tuple[list[QuestionRow], list[Notice]]:
    """Read the questions in sources, also those of responses.

    The sources are those that `read_responses` reads, and tables of prompts without ids. The same
    question may come several times. `cluster` is the column with the groups of items.

    Returns:
        The questions, and notes on the reading.

    Raises:
        DataError: a file cannot be read, or has no prompts.
    """
    rows: list[Row] = []
    notes: list[Notice] = []
    places = [_locate_source(source, readers) for source in map(str, sources)]
    chosen_logs = _choose_logs_of_sources(places, readers)
    for place, samples in zip(places, lm_eval.find_newest_samples(places), strict=True):
        parts, notes_of_source = _read_source(
            place,
            samples,
            chosen_logs,
            readers,
            shapes=PROMPT_SHAPES,
            form=RowForm(cluster=cluster),
        )
        rows += _rows_in(parts)
        notes += notes_of_source
    return questions_in(rows), [*notes, *chosen_logs.notes]


def _missing_answers(
    unanswered: Sequence[UnansweredRun], answers: Sequence[ResponseRow], on_demand: Sequence[str]
) -> list[ResponseRow]:
    """Return the missing responses of runs: to each question of their task, and for each epoch.

    Runs are left out if their model has a response to the task (perhaps under a name with its
    settings), or can be asked for it.

    Args:
        unanswered: the runs.
        answers: the responses of all other runs.
        on_demand: names of models that can be asked.
    """
    questions: dict[str | None, dict[tuple[str, int], QuestionRow]] = {}
    answered: dict[str | None, set[str]] = {}
    for answer in answers:
        task = answer.question.task
        questions_of_task = questions.setdefault(task, {})
        questions_of_task.setdefault((answer.question.item, answer.number), answer.question)
        answered.setdefault(task, set()).add(answer.model)
    missing: list[ResponseRow] = []
    for run in dict.fromkeys(unanswered):
        models = answered.get(run.task, set())
        # A name with settings is `MODEL (SETTINGS)`: the model's name and a blank begin it.
        is_answered = any(f"{model} ".startswith(f"{run.model} ") for model in models)
        if is_answered or run.model in on_demand:
            continue
        answered.setdefault(run.task, set()).add(run.model)
        for (_, number), question in questions.get(run.task, {}).items():
            missing.append(
                ResponseRow(question, run.model, text=None, reason=run.reason, number=number)
            )
    return missing


def _name_tasks(
    rows: Sequence[Row], prompts: Sequence[QuestionRow]
) -> tuple[Sequence[Row], tuple[str, ...], Sequence[QuestionRow]]:
    """Put the name of the task before the ids of items, if there are several tasks.

    This is needed because two tasks may have the same ids. The ids of rows without a task stay. A
    question without a category gets its task as category.

    Returns:
        The rows, the names of the tasks, and the prompts. Rows and prompts are unchanged if there
        are fewer than two tasks.
    """
    names = {question.task for question in questions_in((*rows, *prompts))}
    tasks = tuple(sorted(task for task in names if task is not None))
    if len(tasks) < 2:
        return rows, tasks, prompts
    named_rows: list[Row] = []
    for row in rows:
        if isinstance(row, ResponseRow):
            named_rows.append(replace(row, question=_with_task_in_id(row.question)))
        else:
            named_rows.append(_with_task_in_id(row))
    return named_rows, tasks, list(map(_with_task_in_id, prompts))


def _with_task_in_id(question: QuestionRow) -> QuestionRow:
    """Put the task of a question before its id, and make it the category if there is none.

    A question without a task is returned unchanged.
    """
    task = question.task
    if task is None:
        return question
    return replace(question, item=f"{task}:{question.item}", category=question.category or task)


def _without_reasoning(answers: Sequence[ResponseRow]) -> tuple[list[ResponseRow], list[Notice]]:
    """Remove the reasoning before answers.

    An answer that consists only of reasoning loses its text, and gets the reason `ONLY_REASONING`.
    Transcripts are not changed: `Show.build_response` has removed their reasoning.

    Returns:
        The answers, and a note on how many had reasoning; no note if none had.
    """
    changed_answers = list(answers)
    with_reasoning = 0
    without_answer = 0
    for k, answer in enumerate(answers):
        is_transcript = answer.work is not None and answer.work.shown
        if not answer.text or is_transcript:
            continue  # no text, or a transcript without reasoning
        text = strip_reasoning(answer.text)
        if text == answer.text:
            continue
        with_reasoning += 1
        if text:
            changed_answers[k] = replace(answer, text=text, reason=None)
        else:
            changed_answers[k] = replace(answer, text=None, reason=ONLY_REASONING)
            without_answer += 1
    if not with_reasoning:
        return changed_answers, []
    fields = {
        "reasoning": with_reasoning,
        "responses": len(answers),
        "unfinished": without_answer,
    }
    return changed_answers, [Notice("reasoning-left-out", fields)]


def _rows_in(parts: Iterable[FileRows]) -> list[Row]:
    """Return the rows of all files."""
    return [row for part in parts for row in part.rows or ()]


def _read_source(
    place: SourceFiles,
    samples: lm_eval.NewestSamples,
    chosen_logs: ChosenLogs,
    readers: Sequence[FileReader],
    shapes: Sequence[Shape] = SHAPES,
    form: RowForm = NO_GROUPS,
    *,
    optional: bool = False,
) -> tuple[list[FileRows], list[Notice]]:
    """Read the files of a source.

    Logs that no reader chose are left out.

    Args:
        place: the local files of the source.
        samples: the samples files of lm-eval among them.
        chosen_logs: which log files of hosts are read.
        readers: readers of hosts' log files.
        shapes: known shapes of tables.
        form: what is read of each row.
        optional: whether a file of no known shape is skipped even if the user named it. If not,
            such a file is an error.

    Returns:
        The files with their rows, and notes.

    Raises:
        DataError: a file cannot be read, or a file that is not optional has no responses.
    """
    notes = list(samples.notes)
    parts: list[FileRows] = []
    for file in samples.files:
        sheet, notes_on_cuts = _sheet_of_samples(file, sample_rows(file.path), form)
        # The last file that the user named must have responses if no other file of the source has.
        is_last_named = file.path in place.paths[-1:] and not place.searched
        is_needed = is_last_named and all(part.rows is None for part in parts)
        rows = _parse_rows(sheet, [SHAPE_OF_SAMPLES], optional=optional or not is_needed)
        parts.append(FileRows(file.path, rows, run_of_samples(file)))
        if rows is not None:
            notes += notes_on_cuts
    is_optional = optional or place.searched
    for path in samples.others:
        reader = next((reader for reader in readers if _is_log_of(reader, path)), None)
        if reader is None:
            rows = _read_file(
                path,
                place.label,
                shapes,
                form,
                optional=is_optional,
                skips_bad_rows=optional,
            )
        elif path in chosen_logs.names:
            with named_in_errors(path):
                rows = name_models(reader.read(path, form), chosen_logs.names[path])
        else:
            continue
        parts.append(FileRows(path, rows, chosen_logs.runs.get(path)))
    return parts, notes


def _sheet_of_samples(
    file: Samples, lines: Iterable[tuple[str, dict[str, Any] | None]], form: RowForm
) -> tuple[Sheet, list[Notice]]:
    """Return the table of a samples file of lm-eval, and a note if a line is cut off.

    Args:
        file: the samples file.
        lines: the place of each line, such as `line 3`, and its row; the row is None if the line
            is cut off.
        form: what is read of each row.
    """
    import pandas as pd

    row_of_line: dict[str, dict[str, Any]] = {}
    notes = []
    for place, row in lines:
        if row is None:
            fields = {"path": str(file.path), "place": place, "task": ""}
            notes.append(Notice("cut-off-line", fields))
        else:
            row_of_line[place.removeprefix("line ")] = row
    frame = pd.DataFrame(list(row_of_line.values()), index=pd.Index(list(row_of_line), name="line"))
    verdicts_of_rows = map(verdicts_in_row, row_of_line.values())
    first_verdicts = next((verdicts for verdicts in verdicts_of_rows if verdicts), None)
    model = model_of_verdicts(file, first_verdicts) if first_verdicts else file.model
    return Sheet(file.path, model, frame, show=form.show, cluster=form.cluster), notes


def _is_log_of(reader: FileReader, path: Path) -> bool:
    """Return whether a file is a log of a reader, by its name and its content."""
    return path.name.endswith(reader.suffixes) and reader.accepts(path)


def _read_file(
    path: Path,
    label: str | None,
    shapes: Sequence[Shape] = SHAPES,
    form: RowForm = NO_GROUPS,
    *,
    optional: bool,
    skips_bad_rows: bool = False,
) -> Sequence[Row] | None:
    """Read the rows of a table, with the names of their models set.

    Args:
        path: the file.
        label: the user's name for the model; None for the names in the file.
        shapes: the shapes that are tried in order.
        form: what is read of each row.
        optional: whether a table of no known shape is skipped.
        skips_bad_rows: whether malformed rows are left out if they are few, as they are where
            verdicts are read (`open_records`). Whoever reads the verdicts counts and names them.

    Returns:
        The rows; None if the table has no known shape and is optional.

    Raises:
        DataError: the file cannot be read, or has no known shape and is not optional.
    """
    with named_in_errors(path):
        # A list takes the malformed rows, which are an error without it.
        bad_rows: list[BadRow] | None = [] if skips_bad_rows else None
        records = open_records(path, shared_engine(), bad_rows)
        has_shape = any(shape.has_columns(records.columns.keys()) for shape in shapes)
        if optional and not has_shape:
            # The names of the columns already show that no shape fits. So the rows, which take
            # longer, are not read.
            return None
        sheet = Sheet(path, label, records.frame(), show=form.show, cluster=form.cluster)
    return _parse_rows(sheet, shapes, optional=optional)


def _parse_rows(sheet: Sheet, shapes: Sequence[Shape], *, optional: bool) -> Sequence[Row] | None:
    """Read a table by the first shape that fits.

    Returns:
        The rows, with the names of their models set. A response without a model is named by its
        file. None if no shape fits and the table is optional.

    Raises:
        DataError: no shape fits and the table is not optional; an empty table fits none.
    """
    if len(sheet.frame):
        for shape in shapes:
            if shape.fits(sheet):
                with named_in_errors(sheet.path):
                    return name_models(shape.read(sheet), sheet.label, stem(sheet.path))
    if optional:
        return None
    if shapes is PROMPT_SHAPES:
        kind_of_rows = "prompts"
        remedy = "give a row per prompt with the columns id and instruction"
    else:
        kind_of_rows = "responses"
        others = ", ".join(shape.name for shape in SHAPES[:3])
        remedy = (
            "give a row per response with the columns instruction (or id), response and model; or "
            f"{others}"
        )
    columns = some(sorted(sheet.columns)) or "(none)"
    problem = f"no row below the header {columns}"
    if len(sheet.frame):
        problem = f"no {kind_of_rows} in the columns {columns}"
    raise DataError(problem, source=str(sheet.path), remedy=remedy)


def _reject_repeated_models(owners: dict[str, str], source: str, rows: Iterable[Row]) -> None:
    """Reject a source that has a model of an earlier source.

    Args:
        owners: source of each model that was read before; the models of this source are added in
            place.
        source: the source.
        rows: its rows.

    Raises:
        UsageError: another source has a model of the same name.
    """
    models = {row.model for row in rows if isinstance(row, ResponseRow)}
    for name in sorted(models):
        if name in owners:
            _, first_path = split_label(owners[name])
            _, second_path = split_label(source)
            remedy = (
                f"label them ({name}-1={first_path} {name}-2={second_path}), or, "
                "if they are parts of one, give them as one folder or glob"
            )
            raise UsageError(
                f"two sources hold a model {name!r}: {owners[name]} and {source}; {remedy}"
            )
        owners[name] = source


def _questions_in_neighbour_files(
    answers: Sequence[ResponseRow], questions: Sequence[QuestionRow]
) -> list[QuestionRow]:
    """Read the questions of arena-hard for answers that have no instruction and no question.

    The questions stand in the file `question.jsonl`, in the folder of the answers or in its parent.
    All questions of such a file are returned. The result is empty if there is no such file.

    Args:
        answers: the responses.
        questions: the questions that are known already.
    """
    items = {question.item for question in questions}
    paths = set()
    for answer in answers:
        question = answer.question
        if question.instruction is None and question.item not in items:
            folder = Path(question.source).parent
            paths |= {folder / "question.jsonl", folder.parent / "question.jsonl"}
    rows: list[Row] = []
    for path in sorted(paths):
        if path.is_file():
            rows += _read_file(path, label=None, optional=True) or []
    return [row for row in rows if isinstance(row, QuestionRow)]
