"""Temporary folders. Each process has one locked folder for all of its temporary folders.

The process removes the locked folder when it ends. If the process is killed, its lock is released
by the system, and the next process removes the folder because it is not locked.
"""

import atexit
import os
import re
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = "podium-"
SUFFIX = ".tmp"
"""Beginning and end of the names of locked folders."""
LOCKED_FOLDER_NAME = re.compile(rf"{PREFIX}[a-z0-9_]{{8}}{re.escape(SUFFIX)}")
"""Matches the name of a locked folder of any process, such as `podium-ab12cd34.tmp`."""
_FOLDERS: dict[int, Path] = {}
"""The locked folder by process id. A forked process inherits the entry of its parent and adds its
own entry."""
_CREATION = threading.Lock()
"""Held while the folder of this process is made, so that two threads do not make two."""


def lock(descriptor: int, *, wait: bool = False) -> bool:
    """Lock an open file or folder until it is closed.

    Args:
        descriptor: descriptor of the file or folder.
        wait: whether to wait until no other process holds the lock.

    Returns:
        Whether it is locked now. It is not if another process holds the lock, or if the system
        cannot lock files.
    """
    try:
        import fcntl

        operation = fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB
        fcntl.flock(descriptor, operation)
    except (ImportError, OSError):
        return False
    return True


@contextmanager
def open_descriptor(path: str | Path, flags: int) -> Iterator[int]:
    """Yield the descriptor of a file or folder, and close it.

    Args:
        path: the file or folder. A file that the flags create can be read and written by all, as
            far as the process's mask allows.
        flags: flags of `os.open`.

    Raises:
        OSError: the file or folder cannot be opened.
    """
    descriptor = os.open(path, flags, 0o666)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield a new temporary folder, which is removed when the block ends."""
    with tempfile.TemporaryDirectory(dir=process_folder(), ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def make_folder() -> Path:
    """Return a new temporary folder, which is removed when the process ends."""
    return Path(tempfile.mkdtemp(dir=process_folder()))


def process_folder() -> Path:
    """Return the folder that holds the temporary folders of this process.

    The first call makes it, and removes the folders of processes that were killed.
    """
    with _CREATION:
        if os.getpid() not in _FOLDERS:
            _remove_abandoned()
            _FOLDERS[os.getpid()] = _make_locked_folder()
        return _FOLDERS[os.getpid()]


def _make_locked_folder() -> Path:
    """Make a folder and lock it until the process ends. For this, its descriptor stays open."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, suffix=SUFFIX))
        # Until it is locked, another process may take it for an abandoned folder and remove it.
        # Then another folder is made. The removed one is recognized by its other inode.
        with suppress(FileNotFoundError):
            descriptor = os.open(folder, os.O_RDONLY)
            lock(descriptor, wait=True)
            if os.path.samestat(os.fstat(descriptor), folder.stat()):
                return folder
            os.close(descriptor)


def _remove_abandoned() -> None:
    """Remove the folders of this user that no process has locked."""
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            if LOCKED_FOLDER_NAME.fullmatch(entry.name):
                with suppress(OSError):
                    _remove_unlocked(entry.path)


def _remove_unlocked(path: str) -> None:
    """Remove a folder if it belongs to this user and is not locked. Links are not followed.

    Files that cannot be removed stay.

    Raises:
        OSError: the path cannot be opened as a folder, for example because it is a link.
    """
    with open_descriptor(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW) as descriptor:
        if os.fstat(descriptor).st_uid == os.getuid() and lock(descriptor):
            shutil.rmtree(path, ignore_errors=True)


def _remove_own_folder() -> None:
    """Remove the locked folder of this process."""
    folder = _FOLDERS.pop(os.getpid(), None)
    if folder:
        shutil.rmtree(folder, ignore_errors=True)


atexit.register(_remove_own_folder)
