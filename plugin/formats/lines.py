"""Lines of a text file, none of which is longer than a record can be."""

from collections.abc import Iterator
from itertools import count
from typing import BinaryIO

from podium.errors import DataError

LONGEST_LINE = 64 * 2**20
"""Bytes; a longer line is refused: it is not one record."""


def short_lines(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file.

    Raises:
        DataError: a line is longer than `LONGEST_LINE`.
    """
    for place in count(1):
        line = stream.readline(LONGEST_LINE + 1)
        if not line:
            return
        if len(line) > LONGEST_LINE:
            raise DataError(
                f"longer than {LONGEST_LINE >> 20} MiB",
                row=f"line {place}",
                remedy="write one record per line, without the bulk that podium does not need",
            )
        yield line


def not_utf_8(row: str) -> DataError:
    return DataError("not UTF-8 text", row=row, remedy="convert the file to UTF-8")
