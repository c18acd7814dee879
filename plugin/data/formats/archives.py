"""Open zip files, such as Inspect's `.eval` logs, and check their unpacked size.

A small malicious file could otherwise fill the memory or the disk.
"""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path

from podium.data.formats import containers
from podium.errors import DataError, reject_stream

MOST_MEMBERS = 100_000
"""Largest number of members of the archives that are kept open; each takes about 600 bytes."""
REMEDY = "unpack it yourself if you trust it, or leave it out"
"""What to do about an archive that unpacks to too many bytes."""


class _KeptArchives:
    """Open archives.

    Attributes:
        archives: the archives by path, size and time of change.
        members: number of members of all of them.
    """

    def __init__(self) -> None:
        self.archives: dict[tuple[Path, int, int], zipfile.ZipFile] = {}
        self.members = 0


_KEPT: ContextVar[_KeptArchives | None] = ContextVar("_KEPT", default=None)
"""The archives of the innermost `archives_kept_open`; None outside of its body."""


@contextmanager
def archives_kept_open() -> Iterator[None]:
    """Keep archives open that are opened in the body, so that their directory is read once.

    To read the directory takes longer than to read most members. Archives with which the open ones
    would have more than `MOST_MEMBERS` members are opened anew each time. All are closed when the
    body ends.
    """
    open_archives = _KeptArchives()
    before = _KEPT.set(open_archives)
    try:
        yield
    finally:
        _KEPT.reset(before)
        for archive in open_archives.archives.values():
            archive.close()


@contextmanager
def opened_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open an archive for the body. Within `archives_kept_open`, it stays open afterwards.

    Raises:
        BadZipFile: the file is not a zip file.
    """
    open_archives = _KEPT.get()
    status = path.stat()
    key = (path, status.st_size, status.st_mtime_ns)
    if open_archives is not None and key in open_archives.archives:
        yield open_archives.archives[key]
        return
    archive = zipfile.ZipFile(path)
    number = len(archive.filelist)
    if open_archives is not None and open_archives.members + number <= MOST_MEMBERS:
        open_archives.archives[key] = archive
        open_archives.members += number
        yield archive
        return
    with archive:
        yield archive


def check_archive(path: Path) -> None:
    """Check an archive before it is unpacked.

    Raises:
        UsageError: the path is a pipe, a socket or a device.
        DataError: a member, or the whole archive, unpacks to more bytes than are allowed
            (`_most_bytes`).
        BadZipFile: the file is not a zip file.
    """
    reject_stream(path)
    status = path.stat()
    _check_sizes(path, status.st_size, status.st_mtime_ns)


@lru_cache(1024)
def _check_sizes(path: Path, size: int, change_time: int) -> None:
    """Raise DataError if a member, or the whole archive, unpacks to more bytes than are allowed.

    The cache calls this function once per path, size and time of change, so that a file is checked
    again if it changes.
    """
    del change_time  # only a key of the cache
    with opened_archive(path) as archive:
        members = archive.infolist()
    for member in members:
        if member.file_size > _most_bytes(member.compress_size):
            raise _swelling_error(f"its member {member.filename!r}", path)
    if sum(member.file_size for member in members) > _most_bytes(size):
        raise _swelling_error("it", path)


def _most_bytes(packed: int) -> int:
    """Return the largest allowed number of unpacked bytes for a number of packed bytes.

    It is `UNPACKED_SIZE`, or `UNPACKED_RATIO` times the packed bytes if that is more.
    """
    return max(containers.UNPACKED_SIZE, packed * containers.UNPACKED_RATIO)


def _swelling_error(subject: str, path: Path) -> DataError:
    """Return the error for an archive, or a member of it, that unpacks to too many bytes.

    Args:
        subject: the beginning of the message, such as `its member 'a.json'`.
        path: the archive.
    """
    problem = f"{subject} unpacks to more than {containers.UNPACKED_RATIO} times its size"
    return DataError(problem, remedy=REMEDY, source=str(path))
