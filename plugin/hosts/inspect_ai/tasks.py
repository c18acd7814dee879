"""The tasks of all tournaments, as `podium/round_robin`, each of which has one engine."""

from collections.abc import Mapping, Sequence
from typing import Any

from inspect_ai import Task, task

from podium.errors import UsageError
from podium.hosts.inspect_ai.inspect_ai_compatibility import flatten_arguments, plain_errors

Names = str | Sequence[str]


@task
def round_robin(responses: Names = (), **kwargs: Any) -> Task:
    """Play all pairs of models on every item, or on `items` of them."""
    return _build_task("round_robin", responses, kwargs)


@task
def anchor(responses: Names = (), **kwargs: Any) -> Task:
    """Play all models against one or several anchors, or the one that a pilot finds
    (`anchor=auto`)."""
    return _build_task("anchor", responses, kwargs)


@task
def swim(responses: Names = (), **kwargs: Any) -> Task:
    """Let models join one by one and meet opponents of ever more similar rating."""
    return _build_task("swim", responses, kwargs)


@task
def chain(responses: Names = (), **kwargs: Any) -> Task:
    """Play a random path through all models on each item."""
    return _build_task("chain", responses, kwargs)


@task
def ring(responses: Names = (), **kwargs: Any) -> Task:
    """Play a random cycle through all models on each item, one order per pair; `until` stops it
    early."""
    return _build_task("ring", responses, kwargs)


@task(name="recorded")
def recorded_task(responses: Names = (), **kwargs: Any) -> Task:
    """Play recorded `battles` again with the same responses, for another judge, realization or
    prompt."""
    return _build_task("recorded", responses, kwargs)


@task
def tournament(name: str | None = None, responses: Names = (), **kwargs: Any) -> Task:
    """Play a tournament by its name, podium's or a plugin's."""
    return _build_task(name or "", responses, kwargs)


def _build_task(name: str, responses: Names, options: Mapping[str, Any]) -> Task:
    """Return the task of a tournament; the options are its own, those of a run and those of the
    judge."""
    # Inspect imports this module for every command of everyone who has podium installed: the engine
    # waits.
    from podium.hosts.inspect_ai.tournament.tournament_task import split_options, tournament_task

    with plain_errors():
        if not name:
            raise UsageError(
                "podium/tournament plays a tournament by its name: -T name=NAME (podium list names them)"
            )
        own, how = split_options(name, flatten_arguments(options))
        return tournament_task(name, responses, own, **how)
