"""Collect what the samples of logs asked: hashes of their inputs, and the beginnings of these."""

from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from podium.comparability.added_texts import QUESTION
from podium.comparability.asked_items import (
    EXCERPT,
    InputParts,
    ItemRecord,
    inputs_may_equal,
    normal_words,
)
from podium.comparability.input_conflicts import Conflict, problem_of
from podium.errors import OtherQuestionError
from podium.hosts.inspect_ai.logs.message_texts import resolve_text, text_of_input
from podium.run_record import RunRecord
from podium.text import text_of

REMEDY = "give each sample of the dataset an id of its own, and run the eval again"
"""Remedy of the error about epochs of a sample that have different inputs."""
Targets = tuple[int | None, int | None]
"""Hashes of a sample's target: of the whole, and of the target without the question (its rubric).

None if the target is empty or not known. They are `ItemRecord.target` and `ItemRecord.rubric`.
"""
Input = str | Sequence[Mapping[str, Any]]
"""A sample's input as a log holds it: a text, or messages."""
SampleKey = tuple[str, int, int, int]
"""The id of a sample, and hashes of its input, choices and target, for this process."""


class AskedInputs:
    """The inputs of the samples of several logs.

    Logs of one dataset have the same inputs. Equal records are stored once, so that each further
    log takes little memory.

    Attributes:
        by_log: the items of each log that was read to its end, by path of the log, in the order of
            its samples.
    """

    def __init__(self) -> None:
        self.by_log: dict[Path, Sequence[ItemRecord]] = {}
        self._known: dict[tuple[str, InputParts, Targets], ItemRecord] = {}
        self._known_by_texts: dict[SampleKey, ItemRecord] = {}
        self._excerpts: dict[InputParts, str] = {}

    def record_of(self, item: str, parts: InputParts, excerpt: str, targets: Targets) -> ItemRecord:
        """Return the record of an item. Items with equal id, input and targets share one record.

        Args:
            item: id of the item.
            parts: what is compared of its input.
            excerpt: the beginning of its input.
            targets: hashes of its target.
        """
        key = (item, parts, targets)
        record = self._known.get(key)
        if record is None:
            excerpt = self._excerpts.setdefault(parts, excerpt) if parts else excerpt
            target, rubric = targets
            record = ItemRecord(item, parts, excerpt, target=target, rubric=rubric)
            self._known[key] = record
        return record

    def read_record(
        self,
        sample: str,
        sample_input: Input,
        attachments: Mapping[str, str],
        choices: Sequence[str],
        target: Any,
    ) -> ItemRecord:
        """Return the record of a sample. The texts of a sample of several logs are read once.

        Args:
            sample: id of the sample.
            sample_input: its input; empty if the log does not hold it.
            attachments: long texts that input, choices or target may refer to, by their names.
            choices: the choices of a question of multiple choice; empty for other questions.
            target: the target, or several in any order.
        """
        key = None if attachments else _key_of_texts(sample, sample_input, choices, target)
        record = None if key is None else self._known_by_texts.get(key)
        if record is None:
            parts, excerpt = read_input(sample_input, attachments, choices)
            words = words_of_target(target, choices, attachments)
            question = text_of_input(sample_input, attachments) or ""
            record = self.record_of(sample, parts, excerpt, _hashes_of_target(words, question))
            if key is not None:
                self._known_by_texts[key] = record
        return record

    def keep(self, log: Path, items: Sequence[ItemRecord]) -> None:
        """Keep the items of a log. If the log before it has the same ones, both share the list."""
        last = next(reversed(self.by_log.values()), None)
        self.by_log[log] = last if last == items else items


class LogInputs:
    """The inputs of the samples of one log, by id.

    Args:
        log: the run of the log, which error messages name.
        asked_inputs: the inputs of all logs, to which `finish` adds those of this log.

    Attributes:
        items: the items of the log, by id; of several epochs, the first.
    """

    def __init__(self, log: RunRecord, asked_inputs: AskedInputs) -> None:
        self.log = log
        self.asked = asked_inputs
        self.items: dict[str, ItemRecord] = {}

    def add(
        self,
        sample: str,
        sample_input: Input,
        attachments: Mapping[str, str],
        choices: Sequence[str] = (),
        target: Any = (),
    ) -> None:
        """Add the input of a sample, with its choices if it has some, and its target.

        Raises:
            OtherQuestionError: another epoch of the sample has another input.
        """
        record = self.asked.read_record(sample, sample_input, attachments, choices, target)
        first = self.items.setdefault(sample, record)
        if first is not record and not inputs_may_equal(first.input, record.input):
            problem = problem_of(Conflict(first=self.log, other=self.log, here=record, there=first))
            raise OtherQuestionError(
                problem, remedy=REMEDY, source=self.log.source, row=f"sample {sample}"
            )

    def finish(self) -> None:
        """Add the items of this log to the inputs of all logs."""
        self.asked.keep(Path(self.log.source), [*self.items.values()])


def _key_of_texts(
    sample: str, sample_input: Input, choices: Sequence[str], target: Any
) -> SampleKey | None:
    """Return the key of a sample; None if its input is messages, or its target has no texts.

    Hashes are kept instead of the texts, which may be long.
    """
    if not isinstance(sample_input, str):
        return None
    if isinstance(target, str):
        return sample, hash(sample_input), hash(tuple(choices)), hash(target)
    has_texts = isinstance(target, list | tuple) and all(isinstance(part, str) for part in target)
    if not has_texts:
        return None
    return sample, hash(sample_input), hash(tuple(choices)), hash(tuple(target))


def read_input(
    sample_input: Input, attachments: Mapping[str, str], choices: Sequence[str] = ()
) -> tuple[InputParts, str]:
    """Return what is compared of a sample's input, and its first `EXCERPT` characters.

    What is compared is a tuple of hashes (`_hash_of`): one of a text; of messages, one for each
    text and medium of the user's (`_read_messages`); then one of the choices, if there are any. A
    hash is None if the log does not hold its text. An empty input gives `((), "")`.

    Choices belong to the input, in any order: the same choices in another order are the same
    question.

    Args:
        sample_input: the input; empty if the log does not hold it.
        attachments: long texts that the input or the choices may refer to, by their names.
        choices: the choices of a question of multiple choice; empty for other questions.
    """
    if not sample_input:
        return (), ""
    if isinstance(sample_input, str):
        text = resolve_text(sample_input, attachments)
        parts: InputParts = (None if text is None else _hash_of(text),)
        excerpt = text or ""
    else:
        parts, excerpt = _read_messages(sample_input, attachments)
    if choices:
        texts = [resolve_text(choice, attachments) for choice in choices]
        parts += (_hash_of_choices(texts),)
        prompt_texts = " / ".join(text for text in texts if text is not None)
        excerpt = f"{excerpt} ({prompt_texts})"
    return parts, excerpt[:EXCERPT]


def texts_of_target(target: Any) -> list[str]:
    """Return the texts of a sample's target, which is one value or a list of several.

    A number, which logs of other writers may hold, is written as text, and None as an empty text.
    """
    targets = target if isinstance(target, list | tuple) else [target]
    return [text_of(part) or "" for part in targets]


def words_of_target(
    target: Any, choices: Sequence[str], attachments: Mapping[str, str]
) -> Set[str] | None:
    """Return the texts of a target in normal form (`normal_words`), each once.

    None if the log does not hold one of them.

    The letter of a choice stands for the text of the choice, whose place may differ between runs.

    Args:
        target: the target, or several in any order.
        choices: the choices of a question of multiple choice; empty for other questions.
        attachments: long texts that the target or the choices may refer to, by their names.
    """
    texts = set()
    for given in texts_of_target(target):
        meant = given
        if len(given) == 1:
            # A single letter may stand for a choice: A for the first.
            place = ord(given) - ord("A")
            if 0 <= place < len(choices):
                meant = choices[place]
        text = resolve_text(meant, attachments)
        if text is None:
            return None
        texts.add(normal_words(text))
    return texts


def _hashes_of_target(texts: Set[str] | None, question: str) -> Targets:
    """Return the hash of a target, and of the target with `QUESTION` in place of the question.

    Both are None if the target is empty or not known. They are equal if it does not hold the
    question.

    Args:
        texts: the texts of the target in normal form; None if they are not known.
        question: the text of the input; empty if unknown.
    """
    if texts is None or not any(texts):
        return None, None
    target = hash(frozenset(texts))
    longest = max(len(text) for text in texts)
    # A question that is longer than each text is in none of them.
    if not question or len(question) > longest:
        return target, target
    words = normal_words(question)
    return target, hash(frozenset(text.replace(words, QUESTION) for text in texts))


def _hash_of_choices(texts: Sequence[str | None]) -> int | None:
    """Return a hash of choices that ignores their order; None if the text of one is None."""
    hashes = [_hash_of(text) for text in texts if text is not None]
    return hash(tuple(sorted(hashes))) if len(hashes) == len(texts) else None


def _read_messages(
    messages: Sequence[Mapping[str, Any]], attachments: Mapping[str, str]
) -> tuple[InputParts, str]:
    """Return hashes of what is compared of messages, and the beginning of their texts.

    There is a hash for each text and medium (`_parts_of`), None if the log does not hold it. The
    beginning has at most `EXCERPT` characters.

    Only the user's messages are compared, because models may be given different system prompts. If
    there are messages of the model or of tools, only the last message of the user is compared,
    because the conversation before it differs between models.
    """
    user_messages = [message for message in messages if message["role"] == "user"]
    if any(message["role"] in ("assistant", "tool") for message in messages):
        user_messages = user_messages[-1:]
    texts = [
        text for message in user_messages for text in _parts_of(message["content"], attachments)
    ]
    parts = tuple(None if text is None else _hash_of(text) for text in texts)
    words = " ".join(text for text in texts if text is not None)
    return parts, words[:EXCERPT]


def _hash_of(text: str) -> int:
    """Return a hash of the words of a text, for this process (see `normal_words`)."""
    return hash(normal_words(text))


def _parts_of(
    content: str | Sequence[Mapping[str, Any]], attachments: Mapping[str, str]
) -> Iterator[str | None]:
    """Yield the text of a message, then each of its media.

    Several texts are joined by line ends; a message without a text yields none. A medium is its
    `data:` address. None stands for a text or a medium that the log does not hold.

    Args:
        content: the content of the message: a text, or a list of parts.
        attachments: long texts that the content may refer to, by their names.
    """
    contents = [{"type": "text", "text": content}] if isinstance(content, str) else content
    texts = [
        resolve_text(part.get("text"), attachments) for part in contents if part["type"] == "text"
    ]
    if texts:
        known_texts = [text for text in texts if text is not None]
        yield "\n".join(known_texts) if len(known_texts) == len(texts) else None
    for part in contents:
        if part["type"] != "text":
            value = resolve_text(part.get(part["type"]), attachments)
            # Paths and addresses are not compared: they differ between machines for one image.
            yield value if value is not None and value.startswith("data:") else None
