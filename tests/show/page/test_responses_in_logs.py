"""Texts of a page: responses in the logs and samples of both hosts, without any option."""

from pathlib import Path

import pandas as pd
import pytest
from asked_runs import Run, simple_run, write_inspect_log, write_lm_eval_run
from generated_folders import generate_folder, permute_ids, write_folder

from podium.data.reading.judgments import read_battles
from podium.show.page.sources import FIRST_RESPONSES, BattleTexts, collect_texts

SCORES = {"lab/amber": (1, 0, 1, 1), "lab/birch": (0, 1, 1, 0)}


def say_scores(log):
    """Write the score of each sample into its response."""
    for sample in log.samples:
        [score] = sample.scores.values()
        sample.output.completion = f"{log.eval.model}: {sample.input} {score.value:g}"


def write_logs(folder: Path, runs: list[Run]) -> list[str]:
    return [
        str(write_inspect_log(run, folder, f"{k}.eval", change=say_scores))
        for k, run in enumerate(runs)
    ]


def texts_of(*sources: str) -> tuple[pd.DataFrame, BattleTexts]:
    """Return the battles of sources and their texts."""
    battles = read_battles(*sources)
    return battles.table, collect_texts(battles, sources)


def assert_all_texts_are_of_the_scores(table: pd.DataFrame, texts: BattleTexts) -> None:
    """Check that each battle has the texts in which its scores stand."""
    for row in table.to_dict("records"):
        question = texts.instructions[row["item"]]
        for side in ("a", "b"):
            model, score = row[f"model_{side}"], row[f"score_{side}"]
            said = texts.responses[row["item"], row["response"], model]
            assert said == f"{model}: {question} {score:g}"
    assert not texts.notes


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("as_files", [True, False])
def test_logs_of_inspect_show_the_responses_that_were_scored(tmp_path, as_files):
    files = write_logs(tmp_path, [simple_run(model, own) for model, own in SCORES.items()])
    assert_all_texts_are_of_the_scores(*texts_of(*(files if as_files else [str(tmp_path)])))


def test_epochs_of_inspect_show_the_response_of_each_epoch(tmp_path):
    epochs = {"lab/amber": [(1, 0), (0, 0)], "lab/birch": [(0, 1), (1, 0)]}
    write_logs(tmp_path, [simple_run(model, own) for model, own in epochs.items()])
    table, texts = texts_of(str(tmp_path))
    assert set(table["response"]) == {1, 2}
    assert_all_texts_are_of_the_scores(table, texts)


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_items_that_are_paired_by_input_show_the_responses_to_that_input(tmp_path, order):
    """Both runs are of the same second, and number the same questions in other orders."""
    first, second = (simple_run(model, own) for model, own in SCORES.items())
    mixed = second.with_items([3, 2, 1, 0])
    runs = [first, Run(mixed.model, mixed.task, first.ids, mixed.inputs, mixed.scores)]
    write_logs(tmp_path, [runs[place] for place in order])
    assert_all_texts_are_of_the_scores(*texts_of(str(tmp_path)))


@pytest.mark.slow
def test_tasks_of_several_logs_do_not_mix_their_responses(tmp_path):
    runs = [
        simple_run(model, own, task) for task in ("quiz", "riddle") for model, own in SCORES.items()
    ]
    write_logs(tmp_path, runs)
    table, texts = texts_of(str(tmp_path))
    assert len(table) == 8
    assert_all_texts_are_of_the_scores(table, texts)


@pytest.mark.slow
def test_scores_over_unequal_epochs_are_shown_with_the_first_response_which_is_said(tmp_path):
    epochs = {"lab/amber": [(1, 0), (0, 0)], "lab/birch": [1, 1]}
    write_logs(tmp_path, [simple_run(model, own) for model, own in epochs.items()])
    _, texts = texts_of(str(tmp_path))
    assert texts.responses["1", 1, "lab/amber"] == "lab/amber: What is 1? 1"
    assert texts.notes == [FIRST_RESPONSES]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 3, 5, 9, 11])
def test_samples_of_lm_eval_show_their_responses(tmp_path, seed):
    write_folder(permute_ids(generate_folder(seed), seed), tmp_path)
    table, texts = texts_of(str(tmp_path))
    for row in table.to_dict("records"):
        for model in (row["model_a"], row["model_b"]):
            assert texts.responses[row["item"], 1, model] == "Yes."
    assert set(texts.notes) <= {FIRST_RESPONSES}


@pytest.mark.slow
def test_samples_of_one_argument_that_are_no_numbers_are_texts(tmp_path):
    for model, own in SCORES.items():
        write_lm_eval_run([simple_run(model, own)], tmp_path)
    for path in tmp_path.rglob("samples_*.jsonl"):
        frame = pd.read_json(path, lines=True)
        frame["arguments"] = [
            {"gen_args_0": {"arg_0": own["gen_args_0"]["arg_0"]}} for own in frame["arguments"]
        ]
        frame.to_json(path, orient="records", lines=True)
    _, texts = texts_of(str(tmp_path))
    assert set(texts.responses.values()) == {"Yes."}
    for path in tmp_path.rglob("samples_*.jsonl"):
        frame = pd.read_json(path, lines=True)
        frame["resps"] = [[["-12.5"]] for _ in range(len(frame))]
        frame.to_json(path, orient="records", lines=True)
    _, texts = texts_of(str(tmp_path))
    assert not texts.responses
    [note] = texts.notes
    assert note.startswith("No texts of responses: none were found in ")


@pytest.mark.slow
def test_models_without_texts_are_named_beside_others(tmp_path):
    first, second = (simple_run(model, own) for model, own in SCORES.items())
    write_inspect_log(first, tmp_path, "0.eval", change=say_scores)

    def leave_out(log):
        for sample in log.samples:
            sample.output.choices[0].message.content = sample.output.completion = ""

    write_inspect_log(second, tmp_path, "1.eval", change=leave_out)
    _, texts = texts_of(str(tmp_path))
    [note] = texts.notes
    assert note.startswith("No texts of responses of lab/birch: none were found in ")


def test_responses_in_a_table_of_scores_are_shown(tmp_path):
    rows = [
        {
            "item": k,
            "instruction": f"Say {k}.",
            "model": model,
            "score": score,
            "response": f"{model} said {k}",
        }
        for model, own in SCORES.items()
        for k, score in enumerate(own)
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "scores.csv", index=False)
    _, texts = texts_of(str(tmp_path / "scores.csv"))
    assert texts.responses["2", 1, "lab/birch"] == "lab/birch said 2"
    assert not texts.notes
