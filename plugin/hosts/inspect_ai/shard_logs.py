"""Shards in the logs of a folder: which tournament a log belongs to, and what the logs of its shards lack together."""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pandas as pd
from inspect_ai.log import EvalLog

from podium.errors import DataError
from podium.hosts.inspect_ai.compatibility import flatten_arguments
from podium.hosts.inspect_ai.log_contents import LEFT_OUT, NAMESPACE, PROMPTS, SCHEDULED, SHARD, is_tournament
from podium.text import some

NO_MATTER = frozenset({"name", "responses", "cache", "pack", "reask", "shard"})
"""Arguments that change neither battles nor verdicts, or that a plan holds in another field."""
PartLog = tuple[Path, EvalLog, pd.DataFrame]
"""A log, its header, and its rows."""


def plan_in(log: EvalLog) -> dict[str, Any]:
    """Return the plan of a log's tournament: all that decides its battles and verdicts. Shards of one plan share it."""
    spec = log.eval
    typed = flatten_arguments(spec.task_args)
    given = {name: value for name, value in typed.items() if name not in NO_MATTER and value is not None}
    named = {
        "tournament": spec.task.rpartition("/")[2],
        "responses": str(spec.task_version),
        "prompts": (spec.metadata or {}).get(PROMPTS),
        "judges": {role: _plain(judge) for role, judge in (spec.model_roles or {}).items()},
        "settings": given,
    }
    plan: dict[str, Any] = json.loads(json.dumps(named, default=str))
    return plan


def shard_in(log: EvalLog) -> dict[str, int]:
    """Return which shard of its plan a log holds, as described at `log_contents.SHARD`; empty for the whole plan."""
    return (log.eval.metadata or {}).get(SHARD) or {}


def digest_of(plan: Mapping[str, Any]) -> str:
    """Return a hash of a plan."""
    return sha256(json.dumps(plan, sort_keys=True).encode()).hexdigest()


def difference_of(plan: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Name the fields and settings in which two plans differ."""
    names = [name for name in plan if name != "settings" and plan[name] != other[name]]
    ours, theirs = plan["settings"], other["settings"]
    names += sorted(f"{name}=" for name in {*ours, *theirs} if ours.get(name) != theirs.get(name))
    return some(names)


def _plain(judge: Any) -> Any:
    """Return a model of a role, or several, as JSON can hold it."""
    return [_plain(each) for each in judge] if isinstance(judge, list) else judge.model_dump(exclude_none=True)


def join_shards(logs: Sequence[PartLog]) -> list[str]:
    """Count as missing the battles of shards that were not read.

    Returns:
        Notes that name these shards.

    Raises:
        DataError: shards of several plans, of which one is not whole; or the same battles in shards and as a whole.
    """
    plans: dict[str, list[PartLog]] = {}
    for log in logs:
        if is_tournament(log[1]):
            plans.setdefault(digest_of(plan_in(log[1])), []).append(log)
    divided = [own for own in plans.values() if any(shard_in(header) for _, header, _ in own)]
    for own in divided:
        _refuse_twice_divided(own)
    unseen = [_count_unseen(own) for own in divided]
    if len(divided) > 1 and any(unseen):
        (first, header, _), (second, other, _), *_ = (own[0] for own in divided)
        why = difference_of(plan_in(header), plan_in(other))
        raise DataError(
            f"shards of different plans: {first} and {second} differ in {why}",
            remedy="give the shards of one plan, or all shards of each",
        )
    return [note for note in unseen if note]


def _refuse_twice_divided(logs: Sequence[PartLog]) -> None:
    """Refuse shards of halves and of thirds, and a whole run beside shards: they hold the same battles."""
    numbers = {shard_in(header).get("of"): path for path, header, _ in logs}
    if len(numbers) == 1:
        return
    ways = [f"{path} ({f'one of {of} shards' if of else 'the whole'})" for of, path in numbers.items()]
    raise DataError(
        f"the same battles would count twice: {' and '.join(ways)} are of one plan",
        remedy="give the shards of one division, or the whole run alone",
    )


def _count_unseen(logs: Sequence[PartLog]) -> str:
    """Name the shards of a plan that were not read, and count their battles as missing in the first log's rows."""
    shards = [shard_in(header) for _, header, _ in logs]
    of, seen = shards[0]["of"], {shard["number"] for shard in shards}
    unseen = [f"{k}/{of}" for k in range(1, of + 1) if k not in seen]
    if not unseen:
        return ""
    # Runs of one shard that count as repeats are one shard here.
    abouts = [header.eval.metadata or {} for _, header, _ in logs]
    own = {
        shard["number"]: int(about[SCHEDULED]) + int(about[f"{NAMESPACE}_{LEFT_OUT}"])
        for shard, about in zip(shards, abouts, strict=True)
    }
    whole = shards[0]["battles"] + shards[0]["left_out"]
    missing = max(whole - sum(own.values()), 0) * (logs[0][1].eval.config.epochs or 1)
    logs[0][2].attrs["missing"] = (logs[0][2].attrs.get("missing") or 0) + missing
    return f"not seen: shard {some(unseen, most=8)}; {missing:,} battles of the plan are missing with it"
