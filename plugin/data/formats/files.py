"""Find the files of a source.

A source is the path or URL of a file or folder, or a glob. It may have a label: `label=path`.
"""

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
    """Find the files of a path, folder, glob or URL.

    Temporary files are left out.

    Args:
        source: the path or URL, optionally as `label=path`.
        further: suffixes of files that are found in folders, in addition to those of tables.

    Raises:
        UsageError: there is no such file, or no file of a known suffix in the folder.
    """
    label, path = split_label(source)
    if is_url(path):
        place = place_of(path)
        if isinstance(place, RemoteFile):
            objects, searched = find_remote(path, (*SUFFIXES, *further))
            kept = tuple(each for each in objects if not is_temporary(each.name))
            return SourceFiles(label, (), searched, kept)
        path = str(place)
    if Path(path).is_dir():
        files = _files_in_folder(Path(path), (*SUFFIXES, *further))
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
    matches = [Path(name) for name in glob(path, recursive=True)]
    paths = sorted(each for each in matches if not is_temporary(each.name))
    if not paths:
        raise UsageError(f"no file matches {path}")
    for each in paths:
        reject_stream(each)
    return SourceFiles(label, tuple(paths), searched=False)


def _files_in_folder(folder: Path, suffixes: tuple[str, ...]) -> list[Path]:
    """Return the files in a folder and its folders that have one of the suffixes, sorted.

    Temporary files, and files in temporary folders, are left out.
    """
    inside = sorted(each for each in folder.rglob("*") if each.name.endswith(suffixes))
    files = []
    for each in inside:
        parts = each.relative_to(folder).parts
        if not any(map(is_temporary, parts)) and each.is_file():
            files.append(each)
    return files


def local_files(source: SourceFiles, names: Sequence[str] = ("*",)) -> SourceFiles:
    """Download the remote objects whose names match one of the globs; leave out the others.

    If the source names single objects, other matching objects in their folders are downloaded, too,
    but they are not part of the result.
    """
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
    kept = []
    for place in places:
        if any(fnmatch(place.name, name) for name in names):
            kept.append(place)
    return kept


def split_label(source: str) -> tuple[str | None, str]:
    """Split `label=path` into label and path.

    The label is None if the `=` is part of a path, as in `judge=gpt-4/*.json`. If there are several
    `=`, the label ends at the first one with an existing path after it, as in
    `amber temperature=0=runs/`. If no such path exists, it ends at the first `=`.
    """
    splits = [(source[:k], source[k + 1 :]) for k, sign in enumerate(source) if sign == "="]
    known = [pair for pair in splits if pair[1] and Path(pair[1]).exists()]
    label, path = [*known, *splits, ("", "")][0]
    matches = has_magic(source) and any(iglob(source, recursive=True))
    is_path = is_url(source) or Path(source).exists() or matches
    if not splits or is_path:
        return None, source
    if not known and "/" in label:
        return None, source
    return label or None, path
