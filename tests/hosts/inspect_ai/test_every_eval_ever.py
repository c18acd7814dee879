"""The validator of Every Eval Ever accepts the rankings beside tournaments' logs, one record per
model; the logs name no model."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.analysis import evals_df

from podium.hosts.inspect_ai.tasks import round_robin, swim

TASKS = {"round_robin": round_robin, "swim": swim}


@pytest.mark.slow
@pytest.mark.parametrize("name", TASKS)
def test_the_ranking_of_a_tournament_is_accepted(
    name: str,
    play: Any,
    behave: Any,
    write_responses: Any,
    every_eval_ever: Any,
    run_podium: Any,
    tmp_path: Path,
) -> None:
    play(TASKS[name](responses=write_responses()), behave())
    [ranking] = (tmp_path / "logs").glob("podium-*.ranking")
    assert (
        run_podium("export", str(ranking), "--to", "every-eval-ever", "-o", str(tmp_path / "out"))[
            0
        ]
        == 0
    )
    checked = every_eval_ever("validate", "data/*/*/*/*.json", folder=tmp_path / "out")
    assert checked.returncode == 0, checked.stdout[-2000:]
    exported = [*(tmp_path / "out").rglob("*.json")]
    assert {json.loads(path.read_text())["model_info"]["name"] for path in exported} == {
        "ash",
        "elm",
        "fir",
        "oak",
    }


@pytest.mark.slow
def test_the_log_of_a_tournament_names_no_model(
    play: Any, behave: Callable[..., str], write_responses: Any
) -> None:
    log = play(round_robin(responses=write_responses(items=2)), behave())
    assert log.eval.model == "none/none"
    assert {sample.output.model for sample in log.samples} == {"none"}
    assert "none/none" not in log.stats.model_usage
    assert list(evals_df(log.location)["model"]) == ["none/none"]
