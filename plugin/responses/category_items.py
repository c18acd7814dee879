"""Name items by category and id where ids are unique only within a category."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

from podium.comparability.questions import normal_words
from podium.responses.answers import QuestionRow, ResponseRow, Row


def name_by_category(
    rows: Sequence[Row], run_of: Callable[[Row], Hashable]
) -> tuple[Sequence[Row], int]:
    """Name the items of a task `CATEGORY:ID` if a run has different questions under one id.

    It is done only if each row names its category (or `id_scope`), and if the rows of every
    category and id have one instruction. Otherwise, the rows are returned as they are.

    Args:
        rows: the rows of a task.
        run_of: function that returns the run of a row.

    Returns:
        The rows, and the number of items that are named so; 0 if no row was changed.
    """
    if not _ids_have_two_questions(rows, run_of):
        return rows, 0
    asked: dict[tuple[str, str], str] = {}
    for question in map(_question_in, rows):
        scope = _scope_of(question)
        if scope is None:
            return rows, 0
        if question.instruction is None:
            continue
        instruction = normal_words(question.instruction)
        if asked.setdefault((scope, question.item), instruction) != instruction:
            return rows, 0
    named: list[Row] = []
    for row in rows:
        question = _question_in(row)
        question = replace(question, item=f"{_scope_of(question)}:{question.item}")
        if isinstance(row, ResponseRow):
            named.append(replace(row, question=question))
        else:
            named.append(question)
    return named, len({_question_in(row).item for row in named})


def _ids_have_two_questions(rows: Sequence[Row], run_of: Callable[[Row], Hashable]) -> bool:
    """Return whether a run has two instructions under one id.

    Instructions that differ only in Unicode form or white space are one. Instructions that a
    template wrote (`rendered`) do not count.
    """
    first: dict[tuple[Hashable, str], str] = {}
    for row in rows:
        question = _question_in(row)
        if question.instruction is None or question.rendered:
            continue
        known = first.setdefault((run_of(row), question.item), question.instruction)
        is_other = known != question.instruction
        if is_other and normal_words(known) != normal_words(question.instruction):
            return True
    return False


def _scope_of(question: QuestionRow) -> str | None:
    """Return the category within which the id of a question may be unique; None if unknown."""
    return question.category or question.id_scope


def _question_in(row: Row) -> QuestionRow:
    """Return the question of a row."""
    return row.question if isinstance(row, ResponseRow) else row
