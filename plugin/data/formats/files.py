"""Find the files of a source: a path or URL of a file or folder, or a glob, optionally labelled."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatch
from glob import glob, has_magic, iglob
from pathlib import Path

from podium.data.formats.containers import SUFFIXES
from podium.errors import UsageError, reject_stream
from podium.hookspecs import SourceFiles
from podium.storage.atomic_files import is_temporary
from podium.storage.remote import RemoteFile, find_remote, is_url, list_siblings, place_of


def find_files(source: str, further: tuple[str, ...] = ()) -> SourceFiles:
    """Find the files of a path, folder, glob or URL, optionally `label=path`; temporary files are
    left out."""
    label, path = split_label(source)
    if is_url(path):
        place = place_of(path)
        if isinstance(place, RemoteFile):
            objects, searched = find_remote(path, (*SUFFIXES, *further))
            return SourceFiles(
                label, (), searched, tuple(each for each in objects if not is_temporary(each.name))
            )
        path = str(place)
    if Path(path).is_dir():
        inside = sorted(
            each for each in Path(path).rglob("*") if each.name.endswith((*SUFFIXES, *further))
        )
        files = [
            each
            for each in inside
            if not any(map(is_temporary, each.relative_to(path).parts)) and each.is_file()
        ]
        if not files:
            raise UsageError(
                f"the directory {Path(path)} contains no {', '.join(SUFFIXES[:5])} file"
            )
        return SourceFiles(label, tuple(files), searched=True)
    if Path(path).exists():
        reject_stream(Path(path))
        return SourceFiles(label, (Path(path),), searched=False)
    if not has_magic(path):
        raise UsageError(f"no such file or directory: {path}")
    paths = tuple(
        sorted(
            Path(name) for name in glob(path, recursive=True) if not is_temporary(Path(name).name)
        )
    )
    if not paths:
        raise UsageError(f"no file matches {path}")
    for place in paths:
        reject_stream(place)
    return SourceFiles(label, paths, searched=False)


def local_files(source: SourceFiles, names: Sequence[str] = ("*",)) -> SourceFiles:
    """Download the objects whose names match a glob, beside single named objects too; others are
    left out."""
    wanted = _with_names(source.remote, names)
    if not source.searched:
        folders = {place.url.rpartition("/")[0]: place for place in wanted}
        siblings = [each for known in folders.values() for each in list_siblings(known)]
        for place in _with_names(siblings, names):
            place.download()
    downloaded = [place.download() for place in wanted]
    return replace(source, paths=(*source.paths, *downloaded), remote=())


def _with_names(places: Iterable[RemoteFile], names: Sequence[str]) -> list[RemoteFile]:
    """Return the objects whose names match one of the globs."""
    return [place for place in places if any(fnmatch(place.name, name) for name in names)]


def split_label(source: str) -> tuple[str | None, str]:
    """Split `label=path` into label and path; the label is None if the `=` is part of a path
    (`judge=gpt-4/*.json`).

    The label ends at the first `=` before a path that exists, as in `amber temperature=0=runs/`,
    else at the first.
    """
    splits = [(source[:k], source[k + 1 :]) for k, sign in enumerate(source) if sign == "="]
    known = [pair for pair in splits if pair[1] and Path(pair[1]).exists()]
    label, path = [*known, *splits, ("", "")][0]
    matches = has_magic(source) and any(iglob(source, recursive=True))
    is_path = is_url(source) or Path(source).exists() or matches
    if splits and (known or "/" not in label) and not is_path:
        return label or None, path
    return None, source
