"""Recognize files that Git LFS has left as pointers to their content."""

from pathlib import Path

from podium.errors import DataError, named_in_errors

POINTER_START = b"version https://git-lfs.github.com/spec/"
"""The first bytes of a pointer, which stands for a file until `git lfs pull` fetches it."""


def reject_lfs_pointer(head: bytes) -> None:
    """Raise DataError if the first bytes of a file are those of a pointer of Git LFS."""
    if head.startswith(POINTER_START):
        problem = "only a pointer of Git LFS, not the file itself"
        raise DataError(problem, remedy="fetch the files with `git lfs pull`")


def reject_lfs_pointer_file(path: Path) -> None:
    """Raise DataError if a file is a pointer of Git LFS; one that cannot be read passes."""
    try:
        with path.open("rb") as stream:
            head = stream.read(len(POINTER_START))
    except OSError:
        return
    with named_in_errors(path):
        reject_lfs_pointer(head)
