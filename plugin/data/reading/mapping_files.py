"""Read mapping files: what the options of reading say of data, kept beside the data.

The file for `votes.csv` is `votes.podium.yaml`, or `podium.yaml` in the same folder, which is for
all files there. It has options of reading by their names in commands or in `podium.read_battles`.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.data.formats.containers import SUFFIXES
from podium.data.query import BattleQuery, Foreign
from podium.errors import DataError, UsageError
from podium.notices.notice import Notice
from podium.notices.option_forms import option_text

if TYPE_CHECKING:
    import yaml

FILE_OF_FOLDER = "podium.yaml"
"""Name of the mapping file for all files of a folder."""
SUFFIX = ".podium.yaml"
"""What replaces the suffix of a file in the name of its own mapping file."""
NO_FILE = "none"
"""Value of the option `mapping` with which no mapping file is read."""
WORDS = {
    "unknown": ("error", "unparsed"),
    "shown": ("a", "b", "unknown"),
    "matrix": ("rows", "columns"),
}
"""Words that some keys of `TEXT_KEYS` take."""
TEXT_KEYS = (
    *WORDS,
    "format",
    "encoding",
    "ids",
    "names",
    "human_judge",
    "cluster",
)
"""Keys whose value is a text."""
MAPPING_KEYS = ("columns", "credit_map", "fill", "where")
"""Keys whose value is a mapping."""
KEYS = (*MAPPING_KEYS, *TEXT_KEYS, "lower_is_better")
"""All keys of a mapping file."""
PLAIN_TEXT = re.compile(r"[A-Za-z0-9_.]+")
"""Matches texts that need no quotes in YAML, where a mapping file takes every scalar as text."""
TRUTHS = {"true": True, "false": False}
"""Values of the key `lower_is_better`, by their text in a mapping file."""


def apply_mapping_file(
    query: BattleQuery, paths: Sequence[Path]
) -> tuple[BattleQuery, list[Notice]]:
    """Return a query with the options of the mapping file of its sources, and a note on the file.

    An option of the query that differs from its default counts instead of that of the file. The
    conditions `where` of both count. Without a file, the query is unchanged, and the list empty.

    Args:
        query: the query.
        paths: the paths of its sources on disk (`local_paths`).

    Raises:
        UsageError: the file that the query names does not exist, not all sources have the same
            file, or pyyaml is not installed.
        DataError: the file is no mapping file; the error names the key.
    """
    path = _mapping_file_of_query(query, paths)
    if path is None:
        return query, []
    declared = read_mapping_file(path)
    usual = BattleQuery(())
    changed: dict[str, Any] = {}
    of_foreign: dict[str, Any] = {}
    names_of_foreign = {field.name for field in fields(Foreign)}
    for name, value in declared.items():
        if name == "where":
            changed[name] = (*value, *query.where)
        elif name in names_of_foreign:
            if getattr(query.foreign, name) == getattr(usual.foreign, name):
                of_foreign[name] = value
        elif getattr(query, name) == getattr(usual, name):
            changed[name] = value
    try:
        foreign = replace(query.foreign, **of_foreign)
        complete = replace(query, foreign=foreign, **changed)
    except UsageError as error:
        raise DataError(str(error), source=str(path), remedy="correct the file") from None
    note = Notice("mapping-file", {"file": str(path), "keys": [*declared]})
    return complete, [note]


def mapping_file_beside(path: Path, *, of_folder: bool = True) -> Path | None:
    """Return the mapping file for a file or folder; None if there is none.

    The file's own one (`name_of_mapping_file`) counts before that of its folder.

    Args:
        path: the file or folder.
        of_folder: whether `podium.yaml` in the folder of a file is also one for the file.
    """
    if path.is_dir():
        places = [path / FILE_OF_FOLDER]
    else:
        places = [path.with_name(name_of_mapping_file(path))]
        places += [path.with_name(FILE_OF_FOLDER)] if of_folder else []
    return next((place for place in places if place.is_file()), None)


def name_of_mapping_file(path: Path) -> str:
    """Return the name of the mapping file for a file alone: `votes.podium.yaml` for `votes.csv`."""
    name = path.name.partition("#")[0]
    known = [suffix for suffix in SUFFIXES if name.endswith(suffix)]
    stem = name.removesuffix(max(known, key=len)) if known else Path(name).stem
    return stem + SUFFIX


def format_mapping(**options: Mapping[str, str]) -> str:
    """Return options as the text of a mapping file in one line; empty options are left out.

    `format_mapping(columns={"model_a": "left"})` is `{columns: {model_a: left}}`.
    """
    parts = []
    for name, values in options.items():
        pairs = [f"{_yaml_scalar(key)}: {_yaml_scalar(value)}" for key, value in values.items()]
        if pairs:
            parts.append(f"{name}: {{{', '.join(pairs)}}}")
    return f"{{{', '.join(parts)}}}"


def _yaml_scalar(text: str) -> str:
    """Return a text as YAML, in quotes if it has other signs than letters, digits, `_` and `.`."""
    return text if PLAIN_TEXT.fullmatch(text) else json.dumps(text, ensure_ascii=False)


def read_mapping_file(path: Path) -> dict[str, Any]:
    """Return the options in a mapping file, by their names in `podium.read_battles`.

    Raises:
        UsageError: pyyaml is not installed.
        DataError: the file is no YAML or is empty, a key or its value is invalid, or a key stands
            twice in two spellings.
    """
    entries = _parse_yaml(path)
    if not isinstance(entries, dict) or not entries:
        raise DataError(
            "not a mapping file",
            source=str(path),
            remedy="write one key per line, as `columns: {model_a: left, model_b: right}`",
        )
    declared = {}
    for key, value in entries.items():
        name = "format" if key == "from" else key.replace("-", "_")
        if name in declared:
            problem = f"two values of {name!r}"
            remedy = f"keep one of them ({key!r} is another spelling)"
            raise DataError(problem, source=str(path), remedy=remedy)
        declared[name] = _checked_value(path, name, value)
    return declared


def _mapping_file_of_query(query: BattleQuery, paths: Sequence[Path]) -> Path | None:
    """Return the mapping file that a query names, or that stands beside its sources; None for none.

    Args:
        query: the query.
        paths: the paths of its sources on disk; fewer than sources if some are not on disk.

    Raises:
        UsageError: there is no such file, or not all sources have the same file. The message speaks
            of human labels if mapping files of folders do not count.
    """
    if query.mapping == NO_FILE:
        return None
    if query.mapping is not None:
        path = Path(query.mapping)
        if not path.is_file():
            raise UsageError(f"no such mapping file: {path}")
        return path
    files = [mapping_file_beside(path, of_folder=query.mapping_of_folder) for path in paths]
    known_files = {file for file in files if file is not None}
    if not known_files:
        return None
    if len(known_files) > 1 or None in files or len(files) < len(query.sources):
        some_file = min(map(str, known_files))
        if not query.mapping_of_folder:
            raise UsageError(
                f"the mapping file {some_file} is not for all files of human labels: name these "
                f"files one by one ({option_text('human_labels', 'FILE')})"
            )
        choices = f"{option_text('mapping', some_file)}, or {option_text('mapping', NO_FILE)}"
        raise UsageError(
            f"the mapping file {some_file} is not for all sources: name the one that counts "
            f"({choices}), or read the sources one at a time"
        )
    return known_files.pop()


def _parse_yaml(path: Path) -> Any:
    """Return the content of a YAML file, in which every scalar is a text.

    Raises:
        UsageError: pyyaml is not installed.
        DataError: the file is no YAML, is nested too deeply, or has a key twice.
    """
    try:
        import yaml
    except ImportError:
        raise UsageError(f"{path}: reading YAML needs pyyaml; install it") from None
    try:
        root = yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
        return None if root is None else _text_or_texts(root, path)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        message = " ".join(str(error).split()) or type(error).__name__
        remedy = "repair the file"
        raise DataError(f"not YAML ({message})", source=str(path), remedy=remedy) from None


def _text_or_texts(node: "yaml.Node", path: Path) -> Any:
    """Return a node of YAML as a text, a list or a dictionary.

    Raises:
        DataError: a mapping has a key twice, or a key that is no text.
    """
    if node.id == "scalar":
        return node.value
    if node.id == "sequence":
        return [_text_or_texts(part, path) for part in node.value]
    values: dict[str, Any] = {}
    for key, value in node.value:
        line = f"line {key.start_mark.line + 1}"
        if key.id != "scalar" or key.value in values:
            problem = "a key is no text" if key.id != "scalar" else f"two values of {key.value!r}"
            raise DataError(problem, source=str(path), row=line, remedy="keep one of them")
        values[key.value] = _text_or_texts(value, path)
    return values


def _checked_value(path: Path, name: str, value: Any) -> Any:
    """Return the value of a key as `podium.read_battles` takes it.

    Raises:
        DataError: the key is unknown, or the value is not one that it takes.
    """

    def key_error(problem: str, remedy: str) -> DataError:
        """Return the error for this key."""
        return DataError(f"{name}: {problem}", source=str(path), remedy=remedy)

    if name not in KEYS:
        raise key_error("unknown key", f"known keys: {', '.join(sorted(KEYS))}")
    if name == "lower_is_better":
        if value not in TRUTHS:
            raise key_error(f"{value!r} is neither true nor false", "write true or false")
        return TRUTHS[value]
    if name in TEXT_KEYS:
        words = WORDS.get(name)
        is_text = isinstance(value, str) and bool(value)
        is_unknown_word = words is not None and value not in words
        if not is_text or is_unknown_word:
            known = f"one of {', '.join(words)}" if words else "a text"
            raise key_error(f"{value!r} is not {known}", f"write {known}")
        return value
    return _checked_mapping(name, value, key_error)


def _checked_mapping(
    name: str, value: Any, key_error: Callable[[str, str], DataError]
) -> Mapping[str, Any] | tuple[tuple[str, str], ...]:
    """Return the value of a key of `MAPPING_KEYS`.

    It is a tuple of pairs for `where`, else a dictionary: of credits in [0, 1] for `credit_map`, of
    texts for the other keys.

    Args:
        name: the key.
        value: its value in the file.
        key_error: makes the error of a problem and a remedy.

    Raises:
        DataError: the value is not a mapping of texts or is empty, or a credit is not a number in
            [0, 1].
    """
    is_mapping = isinstance(value, dict) and bool(value)
    if not is_mapping or not all(isinstance(part, str) for part in value.values()):
        raise key_error(f"{value!r} is not a mapping of texts", f"write {name}: {{KEY: VALUE}}")
    if name == "where":
        return tuple(value.items())
    if name != "credit_map":
        return dict(value)
    credits = {}
    for word, text in value.items():
        try:
            credits[word] = float(text)
        except ValueError:
            credits[word] = -1.0
        if not 0 <= credits[word] <= 1:
            raise key_error(
                f"the credit {text!r} of {word!r} is not a number in [0, 1]",
                "write what model_a earned: 1 win, 0.5 tie, 0 loss",
            )
    return credits
