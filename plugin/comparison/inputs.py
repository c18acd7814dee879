"""Separate model names from sources in what was typed, and find the models' answers."""

from collections.abc import Sequence
from pathlib import Path

from podium.data.formats.files import find_files, split_label
from podium.data.formats.lm_eval_layout import is_samples
from podium.errors import OtherQuestionError, PodiumError, UsageError
from podium.hookspecs import load_target
from podium.plugins import catalogue
from podium.responses.collection import Responses
from podium.responses.read import FileReader, read_responses
from podium.storage.remote import is_url

STANDARD_INPUT = "-"
TABLE_MARK = "#"
"""Stands between the path of a database and the name of one of its tables."""
NO_ANSWERS = "no answers were found in the sources (add them with --responses)"
LOG = ".eval"


def split_arguments(
    words: Sequence[str], baseline: str | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split A B SOURCE..., two paths with a model each, or, with a baseline, SOURCE... into model
    names and sources."""
    if baseline is not None:
        if not words:
            raise UsageError("no sources: type podium compare SOURCE... --baseline NAME")
        _require_paths(
            words,
            "with --baseline all arguments are sources; choose candidates with --candidate NAME",
        )
        return (), tuple(words)
    if len(words) < 2:
        raise UsageError(
            "podium compare needs two models: A B SOURCE..., or two paths, or --baseline NAME"
        )
    if words[0] == words[1]:
        raise UsageError(f"{words[0]!r} is given twice: a comparison needs two different models")
    return (tuple(words[:2]), tuple(words[2:])) if len(words) > 2 else _labelled_paths(words)


def _require_paths(words: Sequence[str], hint: str) -> None:
    """Raise a UsageError with a hint unless all words are existing paths."""
    for word in words:
        try:
            find_files(word, (LOG,))
        except UsageError as error:
            raise UsageError(f"{error}; {hint}") from None


def _labelled_paths(words: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the model names of two paths, and the paths, labelled if a name is not that of the
    model they hold."""
    _require_paths(
        words,
        f"to compare models by name, add their source: podium compare {words[0]} {words[1]} "
        "SOURCE...",
    )
    labels, paths = zip(*map(split_label, words), strict=True)
    if not is_url(paths[0]) and Path(paths[0]).resolve() == Path(paths[1]).resolve():
        raise UsageError(f"{paths[0]} is given twice: a comparison needs two different runs")
    models = [_models_in(path) for path in paths]
    if [*map(len, models)] == [1, 1] and models[0] != models[1]:
        return tuple(label or min(held) for label, held in zip(labels, models, strict=True)), tuple(
            words
        )
    places = [Path(path.rstrip("/")) for path in paths]
    names = [
        label or place.name.partition(".")[0] or place.name
        for label, place in zip(labels, places, strict=True)
    ]
    if names[0] == names[1]:
        names = [f"{name} ({place.parent.name})" for name, place in zip(names, places, strict=True)]
    if names[0] == names[1]:
        raise UsageError(
            f"both models are called {names[0]!r}: add labels, as new={paths[0]} old={paths[1]}"
        )
    return tuple(names), tuple(f"{name}={path}" for name, path in zip(names, paths, strict=True))


def _models_in(path: str) -> set[str]:
    """Return the models whose evaluation logs are at a path; empty if no format reads them."""
    costs = [load_target(known.costs) for known in catalogue.formats() if known.costs]
    try:
        files = find_files(path, (LOG,)).paths
        return {row["model"] for file in files for costs_in in costs for row in costs_in(file)}
    except PodiumError:
        return set()


def find_responses(
    sources: Sequence[str], responses: Responses | str | Path | Sequence[str | Path] | None
) -> tuple[Responses | None, str | None]:
    """Return the models' answers, from `responses` or else from the sources; or None and the
    reason.

    Sources need not hold answers: what they lack is no error. Raises OtherQuestionError if the
    answers that tables do hold are to different questions, because their scores cannot be compared
    then. In the logs of hosts, the readers of scores have decided that: what still differs there,
    as a model's own turns or a target, leaves answers uncounted.
    """
    if isinstance(responses, Responses):
        return responses, None
    readers = [load_target(known.responses) for known in catalogue.formats() if known.responses]
    if responses:
        paths = [responses] if isinstance(responses, str | Path) else responses
        return read_responses(*map(str, paths), readers=readers, reasoning="keep"), None
    files = [source for source in sources if _is_on_disk_or_url(source)]
    try:
        answers = read_responses(*files, readers=readers, reasoning="keep", optional=True)
    except OtherQuestionError as error:
        if not _is_in_log(error, readers):
            raise
        return None, str(error)
    except PodiumError as error:
        return None, str(error)
    return (answers, None) if answers.texts else (None, NO_ANSWERS)


def _is_in_log(error: OtherQuestionError, readers: Sequence[FileReader]) -> bool:
    """Return whether an error is about a log or samples file of a host."""
    path = Path(error.source or "")
    if is_samples(path):
        return True
    return any(path.name.endswith(reader.suffixes) and reader.accepts(path) for reader in readers)


def _is_on_disk_or_url(source: str) -> bool:
    """Return whether a source is a file, folder, glob or URL: neither standard input nor a table of
    a database."""
    path = split_label(source)[1]
    return path != STANDARD_INPUT and (TABLE_MARK not in path or Path(path).exists())


def identical_items(responses: Responses, candidate: str, baseline: str) -> frozenset[str] | None:
    """Return the items with identical answers of both, byte by byte; None if the answers of one are
    missing."""
    if candidate not in responses.texts or baseline not in responses.texts:
        return None
    ours, theirs = responses.texts[candidate], responses.texts[baseline]
    return frozenset(
        item.id
        for item in responses.items
        if all(key in ours and ours[key] == theirs.get(key) for key in item.keys)
    )
