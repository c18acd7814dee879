"""Make names safe to show: no control characters in terminals, no formulas in spreadsheets."""

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

FORMULA = re.compile(
    r"[\t\r]|\s*(?:[=@＝＠]|[+＋－-](?!(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\Z))"
)
"""Matches the start of a cell that a spreadsheet would execute as a formula.

Such a cell begins with a tab or a carriage return, or, after spaces, with `=`, `@`, `+` or `-`
(also in full width). A cell that is a signed number as a whole (`-1.5e3`) does not match.
"""


def printable(text: str) -> str:
    """Escape line breaks, control characters and others that cannot be printed, as Python does."""
    # The `repr` of a sign is its escape in quotes.
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)


LONG_WORD = re.compile(r"\S{300,}")
"""Matches 300 or more characters without a space. `readable` leaves out their middle."""


def _both_ends(word: re.Match[str]) -> str:
    """Return the first 60 and the last 15 characters of a long word, with `...` between."""
    return f"{word[0][:60]}...{word[0][-15:]}"


def readable(text: str, most: int = 4000) -> str:
    """Escape control characters, and leave out the middle of long words and texts.

    A word is long from 300 characters on, a text beyond `most` characters. Of a long text, the
    first half of `most` characters and the last quarter are kept.
    """
    text = printable(LONG_WORD.sub(_both_ends, text))
    if len(text) <= most:
        return text
    beginning = text[: most // 2]
    end = text[-(most // 4) :]
    return f"{beginning} ... {end}"


readable_cell = partial(readable, most=400)
"""`readable` for a cell of a table, of which at most about 400 characters are shown."""


# It is no context variable: hosts build tasks in contexts and threads of their own.
_NAMES_OF_PLACES: list[Callable[[str], str]] = []
"""Functions that name temporary folders in messages as the user knows them."""


@contextmanager
def naming_places(change: Callable[[str], str]) -> Iterator[None]:
    """Apply a function to all messages of `tell` in the block.

    Hosts use it to replace the paths of temporary folders by those that the user knows.
    """
    _NAMES_OF_PLACES.append(change)
    try:
        yield
    finally:
        _NAMES_OF_PLACES.remove(change)


def tell(message: str, who: str = "podium") -> None:
    """Write a message to stderr, as one readable line without URL credentials.

    Args:
        message: the message; the functions of `naming_places` are applied to it.
        who: the name that stands before the message.
    """
    # Imported here because lm-eval's help loads this file.
    from podium.storage.remote import without_secrets

    for change in _NAMES_OF_PLACES:
        message = change(message)
    print(readable(f"{who}: {without_secrets(message)}"), file=sys.stderr)


def print_apart(text: str) -> None:
    """Print a text to stderr, with an empty line before it if stdout goes to the same place.

    No line break is added at its end. An empty text prints nothing.
    """
    sys.stdout.flush()
    if text and _are_streams_joined():
        text = f"\n{text}"
    print(text, end="", file=sys.stderr)


def _are_streams_joined() -> bool:
    """Return whether stdout and stderr go to the same file or terminal."""
    with suppress(OSError, ValueError, AttributeError):
        messages = os.fstat(sys.stderr.fileno())
        output = os.fstat(sys.stdout.fileno())
        return os.path.samestat(messages, output)
    return False


def begin_line() -> None:
    """Begin a new line on stderr where streams are joined.

    Another program may have left the last line of stdout unfinished.
    """
    sys.stdout.flush()
    if _are_streams_joined():
        print(file=sys.stderr)


def exit_code(end: SystemExit) -> int:
    """Return the exit code of a SystemExit.

    If it holds a text, the text is printed to stderr, and the code is 1. Without a value the code
    is 0. Python does the same when a process ends.
    """
    if isinstance(end.code, int | None):
        return end.code or 0
    print(end.code, file=sys.stderr)
    return 1


def escape_formula(text: str) -> str:
    """Return a text with an apostrophe in front if a spreadsheet would execute the text.

    `FORMULA` says which texts these are; others are returned unchanged.
    """
    return f"'{text}" if FORMULA.match(text) else text


def escape_cells(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return a copy of a frame with control characters and formulas in texts escaped.

    Names of columns are escaped, too; other values stay.
    """

    def harmless(cell: object) -> object:
        """Return a text escaped, and any other cell unchanged."""
        return printable(escape_formula(cell)) if isinstance(cell, str) else cell

    return frame.map(harmless).rename(columns=harmless)


def formula_columns(frame: "pd.DataFrame") -> list[str]:
    """Return the columns with a name or a text that a spreadsheet would execute, as texts."""
    from podium.text import as_categorical  # imported here because lm-eval's help loads this file

    without_numbers = frame.select_dtypes(exclude="number")
    columns = []
    for name in frame:
        texts = [str(name)]
        if name in without_numbers:
            texts += [*as_categorical(without_numbers[name]).categories]
        if any(map(FORMULA.match, texts)):
            columns.append(str(name))
    return columns


def shorten(words: str, most: int = 80) -> str:
    """Return a text on one line, without its middle if it is longer than `most` characters.

    Blanks and line breaks between words become one blank. `most` must not exceed 400, because only
    the first and last 400 characters are read.
    """
    start = " ".join(words[:400].split())
    if len(words) <= 400 and len(start) <= most:
        return start
    end = " ".join(words[-400:].split())
    # With ` ... `, these are `most` characters.
    return f"{start[: most - 20]} ... {end[-15:]}"
