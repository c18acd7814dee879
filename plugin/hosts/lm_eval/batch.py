"""Judge many battles at once by models of Inspect, outside of an Inspect eval."""

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

import anyio
from inspect_ai.model import Model

from podium.data.formats.lm_eval_judged import BATTLE_DETAILS
from podium.data.pairings import Pairing
from podium.hosts.inspect_ai.inspect_ai_compatibility import count_usage
from podium.hosts.inspect_ai.judged_run import call_outside_loop
from podium.hosts.inspect_ai.judging.cached_tokens import cached_tokens_texts
from podium.hosts.inspect_ai.judging.call_control import (
    JudgeStoppedError,
    cause_of,
    make_calls,
    name_of_failure,
    root_of,
)
from podium.hosts.inspect_ai.judging.call_prices import Prices
from podium.hosts.inspect_ai.judging.call_timeouts import CALL_TIMEOUT
from podium.hosts.inspect_ai.judging.judge_calls import Run, ask_judges
from podium.hosts.inspect_ai.judging.judge_models import build_rotation, jury_of
from podium.hosts.inspect_ai.logs.podium_entries import BattleMetadata, has_failed
from podium.hosts.secrets import redact
from podium.printable import shorten, tell
from podium.scorers.judging import Judging, build_verdict_row, merge_rows
from podium.scorers.reply import FAILED
from podium.tournaments.judge_rotation import JudgeRotation, jury_cells, name_jury

NOT_ASKED_REASON = "not asked: the judge kept failing"
"""Reason of an unparsed battle that was not judged after too many failures."""
MAX_CONSECUTIVE_FAILURES = 20
"""Number of battles that fail in a row after which no more calls are made.

If more than 10 calls are made at once, the number is twice that of these calls.
"""

log = logging.getLogger(__name__)


def judge_battles(
    judging: Judging,
    battles: Sequence[Mapping[str, Any]],
    models: Callable[[], list[Model]],
    *,
    turns: tuple[str, float],
    concurrency: int,
    cache: bool,
    call_timeout: float | None = CALL_TIMEOUT,
    prices: Prices | None = None,
) -> list[dict[str, Any]]:
    """Judge battles. This also works inside a running event loop.

    After too many failures in a row, the remaining battles are not judged and are unparsed. If
    input tokens came from a provider's prompt cache, a line says how many.

    Args:
        judging: how the judges are asked, and how their replies are parsed.
        battles: the fields of `BattleMetadata` of each battle.
        models: makes the judges, which are closed at the end; not called without battles.
        turns: the values of the options `judges` and `overlap`.
        concurrency: the most calls at once.
        cache: whether replies are taken from Inspect's cache.
        call_timeout: seconds that each attempt of a call may take; None for no limit.
        prices: prices of tokens by judge, which price what the cache saved; None for those that
            Inspect knows.

    Returns:
        Each battle, in order, with its verdict, judgments and records of judges; see
        `BatchJudge.judge`. A battle whose calls all failed is unparsed.
    """

    async def judge_all() -> list[dict[str, Any]]:
        """Judge all battles with judges that are closed at the end, and return their records.

        If input tokens came from a prompt cache, a line says how many.
        """
        usage = count_usage()
        async with AsyncExitStack() as stack:
            jury = [await stack.enter_async_context(model) for model in models()]
            judges, overlap = turns
            rotation = build_rotation(judges, overlap, judging, judging.seed, jury)
            run = Run(
                judging,
                cache=cache,
                call_timeout=call_timeout,
                jury=jury,
                rotating=len(jury) if rotation else 0,
            )
            batch_judge = BatchJudge(run, concurrency)
            asked_battles = battles if rotation is None else _with_turns(battles, rotation)
            calls = [partial(batch_judge.judge, battle) for battle in asked_battles]
            verdicts = await make_calls(calls)
        for text in cached_tokens_texts(usage, prices):
            tell(text)
        return verdicts

    if not battles:
        return []
    return list(call_outside_loop(lambda: anyio.run(judge_all)))


def pop_judges(battles: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Remove the records of judges from battles of `judge_battles`, in place.

    Returns:
        the records by name of the judge.
    """
    judges: dict[str, Any] = {}
    for battle in battles:
        judges |= battle.pop("judges")
    return judges


def _with_turns(
    battles: Sequence[Mapping[str, Any]], rotation: JudgeRotation
) -> list[Mapping[str, Any]]:
    """Return copies of battles with the names of the judges whose turn it is, under `judges`.

    The battles are assigned in their order.

    Args:
        battles: the fields of `BattleMetadata` of each battle.
        rotation: assigns judges to battles, and is changed in place.
    """
    pairings = [
        Pairing(
            item=battle["item"],
            a=battle["model_a"],
            b=battle["model_b"],
            response=battle.get("response") or 1,
        )
        for battle in battles
    ]
    rotation.assign(pairings)
    return [
        {**battle, "judges": [*rotation.judges_of(pairing)]}
        for battle, pairing in zip(battles, pairings, strict=True)
    ]


class BatchJudge:
    """Judges the battles of one batch, a few at once, until too many in a row have failed.

    Args:
        run: how the judges are asked, and the models that are the judges.
        concurrency: the most calls at once; all calls of one battle are made even if they are more.
    """

    def __init__(self, run: Run, concurrency: int) -> None:
        """Set up a batch with at most `concurrency` calls at once, or the calls of one battle."""
        self.run = run
        judges = [run.judge_of(model) for model in jury_of(run.judging, run.jury)]
        self.records = {judge.name: judge.to_json() for judge in judges}
        self.jury: dict[str, Any] = {}
        if run.rotating:
            self.jury = {"jury": name_jury([*self.records])}
        elif len(self.records) > 1:
            self.jury = jury_cells([*self.records], run.judging.rule, run.judging.quorum)
        # All calls of a battle are made at once, so fewer battles than calls may run.
        self.room = anyio.Semaphore(max(1, concurrency // run.judging.calls()))
        self.max_consecutive_failures = max(MAX_CONSECUTIVE_FAILURES, 2 * concurrency)
        self.failures_in_a_row = 0
        self.errors: Counter[str] = Counter()

    async def judge(self, battle: Mapping[str, Any]) -> dict[str, Any]:
        """Return a battle with its verdict and judgments, and with the records of its judges.

        It has the models and `BATTLE_DETAILS` of the given battle, `credit`, `margin`, `reason`,
        `judgments`, `judges` (records by name), `hard_credit` if the credit is graded, `identical`
        if the responses are, and `error` if a call failed. The credit is None if no reply was
        parsed. No error is raised.
        """
        details = {
            name: battle[name]
            for name in ("model_a", "model_b", *BATTLE_DETAILS)
            if battle.get(name) is not None
        }
        async with self.room:
            try:
                if self.failures_in_a_row >= self.max_consecutive_failures:
                    raise JudgeStoppedError(NOT_ASKED_REASON)
                replies, errors = await ask_judges(self.run, BattleMetadata.parse(battle))
                judgments = replies.judgments
                is_asked = not replies.identical
                if errors and all(map(has_failed, judgments)):
                    raise errors[0]
            except Exception as error:
                return details | self._unparsed_verdict(battle, root_of(error))
        if is_asked:
            self.failures_in_a_row = 0
        for failure in errors:
            self._count_failure(battle, failure)
        rows = [build_verdict_row(judgment, self.run.judging) | self.jury for judgment in judgments]
        merged = merge_rows(rows, self.run.judging)
        for judgment_row, judgment in zip(rows, judgments, strict=True):
            judgment_row["replies"] = [reply["text"] for reply in judgment["replies"]]
        verdict = {"credit": merged.credit, "margin": merged.margin, "reason": merged.reason}
        if merged.parsed is not None:
            verdict["hard_credit"] = merged.parsed
        record = {**details, **verdict, "judgments": rows, "judges": replies.judges}
        if replies.identical:
            record["identical"] = True
        if errors:
            message = redact(str(root_of(errors[0])))
            record["error"] = shorten(message, 300)
        return record

    def _count_failure(self, battle: Mapping[str, Any], error: BaseException) -> None:
        """Count a failed call by its kind (`name_of_failure`), and log the first of each kind."""
        failure = name_of_failure(error)
        self.errors[failure] += 1
        if self.errors[failure] == 1:
            log.warning(
                "podium: a battle on %s failed and is unparsed: %s",
                battle["item"],
                redact(cause_of(error)),
            )

    def _unparsed_verdict(self, battle: Mapping[str, Any], error: BaseException) -> dict[str, Any]:
        """Return the verdict of a failed battle with a row per judge, and count the failure.

        If the error says that no more calls are made, the reason is `NOT_ASKED_REASON`, and all
        further battles of the batch are not judged. Otherwise, the reason names the failure, and
        `error` has its message without secrets, cut to 300 characters.
        """
        message = shorten(redact(str(error)), 300)
        reason = NOT_ASKED_REASON
        details = {}
        if isinstance(error, JudgeStoppedError):
            if self.failures_in_a_row < self.max_consecutive_failures:
                log.error("podium: %s", message)
            self.failures_in_a_row = self.max_consecutive_failures
        else:
            reason = f"{FAILED}: {name_of_failure(error)}"
            details["error"] = message
            # A failure of a judge that is not asked any more does not count against the others.
            if self.run.stopped.isdisjoint(battle.get("judges", ())):
                self.failures_in_a_row += 1
            self._count_failure(battle, error)
            if self.failures_in_a_row == self.max_consecutive_failures:
                log.error(
                    "podium: %d battles in a row failed: no more calls in this batch",
                    self.failures_in_a_row,
                )
        verdict = {"credit": None, "margin": None, "reason": reason}
        names = battle.get("judges") or [*self.records]
        rows = [
            {"judge": name, "order": "merged", "repeat": 0, **verdict, **self.jury}
            for name in names
        ]
        judges = {name: self.records[name] for name in names}
        return {**verdict, "judgments": rows, "judges": judges, **details}
