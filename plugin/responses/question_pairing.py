"""Pair the questions of responses: by their ids, or by what the models were asked.

The rows of one item are about one question. If the ids of runs stand for different questions, rows
are renamed by their questions. If the same questions were put in other words, the rows keep their
ids, and the judge is shown one of the wordings.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from podium.comparability.asked_items import (
    EXCERPT,
    AskedRun,
    InputParts,
    ItemRecord,
    hash_of_text,
    normal_words,
)
from podium.comparability.questions import (
    PairedQuestions,
    notices_of_questions,
    pair_questions,
)
from podium.comparability.run_settings import differences_of_models, notices_of_settings
from podium.data.formats.lm_eval_documents import AskedDocument
from podium.data.formats.lm_eval_questions import (
    NO_SHARED_DOCUMENT_REMEDY,
    asked_documents,
    items_by_name,
    settle_prompts,
)
from podium.notices.notice import Notice
from podium.question_finding import QuestionFinding
from podium.responses.answers import QuestionRow, ResponseRow, Row, normal_text
from podium.responses.category_items import name_by_category
from podium.run_record import RunRecord
from podium.wording import some

UNNAMED_TASK = "the responses"
"""Name of the task, in messages, of tables that name none."""
NO_MEDIA = 0
"""Replaces the hash of the media in `_input_of_question` if a question has no media."""
NO_CHOICES = 0
"""Replaces the hash of the choices in `_input_of_question` if a question has no choices."""
RunKey = tuple[str, str]
"""Two texts that identify a run: the file that the run wrote, and the model.

The file is empty if no host recorded the run: all tables of one model are one run. The model is
empty for questions without a response.
"""


@dataclass(frozen=True, slots=True)
class AllowedFindings:
    """The findings that the user accepts.

    Attributes:
        names: names of the findings.
        option: the option that accepts the finding `questions`, as it is typed. If it is empty, the
            option is `--allow questions`.
    """

    names: Collection[str] = ()
    option: str = ""


@dataclass(frozen=True, slots=True)
class TaskRuns:
    """The runs that the rows of a task come from.

    Attributes:
        keys: the key of each run.
        asked: each run with its items.
        questions: the questions of each run, in the order of its items.
    """

    keys: list[RunKey]
    asked: list[AskedRun]
    questions: list[list[QuestionRow]]


@dataclass(frozen=True, slots=True)
class PairedRuns:
    """The runs of a task whose items are paired.

    Attributes:
        result: how the items were paired.
        names: for each run, the new id of each item by its present id. Ids that do not change may
            be left out.
        runs: the settings of the runs.
    """

    result: PairedQuestions
    names: Sequence[Mapping[str, str]]
    runs: Sequence[RunRecord]


@dataclass(frozen=True, slots=True)
class PairedRows:
    """Rows in which the same question has the same id, and what is known of the runs.

    Attributes:
        rows: the rows, in the order in which they were given.
        runs: the runs of models, if a host recorded one of them or if they differ in a setting
            that should be the same; else empty.
        findings: how the questions were paired, one finding for each task. If `runs` is empty, only
            the findings that a run has questions which others lack.
        accepted: sentences on the findings that the user accepted.
        notes: notes on how rows were paired, and on settings in which the models differ.
    """

    rows: list[Row]
    runs: tuple[RunRecord, ...] = ()
    findings: tuple[QuestionFinding, ...] = ()
    accepted: tuple[str, ...] = ()
    notes: tuple[Notice, ...] = ()


def pair_rows(
    rows: Sequence[Row],
    runs: Mapping[str, RunRecord],
    allowed: AllowedFindings = AllowedFindings(),
) -> PairedRows:
    """Change the ids of rows, so that all rows of one question have the same id.

    Args:
        rows: responses, and questions without a response.
        runs: the runs that hosts recorded, by the file of the rows.
        allowed: findings that the user accepts.

    Raises:
        OtherQuestionError: two files have the same ids, but not one common question; no recorded
            setting explains the difference, and the user does not accept it.
    """
    paired = list(rows)
    records: list[RunRecord] = []
    results: list[PairedQuestions] = []
    items_with_wordings: list[str] = []
    by_category: list[Notice] = []
    for task, places in _places_by_task(rows, runs).items():
        unnamed = [rows[place] for place in places]
        task_rows, count = name_by_category(unnamed, lambda row: _run_key(row, runs))
        if count:
            by_category.append(Notice("questions-by-category", {"task": task, "items": count}))
        task_runs = _runs_of_rows(task, task_rows, runs)
        paired_runs = _pair_runs(task, task_runs, allowed)
        names = dict(zip(task_runs.keys, paired_runs.names, strict=True))
        renamed = [_rename_question(row, names[_run_key(row, runs)]) for row in task_rows]
        if paired_runs.result.finding.pairing == "other inputs":
            is_accepted = bool(paired_runs.result.accepted)
            renamed, items = _unify_wordings(renamed, is_accepted=is_accepted)
            items_with_wordings += items
        for place, row in zip(places, _unify_system_prompts(renamed, runs), strict=True):
            paired[place] = row
        records += [run for run in paired_runs.runs if run.model]
        results.append(paired_runs.result)
    kept_records = tuple(records) if runs or _warn_of_settings(records) else ()
    findings = tuple(result.finding for result in results)
    reported = findings if kept_records else tuple(filter(_has_unshared_items, findings))
    notes = [*by_category, *notices_of_questions(findings), *_notes_on_runs(kept_records)]
    if items_with_wordings:
        notes.append(Notice("instructions-differ", {"items": items_with_wordings}))
    return PairedRows(
        rows=paired,
        runs=kept_records,
        findings=reported,
        accepted=tuple(chain.from_iterable(result.accepted for result in results)),
        notes=tuple(notes),
    )


def _has_unshared_items(finding: QuestionFinding) -> bool:
    """Return whether a model has items with inputs that no other run has.

    Without records of runs, only such findings are reported.
    """
    return bool(finding.unshared)


def _pair_runs(task: str, task_runs: TaskRuns, allowed: AllowedFindings) -> PairedRuns:
    """Pair the items of the runs of a task.

    If all questions are documents of lm-eval's samples, they are paired by their documents. New ids
    are then given only if the runs have different questions under one id, or one question under
    several ids. All other questions are paired by what the models were asked.

    Raises:
        OtherQuestionError: runs have the same ids, but not one common question; no recorded setting
            explains the difference, and the user does not accept it.
    """
    runs = [asked_run.run for asked_run in task_runs.asked]
    documents = []
    for questions in task_runs.questions:
        documents.append(
            [question.document for question in questions if question.document is not None]
        )
    question_count = sum(len(questions_of_run) for questions_of_run in task_runs.questions)
    document_count = sum(len(documents_of_run) for documents_of_run in documents)
    if document_count < question_count:
        result = pair_questions(task, task_runs.asked, allowed.names, option=allowed.option)
        return PairedRuns(result, result.names, runs)
    asked_runs = asked_documents(documents, runs)
    result = pair_questions(
        task, asked_runs, allowed.names, option=allowed.option, remedy=NO_SHARED_DOCUMENT_REMEDY
    )
    names: Sequence[Mapping[str, str]] = [{} for _ in runs]
    if result.finding.pairing == "other inputs" or _are_written_otherwise(documents):
        names = items_by_name(documents, asked_runs, result.names)
    if result.accepted:
        # Prompts differ because the documents do, so their hashes say nothing more.
        return PairedRuns(result, names, runs)
    # Only tasks of multiple choice have choices, and their samples hold no texts.
    no_choices = [""] * len(runs)
    return PairedRuns(result, names, settle_prompts(documents, no_choices, runs))


def _are_written_otherwise(documents: Sequence[Sequence[AskedDocument]]) -> bool:
    """Return whether documents of several items have the same words."""
    items: dict[str, set[str]] = defaultdict(set)
    for document in chain.from_iterable(documents):
        if document.words:
            items[document.words].add(document.item)
    return any(len(items_of_words) > 1 for items_of_words in items.values())


def _places_by_task(rows: Sequence[Row], runs: Mapping[str, RunRecord]) -> dict[str, list[int]]:
    """Return the positions of the rows of each task.

    If all rows that name a task name the same one, the other rows belong to it, too. The samples of
    lm-eval always belong to their own task, which their ids contain.
    """
    tasks = []
    for row in rows:
        question = row.question
        run = runs.get(question.source)
        tasks.append(run.task if question.rendered and run else question.task)
    named_tasks = {task for task, row in zip(tasks, rows, strict=True) if task and _is_bare(row)}
    default_task = UNNAMED_TASK
    if len(named_tasks) == 1:
        [default_task] = named_tasks
    places: dict[str, list[int]] = defaultdict(list)
    for place, task in enumerate(tasks):
        places[task or default_task].append(place)
    return dict(places)


def _is_bare(row: Row) -> bool:
    """Return whether the instruction of a row is the question itself, not a template's prompt."""
    return not row.question.rendered


def _runs_of_rows(task: str, rows: Sequence[Row], runs: Mapping[str, RunRecord]) -> TaskRuns:
    """Return the runs that a task's rows come from, in a fixed order.

    Questions without a response come first, then runs without a time, then the others by time and
    source. The order of runs without a time depends on their questions alone, not on names of files
    or models. Of several rows of an item in a run, the first one with an instruction counts.
    """
    questions_of_run: dict[RunKey, dict[str, QuestionRow]] = defaultdict(dict)
    rows = _with_common_choices(rows)
    for row in rows:
        question = row.question
        items = questions_of_run[_run_key(row, runs)]
        first = items.get(question.item)
        if first is None or first.instruction is None:
            items[question.item] = question
    run_by_key = {}
    for (source, model), items in questions_of_run.items():
        sources = [*dict.fromkeys(question.source for question in items.values())]
        run = runs.get(source) or RunRecord(model, task, some(sources), is_described=False)
        run = _with_system(replace(run, model=model, task=task), items.values())
        is_split = len(sources) > 1
        records = [_record_of_question(question, is_split) for question in items.values()]
        run_by_key[source, model] = AskedRun(run, records)
    keys = sorted(run_by_key, key=lambda key: _run_order(run_by_key[key]))
    asked_runs = [run_by_key[key] for key in keys]
    questions = [list(questions_of_run[key].values()) for key in keys]
    return TaskRuns(keys, asked=asked_runs, questions=questions)


def _with_common_choices(rows: Sequence[Row]) -> Sequence[Row]:
    """Remove the choices of each question whose instruction another row has without choices.

    Tables and tournaments do not record choices, so these questions are compared without choices.
    """
    if not any(row.question.choices for row in rows):
        return rows
    instructions_without_choices = {
        row.question.instruction for row in rows if not row.question.choices
    }
    comparable_rows = []
    for row in rows:
        question = row.question
        if question.choices and question.instruction in instructions_without_choices:
            row = _with_question(row, replace(question, choices=()))
        comparable_rows.append(row)
    return comparable_rows


def _run_key(row: Row, described: Collection[str]) -> RunKey:
    """Return the key of the run that a row comes from.

    `described` are the files of runs that hosts recorded.
    """
    source = row.question.source
    model = row.model if isinstance(row, ResponseRow) else ""
    if source not in described or not model:
        source = ""
    return source, model


def _with_system(run: RunRecord, questions: Iterable[QuestionRow]) -> RunRecord:
    """Record the system prompt of a run if all its questions have the same one.

    The run is returned unchanged if it records a system prompt already, or if a template wrote the
    prompts: the system prompts may then also hold the task's description.
    """
    questions = list(questions)
    if any(question.rendered for question in questions):
        return run
    systems = {normal_text(question.system or "") for question in questions}
    have_one_system = len(systems) == 1 and "" not in systems
    if run.system_instruction is not None or not have_one_system:
        return run
    return replace(run, system_instruction=systems.pop())


def _run_order(asked_run: AskedRun) -> tuple[bool, str, int, str, str]:
    """Return the key by which runs are sorted.

    Questions without a response (no model) come first, then runs without a time by a hash of their
    questions, then the others by time and source.
    """
    run = asked_run.run
    if run.time:
        # As `pair_tasks` sorts the scores of the same runs, so that both have the same ids.
        return bool(run.model), run.time, 0, run.source, run.model
    content = sorted(f"{item.id} {item.excerpt}" for item in asked_run.items)
    return bool(run.model), "", hash_of_text("\n".join(content)), run.model, run.source


def _record_of_question(question: QuestionRow, is_split: bool) -> ItemRecord:
    """Return the record of an item.

    Args:
        question: the question.
        is_split: whether the run of the question has several files. If so, the place in the record
            also names the file.
    """
    excerpt = question.instruction or question.media or ""
    if question.choices:
        excerpt = f"{excerpt} ({' / '.join(question.choices)})"
    place = question.place if is_split else question.row
    return ItemRecord(
        id=question.item, input=_input_of_question(question), excerpt=excerpt[:EXCERPT], row=place
    )


def _input_of_question(question: QuestionRow) -> InputParts:
    """Return the hashes of a question's instruction, media and choices; empty without instruction.

    The order of the choices makes no difference. If a template wrote the prompt, the only hash is
    that of the document's words; if these are not known, that of its id, which stands for it.
    """
    if question.rendered:
        document_text = question.item
        if question.document:
            document_text = question.document.words or question.document.item
        return (hash_of_text(document_text),)
    if question.instruction is None:
        return ()
    media = hash_of_text(question.media) if question.media else NO_MEDIA
    choices = NO_CHOICES
    if question.choices:
        sorted_choices = sorted(map(normal_words, question.choices))
        choices = hash_of_text("\0".join(sorted_choices))
    return hash_of_text(question.instruction), media, choices


def _rename_question(row: Row, names: Mapping[str, str]) -> Row:
    """Return a row with the new id of its item. `names` has the ids of its run that change."""
    question = row.question
    name = names.get(question.item)
    return row if name is None else _with_question(row, replace(question, item=name))


def _with_question(row: Row, question: QuestionRow) -> Row:
    """Return a row with another question."""
    return replace(row, question=question) if isinstance(row, ResponseRow) else question


def _unify_wordings(rows: Sequence[Row], *, is_accepted: bool) -> tuple[list[Row], list[str]]:
    """Give all rows of an item one question: that of the row with the shortest instruction.

    Args:
        rows: the rows.
        is_accepted: whether the user accepted that questions differ. If not, prompts that a
            template wrote stay as they are: `assemble` chooses among them.

    Returns:
        The rows, and the items whose rows had different instructions.
    """
    wordings: dict[str, dict[InputParts, QuestionRow]] = defaultdict(dict)
    for question in (row.question for row in rows):
        is_compared = is_accepted or not question.rendered
        if is_compared and question.instruction is not None:
            questions_of_wording = wordings[question.item]
            wording = _input_of_question(question)[:2]  # choices are in no wording
            first_with_wording = questions_of_wording.setdefault(wording, question)
            questions_of_wording[wording] = min(first_with_wording, question, key=_wording_order)
    question_of_item = {}
    for item, questions_of_wording in wordings.items():
        if len(questions_of_wording) > 1:
            question_of_item[item] = min(questions_of_wording.values(), key=_wording_order)
    unified_rows = []
    for row in rows:
        question = row.question
        chosen_question = question_of_item.get(question.item)
        if chosen_question is not None:
            question = replace(
                chosen_question, source=question.source, row=question.row, task=question.task
            )
        unified_rows.append(_with_question(row, question))
    return unified_rows, [*question_of_item]


def _wording_order(question: QuestionRow) -> tuple[int, str, str, str]:
    """Return a key that sorts questions by the length of their instruction, then by their texts."""
    instruction = question.instruction or ""
    return len(instruction), instruction, question.system or "", question.reference or ""


def _unify_system_prompts(rows: Sequence[Row], described: Collection[str]) -> list[Row]:
    """Give all rows of an item one system prompt, the shortest, if runs have different ones.

    Rows are changed only if each run has one system prompt for all its questions. The system prompt
    is then a setting of the run.

    Args:
        rows: the rows of a task.
        described: the files of runs that hosts recorded.
    """
    systems: dict[RunKey, set[str]] = defaultdict(set)
    for row in rows:
        systems[_run_key(row, described)].add(normal_text(row.question.system or ""))
    texts = set().union(*systems.values()) - {""}
    has_each_run_one = all(len(texts_of_run) == 1 for texts_of_run in systems.values())
    if len(texts) < 2 or not has_each_run_one:
        return list(rows)
    shortest: dict[str, str] = {}
    for question in (row.question for row in rows):
        if question.system:
            shortest_so_far = shortest.get(question.item, question.system)
            shortest[question.item] = min((shortest_so_far, question.system), key=_text_order)
    unified_rows = []
    for row in rows:
        question = row.question
        system = shortest.get(question.item)
        unified_rows.append(_with_question(row, replace(question, system=system)))
    return unified_rows


def _text_order(text: str) -> tuple[int, str]:
    """Return a key that sorts texts by length, then by alphabet."""
    return len(text), text


def _warn_of_settings(runs: Sequence[RunRecord]) -> list[Notice]:
    """Return a warning for each setting that differs between models and should not."""
    return [
        Notice("models-differ-in-setting", {"difference": difference.text})
        for difference in differences_of_models(runs)
        if difference.is_flagged
    ]


def _notes_on_runs(runs: Sequence[RunRecord]) -> list[Notice]:
    """Return warnings and notes on the settings in which models differ."""
    return [*_warn_of_settings(runs), *notices_of_settings(runs)]
