"""Many battles judged at once, through Inspect's models: its providers, retries and cache, outside of any eval."""

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import anyio
from inspect_ai.model import GenerateConfig, Model

from podium.errors import UsageError
from podium.formats.lm_eval_judged import ABOUT
from podium.hosts.inspect_ai.concurrency import make_calls
from podium.hosts.inspect_ai.judge import Run, ask_jury, identity, jury_of
from podium.hosts.lm_eval.secrets import redacted
from podium.hosts.lm_eval.tournament import judge_model
from podium.scorers.judging import Judging, merge_rows, verdict_row

FAILED = "failed"
NOT_ASKED = "not asked: the judge kept failing"
PATIENCE = 20
"""Battles that fail one after the other before a judge is left alone."""
WRAPPERS = frozenset(("RetryError", "ModelGenerateError"))

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Bench:
    """Who judges, and how it is called.

    Attributes:
        how: what is asked, and how replies are read.
        judges: names of Inspect models, or `lm-eval:TYPE,key=value,...`; several are a jury.
        arguments: of these models.
        concurrency: calls of one judge at once, at most.
        max_retries: of one call.
        timeout: of one call, in seconds.
        cache: whether replies of earlier runs are taken instead of new calls.
    """

    how: Judging
    judges: tuple[str, ...]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    concurrency: int = 10
    max_retries: int = 3
    timeout: int | None = 300
    cache: bool = True

    def models(self) -> list[Model]:
        """Return the judges' models, made for this call alone: connections belong to one event loop.

        Raises:
            UsageError: there is no such model, or it cannot be made.
        """
        return [self._model(name) for name in self.judges]

    def _model(self, name: str) -> Model:
        try:
            model = judge_model(name, self.arguments)
        except UsageError as error:
            raise UsageError(f"judge: {str(error).removeprefix('--ranker_judge ')}") from None
        limits = GenerateConfig(
            max_connections=self.concurrency, max_retries=self.max_retries, attempt_timeout=self.timeout
        )
        model.config = model.config.merge(limits)
        return model


def judged(bench: Bench, battles: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Judge battles; return each with its verdict. One that fails is unread, and the others go on.

    Works whether or not an event loop is running.

    Args:
        battles: as `podium.hosts.inspect_ai.judge.ask_jury` takes them.

    Returns:
        Per battle: its sides, `credit` and `margin` of `model_a`, `reason`, and its `presentations`.

    Raises:
        UsageError: a judge sits there twice.
    """
    if not battles:
        return []
    if not _loop_is_running():
        return anyio.run(_all, bench, battles)
    with ThreadPoolExecutor(max_workers=1) as apart:
        return apart.submit(anyio.run, _all, bench, battles).result()


def _loop_is_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def _all(bench: Bench, battles: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    async with AsyncExitStack() as stack:
        models = [await stack.enter_async_context(one) for one in bench.models()]
        judging = Sitting(bench, models)
        return await make_calls([partial(judging.judged, battle) for battle in battles])


class Sitting:
    """The judges at work on one batch.

    Attributes:
        run: what its battles share.
        names: of the judges.
        room: lets a few battles in at once.
        in_a_row: battles that failed since one was judged.
        errors: how often each kind of failure was met.
    """

    def __init__(self, bench: Bench, models: Sequence[Model]) -> None:
        self.run = Run(bench.how, cache=bench.cache, jury=models)
        self.names = [identity(one, bench.how) for one in jury_of(bench.how, models)]
        # Both orders of a battle are asked for at once.
        self.room = anyio.Semaphore(max(1, bench.concurrency // bench.how.calls()))
        self.patience = max(PATIENCE, 2 * bench.concurrency)
        self.in_a_row = 0
        self.errors: Counter[str] = Counter()

    async def judged(self, battle: Mapping[str, Any]) -> dict[str, Any]:
        """Return one battle with its verdict."""
        async with self.room:
            if self.in_a_row >= self.patience:
                return self._unread(battle, NOT_ASKED)
            try:
                kept = await ask_jury(self.run, battle)
            except Exception as error:
                return self._failed(battle, error)
        self.in_a_row = 0
        return read(battle, kept, self.run.how)

    def _failed(self, battle: Mapping[str, Any], error: BaseException) -> dict[str, Any]:
        """Return a failed battle as unread; say so at the first of its kind."""
        error = _cause(error)
        kind, said = type(error).__name__, redacted(" ".join(str(error).split()))[:300]
        self.in_a_row += 1
        self.errors[kind] += 1
        if self.errors[kind] == 1:
            log.warning("podium: a battle on %s failed and is unread: %s: %s", battle["item"], kind, said)
        if self.in_a_row == self.patience:
            log.error("podium: %d battles in a row failed: no more calls are made in this batch", self.in_a_row)
        return {**self._unread(battle, f"{FAILED}: {kind}"), "error": said}

    def _unread(self, battle: Mapping[str, Any], reason: str) -> dict[str, Any]:
        common = {"order": "merged", "repeat": 0, "credit": None, "margin": None, "reason": reason}
        rows = [{"judge": name, **common} for name in self.names]
        return _about(battle) | {"credit": None, "margin": None, "reason": reason, "presentations": rows}


def _cause(error: BaseException) -> BaseException:
    """Return what went wrong behind what Inspect makes of it: that the retries are used up, or the whole prompt."""
    inner = error.__cause__ if type(error).__name__ in WRAPPERS else None
    return error if inner is None else _cause(inner)


def read(battle: Mapping[str, Any], kept: Mapping[str, Any], how: Judging) -> dict[str, Any]:
    """Return a battle with what its judges' replies say."""
    rows = [verdict_row(one, how) for one in kept["presentations"]]
    found = merge_rows(rows, how)
    told = [
        {**row, "replies": [reply["text"] for reply in one["replies"]]}
        for row, one in zip(rows, kept["presentations"], strict=True)
    ]
    return _about(battle) | {
        "credit": found.credit,
        "margin": found.margin,
        "reason": found.reason,
        "presentations": told,
    }


def _about(battle: Mapping[str, Any]) -> dict[str, Any]:
    return {name: battle[name] for name in ("model_a", "model_b", *ABOUT) if battle.get(name) is not None}
