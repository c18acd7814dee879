"""What the check of settings says of two prompts of one model."""

from dataclasses import replace
from pathlib import Path

import pytest
from asked_runs import simple_run, write_inspect_log

import podium


@pytest.mark.parametrize("style", ["polite", "plain"])
def test_models_with_the_same_prompt_are_not_said_of_two_prompts_of_one_model(
    tmp_path: Path, style: str
) -> None:
    first = simple_run("lab/a", [1.0, 0.0] * 20)
    other = replace(simple_run("lab/a", [0.0, 1.0] * 20, style=style), day=1)
    write_inspect_log(first, tmp_path)
    write_inspect_log(other, tmp_path)
    if style == "plain":
        write_inspect_log(simple_run("lab/b", [0.0, 1.0] * 20), tmp_path)
    [standings] = podium.rank(tmp_path).standings
    [check] = [own for own in standings.checks if own.name == "same settings"]
    named = "apart from the settings in their names" in check.finding_text
    assert named == (style == "polite")
