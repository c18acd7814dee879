"""Two runs of one model, with other settings, judged against one reference."""

import json
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task, eval, task
from inspect_ai.dataset import Sample
from inspect_ai.solver import solver
from played_logs import place

import podium
from podium.inspect import pairwise

ITEMS = 12


@solver
def answer(quality: float):
    """Answer every sample with one quality."""

    async def solve(state, generate):
        state.output.completion = f"quality={quality}"
        return state

    return solve


@task
def advice(reference: str, style: str = "good") -> Task:
    """Return a task whose answers are better in one style."""
    samples = [Sample(id=f"q{k}", input=f"task {k}.") for k in range(ITEMS)]
    judged = pairwise(reference=reference, attempts=1, replies="text", logprobs="off")
    return Task(samples, solver=answer({"good": 3.0, "bad": 1.0}[style]), scorer=judged)


@pytest.fixture
def logs(behave: Any, tmp_path: Path) -> dict[str, str]:
    """Return the paths of the logs of both styles, each in a folder of its own."""
    reference = tmp_path / "old.jsonl"
    rows = [
        {"id": f"q{k}", "instruction": f"task {k}.", "model": "old", "response": "quality=2.0"}
        for k in range(ITEMS)
    ]
    reference.write_text("".join(json.dumps(row) + "\n" for row in rows))
    paths = {}
    for style in ("good", "bad"):
        [log] = eval(
            advice(reference=str(reference), style=style),
            model="mockllm/new",
            model_roles={"judge": behave()},
            log_dir=str(tmp_path / style),
        )
        assert log.status == "success", log.error
        paths[style] = str(place(log))
    return paths


@pytest.mark.slow
def test_the_runs_are_two_models_with_all_their_battles(logs):
    battles = podium.read_battles(*logs.values())
    assert battles.models == ("mockllm/new (style=bad)", "mockllm/new (style=good)", "old")
    assert len(battles) == 2 * ITEMS
    assert not [note for note in battles.notes if "several files" in str(note)]
    [standings] = podium.rank(battles, "win-rate").standings
    rates = {entry.model: entry.score for entry in standings.entries}
    assert rates["mockllm/new (style=good)"] > rates["mockllm/new (style=bad)"]


@pytest.mark.slow
def test_both_runs_are_compared_without_labels_and_with_them(logs, run_podium):
    code, out, err = run_podium("compare", logs["good"], logs["bad"])
    assert code == 0, err
    assert "mockllm/new (style=good) is " in out
    code, out, err = run_podium("compare", f"new={logs['good']}", f"main={logs['bad']}")
    assert code == 0, err
    assert "new is " in out


@pytest.mark.slow
def test_one_log_keeps_the_name_of_its_model(logs):
    assert podium.read_battles(logs["good"]).models == ("mockllm/new", "old")
