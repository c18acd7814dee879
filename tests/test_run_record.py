"""What the files of both hosts say of a run."""

import json
from pathlib import Path

import pytest
from lm_eval_output import sample, write_run

import podium
from podium.comparability.run_settings import differing_settings
from podium.run_record import RunRecord, settings_as_pairs


def test_a_results_file_says_how_a_model_was_asked(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_run(tmp_path, name, {"t": [sample(f"q{k}", {"acc": 1.0}, place=k) for k in range(3)]})
    [place] = (tmp_path / "a").glob("results_*.json")
    content = json.loads(place.read_text())
    content |= {"n-shot": {"t": 5}, "versions": {"t": 2.0}, "chat_template_sha": "abc"}
    content["system_instruction"] = "Answer at once."
    content["config"] = {**content.get("config", {}), "limit": 3, "gen_kwargs": "temperature=1"}
    place.write_text(json.dumps(content))
    battles = podium.read_battles(tmp_path)
    [run] = [run for run in battles.runs if run.source.startswith(str(tmp_path / "a"))]
    assert (run.task, run.shots, run.task_version) == ("t", 5, "2")
    assert (run.chat_template, run.system_instruction) == ("abc", "Answer at once.")
    assert (run.limit, run.generation) == ("3", (("temperature", "1"),))


def test_what_a_file_does_not_say_is_unknown(tmp_path: Path) -> None:
    for name in ("a", "b"):
        rows = [sample(f"q{k}", {"acc": 1.0}, place=k) for k in range(3)]
        write_run(tmp_path, name, {"t": rows})
        for results in (tmp_path / name).glob("results_*.json"):
            results.unlink()
    for run in podium.read_battles(tmp_path).runs:
        assert (run.shots, run.task_version, run.status, run.failed) == (None, None, None, None)


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ({}, []),
        ({"time": "later", "source": "other"}, []),
        ({"shots": 5}, ["shots"]),
        ({"task_version": "2"}, ["task version"]),
        ({"generation": settings_as_pairs({"seed": 1, "temperature": 1})}, ["temperature"]),
        ({"task_arguments": settings_as_pairs({"hint": None, "style": "x"})}, ["style"]),
        ({"task_arguments": settings_as_pairs({"limit": 1}), "limit": "3"}, ["limit"]),
        ({"limit": "3"}, []),
        ({"task_arguments": settings_as_pairs({"seed": 2})}, ["seed"]),
    ],
)
def test_runs_differ_in_what_they_were_asked(change: dict[str, object], names: list[str]) -> None:
    known = {"model": "m", "task": "t", "source": "s", "shots": 0, "task_version": "1"}
    known["generation"] = settings_as_pairs({"seed": 1})
    runs = [RunRecord(**known), RunRecord(**{**known, **change})]
    assert [setting.text for setting in differing_settings(runs)] == names
