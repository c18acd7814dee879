"""Where files are: a path, a directory or a glob, optionally labelled."""

from glob import glob, has_magic, iglob
from pathlib import Path

from podium.errors import UsageError
from podium.formats.containers import SUFFIXES
from podium.hookspecs import SourceFiles


def find_files(source: str, further: tuple[str, ...] = ()) -> SourceFiles:
    """Find the files of a path, directory or glob, optionally `label=path`.

    Args:
        further: suffixes that a directory is searched for, beside those of tables.

    Raises:
        UsageError: there are none.
    """
    label, path = _split_label(source)
    if Path(path).is_dir():
        return SourceFiles(label, _files_in(Path(path), further), searched=True)
    if Path(path).exists():
        return SourceFiles(label, (Path(path),), searched=False)
    if not has_magic(path):
        raise UsageError(f"no such file or directory: {path}")
    paths = tuple(sorted(Path(name) for name in glob(path, recursive=True)))
    if not paths:
        raise UsageError(f"no file matches {path}")
    return SourceFiles(label, paths, searched=False)


def _files_in(folder: Path, further: tuple[str, ...]) -> tuple[Path, ...]:
    suffixes = (*SUFFIXES, *further)
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.name.endswith(suffixes))
    if not paths:
        raise UsageError(f"the directory {folder} holds no {', '.join(SUFFIXES[:5])} file")
    return tuple(paths)


def _split_label(source: str) -> tuple[str | None, str]:
    """Split at the first `=`, unless that is a part of the path (`judge=gpt-4/*.json`)."""
    label, equals, path = source.partition("=")
    is_path = Path(source).exists() or (has_magic(source) and any(iglob(source, recursive=True)))
    return (label or None, path) if equals and "/" not in label and not is_path else (None, source)
