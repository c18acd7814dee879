"""Responses that are not there yet, and can be asked for: they stand among the others as pending."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from podium.responses.answers import QuestionRow, ResponseRow, Row
from podium.responses.collection import Responses

PENDING = "not asked yet"
"""Why a response has no text that can be asked for."""


def questions_in(rows: Iterable[Row]) -> list[QuestionRow]:
    """Return what rows say was asked."""
    return [row.question if isinstance(row, ResponseRow) else row for row in rows]


def add_pending(
    answers: Sequence[ResponseRow],
    questions: Sequence[QuestionRow],
    prompts: Sequence[QuestionRow],
    entrants: Sequence[str],
) -> tuple[list[ResponseRow], list[str]]:
    """Return the answers, with a pending one wherever an entrant on demand has no text, and notes for people.

    Args:
        answers, questions: of the sources.
        prompts: which items are played; by default all that the sources speak of.
        entrants: who can be asked.
    """
    items: dict[str, QuestionRow] = {}
    for question in prompts or [*questions, *questions_in(answers)]:
        items.setdefault(question.item, question)
    known = [each for each in answers if each.question.item in items]
    notes = []
    if len(known) < len(answers):
        notes.append(f"{len(answers) - len(known):,} responses are to none of the {len(items):,} prompts, and left out")
    rows = [each for each in known if each.text is not None or each.entrant not in entrants]
    for name in entrants:
        there = {each.question.item for each in rows if each.entrant == name and each.number == 1}
        if there:
            notes.append(f"{name}: {len(there):,} responses are recorded; {len(items) - len(there):,} can be asked for")
        rows += [ResponseRow(asked, name, None, PENDING) for item, asked in items.items() if item not in there]
    return rows, notes


def name_pending(responses: Responses) -> Responses:
    """Tell pending responses from missing ones."""
    pending = {
        name: frozenset(key for key, reason in own.items() if reason == PENDING)
        for name, own in responses.missing.items()
    }
    missing = {
        name: {key: reason for key, reason in own.items() if reason != PENDING}
        for name, own in responses.missing.items()
    }
    return replace(responses, missing=missing, pending={name: keys for name, keys in pending.items() if keys})
