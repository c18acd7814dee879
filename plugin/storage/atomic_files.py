"""Write files atomically: once complete, a hidden temporary file replaces the target beside it.

If the process is killed while it writes, the old file stays as it was. The temporary file is then
removed by the next process that writes the same target.
"""

import errno
import hashlib
import os
import secrets
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from podium.storage.remote import Place, RemoteFile
from podium.storage.temporary_folders import lock, open_descriptor, temporary_folder

PREFIX = ".podium-"
SUFFIX = ".tmp"
"""Beginning and end of the names of temporary files beside their targets."""
LEFT_OVER_AGE = 60.0
"""Smallest age in seconds of an unlocked temporary file that is removed.

Its writer counts as killed. A younger file may belong to a writer that has not locked it yet.
"""
NO_ROOM_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Numbers of the system's errors for a full disk, a quota and a file that is too large."""
STREAM_PREFIXES = ("/dev/fd/", "/dev/std", "/proc/")
"""Beginnings of paths that are appended to, not replaced, although they may lead to a file."""


@contextmanager
def atomic_file(place: Place) -> Iterator[Path]:
    """Yield the path of a temporary file that replaces a file when the block ends without error.

    If the block raises an error, the file stays as it was. The mode and the owner of the replaced
    file are kept, and links are followed. If the place is a pipe or a device, the content is
    appended to it. If it is remote, the content is uploaded.

    Raises:
        OSError: the file cannot be written, for example because the disk is full.
        UsageError: the place is remote, and nothing can be written there.
        DataError: the place is remote, and its store cannot be reached.
    """
    if not isinstance(place, RemoteFile):
        target = Path(os.path.realpath(place))
        status = _status(target)
        is_pipe_or_device = False
        if status is not None:
            is_file_or_folder = stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)
            is_pipe_or_device = not is_file_or_folder
        is_stream = str(place.absolute()).startswith(STREAM_PREFIXES)
        if not is_pipe_or_device and not is_stream:
            with _replacement(target, place) as temporary:
                yield temporary
            return
    with temporary_folder() as folder:
        temporary = folder / place.name
        yield temporary
        if isinstance(place, RemoteFile):
            place.upload(temporary)
            return
        # Appended, because `-o /dev/stdout >> file` must keep what is in the file.
        with temporary.open("rb") as source, place.open("ab") as sink:
            shutil.copyfileobj(source, sink)


def write_text(place: Place, text: str, errors: str = "strict") -> None:
    """Write a text as UTF-8, atomically.

    Args:
        place: the file.
        text: the text.
        errors: what is done with characters that cannot be encoded, as in `open`.

    Raises:
        OSError: the file cannot be written.
        UsageError: the place is remote, and nothing can be written there.
        DataError: the place is remote, and its store cannot be reached.
    """
    with atomic_file(place) as temporary:
        temporary.write_text(text, encoding="utf-8", errors=errors)


@contextmanager
def atomic_folder(place: Path) -> Iterator[Path]:
    """Yield a temporary folder that is renamed to `place` when the block ends.

    There must be nothing at the place, but folders above it are made. If the block raises an
    error, the temporary folder is removed.

    Raises:
        OSError: the folder cannot be made or renamed.
    """
    temporary = _temporary_path(place)
    temporary.mkdir(parents=True)
    try:
        yield temporary
        for path in temporary.rglob("*"):
            if path.is_file():
                _flush_to_disk(path)
        temporary.rename(place)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def is_temporary(name: str) -> bool:
    """Return whether a file name is that of a temporary file, which may be incomplete."""
    return name.startswith(PREFIX) and name.endswith(SUFFIX)


@contextmanager
def _replacement(target: Path, place: Path) -> Iterator[Path]:
    """Yield a locked temporary file beside a target.

    The file replaces the target at the end. If there is an error, the file is removed.

    Args:
        target: path of the file, with links followed.
        place: path of the file as the user gave it, for error messages.

    Raises:
        OSError: the target cannot be written. If the disk is full, or the error is about one of
            the two files, the message names the place and says that no file was changed.
    """
    old = _status(target)
    temporary = _temporary_path(target)
    try:
        if old is not None and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))
        with open_descriptor(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL) as descriptor:
            lock(descriptor)
            _remove_left_over(target)
            yield temporary
            _flush_to_disk(temporary)
            if old is not None:
                with suppress(OSError):
                    os.chown(temporary, old.st_uid, old.st_gid)
                temporary.chmod(stat.S_IMODE(old.st_mode))
            os.replace(temporary, target)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        if not isinstance(error, OSError):
            raise
        is_about_files = error.filename in (str(target), str(temporary))
        if error.errno in NO_ROOM_ERRORS or is_about_files:
            number = error.errno or errno.EIO
            remedy = "make room there, or name another place"
            problem = (
                f"cannot be written: {os.strerror(number)}; no file was changed. Remedy: {remedy}"
            )
            raise OSError(number, problem, str(place)) from None
        raise
    # The new name of the file is on the disk only after the folder is flushed, too.
    with suppress(OSError):
        _flush_to_disk(target.parent, os.O_RDONLY)


def _status(path: Path) -> os.stat_result | None:
    """Return the system's status of a file, such as mode and owner; None if there is no file.

    Raises:
        OSError: the status cannot be read for another reason than a missing file.
    """
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _temporary_path(target: Path, writer: str | None = None) -> Path:
    """Return the path of a temporary file beside a target.

    Args:
        target: the target; a hash of its name is part of the path.
        writer: the part of the name that tells writers apart; random by default. With `*`, the
            result is a glob of the temporary files of all writers of the target.
    """
    name = hashlib.sha256(os.fsencode(target.name)).hexdigest()[:8]
    return target.with_name(f"{PREFIX}{name}-{writer or secrets.token_hex(4)}{SUFFIX}")


def _remove_left_over(target: Path) -> None:
    """Remove the temporary files of a target whose writers were killed.

    These files are older than `LEFT_OVER_AGE` seconds and not locked. Files that cannot be removed
    are skipped.
    """
    names_of_all_writers = _temporary_path(target, writer="*").name
    for temporary in target.parent.glob(names_of_all_writers):
        with suppress(OSError):
            if time.time() - temporary.stat().st_mtime > LEFT_OVER_AGE:
                with open_descriptor(temporary, os.O_RDWR) as descriptor:
                    if lock(descriptor):
                        temporary.unlink()


def _flush_to_disk(path: Path, flags: int = os.O_RDWR) -> None:
    """Write the buffers of a file or folder to the disk.

    `flags` are the flags of `os.open` with which it is opened.

    Raises:
        OSError: the file cannot be opened or flushed.
    """
    with open_descriptor(path, flags) as descriptor:
        os.fsync(descriptor)
