"""The logs of a tournament's shards: which tournament each belongs to, and which shards are missing."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from inspect_ai.log import EvalLog
from pydantic_core import to_jsonable_python

from podium.errors import DataError
from podium.hosts.inspect_ai.compatibility import flatten_arguments
from podium.hosts.inspect_ai.log_contents import TournamentMetadata, read_tournament
from podium.text import some

NO_MATTER = frozenset({"name", "responses", "cache", "pack", "reask", "shard"})
"""Arguments that change neither battles nor verdicts, or that a plan holds in another field."""


class PlannedLog(NamedTuple):
    """A tournament's log: its file, what its header says, and its rows."""

    path: Path
    tournament: TournamentMetadata
    epochs: int
    frame: pd.DataFrame


def plan_in(log: EvalLog, tournament: TournamentMetadata) -> dict[str, Any]:
    """Return everything that decides the battles and verdicts of a log's tournament; its shards share it."""
    spec, typed = log.eval, flatten_arguments(log.eval.task_args).items()
    named = {
        "tournament": spec.task.rpartition("/")[2],
        "responses": str(spec.task_version),
        "prompts": tournament.prompts,
        "judges": spec.model_roles or {},
        **{f"{name}=": value for name, value in typed if name not in NO_MATTER and value is not None},
    }
    plain = json.dumps(named, default=lambda value: to_jsonable_python(value, exclude_none=True, fallback=str))
    return dict(json.loads(plain))


def join_shards(logs: Sequence[tuple[Path, EvalLog, pd.DataFrame]]) -> list[str]:
    """Count the battles of shards that were not read as missing, in `attrs` of the first log's rows."""
    plans: dict[str, list[PlannedLog]] = {}
    for path, header, frame in logs:
        if tournament := read_tournament(header):
            log = PlannedLog(path, tournament, header.eval.config.epochs or 1, frame)
            plans.setdefault(json.dumps(plan_in(header, tournament), sort_keys=True), []).append(log)
    divided = {plan: group for plan, group in plans.items() if any(log.tournament.shard for log in group)}
    for group in divided.values():
        _refuse_two_divisions(group)
    notes = [_count_missing_shards(group) for group in divided.values()]
    if len(divided) > 1 and any(notes):
        ours, theirs = map(json.loads, [*divided][:2])
        names = sorted(name for name in {*ours, *theirs} if ours.get(name) != theirs.get(name))
        first, second = (group[0].path for group in [*divided.values()][:2])
        raise DataError(
            f"shards of different plans: {first} and {second} differ in {some(names)}",
            remedy="give the shards of one plan, or all shards of each",
        )
    return [note for note in notes if note]


def _refuse_two_divisions(logs: Sequence[PlannedLog]) -> None:
    """Raise DataError for shards of halves beside thirds, or beside a whole run: they hold the same battles."""
    path_of = {log.tournament.shard and log.tournament.shard.of: log.path for log in logs}
    if len(path_of) > 1:
        ways = [f"{path} ({f'one of {of} shards' if of else 'the whole'})" for of, path in path_of.items()]
        raise DataError(
            f"the same battles would count twice: {' and '.join(ways)} are of one plan",
            remedy="give the shards of one division, or the whole run alone",
        )


def _count_missing_shards(logs: Sequence[PlannedLog]) -> str:
    """Add the battles of shards without a log to the number missing; return a note that names the shards, or ""."""
    # Runs of one shard that count as repeats are one shard here.
    headers = [log.tournament for log in logs]
    battles = {header.shard.number: header.scheduled + header.left_out for header in headers if header.shard}
    whole = headers[0].shard
    absent = [f"{k}/{whole.of}" for k in range(1, whole.of + 1) if k not in battles] if whole else []
    if whole is None or not absent:
        return ""
    missing = max(whole.battles + whole.left_out - sum(battles.values()), 0) * logs[0].epochs
    logs[0].frame.attrs["missing"] = (logs[0].frame.attrs.get("missing") or 0) + missing
    return f"shard {some(absent, most=8)} is missing, and with it {missing:,} battles of the plan"
