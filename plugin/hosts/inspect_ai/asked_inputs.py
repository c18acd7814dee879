"""Whether the samples of one id in the logs of a task ask the same: their inputs, as far as these are known."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from podium.errors import OtherQuestionError
from podium.printable import shorten

ATTACHMENT = "attachment://"
REMEDY = (
    "responses can be compared only where models were asked the same: give the samples ids of their own (Inspect "
    "numbers samples without ids, after shuffling them), or compare logs of the same samples"
)
EXCERPT = 400
"""Characters of an input that are kept for messages."""
SHOWN = 60
"""Characters of an input in a message."""

Input = str | Sequence[Mapping[str, Any]]
"""A sample's input as a log holds it: a text, or messages."""


class AskedInput(NamedTuple):
    """The input of a sample, and where it is.

    Attributes:
        parts: hashes of the input's texts and media, None for one that is not known; empty if none is known.
        excerpt: the beginning of the input, for messages.
    """

    parts: tuple[int | None, ...]
    excerpt: str
    path: Path
    model: str

    def may_equal(self, other: "AskedInput") -> bool:
        """Return whether two inputs do not differ in what is known of both."""
        if self.parts == other.parts or not (self.parts and other.parts):
            return True
        if len(self.parts) != len(other.parts):
            return False
        pairs = zip(self.parts, other.parts, strict=True)
        return all(own == their or own is None or their is None for own, their in pairs)


class AskedInputs:
    """The inputs that were read of a task's samples, by task and id; the first one of each."""

    def __init__(self) -> None:
        self.first: dict[tuple[str, str], AskedInput] = {}

    def add(self, task: str, sample: str, asked: AskedInput) -> None:
        """Add the input of a sample; OtherQuestionError if a sample of its id asks something else."""
        first = self.first.setdefault((task, sample), asked)
        if first.may_equal(asked):
            return
        here, there = _distinct_excerpts(asked.excerpt, first.excerpt)
        where = f"in {first.path} ({first.model}, sample {sample})"
        problem = f"{asked.model} has another input here ({here!r}) than {where} ({there!r})"
        if asked.excerpt == first.excerpt:
            problem += f"; they differ after the first {EXCERPT} characters, or in media"
        raise OtherQuestionError(problem, remedy=REMEDY, source=str(asked.path), row=f"sample {sample}")


def read_input(given: Input, attachments: Mapping[str, str], path: Path, model: str) -> AskedInput:
    """Return what is compared of a sample's input: the text, or the messages of the user.

    The system prompt may be what a comparison varies. Turns of the model, of tools, and what stands before them differ
    by nature: with such turns, only the last message of the user is compared.
    """
    if isinstance(given, str):
        return AskedInput((_hash_of(given),), given[:EXCERPT], path, model)
    asked = [message for message in given if message["role"] == "user"]
    if any(message["role"] in ("assistant", "tool") for message in given):
        asked = asked[-1:]
    texts = [text for message in asked for text in _parts_of(message["content"], attachments)]
    parts = tuple(None if text is None else _hash_of(text) for text in texts)
    words = " ".join(text for text in texts if text is not None)
    return AskedInput(parts, words[:EXCERPT], path, model)


def _hash_of(text: str) -> int:
    """Return a hash of a text without outer blanks, and with normal line ends."""
    return hash(text.replace("\r\n", "\n").strip())


def _parts_of(content: str | Sequence[Mapping[str, Any]], attachments: Mapping[str, str]) -> Iterator[str | None]:
    """Yield the text of a message, if it has one, then its media; None for what the log does not hold."""
    contents = [{"type": "text", "text": content}] if isinstance(content, str) else content
    texts = [_resolve_text(part.get("text"), attachments) for part in contents if part["type"] == "text"]
    if texts:
        known = [text for text in texts if text is not None]
        yield "\n".join(known) if len(known) == len(texts) else None
    for part in contents:
        if part["type"] != "text":
            value = _resolve_text(part.get(part["type"]), attachments)
            # Paths and addresses of one image differ between machines.
            yield value if value is not None and value.startswith("data:") else None


def _resolve_text(value: Any, attachments: Mapping[str, str]) -> str | None:
    """Return a text, or the attachment that it refers to; None if the log does not hold it."""
    if isinstance(value, str) and value.startswith(ATTACHMENT):
        return attachments.get(value.removeprefix(ATTACHMENT))
    return value if isinstance(value, str) else None


def _distinct_excerpts(here: str, there: str) -> tuple[str, str]:
    """Return two texts, shortened to the place where they first differ."""
    pairs = zip(here, there, strict=False)
    alike = next((k for k, (own, other) in enumerate(pairs) if own != other), min(len(here), len(there)))
    start = max(alike - SHOWN // 2, 0)
    before = "... " if start else ""
    own, other = (f"{before}{shorten(text[start:], SHOWN)}" for text in (here, there))
    return own, other
