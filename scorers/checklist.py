"""A checklist: questions on what a good response to one instruction does, written by a model before any is judged."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace

from podium.scorers.prompt import Settings, Texts, check_template, fill_template, packaged_template
from podium.scorers.reply import Reply, only_object

MOST_QUESTIONS = 12
LONGEST = 400
"""Characters of one question."""
KEYS = frozenset({"questions"})


@dataclass(frozen=True, slots=True)
class Checklist:
    """Questions, or why there are none.

    Attributes:
        questions: answered with yes by a good response; empty = unread.
        reason: why it is unread, one of `reply.REASONS`; None where it was read.
    """

    questions: tuple[str, ...] = ()
    reason: str | None = None


def checklist_prompt(texts: Texts, settings: Settings) -> str:
    """Return what asks a model for the checklist of an instruction; responses are never shown.

    Args:
        texts: the instruction, and what the settings show beside it (reference answer, system prompt).
        settings: of the run.

    Raises:
        UsageError: a text that the settings ask for is not there.
    """
    shown = Settings(reference=settings.reference, system=settings.system)
    words = check_template(packaged_template("checklist"), shown, ("instruction",))
    return fill_template(words, replace(texts, responses=()).by_slot(shown, ()))


def read_checklist(reply: Reply) -> Checklist:
    """Read the questions: one JSON object, `{"questions": [...]}`, of 1 to 12 different ones."""
    if reply.reason_of_silence:
        return Checklist(reason=reply.reason_of_silence)
    answer = only_object(reply.text, KEYS)
    if isinstance(answer, str):
        return Checklist(reason=answer)
    questions = answer["questions"]
    if not isinstance(questions, list) or not all(isinstance(text, str) and text.strip() for text in questions):
        return Checklist(reason="bad JSON")
    flat = tuple(" ".join(text.split()) for text in questions)
    if not 1 <= len(flat) <= MOST_QUESTIONS or len(set(flat)) < len(flat) or max(map(len, flat)) > LONGEST:
        return Checklist(reason="out of range")
    return Checklist(flat)


def write_checklist(questions: Iterable[str]) -> Reply:
    """Write the first 12 questions as a model does, so that `read_checklist` can read them."""
    return Reply(json.dumps({"questions": list(dict.fromkeys(questions))[:MOST_QUESTIONS]}))
