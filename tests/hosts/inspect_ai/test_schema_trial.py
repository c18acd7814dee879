"""The trial of a call without its schema: how often it is made, and what shows what."""

import anyio
import pytest
from inspect_ai.model import ModelOutput
from inspect_ai.util import LimitExceededError

from podium.hosts.inspect_ai.judging.call_control import JudgeStoppedError
from podium.hosts.inspect_ai.judging.schema_trial import (
    MOST_TRIALS,
    SchemaTrial,
    may_reject_schema,
)
from podium.scorers.reply import Reply

CALLS = 5
"""How many calls with a schema are rejected in each test."""


class ServerError(RuntimeError):
    def __init__(self, words, status=400):
        super().__init__(words)
        self.status_code = status


SAME = ServerError("Extra inputs are not permitted (call 5678)")
"""The error that calls with the schema have, too."""
OTHER = ServerError("no images")


def tried(answer, *, settled=False):
    """Return what each of some trials at the same time shows, and how many calls were made."""
    asked = []
    shown = []

    async def ask():
        asked.append(1)
        await anyio.sleep(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def try_all():
        trial = SchemaTrial()

        async def try_one():
            works = await trial.works_without(ask, is_settled=lambda: settled or any(shown))
            shown.append(works)

        async with anyio.create_task_group() as group:
            for _ in range(CALLS):
                group.start_soon(try_one)

    anyio.run(try_all)
    return shown, len(asked)


def test_calls_that_are_rejected_meanwhile_wait_for_one_trial():
    shown, calls = tried(ModelOutput.from_content("m", "A"))
    assert (sorted(shown), calls) == ([False] * (CALLS - 1) + [True], 1)


@pytest.mark.parametrize(
    "answer", [SAME, OTHER, ServerError("busy", 503), Reply("", refused="prompt too long")]
)
def test_a_trial_that_fails_is_made_again_a_few_times_whatever_its_words_are(answer):
    assert tried(answer) == ([False] * CALLS, MOST_TRIALS)


def test_no_trial_is_made_with_a_judge_that_is_known():
    assert tried(ModelOutput.from_content("m", "A"), settled=True) == ([False] * CALLS, 0)


def test_a_judge_that_is_not_asked_any_more_ends_the_trial():
    with pytest.raises(ExceptionGroup) as ended:
        tried(JudgeStoppedError("it needs token probabilities"))
    assert ended.group_contains(JudgeStoppedError)


def test_trials_that_were_cancelled_or_ended_by_a_limit_do_not_count():
    trial = SchemaTrial()
    answer = ModelOutput.from_content("m", "A")

    async def reach_limit():
        raise LimitExceededError("token", value=2, limit=1)

    async def try_all():
        for _ in range(MOST_TRIALS):
            with anyio.move_on_after(0.01):
                await trial.works_without(anyio.sleep_forever, is_settled=bool)
            with pytest.raises(LimitExceededError):
                await trial.works_without(reach_limit, is_settled=bool)

        async def ask():
            return answer

        return await trial.works_without(ask, is_settled=bool)

    assert anyio.run(try_all)


@pytest.mark.parametrize("status", [400, 422])
def test_a_rejection_may_be_about_the_schema(status):
    assert may_reject_schema(ServerError("whatever", status))


@pytest.mark.parametrize("status", [401, 403, 404, 408, 429, 500, 503])
def test_other_failures_are_not_about_the_schema(status):
    assert not may_reject_schema(ServerError("whatever", status))
    assert not may_reject_schema(JudgeStoppedError("no more calls"))


def test_each_refused_call_raises_an_error_of_its_own():
    stopped = JudgeStoppedError("it needs token probabilities")
    again = stopped.copy()
    assert again is not stopped
    assert (str(again), again.record) == (str(stopped), stopped.record)
    with pytest.raises(JudgeStoppedError):
        raise again
    assert stopped.copy().__traceback__ is None
