"""AlpacaEval annotations: preference 2 = output_2's model wins."""

import numpy as np
import pytest

import podium
from podium.notices.notice_text import notice_texts


def annotation(preference, item="say hello", model="newcomer", baseline="davinci", **more):
    return {
        "instruction": item,
        "output_1": "Hi.",
        "generator_1": baseline,
        "output_2": "Hello!",
        "generator_2": model,
        "dataset": "helpful_base",
        "annotator": "alpaca_eval_gpt4",
        "preference": preference,
        "preference_price_per_example": 0.01,
    } | more


def credit_of_model(save, preference):
    table = podium.read_battles(save("annotations.json", [annotation(preference)])).table
    assert table["model_a"].tolist() == ["newcomer"]
    return table["credit"].iloc[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("preference", "credit"), [(2, 1.0), (2.0, 1.0), (1, 0.0), (1.5, 0.5), (0, 0.5), (1.75, 0.75)]
)
def test_preference_two_is_a_win_of_the_model_and_one_a_loss(save, preference, credit):
    assert credit_of_model(save, preference) == credit


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("preference", [None, float("nan"), -1, -1.0])
def test_an_annotation_without_preference_is_unparsed_with_its_reason(save, preference):
    battles = podium.read_battles(
        save("annotations.json", [annotation(preference), annotation(2, item="other")])
    )
    assert battles.counts().unparsed == 1
    assert battles.unparsed_reasons() == {"no preference": 1}
    assert np.isnan(battles.table["credit"].iloc[0])


@pytest.mark.parametrize("preference", [2.5, 0.5, 3, -2])
def test_a_preference_outside_its_range_is_an_error_that_names_row_and_value(save, preference):
    with pytest.raises(podium.DataError) as caught:
        podium.read_battles(
            save("annotations.json", [annotation(2), annotation(preference, item="other")])
        )
    assert "annotations.json, row 2" in str(caught.value)
    assert str(preference) in str(caught.value)


@pytest.mark.slow
def test_item_judge_category_and_lengths_come_along(save):
    row = podium.read_battles(save("annotations.json", [annotation(2)])).to_frame().iloc[0]
    assert (row["item"], row["judge"], row["category"]) == (
        "say hello",
        "alpaca_eval_gpt4",
        "helpful_base",
    )
    assert (row["length_a"], row["length_b"]) == (6, 3)


def test_foreign_columns_of_annotations_are_kept(save):
    table = podium.read_battles(save("annotations.json", [annotation(2, datasplit="eval")])).table
    assert table["datasplit"].tolist() == ["eval"]
    assert table["preference_price_per_example"].tolist() == [0.01]


def test_old_files_without_the_preference_prefix_are_read(save):
    old = {
        name: value for name, value in annotation(2).items() if not name.startswith("preference_")
    }
    table = podium.read_battles(save("annotations.json", [old | {"price_per_example": 0.01}])).table
    assert table["credit"].tolist() == [1.0]
    assert table["price_per_example"].tolist() == [0.01]


@pytest.mark.slow
def test_a_column_called_category_stays_beside_the_dataset(save):
    table = podium.read_battles(save("annotations.json", [annotation(2, category="maths")])).table
    assert table["category"].tolist() == ["maths"]
    assert table["dataset"].tolist() == ["helpful_base"]


@pytest.mark.slow
def test_alpaca_eval_results_tree_contains_all_models_against_one_baseline(save, tmp_path):
    for model, preference in (("good", 2), ("bad", 1)):
        rows = [annotation(preference, item=f"i{k}", model=model) for k in range(3)]
        save(f"results/{model}/gpt4/annotations.json", rows)
        save(
            f"results/{model}/model_outputs.json",
            [{"instruction": "i0", "output": "x", "generator": model}],
        )
    battles = podium.read_battles(str(tmp_path / "results"))
    assert battles.models == ("bad", "davinci", "good")
    assert battles.counts().items == 3
    assert "2 files hold no verdicts and were skipped" in notice_texts(battles.notes)[0]


@pytest.mark.slow
def test_alpaca_eval_skips_and_reports_the_baselines_own_file(save, tmp_path):
    save("results/davinci/annotations.json", [annotation(1.5, model="davinci")])
    save("results/good/annotations.json", [annotation(2, model="good")])
    battles = podium.read_battles(str(tmp_path / "results"))
    assert battles.models == ("davinci", "good")
    assert "only with itself were skipped" in notice_texts(battles.notes)[0]
    assert "results/davinci/annotations.json" in notice_texts(battles.notes)[0]


@pytest.mark.slow
def test_alpaca_eval_reports_a_model_with_fewer_annotations(save, tmp_path):
    for model, number in (("good", 3), ("bad", 2)):
        rows = [annotation(2, model=model, item=f"item {k}") for k in range(number)]
        save(f"results/{model}/alpaca_eval_gpt4/annotations.json", rows)
    (note,) = notice_texts(podium.read_battles(str(tmp_path / "results")).notes)
    assert "fewer annotations than the fullest" in note
    assert note.endswith("annotations.json (2 of 3)")


def test_the_baselines_own_file_alone_is_an_error(save):
    with pytest.raises(podium.DataError, match="'davinci' plays against itself"):
        podium.read_battles(save("annotations.json", [annotation(1.5, model="davinci")]))


@pytest.mark.slow
def test_a_label_names_the_model(save):
    path = save("annotations.json", [annotation(2)])
    assert podium.read_battles(f"renamed={path}").models == ("davinci", "renamed")


@pytest.mark.slow
def test_items_of_two_models_join_by_the_instructions_text(save):
    one = save("one.json", [annotation(2, item="same text", model="one")])
    two = save("two.json", [annotation(1, item="same text", model="two")])
    assert podium.read_battles(one, two).counts().items == 1
