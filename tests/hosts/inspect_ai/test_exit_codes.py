"""The exit code of a command whose run is followed by rankings."""

import asyncio
import os
from pathlib import Path
from types import SimpleNamespace

import click
import pytest
from click.globals import pop_context
from inspect_ai.log import EvalLog, read_eval_log
from written_logs import build_log, write

from podium.errors import PodiumError
from podium.hosts.inspect_ai import eval_ranking
from podium.hosts.inspect_ai.hook import PodiumHooks

JUDGED = {"ranker": "win-rate", "ranker_judge": "podium/offline", "ranker_strict": True}


def headers_of(tasks, *, models=("one", "two"), **metadata) -> list[EvalLog]:
    """Write logs of some models for each task, and return their headers."""
    for task in tasks:
        for model in models:
            log = build_log(model, {"1": (1.0,), "2": (0.0,)}, task=task)
            log.eval.metadata = metadata
            write(log)
    paths = sorted(Path("evals").glob("*.eval"))
    return [read_eval_log(str(path.absolute()), header_only=True) for path in paths]


def code_after(logs) -> int:
    """Return the exit code of a command with one run of these logs."""
    hooks = PodiumHooks()
    try:
        with click.Context(click.Command("eval")):
            asyncio.run(hooks.on_run_end(SimpleNamespace(logs=logs)))
    except SystemExit as end:
        # click does not leave a context that ends in an error.
        pop_context()
        return end.code
    return 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("failures", "code"),
    [
        ([PodiumError("no verdict"), None], 1),
        ([None, PodiumError("no verdict")], 1),
        ([KeyboardInterrupt(), None], 130),
        ([KeyboardInterrupt(), PodiumError("no verdict")], 130),
        ([PodiumError("no verdict"), KeyboardInterrupt()], 130),
    ],
)
def test_a_later_task_that_is_judged_does_not_erase_a_failure(monkeypatch, failures, code):
    rest = iter(failures)

    def play(logs, gathered, options):
        failure = next(rest)
        if failure is not None:
            raise failure
        return eval_ranking.rank_by_scores(logs, gathered, options)

    monkeypatch.setattr(eval_ranking, "play_and_rank", play)
    logs = headers_of(["first", "second"], **JUDGED)
    ended = code_after(logs)
    assert ended == code
    assert next(rest, "none") == "none"


@pytest.mark.parametrize("is_raised", [False, True])
def test_a_tournament_that_the_user_stopped_says_how_to_resume_it(is_raised, monkeypatch, capfd):
    from podium.hosts.inspect_ai import judged_run

    logs = headers_of(["quiz"], **JUDGED)
    # The log of an earlier tournament lies there, too.
    write(build_log("one", {"1": (1.0,)}, status="cancelled"), "evals.podium")
    [old] = Path("evals.podium").glob("*.eval")
    os.utime(old, (1e9, 1e9))

    def play(*_, log_dir, **__):
        stopped = build_log("two", {"1": (1.0,)}, status="cancelled")
        write(stopped, log_dir)
        [stopped.location] = map(str, Path(log_dir).glob("*_two.eval"))
        if is_raised:
            raise KeyboardInterrupt
        return [stopped]

    monkeypatch.setattr(judged_run, "_build_judged_task", lambda *_: None)
    monkeypatch.setattr("inspect_ai.eval", play)
    assert code_after(logs) == 130
    [line] = [line for line in capfd.readouterr().err.splitlines() if "not ranked" in line]
    [stopped] = Path("evals.podium").absolute().glob("*_two.eval")
    assert line == (
        "podium: not ranked: stopped; the eval's own logs are saved; `inspect eval-retry "
        f"{stopped} --log-dir {stopped.parent}` plays the rest, then `podium rank` on its log "
        "ranks it"
    )


@pytest.mark.parametrize(
    ("scores", "judge", "what"),
    [
        (False, {}, "which has no score to rank by: name a judge with --metadata ranker_judge"),
        (False, {"ranker_judge": "podium/offline"}, "the next run can be ranked against it, or"),
        (True, {}, "the next run can be ranked against it, or"),
    ],
)
def test_the_first_run_of_a_task_without_scores_says_that_it_needs_a_judge(
    scores, judge, what, capfd
):
    log = build_log("one", {"1": (1.0,), "2": (0.0,)})
    log.eval.metadata = {"ranker": "win-rate", **judge}
    if not scores:
        log.results = log.reductions = log.eval.scorers = None
        for sample in log.samples:
            sample.scores = None
    write(log)
    [path] = Path("evals").glob("*.eval")
    assert code_after([read_eval_log(str(path.absolute()), header_only=True)]) == 0
    said = " ".join(capfd.readouterr().err.split())
    assert "made/one is the first model in" in said
    assert what in said


def of_run(**metadata) -> list[EvalLog]:
    """Write a run of one model, whose options rank it by the mean; return its header."""
    log = build_log("one", {"1": (1.0,), "2": (0.0,)})
    log.eval.metadata = {"ranker": "mean", **metadata}
    write(log)
    [path] = Path("evals").glob("*_one.eval")
    return [read_eval_log(str(path.absolute()), header_only=True)]


def write_other(model: str, folder: str, status: str = "success") -> Path:
    """Write a log of a model into a folder, and return its path."""
    write(build_log(model, {"1": (1.0,), "2": (1.0,)}, status=status), folder)
    [path] = Path(folder).glob(f"*_{model}.eval")
    return path


def damage(path: Path) -> None:
    """Cut a log off, as a full disk does."""
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(("strict", "code"), [(False, 0), (True, 1)])
def test_a_damaged_log_that_the_user_named_is_told_and_a_failure_if_strict(strict, code, capfd):
    write_other("good", "named")
    damage(write_other("bad", "named"))
    ended = code_after(of_run(ranker_against="named", ranker_strict=strict))
    assert ended == code
    said = capfd.readouterr().err
    assert "podium: left out: " in said
    assert "_quiz_bad.eval" in said
    assert "made/good" in said


def test_named_logs_that_are_all_damaged_are_an_error_with_the_reason(capfd):
    damage(write_other("bad", "named"))
    ended = code_after(of_run(ranker_against="named", ranker_strict=True))
    assert ended == 1
    said = capfd.readouterr().err
    assert "there is no finished log of task quiz; left out: " in said
    assert "_quiz_bad.eval" in said


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("status", ["started", "cancelled", "error"])
def test_a_named_log_of_an_unfinished_eval_is_told(status, capfd):
    write_other("good", "named")
    path = write_other("cut", "named", status)
    ended = code_after(of_run(ranker_against="named", ranker_strict=True))
    assert ended == 1
    said = " ".join(capfd.readouterr().err.split())
    assert f"left out: {path}: its eval did not finish, its status is {status}; " in said


def test_an_unfinished_attempt_that_was_retried_is_no_failure(capfd):
    write_other("good", "named")
    write_other("good", "earlier", "error")
    against = ["named", "earlier"]
    ended = code_after(of_run(ranker_against=against, ranker_strict=True))
    assert ended == 0
    assert "left out: " not in capfd.readouterr().err


@pytest.mark.slow
def test_a_damaged_log_beside_the_run_is_told_and_no_failure(capfd):
    write_other("good", "evals")
    damage(write_other("bad", "evals"))
    ended = code_after(of_run(ranker_strict=True))
    assert ended == 0
    said = capfd.readouterr().err
    assert "podium: left out: " in said
    assert "_quiz_bad.eval" in said


@pytest.mark.slow
@pytest.mark.parametrize(("strict", "code"), [(False, 0), (True, 1)])
def test_a_run_of_which_a_model_is_left_out_is_a_failure_if_strict(strict, code, capfd):
    logs = headers_of(["quiz"], models=("one", "two", "three"), ranker="mean", ranker_strict=strict)
    damage(Path(logs[-1].location))
    ended = code_after(logs)
    assert ended == code
    said = capfd.readouterr().err
    assert "made/one" in said
    assert said.count("left out: ") == 1


@pytest.mark.slow
@pytest.mark.parametrize(("strict", "code"), [(False, 0), (True, 1)])
def test_a_judged_run_of_which_samples_failed_is_a_failure_if_strict(monkeypatch, strict, code):
    from podium.hosts.inspect_ai import judged_run

    logs = headers_of(["quiz"], **{**JUDGED, "ranker_strict": strict})
    played = Path(logs[0].location)
    monkeypatch.setattr(
        judged_run, "play_tournament", lambda *_, **__: (played, "3 samples failed")
    )
    read = eval_ranking.read_logs_for_host
    places = [log.location for log in logs]
    monkeypatch.setattr(
        eval_ranking, "read_played_log", lambda *given: read(places, "unparsed", given[-1])
    )
    ended = code_after(logs)
    assert ended == code
