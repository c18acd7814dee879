"""The encoding of text files that are not UTF-8."""

import codecs
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from podium.errors import DataError, UsageError
from podium.notices.option_forms import option_text

PIECE_SIZE = 2**20
"""Number of bytes that are read at once."""
WESTERN_ENCODINGS = ("latin-1", "cp1252")
"""Encodings that an error proposes: the first for texts without bytes from 0x80 to 0x9f."""
_chosen_encoding: ContextVar[str | None] = ContextVar("chosen_encoding", default=None)
"""The encoding of the innermost `texts_in`; None if the user named none."""


class NotUtf8Error(DataError):
    """A row is not UTF-8 text."""


@contextmanager
def texts_in(encoding: str | None) -> Iterator[None]:
    """Read text files that are not UTF-8 in an encoding, within a `with` block.

    With None, the encoding stays that of an outer block.

    Raises:
        UsageError: Python knows no such encoding of texts.
    """
    if encoding is None:
        yield
        return
    token = _chosen_encoding.set(check_encoding(encoding))
    try:
        yield
    finally:
        _chosen_encoding.reset(token)


def check_encoding(name: str) -> str:
    """Return the name of an encoding unchanged.

    Raises:
        UsageError: Python knows no such encoding of texts.
    """
    try:
        codecs.lookup(name)
        "".encode(name)
    except (LookupError, TypeError, ValueError):
        common_encodings = "latin-1, cp1252, cp1251, shift_jis, gb18030 or utf-16"
        raise UsageError(
            f"encoding={name!r}: Python knows no such encoding, as {common_encodings}"
        ) from None
    return name


def encoding_of_other_text(path: Path) -> str | None:
    """Return the encoding that the user named, for a file that is not UTF-8; else None.

    If the user named UTF-16 or UTF-32, every file counts as not UTF-8: texts of ASCII characters in
    these encodings are valid UTF-8, too.
    """
    encoding = _chosen_encoding.get()
    if encoding is None:
        return None
    is_utf_8 = not is_wide_text_expected() and _decodes(path, "utf-8")
    return None if is_utf_8 else encoding


def is_wide_text_expected() -> bool:
    """Return whether the user named an encoding in which most texts have zero bytes."""
    encoding = _chosen_encoding.get()
    return encoding is not None and codecs.lookup(encoding).name.startswith(("utf-16", "utf-32"))


def not_utf_8_error(row: str, path: Path) -> NotUtf8Error:
    """Return the error for a row that is not UTF-8 text.

    It proposes an encoding in which the whole file can be read, which need not be the right one:
    cp1252 if the file has bytes that are letters or signs in it only, and else latin-1.

    Args:
        row: the place of the row in the file.
        path: the file.
    """
    latin, windows = WESTERN_ENCODINGS
    fitting = latin
    if _has_windows_signs(path) and _decodes(path, windows):
        fitting = windows
    remedy = (
        "convert the file to UTF-8, or name its encoding, for example "
        f"{option_text('encoding', fitting)}, in which it can be read"
    )
    return NotUtf8Error("not UTF-8 text", row=row, remedy=remedy)


def _has_windows_signs(path: Path) -> bool:
    """Return whether a file has bytes from 0x80 to 0x9f, which are control characters in latin-1.

    In cp1252 most of them are signs, such as quotes.
    """
    with path.open("rb") as stream:
        while piece := stream.read(PIECE_SIZE):
            if any(0x80 <= byte <= 0x9F for byte in {*piece}):
                return True
    return False


def _decodes(path: Path, encoding: str) -> bool:
    """Return whether a whole file is text in an encoding. It is read piece by piece."""
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        with path.open("rb") as stream:
            while piece := stream.read(PIECE_SIZE):
                decoder.decode(piece)
            decoder.decode(b"", final=True)
    except UnicodeError:
        return False
    return True
