"""Many battles judged at once, through Inspect's models: its providers, retries and cache, outside of any eval."""

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

import anyio
from inspect_ai.model import Model

from podium.formats.lm_eval_judged import ABOUT
from podium.hosts.inspect_ai.judge import Run, ask_jury, identity, jury_of, make_calls
from podium.hosts.lm_eval.secrets import redact
from podium.hosts.lm_eval.tournament import call_outside_loop
from podium.scorers.judging import Judging, merge_rows, verdict_row

FAILED = "failed"
NOT_ASKED = "not asked: the judge kept failing"
PATIENCE = 20
"""Battles that fail one after the other before a judge is left alone."""
WRAPPERS = frozenset(("RetryError", "ModelGenerateError"))

log = logging.getLogger(__name__)


def judge_battles(
    how: Judging,
    battles: Sequence[Mapping[str, Any]],
    models: Callable[[], list[Model]],
    *,
    concurrency: int,
    cache: bool,
) -> list[dict[str, Any]]:
    """Judge battles; return each with its verdict. One that fails is unread, and the others go on.

    Works whether or not an event loop is running.

    Args:
        how: what is asked, and how replies are read.
        battles: as `podium.hosts.inspect_ai.judge.ask_jury` takes them.
        models: makes the judges for this batch alone: connections belong to one event loop.
        concurrency: calls of one judge at once, at most.
        cache: whether replies of earlier runs are taken instead of new calls.

    Returns:
        Per battle: its sides, `credit` and `margin` of `model_a`, `reason`, and its `presentations`.

    Raises:
        UsageError: a judge cannot be made, or sits there twice.
    """

    async def judge_all() -> list[dict[str, Any]]:
        async with AsyncExitStack() as stack:
            jury = [await stack.enter_async_context(model) for model in models()]
            sitting = Sitting(Run(how, cache=cache, jury=jury), concurrency)
            return await make_calls([partial(sitting.judge, battle) for battle in battles])

    rows: list[dict[str, Any]] = call_outside_loop(lambda: anyio.run(judge_all)) if battles else []
    return rows


class Sitting:
    """The judges at work on one batch.

    Attributes:
        run: what its battles share.
        names: of the judges.
        room: lets a few battles in at once.
        in_a_row: battles that failed since one was judged.
        errors: how often each kind of failure was met.
    """

    def __init__(self, run: Run, concurrency: int) -> None:
        self.run = run
        self.names = [identity(model, run.how) for model in jury_of(run.how, run.jury)]
        # Both orders of a battle are asked for at once.
        self.room = anyio.Semaphore(max(1, concurrency // run.how.calls()))
        self.patience = max(PATIENCE, 2 * concurrency)
        self.in_a_row = 0
        self.errors: Counter[str] = Counter()

    async def judge(self, battle: Mapping[str, Any]) -> dict[str, Any]:
        """Return one battle with its verdict."""
        async with self.room:
            if self.in_a_row >= self.patience:
                return self._unread_battle(battle, NOT_ASKED)
            try:
                replies = await ask_jury(self.run, battle)
            except Exception as error:
                return self._failed_battle(battle, error)
        self.in_a_row = 0
        return _judged_battle(battle, replies["presentations"], self.run.how)

    def _failed_battle(self, battle: Mapping[str, Any], error: BaseException) -> dict[str, Any]:
        """Return a failed battle as unread; say so at the first of its kind."""
        error = _cause(error)
        kind, message = type(error).__name__, redact(" ".join(str(error).split()))[:300]
        self.in_a_row += 1
        self.errors[kind] += 1
        if self.errors[kind] == 1:
            log.warning("podium: a battle on %s failed and is unread: %s: %s", battle["item"], kind, message)
        if self.in_a_row == self.patience:
            log.error("podium: %d battles in a row failed: no more calls are made in this batch", self.in_a_row)
        return {**self._unread_battle(battle, f"{FAILED}: {kind}"), "error": message}

    def _unread_battle(self, battle: Mapping[str, Any], reason: str) -> dict[str, Any]:
        verdict = {"credit": None, "margin": None, "reason": reason}
        rows = [{"judge": name, "order": "merged", "repeat": 0, **verdict} for name in self.names]
        return {**_sides(battle), **verdict, "presentations": rows}


def _cause(error: BaseException) -> BaseException:
    """Return what went wrong behind what Inspect makes of it: that the retries are used up, or the whole prompt."""
    inner = error.__cause__ if type(error).__name__ in WRAPPERS else None
    return error if inner is None else _cause(inner)


def _judged_battle(battle: Mapping[str, Any], shown: Sequence[Mapping[str, Any]], how: Judging) -> dict[str, Any]:
    """Return a battle with what its judges' replies say."""
    rows = [verdict_row(presentation, how) for presentation in shown]
    verdict = merge_rows(rows, how)
    replies = [[reply["text"] for reply in presentation["replies"]] for presentation in shown]
    return {
        **_sides(battle),
        "credit": verdict.credit,
        "margin": verdict.margin,
        "reason": verdict.reason,
        "presentations": [{**row, "replies": texts} for row, texts in zip(rows, replies, strict=True)],
    }


def _sides(battle: Mapping[str, Any]) -> dict[str, Any]:
    return {name: battle[name] for name in ("model_a", "model_b", *ABOUT) if battle.get(name) is not None}
