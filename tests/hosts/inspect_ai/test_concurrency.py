"""Concurrent calls: results in order, the first failure ends all, the provider's error is
reported."""

from collections import Counter
from functools import partial

import anyio
import pytest
from inspect_ai.log import read_eval_log

from podium.hosts.inspect_ai.judging.call_control import make_calls
from podium.hosts.inspect_ai.tasks import round_robin


class ProviderError(Exception):
    """As a provider raises it."""


async def after(seconds, value):
    await anyio.sleep(seconds)
    return value


async def fails(seconds=0.0):
    await anyio.sleep(seconds)
    try:
        raise OSError("the line is dead")
    except OSError as error:
        raise ProviderError("no answer") from error


def test_results_come_in_the_order_of_the_calls_not_of_their_ends():
    assert anyio.run(make_calls, [partial(after, 0.03, "slow"), partial(after, 0.0, "fast")]) == [
        "slow",
        "fast",
    ]


def test_calls_run_at_once():
    async def both_meet():
        here, there = anyio.Event(), anyio.Event()

        async def meet(own, other):
            own.set()
            await other.wait()

        with anyio.fail_after(5):
            await make_calls([partial(meet, here, there), partial(meet, there, here)])

    anyio.run(both_meet)


def test_no_calls_are_no_results():
    assert anyio.run(make_calls, []) == []


@pytest.mark.parametrize(
    "calls",
    [[fails], [fails, fails], [partial(make_calls, [fails, fails]), partial(after, 60, "")]],
)
def test_a_failure_is_raised_as_it_came_with_its_cause(calls):
    with pytest.raises(ProviderError, match=r"^no answer$") as caught:
        anyio.run(make_calls, calls)
    assert isinstance(caught.value.__cause__, OSError)


def test_a_failure_ends_the_other_calls():
    ended = []

    async def endless():
        try:
            await anyio.sleep(60)
        except BaseException:
            ended.append(True)
            raise

    with pytest.raises(ProviderError):
        anyio.run(make_calls, [endless, partial(fails, 0.01)])
    assert ended == [True]


@pytest.mark.slow
@pytest.mark.parametrize("pack", [False, True])
def test_sample_with_only_failed_calls_reports_the_providers_error(
    pack, behave, write_responses, play
):
    log = play(round_robin(responses=write_responses(items=2), pack=pack), behave(errors=1.0))
    reported = {
        one.error.message
        for one in log.samples
        if not one.error.message.startswith("CancelledError")
    }
    assert reported, "the run stops, and cuts off others; not all of them"
    assert all("the provider is on fire" in message for message in reported)


@pytest.mark.slow
@pytest.mark.parametrize("pack", [False, True])
def test_the_transcript_has_every_call_with_what_was_shown(
    pack, behave, record, write_responses, play
):
    log = play(round_robin(responses=write_responses(items=2), pack=pack), behave())
    log = read_eval_log(log.location, resolve_attachments=True)
    events = [event for sample in log.samples for event in sample.events]
    asked = Counter(event.input[-1].text for event in events if event.event == "model")
    assert asked == Counter(prompt for _, prompt in record.prompts)
    assert len(asked) == 2 * 6 * 2


@pytest.mark.slow
def test_a_pack_records_nothing_for_a_battle_but_its_calls(behave, write_responses, play):
    events = {}
    for number in (2, 4):
        models = {f"m{k}": float(k) for k in range(number)}
        log = play(round_robin(responses=write_responses(models, items=1), pack=True), behave())
        events[number] = Counter(event.event for event in log.samples[0].events)
    assert events[4] - events[2] == Counter(model=2 * (6 - 1))
