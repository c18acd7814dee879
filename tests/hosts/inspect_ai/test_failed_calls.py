"""A failed call loses its own battle: all other replies are kept, and a retry asks for what is
missing alone."""

from types import SimpleNamespace

import anyio
import pandas as pd
import pytest
from inspect_ai import eval_retry
from inspect_ai.log import EvalError, read_eval_log, write_eval_log
from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, ContentText, ModelOutput
from played_logs import ITEMS, place

import podium
from podium.errors import DataError
from podium.hosts.inspect_ai.judged_run import _failure_of
from podium.hosts.inspect_ai.judging.call_control import (
    ConnectionFailedError,
    ModelCalls,
    name_of_failure,
)
from podium.hosts.inspect_ai.judging.call_settings import ended_at_limit, why_too_long, why_withheld
from podium.hosts.inspect_ai.judging.failed_calls import failed_calls_texts
from podium.hosts.inspect_ai.judging.judge_calls import _failed_judgment
from podium.hosts.inspect_ai.logs.stop_reasons import reason_of_stop
from podium.hosts.inspect_ai.tasks import ring, round_robin, swim
from podium.wording import plural

ALL = 6 * ITEMS
PRICES = {"scripted/judge": [10_000, 30_000]}
CALL = 0.13
"""A call shows 10 tokens and gets 1."""


class HTTPError(Exception):
    """As the errors of providers' clients."""

    def __init__(self, status):
        super().__init__(f"Error code: {status}")
        self.status_code = status


def failing(share, status=500, reply=None):
    """Return a script in which some of the prompts fail for good."""
    from scripted_judge import Behaviour, chance, reply_to

    def say(prompt):
        if chance(prompt, "lost") < share:
            raise HTTPError(status)
        return reply or reply_to(prompt, Behaviour())[0]

    return say


def lost_in(record, share):
    from scripted_judge import chance

    return {prompt for _, prompt in record.prompts if chance(prompt, "lost") < share}


def judgments(log):
    return podium.read_battles(str(place(log)), merge=False).table


@pytest.mark.slow
@pytest.mark.parametrize("pack", [True, False])
def test_a_failed_call_loses_its_own_battle_and_is_named(
    pack, play, behave, record, write_responses
):
    behave(scripted=failing(0.1))
    log = play(round_robin(responses=write_responses(), pack=pack, cache=False, logprobs="off"))
    lost = lost_in(record, 0.1)
    assert 0 < len(lost) < ALL / 2
    assert (log.status, record.calls) == ("error", 2 * ALL)
    table = judgments(log)
    assert len(table) == 2 * ALL
    assert table.credit.isna().sum() == len(lost)
    assert set(table.reason.dropna()) == {"failed: HTTP 500"}
    counts = podium.read_battles(str(place(log))).counts()
    assert (counts.battles, counts.missing) == (ALL, 0)
    assert counts.unparsed <= len(lost)
    said = str(_failure_of(place(log), ()))
    assert said.startswith(f"{counts.unparsed} battles failed, the first error: ")
    assert "Error code: 500" in said


@pytest.mark.slow
def test_cancelled_calls_are_no_cause_of_a_failure(play, behave, write_responses):
    behave(scripted=failing(0.3))
    log = play(round_robin(responses=write_responses(), cache=False, logprobs="off"))
    failed = [sample for sample in log.samples if sample.error]
    known = failed[0].error.message
    for sample in failed[1:]:
        sample.error.message = "CancelledError()"
    write_eval_log(log)
    assert f"the first error: {known}; " in str(_failure_of(place(log), ()))
    failed[0].error.message = "CancelledError()"
    write_eval_log(log)
    said = str(_failure_of(place(log), ()))
    assert "battles failed, their calls were cancelled; run the command again" in said
    assert "CancelledError" not in said


@pytest.mark.slow
def test_the_reason_that_nothing_was_judged_is_that_of_the_stop(play, behave, write_responses):
    behave(scripted=failing(1.0, status=503))
    log = play(round_robin(responses=write_responses(), cache=False, logprobs="off"))
    for sample in log.samples:
        sample.error = log.error.model_copy(update={"message": "CancelledError('Cancelled')"})
        sample.scores, sample.store = {}, {}
    write_eval_log(log)
    with pytest.raises(DataError, match="no battle was judged: the judge is not asked") as caught:
        podium.read_battles(str(place(log)))
    assert str(caught.value).count("eval-retry") == 1, "one advice"


@pytest.mark.slow
@pytest.mark.parametrize("pack", [True, False])
@pytest.mark.parametrize("task", [round_robin, swim])
def test_retries_ask_for_the_failed_calls_alone(task, pack, play, behave, record, write_responses):
    behave(scripted=failing(0.2))
    log = play(task(responses=write_responses(), pack=pack, cache=False, logprobs="off"))
    first, lost = judgments(log), len(lost_in(record, 0.2))
    for share in (0.1, 0.0):
        record.prompts.clear()
        behave(scripted=failing(share))
        [log] = eval_retry(log)
        assert record.calls == lost
        lost = len(lost_in(record, share))
        assert log.status == ("error" if lost else "success")
        assert len(judgments(log)) == len(first)
    names = ["item", "model_a", "model_b", "order"]
    table = judgments(log).set_index(names).credit
    assert table.notna().all()
    assert not table.index.has_duplicates
    known = first[first.credit.notna()].set_index(names).credit
    assert (table[known.index] == known).all()


@pytest.mark.slow
def test_a_retry_repeats_all_calls_though_more_than_ten_fail_as_before(
    play, behave, record, write_responses
):
    behave(scripted=failing(0.5))
    log = play(round_robin(responses=write_responses(), pack=True, cache=False, logprobs="off"))
    lost = len(lost_in(record, 0.5))
    assert lost > 10
    record.prompts.clear()
    [log] = eval_retry(log)
    assert record.calls == lost
    assert reason_of_stop(log) is None
    assert judgments(log).credit.isna().sum() == lost


@pytest.mark.slow
def test_a_retry_stops_if_its_first_ten_calls_fail_by_a_new_error(
    play, behave, record, write_responses
):
    behave(scripted=failing(0.5))
    log = play(round_robin(responses=write_responses(), pack=True, cache=False, logprobs="off"))
    known = judgments(log).credit.notna().sum()
    behave(scripted=failing(1.0, status=503))
    record.prompts.clear()
    [log] = eval_retry(log)
    assert record.calls == 10
    assert "its first 10 calls all failed by HTTPError: Error code: 503" in reason_of_stop(log).text
    assert judgments(log).credit.notna().sum() == known


@pytest.mark.slow
def test_a_retry_of_several_epochs_asks_for_the_failed_calls_alone(
    play, behave, record, write_responses
):
    behave(scripted=failing(0.1))
    log = play(
        round_robin(responses=write_responses(items=2), cache=False, logprobs="off", pack=True),
        epochs=2,
    )
    lost = sum(prompt in lost_in(record, 0.1) for _, prompt in record.prompts)
    assert lost
    assert judgments(log).credit.isna().sum() == lost
    record.prompts.clear()
    behave(scripted=failing(0.0))
    [log] = eval_retry(log)
    assert record.calls == lost
    assert len(judgments(log)) == 2 * 2 * 12
    assert judgments(log).credit.notna().all()


@pytest.mark.slow
def test_a_rating_that_fails_is_asked_for_once_and_loses_the_battles_of_its_response(
    play, behave, record, write_responses
):
    behave(scripted=failing(0.1, reply="[[50]]"))
    files = write_responses()
    log = play(
        round_robin(responses=files, realization="numeric", pack=True, cache=False, replies="text")
    )
    lost = lost_in(record, 0.1)
    assert len(lost) > 0
    # A battle that comes to a rating after it has failed asks again.
    assert 4 * ITEMS <= record.calls <= 4 * ITEMS + len(lost)
    assert 3 * len(lost) >= judgments(log).credit.isna().sum() > len(lost)
    record.prompts.clear()
    behave(scripted=failing(0.0, reply="[[50]]"))
    [log] = eval_retry(log)
    assert len(record.times()) == record.calls == len(lost)
    assert judgments(log).credit.notna().all()


@pytest.mark.slow
def test_a_ring_goes_on_after_failed_calls_and_its_retry_keeps_the_pairs(
    play, behave, record, write_responses
):
    behave(scripted=failing(0.2))
    log = play(ring(responses=write_responses(items=12), cache=False, logprobs="off", pack=True))
    lost, first = len(lost_in(record, 0.2)), judgments(log)
    record.prompts.clear()
    behave(scripted=failing(0.0))
    [log] = eval_retry(log)
    assert (record.calls, log.status) == (lost, "success")
    names = ["item", "model_a", "model_b"]
    assert sorted(map(tuple, judgments(log)[names].values)) == sorted(
        map(tuple, first[names].values)
    )


@pytest.mark.slow
@pytest.mark.parametrize("pack", [True, False])
def test_a_retry_of_a_run_that_max_cost_ended_keeps_what_it_has(
    pack, play, behave, record, write_responses, capfd
):
    behave(scripted=lambda prompt: "A")
    how = {"max_cost": 40 * CALL, "prices": PRICES, "cache": False, "logprobs": "off", "pack": pack}
    log = play(round_robin(responses=write_responses(), **how))
    assert 20 <= record.calls <= 40
    table = judgments(log)
    for _ in range(2):
        record.prompts.clear()
        capfd.readouterr()
        [log] = eval_retry(log)
        assert (record.calls, log.status) == (0, "success")
        assert judgments(log).equals(table)
        assert f"max_cost={40 * CALL:g} is reached" in capfd.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("pack", [True, False])
def test_max_cost_holds_for_a_server_that_sends_no_usage(
    pack, play, behave, record, write_responses, capfd
):
    behave(scripted=lambda prompt: "A", usage=False)
    files = write_responses()
    play(round_robin(responses=files, cache=False, logprobs="off", pack=pack))
    each = sum(len(prompt) for _, prompt in record.prompts) / record.calls / 4 * 1e-3
    record.prompts.clear()
    capfd.readouterr()
    how = {
        "max_cost": 40 * each,
        "prices": {"scripted/judge": [1_000, 1_000]},
        "cache": False,
        "logprobs": "off",
    }
    log = play(round_robin(responses=files, pack=pack, **how))
    assert 16 <= record.calls <= 42
    assert capfd.readouterr().err.count("sends no usage; its tokens are estimated") == 1
    known = len(judgments(log))
    record.prompts.clear()
    [log] = eval_retry(log)
    assert (record.calls, len(judgments(log))) == (0, known)


@pytest.mark.slow
def test_replies_from_the_cache_cost_nothing_without_a_usage(play, behave, record, write_responses):
    behave(scripted=lambda prompt: "A", usage=False)
    files = write_responses()
    play(round_robin(responses=files, logprobs="off"))
    record.prompts.clear()
    how = {"max_cost": 0.001, "prices": {"scripted/judge": [1_000, 1_000]}, "logprobs": "off"}
    log = play(round_robin(responses=files, **how))
    assert (record.calls, len(judgments(log))) == (0, 2 * ALL)


@pytest.mark.slow
def test_the_log_of_a_failed_run_keeps_the_replies_that_were_paid(
    play, behave, record, write_responses
):
    behave(scripted=failing(0.1))
    log = play(round_robin(responses=write_responses(), pack=True, cache=False, logprobs="off"))
    whole = [
        one for one in read_eval_log(log.location).samples if "podium earlier" not in one.metadata
    ]
    replies = [
        reply
        for one in whole
        for battle in one.store["podium"]["battles"]
        for shown in battle["judgments"]
        for reply in shown["replies"]
    ]
    assert len(replies) == 2 * ALL
    assert sum(not reply.get("failed") for reply in replies) == 2 * ALL - len(lost_in(record, 0.1))


@pytest.mark.slow
def test_a_tournament_says_at_its_end_that_a_few_calls_failed(capfd, play, behave, write_responses):
    behave(scripted=failing(0.02))
    log = play(round_robin(responses=write_responses(items=16), cache=False, logprobs="off"))
    lost = judgments(log).credit.isna().sum()
    assert 0 < lost < 0.03 * 12 * 16
    told = f"{lost} {plural('call', lost)} of the judge failed (HTTP 500, {lost} "
    assert told in capfd.readouterr().err


@pytest.mark.fast_cases(3)
@pytest.mark.parametrize(("failed", "count"), [(0, 0), (1, 1), (11, 1), (13, 0)])
def test_failed_calls_are_told_unless_the_warning_on_unparsed_replies_names_them(failed, count):
    reasons = ["failed: HTTP 500"] * (failed - failed // 3) + ["failed: HTTP 429"] * (failed // 3)
    rows = {"credit": [None] * failed + [1.0] * (400 - failed)}
    rows |= {"item": range(400), "model_a": "a", "model_b": "b", "order": "ab"}
    rows |= {"reason": reasons + [None] * (400 - failed)}
    texts = [*failed_calls_texts(podium.read_battles(pd.DataFrame(rows)))]
    assert len(texts) == count
    for told in texts:
        assert told.startswith(f"{failed} {plural('call', failed)} of the judge failed (HTTP 500, ")
        assert ("HTTP 429, 3 times" in told) == (failed == 11)


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (HTTPError(500), "HTTP 500"),
        (
            ConnectionFailedError("connection refused", "http://127.0.0.1:9/v1"),
            "connection refused",
        ),
        (ValueError("no such thing"), "ValueError"),
    ],
)
def test_a_failure_is_named_by_its_status_its_reason_or_its_type(error, name):
    assert name_of_failure(error) == name


def output(text, stop="stop", **part):
    message = ChatMessageAssistant(content=[ContentText(text=text, **part)])
    return ModelOutput(model="m", choices=[ChatCompletionChoice(message=message, stop_reason=stop)])


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (output("A"), ""),
        (output("A", "content_filter"), "content filter"),
        (output("A", refusal=True), "refusal"),
        (output("A", "unknown"), ""),
        (ModelOutput(model="m", choices=[]), ""),
    ],
)
def test_a_reply_is_withheld_by_a_filter_or_as_a_refusal(said, why):
    assert why_withheld(said) == why
    assert not ended_at_limit(said)
    assert not why_too_long(said)


def test_callers_that_wait_for_an_answer_fail_with_it_and_later_ones_ask_again():
    calls, asked = ModelCalls(), []

    async def ask():
        asked.append(1)
        await anyio.sleep(0.01)
        if len(asked) == 1:
            raise HTTPError(500)
        return "answer"

    async def run():
        failures = []

        async def wait():
            try:
                await calls.ask_once(("key",), ask)
            except HTTPError as error:
                failures.append(error)

        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(wait)
        return failures, await calls.ask_once(("key",), ask)

    failures, answer = anyio.run(run)
    assert (len(failures), answer, len(asked)) == (5, "answer", 2)


def test_a_sample_that_failed_after_its_replies_is_a_failed_battle(play, write_responses):
    log = play(round_robin(responses=write_responses(), pack=False))
    battles = [sample for sample in log.samples if sample.scores]
    battles[0].error = EvalError(message="no space", traceback="", traceback_ansi="")
    battles[0].scores = None
    write_eval_log(log, log.location)
    frame = podium.read_battles(log.location).to_frame()
    failed = frame[frame["credit"].isna()]
    assert len(failed) == 1
    assert failed["reason"].str.startswith("failed: the sample, after the judge's reply").all()
    assert len(frame) == len(battles)


def test_earlier_replies_stay_if_the_judge_cannot_be_asked_again():
    judge = SimpleNamespace(name="judge")
    run = SimpleNamespace(judging=SimpleNamespace(is_pairwise=False), judge_of=lambda _: judge)
    planned = SimpleNamespace(order="ab", repeat=0)
    rated = {"text": "7", "truncated": False}
    lost = {"text": "", "truncated": False, "failed": "HTTP 500"}
    judgment = _failed_judgment(run, None, planned, RuntimeError("stopped"), [rated, lost])
    assert judgment["replies"][0] == rated
    assert judgment["replies"][1]["failed"] == "RuntimeError"
