"""What was typed: names of models and sources, or two paths that each hold one model; and their answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from podium.errors import UsageError
from podium.formats.files import find_files, split_label
from podium.hookspecs import load_target
from podium.plugins import catalogue
from podium.responses.collection import Responses
from podium.responses.read import FileReader, read_responses
from podium.storage.remote import is_url

TABLES = (".csv", ".tsv", ".parquet", ".duckdb", ".xlsx")
"""Suffixes of files that hold verdicts or scores, and no answers."""
LOG = ".eval"


@dataclass(frozen=True, slots=True)
class Asked:
    """Names of the models, none where all of the sources count, and the sources."""

    names: tuple[str, ...]
    sources: tuple[str, ...]


def split_words(words: Sequence[str], baseline: str | None) -> Asked:
    """Tell names from sources: A B SOURCE..., or two paths, or, with a baseline, sources alone.

    Raises:
        UsageError: too few words, one model twice, or two words that are no paths.
    """
    if baseline is not None:
        if not words:
            raise UsageError("nothing to compare: name the sources (podium compare SOURCE... --baseline NAME)")
        return Asked((), tuple(words))
    if len(words) < 2:
        raise UsageError("two models are compared: podium compare A B SOURCE..., or two paths, or --baseline NAME")
    if words[0] == words[1]:
        raise UsageError(f"{words[0]!r} is given twice: a comparison needs two different models")
    if len(words) > 2:
        return Asked(tuple(words[:2]), tuple(words[2:]))
    return Asked(*_labelled_paths(words))


def _labelled_paths(words: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return a label for either path, its own or its last name, and the paths with labels."""
    for word in words:
        try:
            find_files(word, (LOG,))
        except UsageError as error:
            hint = f"to compare models by name, say where: podium compare {words[0]} {words[1]} SOURCE..."
            raise UsageError(f"{error}; {hint}") from None
    (first, path), (second, other) = map(split_label, words)
    if not is_url(path) and Path(path).resolve() == Path(other).resolve():
        raise UsageError(f"{path} is given twice: a comparison needs two different runs")
    names = [label or _short_name(place) for label, place in ((first, path), (second, other))]
    if names[0] == names[1]:
        names = [f"{name} ({Path(place).parent.name})" for name, place in zip(names, (path, other), strict=True)]
    if names[0] == names[1]:
        raise UsageError(f"both are called {names[0]!r}: give labels, as new={path} old={other}")
    return tuple(names), tuple(f"{name}={place}" for name, place in zip(names, (path, other), strict=True))


def _short_name(path: str) -> str:
    name = Path(path.rstrip("/")).name
    return name.partition(".")[0] or name


def answers_in(sources: Sequence[str]) -> tuple[Responses | None, str | None]:
    """Return the answers that lie in sources of verdicts or scores, or why there are none.

    Raises:
        DataError: two models were asked different things under one id.
    """
    holders = [source for source in sources if not split_label(source)[1].endswith(TABLES)]
    if not holders:
        return None, "tables hold no answers (--responses names some)"
    try:
        return read_responses(*holders, readers=_readers(), reasoning="keep"), None
    except UsageError as error:
        return None, str(error).partition(";")[0]


def named_answers(paths: Sequence[str]) -> Responses:
    """Return the answers of files that were named for it.

    Raises:
        As `read_responses`.
    """
    return read_responses(*paths, readers=_readers(), reasoning="keep")


def _readers() -> list[FileReader]:
    return [load_target(known.responses) for known in catalogue.formats() if known.responses]


def identical_items(responses: Responses, candidate: str, baseline: str) -> frozenset[str] | None:
    """Return the items to which both gave the same answers, byte by byte; None where answers of one are not there."""
    if candidate not in responses.texts or baseline not in responses.texts:
        return None
    ours, theirs = responses.texts[candidate], responses.texts[baseline]
    return frozenset(
        item.id for item in responses.items if all(key in ours and ours[key] == theirs.get(key) for key in item.keys)
    )


def notes_of_prompts(responses: Responses) -> list[str]:
    """Return what the answers' files say of prompts that differ."""
    return [note.partition(";")[0] for note in responses.notes if "in different words" in note]
