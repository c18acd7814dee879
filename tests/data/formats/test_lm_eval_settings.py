"""Runs of lm-eval that differ in a setting: names of one model's runs, findings between models."""

import json
from pathlib import Path
from typing import Any

import pytest
from lm_eval_output import LATER, TIME, Row, digest, scored, write_run

import podium
from podium.check_results import Check, Result
from podium.data.formats.lm_eval_task_configs import (
    examples_of_config,
    generation_of_config,
    prompt_of_config,
    scorers_of_config,
)
from podium.notices.notice_text import notice_texts

A = [1.0, 1.0, 1.0, 0.0]
B = [0.0, 1.0, 0.0, 0.0]
CONFIG = {
    "doc_to_text": "Q: {{q}}",
    "doc_to_target": "{{a}}",
    "description": "",
    "target_delimiter": " ",
    "fewshot_delimiter": "\n\n",
    "dataset_path": "acme/sums",
    "test_split": "test",
    "metric_list": [{"metric": "acc"}],
}
SETTINGS: dict[str, Any] = {
    "n-shot": {"t": 5},
    "versions": {"t": 2.0},
    "system_instruction": None,
    "chat_template_sha": None,
    "fewshot_as_multiturn": True,
    "configs": {"t": CONFIG},
    "config": {"fewshot_seed": 1234},
}
"""What lm-eval writes of a run, as far as it is a setting."""
FLAGGED: list[tuple[dict[str, Any], str]] = [
    ({"n-shot": {"t": 0}}, "shots"),
    ({"versions": {"t": 3.0}}, "task version"),
    ({"system_instruction": "Be brief."}, "system instruction"),
    ({"config": {"fewshot_seed": 1}}, "few-shot seed"),
    ({"configs": {"t": {"doc_to_text": "Question: {{q}}"}}}, "prompt"),
    ({"configs": {"t": {"fewshot_config": {"sampler": "first_n"}}}}, "examples"),
    ({"configs": {"t": {"dataset_path": "acme/sums-2"}}}, "dataset_path"),
    ({"configs": {"t": {"dataset_kwargs": {"revision": "v2"}}}}, "revision"),
    ({"configs": {"t": {"test_split": "validation"}}}, "split"),
    ({"configs": {"t": {"metric_list": [{"metric": "acc", "ignore_case": True}]}}}, "options of"),
    ({"configs": {"t": {"metadata": {"version": 2.0, "max_seq_lengths": [4096]}}}}, "max_seq"),
]
"""Changes of a setting that should be the same for all models, and how a message names it."""
IN_PROMPT = ("prompt", "examples", "few-shot seed")
"""Settings that do nothing if the prompts are equal."""
NOTED: list[tuple[dict[str, Any], str]] = [
    ({"chat_template_sha": "a" * 64}, "chat template"),
    ({"config": {"gen_kwargs": "temperature=1"}}, "temperature"),
    ({"configs": {"t": {"generation_kwargs": {"max_gen_toks": 9}}}}, "max_gen_toks"),
]
"""Changes of a setting of a model's own, and how a message names it."""
UNIMPORTANT: list[dict[str, Any]] = [
    {"config": {"batch_size": 8, "device": "cpu", "random_seed": 7}},
    {"configs": {"t": {"metadata": {"version": 2.0, "config_source": "/home/me/t.yaml"}}}},
    {"configs": {"t": {"fewshot_config": {"sampler": "default", "doc_to_text": "Q: {{q}}"}}}},
    {"configs": {"t": {"generation_kwargs": {"do_sample": False, "temperature": 0.0}}}},
    {"lm_eval_version": "0.4.99", "git_hash": "f" * 40, "date": 1.0},
    {"fewshot_as_multiturn": False},
]
"""Changes that change no answer."""


def merged(first: Any, second: Any) -> Any:
    """Return two values, of which mappings are merged key by key."""
    if not (isinstance(first, dict) and isinstance(second, dict)):
        return second
    shared = {key: merged(first[key], second[key]) for key in first if key in second}
    return {**first, **second, **shared}


def write_settings(
    folder: Path,
    model: str,
    values: list[float],
    change: dict[str, Any],
    *,
    time: str = TIME,
    rows: list[Row] | None = None,
) -> None:
    """Write a run whose results file has the settings, with a change."""
    home = write_run(folder, model, {"t": rows or scored(values)}, time=time)
    path = home / f"results_{time}.json"
    content = merged(merged(json.loads(path.read_text()), SETTINGS), change)
    path.write_text(json.dumps(content))


def other_prompts(values: list[float]) -> list[Row]:
    """Return rows of the same documents with other prompts."""
    rows = scored(values)
    return [row | {"prompt_hash": digest(f"framed {k}")} for k, row in enumerate(rows)]


def check_of(battles: podium.Battles, name: str) -> Check:
    """Return a check of a ranking of battles, by its name."""
    [check] = [own for own in podium.rank(battles).standings[0].checks if own.name == name]
    return check


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(("change", "name"), FLAGGED)
def test_a_setting_that_differs_between_models_is_flagged(
    tmp_path: Path, change: dict[str, Any], name: str
) -> None:
    write_settings(tmp_path, "org/a", A, {})
    rows = other_prompts(B) if name in IN_PROMPT else scored(B)
    write_settings(tmp_path, "org/b", B, change, rows=rows)
    check = check_of(podium.read_battles(tmp_path), "same settings")
    assert check.is_flagged
    assert name in check.finding_text


@pytest.mark.slow
@pytest.mark.parametrize(("change", "name"), NOTED)
def test_a_setting_of_a_model_is_noted(tmp_path: Path, change: dict[str, Any], name: str) -> None:
    write_settings(tmp_path, "org/a", A, {})
    write_settings(tmp_path, "org/b", B, change)
    battles = podium.read_battles(tmp_path)
    [said] = [text for text in notice_texts(battles.notes) if "settings of their own" in text]
    assert name in said
    assert check_of(battles, "same settings").result is Result.OK


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("change", UNIMPORTANT)
def test_what_changes_no_answer_is_not_named(tmp_path: Path, change: dict[str, Any]) -> None:
    write_settings(tmp_path, "org/a", A, {})
    write_settings(tmp_path, "org/b", B, change)
    write_settings(tmp_path, "org/b", B, {}, time=LATER)
    battles = podium.read_battles(tmp_path)
    assert battles.models == ("org/a", "org/b")
    assert check_of(battles, "same settings").result is Result.OK
    assert not any("settings" in text for text in notice_texts(battles.notes))


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize(("change", "name"), [*FLAGGED, *NOTED])
def test_two_settings_of_one_model_are_two_models(
    tmp_path: Path, change: dict[str, Any], name: str
) -> None:
    write_settings(tmp_path, "org/a", A, {})
    write_settings(tmp_path, "org/a", B, change, time=LATER)
    battles = podium.read_battles(tmp_path)
    assert len(battles.models) == 2
    assert any(name in model for model in battles.models)
    assert check_of(battles, "same settings").result is Result.OK


def test_the_names_of_two_settings_show_their_values(tmp_path: Path) -> None:
    write_settings(tmp_path, "org/a", A, {"n-shot": {"t": 0}})
    write_settings(tmp_path, "org/a", B, {}, time=LATER)
    battles = podium.read_battles(tmp_path)
    assert battles.models == ("org/a (shots=0)", "org/a (shots=5)")
    said = "runs of org/a with other settings count as different models: org/a (shots=0), org/a"
    assert any(said in text for text in notice_texts(battles.notes))


def test_all_tasks_of_a_run_have_one_name(tmp_path: Path) -> None:
    for shots, time in ((0, TIME), (5, LATER)):
        home = write_run(tmp_path, "m", {"t": scored(A), "u": scored(B)}, time=time)
        path = home / f"results_{time}.json"
        content = json.loads(path.read_text()) | {"n-shot": {"t": shots, "u": 5}}
        path.write_text(json.dumps(content))
    named = {(run.task, run.model) for run in podium.read_battles(tmp_path).runs}
    names = ("m (shots=0 or 5)", "m (shots=5)")
    assert named == {(task, name) for task in "tu" for name in names}


@pytest.mark.slow
def test_names_are_the_same_for_one_task_and_for_all(tmp_path: Path) -> None:
    for shots, time in ((0, TIME), (5, LATER)):
        home = write_run(tmp_path, "m", {"t": scored(A), "u": scored(B)}, time=time)
        path = home / f"results_{time}.json"
        content = json.loads(path.read_text()) | {"n-shot": {"t": shots, "u": 5}}
        path.write_text(json.dumps(content))
    whole = podium.read_battles(tmp_path)
    assert podium.read_battles(tmp_path, where={"task": "u"}).models == whole.models


def test_prompts_of_one_task_have_one_text_in_every_version_of_lm_eval() -> None:
    source = "def totext(doc):\n    return doc['q']\n"
    older = {"doc_to_text": source, "doc_to_target": "{{a}}", "fewshot_split": "train"}
    newer = {
        **older,
        "description": "",
        "target_delimiter": " ",
        "fewshot_config": {
            "sampler": "default",
            "split": "train",
            "samples": None,
            "doc_to_text": "<function totext at 0x7fa7a781b1a0>",
            "doc_to_target": "{{a}}",
            "fewshot_delimiter": "\n\n",
            "target_delimiter": " ",
        },
    }
    assert prompt_of_config(older) == prompt_of_config(newer)
    assert examples_of_config(older) == examples_of_config(newer)
    other = newer | {"fewshot_config": {"doc_to_text": "<function another at 0x7fa7a781b1a0>"}}
    assert examples_of_config(other) != examples_of_config(newer)
    assert prompt_of_config(other) == prompt_of_config(newer)
    assert (prompt_of_config({}), examples_of_config({})) == (None, None)


def test_a_function_has_one_text_wherever_it_lies_in_memory() -> None:
    first, second = (
        {"doc_to_text": f"functools.partial(<function f at {address}>, x=1)"}
        for address in ("0x7f01", "0x7f02")
    )
    assert prompt_of_config(first) == prompt_of_config(second)


def test_filters_of_one_name_with_other_steps_are_other_scorers() -> None:
    def steps(pattern: str) -> dict[str, Any]:
        """Return a task whose filter extracts answers by a pattern."""
        step = {"function": "regex", "regex_pattern": pattern}
        return {"filter_list": [{"name": "strict", "filter": [step]}]}

    assert scorers_of_config(steps("a")) == scorers_of_config(steps("a"))
    assert scorers_of_config(steps("a")) != scorers_of_config(steps("b"))


def test_only_settings_that_are_not_greedy_are_settings_of_generation() -> None:
    given = {"until": ["\n\n"], "do_sample": True, "temperature": "0.5", "top_p": 1.0}
    kept = {"do_sample": True, "temperature": 0.5, "top_p": 1}
    assert generation_of_config({"generation_kwargs": given}) == kept
    greedy = {"until": ["\n\n"], "do_sample": "False", "temperature": 0.0}
    assert generation_of_config({"generation_kwargs": greedy}) == {}


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("change", [change for change, name in FLAGGED if name in IN_PROMPT])
def test_what_leaves_every_prompt_as_it_was_is_no_difference(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    write_settings(tmp_path, "org/a", A, {})
    write_settings(tmp_path, "org/b", B, change)
    assert check_of(podium.read_battles(tmp_path), "same settings").result is Result.OK


def test_other_choices_are_flagged_although_the_prompts_are_equal(tmp_path: Path) -> None:
    write_settings(tmp_path, "org/a", A, {})
    write_settings(tmp_path, "org/b", B, {"configs": {"t": {"doc_to_choice": "{{texts}}"}}})
    assert "prompt" in check_of(podium.read_battles(tmp_path), "same settings").finding_text


def test_prompts_that_differ_for_no_recorded_reason_are_flagged(tmp_path: Path) -> None:
    write_settings(tmp_path, "org/a", A, {})
    write_settings(tmp_path, "org/b", B, {}, rows=other_prompts(B))
    check = check_of(podium.read_battles(tmp_path), "same settings")
    assert check.is_flagged
    assert check.finding_text.count("prompt_hash") == 2


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    "change", [{"n-shot": {"t": 0}}, {"chat_template_sha": "a" * 64}, {"versions": {"t": 3.0}}]
)
def test_prompts_that_differ_for_a_recorded_reason_are_said_once(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    write_settings(tmp_path, "org/a", A, {})
    write_settings(tmp_path, "org/b", B, change, rows=other_prompts(B))
    check = check_of(podium.read_battles(tmp_path), "same settings")
    assert "prompt" not in str(check.fields)


def test_prompts_with_the_day_of_the_run_are_equal(tmp_path: Path) -> None:
    template = {"chat_template_sha": "a" * 64}
    for name, day, values in (("org/a", "26 Jul 2024", A), ("org/b", "1 August 2024", B)):
        rows = []
        for row in scored(values):
            prompt = f"Today Date: {day}\n{row['doc']['q']}"
            request = {"gen_args_0": {"arg_0": prompt, "arg_1": {}}}
            rows.append(row | {"arguments": request, "prompt_hash": digest(prompt)})
        write_settings(tmp_path, name, values, template, rows=rows)
    assert check_of(podium.read_battles(tmp_path), "same settings").result is Result.OK


def test_messages_for_a_chat_api_count_as_a_chat_template(tmp_path: Path) -> None:
    write_settings(tmp_path, "org/a", A, {})
    rows = []
    for row in scored(B):
        prompt = json.dumps([{"role": "user", "content": row["doc"]["q"]}])
        request = {"gen_args_0": {"arg_0": prompt, "arg_1": {}}}
        rows.append(row | {"arguments": request, "prompt_hash": digest(prompt)})
    write_settings(tmp_path, "org/b", B, {}, rows=rows)
    battles = podium.read_battles(tmp_path)
    assert check_of(battles, "same settings").result is Result.OK
    said = " ".join(notice_texts(battles.notes))
    assert "chat template default (org/a), messages (org/b)" in said
