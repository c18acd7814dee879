"""Pointwise scores: one row per item and model, battles item by item."""

import json

import pandas as pd
import pytest

import podium
from podium.notices.notice_text import notice_texts


def scored(*rows, names=("item", "model", "score")):
    return [dict(zip(names, row, strict=True)) for row in rows]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("a", "b", "credit", "margin"), [(9, 4, 1.0, 5.0), (4, 9, 0.0, -5.0), (4, 4.0, 0.5, 0.0)]
)
def test_the_higher_score_wins_and_equal_scores_tie(save, a, b, credit, margin):
    row = (
        podium.read_battles(save("s.jsonl", scored(("i", "x", a), ("i", "y", b))))
        .to_frame()
        .iloc[0]
    )
    assert (row["model_a"], row["model_b"], row["credit"], row["margin"]) == (
        "x",
        "y",
        credit,
        margin,
    )
    assert (row["score_a"], row["score_b"]) == (a, b)


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("empty", [None, float("nan")])
def test_an_empty_score_is_missing_and_no_unparsed_reply(save, empty):
    battles = podium.read_battles(
        save("s.jsonl", scored(("i", "x", empty), ("i", "y", 4), ("i", "z", 5)))
    )
    assert battles.unparsed_reasons() == {}
    counts = battles.counts()
    assert (counts.battles, counts.judgments, counts.unparsed, counts.missing) == (1, 1, 0, 2)


@pytest.mark.slow
def test_a_model_without_a_row_on_an_item_is_missing_there(save):
    rows = scored(("i", "x", 1), ("i", "y", 2), ("i", "z", 3), ("j", "x", 1), ("j", "y", 2))
    counts = podium.read_battles(save("s.jsonl", rows)).counts()
    assert (counts.battles, counts.missing) == (4, 2)


@pytest.mark.slow
@pytest.mark.parametrize("most", [2_000_000, 0])
def test_a_model_that_was_not_run_on_a_task_is_not_missing_there(save, monkeypatch, most):
    monkeypatch.setattr("podium.data.formats.score_pairs.MOST_BATTLES", most)
    names = ("task", "item", "model", "score")
    rows = scored(
        *[("t", item, model, 1) for item in "ij" for model in "xyz"],
        *[("u", item, model, 1) for item in "kl" for model in "vx"],
        ("u", "m", "x", 1),
        names=names,
    )
    # On u, v has no row on m; y and z have none on any item of u.
    counts = podium.read_battles(save("s.jsonl", rows), scores_only=most == 0).counts()
    assert (counts.battles, counts.missing) == ((8, 1) if most else (6, 1))


def test_nothing_is_missing_when_all_are_scored(save):
    rows = scored(("i", "x", 1), ("i", "y", 2))
    assert podium.read_battles(save("s.jsonl", rows)).counts().missing == 0


def test_repeated_scores_are_averaged_and_reported(save):
    rows = scored(("i", "x", 1), ("i", "x", 4), ("i", "y", 2))
    battles = podium.read_battles(save("s.jsonl", rows))
    assert battles.table["margin"].tolist() == [0.5]
    assert notice_texts(battles.notes) == (
        "1 score of a model already scored on the same item was averaged with it",
    )


def test_scores_of_one_model_only_are_an_error(save):
    with pytest.raises(
        podium.DataError,
        match=r"s.jsonl: scores of one model only \('x'\). Remedy: give the scores of two models",
    ):
        podium.read_battles(save("s.jsonl", scored(("i", "x", 1), ("j", "x", 4))))


@pytest.mark.slow
def test_files_of_one_model_each_meet(save):
    one, two = save("one.jsonl", scored(("i", "x", 1))), save("two.jsonl", scored(("i", "y", 4)))
    assert podium.read_battles(one, two).models == ("x", "y")


@pytest.mark.slow
def test_a_label_names_the_model_of_a_file_without_one(save):
    rows = scored(("i", 1), names=("item", "score"))
    one, two = save("one.jsonl", rows), save("two.jsonl", rows)
    assert podium.read_battles(f"new={one}", f"old={two}").models == ("new", "old")


@pytest.mark.slow
def test_justrank_columns_are_read_with_the_realization_in_the_judge(save):
    names = (
        "arena_hard_question_id",
        "system",
        "judge_model",
        "judge_realization",
        "judgment_score",
    )
    rows = scored(("q", "x", "gpt", "likert", 3), ("q", "y", "gpt", "likert", 5), names=names)
    row = podium.read_battles(save("j.jsonl", rows)).to_frame().iloc[0]
    assert (row["item"], row["judge"], row["credit"], row["margin"]) == (
        "q",
        "gpt likert",
        0.0,
        -2.0,
    )


@pytest.mark.slow
def test_scores_of_different_realizations_never_meet(save):
    names = (
        "arena_hard_question_id",
        "system",
        "judge_model",
        "judge_realization",
        "judgment_score",
    )
    rows = scored(("q", "x", "gpt", "likert", 3), ("q", "y", "gpt", "numeric", 90), names=names)
    counts = podium.read_battles(
        save("j.jsonl", [*rows, *scored(("q", "x", "gpt", "numeric", 80), names=names)])
    ).counts()
    assert (counts.battles, counts.missing) == (1, 1)


def test_a_score_that_is_no_number_is_an_error_that_names_it(save):
    with pytest.raises(
        podium.DataError, match=r"s.jsonl, line 2: score 'high' is not a number. Remedy"
    ):
        podium.read_battles(save("s.jsonl", scored(("i", "x", 1), ("i", "y", "high"))))


def test_scores_written_as_text_are_numbers(save):
    rows = scored(("i", "x", "10"), ("i", "y", "9"))
    assert podium.read_battles(save("s.json", rows)).table["credit"].tolist() == [1.0]


@pytest.mark.parametrize(("row", "what"), [((None, "x", 1), "item"), (("i", None, 1), "model")])
def test_a_score_without_item_or_model_is_an_error(save, row, what):
    with pytest.raises(podium.DataError, match=rf"s.jsonl, line 1: {what} is empty"):
        podium.read_battles(save("s.jsonl", scored(row, ("i", "y", 2))))


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_an_object_in_the_column_of_scores_names_the_path_to_type(tmp_path, suffix):
    cells = [{"why": "text", "acc": float(k % 3), "a.b": 1, "f1": 0.5} for k in range(6)]
    rows = [
        {"item": f"q{k // 2}", "model": "xy"[k % 2], "score": cell} for k, cell in enumerate(cells)
    ]
    path = tmp_path / f"scores.{suffix}"
    if suffix == "csv":
        pd.DataFrame(rows).assign(score=[*map(json.dumps, cells)]).to_csv(path, index=False)
    else:
        path.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(podium.DataError) as caught:
        podium.read_battles(path)
    assert "is not a number (6 such rows)" in str(caught.value)
    assert caught.value.remedy == (
        "name the field that counts, for example --columns score=score.acc (acc, f1 are its "
        "numbers)"
    )
    assert len(podium.read_battles(path, columns={"score": "score.acc"})) == 3


def test_an_object_without_numbers_in_the_column_of_scores_is_no_number(tmp_path):
    rows = [{"item": "q", "model": name, "score": {"why": "text"}} for name in "xy"]
    path = tmp_path / "scores.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(podium.DataError, match="write a number"):
        podium.read_battles(path)
