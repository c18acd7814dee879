"""The checks of runs say in plain words what they found."""

from dataclasses import replace

import pandas as pd
import pytest

import podium
from podium.check_results import Result
from podium.comparability.run_settings import differences_of_models, name_runs
from podium.data.battles import Battles
from podium.diagnosis.checks.comparability_checks import check_questions, check_settings
from podium.question_finding import QuestionFinding
from podium.run_record import RunRecord, settings_as_pairs
from podium.wording import short_paths


def battles_of(*runs: RunRecord, questions: tuple[QuestionFinding, ...] = ()) -> Battles:
    """Return battles of the models of runs."""
    rows = [
        {"item": "1", "task": "t", "model": run.model, "score": float(place)}
        for place, run in enumerate(runs)
    ]
    battles = podium.read_battles(pd.DataFrame(rows))
    return replace(battles, runs=runs, questions=questions)


def run_of(model: str, scorers: dict[str, object] | None = None) -> RunRecord:
    """Return a run of a model on the task `t`, with options of its scorers."""
    return RunRecord(model, "t", f"{model}.json", scorers=settings_as_pairs(scorers))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("described", "said"),
    [
        (True, "b.json has no file with the settings of its run"),
        (False, "a.json, b.json have no files with the settings of their runs"),
    ],
)
def test_the_reason_of_unknown_settings_agrees_with_their_number(described, said) -> None:
    first = replace(run_of("a"), is_described=described)
    [check] = check_settings(battles_of(first, replace(run_of("b"), is_described=False)))
    assert (check.result, check.finding_text) == (Result.NOT_KNOWN, said)


@pytest.mark.slow
@pytest.mark.parametrize(("reason", "said"), [(("style",), "style"), ((), "accepted")])
def test_items_with_other_inputs_are_not_known_to_be_the_same(reason, said) -> None:
    finding = QuestionFinding("t", "other inputs", reason=reason)
    [check] = check_questions(battles_of(run_of("a"), run_of("b"), questions=(finding,)))
    expected = f"the inputs of t differ between runs ({said})"
    assert (check.result, check.finding_text) == (Result.NOT_KNOWN, expected)


def test_items_with_equal_inputs_are_the_same_questions() -> None:
    finding = QuestionFinding("t", "id")
    [check] = check_questions(battles_of(run_of("a"), run_of("b"), questions=(finding,)))
    said = "all models were asked the same questions"
    assert (check.result, check.finding_text) == (Result.OK, said)


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (("Is it red?", "Is it blue?"), "item 7: 'Is it red?' and 'Is it blue?'"),
        (("Is it red?", "Is it red?"), "item 7: 'Is it red?', which differs in what is not shown"),
        ((f"{'long ' * 50}red{' end' * 9}", f"{'long ' * 50}blue{' end' * 9}"), "red"),
    ],
)
def test_the_example_of_changed_inputs_shows_how_they_differ(texts, said) -> None:
    inputs = dict(zip(("a.eval", "b.eval"), texts, strict=True))
    finding = QuestionFinding(
        "t",
        "input",
        items=9,
        conflicts=1,
        unshared={"a": 1, "b": 1},
        example={"item": "7", "inputs": inputs},
    )
    [check] = check_questions(battles_of(run_of("a"), run_of("b"), questions=(finding,)))
    assert said in check.finding_text


def test_an_option_of_a_scorer_is_named_with_its_scorer() -> None:
    runs = [run_of(model, {"exact": {"model": judge}}) for model, judge in ("ax", "by")]
    [difference] = differences_of_models(runs)
    assert difference.text == "model of scorer exact of t: x (a), y (b)"
    named = name_runs([replace(run, model="a") for run in runs])
    assert [run.model for run in named] == [
        "a (model of scorer exact=x)",
        "a (model of scorer exact=y)",
    ]


def test_an_option_that_one_scorer_lacks_has_its_default_there() -> None:
    runs = [run_of("a", {"exact": {}}), run_of("b", {"exact": {"strict": True}}), run_of("c")]
    [difference] = differences_of_models(runs)
    assert difference.text == "strict of scorer exact of t: default (a), true (b)"


@pytest.mark.parametrize(
    ("paths", "short"),
    [
        (["/data/runs/a.json", "/data/runs/b.json"], ["a.json", "b.json"]),
        (["/data/one/log.json", "/data/two/log.json"], ["one/log.json", "two/log.json"]),
        (["/data/log.json", "/data/log.json"], ["log.json", "log.json"]),
        (["a.json"], ["a.json"]),
        ([], []),
    ],
)
def test_paths_are_shown_without_the_folders_that_are_not_needed(paths, short):
    assert short_paths(paths) == short


@pytest.mark.slow
def test_settings_of_each_model_and_its_samples_stand_beside_those_that_are_equal():
    runs = [
        RunRecord("a", "t", "a.json", chat_template="0" * 64, limit="20"),
        RunRecord("b", "t", "b.json"),
    ]
    [check] = check_settings(battles_of(*runs))
    assert check.result is Result.OK
    assert "chat template of t: default (b), one of its own (a)" in check.figure
    assert "limit of samples of t: 20 (a), none (b)" in check.figure
    [alike] = check_settings(battles_of(replace(runs[1], model="a"), runs[1]))
    assert "differ" not in alike.figure
