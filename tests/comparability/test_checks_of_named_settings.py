"""What the check of settings says of two prompts of one model."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from asked_runs import simple_run, write_inspect_log
from inspect_ai.log import EvalLog

import podium


@pytest.mark.slow
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


def with_arguments(*, given: dict[str, int] | None, seed: int = 0) -> Callable[[EvalLog], None]:
    """Return a function that gives a log the task's argument `seed`, and what was typed of it."""

    def change(log: EvalLog) -> None:
        log.eval.task_args = {"seed": seed}
        log.eval.task_args_passed = given

    return change


def flagged_settings(folder: Path) -> list[str]:
    [standings] = podium.rank(folder).standings
    return [own.finding_text for own in standings.checks if own.name == "same settings"]


@pytest.mark.slow
@pytest.mark.parametrize("given", [{"seed": 0}, None])
def test_an_argument_typed_with_its_default_is_no_other_setting(
    tmp_path: Path, given: dict[str, int] | None
) -> None:
    scores = [1.0, 0.0] * 20
    write_inspect_log(simple_run("lab/a", scores), tmp_path, change=with_arguments(given={}))
    change = with_arguments(given=given)
    write_inspect_log(simple_run("lab/b", scores[::-1]), tmp_path, change=change)
    [found] = flagged_settings(tmp_path)
    assert "same prompt" in found


@pytest.mark.slow
def test_an_argument_with_another_value_than_the_default_is_named(tmp_path: Path) -> None:
    scores = [1.0, 0.0] * 20
    write_inspect_log(simple_run("lab/a", scores), tmp_path, change=with_arguments(given={}))
    change = with_arguments(given={"seed": 7}, seed=7)
    write_inspect_log(simple_run("lab/b", scores[::-1]), tmp_path, change=change)
    [found] = flagged_settings(tmp_path)
    assert "seed of quiz: 0 (lab/a), 7 (lab/b)" in found


def test_a_default_that_was_typed_and_one_that_was_not_make_one_model(tmp_path: Path) -> None:
    scores = [1.0, 0.0] * 20
    runs = [({}, 0), ({"seed": 0}, 0), ({"seed": 7}, 7)]
    for day, (given, seed) in enumerate(runs):
        run = replace(simple_run("lab/a", scores[day:] + scores[:day]), day=day)
        write_inspect_log(run, tmp_path, change=with_arguments(given=given, seed=seed))
    battles = podium.read_battles(tmp_path)
    assert battles.models == ("lab/a (seed=0)", "lab/a (seed=7)")


def test_a_dataset_that_one_log_does_not_record_is_not_another_one(tmp_path: Path) -> None:
    def forget(log: EvalLog) -> None:
        log.eval.dataset.name = None
        log.eval.dataset.location = None

    scores = [1.0, 0.0] * 20
    write_inspect_log(simple_run("lab/a", scores), tmp_path)
    write_inspect_log(simple_run("lab/b", scores[::-1]), tmp_path, change=forget)
    [found] = flagged_settings(tmp_path)
    assert "same prompt" in found


def test_the_error_for_one_model_names_the_other_log_that_failed(tmp_path: Path) -> None:
    def fail(log: EvalLog) -> None:
        log.status = "error"
        log.samples = []

    write_inspect_log(simple_run("lab/a", [1.0, 0.0] * 5), tmp_path)
    write_inspect_log(simple_run("lab/b", [1.0, 0.0] * 5), tmp_path, change=fail)
    with pytest.raises(podium.DataError, match=r"scores of one model only \('lab/a'\); left out: "):
        podium.rank(tmp_path)


@pytest.mark.slow
def test_the_error_for_one_model_names_its_earlier_run(tmp_path: Path) -> None:
    first = simple_run("lab/a", [1.0, 0.0] * 5)
    write_inspect_log(first, tmp_path)
    write_inspect_log(replace(first, day=1), tmp_path)
    with pytest.raises(podium.DataError, match=r"lab/a was run 2 times on quiz"):
        podium.rank(tmp_path)
