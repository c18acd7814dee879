"""A judge that cannot judge, or cannot be reached, ends lm-eval's tournament early."""

import time

import pytest

pytest.importorskip("lm_eval.api")
pytest.importorskip("inspect_ai")
pytest.importorskip("openai")

from running import calls, run

from podium.hosts.inspect_ai.judging import reply_watch

MODELS = ("ash-0.9", "org/elm-0.6")
LIMIT = ("-o", "out", "--log_samples", "--limit", "12")


@pytest.fixture
def judged(monkeypatch, task_of_sums, server):
    """Run two models; return a way to run the second again, whose kept answers a judge at an
    address compares."""
    kept = (*LIMIT, "--use_cache", "answers")
    assert run(monkeypatch, task_of_sums, server, MODELS[0], *LIMIT) == 0
    assert run(monkeypatch, task_of_sums, server, MODELS[1], *kept) == 0

    def run_judged(address, *more):
        judge = ("--ranker", "bradley-terry", "--ranker_judge", "openai-api/standin/judge")
        where = ("--ranker_judge_args", f"base_url={address},api_key=x")
        return run(monkeypatch, task_of_sums, server, MODELS[1], *kept, *judge, *where, *more)

    return run_judged


@pytest.mark.slow
def test_judge_of_no_readable_reply_is_stopped_after_twenty_judgments(judged, server, capfd):
    server.script(faults={"reply": 1.0}, lasting=True)
    assert judged(f"{server.address}/v1") == 0
    printed = capfd.readouterr().err
    assert 40 <= calls(server, ["judge"]) < 48
    assert "because it cannot judge: none of the first 20 judgments" in printed
    assert "--ranker_args on_bad_judge=continue" in printed


@pytest.mark.slow
def test_verdicts_of_a_judge_that_always_takes_the_first_are_not_ranked(judged, server, capfd):
    server.script(always_first=True)
    assert judged(f"{server.address}/v1", "--ranker_strict") == 3
    printed = capfd.readouterr()
    assert calls(server, ["judge"]) == 20
    words = "podium: not ranked: the judge is not asked any more, because it cannot judge: "
    assert f"{words}the response shown first won in all 20" in printed.err
    assert "bradley-terry" not in printed.out
    assert "too close" not in printed.err


@pytest.mark.slow
def test_dead_endpoint_is_known_soon(judged, monkeypatch, capfd):
    monkeypatch.setattr(reply_watch, "DEAD_AFTER", 1.0)
    began = time.monotonic()
    assert judged("http://127.0.0.1:9/v1", "--ranker_strict") == 3
    printed = capfd.readouterr().err
    assert time.monotonic() - began < 60
    assert "no reply has arrived" in printed
    assert "connection refused: http://127.0.0.1:9/v1" in printed


@pytest.mark.slow
def test_ten_failures_alike_stop_the_tournament(judged, server, capfd):
    server.script(faults={"401": 1.0}, lasting=True)
    judged(f"{server.address}/v1")
    assert calls(server, ["judge"]) < 20
    assert "its first 10 calls all failed" in capfd.readouterr().err
