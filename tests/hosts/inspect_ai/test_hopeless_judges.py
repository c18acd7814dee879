"""A judge that is not there, or that no call reaches, is found out at once and not two hundred
times."""

import json
import socket
from pathlib import PurePath

import forked
import pytest
from inspect_ai import eval, eval_retry
from inspect_ai.log import list_eval_logs, read_eval_log
from played_logs import ITEMS, battles, place
from scripted_judge import Record
from stand_in import mark, stand_in

import podium
from podium.hosts.inspect_ai.tasks import round_robin

ALL = 6 * ITEMS


def run_inspect(*words, command="eval"):
    """Run Inspect's command line in a process of its own."""
    return forked.run("inspect", command, "podium/round_robin", "--display", "plain", *words)


def note_in(done):
    """Return podium's one line on what is not ranked."""
    [note] = [line for line in done.stderr.splitlines() if "not ranked" in line]
    return note


@pytest.mark.slow
def test_on_the_command_line_both_end_with_an_exit_code_and_one_message(
    write_responses, monkeypatch
):
    responses = f"-Tresponses={','.join(write_responses())}"
    done = run_inspect(responses)
    assert (done.returncode, list_eval_logs("logs")) == (1, [])
    assert done.stdout.count("no model is the judge; name one with --model-role judge=MODEL") == 1
    monkeypatch.setenv("STANDIN_API_KEY", "x")
    with stand_in() as server:
        server.script(faults={"401": 1.0})
        monkeypatch.setenv("STANDIN_BASE_URL", f"{server.address}/v1")
        done = run_inspect(responses, "--model-role", "judge=openai-api/standin/judge")
        assert 10 <= len(server.calls()) < 20, "ten, and those on their way when the tenth failed"
    assert done.returncode == 1
    assert done.stdout.count("JudgeStoppedError") == 1
    [log] = list_eval_logs("logs")
    assert read_eval_log(log.name).status == "error"


@pytest.mark.slow
def test_a_judge_that_is_missing_in_python_ends_the_run(write_responses):
    [log] = eval(round_robin(responses=write_responses()))
    assert log.status == "error"
    assert "no model is the judge; name one with --model-role judge=MODEL" in log.error.message


@pytest.mark.slow
@pytest.mark.parametrize("pack", [False, True])
def test_ten_identical_failures_stop_a_run_that_can_be_resumed(
    play, behave, record, write_responses, pack, capfd
):
    behave(errors=1.0)
    log = play(round_robin(responses=write_responses(), pack=pack))
    assert record.calls == 10
    assert log.status == "error"
    assert (
        "its first 10 calls all failed by RuntimeError: the provider is on fire"
        in log.error.message
    )
    assert "inspect eval-retry" in log.error.message
    assert capfd.readouterr().err.count("not ranked") == 1
    behave()
    [again] = eval_retry(log)
    assert (again.status, record.calls) == ("success", 10 + 2 * ALL)
    assert len(podium.read_battles(str(place(again)))) == ALL


@pytest.mark.slow
def test_errors_of_several_kinds_or_one_answer_do_not_stop_the_run(
    play, behave, record: Record, write_responses
):
    behave(errors=0.5)
    log = play(round_robin(responses=write_responses()))
    assert record.calls > 10
    assert log.error is None
    assert 0 < sum(one.error is None for one in battles(log)) < ALL


@pytest.mark.slow
@pytest.mark.parametrize("limit", [2, 30])
def test_unreachable_judge_is_reported_once_by_cause_and_address(
    limit, write_responses, monkeypatch
):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        address = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
    monkeypatch.setenv("STANDIN_API_KEY", "x")
    monkeypatch.setenv("STANDIN_BASE_URL", address)
    responses = f"-Tresponses={','.join(write_responses())}"
    words = (
        "--model-role",
        "judge=openai-api/standin/judge",
        "--limit",
        str(limit),
        "--max-retries",
        "0",
    )
    done = run_inspect(responses, *words)
    assert done.returncode == 1
    assert "Future" not in done.stdout + done.stderr
    note = note_in(done)
    assert note.count(f"connection refused: {address}") == 1
    [log] = list_eval_logs("logs")
    assert note.count(PurePath(log.name).name) == 1
    header = read_eval_log(log.name, header_only=True)
    assert header.status == "error"
    assert f"connection refused: {address}" in header.error.message


@pytest.fixture
def judged(tmp_path, monkeypatch):
    """Yield a server whose judge reads the marks of responses, and the options by which it judges
    two battles."""
    rows = [
        {"id": "q", "model": name, "instruction": "Do it.", "response": mark("q", name, quality)}
        for name, quality in (("ash", 0.9), ("elm", 0.6), ("fir", 0.3))
    ]
    (tmp_path / "marked.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    role = ("--model-role", "judge=openai-api/standin/judge", "--limit", "2")
    with stand_in() as server:
        monkeypatch.setenv("STANDIN_API_KEY", "x")
        monkeypatch.setenv("STANDIN_BASE_URL", f"{server.address}/v1")
        yield server, (f"-Tresponses={tmp_path / 'marked.jsonl'}", *role)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "why"),
    [("400", "no battle was judged"), ("reply", "none of the 2 battles has a readable verdict")],
)
@pytest.mark.parametrize("command", [("inspect",), ("podium", "inspect")])
def test_run_of_which_nothing_can_be_ranked_ends_with_exit_code_1(judged, fault, why, command):
    server, words = judged
    server.script(faults={fault: 1.0}, lasting=True)
    done = forked.run(*command, "eval", "podium/round_robin", "--display", "plain", *words)
    assert why in note_in(done)
    assert done.returncode == 1


@pytest.mark.slow
def test_eval_set_whose_second_attempt_is_ranked_ends_with_exit_code_0(judged):
    server, words = judged
    server.script(faults={"400": 1.0}, calls=4)
    more = ("--log-dir", "logs", "--retry-attempts", "2", "--retry-wait", "1")
    done = run_inspect(*words, *more, command="eval-set")
    assert "2 of 2 executed samples (100%) had errors" in done.stdout
    assert "bradley-terry" in done.stderr
    assert done.returncode == 0


@pytest.mark.slow
def test_exit_code_of_inspect_is_that_of_podium_inspect():
    assert forked.run("podium", "inspect", "eval", "--no-such-option").returncode == 2
