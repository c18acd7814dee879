"""Recognize files that Git LFS has left as pointers to their content."""

from pathlib import Path

from podium.errors import DataError

POINTER_START = b"version https://git-lfs.github.com/spec/"
"""The first bytes of a pointer, which stands for a file until `git lfs pull` fetches it."""


def begins_as_lfs_pointer(path: Path) -> bool:
    """Return whether a file can be read, and is a pointer of Git LFS."""
    try:
        with path.open("rb") as stream:
            return stream.read(len(POINTER_START)) == POINTER_START
    except OSError:
        return False


def reject_lfs_pointer(head: bytes) -> None:
    """Raise DataError if the first bytes of a file are those of a pointer of Git LFS."""
    if head.startswith(POINTER_START):
        raise lfs_pointer_error()


def lfs_pointer_error() -> DataError:
    """Return the error for a pointer of Git LFS in place of a file."""
    problem = "only a pointer of Git LFS, not the file itself"
    return DataError(problem, remedy="fetch the files with `git lfs pull`")
