"""Read and rank battles for a host, by podium's options of the run."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from podium.data.battles import Battles
from podium.data.query import BattleQuery
from podium.data.reading.judgments import read_query
from podium.errors import PodiumError
from podium.hosts.ranker_options import RankerOptions
from podium.hosts.tournament_failure import TournamentFailure
from podium.notices.notice import Notice
from podium.plugins import catalogue
from podium.plugins.settings import parameters_of
from podium.rankers.ranking import Ranking
from podium.ranking.rank_battles import rank, ranked_apart

ANCHOR = "anchor"
"""Name of a tournament, of its option, and of an option of rankers."""


def rank_for_host(battles: Battles, options: RankerOptions, settings: Mapping[str, Any]) -> Ranking:
    """Rank battles by the rankers of a run, with the calibration of its options if they have one.

    Several metrics are ranked separately, and so are several judges unless they are one jury or all
    rankers can rank them together (`ranked_apart`).

    Args:
        battles: the battles.
        options: podium's options of the run: the rankers, and the file of the calibration.
        settings: options of the rankers, by name.

    Raises:
        PodiumError: an option is wrong, or no ranker has an answer.
    """
    rank_options: dict[str, Any] = {
        "by": ranked_apart(battles, options.rankers),
        "calibration": options.calibration,
    }
    return rank(battles, options.rankers, **rank_options, **settings)


def with_anchor(
    options: RankerOptions, settings: Mapping[str, Any], pinned: str | None, models: Collection[str]
) -> RankerOptions:
    """Return options in which a tournament `anchor` is played against the model that rankers need.

    It is the first model in `models` that a setting `anchor` of a ranker names, else the pinned
    reference if it is in `models`. The options are returned unchanged if there is no such model, if
    they name the anchor already, or if they are of another tournament.

    Args:
        options: podium's options of the run.
        settings: options of the rankers, by name.
        pinned: the pinned reference; None if there is none.
        models: the models that will play.
    """
    if not _plays_anchor(options) or ANCHOR in options.args:
        return options
    wanted = [name for _, name in _anchors_needed(options, settings, pinned) if name in models]
    return replace(options, args={**options.args, ANCHOR: wanted[0]}) if wanted else options


def notes_on_anchors(
    options: RankerOptions, settings: Mapping[str, Any], pinned: str | None
) -> tuple[Notice, ...]:
    """Return a warning for each model that a ranking needs as an anchor and that plays as none.

    Nothing is returned unless the run is followed by a tournament `anchor` whose option `anchor` is
    given: if it is not given, `with_anchor` sets it.

    Args:
        options: podium's options of the run.
        settings: options of the rankers, by name.
        pinned: the pinned reference; None if there is none.
    """
    if not _plays_anchor(options) or ANCHOR not in options.args:
        return ()
    value = options.args[ANCHOR]
    texts = value if isinstance(value, list) else [value]
    named_anchors: list[str] = []
    for text in texts:
        named_anchors += str(text).strip().split(",")
    reasons: dict[str, list[str]] = {}
    for reason, anchor in _anchors_needed(options, settings, pinned):
        if anchor not in named_anchors:
            reasons.setdefault(anchor, []).append(reason)
    notes = []
    for anchor, reasons_of_anchor in reasons.items():
        fields = {
            "reasons": " and ".join(reasons_of_anchor),
            "number": len(reasons_of_anchor),
            "anchor": anchor,
        }
        notes.append(Notice("anchors-differ", {**fields, "played": " and ".join(named_anchors)}))
    return tuple(notes)


def _plays_anchor(options: RankerOptions) -> bool:
    """Return whether the run is followed by the tournament `anchor`."""
    return (options.tournament or "").removeprefix("podium/") == ANCHOR


def _anchors_needed(
    options: RankerOptions, settings: Mapping[str, Any], pinned: str | None
) -> list[tuple[str, str]]:
    """Return the models whose battles the ranking needs, as pairs of a reason and the model.

    The reason is the name of the ranker whose setting `anchor` names this model, or the names of
    all rankers, with commas, if the setting is of all. For the pinned reference, which comes last,
    it is `the pinned reference`.

    Args:
        options: podium's options of the run.
        settings: options of the rankers, by name.
        pinned: the pinned reference; None if there is none.
    """
    needed = []
    for name, value in settings.items():
        ranker, _, setting = name.rpartition(".")
        if setting == ANCHOR and value:
            needed.append((ranker or ",".join(options.rankers), str(value)))
    return needed if pinned is None else [*needed, ("the pinned reference", pinned)]


def lines_beside(messages: int, options: RankerOptions) -> int:
    """Return how many lines a host prints of a ranking beside the ranking itself.

    For a tournament, one line is added for its preview, and one for the note that other rankers may
    replace those that use a calibration, if none is given.

    Args:
        messages: number of lines after the ranking, and in the host's own table.
        options: podium's options of the run.
    """
    if not options.judges:
        return messages
    functions = map(catalogue.ranker_function, options.rankers)
    takes_calibration = any("calibration" in parameters_of(function) for function in functions)
    may_be_replaced = takes_calibration and options.calibration is None
    return messages + (2 if may_be_replaced else 1)


def read_logs_for_host(sources: Sequence[str], one_sided: Any, options: RankerOptions) -> Battles:
    """Read logs of Inspect by the options of reading of a run.

    Args:
        sources: the logs, each optionally `label=path`.
        one_sided: what happens if only one of two orders is unparsed: `unparsed` or `keep`; None
            for what the logs record.
        options: podium's options of the run.

    Raises:
        PodiumError: the logs cannot be read, or an option of reading is wrong.
    """
    query = BattleQuery(sources, format="inspect", one_sided=one_sided, **options.reading)
    return read_query(query)


def read_played_log(
    log: object, failure: TournamentFailure | None, options: RankerOptions
) -> Battles:
    """Read the log of a tournament that a host has played after its run.

    Args:
        log: the log's path or URL.
        failure: why battles failed; None if none failed.
        options: podium's options of the run.

    Raises:
        PodiumError: the judge cannot judge, no battle was judged after a failure, or the log cannot
            be read. Ties of identical responses do not count as judged.
    """
    if failure and failure.judge_cannot_judge:
        raise PodiumError(failure.message)
    one_sided = options.args.get("one_sided")
    try:
        battles = read_logs_for_host([str(log)], one_sided, options)
    except PodiumError:
        if failure is None:
            raise
        raise PodiumError(f"no battle was judged: {failure}") from None
    if failure and not battles.asked_battles.tally.judged:
        raise PodiumError(f"no battle was judged: {failure}")
    return battles
