"""Two folders of lm-eval's output are compared without names."""

from dataclasses import replace
from pathlib import Path

import pytest
from asked_runs import simple_run, write_lm_eval_run

import podium


def test_a_folder_with_two_settings_of_a_model_is_not_compared_by_its_newest_run(
    tmp_path: Path,
) -> None:
    """The newest run has other shots than the run of the other model."""
    scores = [1.0, 0.0, 1.0] * 10
    runs = [
        simple_run("org/a", scores, shots=2),
        replace(simple_run("org/a", scores[::-1], shots=5), day=1),
        simple_run("org/b", scores, shots=2),
    ]
    for run in runs:
        write_lm_eval_run([run], tmp_path)
    folders = sorted(path for path in tmp_path.iterdir() if path.is_dir())
    with pytest.raises(podium.UsageError, match=r"org/a \(shots=2\) and org/a \(shots=5\): name"):
        podium.compare(*folders)
    compared = podium.compare("org/a (shots=2)", "org/b", tmp_path)
    assert compared.findings[0].candidate == "org/a (shots=2)"
