"""Assemble the rows of responses and questions to responses by model, item and number."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from podium.comparability.asked_items import normal_words
from podium.data.item_columns import agreed_values
from podium.errors import DataError, OtherQuestionError
from podium.names import escaped_name, names_alike
from podium.notices.notice import Notice
from podium.responses.answers import ABSENT, QuestionRow, ResponseRow, Row
from podium.responses.collection import Item, Responses, note_numbers, response_key
from podium.responses.response_files import UnansweredRun
from podium.responses.table_shapes import questions_beside
from podium.responses.transcripts import AgentWork

QUESTION_FIELDS = ("instruction", "reference", "media")
"""The fields of `AGREEING_FIELDS` that make the question.

If two rows differ in one of these fields, the models were asked different questions.
"""
REMEDY_OF_GROUPS = "name a column that is the same in all rows of an item, or correct the rows"
REMEDY_OF_QUESTIONS = (
    "responses can be compared only where models were asked the same: rename the ids, or give the "
    "right file"
)
"""What to do if rows of an item differ: in the group, and in any other field."""
PENDING_REASON = "not asked yet"
"""Reason of a response that can still be asked for."""


def assemble_rows(
    rows: Sequence[Row],
    prompts: Sequence[QuestionRow],
    unanswered: Sequence[UnansweredRun],
    on_demand: Sequence[str],
) -> tuple[Responses, list[Notice]]:
    """Assemble the responses of all files, with those that are missing or can be asked for.

    If there are several tasks, ids of items begin with the name of their task.

    Args:
        rows: responses, and questions without a response.
        prompts: the questions that are put to the models of `on_demand`; if empty, the questions of
            all rows.
        unanswered: runs of which no sample finished. Their responses are missing.
        on_demand: names of models that can be asked for responses.

    Returns:
        The responses, and notes on those that can be asked for.

    Raises:
        DataError: rows contradict each other (`assemble`), or a file with questions cannot be read.
        OtherQuestionError: the rows of an item have different questions.
    """
    rows, tasks, prompts = _name_tasks(rows, prompts)
    answers = [row for row in rows if isinstance(row, ResponseRow)]
    questions = [*prompts, *(row for row in rows if isinstance(row, QuestionRow))]
    answers += _missing_answers(unanswered, answers, on_demand)
    notes: list[Notice] = []
    if on_demand:
        answers, notes = _add_pending(answers, questions, prompts, on_demand)
    questions += questions_beside(_files_without_questions(answers, questions))
    return replace(assemble(answers, questions), tasks=tasks), notes


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
    names = {row.question.task for row in (*rows, *prompts)}
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


def _add_pending(
    answers: Sequence[ResponseRow],
    questions: Sequence[QuestionRow],
    prompts: Sequence[QuestionRow],
    models: Sequence[str],
) -> tuple[list[ResponseRow], list[Notice]]:
    """Add a pending response for each item to which a model that can be asked has no first text.

    Only the response with the number 1 counts as the first.

    Args:
        answers: the responses in the sources.
        questions: the questions in the sources.
        prompts: the items that are answered; if empty, all items of questions and answers.
        models: names of the models that can be asked.

    Returns:
        The answers to the items of `prompts`, with the pending responses. And notes. Answers to
        other items are left out, and so are rows without a text of the models that can be asked.
    """
    items: dict[str, QuestionRow] = {}
    for question in prompts or [*questions, *(answer.question for answer in answers)]:
        items.setdefault(question.item, question)
    answers_to_items = [answer for answer in answers if answer.question.item in items]
    notes = []
    if len(answers_to_items) < len(answers):
        left_out_counts = {"responses": len(answers) - len(answers_to_items), "prompts": len(items)}
        notes.append(Notice("responses-unasked", left_out_counts))
    rows = [row for row in answers_to_items if row.text is not None or row.model not in models]
    for name in models:
        recorded_items = {
            row.question.item for row in rows if row.model == name and row.number == 1
        }
        pending = {item: question for item, question in items.items() if item not in recorded_items}
        if recorded_items:
            counts = {"recorded": len(recorded_items), "pending": len(pending)}
            notes.append(Notice("responses-recorded", {"model": name, **counts}))
        for question in pending.values():
            rows.append(ResponseRow(question, name, text=None, reason=PENDING_REASON))
    return rows, notes


def _files_without_questions(
    answers: Sequence[ResponseRow], questions: Sequence[QuestionRow]
) -> set[Path]:
    """Return the files of answers that have no instruction and no question.

    Args:
        answers: the responses.
        questions: the questions that are known already.
    """
    items = {question.item for question in questions}
    files = set()
    for answer in answers:
        question = answer.question
        if question.instruction is None and question.item not in items:
            files.add(Path(question.source))
    return files


def assemble(answers: Sequence[ResponseRow], questions: Sequence[QuestionRow]) -> Responses:
    """Assemble responses by model, item and number.

    A response that a model lacks is missing with the reason `ABSENT`. A response with the reason
    `PENDING_REASON` is pending. The items of questions come first, in the order of the questions;
    then those of answers, in the order of the models' names.

    Args:
        answers: the responses, each with its question.
        questions: further questions. Those without a response are left out, with a note.

    Raises:
        DataError: rows contradict each other, an item has no instruction, a model has two responses
            to an item with the same number, or the names of two models look the same.
        OtherQuestionError: the rows of an item have different questions.
    """
    answers_by_model = _answers_by_model(answers)
    # The order of the rows is fixed (questions first, then models by name), so that the order of
    # the sources does not matter.
    rows_by_item: defaultdict[str, list[QuestionRow]] = defaultdict(list)
    sorted_answers = sorted(answers, key=lambda answer: answer.model)
    for question in [*questions, *(answer.question for answer in sorted_answers)]:
        rows_by_item[question.item].append(question)
    # Largest number of responses of one model, by item.
    number_by_item: dict[str, int] = {}
    for answer in answers:
        item_id = answer.question.item
        number_by_item[item_id] = max(number_by_item.get(item_id, 1), answer.number)
    items = tuple(
        replace(_item_of(rows), responses=number_by_item[item])
        for item, rows in rows_by_item.items()
        if item in number_by_item
    )
    keys = [key for item in items for key in item.keys]
    texts: dict[str, dict[str, str]] = {}
    missing: dict[str, dict[str, str]] = {}
    pending: dict[str, frozenset[str]] = {}
    work: dict[str, dict[str, AgentWork]] = {}
    for name, by_key in answers_by_model:
        texts[name] = {key: row.text for key, row in by_key.items() if row.text is not None}
        work[name] = {key: row.work for key, row in by_key.items() if row.work and row.text}
        reasons = _reasons_without_text(by_key, keys)
        missing[name] = {key: why for key, why in reasons.items() if why != PENDING_REASON}
        can_be_asked = frozenset(key for key, why in reasons.items() if why == PENDING_REASON)
        if can_be_asked:
            pending[name] = can_be_asked
    unanswered = [item for item in rows_by_item if item not in number_by_item]
    notes = (*note_numbers(items, unanswered), *_note_renderings(rows_by_item))
    return Responses(items, texts, missing, pending=pending, work=work, notes=notes)


def _reasons_without_text(by_key: Mapping[str, ResponseRow], keys: Iterable[str]) -> dict[str, str]:
    """Return why a model has no text of a response, by `response_key`; `ABSENT` without a row.

    Responses that have a text are left out.

    Args:
        by_key: the rows of the model.
        keys: keys of all responses that the model could have.
    """
    reasons = {}
    for key in keys:
        reason = by_key[key].reason if key in by_key else ABSENT
        if reason:
            reasons[key] = reason
    return reasons


def _answers_by_model(answers: Sequence[ResponseRow]) -> list[tuple[str, dict[str, ResponseRow]]]:
    """Return each model with its answers by `response_key`, sorted by model.

    Raises:
        DataError: a model has two answers with the same key, or the names of two models look the
            same.
    """
    _reject_names_alike(answers)
    by_model: dict[str, dict[str, ResponseRow]] = defaultdict(dict)
    for answer in answers:
        key = response_key(answer.question.item, answer.number)
        first_answer = by_model[answer.model].setdefault(key, answer)
        if first_answer is not answer:
            problem = f"a second response of {answer.model!r} to item {answer.question.item!r}"
            remedy = "keep one of the two, or label the models: one=path other=path"
            raise answer.question.error(
                f"{problem}; the first is in {first_answer.question.place}", remedy
            )
    return sorted(by_model.items())


def _reject_names_alike(answers: Sequence[ResponseRow]) -> None:
    """Raise DataError if the names of two models look the same."""
    # The last entry of a model stays, so the answers are taken in reverse order.
    first_answers = {answer.model: answer for answer in reversed(answers)}
    for first, second, *_ in names_alike(first_answers).values():
        place = first_answers[first].question.place
        problem = (
            f"the model {escaped_name(second)} has the name of {escaped_name(first)} "
            f"({place}) but for Unicode form, invisible characters or blanks at the ends"
        )
        remedy = "write the name in one way, or label the models: one=path other=path"
        raise first_answers[second].question.error(problem, remedy)


def _item_of(rows: Sequence[QuestionRow]) -> Item:
    """Return the item that its rows describe, as an item with one response.

    Prompts that a template wrote (`rendered`) may differ. The shortest of them is the instruction
    if no other row has one.

    Raises:
        DataError: the rows contradict each other, or none has an instruction.
        OtherQuestionError: the rows have different instructions, references or media.
    """
    # If a template wrote the prompt (`rendered`), instruction and system prompt may differ between
    # rows. Reference, category and group may not.
    not_rendered = [row for row in rows if not row.rendered]
    instruction = _common_value("instruction", not_rendered)
    reference = _common_value("reference", rows)
    system = _common_value("system", not_rendered)
    category = _common_value("category", rows)
    media = _common_value("media", not_rendered)
    group = _common_value("group", rows)
    rendered = [row for row in rows if row.rendered and row.instruction is not None]
    if instruction is None and rendered:
        # The shortest prompt is nearest to the bare question. The order of files does not matter.
        shortest = min(rendered, key=_length_of_rendering)
        instruction = shortest.instruction
        system = system or shortest.system
    if instruction is None or not instruction.strip():
        remedy = (
            "give the questions too: a file with a row per item that holds its id and its "
            "instruction"
        )
        raise rows[0].error(f"item {rows[0].item!r} has no instruction", remedy)
    return Item(
        id=rows[0].item,
        instruction=instruction,
        category=category,
        reference=reference,
        system=system,
        media=media,
        group=group,
        columns=agreed_values([row.columns for row in rows]),
    )


def _length_of_rendering(row: QuestionRow) -> tuple[int, str, str]:
    """Return a key that sorts rows by the length of their instruction.

    Instructions of one length are sorted by the alphabet, and equal ones by the system prompt.
    """
    instruction = row.instruction or ""
    return len(instruction), instruction, row.system or ""


def _common_value(name: str, rows: Sequence[QuestionRow]) -> str | None:
    """Return the value of a field on which all rows agree; None if no row has a value.

    Rows without a value do not count. Values that differ only in line ends and outer blanks agree;
    the first one is returned.

    Args:
        name: the field, one of `AGREEING_FIELDS`.
        rows: the rows of an item.

    Raises:
        OtherQuestionError: the rows differ, and the field makes the question (`QUESTION_FIELDS`).
        DataError: the rows differ in another field.
    """
    rows_with_value = []
    for row in rows:
        own_value = getattr(row, name)
        if own_value is not None:
            rows_with_value.append((row, str(own_value)))
    if not rows_with_value:
        return None
    first_row, value = rows_with_value[0]
    for row, other in rows_with_value[1:]:
        if normal_words(other) != normal_words(value):
            excerpt = _excerpt_of_value(other)
            first_excerpt = _excerpt_of_value(value)
            problem = (
                f"item {row.item!r} has another {name} here ({excerpt}) than in {first_row.place} "
                f"({first_excerpt})"
            )
            error = OtherQuestionError if name in QUESTION_FIELDS else DataError
            remedy = REMEDY_OF_GROUPS if name == "group" else REMEDY_OF_QUESTIONS
            raise error(problem, remedy=remedy, source=row.source or None, row=row.row or None)
    return value


def _excerpt_of_value(text: str) -> str:
    """Return a text in quotation marks, on one line of at most 60 characters."""
    line = " ".join(text.split())
    if len(line) > 60:
        line = f"{line[:57]}..."
    return repr(line)


def _note_renderings(rows_by_item: Mapping[str, Sequence[QuestionRow]]) -> list[Notice]:
    """Return a note on the items that have several different instructions written by templates.

    The list is empty if there are no such items.
    """
    items_with_several = []
    for item, rows in rows_by_item.items():
        renderings = {
            normal_words(row.instruction) for row in rows if row.rendered and row.instruction
        }
        if len(renderings) > 1:
            items_with_several.append(item)
    if not items_with_several:
        return []
    return [Notice("different-words", {"items": items_with_several})]
