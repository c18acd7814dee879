"""A judge that is not there, or that no call reaches, is found out at once and not two hundred times."""

import forked
import pytest
from inspect_ai import eval, eval_retry
from inspect_ai.log import list_eval_logs, read_eval_log
from played_logs import ITEMS, battles, place
from scripted_judge import Record
from stand_in import stand_in

import podium
from podium.hosts.inspect_ai.tasks import round_robin

ALL = 6 * ITEMS


def run_inspect(*words):
    """Run Inspect's command line in a process of its own."""
    return forked.run("inspect", "eval", "podium/round_robin", "--display", "plain", *words)


@pytest.mark.slow
def test_on_the_command_line_both_end_with_an_exit_code_and_one_message(write_responses, monkeypatch):
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
def test_ten_identical_failures_stop_a_run_that_can_be_resumed(play, behave, record, write_responses, pack, capfd):
    behave(errors=1.0)
    log = play(round_robin(responses=write_responses(), pack=pack))
    assert record.calls == 10
    assert log.status == "error"
    assert "its first 10 calls all failed by RuntimeError: the provider is on fire" in log.error.message
    assert "inspect eval-retry" in log.error.message
    assert capfd.readouterr().err.count("not ranked") == 1
    behave()
    [again] = eval_retry(log)
    assert (again.status, record.calls) == ("success", 10 + 2 * ALL)
    assert len(podium.read_battles(str(place(again)))) == ALL


@pytest.mark.slow
def test_errors_of_several_kinds_or_one_answer_do_not_stop_the_run(play, behave, record: Record, write_responses):
    behave(errors=0.5)
    log = play(round_robin(responses=write_responses()))
    assert record.calls > 10
    assert log.error is None
    assert 0 < sum(one.error is None for one in battles(log)) < ALL
