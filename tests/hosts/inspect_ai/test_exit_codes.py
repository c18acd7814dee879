"""The exit code of a command whose run is followed by rankings."""

import asyncio
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


def headers_of(tasks, **metadata) -> list[EvalLog]:
    """Write logs of two models for each task, and return their headers."""
    for task in tasks:
        for model in ("one", "two"):
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
        ranking, battles = eval_ranking.rank_by_scores(logs, gathered, options)
        return ranking, battles, Path("tournament.eval")

    monkeypatch.setattr(eval_ranking, "play_and_rank", play)
    logs = headers_of(["first", "second"], **JUDGED)
    ended = code_after(logs)
    assert ended == code
    assert next(rest, "none") == "none"
