"""Settings in which runs differ: names of one model's runs, findings between models."""

import re

import pytest

from podium.comparability.run_settings import (
    differences_of_models,
    name_runs,
    notices_of_settings,
    value_texts,
)
from podium.notices.notice_text import notice_text
from podium.run_record import RunRecord, settings_as_pairs


def run(model: str, task: str = "t", **settings: object) -> RunRecord:
    """Return a run with a source of its own."""
    return RunRecord(model, task, f"{model} {task} {sorted(settings.items())}", **settings)


def heated(temperature: float) -> tuple[tuple[str, str], ...]:
    """Return the settings of generation with a temperature."""
    return settings_as_pairs({"temperature": temperature})


def test_runs_of_one_model_are_named_by_the_setting_in_which_they_differ() -> None:
    runs = [run("m", generation=heated(0)), run("m", generation=heated(1)), run("m")]
    assert [own.model for own in name_runs(runs)] == ["m (temperature=0)", "m (temperature=1)", "m"]


def test_equal_runs_keep_their_name() -> None:
    runs = [run("m", shots=5, time="2026-01-01"), run("m", shots=5, time="2026-02-01")]
    assert [own.model for own in name_runs(runs)] == ["m", "m"]


def test_a_model_has_one_name_on_all_tasks() -> None:
    runs = [
        run("m", "t", generation=heated(0)),
        run("m", "t", generation=heated(1)),
        run("m", "u", generation=heated(0)),
    ]
    names = [own.model for own in name_runs(runs)]
    assert names == ["m (temperature=0)", "m (temperature=1)", "m (temperature=0)"]


def test_labels_of_the_user_stay() -> None:
    runs = [run("m", shots=0), run("m", shots=5)]
    assert [own.model for own in name_runs(runs, [runs[0].source])] == ["m", "m"]


def test_hashes_are_shortened_in_names_and_numbered_in_messages() -> None:
    hashes = ["f" * 64, "0123456789abcdef" * 4]
    assert value_texts(hashes, are_for_names=True) == ["ffffffff", "01234567"]
    assert value_texts(hashes) == ["variant 2", "variant 1"]
    assert value_texts([*hashes, None]) == ["variant 2", "variant 1", "default"]
    assert value_texts([hashes[0], None, hashes[0]]) == [
        "one of its own",
        "default",
        "one of its own",
    ]


def test_values_that_look_the_same_are_numbered_in_messages_and_have_a_hash_in_names() -> None:
    prompts = ["Question: {{question}} #0123abcd", "Question: {{question}} #ffff0000"]
    assert value_texts(prompts) == [
        "Question: {{question}} (variant 1)",
        "Question: {{question}} (variant 2)",
    ]
    for text in value_texts(prompts, are_for_names=True):
        assert re.fullmatch("Question: {{question}} #[0-9a-f]{4}", text)


def test_chat_templates_that_differ_are_told_without_their_hashes() -> None:
    runs = [run("a", chat_template="3cb7c5da" * 8), run("b", chat_template="0" * 64), run("c")]
    [text] = [notice_text(notice) for notice in notices_of_settings(runs)]
    assert text == (
        "t: models were run with settings of their own: chat template default (c), "
        "variant 1 (b), variant 2 (a)"
    )


def test_long_values_are_shown_where_they_differ() -> None:
    start = "You are a careful assistant who answers in one sentence and "
    assert value_texts([start + "in verse.", start + "with a joke at the end", None]) == [
        "... in verse.",
        "... with a joke at the end",
        "default",
    ]


def test_long_values_that_differ_in_the_middle_alone_stay_distinct() -> None:
    middle = "word " * 30
    texts = value_texts([f"a {middle}one {middle}z", f"b {middle}two {middle}z"])
    assert len({*texts}) == 2


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        ({"shots": 0}, {"shots": 5}, "shots of t: 0 (a), 5 (b)"),
        ({"task_version": "1"}, {"task_version": "2"}, "task version of t: 1 (a), 2 (b)"),
        (
            {},
            {"system_instruction": "Be kind."},
            "system instruction of t: Be kind. (b), default (a)",
        ),
        (
            {"shots": 5, "fewshot_seed": 1},
            {"shots": 5, "fewshot_seed": 2},
            "few-shot seed of t: 1 (a), 2 (b)",
        ),
        (
            {"task_arguments": settings_as_pairs({"subject": "law"})},
            {},
            "subject of t: default (b), law (a)",
        ),
        (
            {"model_roles": settings_as_pairs({"grader": "gpt"})},
            {"model_roles": settings_as_pairs({"grader": "llama"})},
            "grader of t: gpt (a), llama (b)",
        ),
    ],
)
def test_settings_that_should_be_the_same_are_flagged(
    first: dict[str, object], second: dict[str, object], text: str
) -> None:
    [found] = differences_of_models([run("a", **first), run("b", **second)])
    assert found.is_flagged
    assert found.text == text


def test_settings_of_a_model_are_noted() -> None:
    runs = [run("a", chat_template="x", generation=heated(1)), run("b", chat_template="y")]
    assert not any(found.is_flagged for found in differences_of_models(runs))
    assert [notice_text(notice) for notice in notices_of_settings(runs)] == [
        "t: models were run with settings of their own: chat template x (a), y (b); "
        "temperature 1 (a), default (b)",
    ]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({}, {"shots": 5}),
        ({"is_described": False}, {"system_instruction": "Be kind."}),
        ({"shots": 0, "fewshot_seed": 1}, {"shots": 0, "fewshot_seed": 2}),
        (
            {"model_arguments": settings_as_pairs({"path": "a"})},
            {"model_arguments": settings_as_pairs({"path": "b"})},
        ),
        ({"time": "2026-01-01", "epochs": 1}, {"time": "2026-02-01", "epochs": 3}),
    ],
)
def test_what_is_unknown_or_belongs_to_a_model_is_no_difference(
    first: dict[str, object], second: dict[str, object]
) -> None:
    assert differences_of_models([run("a", **first), run("b", **second)]) == []


def test_a_setting_that_all_names_show_is_no_finding() -> None:
    assert differences_of_models(name_runs([run("m", shots=0), run("m", shots=5)])) == []
    named = name_runs([run("m", shots=0), run("m", shots=5), run("n", shots=0)])
    [found] = differences_of_models(named)
    assert found.text == "shots of t: 0 (m (shots=0), n), 5 (m (shots=5))"


PROMPTS = [f"Judge the answer {word} and end with a grade." for word in ("strictly", "mildly")]


def graded(prompt: str, strict: bool | None, task: str = "t") -> RunRecord:
    """Return a run whose scorer has a long option, and a short one if `strict` is not None."""
    options: dict[str, object] = {"instructions": prompt}
    if strict is not None:
        options["strict"] = strict
    scorers = settings_as_pairs({"exact": options})
    return run("m", task, scorers=scorers)


def test_names_leave_out_long_values_where_short_ones_tell_the_runs_apart() -> None:
    runs = [graded(PROMPTS[0], True), graded(PROMPTS[1], False), graded(PROMPTS[1], None)]
    named = name_runs(runs)
    assert [own.model for own in named] == [
        "m (strict of scorer exact=true)",
        "m (strict of scorer exact=false)",
        "m",
    ]
    told = {difference.setting.name for difference in differences_of_models(named)}
    assert told == {"instructions"}, "what no name shows is told"


def test_names_keep_long_values_that_tell_runs_apart() -> None:
    runs = [graded(PROMPTS[0], True), graded(PROMPTS[1], True), graded(PROMPTS[1], False)]
    names = [own.model for own in name_runs(runs)]
    assert len({*names}) == 3
    assert all("instructions" in name for name in names)


def test_names_keep_long_values_that_differ_between_tasks() -> None:
    """Without them, the run of task u would be taken for the first one of task t."""
    runs = [
        graded(PROMPTS[0], True),
        graded(PROMPTS[1], False),
        graded(PROMPTS[1], True, task="u"),
    ]
    names = [own.model for own in name_runs(runs)]
    assert len({*names}) == 3


def with_prompt(prompt: str | None, temperature: float, task: str, place: int) -> RunRecord:
    """Return a run on a task, whose scorer has a long option unless `prompt` is None."""
    options = {} if prompt is None else {"exact": {"instructions": prompt}}
    settings = {"scorers": settings_as_pairs(options), "generation": heated(temperature)}
    return RunRecord("m", task, f"{task} {place}", **settings)


def test_evaluations_that_a_long_value_distinguishes_keep_it_in_their_names() -> None:
    """Both evaluations have both temperatures, on different tasks."""
    runs = [
        with_prompt(PROMPTS[0], 0, "t", 1),
        with_prompt(None, 1, "u", 1),
        with_prompt(PROMPTS[1], 1, "t", 2),
        with_prompt(None, 0, "u", 2),
    ]
    evaluations = {own.source: own.source[-1] for own in runs}
    names = [own.model for own in name_runs(runs, evaluations=evaluations)]
    assert names[0] == names[1] != names[2] == names[3]


def test_a_prompt_that_a_left_out_setting_implies_is_told_with_it() -> None:
    runs = [
        run(
            "m",
            task_arguments=settings_as_pairs({"template": f"a/long/path/to/templates/{name}.txt"}),
            prompt=name,
            generation=heated(place),
        )
        for place, name in enumerate(("first", "second"))
    ]
    named = name_runs(runs)
    assert [own.model for own in named] == ["m (temperature=0)", "m (temperature=1)"]
    assert [setting.text for setting in named[0].named_settings] == ["temperature"]
    [difference] = differences_of_models(named)
    assert difference.setting.text == "template"
    assert difference.text.endswith("and with it the prompt")


def test_settings_are_left_out_of_names_only_if_all_of_them_together_may_be() -> None:
    """Each of two long options may be left out alone: the other one distinguishes the runs."""

    def of(place: int, task: str, temperature: float, **options: str) -> RunRecord:
        scorers = settings_as_pairs({"exact": options})
        generation = heated(temperature)
        return RunRecord("m", task, f"{task} {place}", scorers=scorers, generation=generation)

    runs = [
        of(1, "t", 0, one=PROMPTS[0]),
        of(1, "u", 0, two="another long option that says x and more"),
        of(2, "t", 0, one=PROMPTS[1]),
        of(3, "u", 1, two="or a long option that says y and no more"),
        of(3, "t", 1, one=PROMPTS[0]),
    ]
    evaluations = {own.source: own.source[-1] for own in runs}
    names = [own.model for own in name_runs(runs, evaluations=evaluations)]
    assert names[0] != names[2]


def test_a_prompt_that_a_shown_setting_implies_is_told_by_the_names() -> None:
    runs = []
    for style in ("a", "b"):
        for temperature, name in enumerate(("first", "second")):
            arguments = {"style": style, "file": f"a/long/path/to/templates/{name}.txt"}
            runs.append(
                run(
                    "m",
                    task_arguments=settings_as_pairs(arguments),
                    prompt=f"prompt {style}",
                    generation=heated(temperature),
                )
            )
    [difference] = differences_of_models(name_runs(runs))
    assert difference.setting.text == "file"
