"""The responses that lm-eval's tournament keeps for a retry go when the retry has succeeded."""

import asyncio
from pathlib import Path
from types import SimpleNamespace

import pytest
from inspect_ai.log import read_eval_log
from made_logs import write_quiz

from podium.hosts.inspect_ai.hook import PodiumHooks
from podium.hosts.inspect_ai.judged_run import _resuming_text
from podium.hosts.inspect_ai.logs.log_files import PLAYED_FOR


@pytest.mark.parametrize(
    ("command", "status", "more", "stays"),
    [
        ("inspect eval-retry", "success", None, False),
        ("inspect eval-retry", "success", "this/a/notes.txt", True),
        ("inspect eval-retry", "success", "others/1/b/samples_t.jsonl", True),
        ("inspect eval-retry", "success", "results.json", True),
        ("inspect eval-retry", "error", None, True),
        ("podium lm_eval", "success", None, True),
    ],
)
def test_linked_runs_go_after_a_successful_retry_alone(tmp_path, command, status, more, stays):
    runs = tmp_path / "out.podium.runs"
    of_run = runs / "2026-01-01T00-00-00"
    samples = tmp_path / "samples.jsonl"
    samples.write_text("{}")
    folders = [of_run / "this" / "a", of_run / "others" / "1" / "b"]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "samples.jsonl").symlink_to(samples)
    if more:
        (of_run / more).write_text("a file of the user")
    log = read_eval_log(str(write_quiz(tmp_path, "lab/weak", 4)))
    log.status = status
    log.eval.metadata = {PLAYED_FOR: "lm-eval"}
    log.eval.task_args = {"responses": [f"a={folders[0]}", str(folders[1])]}
    hooks = PodiumHooks()
    hooks.command = command
    asyncio.run(hooks.on_run_end(SimpleNamespace(logs=[log])))
    assert runs.exists() is stays
    assert samples.exists()


def test_the_command_that_goes_on_names_the_folder_of_the_log():
    """Inspect writes the log of a retry into ./logs unless --log-dir is given."""
    text = _resuming_text(Path("/made/out.podium/a b.eval"))
    assert "`inspect eval-retry '/made/out.podium/a b.eval' --log-dir /made/out.podium`" in text
