"""The plan of a tournament: all that decides its battles and verdicts, by which logs belong together."""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from inspect_ai.log import EvalLog

from podium.hosts.inspect_ai.compatibility import flatten_arguments
from podium.hosts.inspect_ai.log_format import PROMPTS
from podium.text import some

NO_MATTER = frozenset({"name", "responses", "cache", "pack", "reask", "shard", "look", "played"})
"""Arguments of a tournament that do not make it another one, or stand in its plan by themselves."""


def plan_of(
    tournament: str,
    *,
    responses: str | int,
    prompts: str | None,
    judges: Mapping[str, Any],
    settings: Mapping[str, Any],
) -> dict[str, Any]:
    """Return what makes a tournament this one and no other; shards and looks of one plan have it in common.

    Args:
        tournament: its name.
        responses: a digest of entrants, items and what the judge is shown of them.
        prompts: a hash of the judge's prompts.
        judges: configurations of the models, or lists of them, by role.
        settings: as typed; those that do not matter are left out, and those that nobody gave.
    """
    given = {name: value for name, value in settings.items() if name not in NO_MATTER and value is not None}
    roles = {role: _plain(judge) for role, judge in judges.items()}
    named = {"tournament": tournament, "responses": str(responses), "prompts": prompts}
    plan: dict[str, Any] = json.loads(json.dumps({**named, "judges": roles, "settings": given}, default=str))
    return plan


def plan_in(log: EvalLog) -> dict[str, Any]:
    """Return the plan of the tournament that a log is of."""
    spec = log.eval
    return plan_of(
        spec.task.rpartition("/")[2],
        responses=spec.task_version,
        prompts=(spec.metadata or {}).get(PROMPTS),
        judges=spec.model_roles or {},
        settings=flatten_arguments(spec.task_args),
    )


def digest_of(plan: Mapping[str, Any]) -> str:
    """Return a hash of a plan."""
    return sha256(json.dumps(plan, sort_keys=True).encode()).hexdigest()


def difference_of(plan: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Say in what two plans differ."""
    names = [name for name in plan if name != "settings" and plan[name] != other[name]]
    ours, theirs = plan["settings"], other["settings"]
    names += sorted(f"{name}=" for name in {*ours, *theirs} if ours.get(name) != theirs.get(name))
    return some(names)


def _plain(judge: Any) -> Any:
    """Return a model of a role, or several, as JSON can hold it."""
    return [_plain(each) for each in judge] if isinstance(judge, list) else judge.model_dump(exclude_none=True)
