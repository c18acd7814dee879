"""What `podium compare` says of runs of lm-eval with other settings."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from asked_runs import simple_run, write_lm_eval_run

SCORES = [float(k % 3 > 0) for k in range(30)]
OTHER_SCORES = [float(k % 4 > 2) for k in range(30)]


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"shots": 8}, "warning: models were run with different settings: shots of quiz"),
        ({"system": "Be kind."}, "warning: models were run with different settings: system inst"),
        ({"style": "other"}, "warning: models were run with different settings: prompt of quiz"),
        ({"template": "<|user|>"}, "note: quiz: models were run with settings of their own: chat"),
    ],
)
def test_one_message_names_the_setting_that_changes_the_words(
    tmp_path: Path, podium: Any, asked: dict[str, Any], said: str
) -> None:
    write_lm_eval_run([simple_run("lab/a", SCORES)], tmp_path)
    write_lm_eval_run([simple_run("lab/b", OTHER_SCORES, **asked)], tmp_path)
    answer = podium("compare", "lab/a", "lab/b", tmp_path)
    assert answer.code == 0
    [message] = answer.err.strip().splitlines()
    assert said in message


@pytest.mark.slow
@pytest.mark.parametrize("style", ["md", "html", "latex"])
@pytest.mark.parametrize("asked", [{"shots": 8}, {"template": "<|user|>"}])
def test_documents_name_the_settings_too(
    tmp_path: Path, podium: Any, asked: dict[str, Any], style: str
) -> None:
    write_lm_eval_run([simple_run("lab/a", SCORES)], tmp_path)
    write_lm_eval_run([simple_run("lab/b", OTHER_SCORES, **asked)], tmp_path)
    document = podium("compare", "lab/a", "lab/b", tmp_path, "--format", style).out
    assert "models were run with" in document
    table = podium("compare", "lab/a", "lab/b", tmp_path).out
    assert "models were run with" not in table  # there it stands on stderr


@pytest.mark.parametrize("kind", ["results", "samples"])
def test_two_files_of_a_model_are_named_by_the_setting(
    tmp_path: Path, podium: Any, kind: str
) -> None:
    write_lm_eval_run([simple_run("lab/a", SCORES)], tmp_path)
    later = replace(simple_run("lab/a", OTHER_SCORES, shots=0), day=1)
    write_lm_eval_run([later], tmp_path)
    files = sorted(tmp_path.rglob(f"{kind}_*"))
    assert len(files) == 2
    answer = podium("compare", *files)
    assert answer.code == 0
    assert "lab/a (shots=2) is clearly ahead of lab/a (shots=0)" in " ".join(answer.out.split())
    assert "warning" not in answer.err
