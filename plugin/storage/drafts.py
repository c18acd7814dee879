"""Files are written whole: a draft beside the file takes its place when it is finished, and not before.

Whoever is killed while writing leaves the old file as it was, and a hidden draft that no search of a folder reads; the
next writer of that file removes it.
"""

import errno
import hashlib
import os
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from podium.storage.remote import Place, RemoteFile

DRAFT = ".podium-{file}-{writer}.draft"
"""Name of a draft: of equal length whatever the file is called, and of no suffix that holds data."""
LEFT_OVER = 60.0
"""Seconds after which a draft that nobody holds is one that its writer left."""
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
STREAMS = ("/dev/fd/", "/dev/std", "/proc/")
"""What is no file although it may lead to one: `-o /dev/stdout`."""


@contextmanager
def written_whole(place: Place) -> Iterator[Path]:
    """Give a draft, empty, to be written by its path; at the end it takes the file's place, in one step.

    Where anything is raised meanwhile, the file stays as it was, or absent. Mode and owner of an old file are kept, a
    symbolic link leads to the new one, a pipe or device gets the bytes. An object in a store is put when its draft,
    a local file, is whole.

    Raises:
        OSError: it cannot be written; the message says what became of the old file.
    """
    if isinstance(place, RemoteFile):
        with tempfile.TemporaryDirectory(prefix="podium-") as folder:
            draft = Path(folder, place.name)
            yield draft
            place.put(draft)
        return
    target = Path(os.path.realpath(place))
    if _is_stream(place, target):
        with tempfile.TemporaryDirectory(prefix="podium-") as folder:
            draft = Path(folder, target.name)
            yield draft
            # Appended, since `-o /dev/stdout >> file` must not cut off what stands there.
            with draft.open("rb") as source, place.open("ab") as sink:
                shutil.copyfileobj(source, sink)
        return
    with _draft_beside(target, place) as draft:
        yield draft


def write_text(place: Place, text: str, errors: str = "strict") -> None:
    """Write a text as UTF-8, whole.

    Raises:
        OSError: it cannot be written.
    """
    with written_whole(place) as draft:
        draft.write_text(text, encoding="utf-8", errors=errors)


@contextmanager
def folder_written_whole(place: Path) -> Iterator[Path]:
    """Give a draft of a folder that does not exist yet; at the end it gets its name, in one step.

    Raises:
        OSError: it cannot be written.
    """
    draft = place.with_name(_draft_name(place, secrets.token_hex(4)))
    draft.mkdir(parents=True)
    try:
        yield draft
        for path in draft.rglob("*"):
            if path.is_file():
                _flush_to_disk(path)
        draft.rename(place)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise


def is_draft(name: str) -> bool:
    """Whether a file is a draft, by its name: what it holds may be half of something.

    >>> is_draft(".podium-0beec7b5-5e1f00d5.draft"), is_draft("podium.csv")
    (True, False)
    """
    start, _, end = DRAFT.partition("{file}-{writer}")
    return name.startswith(start) and name.endswith(end)


@contextmanager
def _draft_beside(target: Path, place: Path) -> Iterator[Path]:
    old = _status(target)
    draft: Path | None = None
    try:
        if old is not None and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))
        draft = target.with_name(_draft_name(target, secrets.token_hex(4)))
        holder = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        try:
            _try_to_lock(holder)
            _remove_left_over(target)
            yield draft
            _flush_to_disk(draft)
            if old is not None:
                new = draft.stat()
                if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
                    with suppress(OSError):
                        os.chown(draft, old.st_uid, old.st_gid)
                draft.chmod(stat.S_IMODE(old.st_mode))
            os.replace(draft, target)
        finally:
            os.close(holder)
    except BaseException as error:
        if draft is not None:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
        if isinstance(error, OSError) and (error.errno in NO_ROOM or error.filename in (str(target), str(draft))):
            raise _not_written(place, error, old is not None) from None
        raise
    # The name is not on the disk before its folder is.
    with suppress(OSError):
        _flush_to_disk(target.parent, os.O_RDONLY)


def _not_written(place: Path, error: OSError, had_file: bool) -> OSError:
    """Return the error with what became of the file; of the same class, by its number."""
    number = error.errno or errno.EIO
    remedy = "make room there, or name another place" if number in NO_ROOM else "name another place"
    fate = "the old file is as it was" if had_file else "nothing was written"
    return OSError(number, f"cannot be written: {os.strerror(number)}; {fate}. Remedy: {remedy}", str(place))


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _is_stream(place: Path, target: Path) -> bool:
    status = _status(target)
    is_device = status is not None and not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode)
    return is_device or str(place.absolute()).startswith(STREAMS)


def _draft_name(target: Path, writer: str) -> str:
    return DRAFT.format(file=hashlib.sha256(os.fsencode(target.name)).hexdigest()[:8], writer=writer)


def _remove_left_over(target: Path) -> None:
    """Remove the drafts that killed writers of this file left: old ones that nobody holds."""
    for draft in target.parent.glob(_draft_name(target, "*")):
        with suppress(OSError):
            if time.time() - draft.stat().st_mtime <= LEFT_OVER:
                continue
            holder = os.open(draft, os.O_RDWR)
            try:
                if _try_to_lock(holder):
                    draft.unlink()
            finally:
                os.close(holder)


def _try_to_lock(holder: int) -> bool:
    """Lock a draft for as long as its writer lives; False where another does, or where nothing can be locked."""
    try:
        import fcntl

        fcntl.flock(holder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


def _flush_to_disk(path: Path, flags: int = os.O_RDWR) -> None:
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
