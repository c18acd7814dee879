"""Logs of agents: what the judge is shown of tool calls and turns, and what the run and the ranking
say of it."""

import json
import re
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
from agent_logs import call, only_answer, result, two_tools, write_logs
from inspect_ai import score
from inspect_ai.event import ModelEvent, SpanBeginEvent, ToolEvent
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    ModelInfo,
    ModelOutput,
    get_model,
    set_model_info,
)
from inspect_ai.tool import ToolCallError
from played_logs import battles, place, verdict_of
from transcript_pieces import pieces_in

import podium
from podium.errors import UsageError
from podium.hosts.inspect_ai.judging.judge_context import choose_show, context_of
from podium.hosts.inspect_ai.judging.pairwise_scorer import pairwise
from podium.hosts.inspect_ai.tasks import recorded_task, round_robin
from podium.notices.notice_text import notice_texts
from podium.plugins.catalogue import judging_settings
from podium.responses.transcripts import Show
from podium.scorers.prompt import Texts, count_tokens


@pytest.fixture
def agents(tmp_path):
    return write_logs(tmp_path / "agents", two_tools)


def prompts_of(record, task, play, behave):
    """Return the prompts of a tournament and its log."""
    before = len(record.prompts)
    log = play(task, behave())
    return [prompt for _, prompt in record.prompts[before:]], log


@pytest.mark.slow
def test_every_call_argument_result_and_error_is_in_the_prompt(agents, record, play, behave):
    prompts, log = prompts_of(record, round_robin(responses=agents), play, behave)
    assert len(prompts) == 6
    for k in range(3):
        for prompt in [prompt for prompt in prompts if f"on day {k}?" in prompt]:
            for name in ("ash", "willow"):
                assert f'weather {{"city": "Oslo q{k} {name}"}}' in prompt
                assert f'convert {{"degrees": 12, "to": "F {name}"}}' in prompt
                assert f"timeout: no answer for {name} q{k}" in prompt
                assert f"53.6 for {name} q{k}, at length: " + "mild " * 100 in prompt
                assert prompt.count(f"{name} says 53.6 to q{k}") == 1
            assert prompt.count(f"on day {k}?") == 1
    assert log.eval.metadata.get("podium_agents") is None
    [score] = {verdict_of(sample).value for sample in battles(log)}
    assert score < 0.5


@pytest.mark.slow
def test_with_show_answer_no_call_is_in_the_prompt_and_run_and_ranking_warn(
    agents, record, play, behave, capsys
):
    prompts, log = prompts_of(record, round_robin(responses=agents, show="answer"), play, behave)
    assert not any(
        word in prompt for word in ("weather {", "convert", "timeout", "mild") for prompt in prompts
    )
    warning = "6 of 6 responses hold tool calls, and the judge is shown only the last message"
    assert warning in capsys.readouterr().err
    [standings] = podium.rank(podium.read_battles(str(place(log)))).standings
    assert [
        text
        for text in notice_texts(standings.warnings)
        if warning in text and "show='transcript'" in text
    ]


@pytest.mark.slow
def test_without_tool_calls_the_prompts_are_those_of_answers(tmp_path, record, play, behave):
    folder = write_logs(tmp_path / "plain", only_answer)
    auto, log = prompts_of(record, round_robin(responses=folder, cache=False), play, behave)
    answer, other = prompts_of(
        record, round_robin(responses=folder, show="answer", cache=False), play, behave
    )
    assert sorted(auto) == sorted(answer)
    assert len(auto) == 6
    judges = {
        shown["judge"]
        for each in (log, other)
        for sample in battles(each)
        for shown in judgments(sample)
    }
    assert len(judges) == 1


def judgments(sample):
    return verdict_of(sample).metadata["podium"]["judgments"]


@pytest.mark.slow
def test_several_turns_without_a_call_are_reported(tmp_path, capsys):
    def two_turns(name, item):
        return [ChatMessageAssistant(content="First."), *only_answer(name, item)]

    round_robin(responses=write_logs(tmp_path / "turns", two_turns))
    assert (
        "6 of 6 responses hold several turns, and the judge is shown only the last"
        in capsys.readouterr().err
    )


@pytest.mark.slow
def test_an_answer_beside_transcripts_is_a_transcript_of_an_answer(
    tmp_path, record, play, behave, capsys
):
    write_logs(tmp_path / "mixed", two_tools, models=["ash"])
    folder = write_logs(tmp_path / "mixed", only_answer, models=["willow"])
    prompts, log = prompts_of(record, round_robin(responses=folder), play, behave)
    assert "3 of 6 responses (50%) are shown as transcripts" in capsys.readouterr().err
    [sample] = [sample for sample in battles(log) if sample.metadata["item"] == "q0"]
    forms = [
        [name for name, _ in pieces_in(sample.metadata[side])]
        for side in ("response_a", "response_b")
    ]
    assert forms[1] == ["answer"]
    assert len(forms[0]) == 6
    assert len(prompts) == 6


@pytest.mark.slow
@pytest.mark.parametrize("pack", [False, True])
def test_lengths_are_those_of_the_answer_and_the_transcripts_are_beside(agents, play, behave, pack):
    log = play(round_robin(responses=agents, pack=pack), behave())
    table = podium.read_battles(str(place(log))).table
    assert set(table["length_a"]) == {len("ash says 53.6 to q0, quality=3")}
    assert (table["transcript_length_a"].astype(int) > 700).all()


@pytest.mark.slow
def test_cuts_are_counted_by_model_and_the_uneven_one_is_named(tmp_path, play, behave, capsys):
    def sizes(name, item):
        size = 100_000 if name == "ash" else 100
        return [call("1", "read"), result("1", "read", "x" * size), *only_answer(name, item)]

    folder = write_logs(tmp_path / "cut", sizes)
    log = play(round_robin(responses=folder, transcript_tokens=1_000), behave())
    said = " ".join(capsys.readouterr().err.split())
    assert "3 of 6 transcripts are cut to fit (mockllm/ash 3 of 3, mockllm/willow 0 of 3)" in said
    assert (
        "transcripts of mockllm/ash are cut more often (100%) than those of mockllm/willow (0%)"
        in said
    )
    assert all(count_tokens(sample.metadata["response_a"]) <= 1_000 for sample in battles(log))
    [standings] = podium.rank(podium.read_battles(str(place(log)))).standings
    assert sum("cut" in text for text in notice_texts(standings.warnings)) == 2


@pytest.mark.slow
def test_transcripts_are_judged_again_as_they_were(agents, record, play, behave, capsys):
    first, log = prompts_of(
        record, round_robin(responses=agents, transcript_tokens=150), play, behave
    )
    assert "; transcript_tokens=N shows more" in " ".join(capsys.readouterr().err.split())
    again, _ = prompts_of(record, recorded_task(battles=str(place(log)), cache=False), play, behave)
    assert sorted(first) == sorted(again)
    said = " ".join(capsys.readouterr().err.split())
    assert "characters are left out; the log holds no more of them" in said
    assert "6 of 6 responses (100%) are shown as transcripts, as the log holds them: " in said
    assert not re.search("transcript_tokens=N|show=answer", said)


def write_logs_of_inner_agents(folder):
    """Write logs of agents that start another one; return their folder."""

    def asks_an_expert(name, item):
        return [call("1", "expert"), result("1", "expert", "Fine."), *only_answer(name, item)]

    write_logs(folder, asks_an_expert)
    for path in folder.glob("*.eval"):
        log = read_eval_log(str(path))
        for sample in log.samples:
            sample.events = inner_events()
        write_eval_log(log, str(path))
    return str(folder)


@pytest.mark.slow
def test_an_agent_that_a_tool_call_started_is_shown_under_the_call(tmp_path, play, behave):
    folder = write_logs_of_inner_agents(tmp_path / "inner")
    [sample, *_] = battles(play(round_robin(responses=folder), behave()))
    pieces = dict(pieces_in(sample.metadata["response_a"]))
    assert pieces["turn 1.1.1"] == "  I zoom in."
    assert pieces["result 1.1.1.1"] == "  a crack " + "x" * 500


def inner_events():
    """Return the events of a tool call that starts an agent, which calls a tool."""
    said = ChatMessageAssistant(content="I zoom in.", tool_calls=call("9", "zoom").tool_calls)
    config = {
        "model": "m",
        "input": [],
        "tools": [],
        "tool_choice": "auto",
        "config": GenerateConfig(),
    }
    return [
        SpanBeginEvent(id="tool", name="expert", type="tool"),
        SpanBeginEvent(id="agent", parent_id="tool", name="expert", type="agent"),
        ModelEvent(span_id="agent", output=ModelOutput.from_message(said), **config),
        SpanBeginEvent(id="zoom", parent_id="agent", name="zoom", type="tool"),
        ToolEvent(
            span_id="agent", id="9", function="zoom", arguments={}, result="a crack " + "x" * 500
        ),
        ToolEvent(id="1", function="expert", arguments={}, result="Fine.", agent_span_id="agent"),
    ]


@pytest.mark.slow
def test_an_error_is_shown_with_what_the_tool_returned_before_it(tmp_path, play, behave):
    def fails(name, item):
        return [
            call("1", "run"),
            result("1", "run", "half of it", ToolCallError("timeout", "too slow")),
            *only_answer(name, item),
        ]

    [sample, *_] = battles(
        play(round_robin(responses=write_logs(tmp_path / "fails", fails)), behave())
    )
    assert (
        dict(pieces_in(sample.metadata["response_a"]))["error 1.1"]
        == "timeout: too slow\nhalf of it"
    )


def test_a_user_cannot_say_that_answers_are_transcripts(write_responses):
    with pytest.raises(UsageError, match="transcript"):
        round_robin(responses=write_responses(), transcript=True)


@pytest.fixture
def local_judge(monkeypatch):
    """Name a judge on a local server that is never asked."""
    judge = get_model("openai-api/local/x", base_url="http://127.0.0.1:9/v1", api_key="none")
    monkeypatch.setattr(
        "podium.hosts.inspect_ai.judging.judge_context.judges_by_role", lambda: [judge]
    )
    return judge


@pytest.mark.slow
@pytest.mark.parametrize("realization", ["direct", "rubric", "numeric"])
def test_two_transcripts_fit_the_context_of_a_local_server(
    tmp_path, local_judge, capsys, realization
):
    def long_work(name, item):
        return [call("1", "read"), result("1", "read", "word " * 20_000), *only_answer(name, item)]

    folder = write_logs(tmp_path / "long", long_work)
    task = round_robin(responses=folder, realization=realization)
    said = " ".join(capsys.readouterr().err.split())
    assert "have to fit openai-api/local/x, which is taken to have 8,000 tokens" in said
    how = judging_settings(realization, transcript=True)
    for sample in task.dataset:
        texts = [sample.metadata["response_a"], sample.metadata["response_b"]][
            : 2 if how.is_pairwise else 1
        ]
        prompt = how.schema_prompt(Texts(sample.metadata["instruction"], tuple(texts)))
        assert 4_500 < count_tokens(prompt) <= 0.75 * 8_000 - 256


def test_tokens_that_the_user_gives_are_kept_where_the_context_is_assumed(local_judge):
    assert context_of(local_judge) == (8_000, True)
    assert choose_show("auto", 6_000, judging_settings()) == (Show("auto", 6_000), "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/v1/models", {"data": [{"id": "x", "max_model_len": 4_096}]}),
        ("/props", {"default_generation_settings": {"n_ctx": 4_096}}),
        ("/v1/models", {"data": []}),
        ("/props", {"default_generation_settings": {"n_ctx": "many"}}),
    ],
)
def test_a_local_server_is_asked_for_its_context(path, answer):
    class Server(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if self.path == path else 404)
            self.end_headers()
            self.wfile.write(json.dumps(answer if self.path == path else {}).encode())

        def log_message(self, *_):
            """Print nothing."""

    server = HTTPServer(("127.0.0.1", 0), Server)
    Thread(target=server.serve_forever, daemon=True).start()
    judge = get_model(
        "openai-api/said/x", base_url=f"http://127.0.0.1:{server.server_port}/v1", api_key="none"
    )
    assert context_of(judge) == ((4_096, False) if "4096" in json.dumps(answer) else (8_000, True))
    server.shutdown()


def test_a_context_that_inspect_knows_is_divided(monkeypatch):
    judge = get_model("openai-api/known/x", base_url="https://example.com/v1", api_key="none")
    assert context_of(judge) == (None, False)
    set_model_info(str(judge), ModelInfo(context_length=4_000))
    assert context_of(judge) == (4_000, False)
    monkeypatch.setattr(
        "podium.hosts.inspect_ai.judging.judge_context.judges_by_role", lambda: [judge]
    )
    show, why = choose_show("auto", 6_000, judging_settings())
    assert 1_000 < show.tokens < 2_000
    assert "which has 4,000 tokens" in why


@pytest.mark.slow
def test_where_the_context_is_the_limit_no_option_is_said_to_show_more(
    tmp_path, monkeypatch, capsys
):
    judge = get_model("openai-api/small/x", base_url="https://example.com/v1", api_key="none")
    set_model_info(str(judge), ModelInfo(context_length=4_000))
    monkeypatch.setattr(
        "podium.hosts.inspect_ai.judging.judge_context.judges_by_role", lambda: [judge]
    )

    def long_work(name, item):
        return [call("1", "read"), result("1", "read", "word " * 20_000), *only_answer(name, item)]

    round_robin(responses=write_logs(tmp_path / "long", long_work), transcript_tokens=6_000)
    said = " ".join(capsys.readouterr().err.split())
    assert "are left out; more does not fit openai-api/small/x, which has 4,000 tokens" in said
    assert "transcript_tokens=N" not in said


@pytest.mark.slow
def test_what_system_and_user_say_between_the_turns_is_shown_and_what_follows_the_answer_is_not(
    tmp_path, play, behave
):
    def told(name, item):
        talk = [ChatMessageSystem(content="Two calls are left."), ChatMessageUser(content="Hurry.")]
        return [call("1", "look"), result("1", "look", "12"), *talk, *only_answer(name, item)]

    folder = write_logs(
        tmp_path / "told", lambda *own: [*told(*own), ChatMessageUser(content="Go on.")]
    )
    for path in Path(folder).glob("*.eval"):
        log = read_eval_log(str(path))
        for sample in log.samples:
            sample.output = ModelOutput.from_message(sample.messages[-2])
        write_eval_log(log, str(path))
    [sample, *_] = battles(play(round_robin(responses=folder), behave()))
    names = [name for name, _ in pieces_in(sample.metadata["response_a"])]
    assert names == ["call 1.1", "result 1.1", "system 2", "user 2", "answer"]


@pytest.mark.slow
def test_the_viewer_folds_transcripts_by_turn_and_says_so(agents, play, behave):
    [sample, *_] = battles(play(round_robin(responses=agents), behave()))
    score = verdict_of(sample)
    folded = score.metadata["transcripts"]
    assert list(folded) == ["mockllm/ash", "mockllm/willow"]
    assert list(folded["mockllm/ash"]) == ["turn 1", "turn 2", "turn 3", "answer"]
    assert folded["mockllm/ash"]["turn 2"] == {
        "call 2.1": 'weather {"city": "Oslo q0 ash"}',
        "error 2.1": "timeout: no answer for ash q0",
    }
    assert (
        "mockllm/ash (3 turns, 2 tool calls: below, in METADATA), final answer:"
        in score.explanation
    )
    assert "│ ash says 53.6 to q0" in score.explanation


@pytest.mark.slow
def test_an_answer_has_no_folded_transcript(write_responses, play, behave):
    [sample, *_] = battles(play(round_robin(responses=write_responses(items=1)), behave()))
    assert "transcripts" not in verdict_of(sample).metadata


def score_against(folder, judge, model="willow", other="ash", **options):
    """Score a model's log against another one's by podium/pairwise; return the scored log."""
    logs = {
        read_eval_log(str(path), header_only=True).eval.model: path
        for path in Path(folder).glob("*.eval")
    }
    scorer = pairwise(str(logs[f"mockllm/{other}"]), **options)
    log = read_eval_log(str(logs[f"mockllm/{model}"]))
    return score(log, scorer, action="overwrite", display="none", model_roles={"judge": judge})


@pytest.mark.slow
def test_pairwise_scores_compare_transcripts_if_the_reference_called_tools(
    agents, record, behave, capsys
):
    log = score_against(agents, behave())
    assert len(record.prompts) == 6
    for _, prompt in record.prompts:
        assert all(
            f'"to": "F {name}"' in prompt and f"timeout: no answer for {name}" in prompt
            for name in ("ash", "willow")
        )
    assert all("transcripts" in sample.scores["pairwise"].metadata for sample in log.samples)


@pytest.mark.slow
def test_pairwise_scores_show_the_agents_that_both_started(tmp_path, record, behave):
    score_against(write_logs_of_inner_agents(tmp_path / "inner"), behave())
    assert len(record.prompts) == 6
    assert all(
        prompt.count("  a crack ") == prompt.count("  I zoom in.") == 2
        for _, prompt in record.prompts
    )


def stops_at_a_call(name, item):
    """Return the messages of an agent that a limit stops after a call."""
    said = ChatMessageAssistant(
        content=f"{name} looks it up for {item}.", tool_calls=call("1", "weather").tool_calls
    )
    return [said, result("1", "weather", "12"), said.model_copy(update={"id": None})]


def submits(name, item):
    """Return the messages of an agent whose completion is set to what its last call submits."""
    submitted = call("2", "submit", answer=f"{name} says 12 to {item}")
    submitted.content = f"{name} is done.\n\n{name} says 12 to {item}"
    return [call("1", "weather"), result("1", "weather", "12"), submitted]


@pytest.mark.slow
@pytest.mark.parametrize(("messages", "answers"), [(stops_at_a_call, 0), (submits, 2)])
def test_what_an_agent_says_beside_its_last_call_is_no_answer(
    tmp_path, play, behave, record, messages, answers
):
    folder = write_logs(tmp_path / "stopped", messages)
    [sample, *_] = battles(play(round_robin(responses=folder), behave()))
    names = [name for name, _ in pieces_in(sample.metadata["response_a"])]
    assert names.count("answer") == answers / 2
    assert "result 1.1" in names
    record.prompts.clear()
    score_against(folder, behave())
    assert {len(re.findall("^answer: ", prompt, re.MULTILINE)) for _, prompt in record.prompts} == {
        answers
    }


@pytest.mark.slow
def test_pairwise_scores_say_what_is_cut(tmp_path, behave, capsys):
    def long_results(name, item):
        return [call("1", "read"), result("1", "read", "x" * 9_000), *only_answer(name, item)]

    score_against(write_logs(tmp_path / "long", long_results), behave(), transcript_tokens=500)
    said = " ".join(capsys.readouterr().err.split())
    assert "3 of 3 responses (100%) are shown as transcripts of at most 500 tokens" in said
    assert "3 of 3 transcripts are cut to fit (mockllm/ash 3 of 3)" in said
    assert said.count("samples are cut to fit; pairwise(transcript_tokens=N) shows more") == 1
    assert "-T " not in said


@pytest.mark.slow
def test_transcripts_in_logs_are_shown_as_they_were(agents, play, behave):
    log = str(place(play(round_robin(responses=agents), behave())))
    for how in ({"show": "answer"}, {"transcript_tokens": 100}):
        with pytest.raises(
            UsageError,
            match=f"{next(iter(how))}=.*recorded shows the responses of these logs as they",
        ):
            recorded_task(battles=log, **how)


@pytest.mark.slow
def test_pairwise_scores_of_answers_say_that_calls_are_not_shown(agents, record, behave, capsys):
    score_against(agents, behave(), show="answer")
    assert not any("convert" in prompt for _, prompt in record.prompts)
    said = " ".join(capsys.readouterr().err.split())
    assert (
        "3 of 3 responses hold tool calls, and the judge is shown only the last message "
        "(mockllm/ash 3 of 3)" in said
    )
    assert said.count("samples hold tool calls, and the judge is shown only the last message") == 1
