"""Tournaments with a real language model as judge and as models: it repeats, rambles, and keeps no
form.

SmolLM2-135M is no good judge. What is tested is that a run ends and loses nothing, whatever the
judge replies.
"""

import json
import re
from pathlib import Path
from threading import Timer

import pytest
from agent_logs import two_tools, write_logs
from counting_proxy import counting_proxy
from inspect_ai import eval, eval_retry
from inspect_ai.log import read_eval_log
from inspect_ai.model import GenerateConfig, get_model
from language_model import LanguageModel
from played_logs import battles, credit_of, final_battles, place, verdict_of

import podium
from podium.hosts.inspect_ai.tasks import round_robin
from podium.scorers.reply import REASONS

pytestmark = [pytest.mark.llm, pytest.mark.slow]

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "tournament"
JUDGE = "openai-api/smol/smol"
SHORT = {"temperature": 0, "max_tokens": 40}
"""Settings of the judge: nothing is drawn, and a reply that goes on and on is cut off."""
ANSWERS = {
    "elm": ("A banana.", "Paris is the capital of France."),
    "fir": ("A hammer.", "I do not know."),
    "oak": ("A lemon is yellow.", "Lyon."),
}
QUESTIONS = ("Name a yellow fruit.", "What is the capital of France?")
PARSED = {
    "direct": 1,
    "labels": 1,
    "likert": 1,
    "numeric": 1,
    "rubric": 1,
    "cot": 0.9,
    "token-probs": 0,
}
"""Smallest share of judgments whose reply must be parsed, by realization; token-probs has no
schema."""
ASKED = [
    (name, replies)
    for name in PARSED
    for replies in ("auto", "schema")
    if replies == "auto" or PARSED[name]
]
POINTWISE = {"likert", "numeric", "token-probs"}


@pytest.fixture
def connect(monkeypatch):
    """Return a way to say where the language model answers."""

    def set_address(address):
        monkeypatch.setenv("SMOL_BASE_URL", f"{address}/v1")
        monkeypatch.setenv("SMOL_API_KEY", "none")

    return set_address


@pytest.fixture
def responses(tmp_path):
    """Return a writer of a file with the responses of some models to both questions."""

    def write(*models):
        rows = [
            {"id": f"q{k}", "model": model, "instruction": question, "response": ANSWERS[model][k]}
            for model in models
            for k, question in enumerate(QUESTIONS)
        ]
        path = tmp_path / "responses.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return str(path)

    return write


def judgments(log):
    """Return the judgments of all battles, as the scores keep them, without failed ones that were
    repeated."""
    last = {one.id for one in final_battles(log)}
    rows = []
    for one in log.samples:
        if "model_a" in one.metadata:
            own = verdict_of(one).metadata["podium"]["judgments"]
            rows += [
                row for row in own if one.id in last or not str(row["reason"]).startswith("failed")
            ]
    return rows


def assert_every_judgment_is_counted(log, expected):
    """Check that each judgment has a credit or a reason, and that the battles of the log are
    counted by them."""
    rows = judgments(log)
    assert len(rows) == expected
    for row in rows:
        assert (row["credit"] is None) == (row["reason"] is not None), row
        assert row["credit"] is not None or set(row["reason"].split(" / ")) <= set(REASONS), row
    found = podium.read_battles(str(place(log)))
    counts = found.counts()
    credits = [verdict_of(one).value for one in final_battles(log)]
    assert (len(found), counts.missing) == (len(credits), 0)
    assert counts.unparsed == sum(credit != credit for credit in credits)
    assert int(found.readable.sum()) == len(credits) - counts.unparsed


@pytest.mark.parametrize(("realization", "replies"), ASKED)
def test_judgments_are_parsed_and_all_others_have_a_reason(
    play, responses, language_model, connect, realization, replies
):
    connect(language_model.address)
    log = play(
        round_robin(
            responses=responses("elm", "fir"), realization=realization, replies=replies, **SHORT
        ),
        JUDGE,
    )
    assert log.status == "success", log.error
    assert_every_judgment_is_counted(log, 2 if realization in POINTWISE else 4)
    rows = judgments(log)
    assert sum(row["credit"] is not None for row in rows) / len(rows) >= PARSED[realization]
    assert {row["judge"].split("|")[1] for row in rows} == {realization}
    kept = [
        reply
        for one in battles(log)
        for shown in one.store["podium"]["judgments"]
        for reply in shown["replies"]
    ]
    assert len(kept) == 4


@pytest.mark.parametrize("realization", ["direct", "labels", "numeric"])
def test_json_verdicts_are_graded_and_their_mass_is_logged(
    play, responses, language_model, connect, realization
):
    connect(language_model.address)
    task = round_robin(
        responses=responses("elm", "fir"), realization=realization, replies="schema", temperature=0
    )
    log = play(task, JUDGE)
    rows = judgments(log)
    assert len(rows) == (2 if realization in POINTWISE else 4)
    for row in rows:
        assert 0.05 <= row["mass"] <= 1, row
        assert row["hard_credit"] in (0, 0.5, 1), row
        graded = [row["score_a"], row["score_b"]] if realization in POINTWISE else [row["credit"]]
        assert all(value % 0.25 for value in graded), row
    for battle in battles(log):
        own = verdict_of(battle)
        credits = [row["credit"] for row in own.metadata["podium"]["judgments"]]
        assert credit_of(battle) == pytest.approx(sum(credits) / len(credits))


def test_diagnosis_and_ranking_say_that_this_judge_may_not_rank(play, language_model, connect):
    """By labels it prefers the response shown first, whatever it is."""
    connect(language_model.address)
    asked = {
        "models": ["alder", "linden"],
        "limit": 8,
        "realization": "labels",
        "replies": "schema",
    }
    log = play(round_robin(responses=str(EXAMPLE), logprobs="off", **asked), JUDGE)
    said = (
        r"This judge may not rank: the response shown first has a win rate of 100\.0% \([\d.]+ … "
        r"100\.0\), and 100"
    )
    judgments_apart, merged = (
        podium.read_battles(str(place(log)), merge=merge) for merge in (False, True)
    )
    assert re.match(said, podium.diagnose(judgments_apart, merged).cards[0].answer[0])
    assert re.match(said, podium.rank(merged).standings[0].answer[1])


def test_two_temperatures_of_a_model_answer_on_demand(language_model, connect, tmp_path):
    connect(language_model.address)
    (tmp_path / "prompts.jsonl").write_text(
        "".join(
            json.dumps({"id": f"q{k}", "instruction": text}) + "\n"
            for k, text in enumerate(QUESTIONS)
        )
    )
    models = [
        get_model(JUDGE, config=GenerateConfig(temperature=t, max_tokens=16)) for t in (0.0, 1.5)
    ]
    judge = get_model(JUDGE, config=GenerateConfig(**SHORT))
    roles = {"judge": judge, "models": models}
    [log] = eval(round_robin, task_args={"prompts": "prompts.jsonl"}, model_roles=roles)
    log = read_eval_log(log.location)
    assert log.status == "success", log.error
    assert_every_judgment_is_counted(log, 4)
    names = podium.read_battles(str(place(log))).models
    assert names == ("smol, temperature 0", "smol, temperature 1.5")
    assert log.eval.metadata["podium_answers"]["models"] == dict.fromkeys(names, 2)
    settings = {"model": JUDGE, "max_tokens": 16}
    of_both = {
        name: {**settings, "temperature": t} for name, t in zip(names, (0, 1.5), strict=True)
    }
    assert log.eval.metadata["podium_answers"]["model_settings"] == of_both


def test_retry_after_the_server_was_killed_asks_nothing_twice_that_was_answered(
    weights, responses, connect
):
    """It is killed during the sixth call: the other order of one battle was answered at least."""
    server = LanguageModel()
    server.start()
    try:
        with counting_proxy(server.address) as proxy:
            connect(proxy.address)
            proxy.before = lambda number: Timer(0.1, server.kill).start() if number == 6 else None
            task = round_robin(responses=responses("elm", "fir", "oak"), attempts=1, **SHORT)
            [log] = eval(task, model_roles={"judge": JUDGE}, max_retries=0, max_connections=1)
            assert log.status == "error"
            assert proxy.answered.total() == 5
            server.start()
            proxy.before = lambda number: None
            [again] = eval_retry(log)
            assert again.status == "success", again.error
            assert_every_judgment_is_counted(read_eval_log(again.location), 12)
            assert len(proxy.answered) == proxy.answered.total() == 12
    finally:
        server.kill()


def test_run_is_completed_when_a_server_that_was_not_there_is_started(
    weights, responses, connect, capfd
):
    server = LanguageModel()
    connect(server.address)
    task = round_robin(responses=responses("elm", "fir"), limit=1, **SHORT)
    [log] = eval(task, model_roles={"judge": JUDGE}, max_retries=0)
    assert log.status == "error"
    note = capfd.readouterr().err
    assert note.count(f"connection refused: {server.address}/v1") == 1
    assert "inspect eval-retry" in note
    server.start()
    try:
        [again] = eval_retry(log)
    finally:
        server.kill()
    assert again.status == "success", again.error
    assert_every_judgment_is_counted(read_eval_log(again.location), 2)


def test_a_tournament_of_two_scripted_agents_runs_through(connect, language_model, play, tmp_path):
    connect(language_model.address)
    folder = write_logs(tmp_path / "agents", two_tools, items=2)
    log = play(round_robin(responses=folder, replies="schema"), JUDGE)
    assert log.status == "success"
    assert_every_judgment_is_counted(log, 4)
    assert all(row["credit"] is not None for row in judgments(log))
    assert all('convert {"degrees": 12' in one.metadata["response_a"] for one in battles(log))
