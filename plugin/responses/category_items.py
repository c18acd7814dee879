"""Name items by category and id where ids are unique only within a category."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

from podium.comparability.asked_items import normal_words
from podium.responses.answers import QuestionRow, ResponseRow, Row


def name_by_category(
    rows: Sequence[Row], run_of: Callable[[Row], Hashable]
) -> tuple[Sequence[Row], int]:
    """Name the items of a task `CATEGORY:ID` if a run has different questions under one id.

    Items are renamed only if each row names its category (or `id_scope`), and if all rows with the
    same category and id have the same instruction. Rows without an instruction do not count for
    the second condition. Otherwise, the rows are returned as they are.

    Args:
        rows: the rows of a task.
        run_of: function that returns the run of a row.

    Returns:
        The rows, and the number of renamed items; 0 if no row was changed.
    """
    if not _ids_have_two_questions(rows, run_of):
        return rows, 0
    instruction_of_item: dict[tuple[str, str], str] = {}
    for question in (row.question for row in rows):
        scope = _scope_of(question)
        if scope is None:
            return rows, 0
        if question.instruction is None:
            continue
        instruction = normal_words(question.instruction)
        if instruction_of_item.setdefault((scope, question.item), instruction) != instruction:
            return rows, 0
    renamed_rows: list[Row] = []
    for row in rows:
        question = row.question
        question = replace(question, item=f"{_scope_of(question)}:{question.item}")
        if isinstance(row, ResponseRow):
            renamed_rows.append(replace(row, question=question))
        else:
            renamed_rows.append(question)
    return renamed_rows, len({row.question.item for row in renamed_rows})


def _ids_have_two_questions(rows: Sequence[Row], run_of: Callable[[Row], Hashable]) -> bool:
    """Return whether a run has two instructions under one id.

    Instructions that differ only in Unicode form or white space count as the same. Instructions
    that a template wrote (`rendered`) do not count.
    """
    first_instruction: dict[tuple[Hashable, str], str] = {}
    for row in rows:
        question = row.question
        if question.instruction is None or question.rendered:
            continue
        first_text = first_instruction.setdefault(
            (run_of(row), question.item), question.instruction
        )
        is_other = first_text != question.instruction
        if is_other and normal_words(first_text) != normal_words(question.instruction):
            return True
    return False


def _scope_of(question: QuestionRow) -> str | None:
    """Return the category within which the id of a question may be unique; None if unknown."""
    return question.category or question.id_scope
