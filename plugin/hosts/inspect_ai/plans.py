"""The plan of a tournament: all that decides its battles and verdicts, by which logs belong together; and its parts."""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pandas as pd
from inspect_ai.log import EvalLog

from podium.errors import DataError
from podium.hosts.inspect_ai.compatibility import flatten_arguments
from podium.hosts.inspect_ai.log_format import LEFT_OUT, NAMESPACE, PROMPTS, SCHEDULED, SHARD, is_tournament
from podium.text import some

NO_MATTER = frozenset({"name", "responses", "cache", "pack", "reask", "shard", "look", "played"})
"""Arguments of a tournament that do not make it another one, or stand in its plan by themselves."""
PartLog = tuple[Path, EvalLog, pd.DataFrame]
"""A log, what it says of itself, and its rows."""


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
        responses: a digest of models, items and what the judge is shown of them.
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


def part_in(log: EvalLog) -> dict[str, Any]:
    """Return which part of its plan a log is of, as `log_format.SHARD` says; nothing for the whole."""
    return (log.eval.metadata or {}).get(SHARD) or {}


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


def join_parts(logs: Sequence[PartLog]) -> list[str]:
    """Count as missing what no part holds that was read, and give all parts the answer of their plan.

    Returns:
        Notes of what was not seen.

    Raises:
        DataError: parts of several plans, of which one is not whole; or the same battles in parts and as a whole.
    """
    plans: dict[str, list[PartLog]] = {}
    for log in logs:
        if is_tournament(log[1]):
            plans.setdefault(digest_of(plan_in(log[1])), []).append(log)
    divided = {plan: own for plan, own in plans.items() if any(part_in(header) for _, header, _ in own)}
    for own in divided.values():
        _refuse_twice_divided(own)
    unseen = {plan: _count_unseen(own) for plan, own in divided.items()}
    if len(divided) > 1 and any(unseen.values()):
        (first, header, _), (second, other, _), *_ = (own[0] for own in divided.values())
        why = difference_of(plan_in(header), plan_in(other))
        raise DataError(
            f"shards of different plans: {first} and {second} differ in {why}",
            remedy="give the shards of one plan, or all shards of each",
        )
    return [note for plan, own in divided.items() for note in (unseen[plan] or _end_of_looks(own))]


def _refuse_twice_divided(logs: Sequence[PartLog]) -> None:
    """Refuse parts of halves and of thirds, and a whole run beside parts: they hold the same battles."""
    numbers = {part_in(header).get("of"): path for path, header, _ in logs}
    if len(numbers) == 1:
        return
    ways = [f"{path} ({f'one of {of} shards' if of else 'the whole'})" for of, path in numbers.items()]
    raise DataError(
        f"the same battles would count twice: {' and '.join(ways)} are of one plan",
        remedy="give the shards of one division, or the whole run alone",
    )


def _count_unseen(logs: Sequence[PartLog]) -> list[str]:
    """Say which parts of a plan were not seen; count what they would hold at the first of those that were."""
    parts = [part_in(header) for _, header, _ in logs]
    last = max(parts, key=lambda part: part["look"] or 1)
    end = min((part["look"] for part in parts if part["over"]), default=(last["look"] or 1) + 1)
    of, looks = last["of"], range(1, end)
    seen = {(part["look"] or 1, part["number"]) for part in parts}
    unseen = [(look, k) for look in looks for k in range(1, of + 1) if (look, k) not in seen]
    if not unseen:
        return []
    # Runs of one part that count as repeats are one part here.
    abouts = [header.eval.metadata or {} for _, header, _ in logs]
    own = {
        (part["look"], part["number"]): int(about[SCHEDULED]) + int(about[f"{NAMESPACE}_{LEFT_OUT}"])
        for part, about in zip(parts, abouts, strict=True)
    }
    missing = max(last["battles"] + last["left_out"] - sum(own.values()), 0) * (logs[0][1].eval.config.epochs or 1)
    logs[0][2].attrs["missing"] = (logs[0][2].attrs.get("missing") or 0) + missing
    names = [f"{k}/{of}{f' of look {look}' * bool(last['look'])}" for look, k in unseen]
    return [f"not seen: shard {some(names, most=8)}; {missing:,} battles of the plan are missing with it"]


def _end_of_looks(logs: Sequence[PartLog]) -> list[str]:
    """Give all parts the answer of their plan; say how it is found where no log holds it."""
    answer = next((frame.attrs["answer"] for _, _, frame in logs if frame.attrs.get("answer")), None)
    for _, _, frame in logs:
        frame.attrs["answer"] = answer
    look = max(part_in(header)["look"] or 0 for _, header, _ in logs)
    if not look or answer:
        return []
    further = f"-T look={look + 1} -T played=LOGS"
    return [f"look {look} is the last that was played; {further} goes on, or says the answer and asks nothing"]
