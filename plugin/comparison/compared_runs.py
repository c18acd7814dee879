"""Name two runs by their models, or those of one model by what differs between them."""

from collections.abc import Callable, Sequence

from podium.data.formats.files import find_files, local_files
from podium.errors import PodiumError, UsageError
from podium.hookspecs import Reading, SourceFiles, load_target
from podium.plugins import catalogue
from podium.run_record import ONE_TASK, RunRecord
from podium.storage.remote import is_url
from podium.wording import join_names

SHOWN_REVISION_LENGTH = 7
"""Number of characters of a commit that a name shows."""
RunReader = Callable[[Sequence[SourceFiles], Reading], Sequence[RunRecord]]
"""A function of a format that returns the runs in some files, with the names of their models."""


def name_compared_runs(
    words: Sequence[str], suffixes: tuple[str, ...], *, names_joined: bool = False
) -> tuple[tuple[str, str], tuple[str, ...]] | None:
    """Return the names of two runs, and the sources to read.

    Runs of two models have the names of the models. Runs of one model that differ in settings have
    the names that a ranking of both gives them. In both cases, the sources are unchanged. Other
    runs are named by their revision of the code, if it is known and differs, or else by their time.
    The names are then written before the sources, as labels.

    Args:
        words: two paths.
        suffixes: suffixes of logs, as for `find_files`.
        names_joined: whether names of models that look the same are names of one model.

    Returns:
        The two names and the two sources, in the order of `words`. None if a path does not hold
        exactly one model, if nothing that is known of the runs differs, or if a label is needed and
        a path is a URL. A format that cannot read the paths is skipped.

    Raises:
        UsageError: a path does not exist, a path holds runs of one model with different settings,
            or both paths hold runs of one model and have no task in common.
    """
    paths = [find_files(word, suffixes) for word in words]
    for file_format in catalogue.formats():
        if file_format.runs is None:
            continue
        try:
            files_of_paths = [local_files(place, file_format.names) for place in paths]
            read: RunReader = load_target(file_format.runs)
            reading = Reading(names_joined=names_joined)
            runs_at_paths = [read([place], reading) for place in files_of_paths]
            runs_at_both = read(files_of_paths, reading)
        except PodiumError:
            continue
        _reject_different_settings(words, runs_at_paths)
        names_and_kind = _names_of_two_runs(runs_at_paths, runs_at_both)
        if names_and_kind is None:
            continue
        names, are_labels = names_and_kind
        if not are_labels:
            return names, tuple(words)
        if not any(map(is_url, words)):
            return names, tuple(f"{name}={word}" for name, word in zip(names, words, strict=True))
    return None


def _reject_different_settings(
    words: Sequence[str], runs_at_paths: Sequence[Sequence[RunRecord]]
) -> None:
    """Check that no path holds runs of one model with different settings.

    Args:
        words: the paths.
        runs_at_paths: the runs at each path, with their names in a ranking of this path.

    Raises:
        UsageError: a path holds such runs. The user must name two of them.
    """
    for word, runs in zip(words, runs_at_paths, strict=True):
        names = sorted({run.model for run in runs})
        # Settings are in the name of a run only where runs of its model differ in them.
        differ_in_settings = any(run.named_settings for run in runs)
        if len(names) > 1 and differ_in_settings:
            raise UsageError(
                f"{word} holds runs with different settings, {join_names(names)}: name the two "
                "models to compare, as podium compare 'NAME' 'OTHER NAME' SOURCE..."
            )


def _names_of_two_runs(
    runs_at_paths: Sequence[Sequence[RunRecord]], runs_at_both: Sequence[RunRecord]
) -> tuple[tuple[str, str], bool] | None:
    """Return the names of two runs, and whether they are labels.

    Args:
        runs_at_paths: the runs at each of two paths, with the names in a ranking of this path.
        runs_at_both: the runs at both paths, with the names in a ranking of both.

    Returns:
        The names, and whether they are labels: True if they consist of revisions or times, of the
        newest run at each path, and must be written before the sources. None if a path does not
        hold one model, if two models have no different names in the ranking of both, or if nothing
        differs between runs of one model.

    Raises:
        UsageError: both paths hold runs of one model and have no task in common.
    """
    models_at_paths = [{run.model for run in runs} for runs in runs_at_paths]
    if not all(len(models) == 1 for models in models_at_paths):
        return None
    names_in_both = []
    for runs in runs_at_paths:
        # A results file stands for the samples files beside it, which are the sources of its runs.
        sources = {run.source for run in runs}
        names_in_both.append({run.model for run in runs_at_both if run.source in sources})
    have_one_name = all(len(names) == 1 for names in names_in_both)
    if have_one_name:
        first, second = (min(names) for names in names_in_both)
        if first != second:
            return (first, second), False
    models_at_first, models_at_second = models_at_paths
    if models_at_first != models_at_second:
        return None
    _require_one_task(runs_at_paths)
    newest = [max(runs, key=lambda run: run.time) for runs in runs_at_paths]
    labels = _label_by_revision_or_time(*newest)
    return None if labels is None else (labels, True)


def _require_one_task(runs_at_paths: Sequence[Sequence[RunRecord]]) -> None:
    """Raise UsageError if the runs of one model at two paths have no task in common."""
    first, second = (sorted({run.task for run in runs}) for runs in runs_at_paths)
    if not {*first} & {*second}:
        raise UsageError(
            f"both are runs of {runs_at_paths[0][0].model}, on {join_names(first)} and on "
            f"{join_names(second)}: {ONE_TASK}"
        )


def _label_by_revision_or_time(first: RunRecord, second: RunRecord) -> tuple[str, str] | None:
    """Return labels of two runs of one model, such as `m (revision 3ee02d5)`.

    The revision is shown if both are known and differ in the characters shown, else the time. The
    result is None if neither the revision nor the time is known to differ.
    """
    model = first.model
    first_revision = (first.revision or "")[:SHOWN_REVISION_LENGTH]
    second_revision = (second.revision or "")[:SHOWN_REVISION_LENGTH]
    if first_revision and second_revision and first_revision != second_revision:
        return f"{model} (revision {first_revision})", f"{model} (revision {second_revision})"
    if first.time and second.time and first.time != second.time:
        return f"{model} ({first.time})", f"{model} ({second.time})"
    return None
