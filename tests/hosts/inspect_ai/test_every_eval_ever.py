"""Every Eval Ever's converter of Inspect logs accepts a tournament's log, and its validator the
rankings beside it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import get_model
from played_logs import place

from podium.errors import UsageError
from podium.hosts.inspect_ai.judging.offline_api import MODEL
from podium.hosts.inspect_ai.tasks import round_robin, swim

TASKS = {"round_robin": round_robin, "swim": swim}


@pytest.mark.slow
@pytest.mark.parametrize("name", TASKS)
def test_the_log_and_the_ranking_of_a_tournament_are_accepted(
    name: str,
    play: Any,
    behave: Any,
    write_responses: Any,
    every_eval_ever: Any,
    run_podium: Any,
    tmp_path: Path,
) -> None:
    log = play(TASKS[name](responses=write_responses()), behave())
    [ranking] = (tmp_path / "logs").glob("*.ranking.json")
    made = every_eval_ever(
        "convert", "inspect", "--log_path", place(log), "--output_dir", "out/data", folder=tmp_path
    )
    assert made.returncode == 0, made.stderr[-2000:]
    assert (
        run_podium("export", str(ranking), "--to", "every-eval-ever", "-o", str(tmp_path / "out"))[
            0
        ]
        == 0
    )
    checked = every_eval_ever(
        "validate", "data/*/*/*/*.json", "data/*/*/*/*.jsonl", folder=tmp_path / "out"
    )
    assert checked.returncode == 0, checked.stdout[-2000:]
    [converted] = (tmp_path / "out" / "data" / name / "podium" / "tournament").glob("*.json")
    model = json.loads(converted.read_text())["model_info"]
    assert (model["id"], model["developer"]) == ("podium/tournament", "podium")
    samples = converted.with_name(f"{converted.stem}_samples.jsonl").read_text().splitlines()
    # The converter writes a record for each score of a sample; an unpacked battle has several.
    converted_ids = [json.loads(line)["sample_id"] for line in samples]
    assert {*converted_ids} == {str(sample.id) for sample in log.samples}
    exported = [path for path in (tmp_path / "out").rglob("*.json") if path != converted]
    assert {json.loads(path.read_text())["model_info"]["name"] for path in exported} == {
        "ash",
        "elm",
        "fir",
        "oak",
    }


@pytest.mark.slow
def test_the_model_in_the_log_is_nobodys_and_answers_nothing(
    play: Any, behave: Callable[..., str], write_responses: Any
) -> None:
    log = play(round_robin(responses=write_responses(items=2)), behave())
    assert log.eval.model == MODEL
    assert {sample.output.model for sample in log.samples} == {"podium/tournament"}
    assert MODEL not in log.stats.model_usage
    with pytest.raises(UsageError, match="stands for the models of a tournament"):
        get_model(log.eval.model).api.generate([], [], "auto", None).send(None)
