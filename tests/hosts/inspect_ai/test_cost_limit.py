"""`max_cost`: whatever is repeated, a run and its retries together pay no more."""

import pytest
from inspect_ai import eval, eval_retry
from inspect_ai.log import read_eval_log

from podium.data.reading.judgments import read_battles
from podium.hosts.inspect_ai.tasks import round_robin

pytestmark = pytest.mark.slow
PRICES = {"scripted/judge": [10_000, 30_000]}
CALL = 0.13
"""A call shows 10 tokens and gets 1: 10 x 10,000 + 1 x 30,000, over a million."""
TEXTS = "neither nor"


def limited(files, most, *, cache=False, **options):
    """Return a round robin that may make `most` calls; by default it repeats none from the
    cache."""
    return round_robin(
        responses=files, max_cost=most * CALL, prices=PRICES, cache=cache, logprobs="off", **options
    )


def later(after, first, then):
    """Return a script that says `first`, and from some call on `then`, or raises it."""
    calls = []

    def reply(prompt):
        calls.append(prompt)
        if len(calls) <= after:
            return first
        if isinstance(then, Exception):
            raise then
        return then

    return reply


@pytest.mark.parametrize(
    ("after", "attempts", "most", "pack"),
    [(2, 2, 40, True), (2, 3, 40, False), (8, 3, 61, True), (30, 3, 61, False)],
)
def test_second_attempts_do_not_exceed_the_limit(
    play, behave, record, write_responses, after, attempts, most, pack
):
    """The first battles need one attempt, all others as many as are made."""
    behave(scripted=later(after, "A", TEXTS))
    log = play(
        limited(write_responses(items=6), most, attempts=attempts, replies="text", pack=pack)
    )
    assert log.status == "success", log.error
    dearest = 2 * attempts * (6 if pack else 1)
    assert most - dearest < record.calls <= most


@pytest.mark.parametrize("pack", [True, False])
def test_replies_from_the_cache_do_not_lift_the_limit(play, behave, record, write_responses, pack):
    """A first sample that costs nothing does not show that all samples cost nothing."""
    behave(scripted=lambda prompt: "A")
    files = write_responses(items=12)
    play(limited(files, 20, cache=True, replies="text", pack=pack))
    first = record.calls
    assert 0 < first <= 20
    log = play(limited(files, 30, cache=True, replies="text", pack=pack))
    assert log.status == "success", log.error
    assert 0 < record.calls - first <= 30


def test_judgments_that_all_needed_two_attempts_are_paid_for_once(
    play, behave, record, write_responses
):
    behave(scripted=lambda prompt: TEXTS)
    log = play(limited(write_responses(items=6), 60, replies="text"))
    assert read_battles(log.location).counts().unparsed == record.calls / 4
    assert 52 <= record.calls <= 60


def test_samples_that_failed_and_were_repeated_are_paid_for(behave, record, write_responses):
    """Every other call fails: a sample that is repeated has paid for the order that was
    answered."""
    calls = []

    def reply(prompt):
        calls.append(prompt)
        if len(calls) > 6 and len(calls) % 3 == 0:
            raise RuntimeError(f"the provider is on fire {len(calls)}")
        return "A"

    behave(scripted=reply)
    task = limited(write_responses(items=6), 30)
    eval(
        task,
        model_roles={"judge": "scripted/judge"},
        max_connections=1,
        retry_on_error=3,
        fail_on_error=False,
    )
    answered = len(calls) - sum(k % 3 == 0 for k in range(7, len(calls) + 1))
    assert 20 < answered <= 30


def test_a_retry_pays_for_what_the_failed_run_had_answered(behave, record, write_responses):
    """Of a battle whose second call fails the first was answered: 1 call that no finished sample
    holds."""
    battles = 3
    behave(scripted=later(2 * battles + 1, "A", RuntimeError("the provider is on fire")))
    files = write_responses(items=6)
    [log] = eval(
        limited(files, 12),
        model_roles={"judge": "scripted/judge"},
        max_connections=1,
        max_samples=1,
    )
    log = read_eval_log(log.location)
    assert log.status == "error"
    answered = sum(usage.input_tokens for usage in log.stats.model_usage.values()) // 10
    assert answered == 2 * battles + 1
    behave(scripted=lambda prompt: "A")
    record.prompts.clear()
    [again] = eval_retry(log)
    assert again.status == "success", again.error
    assert answered + record.calls <= 12


def test_battles_have_the_cost_of_a_verdict(play, behave, write_responses):
    """Inspect knows the cost of a call where it knows the model's prices."""
    behave(scripted=lambda prompt: "A", cost=CALL)
    log = play(round_robin(responses=write_responses(items=2), cache=False, logprobs="off"))
    assert read_battles(log.location).numbers_of("cost").tolist() == [pytest.approx(CALL)] * 12
