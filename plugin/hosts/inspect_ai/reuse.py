"""An earlier run of the same tournament: what could be read there need not be asked again."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalSample, read_eval_log

from podium.errors import UsageError
from podium.hosts.inspect_ai.log_format import BATTLES, NAMESPACE
from podium.hosts.inspect_ai.packing import battles_of
from podium.scorers.judging import Judging, reply_of

Key = tuple[str, str, str, str, str, int]
"""Judge, item, both entrants, order, repeat."""


def recorded(path: str, how: Judging) -> dict[Key, dict[str, Any]]:
    """Return the presentations of a log that could be read.

    Raises:
        UsageError: there is no such log, or it is of no tournament.
    """
    if not Path(path.removeprefix("file://")).exists():
        raise UsageError(f"reask={path}: there is no such log")
    log = read_eval_log(path, exclude_fields={"events", "messages", "attachments"})
    found: dict[Key, dict[str, Any]] = {}
    battles = [one for one in log.samples or [] if NAMESPACE in one.store]
    if not battles:
        raise UsageError(f"reask={path}: the log holds no battles of podium")
    for own, shown in (one for sample in battles for one in _shown(sample)):
        mode = shown["mode"] if how.logprobs == "auto" else how.logprobs
        if all(how.reason(reply_of(one), mode) is None for one in shown["replies"]):
            key = (shown["judge"], own["item"], own["model_a"], own["model_b"], shown["order"], shown["repeat"])
            found[key] = shown
    return found


def _shown(sample: EvalSample) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield every presentation of a sample, with its battle."""
    kept = sample.store[NAMESPACE]
    for own, one in zip(battles_of(sample.metadata), kept.get(BATTLES, [kept]), strict=True):
        yield from ((own, shown) for shown in one["presentations"])
