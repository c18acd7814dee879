"""Which calls are repeated, and which come from the cache."""

import pytest
from inspect_ai.model import GenerateConfig, get_model
from played_logs import battles, verdict_of

from podium.hosts.inspect_ai.tasks import round_robin

TWO = {"elm": 1.9, "oak": 2.4}


@pytest.fixture
def calls(play, record, write_responses):
    """Return a way to play a tournament and count the calls that it made."""
    paths = write_responses(TWO)

    def run(judge="scripted/judge", **options):
        before = record.calls
        log = play(round_robin(responses=paths, **options), judge)
        run.log = log
        return record.calls - before

    return run


@pytest.mark.slow
def test_a_second_run_makes_no_call_and_says_the_same(calls):
    assert calls() == 12
    first = {one.id: verdict_of(one).value for one in battles(calls.log)}
    assert calls() == 0
    assert {one.id: verdict_of(one).value for one in battles(calls.log)} == first


@pytest.mark.slow
def test_every_call_is_repeated_without_the_cache(calls):
    assert calls(cache=False) == 12
    assert calls(cache=False) == 12
    assert calls() == 12


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changed", "number"),
    [
        ({"tie": True}, 12),
        ({"realization": "cot"}, 12),
        ({"temperature": 0.7}, 12),
        ({"max_tokens": 5}, 12),
        ({"system": True}, 12),
        ({"logprobs": "off"}, 12),
        ({"repeats": 2}, 12),
        ({"orders": "as-given"}, 0),
        ({"attempts": 3}, 0),
        ({"seed": 5}, 0),
    ],
)
def test_what_shapes_a_call_makes_new_calls_and_nothing_else_does(calls, behave, changed, number):
    if changed.get("realization") == "cot":
        behave(form="letter")
    calls()
    if "realization" in changed:
        behave(form="cot")
    assert calls(**changed) == number


@pytest.mark.slow
def test_another_order_is_another_call(calls):
    assert calls(orders="as-given") == 6
    assert calls(orders="both") == 6


@pytest.mark.slow
def test_another_judge_makes_all_calls(calls):
    assert calls("scripted/judge") == 12
    assert calls("scripted/other") == 12


@pytest.mark.slow
def test_another_temperature_of_the_role_makes_all_calls(calls):
    assert calls() == 12
    assert calls(get_model("scripted/judge", config=GenerateConfig(temperature=0.3))) == 12


@pytest.mark.slow
def test_another_argument_of_the_model_makes_all_calls(calls):
    assert calls(get_model("scripted/judge", bias=0.0)) == 12
    assert calls(get_model("scripted/judge", bias=5.0)) == 12
    assert {
        row["credit"] > 0.5
        for one in battles(calls.log)
        for row in verdict_of(one).metadata["podium"]["judgments"]
        if row["order"] == "ab"
    } == {True}


@pytest.mark.slow
def test_equal_responses_are_judged_once_in_each_order(play, record, write_responses):
    same = {(name, 0): "quality=1" for name in TWO}
    files = write_responses(TWO, items=1, texts=same)
    log = play(round_robin(responses=files, identical="judge"))
    assert record.calls == 2
    assert verdict_of(battles(log)[0]).value == pytest.approx(0.5)


@pytest.mark.slow
def test_an_unparsed_reply_in_the_cache_is_no_verdict_and_the_next_attempt_is_asked(calls, behave):
    behave(garbage=1.0)
    assert calls(attempts=1, replies="text") == 12
    behave()
    assert calls(attempts=2, replies="text") == 12
    assert all(verdict_of(one).value == verdict_of(one).value for one in battles(calls.log))
    assert {
        one["attempts"] for s in battles(calls.log) for one in s.store["podium"]["judgments"]
    } == {2}


@pytest.mark.slow
def test_failures_of_the_provider_are_never_cached(calls, behave):
    behave(errors=1.0)
    failed = calls()
    assert failed > 0
    behave()
    assert calls() == 12
    assert all(one.error is None for one in battles(calls.log))


@pytest.mark.slow
def test_a_ratings_prompt_of_equal_texts_is_asked_once_per_run_and_cached(
    play, behave, record, write_responses
):
    behave(form="numeric")
    paths = write_responses(realization_note="x") if False else write_responses()
    play(round_robin(responses=paths, realization="numeric"))
    assert record.calls == 24
    play(round_robin(responses=paths, realization="numeric"))
    assert record.calls == 24


@pytest.mark.slow
def test_a_repeat_is_another_call(calls):
    assert calls(repeats=3) == 36
    assert calls(repeats=3) == 0
