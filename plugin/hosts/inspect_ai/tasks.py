"""The tasks of all tournaments, as `podium/round_robin`, each of which has one engine.

A task's signature has the tournament's own options with the defaults of its rule, which describes
them (`podium.tournaments`). `RunOptions` has the options of every tournament.
"""

# The name `kwargs` is fixed: Inspect passes other names than those of a signature only to
# a parameter of this name.

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Unpack

from inspect_ai import Task, task

from podium.errors import UsageError
from podium.hosts.inspect_ai.inspect_ai_compatibility import flatten_arguments, plain_errors
from podium.hosts.inspect_ai.tournament.run_options import RunOptions

Names = str | Sequence[str]
"""Names or sources, as a list or as a text separated by commas."""
Ratings = str | Mapping[str, Any]
"""Ratings of models that were rated before; see `podium.rankers.given_ratings.Ratings`."""


@task
def round_robin(
    responses: Names = (),
    *,
    items: int | None = None,
    until: str = "",
    margin: float = 0.0,
    level: float = 0.95,
    start: int = 40,
    **kwargs: Unpack[RunOptions],
) -> Task:
    """Play all pairs of models on every item, or on `items` of them."""
    settings = {"items": items, "until": until, "margin": margin, "level": level, "start": start}
    return _make_task("round_robin", responses, settings=settings, options=kwargs)


@task
def anchor(
    responses: Names = (),
    *,
    anchor: Names = "auto",
    pilot: int = 10,
    items: int | None = None,
    until: str = "",
    margin: float = 0.0,
    level: float = 0.95,
    start: int = 40,
    **kwargs: Unpack[RunOptions],
) -> Task:
    """Play all models against one or several anchors, or the one that a pilot finds
    (`anchor=auto`)."""
    stopping = {"until": until, "margin": margin, "level": level, "start": start}
    settings = {"anchor": anchor, "pilot": pilot, "items": items, **stopping}
    return _make_task("anchor", responses, settings=settings, options=kwargs)


@task
def swim(
    responses: Names = (),
    *,
    items: int | None = None,
    order: Names | None = None,
    ratings: Ratings | None = None,
    **kwargs: Unpack[RunOptions],
) -> Task:
    """Let models join one by one and meet opponents of ever more similar rating."""
    settings = {"items": items, "order": order, "ratings": ratings}
    return _make_task("swim", responses, settings=settings, options=kwargs)


@task
def chain(
    responses: Names = (),
    *,
    items: int | None = None,
    until: str = "",
    margin: float = 0.0,
    level: float = 0.95,
    start: int = 40,
    **kwargs: Unpack[RunOptions],
) -> Task:
    """Play a random path through all models on each item."""
    settings = {"items": items, "until": until, "margin": margin, "level": level, "start": start}
    return _make_task("chain", responses, settings=settings, options=kwargs)


@task
def ring(
    responses: Names = (),
    *,
    items: int | None = None,
    until: str = "",
    margin: float = 0.0,
    level: float = 0.95,
    start: int = 40,
    passes: int = 2,
    opponents: Literal["open", "field"] = "field",
    ratings: Ratings | None = None,
    **kwargs: Unpack[RunOptions],
) -> Task:
    """Play a random cycle through all models on each item, one order per pair; `until` stops it
    early."""
    stopping = {"until": until, "margin": margin, "level": level, "start": start}
    schedule = {"passes": passes, "opponents": opponents, "ratings": ratings}
    return _make_task(
        "ring", responses, settings={"items": items, **stopping, **schedule}, options=kwargs
    )


@task(name="recorded")
def recorded_task(
    responses: Names = (),
    *,
    battles: Names = (),
    sample: int | None = None,
    **kwargs: Unpack[RunOptions],
) -> Task:
    """Play recorded `battles` again with the same responses, for another judge, realization or
    prompt."""
    return _make_task(
        "recorded", responses, settings={"battles": battles, "sample": sample}, options=kwargs
    )


@task
def tournament(
    name: str | None = None,
    responses: Names = (),
    **kwargs: Any,
) -> Task:
    """Play a tournament by its name, podium's or a plugin's. Options are those of every tournament
    (`RunOptions`) and the tournament's own, which only the plugin knows."""
    return _make_task(name or "", responses, settings={}, options=kwargs)


def _make_task(
    name: str, responses: Names, settings: Mapping[str, Any], options: Mapping[str, Any]
) -> Task:
    """Return the task of a tournament.

    An error of podium (UsageError, if no name was given) becomes one that Inspect shows without a
    traceback.

    Args:
        name: name of the tournament; empty if none was given, which is an error.
        responses: sources of responses.
        settings: the tournament's own options that are in the task's signature.
        options: options of the run and of the judge. Further options of the tournament may be
            among them; these override `settings`.
    """
    # Inspect imports this module for every command of everyone who has podium installed: the
    # engine waits.
    from podium.hosts.inspect_ai.tournament.tournament_request import split_options
    from podium.hosts.inspect_ai.tournament.tournament_task import tournament_task

    with plain_errors():
        if not name:
            raise UsageError(
                "podium/tournament plays a tournament by its name: -T name=NAME "
                "(podium list names them)"
            )
        further, run_options = split_options(name, flatten_arguments(options))
        return tournament_task(name, responses, {**settings, **further}, **run_options)
