"""A server that does not answer: the call ends at its time limit and names the server, and only its
own battle is lost."""

import json
from typing import ClassVar

import anyio
import pytest
from inspect_ai import eval, eval_retry
from inspect_ai.model import GenerateConfig, ModelAPI, ModelOutput, get_model, modelapi
from played_logs import place
from stand_in import mark, stand_in

import podium
from podium.hosts.inspect_ai.judging.call_control import (
    ConnectionFailedError,
    cause_of,
    generate_output,
    name_of_failure,
)
from podium.hosts.inspect_ai.judging.call_timeouts import check_call_timeout
from podium.hosts.inspect_ai.tasks import ring, round_robin

LIMIT = 2
HUNG = f"no answer within {LIMIT:g} seconds"


class Hanging:
    """What a scripted provider does in each attempt: hang, fail as busy, or answer.

    It answers if nothing is left.
    """

    script: ClassVar[list[str]] = []
    attempts: ClassVar[list[str]] = []


@modelapi(name="hanging")
class HangingAPI(ModelAPI):
    """Follows the script of `Hanging`."""

    async def generate(self, input, tools, tool_choice, config: GenerateConfig) -> ModelOutput:
        step = Hanging.script.pop(0) if Hanging.script else "answer"
        Hanging.attempts.append(step)
        if step == "hang":
            await anyio.sleep(30)
        if step == "busy":
            raise BlockingIOError("busy")
        if step == "client":
            raise RuntimeError("Request timed out.") from ReadTimeout()
        return ModelOutput.from_content("hanging/judge", "A")

    def should_retry(self, ex):
        return isinstance(ex, BlockingIOError)

    def retry_wait(self):
        from tenacity import wait_none

        return wait_none()


class ReadTimeout(Exception):  # noqa: N818
    """As the error of an HTTP client that waited for an answer."""


def call(script, timeout=0.05, address=None, **config):
    """Return the attempts of a call, and its answer or error."""
    Hanging.script, Hanging.attempts = list(script), []
    model = get_model(
        "hanging/judge", config=GenerateConfig(**config), base_url=address, memoize=False
    )

    async def ask():
        with anyio.fail_after(10):
            return await generate_output(
                model, "a prompt", timeout=timeout, config=GenerateConfig(), cache=False
            )

    try:
        return Hanging.attempts, anyio.run(ask).completion
    except Exception as error:
        return Hanging.attempts, error


@pytest.mark.slow
def test_call_without_an_answer_is_repeated_once():
    assert call(["hang"]) == (["hang", "answer"], "A")
    attempts, error = call(["hang"] * 5, address="http://me:secret@127.0.0.1:9/v1")
    assert attempts == ["hang", "hang"]
    assert isinstance(error, ConnectionFailedError)
    assert name_of_failure(error) == "no answer within 0.05 seconds"
    assert cause_of(error) == (
        "no answer within 0.05 seconds: hanging/judge at http://127.0.0.1:9/v1, in each of 2 "
        "attempts; see whether its server works, or set call_timeout=SECONDS"
    )


def test_call_without_an_answer_is_not_repeated_if_the_user_wants_no_retries():
    attempts, error = call(["hang"] * 5, max_retries=0)
    assert attempts == ["hang"]
    assert "in each of" not in str(error)


@pytest.mark.slow
def test_each_attempt_that_the_provider_asks_to_repeat_has_the_limit_of_its_own():
    script = ["busy", "busy", "hang", "busy"]
    assert call(script, max_retries=3) == ([*script, "answer"], "A")


def test_limit_of_the_role_itself_is_repeated_as_inspect_does_and_named():
    attempts, error = call(["hang"] * 9, timeout=20, attempt_timeout=1, max_retries=1)
    assert attempts == ["hang", "hang"]
    assert str(error).startswith("no answer within 1 second: hanging/judge; ")
    assert str(error).endswith("set a longer attempt_timeout of its role")


def test_limit_of_the_providers_client_ends_in_the_same_error():
    attempts, error = call(["client"] * 9, timeout=None)
    assert attempts == ["client", "client"]
    assert str(error).endswith("or set a longer client_timeout of its role")


@pytest.mark.parametrize("wrong", [0, -1, "600", True])
def test_time_limit_that_is_no_number_of_seconds_is_an_error(wrong, write_responses):
    with pytest.raises(Exception, match=f"call_timeout={wrong}: give a number of seconds above 0"):
        round_robin(responses=write_responses(), call_timeout=wrong)
    check_call_timeout(None)


@pytest.fixture
def server(monkeypatch):
    """Return a judge behind HTTP."""
    with stand_in() as judge:
        monkeypatch.setenv("STANDIN_BASE_URL", f"{judge.address}/v1")
        monkeypatch.setenv("STANDIN_API_KEY", "none")
        yield judge


JUDGE = "openai-api/standin/judge"


def marked(write_responses):
    """Write responses with the marks that the stand-in reads."""
    names = {"ash": 0.2, "elm": 0.5, "fir": 0.8}
    cells = {(name, k): mark(f"q{k}", name, own) for name, own in names.items() for k in range(4)}
    return write_responses(names, items=4, texts=cells)


@pytest.mark.slow
@pytest.mark.parametrize("pack", [True, False])
@pytest.mark.parametrize("task", [round_robin, ring])
def test_hung_calls_lose_their_own_battles_and_a_retry_asks_for_them_alone(
    task, pack, server, play, write_responses
):
    server.script(faults={"hang": 0.3}, lasting=True, draw=3)
    paths = marked(write_responses)
    log = play(
        task(responses=paths, pack=pack, cache=False, call_timeout=LIMIT), JUDGE, max_retries=0
    )
    calls = server.calls()
    hung = {(one.item, one.first, one.second) for one in calls if one.fate != "answered"}
    assert 0 < len(hung) < len(calls)
    assert log.status == "error"
    table = podium.read_battles(str(place(log)), merge=False).table
    assert set(table.reason.dropna()) == {f"failed: {HUNG}"}
    assert table.credit.isna().sum() == len(hung)
    assert table.credit.notna().sum() == len(calls) - len(hung)
    refused = [sample.error.message for sample in log.samples if sample.error]
    stated = f"{HUNG}: {JUDGE} at {server.address}/v1; see whether its server works, or set "
    assert all(HUNG in text or "calls failed" in text for text in refused)
    assert any(stated in str(sample.store) for sample in log.samples)
    server.script()
    [log] = eval_retry(log)
    assert log.status == "success"
    asked = server.calls()[len(calls) :]
    assert sorted((one.item, one.first, one.second) for one in asked) == sorted(hung)
    kept = podium.read_battles(str(place(log)), merge=False).table
    assert kept.credit.notna().all()


@pytest.mark.slow
def test_server_that_never_answers_ends_the_run(server, play, write_responses):
    server.script(faults={"hang": 1.0})
    paths = marked(write_responses)
    log = play(round_robin(responses=paths, cache=False, call_timeout=LIMIT), JUDGE)
    assert log.status == "error"
    assert len(server.calls()) == 20, "ten calls, and each is repeated once"
    assert f"its first 10 calls all failed by {HUNG}: {JUDGE} at {server.address}/v1" in (
        log.error.message
    )


@pytest.mark.slow
def test_hung_checklist_loses_the_battles_of_its_item(server, play, write_responses):
    paths = marked(write_responses)
    server.script(faults={"hang": 1.0})
    how = {"cache": False, "checklist": True, "call_timeout": LIMIT}
    log = play(round_robin(responses=paths, **how), JUDGE, max_retries=0)
    assert HUNG in str([sample.error for sample in log.samples])


@pytest.mark.slow
@pytest.mark.parametrize("pack", [True, False])
def test_models_that_do_not_answer_are_named_and_their_battles_left_out(
    pack, server, tmp_path, capfd
):
    prompts = tmp_path / "prompts.jsonl"
    rows = [{"id": f"q{k}", "prompt": f"{k} plus {k}?"} for k in range(6)]
    prompts.write_text("".join(json.dumps(row) + "\n" for row in rows))
    server.script(faults={"hang": 0.3}, lasting=True, draw=2)
    roles = {
        "judge": "podium/offline",
        "models": [f"openai-api/standin/{name}" for name in ("ash-0.9", "elm-0.6", "fir-0.3")],
    }
    arguments = {"prompts": str(prompts), "pack": pack, "cache": False, "call_timeout": LIMIT}
    [log] = eval("podium/round_robin", task_args=arguments, model_roles=roles, max_retries=0)
    hung = [one for one in server.calls() if one.fate != "answered"]
    assert 0 < len(hung) < len(server.calls()) == 18
    assert HUNG in capfd.readouterr().err
    assert 0 < podium.read_battles(str(place(log))).counts().battles < 3 * 6
