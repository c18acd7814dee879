"""Judge many battles at once by Inspect's models, with their retries and cache, outside of any eval."""

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

import anyio
from inspect_ai.model import Model

from podium.formats.lm_eval_judged import BATTLE_DETAILS
from podium.hosts.inspect_ai.call_control import JudgeStoppedError, cause_of, make_calls, root_of
from podium.hosts.inspect_ai.judge_calls import Run, ask_jury
from podium.hosts.inspect_ai.judge_models import build_rotation, identity, jury_of
from podium.hosts.inspect_ai.log_contents import BattleMetadata
from podium.hosts.lm_eval.secrets import redact
from podium.hosts.lm_eval.tournament import call_outside_loop
from podium.printable import shorten
from podium.scorers.judging import Judging, build_verdict_row, merge_rows
from podium.tournaments.judge_rotation import JudgeRotation, name_jury
from podium.tournaments.schedule import Pairing

FAILED = "failed"
NOT_ASKED = "not asked: the judge kept failing"
MAX_CONSECUTIVE_FAILURES = 20
"""Battles that fail one after the other before no more calls are made."""

log = logging.getLogger(__name__)


def judge_battles(
    how: Judging,
    battles: Sequence[Mapping[str, Any]],
    models: Callable[[], list[Model]],
    *,
    turns: tuple[str, float],
    concurrency: int,
    cache: bool,
) -> list[dict[str, Any]]:
    """Judge battles, even inside an event loop; return each with its verdict, unparsed if it failed; `turns` are the
    options `judges` and `overlap`."""

    async def judge_all() -> list[dict[str, Any]]:
        """Judge all battles with judges that are closed at the end."""
        async with AsyncExitStack() as stack:
            jury = [await stack.enter_async_context(model) for model in models()]
            rotation = build_rotation(*turns, how, how.seed, jury)
            run = Run(how, cache=cache, jury=jury, rotating=len(jury) if rotation else 0)
            batch_judge = BatchJudge(run, concurrency)
            asked = assign_judges(battles, rotation) if rotation else battles
            return await make_calls([partial(batch_judge.judge, battle) for battle in asked])

    return list(call_outside_loop(lambda: anyio.run(judge_all))) if battles else []


def assign_judges(battles: Sequence[Mapping[str, Any]], rotation: JudgeRotation) -> Iterator[dict[str, Any]]:
    """Yield the battles, each with the judges whose turn it is."""
    pairings = [Pairing(own["item"], own["model_a"], own["model_b"], own.get("response") or 1) for own in battles]
    rotation.assign(pairings)
    for pairing, own in zip(pairings, battles, strict=True):
        yield {**own, "judges": list(rotation.judges_of(pairing))}


class BatchJudge:
    """Judges battles of one batch, a few at once, until too many in a row have failed."""

    def __init__(self, run: Run, concurrency: int) -> None:
        self.run = run
        self.names = [identity(model, run.how) for model in jury_of(run.how, run.jury)]
        self.jury = {"jury": name_jury(self.names)} if run.rotating else {}
        # Both orders of a battle are asked for at once.
        self.room = anyio.Semaphore(max(1, concurrency // run.how.calls()))
        self.max_consecutive_failures = max(MAX_CONSECUTIVE_FAILURES, 2 * concurrency)
        self.failures_in_a_row = 0
        self.errors: Counter[str] = Counter()

    async def judge(self, battle: Mapping[str, Any]) -> dict[str, Any]:
        """Return a battle with its verdict and judgments."""
        row = {name: battle[name] for name in ("model_a", "model_b", *BATTLE_DETAILS) if battle.get(name) is not None}
        async with self.room:
            if self.failures_in_a_row >= self.max_consecutive_failures:
                return row | self._unparsed_verdict(NOT_ASKED, battle)
            try:
                judgments = (await ask_jury(self.run, BattleMetadata.parse(battle))).judgments
            except Exception as error:
                return row | self._failed_verdict(battle, root_of(error))
        self.failures_in_a_row = 0
        rows = [build_verdict_row(judgment, self.run.how) | self.jury for judgment in judgments]
        merged = merge_rows(rows, self.run.how)
        for judgment_row, judgment in zip(rows, judgments, strict=True):
            judgment_row["replies"] = [reply["text"] for reply in judgment["replies"]]
        verdict = {"credit": merged.credit, "margin": merged.margin, "reason": merged.reason}
        graded = {} if merged.parsed is None else {"hard_credit": merged.parsed}
        return {**row, **verdict, **graded, "judgments": rows}

    def _failed_verdict(self, battle: Mapping[str, Any], error: BaseException) -> dict[str, Any]:
        """Return the unparsed verdict of a battle that failed, and log the first failure of each kind."""
        kind, message = type(error).__name__, shorten(redact(str(error)), 300)
        if isinstance(error, JudgeStoppedError):
            if self.failures_in_a_row < self.max_consecutive_failures:
                log.error("podium: %s", message)
            self.failures_in_a_row = self.max_consecutive_failures
            return self._unparsed_verdict(NOT_ASKED, battle)
        # A judge that is not asked any more says nothing of the others.
        self.failures_in_a_row += self.run.stopped.isdisjoint(battle.get("judges", ()))
        self.errors[kind] += 1
        if self.errors[kind] == 1:
            log.warning("podium: a battle on %s failed and is unparsed: %s", battle["item"], redact(cause_of(error)))
        if self.failures_in_a_row == self.max_consecutive_failures:
            log.error("podium: %d battles in a row failed: no more calls in this batch", self.failures_in_a_row)
        return {**self._unparsed_verdict(f"{FAILED}: {kind}", battle), "error": message}

    def _unparsed_verdict(self, reason: str, battle: Mapping[str, Any]) -> dict[str, Any]:
        """Return a verdict without credit, with a row per judge of the battle."""
        verdict = {"credit": None, "margin": None, "reason": reason}
        return {
            **verdict,
            "judgments": [
                {"judge": name, "order": "merged", "repeat": 0, **verdict, **self.jury}
                for name in battle.get("judges") or self.names
            ],
        }
