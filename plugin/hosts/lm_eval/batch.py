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
from podium.hosts.inspect_ai.call_control import JudgeStoppedError, make_calls, root_of
from podium.hosts.inspect_ai.judge_calls import Run, ask_jury
from podium.hosts.inspect_ai.judge_models import identity, jury_of
from podium.hosts.lm_eval.secrets import redact
from podium.hosts.lm_eval.tournament import call_outside_loop
from podium.scorers.judging import Judging, merge_rows, verdict_row

FAILED = "failed"
NOT_ASKED = "not asked: the judge kept failing"
MAX_CONSECUTIVE_FAILURES = 20
"""Battles that fail one after the other before a judge is left alone."""

log = logging.getLogger(__name__)


def judge_battles(
    how: Judging,
    battles: Sequence[Mapping[str, Any]],
    models: Callable[[], list[Model]],
    *,
    concurrency: int,
    cache: bool,
) -> list[dict[str, Any]]:
    """Judge battles; return each with its verdict. One that fails is unparsed, and the others go on.

    Works whether or not an event loop is running.

    Args:
        how: what is asked, and how replies are read.
        battles: as `podium.hosts.inspect_ai.judge_calls.ask_jury` takes them.
        models: makes the judges for this batch alone: connections belong to one event loop.
        concurrency: calls of one judge at once, at most.
        cache: whether replies of earlier runs are taken instead of new calls.

    Returns:
        Per battle: its sides, `credit` and `margin` of `model_a`, `reason`, and its `judgments`.

    Raises:
        UsageError: a judge cannot be made, or sits there twice.
    """

    async def judge_all() -> list[dict[str, Any]]:
        async with AsyncExitStack() as stack:
            jury = [await stack.enter_async_context(model) for model in models()]
            batch_judge = BatchJudge(Run(how, cache=cache, jury=jury), concurrency)
            return await make_calls([partial(batch_judge.judge, battle) for battle in battles])

    rows: list[dict[str, Any]] = call_outside_loop(lambda: anyio.run(judge_all)) if battles else []
    return rows


class BatchJudge:
    """The judges at work on one batch: a few battles at once, until too many in a row have failed."""

    def __init__(self, run: Run, concurrency: int) -> None:
        self.run = run
        self.names = [identity(model, run.how) for model in jury_of(run.how, run.jury)]
        # Both orders of a battle are asked for at once.
        self.room = anyio.Semaphore(max(1, concurrency // run.how.calls()))
        self.max_consecutive_failures = max(MAX_CONSECUTIVE_FAILURES, 2 * concurrency)
        self.in_a_row = 0
        self.errors: Counter[str] = Counter()

    async def judge(self, battle: Mapping[str, Any]) -> dict[str, Any]:
        """Return one battle with what its judges' replies say."""
        sides = {name: battle[name] for name in ("model_a", "model_b", *ABOUT) if battle.get(name) is not None}
        async with self.room:
            if self.in_a_row >= self.max_consecutive_failures:
                return sides | self._build_unparsed(NOT_ASKED)
            try:
                shown = (await ask_jury(self.run, battle))["judgments"]
            except Exception as error:
                return sides | self._failure(battle["item"], error)
        self.in_a_row = 0
        rows = [verdict_row(judgment, self.run.how) for judgment in shown]
        whole = merge_rows(rows, self.run.how)
        for row, judgment in zip(rows, shown, strict=True):
            row["replies"] = [reply["text"] for reply in judgment["replies"]]
        verdict = {"credit": whole.credit, "margin": whole.margin, "reason": whole.reason}
        return {**sides, **verdict, "judgments": rows}

    def _failure(self, item: str, error: BaseException) -> dict[str, Any]:
        """Return what a failed battle is: unparsed; say so at the first of its kind."""
        error = root_of(error)
        kind, message = type(error).__name__, redact(" ".join(str(error).split()))[:300]
        if isinstance(error, JudgeStoppedError):
            if self.in_a_row < self.max_consecutive_failures:
                log.error("podium: %s", message)
            self.in_a_row = self.max_consecutive_failures
            return self._build_unparsed(NOT_ASKED)
        self.in_a_row += 1
        self.errors[kind] += 1
        if self.errors[kind] == 1:
            log.warning("podium: a battle on %s failed and is unparsed: %s: %s", item, kind, message)
        if self.in_a_row == self.max_consecutive_failures:
            log.error("podium: %d battles in a row failed: no more calls are made in this batch", self.in_a_row)
        return {**self._build_unparsed(f"{FAILED}: {kind}"), "error": message}

    def _build_unparsed(self, reason: str) -> dict[str, Any]:
        verdict = {"credit": None, "margin": None, "reason": reason}
        rows = [{"judge": name, "order": "merged", "repeat": 0, **verdict} for name in self.names]
        return {**verdict, "judgments": rows}
