"""Check that samples with the same id in different logs of a task have the same input."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from podium.comparability.questions import distinct_excerpts
from podium.errors import OtherQuestionError

ATTACHMENT = "attachment://"
"""The beginning of a text that stands for an attachment of the log."""
REMEDY = (
    "responses can be compared only where models were asked the same: "
    "give the samples ids of their own (Inspect "
    "numbers samples without ids, after shuffling them), or compare logs of the same samples"
)
EXCERPT = 400
"""Number of characters of each input that are kept for error messages."""

Input = str | Sequence[Mapping[str, Any]]
"""A sample's input as a log holds it: a text, or messages."""


Parts = tuple[int | None, ...]
"""Hashes of an input's texts and media.

An element is None if the log does not hold the content. The tuple is empty if there is nothing to
compare.
"""


class Place(NamedTuple):
    """The log in which a sample is, and its model."""

    path: Path
    model: str


class AskedInputs:
    """The input of each sample as it was read first, by task and id."""

    def __init__(self) -> None:
        self.by_task: dict[str, TaskInputs] = {}

    def of_task(self, task: str) -> "TaskInputs":
        """Return the inputs of a task's samples."""
        return self.by_task.setdefault(task, TaskInputs())


class TaskInputs:
    """The input of each sample of a task as it was read first.

    Attributes:
        known: what is compared, by id: a hash of an input that is a text, or `Parts` of messages.
        excerpts: the beginning of each input, by id.
        places: the log in which each input was read, by id.
    """

    def __init__(self) -> None:
        # There may be many samples. Three dictionaries of flat values take little memory.
        self.known: dict[str, int | Parts] = {}
        self.excerpts: dict[str, str] = {}
        self.places: dict[str, Place] = {}

    def add(self, sample: str, given: Input, attachments: Mapping[str, str], place: Place) -> None:
        """Add the input of a sample.

        Raises:
            OtherQuestionError: an earlier sample with this id has another input.
        """
        if isinstance(given, str):
            known: int | Parts = _hash_of(given)
            excerpt = given[:EXCERPT]
        else:
            known, excerpt = _read_messages(given, attachments)
        first = self.known.setdefault(sample, known)
        if first is known:
            self.excerpts[sample] = excerpt
            self.places[sample] = place
        elif not _may_equal(first, known):
            raise self._error(sample, excerpt, place)

    def _error(self, sample: str, excerpt: str, place: Place) -> OtherQuestionError:
        """Return the error for a sample whose input differs from the first one with its id."""
        path, model = self.places[sample]
        here, there = distinct_excerpts(excerpt, self.excerpts[sample])
        other = f"in {path} ({model}, sample {sample}) ({there!r})"
        problem = f"{place.model} has another input here ({here!r}) than {other}"
        if excerpt == self.excerpts[sample]:
            problem += f"; they differ after the first {EXCERPT} characters, or in media"
        return OtherQuestionError(
            problem, remedy=REMEDY, source=str(place.path), row=f"sample {sample}"
        )


def _may_equal(first: int | Parts, second: int | Parts) -> bool:
    """Return whether two inputs are equal in all parts that are known of both."""
    ours, theirs = ((known,) if isinstance(known, int) else known for known in (first, second))
    if ours == theirs or not (ours and theirs):
        return True
    if len(ours) != len(theirs):
        return False
    pairs = zip(ours, theirs, strict=True)
    return all(own == their or own is None or their is None for own, their in pairs)


def _read_messages(
    given: Sequence[Mapping[str, Any]], attachments: Mapping[str, str]
) -> tuple[Parts, str]:
    """Return what is compared of messages, and the beginning of their texts.

    Only the user's messages are compared, because models may be given different system prompts. If
    there are messages of the model or of tools, only the last message of the user is compared,
    because the conversation before it differs between models.
    """
    asked = [message for message in given if message["role"] == "user"]
    if any(message["role"] in ("assistant", "tool") for message in given):
        asked = asked[-1:]
    texts = [text for message in asked for text in _parts_of(message["content"], attachments)]
    parts = tuple(None if text is None else _hash_of(text) for text in texts)
    words = " ".join(text for text in texts if text is not None)
    return parts, words[:EXCERPT]


def _hash_of(text: str) -> int:
    """Return a hash of a text that ignores spaces at its ends and the kind of line ends."""
    text = text.strip()
    return hash(text.replace("\r\n", "\n") if "\r" in text else text)


def _parts_of(
    content: str | Sequence[Mapping[str, Any]], attachments: Mapping[str, str]
) -> Iterator[str | None]:
    """Yield the text of a message, then each of its media; None for content not in the log."""
    contents = [{"type": "text", "text": content}] if isinstance(content, str) else content
    texts = [
        _resolve_text(part.get("text"), attachments) for part in contents if part["type"] == "text"
    ]
    if texts:
        known = [text for text in texts if text is not None]
        yield "\n".join(known) if len(known) == len(texts) else None
    for part in contents:
        if part["type"] != "text":
            value = _resolve_text(part.get(part["type"]), attachments)
            # Paths and addresses are not compared: they differ between machines for one image.
            yield value if value is not None and value.startswith("data:") else None


def _resolve_text(value: Any, attachments: Mapping[str, str]) -> str | None:
    """Return a text, or the attachment that it refers to; None if the log does not hold it."""
    if isinstance(value, str) and value.startswith(ATTACHMENT):
        return attachments.get(value.removeprefix(ATTACHMENT))
    return value if isinstance(value, str) else None
