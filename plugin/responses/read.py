"""Read responses from sources: find the files, read them, pair their questions and assemble them.

A source is a file, a folder or a glob.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from podium.data.formats.files import split_label
from podium.data.reading.model_names import note_doubtful_names
from podium.errors import PodiumError, UsageError, named_in_errors
from podium.findings import check_findings
from podium.notices.notice import Notice
from podium.notices.notice_text import notice_texts
from podium.question_finding import QuestionFinding
from podium.responses.answers import ONLY_REASONING, QuestionRow, ResponseRow, Row
from podium.responses.collection import Responses, add_pending, assemble, questions_in
from podium.responses.found_files import FoundFiles, FoundSource, find_response_files
from podium.responses.groups_of_responses import with_groups
from podium.responses.question_pairing import AllowedFindings, PairedRows, pair_rows
from podium.responses.response_files import (
    NO_GROUPS,
    FileReader,
    FileRows,
    RowForm,
    UnansweredRun,
)
from podium.responses.table_shapes import PROMPT_SHAPES, TableFile
from podium.responses.transcripts import ANSWER_ALONE, Show
from podium.run_record import RunRecord
from podium.scorers.reasoning import Policy, check_policy, strip_reasoning
from podium.storage.remote import urls_in_errors, with_urls, without_secrets
from podium.wording import some_paths


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
    files = find_response_files(sources, readers, cluster=cluster)
    form = RowForm(replace(show, reasoning=reasoning), files.cluster, skips_bad_rows=optional)
    parts, notes = _read_files(files, form, optional=optional)
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
    answers = [*answers, *_missing_answers(files.unanswered, answers, on_demand)]
    if on_demand:
        answers, notes_on_pending = add_pending(answers, questions, prompts, on_demand)
        notes += notes_on_pending
    responses = assemble(answers, questions + _questions_in_neighbour_files(answers, questions))
    notes += [*_note_skipped(parts), *responses.notes, *note_doubtful_names(responses.models)]
    noted = replace(responses, notes=tuple(note.map_texts(with_urls) for note in notes))
    whole = replace(_add_runs(noted, paired), sources=_sources_of(parts), tasks=tasks)
    return with_groups(whole, files.cluster, required=cluster is not None)


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


def _read_files(
    files: FoundFiles, form: RowForm, *, optional: bool
) -> tuple[list[FileRows], list[Notice]]:
    """Read the files of all sources.

    Args:
        files: the files.
        form: what is read of rows.
        optional: whether files without responses are skipped even if the user named them.

    Returns:
        The files with their rows, and notes, in the order of the sources.

    Raises:
        UsageError: two sources have models of the same name, and `optional` is False.
        DataError: a file cannot be read, or has no responses and `optional` is False.
    """
    parts: list[FileRows] = []
    notes: list[Notice] = []
    owners: dict[str, str] = {}  # source by model
    for source in files.sources:
        parts_of_source = _read_source(source, form, optional=optional)
        if not optional:
            _reject_repeated_models(owners, source.name, _rows_in(parts_of_source))
        parts += parts_of_source
        notes += source.notes
        for part in parts_of_source:
            notes += part.notes
    return parts, [*notes, *files.notes]


def _read_source(source: FoundSource, form: RowForm, *, optional: bool) -> list[FileRows]:
    """Read the files of a source; see `_read_files`."""
    parts: list[FileRows] = []
    for file in source.files:
        is_last = file.path == source.last_samples
        is_needed = file.path in source.needed
        if is_last and all(part.rows is None for part in parts):
            is_needed = True
        with named_in_errors(file.path):
            parts.append(file.read(form, optional=optional or not is_needed))
    return parts


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
        files = find_response_files([first_skipped], readers)
        _read_files(files, NO_GROUPS, optional=False)
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
    files = find_response_files(sources, readers, PROMPT_SHAPES)
    rows: list[Row] = []
    notes: list[Notice] = []
    for source in files.sources:
        parts = _read_source(source, RowForm(cluster=cluster), optional=False)
        rows += _rows_in(parts)
        notes += source.notes
        for part in parts:
            notes += part.notes
    return questions_in(rows), [*notes, *files.notes]


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
            continue
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
            with named_in_errors(path):
                rows += TableFile(path).read(NO_GROUPS, optional=True).rows or []
    return [row for row in rows if isinstance(row, QuestionRow)]
