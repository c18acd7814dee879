"""What was typed: names of models and sources, or two paths that each hold one model; and their answers."""

from collections.abc import Sequence
from pathlib import Path

from podium.errors import PodiumError, UsageError
from podium.formats.files import find_files, split_label
from podium.hookspecs import load_target
from podium.plugins import catalogue
from podium.responses.collection import Responses
from podium.responses.read import read_responses
from podium.storage.remote import is_url

TABLES = (".csv", ".tsv", ".parquet", ".duckdb", ".xlsx")
"""Suffixes of files that hold verdicts or scores, and no answers."""
LOG = ".eval"


def split_words(words: Sequence[str], baseline: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Tell names from sources: A B SOURCE..., or two paths, or, with a baseline, sources alone.

    Returns:
        Names of the models, none where all of the sources count, and the sources.

    Raises:
        UsageError: too few words, one model twice, or two words that are no paths.
    """
    if baseline is not None:
        if not words:
            raise UsageError("nothing to compare: name the sources (podium compare SOURCE... --baseline NAME)")
        _require_paths(words, "with --baseline all words are sources, and --candidate NAME chooses whom to compare")
        return (), tuple(words)
    if len(words) < 2:
        raise UsageError("two models are compared: podium compare A B SOURCE..., or two paths, or --baseline NAME")
    if words[0] == words[1]:
        raise UsageError(f"{words[0]!r} is given twice: a comparison needs two different models")
    return (tuple(words[:2]), tuple(words[2:])) if len(words) > 2 else _labelled_paths(words)


def _require_paths(words: Sequence[str], hint: str) -> None:
    """Refuse words that are no paths, with what they may have been meant for."""
    for word in words:
        try:
            find_files(word, (LOG,))
        except UsageError as error:
            raise UsageError(f"{error}; {hint}") from None


def _labelled_paths(words: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return a name for either path, and the paths, with labels where that is not the name of the model they hold."""
    _require_paths(words, f"to compare models by name, say where: podium compare {words[0]} {words[1]} SOURCE...")
    (first, path), (second, other) = map(split_label, words)
    if not is_url(path) and Path(path).resolve() == Path(other).resolve():
        raise UsageError(f"{path} is given twice: a comparison needs two different runs")
    models = [_models_in(path), _models_in(other)]
    if [*map(len, models)] == [1, 1] and models[0] != models[1]:
        return tuple(label or min(held) for label, held in zip((first, second), models, strict=True)), tuple(words)
    files = [Path(place.rstrip("/")).name for place in (path, other)]
    names = [label or file.partition(".")[0] or file for label, file in zip((first, second), files, strict=True)]
    if names[0] == names[1]:
        names = [f"{name} ({Path(place).parent.name})" for name, place in zip(names, (path, other), strict=True)]
    if names[0] == names[1]:
        raise UsageError(f"both are called {names[0]!r}: give labels, as new={path} old={other}")
    return tuple(names), tuple(f"{name}={place}" for name, place in zip(names, (path, other), strict=True))


def _models_in(path: str) -> set[str]:
    """Return the models whose own logs lie at a path; none where no format says, or where it cannot be read."""
    costs = [load_target(known.costs) for known in catalogue.formats() if known.costs]
    try:
        files = find_files(path, (LOG,)).paths
        return {row["model"] for file in files for costs_in in costs for row in costs_in(file)}
    except PodiumError:
        return set()


def answers_of(
    sources: Sequence[str], responses: Responses | str | Path | Sequence[str | Path] | None
) -> tuple[Responses | None, str | None]:
    """Return what the models answered, as named or as it lies in sources of verdicts or scores; or why nobody knows.

    Raises:
        DataError: two models were asked different things under one id.
    """
    if isinstance(responses, Responses):
        return responses, None
    readers = [load_target(known.responses) for known in catalogue.formats() if known.responses]
    if responses:
        paths = [responses] if isinstance(responses, str | Path) else responses
        return read_responses(*map(str, paths), readers=readers, reasoning="keep"), None
    holders = [source for source in sources if not split_label(source)[1].endswith(TABLES)]
    if not holders:
        return None, "tables hold no answers (--responses names some)"
    try:
        return read_responses(*holders, readers=readers, reasoning="keep"), None
    except UsageError as error:
        return None, str(error).partition(";")[0]


def identical_items(responses: Responses, candidate: str, baseline: str) -> frozenset[str] | None:
    """Return the items to which both gave the same answers, byte by byte; None where answers of one are not there."""
    if candidate not in responses.texts or baseline not in responses.texts:
        return None
    ours, theirs = responses.texts[candidate], responses.texts[baseline]
    return frozenset(
        item.id for item in responses.items if all(key in ours and ours[key] == theirs.get(key) for key in item.keys)
    )
