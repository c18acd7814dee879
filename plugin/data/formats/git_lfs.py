"""Recognize files that Git LFS has left as pointers to their content."""

from podium.errors import DataError

POINTER_START = b"version https://git-lfs.github.com/spec/"
"""The first bytes of a pointer, which stands for a file until `git lfs pull` fetches it."""


def reject_lfs_pointer(head: bytes) -> None:
    """Raise DataError if the first bytes of a file are those of a pointer of Git LFS."""
    if head.startswith(POINTER_START):
        problem = "only a pointer of Git LFS, not the file itself"
        raise DataError(problem, remedy="fetch the files with `git lfs pull`")
