"""The items of runs: what each model was asked, in the form in which inputs are compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple, TypeAlias
from unicodedata import normalize

from podium.run_record import RunRecord

InputParts: TypeAlias = tuple[int | None, ...]
"""Hashes of an input's texts and media.

An element is None if the file does not hold the content. The tuple is empty if nothing is known.
"""
EXCERPT = 400
"""Number of characters of each input that are kept for messages."""


class ItemRecord(NamedTuple):
    """An item of a run, as the file describes it.

    A named tuple, because a log may have hundreds of thousands of them.

    Attributes:
        id: id of the item in the file.
        input: hashes of what the model was asked; empty if unknown.
        excerpt: the first `EXCERPT` characters of the input, for messages.
        row: the row in the file, for messages; empty if the id is that of a sample.
        target: hash of what responses are scored against; None if unknown.
        rubric: hash of the target in which the whole input is left out: rubrics that quote the
            input are equal for all prompts. None if unknown.
    """

    id: str
    input: InputParts = ()
    excerpt: str = ""
    row: str = ""
    target: int | None = None
    rubric: int | None = None

    @property
    def place(self) -> str:
        """Where the item stands in the file, for messages: `row`, or `sample ID` without a row."""
        return self.row or f"sample {self.id}"


@dataclass(frozen=True, slots=True)
class AskedRun:
    """A run with its items.

    Attributes:
        run: the settings of the run.
        items: its items; each id occurs once.
    """

    run: RunRecord
    items: Sequence[ItemRecord]


def hash_of_text(text: str) -> int:
    """Return a hash of the words of a text, for `InputParts`, that is the same in every process.

    Texts with the same `normal_words` have the same hash.
    """
    words = normal_words(text).encode("utf-8", "surrogatepass")
    return int.from_bytes(sha256(words).digest()[:8], "big")


def normal_words(text: str) -> str:
    """Return a text in the form in which inputs are compared.

    It is in Unicode form NFC. White space between words is one blank, and there is none at the
    ends. `podium.data.formats.records.words_of_column` does the same in tables.
    """
    return " ".join(normalize("NFC", text).split())


def inputs_may_equal(first: InputParts, second: InputParts) -> bool:
    """Return whether two inputs are equal in all parts that are known of both.

    An unknown input, which has no parts, may equal any. Otherwise, inputs with different numbers of
    parts differ.
    """
    is_unknown = not first or not second
    if is_unknown or first == second:
        return True
    if len(first) != len(second):
        return False
    pairs = zip(first, second, strict=True)
    return all(part == other or part is None or other is None for part, other in pairs)


def is_known_input(parts: InputParts) -> bool:
    """Return whether all parts of an input are known; False for an input without parts."""
    return bool(parts) and None not in parts
