"""Find the files of a source.

A source is the path or URL of a file or folder, or a glob. It may have a label: `label=path`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatch
from glob import glob, has_magic, iglob
from pathlib import Path, PurePath

from podium.data.formats.containers import SUFFIXES
from podium.data.query import Source
from podium.errors import UsageError, reject_stream
from podium.hookspecs import SourceFiles
from podium.storage.atomic_files import is_temporary
from podium.storage.remote import RemoteFile, find_remote, is_url, list_siblings, place_of


def find_files(source: str, further_suffixes: tuple[str, ...] = ()) -> SourceFiles:
    """Find the files of a path, folder, glob or URL.

    Temporary files are left out. In a folder and its subfolders, only files of a known suffix
    count; a file or glob may have any suffix. Nothing is downloaded: the objects at a URL are in
    `remote`.

    Args:
        source: the path or URL, optionally as `label=path`.
        further_suffixes: suffixes of files that are found in folders in addition to tables.

    Returns:
        The files, sorted, with the label. `searched` is True for a folder.

    Raises:
        UsageError: there is no such file, no file of a known suffix in the folder, or a file is a
            pipe, a socket or a device.
    """
    label, path = split_label(source)
    if is_url(path):
        place = place_of(path)
        if isinstance(place, RemoteFile):
            objects, searched = find_remote(path, (*SUFFIXES, *further_suffixes))
            whole_objects = tuple(remote for remote in objects if not is_temporary(remote.name))
            return SourceFiles(label=label, paths=(), searched=searched, remote=whole_objects)
        path = str(place)
    if Path(path).is_dir():
        files = _files_in_folder(Path(path), (*SUFFIXES, *further_suffixes))
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
    files = sorted(match for match in matches if not is_temporary(match.name))
    if not files:
        raise UsageError(f"no file matches {path}")
    for file in files:
        reject_stream(file)
    return SourceFiles(label, tuple(files), searched=False)


def _files_in_folder(folder: Path, suffixes: tuple[str, ...]) -> list[Path]:
    """Return the files in a folder and its subfolders that have one of the suffixes, sorted.

    Temporary files, and files in temporary folders, are left out.
    """
    paths = sorted(path for path in folder.rglob("*") if path.name.endswith(suffixes))
    files = []
    for path in paths:
        parts = path.relative_to(folder).parts
        if not any(map(is_temporary, parts)) and path.is_file():
            files.append(path)
    return files


def local_files(source: SourceFiles, names: Sequence[str] = ("*",)) -> SourceFiles:
    """Download the remote objects of a source, and add them to its local files.

    Objects whose names match none of the globs are left out. If the source names single objects,
    other matching objects in their folders are also downloaded, since readers look for files beside
    them; these are not part of the result.
    """
    matching_objects = _select_by_name(source.remote, names)
    if not source.searched:
        folders = {place.url.rpartition("/")[0]: place for place in matching_objects}
        siblings: list[RemoteFile] = []
        for place in folders.values():
            siblings += list_siblings(place)
        for place in _select_by_name(siblings, names):
            place.download()
    downloaded = [place.download() for place in matching_objects]
    return replace(source, paths=(*source.paths, *downloaded), remote=())


def _select_by_name(places: Iterable[RemoteFile], names: Sequence[str]) -> list[RemoteFile]:
    """Return the objects whose names match one of the globs."""
    matching = []
    for place in places:
        if any(fnmatch(place.name, name) for name in names):
            matching.append(place)
    return matching


def local_paths(sources: Iterable[Source]) -> list[Path]:
    """Return the paths of sources on disk; those of a glob are its matches.

    Data frames and URLs are left out. A glob without matches is returned as it is. Nothing else is
    searched: a path may be missing, and a folder is one path.

    Args:
        sources: paths, folders, globs or URLs, each optionally `label=path`; or data frames.
    """
    paths = []
    for source in sources:
        if not isinstance(source, str | PurePath):
            continue
        _, path = split_label(str(source))
        if is_url(path):
            continue
        matches: list[str] = []
        if has_magic(path) and not Path(path).exists():
            matches = glob(path, recursive=True)
        paths += [Path(match) for match in matches or [path]]
    return paths


def split_label(source: str) -> tuple[str | None, str]:
    """Split `label=path` into label and path.

    The label is None if there is none, or if the `=` is part of a path, as in `judge=gpt-4/*.json`.
    It is part of a path if the whole text is a URL, an existing path or a glob with matches, or if
    the text before it has a `/` and no existing path follows any `=`. If there are several `=`, the
    label ends at the first one that an existing path follows, as in `amber temperature=0=runs/` or
    `org/model=runs/`. If there is no such path, the label ends at the first `=`. An empty label
    counts as none.
    """
    # The source, divided at each of its equals signs.
    splits = []
    for k, sign in enumerate(source):
        if sign == "=":
            splits.append((source[:k], source[k + 1 :]))
    has_matches = has_magic(source) and any(iglob(source, recursive=True))
    is_path = is_url(source) or Path(source).exists() or has_matches
    if not splits or is_path:
        return None, source
    splits_with_path = [
        (before, after) for before, after in splits if after and Path(after).exists()
    ]
    label, path = (splits_with_path or splits)[0]
    if not splits_with_path and "/" in label:
        return None, source
    return label or None, path
