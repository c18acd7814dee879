"""One response as it stands in a file, and the question that it answers."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace

from podium.errors import DataError, UsageError
from podium.text import some


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """What was asked, as one row of one file says it.

    Attributes:
        item: its id.
        instruction: what entrants were asked; None where the file does not say it.
        category: slice label, or None.
        reference: an answer that is known to be right, or None.
        system: the system prompt that entrants were given, or None.
        source: the file.
        row: the place in it, as `row 3`.
        media: images, audio and the like that belong to the instruction, as the host's JSON, or None.
        rendered: whether the instruction is a rendering of the item by a template, which may differ between entrants.
        task: whose item it is, where ids of several tasks may be alike; else None.
    """

    item: str
    instruction: str | None
    category: str | None = None
    reference: str | None = None
    system: str | None = None
    source: str = ""
    row: str = ""
    media: str | None = None
    rendered: bool = False
    task: str | None = None

    @property
    def place(self) -> str:
        """File and row, for messages."""
        return ", ".join(part for part in (self.source, self.row) if part)

    def error(self, problem: str, remedy: str) -> DataError:
        """Return an error that names this place."""
        return DataError(problem, remedy=remedy, source=self.source or None, row=self.row or None)


@dataclass(frozen=True, slots=True)
class ResponseRow:
    """One entrant's response to one question.

    Attributes:
        question: what was asked.
        entrant: whose response it is.
        text: the response; None where there is none.
        reason: why there is none; None where there is one.
        number: which of its responses to the item this is, from 1.
    """

    question: QuestionRow
    entrant: str
    text: str | None
    reason: str | None = None
    number: int = 1


EMPTY = "empty response"
ERRORED = "errored"
ABSENT = "no response"
ONLY_REASONING = "only reasoning"
UNSEEN = "media that are not in the file"


def answer(
    question: QuestionRow, entrant: str, text: str | None, *, errored: bool = False, number: int = 1
) -> ResponseRow:
    """Return an answer, with its reason where there is no text to judge.

    >>> answer(QuestionRow("q1", "Say hi."), "wren", " ").reason
    'empty response'
    """
    reason = ERRORED if errored else None if text and text.strip() else EMPTY
    return ResponseRow(question, entrant, text if reason is None else None, reason, number)


def entrant_names(named: Iterable[str | None], label: str | None, otherwise: str = "") -> dict[str | None, str]:
    """Return what to call each of the entrants that a file names; None stands for rows that name none.

    A label wins over the one name in a file; a file without names takes the label, else the fallback.

    Raises:
        UsageError: a label on a file of several entrants.
    """
    names = sorted({name for name in named if name is not None})
    if label is None:
        return {None: otherwise, **{name: name for name in names}}
    if len(names) > 1:
        raise UsageError(
            f"the label {label!r} stands for one entrant, and the file holds {len(names)}: {some(names, most=5)}; "
            "leave the label out"
        )
    return {None: label, **dict.fromkeys(names, label)}


def label_answers(answers: Iterable[ResponseRow], label: str | None) -> list[ResponseRow]:
    """Call the one entrant of some answers by its label, if there is one.

    Raises:
        UsageError: there are several entrants.
    """
    answers = list(answers)
    names = entrant_names((each.entrant for each in answers), label)
    return [replace(each, entrant=names[each.entrant]) for each in answers]


def id_of(instruction: str) -> str:
    """Return an id for an instruction that has none: the same text has the same id.

    >>> id_of("Say hi.")
    'i-e276e57b8ac9'
    """
    return f"i-{hashlib.sha256(normal_text(instruction).encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def normal_text(text: str) -> str:
    """Return the text as it is compared: line ends and outer blanks do not count."""
    return text.replace("\r\n", "\n").strip()
