"""Columns of settings in a table of scores name the models, as the settings of logs do."""

import pytest

import podium
from podium.notices.notice_text import notice_texts


def scores(**settings):
    """Return scores of 20 items by model, each with every value of its settings."""
    rows = []
    for column, by_model in settings.items():
        for model, values in by_model.items():
            for value in values:
                rows += [
                    {"item": f"q{k}", "model": model, "score": k % 3 / 2, column: value}
                    for k in range(20)
                ]
    return rows


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("column", ["shots", "num_fewshot", "n_shot"])
def test_a_model_with_two_numbers_of_shots_is_two_models(save, column):
    path = save("scores.jsonl", scores(**{column: {"m1": [0, 5], "m2": [5]}}))
    made = podium.read_battles(path)
    assert made.models == ("m1 (shots=0)", "m1 (shots=5)", "m2")
    [text] = [text for text in notice_texts(made.notes) if "different models" in text]
    assert "m1 (shots=0), m1 (shots=5)" in text


def test_rows_of_one_setting_keep_their_names(save):
    path = save("scores.jsonl", scores(shots={"m1": [5], "m2": [0]}))
    assert podium.read_battles(path).models == ("m1", "m2")


@pytest.mark.slow
def test_a_setting_in_which_models_differ_is_named(save):
    path = save("scores.jsonl", scores(shots={"m1": [5], "m2": [0]}))
    assert (
        flagged_settings(path) == "models were run with different settings: shots: 0 (m2), 5 (m1)"
    )


def flagged_settings(path):
    """Return what the flagged check of settings says."""
    [standings] = podium.rank(podium.read_battles(path)).standings
    [check] = [check for check in standings.checks if check.name == "same settings"]
    assert check.result.value == "flagged"
    return check.clause


@pytest.mark.slow
def test_every_command_flags_it(podium, save):
    path = save("scores.jsonl", scores(shots={"m1": [5], "m2": [0]}))
    for command in (["rank"], ["compare", "m1", "m2"], ["diagnose"]):
        said = podium(*command, path, "--format", "json")
        assert "same-settings" in said.out or "same settings" in said.out, command
        assert "shots: 0 (m2), 5 (m1)" in said.out + said.err, command


@pytest.mark.slow
def test_a_filter_in_which_models_differ_is_named_and_filters_are_no_models(save):
    path = save("scores.jsonl", scores(filter={"m1": ["strict"], "m2": ["flexible"]}))
    assert "different settings: filter: flexible (m2), strict (m1)" in flagged_settings(path)
    both = ["strict", "flexible"]
    made = podium.read_battles(save("both.jsonl", scores(filter={"m1": both, "m2": both})))
    assert made.models == ("m1", "m2")
    assert not [text for text in notice_texts(made.notes) if "settings" in text]


@pytest.mark.slow
@pytest.mark.parametrize("metric", [{}, {"metric": "em"}])
def test_scores_by_two_filters_are_two_metrics(save, metric):
    both = ["strict", "flexible"]
    rows = [row | metric for row in scores(filter={"m1": both, "m2": both})]
    made = podium.read_battles(save("both.jsonl", rows))
    start = "em," if metric else ""
    assert sorted(made.values_of("metric")) == [f"{start}flexible", f"{start}strict"]
    one = podium.read_battles(save("both.jsonl", rows), where={"filter": "strict"})
    assert (len(one), one.counts().items) == (20, 20)


def test_settings_of_generation_are_each_model_s_own(save):
    path = save("scores.jsonl", scores(temperature={"m1": [0.5], "m2": [0]}))
    [note] = podium.read_battles(path).notes
    assert (note.code, note.severity) == ("settings-differ", "note")


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("lost", [0, 3])
def test_a_column_that_varies_by_item_is_no_setting_of_a_model(save, lost):
    rows = []
    for k in range(20):
        row = {"item": f"q{k}", "score": k % 3 / 2, "prompt_template": f"Template {k % 10}"}
        rows += [row | {"model": model} for model in ("m1", "m2") if model == "m1" or k >= lost]
    made = podium.read_battles(save("scores.jsonl", rows))
    assert not [text for text in notice_texts(made.notes) if "settings" in text]


def test_equal_or_unknown_settings_are_no_difference(save):
    rows = scores(shots={"m1": [5], "m2": ["5.0"], "m3": [None]})
    assert not podium.read_battles(save("scores.jsonl", rows)).notes


def test_a_condition_on_the_column_leaves_one_setting_and_the_names(save):
    path = save("scores.jsonl", scores(temperature={"m1": [0, 1], "m2": [1]}))
    made = podium.read_battles(path, where={"temperature": "1"})
    assert made.models == ("m1", "m2")


def test_a_column_with_a_value_for_each_row_is_no_setting(save):
    rows = scores(shots={"m1": [0], "m2": [0]})
    numbered = [{**row, "temperature": k} for k, row in enumerate(rows)]
    assert podium.read_battles(save("scores.jsonl", numbered)).models == ("m1", "m2")


@pytest.mark.slow
def test_a_setting_that_differs_between_tasks_makes_no_other_models(save):
    rows = [
        {"task": task, "item": f"q{k}", "model": name, "score": k % 3 / 2, "shots": shots}
        for task, shots in (("mmlu", 5), ("gsm", 8))
        for name in ("m1", "m2")
        for k in range(20)
    ]
    assert podium.read_battles(save("scores.jsonl", rows)).models == ("m1", "m2")


@pytest.mark.slow
def test_a_number_written_in_two_ways_is_one_setting(save):
    first = save("one.jsonl", scores(temperature={"m1": [0], "m2": [0]}))
    lines = ["item,model,score,temperature", *(f"q{k},m1,0.5,0.0" for k in range(20))]
    second = save("two.csv", "\n".join(lines) + "\n")
    assert podium.read_battles(first, second).models == ("m1", "m2")
