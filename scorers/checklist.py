"""A checklist: questions on what a good response to one instruction does, written by a model before any is judged."""

from dataclasses import dataclass

from podium.scorers.asking import Settings, Template, Texts
from podium.scorers.json_reply import only_object
from podium.scorers.reading import no_verdict, says_nothing
from podium.scorers.realization import slotted
from podium.scorers.template import checked, filled, packaged
from podium.scorers.verdict import Reply

MOST = 12
LONGEST = 400
"""Characters of one question."""
MAX_TOKENS = 1024
KEYS = frozenset({"questions"})


@dataclass(frozen=True, slots=True)
class Checklist:
    """Questions, or why there are none.

    Attributes:
        questions: answered with yes by a good response; empty = unread.
        reason: why it is unread, one of `verdict.REASONS`; None where it was read.
    """

    questions: tuple[str, ...] = ()
    reason: str | None = None


def prompt(texts: Texts, settings: Settings, template: Template | None = None) -> str:
    """Return what asks a model for the checklist of an instruction; responses are never shown.

    Args:
        texts: the instruction, and what the settings show beside it (reference answer, system prompt).
        settings: of the run.
        template: words to use instead of the packaged ones.

    Raises:
        UsageError: a text that the settings ask for is not there, or the template cannot be filled.
    """
    shown = Settings(reference=settings.reference, system=settings.system)
    words = checked(template or packaged("checklist"), shown, ("instruction",))
    return filled(words, slotted(Texts(texts.instruction, (), texts.reference, texts.system), shown, ()))


def read(reply: Reply) -> Checklist:
    """Read the questions: one JSON object, `{"questions": [...]}`, of 1 to 12 different ones."""
    nothing = says_nothing(reply)
    if nothing:
        return Checklist(reason=nothing)
    found = only_object(reply.text, KEYS)
    if isinstance(found, str):
        return Checklist(reason=no_verdict(reply.text) if found == "no verdict" else found)
    questions = found["questions"]
    if not isinstance(questions, list) or not all(isinstance(one, str) and one.strip() for one in questions):
        return Checklist(reason="bad JSON")
    flat = tuple(" ".join(one.split()) for one in questions)
    if not 1 <= len(flat) <= MOST or len(set(flat)) < len(flat) or max(map(len, flat)) > LONGEST:
        return Checklist(reason="out of range")
    return Checklist(flat)
