"""Separate model names from sources in what was typed, and find the models' answers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from podium.comparison.compared_runs import name_compared_runs
from podium.data.battles import Battles
from podium.data.counting.relations import IDENTICAL
from podium.data.formats.files import find_files, split_label
from podium.data.formats.lm_eval_layout import is_samples
from podium.errors import OtherQuestionError, PodiumError, UsageError
from podium.hookspecs import load_target
from podium.names import joined_name
from podium.notices.notice import select_codes
from podium.notices.option_forms import quoted_sources
from podium.plugins import catalogue
from podium.responses.collection import CODES_OF_PAIRING, Responses
from podium.responses.read import read_responses
from podium.responses.response_files import FileReader
from podium.responses.verdict_sources import read_responses_beside_verdicts, response_readers
from podium.storage.remote import is_url

NO_ANSWERS = "no answers were found in the sources (add them with --responses)"
"""Why identical answers are not counted if the sources have no answers."""
LOG_SUFFIX = ".eval"
"""End of the names of Inspect's logs."""
PAIRED_BY_INPUT = "items are paired by input"
"""Why identical answers are not counted if items may have other names in the scores."""


def split_arguments(
    words: Sequence[str], baseline: str | None, *, names_joined: bool = False
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split what was typed into model names and sources.

    Args:
        words: A B SOURCE..., two paths that hold a model each, or, with a baseline, SOURCE...
        baseline: name of the baseline; None if none was typed.
        names_joined: whether names of models that look the same are names of one model.

    Returns:
        The names of candidate and baseline, and the sources. The names are empty if `baseline` is
        given. The sources of two paths may get labels, as `NAME=PATH`.

    Raises:
        UsageError: words are missing, a name stands where only paths are allowed, both models are
            the same, or all of more than two words are files.
    """
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
    if len(words) == 2:
        return _labelled_paths(words, names_joined=names_joined)
    if all(Path(word).is_file() for word in words):
        paths = quoted_sources(words)
        raise UsageError(
            f"{len(words)} files and no names of models: two files are compared with each other; "
            f"`podium rank {paths}` ranks all of them, and `podium compare {paths} --baseline "
            "NAME` compares all with one model"
        )
    return tuple(words[:2]), tuple(words[2:])


def _require_paths(words: Sequence[str], hint: str) -> None:
    """Raise a UsageError with a hint unless all words are existing paths."""
    for word in words:
        try:
            find_files(word, (LOG_SUFFIX,))
        except UsageError as error:
            raise UsageError(f"{error}; {hint}") from None


def _labelled_paths(
    words: Sequence[str], *, names_joined: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the model names of two paths, and the paths.

    A label that was typed before a path is the name of its model. Without labels, the names are
    those in the evaluation logs if each path holds one model and the two models differ. Two runs of
    one model are named by what differs (`name_compared_runs`). Otherwise, models have the names of
    files or folders. Each path is returned as `NAME=PATH`, unless its files give the name.

    Raises:
        UsageError: a word is no existing path, both paths are the same, or both models would have
            the same name.
    """
    _require_paths(
        words,
        f"to compare models by name, add their source: podium compare {words[0]} {words[1]} "
        "SOURCE...",
    )
    labels, paths = zip(*map(split_label, words), strict=True)
    first_path, second_path = paths
    is_local = not is_url(first_path)
    if is_local and Path(first_path).resolve() == Path(second_path).resolve():
        raise UsageError(f"{first_path} is given twice: a comparison needs two different runs")
    models = [_models_in(path) for path in paths]
    if names_joined:
        models = [set(map(joined_name, names)) for names in models]
    hold_one_each = all(len(names) == 1 for names in models)
    if hold_one_each and models[0] != models[1]:
        model_names = [label or min(names) for label, names in zip(labels, models, strict=True)]
        return tuple(model_names), tuple(words)
    names_and_sources = None
    if not any(labels):
        names_and_sources = name_compared_runs(words, (LOG_SUFFIX,), names_joined=names_joined)
    if names_and_sources is not None:
        return names_and_sources
    names = _names_of_places(labels, paths)
    labelled = [f"{name}={path}" for name, path in zip(names, paths, strict=True)]
    return names, tuple(labelled)


def _names_of_places(labels: Sequence[str | None], paths: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the models at two paths: labels, else names of files or folders.

    If these are equal, the names of the parent folders are added. The name of a file or folder ends
    before its first dot.

    Raises:
        UsageError: the names are equal even with the parent folders.
    """
    places = [Path(path.rstrip("/")) for path in paths]
    names = []
    for label, place in zip(labels, places, strict=True):
        without_suffixes, _, _ = place.name.partition(".")
        names.append(label or without_suffixes or place.name)
    if names[0] == names[1]:
        folders = [place.parent.name for place in places]
        names = [f"{name} ({folder})" for name, folder in zip(names, folders, strict=True)]
    if names[0] == names[1]:
        raise UsageError(
            f"both models are called {names[0]!r}: add labels, as new={paths[0]} old={paths[1]}"
        )
    return tuple(names)


def _models_in(path: str) -> set[str]:
    """Return the models whose evaluation logs are at a path.

    The result is empty if the path has no logs or is in a remote store, or if any of its files
    cannot be read.
    """
    # The rows of costs name the model of each answer, and are read of logs alone.
    readers = [
        load_target(table_format.costs)
        for table_format in catalogue.formats()
        if table_format.costs
    ]
    models = set()
    try:
        for file in find_files(path, (LOG_SUFFIX,)).paths:
            for read_costs in readers:
                models |= {row["model"] for row in read_costs(file)}
    except PodiumError:
        return set()
    return models


def find_responses(
    sources: Sequence[str],
    responses: Responses | str | Path | Sequence[str | Path] | None,
    *,
    items_renamed: bool = False,
    allow: Sequence[str] = (),
) -> tuple[Responses | None, str | None]:
    """Return the models' answers and None, or None and the reason why there are none.

    If `responses` is given, only these are read, and every error is raised. Otherwise, the sources
    are read, and an error becomes the reason, with one exception: if tables have answers to
    different questions under one id, the scores cannot be compared, and the error is raised. In
    logs of hosts, the readers of scores have already checked that the questions are the same, so
    that different texts (for example of a model's turns) are only a reason. Without an error, the
    reason is that the answers are paired by input, or that there are none.

    Args:
        sources: files, folders and URLs with battles, which may hold answers, too.
        responses: the answers, or where they are; None or empty to take those in the sources.
        items_renamed: whether the battles have other items than the ids in the sources. Answers to
            different questions under one id are then expected.
        allow: names of the findings that the user accepts.

    Raises:
        OtherQuestionError: the answers in tables are to different questions, and `items_renamed` is
            False.
        PodiumError: `responses` cannot be read.
    """
    if isinstance(responses, Responses):
        return responses, None
    readers = response_readers()
    if responses:
        paths = [responses] if isinstance(responses, str | Path) else responses
        options: dict[str, Any] = {"readers": readers, "reasoning": "keep", "allow": allow}
        return read_responses(*map(str, paths), **options), None
    try:
        answers = read_responses_beside_verdicts(sources, reasoning="keep", allow=allow)
    except OtherQuestionError as error:
        if not items_renamed and not _is_in_log(error, readers):
            raise
        return None, str(error)
    except PodiumError as error:
        return None, str(error)
    # The items of scores may be named by another run than those of the answers.
    if select_codes(answers.notes, CODES_OF_PAIRING):
        return None, PAIRED_BY_INPUT
    if not answers.texts:
        return None, NO_ANSWERS
    return answers, None


def _is_in_log(error: OtherQuestionError, readers: Sequence[FileReader]) -> bool:
    """Return whether the source of an error is a log or samples file of a host."""
    path = Path(error.source or "")
    if is_samples(path):
        return True
    return any(path.name.endswith(reader.suffixes) and reader.accepts(path) for reader in readers)


def identical_items(responses: Responses, candidate: str, baseline: str) -> frozenset[str] | None:
    """Return the items on which the answers of two models are identical, character by character.

    On an item with several answers of a model, all answers must be identical, in the same order. If
    an answer of either model is missing, the answers on the item are not identical.

    Returns:
        The ids of the items; None if one of the models is not among the responses.
    """
    if candidate not in responses.texts or baseline not in responses.texts:
        return None
    candidate_answers = responses.texts[candidate]
    baseline_answers = responses.texts[baseline]
    identical = []
    for item in responses.items:
        answers = [candidate_answers.get(key) for key in item.keys]
        others = [baseline_answers.get(key) for key in item.keys]
        if None not in answers and answers == others:
            identical.append(item.id)
    return frozenset(identical)


def items_of_identical(battles: Battles, candidate: str, baseline: str) -> frozenset[str] | None:
    """Return the items on which two models have identical responses, as their battles say.

    These are the items on which the responses in the tables of verdicts are equal, and those on
    which all battles are ties of identical responses.

    Returns:
        The ids of the items; None if the tables have no responses of the two models, and no battle
        of any model says that its responses are identical.
    """
    first, second = sorted((candidate, baseline))
    items_with_equal_texts = battles.identical_responses.get((first, second))
    flagged_items = _items_of_flagged_ties(battles, candidate, baseline)
    if items_with_equal_texts is None:
        return flagged_items
    if flagged_items is None:
        return items_with_equal_texts
    return items_with_equal_texts | flagged_items


def _items_of_flagged_ties(
    battles: Battles, candidate: str, baseline: str
) -> frozenset[str] | None:
    """Return the items on which all battles of two models are ties of identical responses.

    Returns:
        The ids of the items, empty if the two have none; None if no battle of any model says that
        its responses are identical, or if battles have no items.
    """
    if not battles.tally.identical or not battles.has_items:
        return None
    table = battles.table
    pair = {candidate, baseline}
    is_of_pair = table["model_a"].isin(pair) & table["model_b"].isin(pair)
    rows_of_pair = table[is_of_pair & table["item"].notna()]
    is_identical = rows_of_pair[IDENTICAL].eq(True).groupby(rows_of_pair["item"].astype(str)).all()
    return frozenset(is_identical.index[is_identical])
