"""Name two runs by their models, or those of one model by what differs between them."""

from collections.abc import Callable, Sequence

from podium.data.formats.files import find_files, local_files
from podium.errors import PodiumError, UsageError
from podium.hookspecs import Reading, SourceFiles, load_target
from podium.plugins import catalogue
from podium.run_record import ONE_TASK, RunRecord
from podium.storage.remote import is_url
from podium.wording import join_names

SHOWN_OF_REVISION = 7
"""Number of characters of a commit that a name shows."""
RunReader = Callable[[Sequence[SourceFiles], Reading], Sequence[RunRecord]]


def name_compared_runs(
    words: Sequence[str], suffixes: tuple[str, ...], *, names_joined: bool = False
) -> tuple[tuple[str, str], tuple[str, ...]] | None:
    """Return the names of two runs, and the sources to read.

    Runs of two models have the names of the models. Runs of one model that differ in settings have
    the names that a ranking of both gives them. In both cases the sources are unchanged. Others are
    named by their revision of the code, if it is known and differs, or else by their time. The
    names are then the labels of the sources.

    Args:
        words: two paths.
        suffixes: suffixes of logs, as for `find_files`.
        names_joined: whether names of models that look the same are names of one model.

    Returns:
        The two names and the two sources, in the order of `words`. None if a path holds another
        number of models than one, if nothing that is known of the runs differs, or if a label is
        needed and a path is a URL. A format that cannot read the paths is skipped.

    Raises:
        UsageError: a path holds runs of one model with different settings, or both paths hold runs
            of one model and have no task in common.
    """
    places = [find_files(word, suffixes) for word in words]
    for known in catalogue.formats():
        if known.runs is None:
            continue
        try:
            local = [local_files(place, known.names) for place in places]
            read: RunReader = load_target(known.runs)
            reading = Reading(names_joined=names_joined)
            alone = [read([place], reading) for place in local]
            together = read(local, reading)
        except PodiumError:
            continue
        _require_one_setting(words, alone)
        named = _names_of_two_runs(alone, together)
        if named is None:
            continue
        names, are_labels = named
        if not are_labels:
            return names, tuple(words)
        if not any(map(is_url, words)):
            return names, tuple(f"{name}={word}" for name, word in zip(names, words, strict=True))
    return None


def _require_one_setting(words: Sequence[str], alone: Sequence[Sequence[RunRecord]]) -> None:
    """Check that no path holds runs of one model with different settings.

    Args:
        words: the paths.
        alone: the runs at each path, with the names that they have in a ranking of this path.

    Raises:
        UsageError: a path does. One of its runs must be named.
    """
    for word, runs in zip(words, alone, strict=True):
        names = sorted({run.model for run in runs})
        if len(names) > 1 and any(run.named_settings for run in runs):
            raise UsageError(
                f"{word} holds runs with different settings, {join_names(names)}: name the two "
                "models to compare, as podium compare 'NAME' 'OTHER NAME' SOURCE..."
            )


def _names_of_two_runs(
    alone: Sequence[Sequence[RunRecord]], together: Sequence[RunRecord]
) -> tuple[tuple[str, str], bool] | None:
    """Return the names of two runs, and whether they are labels.

    Args:
        alone: the runs at each of two paths, with the names in a ranking of this path.
        together: the runs at both paths, with the names in a ranking of both.

    Returns:
        The names, and True if they are made of revisions or times and have to be written before the
        sources. None if a path does not hold one model, or if nothing differs.
    """
    models = [{run.model for run in runs} for runs in alone]
    if [len(held) for held in models] != [1, 1]:
        return None
    names = []
    for runs in alone:
        # A results file stands for the samples files beside it, which are the sources of its runs.
        sources = {run.source for run in runs}
        names.append({run.model for run in together if run.source in sources})
    if [len(names_of_place) for names_of_place in names] == [1, 1] and names[0] != names[1]:
        first, second = (names_of_place.pop() for names_of_place in names)
        return (first, second), False
    if models[0] != models[1]:
        return None
    _require_one_task(alone)
    newest = [max(runs, key=lambda run: run.time) for runs in alone]
    labels = _label_by_revision_or_time(*newest)
    return None if labels is None else (labels, True)


def _require_one_task(alone: Sequence[Sequence[RunRecord]]) -> None:
    """Raise UsageError if the runs of one model at two paths have no task in common."""
    first, second = (sorted({run.task for run in runs}) for runs in alone)
    if not {*first} & {*second}:
        raise UsageError(
            f"both are runs of {alone[0][0].model}, on {join_names(first)} and on "
            f"{join_names(second)}: {ONE_TASK}"
        )


def _label_by_revision_or_time(first: RunRecord, second: RunRecord) -> tuple[str, str] | None:
    """Return labels of two runs of one model, such as `m (revision 3ee02d5)`.

    The revision is shown if both are known and differ in the characters shown, else the time. None
    if neither the revision nor the time is known to differ.
    """
    model = first.model
    ours, theirs = first.revision, second.revision
    if ours and theirs and ours[:SHOWN_OF_REVISION] != theirs[:SHOWN_OF_REVISION]:
        shown = [revision[:SHOWN_OF_REVISION] for revision in (ours, theirs)]
        return f"{model} (revision {shown[0]})", f"{model} (revision {shown[1]})"
    if first.time and second.time and first.time != second.time:
        return f"{model} ({first.time})", f"{model} ({second.time})"
    return None
