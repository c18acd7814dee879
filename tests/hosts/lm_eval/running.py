"""Runs of lm-eval in this process: its own command line, without the 14,000 tasks that it would
look through."""

import functools
import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import lm_eval.tasks
import lm_eval.utils
import pytest

from podium.hosts.lm_eval.lm_eval_command import run_lm_eval

TASK_MANAGER = lm_eval.tasks.TaskManager


def run(
    patch: pytest.MonkeyPatch, tasks: Path, server: Any, model: str, *more: str, task: str = "sums"
) -> int:
    """Run `podium lm_eval run` on the tasks of a folder against a model of the server; return the
    exit code."""
    reported = [
        "--model",
        "local-chat-completions",
        "--apply_chat_template",
        "--tasks",
        task,
        "--include_path",
        str(tasks),
    ]
    address = ["--model_args", f"model={model},base_url={server.chat},num_concurrent=8"]
    return bare(patch, "run", *reported, *address, *more)


def bare(patch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Run `podium lm_eval` with these arguments, its log on the stderr of this test."""
    of_lm_eval = logging.getLogger("lm_eval")
    with patch.context() as own:
        own.setattr(logging.root, "handlers", list(logging.root.handlers))
        own.setattr(of_lm_eval, "handlers", [])
        own.setattr(of_lm_eval, "propagate", of_lm_eval.propagate)
        own.setattr(lm_eval.utils, "_LOGGING_CONFIGURED", False, raising=False)
        own.setattr(
            lm_eval.tasks, "TaskManager", functools.partial(TASK_MANAGER, include_defaults=False)
        )
        return run_lm_eval(arguments)


def results(folder: Path) -> dict[str, Any]:
    """Return the newest results of a model's folder."""
    return json.loads(sorted(folder.glob("results_*.json"))[-1].read_text())


def calls(server: Any, models: Sequence[str]) -> int:
    """Return how often these models were asked."""
    return sum(one.model in models for one in server.calls())
