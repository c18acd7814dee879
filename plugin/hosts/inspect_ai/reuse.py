"""An earlier run of the same tournament: what could be read there need not be asked again."""

from typing import Any

from inspect_ai.log import read_eval_log

from podium.errors import UsageError
from podium.hosts.inspect_ai.log_format import BATTLES, NAMESPACE, PRESENTATIONS, battles_of, local_path
from podium.scorers.judging import Judging, reply_of

Key = tuple[str, str, str, str, str, int]
"""Judge, item, both entrants, order, repeat."""


def readable_presentations(path: str, how: Judging) -> dict[Key, dict[str, Any]]:
    """Return the presentations of a log that could be read.

    Raises:
        UsageError: there is no such log, or it is of no tournament.
    """
    if not local_path(path).exists():
        raise UsageError(f"reask={path}: there is no such log")
    log = read_eval_log(path, exclude_fields={"events", "messages", "attachments"})
    samples = [sample for sample in log.samples or [] if NAMESPACE in sample.store]
    if not samples:
        raise UsageError(f"reask={path}: the log holds no battles of podium")
    readable: dict[Key, dict[str, Any]] = {}
    for sample in samples:
        kept = sample.store[NAMESPACE]
        for battle, replies in zip(battles_of(sample.metadata), kept.get(BATTLES, [kept]), strict=True):
            for shown in replies[PRESENTATIONS]:
                mode = shown["mode"] if how.logprobs == "auto" else how.logprobs
                if all(how.reason(reply_of(reply), mode) is None for reply in shown["replies"]):
                    sides = (battle["item"], battle["model_a"], battle["model_b"])
                    readable[(shown["judge"], *sides, shown["order"], shown["repeat"])] = shown
    return readable
