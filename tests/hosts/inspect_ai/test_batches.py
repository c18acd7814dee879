"""Provider batches through a stub of OpenAI's batch endpoint: a round comes in one batch, and is
not ended by the time limit of calls."""

import json
import random
from pathlib import Path

import anyio
import pytest

pytest.importorskip("openai")

from batch_server import batch_server
from inspect_ai import eval, eval_retry
from inspect_ai.log import read_eval_log
from inspect_ai.model import BatchConfig, GenerateConfig, get_model
from played_logs import place
from stand_in import mark

import podium
from podium.hosts.inspect_ai.inspect_ai_compatibility import is_batched, seconds_of_batch
from podium.hosts.inspect_ai.judging.call_control import CircuitBreaker, JudgeStoppedError
from podium.hosts.inspect_ai.tournament.batch_notes import notes_on_batches
from podium.notices.notice_text import notice_text

TICK = 0.5
BATCH = BatchConfig(tick=TICK, send_delay=2, size=10_000)
"""A batch is sent after two seconds, in which all calls of a round have surely come."""


@pytest.fixture
def provider(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with batch_server() as own:
        yield own


def judge_of(provider, name="openai/gpt-4o", batch=None, **arguments):
    """Return a judge of the provider."""
    return get_model(
        name,
        base_url=provider.address,
        api_key="none",
        memoize=False,
        config=GenerateConfig(batch=batch),
        **({"responses_api": False} if name.startswith("openai/") else {}),
        **arguments,
    )


def marked(write_responses, items, models=4):
    """Write responses with the marks that the judge reads."""
    names = {f"m{k}": k / models for k in range(models)}
    cells = {}
    for name, own in names.items():
        for k in range(items):
            luck = random.Random(f"{name} {k}").random() / 4
            cells[name, k] = mark(f"q{k}", name, round(own + luck, 3))
    return write_responses(names, items=items, texts=cells)


def played(name, provider, paths, roles=None, *, own=False, **arguments):
    """Play a tournament with batches by `--batch`, or by the judge's own setting."""
    judge = judge_of(provider, batch=BATCH if own else None)
    given = {"responses": paths, "cache": False, **arguments}
    [log] = eval(
        f"podium/{name}",
        task_args=given,
        model_roles={"judge": judge, **(roles or {})},
        **({} if own else {"batch": BATCH}),
    )
    return read_eval_log(log.location)


@pytest.mark.slow
@pytest.mark.parametrize("pack", [True, False])
@pytest.mark.parametrize("own", [True, False])
def test_round_robin_is_one_batch(own, pack, provider, write_responses):
    """Neither the first ten calls, nor packs, nor Inspect's number of samples divide it."""
    provider.seconds = 3
    paths = marked(write_responses, items=12)
    log = played("round_robin", provider, paths, own=own, pack=pack, call_timeout=1)
    assert log.status == "success"
    assert provider.sizes == [12 * 6 * 2]
    assert provider.live == 0
    assert podium.read_battles(str(place(log))).counts().unparsed == 0


@pytest.mark.slow
def test_ring_is_a_batch_per_round_and_says_the_time_before(provider, write_responses, capfd):
    paths = marked(write_responses, items=60, models=3)
    how = {"until": "error:1", "start": 25}
    log = played("ring", provider, paths, **how)
    assert log.status == "success"
    assert len(provider.sizes) > 1
    judgments = podium.read_battles(str(place(log)), merge=False).table
    assert sum(provider.sizes) == len(judgments)
    rounds = {sample.id.rpartition(" ")[2] for sample in log.samples if "::" not in sample.id}
    assert len(provider.sizes) <= len(rounds) + 1
    assert "note: batches of a provider wait for one another: " in capfd.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    "how", [{"replies": "schema"}, {"realization": "cot", "replies": "schema"}]
)
def test_first_call_in_a_schema_is_not_alone_in_its_batch(how, provider, write_responses):
    paths = marked(write_responses, items=6)
    log = played("round_robin", provider, paths, **how)
    assert log.status == "success"
    assert provider.sizes == [6 * 6 * 2]


@pytest.mark.slow
def test_both_ratings_of_a_battle_come_in_one_batch(provider, write_responses):
    paths = marked(write_responses, items=6)
    played("round_robin", provider, paths, realization="numeric", attempts=1, replies="text")
    assert provider.sizes == [6 * 4]


@pytest.mark.slow
def test_calls_that_fail_in_a_batch_lose_their_own_battles_and_a_retry_asks_for_them_alone(
    provider, write_responses
):
    """The first ten fail, and the others are answered: the judge is asked further."""
    paths = marked(write_responses, items=6)
    provider.fails = lambda number: number < 11
    log = played("round_robin", provider, paths)
    assert log.status == "error"
    table = podium.read_battles(str(place(log)), merge=False).table
    assert (table.credit.isna().sum(), len(table)) == (11, 72)
    assert table.reason.value_counts().to_dict() == {
        "failed: HTTP 400": 6,
        "failed: BatchedRequestError": 5,
    }
    provider.fails = None
    [log] = eval_retry(log)
    assert log.status == "success"
    assert provider.sizes == [72, 10, 1], "battles without a reply first, then the rest of others"


@pytest.mark.slow
def test_batch_that_is_refused_ends_the_run_and_names_why(provider, write_responses):
    provider.rejects = 400
    with pytest.raises(Exception, match="no batches today"):
        played("round_robin", provider, marked(write_responses, items=3))
    provider.rejects = None
    [log] = eval_retry([str(path) for path in Path("logs").glob("*.eval")])
    assert log.status == "success"
    assert provider.sizes == [36]


@pytest.mark.slow
def test_answers_on_demand_come_in_batches_too(provider, tmp_path, capfd):
    prompts = tmp_path / "prompts.jsonl"
    rows = [{"id": f"q{k}", "prompt": f"{k} plus {k}?"} for k in range(20)]
    prompts.write_text("".join(json.dumps(row) + "\n" for row in rows))
    names = ("ash-0.9", "elm-0.6", "fir-0.3")
    models = [judge_of(provider, f"openai/{name}") for name in names]
    log = played("round_robin", provider, [], {"models": models}, prompts=str(prompts))
    assert log.status == "success"
    assert provider.live == 0
    assert sorted(provider.sizes) == [20, 20, 20, 120]


@pytest.mark.slow
def test_provider_without_batches_is_named_and_its_calls_have_the_time_limit(
    provider, write_responses, capfd
):
    judge = judge_of(provider, "openai-api/standin/judge")
    arguments = {"responses": marked(write_responses, items=2), "cache": False}
    eval("podium/ring", task_args=arguments, model_roles={"judge": judge}, batch=True)
    assert (provider.sizes, provider.live > 0) == ([], True)
    assert (
        "warning: openai-api/standin/judge: Inspect has no batches of this provider"
        in capfd.readouterr().err
    )


def test_batches_are_those_of_providers_that_have_some(provider):
    assert is_batched(judge_of(provider), True)
    assert not is_batched(judge_of(provider), None)
    assert not is_batched(judge_of(provider, "openai-api/standin/judge"), True)
    assert not is_batched(get_model("mockllm/model"), 100)
    assert is_batched(get_model("podium/offline"), 100), "a provider of another package may"


def test_time_of_batches_is_told_for_rounds_that_follow_one_another(provider):
    judge = judge_of(provider, batch=True)
    assert list(notes_on_batches(1, [judge], [])) == []
    assert list(notes_on_batches(7, [judge_of(provider)], [])) == []
    [note] = notes_on_batches(7, [judge], [])
    assert (note.severity, note.fields["minutes"], note.fields["days"]) == ("note", 3.5, 7)
    assert (
        "at most 7 rounds, each of which waits at least 30 seconds (3.5 minutes together), and up "
        "to 24 hours if its provider needs them (7 days)"
    ) in notice_text(note)
    [note] = notes_on_batches(None, [judge], [])
    assert "how many rounds there are is not known" in notice_text(note)
    assert seconds_of_batch(BATCH) == TICK + 2


def test_calls_of_a_batch_do_not_wait_for_its_first_ten():
    breaker = CircuitBreaker()
    begun, answers = [], anyio.Event()

    async def ask(number):
        begun.append(number)
        await answers.wait()
        if number < 12:
            raise RuntimeError("busy")
        return number

    async def run():
        found = {}

        async def call(number):
            try:
                found[number] = await breaker.call(lambda: ask(number), waits=False)
            except (RuntimeError, JudgeStoppedError) as error:
                found[number] = type(error).__name__

        async with anyio.create_task_group() as group:
            for number in range(30):
                group.start_soon(call, number)
            await anyio.wait_all_tasks_blocked()
            assert len(begun) == 30
            answers.set()
        assert await breaker.call(lambda: ask(99)) == 99
        return found

    found = anyio.run(run)
    assert [found[number] for number in (0, 11, 12, 29)] == ["RuntimeError"] * 2 + [12, 29]
