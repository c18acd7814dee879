"""Judges whose servers refuse options, write noise, or reason past their limit of tokens."""

import anyio
import pytest

pytest.importorskip("openai")

from inspect_ai.model import GenerateConfig, get_model
from played_logs import place, verdict_of
from refusing_server import refusing_server

import podium
from podium.hosts.inspect_ai.judging.call_settings import MORE_TOKENS
from podium.hosts.inspect_ai.judging.first_calls import FirstCalls
from podium.hosts.inspect_ai.judging.refused_options import model_without
from podium.hosts.inspect_ai.tasks import round_robin
from podium.notices.notice_text import notice_texts

JUDGMENTS = 12
"""Judgments of a round robin of four models on one item."""


@pytest.fixture
def server(monkeypatch):
    with refusing_server() as served:
        monkeypatch.setenv("REFUSING_BASE_URL", served.address)
        monkeypatch.setenv("REFUSING_API_KEY", "none")
        yield served


def judged(log):
    """Return the rows of all judgments in a log."""
    return [
        row
        for sample in log.samples
        if sample.scores and "model_a" in sample.metadata
        for row in verdict_of(sample).metadata["podium"]["judgments"]
    ]


OPTIONS = {
    "temperature": "no temperature",
    "logprobs": "no token probabilities",
    "max_tokens": "no limit of output tokens",
}
NOTES = {
    "temperature": "without a temperature",
    "logprobs": "without token probabilities",
    "max_tokens": "without a limit of output tokens",
}


@pytest.mark.slow
@pytest.mark.parametrize("option", OPTIONS)
def test_a_refused_option_is_tried_once_dropped_said_and_logged(
    play, write_responses, server, capfd, option
):
    judge = f"openai-api/refusing/no-{option}"
    log = play(round_robin(responses=write_responses(items=1)), judge)
    assert log.status == "success", log.error
    rows = judged(log)
    assert len(rows) == JUDGMENTS
    assert all(row["credit"] is not None for row in rows)
    assert server.with_option(option) == 1
    assert len(server.requests) == JUDGMENTS + 1
    assert capfd.readouterr().err.count(f"{judge} takes {OPTIONS[option]} (its server says:") == 1
    notes = notice_texts(podium.read_battles(str(place(log))).notes)
    assert sum(NOTES[option] in note for note in notes) == 1


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize("status", [400, 422])
def test_a_schema_that_is_rejected_in_other_words_is_tried_once(
    play, write_responses, server, status, cache
):
    task = round_robin(responses=write_responses(items=1), cache=cache)
    log = play(task, f"openai-api/refusing/odd-{status}")
    assert log.status == "success", log.error
    assert all(row["credit"] is not None for row in judged(log))
    assert server.with_option("response_format") == 1
    assert len(server.requests) == JUDGMENTS + (1 if cache else 2)


@pytest.mark.slow
def test_several_refused_options_are_tried_once_each(play, write_responses, server):
    habits = "no-temperature+no-max_tokens"
    log = play(
        round_robin(responses=write_responses(items=1), realization="direct"),
        f"openai-api/refusing/{habits}",
    )
    assert log.status == "success", log.error
    assert len(server.requests) == JUDGMENTS + 2
    assert not {"temperature", "max_tokens"} & server.requests[2].keys()


@pytest.mark.slow
def test_a_temperature_of_the_role_is_dropped_too(play, write_responses, server):
    judge = get_model(
        "openai-api/refusing/no-temperature", config=GenerateConfig(temperature=0.5), memoize=False
    )
    log = play(round_robin(responses=write_responses(items=1)), judge)
    assert log.status == "success", log.error
    assert server.with_option("temperature") == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "typed",
    [
        {"logprobs": "required"},
        pytest.param({"realization": "token-probs"}, marks=pytest.mark.slow),
    ],
    ids=["option", "kind"],
)
def test_needed_probabilities_that_are_refused_stop_the_run(play, write_responses, server, typed):
    log = play(
        round_robin(responses=write_responses(items=1), **typed), "openai-api/refusing/no-logprobs"
    )
    assert log.status == "error"
    assert "takes no token probabilities" in log.error.message
    assert server.with_option("logprobs") == 1


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("noise", [1, 2])
def test_one_or_two_replies_of_noise_do_not_switch_schemas_off(
    play, write_responses, server, noise, capfd
):
    log = play(
        round_robin(responses=write_responses(items=1), realization="labels", replies="schema"),
        f"openai-api/refusing/noise-{noise}",
    )
    assert log.status == "success", log.error
    assert server.with_option("response_format") == len(server.requests)
    assert "takes no JSON schema" not in capfd.readouterr().err


@pytest.mark.slow
def test_a_reply_cut_off_while_reasoning_is_asked_for_once_more_with_a_higher_limit(
    play, write_responses, server
):
    log = play(round_robin(responses=write_responses(items=1)), "openai-api/refusing/reasons-5000")
    assert all(row["credit"] is not None for row in judged(log))
    limits = [request["max_tokens"] for request in server.requests]
    assert limits.count(MORE_TOKENS) == JUDGMENTS
    assert len(limits) == JUDGMENTS + 1


@pytest.mark.slow
def test_a_reply_cut_off_at_the_higher_limit_is_unparsed_with_that_reason(
    play, write_responses, server
):
    log = play(round_robin(responses=write_responses(items=1)), "openai-api/refusing/reasons-99999")
    assert {row["reason"] for row in judged(log)} == {"cut off while reasoning"}
    assert len(server.requests) == JUDGMENTS + 1


@pytest.mark.slow
def test_a_context_that_has_no_room_for_the_higher_limit_is_asked_without_one(
    play, write_responses, server
):
    log = play(
        round_robin(responses=write_responses(items=1)),
        "openai-api/refusing/reasons-3000+small-8000",
    )
    assert all(row["credit"] is not None for row in judged(log))
    assert server.with_option("max_tokens") == 2


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("replies", ["auto", "schema", "text"])
def test_a_checklist_has_the_schema_the_limits_and_the_attempts_of_a_verdict(
    play, write_responses, server, replies
):
    log = play(
        round_robin(
            responses=write_responses(items=1), realization="cot", checklist=True, replies=replies
        ),
        "openai-api/refusing/plain",
    )
    assert log.status == "success", log.error
    assert all(row["credit"] is not None for row in judged(log))
    first, second = server.requests[:2]
    assert (first["temperature"], first["max_tokens"]) == (0, 512)
    assert ("response_format" in first) == (replies != "text")
    assert ("could not be read" in second["messages"][-1]["content"]) == (replies == "text")


@pytest.mark.slow
def test_a_checklist_model_that_refuses_options_is_asked_without_them(
    play, write_responses, server
):
    log = play(
        round_robin(responses=write_responses(items=1), realization="cot", checklist=True),
        "openai-api/refusing/no-schema+no-temperature",
    )
    assert log.status == "success", log.error
    assert all(row["credit"] is not None for row in judged(log))
    assert server.with_option("response_format") == 1
    assert "temperature" not in server.requests[2]


@pytest.mark.slow
def test_a_model_that_never_ends_a_list_is_asked_for_a_few_questions(play, write_responses, server):
    log = play(
        round_robin(responses=write_responses(items=1), realization="cot", checklist=True),
        "openai-api/refusing/endless",
    )
    assert log.status == "success", log.error
    assert all(row["credit"] is not None for row in judged(log))
    shown = server.requests[2]["messages"][-1]["content"]
    assert shown.count("Is it short?") == 1


def test_a_model_without_refused_settings_is_not_copied():
    model = get_model("podium/offline", config=GenerateConfig(temperature=0.5))
    # `schema` is refused by judges, and is no setting of Inspect.
    assert model_without(model, ["schema", "logprobs"]) is model
    assert model_without(model, ["temperature"]).config.temperature is None
    assert model.config.temperature == 0.5


def test_calls_for_text_are_not_made_alone_after_a_settled_call_for_a_schema():
    first_calls = FirstCalls()

    async def make_two_calls() -> None:
        """Make a call for a schema that fails, and one that is answered."""
        with pytest.raises(ValueError, match="broken"):
            async with first_calls.wait_for_first_call(has_schema=True):
                raise ValueError("broken")
        assert not first_calls.is_over(has_schema=True)
        async with first_calls.wait_for_first_call(has_schema=True):
            pass

    anyio.run(make_two_calls)
    assert first_calls.is_over(has_schema=True)
    assert first_calls.is_over(has_schema=False)
