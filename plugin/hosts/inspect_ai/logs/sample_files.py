"""Read the file of a sample in an `.eval` archive, with little memory if it is large."""

import json
import re
import zipfile
from collections.abc import Collection
from functools import cached_property
from typing import IO, Any

import ijson
from pydantic_core import from_json

LARGEST_WHOLE = 2**25
"""Largest number of unpacked bytes of a sample that is parsed as a whole.

JSON of many small values takes up to thirty times its size in memory.
"""
PIECE = 2**20
"""Number of bytes of a large sample that are searched at once."""
LONGEST_MATCH = 256
"""Number of last bytes of a piece that are searched again with the next piece.

A match that goes over the end of a piece is found if it is not longer.
"""


def parse_bytes(content: bytes) -> Any:
    """Parse JSON as `json.loads` does, in less time.

    Raises:
        JSONDecodeError: the JSON is damaged.
    """
    try:
        return from_json(content, cache_strings="keys")
    except ValueError:
        # Only `json` reads halves of surrogate pairs.
        return json.loads(content)


class SampleFile:
    """The file of a sample in an open archive.

    Args:
        archive: the archive, which must stay open while the sample is read.
        name: name of the file in the archive.

    Attributes:
        is_large: whether the sample is read piece by piece (`LARGEST_WHOLE`).
    """

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self.archive = archive
        self.name = name
        self.is_large = archive.getinfo(name).file_size > LARGEST_WHOLE

    @cached_property
    def _content(self) -> bytes:
        """The JSON of a sample that is not large."""
        return self.archive.read(self.name)

    @cached_property
    def _all_fields(self) -> dict[str, Any]:
        """All fields of a sample that is not large."""
        return dict(parse_bytes(self._content))

    def fields(self, names: Collection[str]) -> dict[str, Any]:
        """Return the fields of these names that the sample has.

        If the sample is not large, all its fields are returned; the dictionary must not be changed.
        """
        if not self.is_large:
            return self._all_fields
        with self.archive.open(self.name) as stream:
            return read_fields(stream, names)

    def holds(self, pattern: re.Pattern[bytes]) -> bool:
        """Return whether the JSON has a match of a pattern of at most `LONGEST_MATCH` bytes."""
        if not self.is_large:
            return pattern.search(self._content) is not None
        before = b""
        with self.archive.open(self.name) as stream:
            while piece := stream.read(PIECE):
                before += piece
                if pattern.search(before):
                    return True
                before = before[-LONGEST_MATCH:]
        return False


def read_fields(stream: IO[bytes], names: Collection[str]) -> dict[str, Any]:
    """Return the fields of a JSON object that are in `names`, as far as it has them.

    The other fields are parsed, but not kept in memory.

    Raises:
        IncompleteJSONError, JSONError: the JSON is damaged.
    """
    fields: dict[str, Any] = {}
    name = ""
    builder: ijson.ObjectBuilder | None = None
    depth = 0
    for event, value in ijson.basic_parse(stream, use_float=True):
        if event in ("end_map", "end_array"):
            depth -= 1
        if depth == 1 and event == "map_key":
            name = value
            builder = ijson.ObjectBuilder() if name in names else None
        elif depth and builder is not None:
            builder.event(event, value)
            if depth == 1 and not event.startswith("start"):
                fields[name] = builder.value
                builder = None
        if event in ("start_map", "start_array"):
            depth += 1
    return fields
