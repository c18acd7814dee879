"""Write files atomically: a hidden temporary file beside the target replaces it once complete.

A killed writer leaves the old file as it was, and a temporary file that the next writer removes.
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
LEFT_OVER = 60.0
"""Age in seconds from which an unlocked temporary file counts as one of a killed writer."""
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
STREAMS = ("/dev/fd/", "/dev/std", "/proc/")
"""Places that are streams although they may lead to a file: `-o /dev/stdout`."""


@contextmanager
def atomic_file(place: Place) -> Iterator[Path]:
    """Yield a temporary file, which replaces the file at a place if the block raises no error.

    Mode and owner of the file are kept, and links are followed. Pipes and devices are appended to.
    A remote object is uploaded.
    """
    if not isinstance(place, RemoteFile):
        status = _status(Path(os.path.realpath(place)))
        is_device = False
        if status is not None:
            is_device = not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode))
        if not is_device and not str(place.absolute()).startswith(STREAMS):
            with _replacement(Path(os.path.realpath(place)), place) as temporary:
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
    """Write a text as UTF-8, atomically."""
    with atomic_file(place) as temporary:
        temporary.write_text(text, encoding="utf-8", errors=errors)


@contextmanager
def atomic_folder(place: Path) -> Iterator[Path]:
    """Yield a temporary folder, which is renamed to a new place when the block ends."""
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

    It replaces the target at the end, or is removed on an error.
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
        if isinstance(error, OSError) and (
            error.errno in NO_ROOM or error.filename in (str(target), str(temporary))
        ):
            number = error.errno or errno.EIO
            remedy = "make room there, or name another place"
            problem = (
                f"cannot be written: {os.strerror(number)}; no file was changed. Remedy: {remedy}"
            )
            raise OSError(number, problem, str(place)) from None
        raise
    # The new name is on the disk only when its folder is.
    with suppress(OSError):
        _flush_to_disk(target.parent, os.O_RDONLY)


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _temporary_path(target: Path, writer: str | None = None) -> Path:
    """Return an unused path beside a target; for the writer `*` a glob of its temporary files."""
    name = hashlib.sha256(os.fsencode(target.name)).hexdigest()[:8]
    return target.with_name(f"{PREFIX}{name}-{writer or secrets.token_hex(4)}{SUFFIX}")


def _remove_left_over(target: Path) -> None:
    """Remove temporary files of killed writers of this target: old ones that are not locked."""
    for temporary in target.parent.glob(_temporary_path(target, "*").name):
        with suppress(OSError):
            if time.time() - temporary.stat().st_mtime > LEFT_OVER:
                with open_descriptor(temporary, os.O_RDWR) as descriptor:
                    if lock(descriptor):
                        temporary.unlink()


def _flush_to_disk(path: Path, flags: int = os.O_RDWR) -> None:
    with open_descriptor(path, flags) as descriptor:
        os.fsync(descriptor)
