"""Models with different numbers of scores on an item: every score counts."""

import itertools

import numpy as np
import pandas as pd
import pytest

import podium
from podium.notices.notice_text import notice_texts


def scores_of(column="response", **models):
    """Return a row per score; each model has a list of scores per item."""
    rows = []
    for model, items in models.items():
        for item, values in enumerate(items):
            rows += [
                {"item": f"i{item}", "model": model, column: k, "score": own}
                for k, own in enumerate(values, 1)
            ]
    return pd.DataFrame(rows)


ONCE = {"once": [[1.0]] * 6 + [[0.0]] * 6, "often": [[1.0, 0.0, 0.0, 0.0]] * 12}
"""A model of mean .5 that was run once, and one of mean .25 that was run four times."""


@pytest.mark.slow
@pytest.mark.parametrize("column", ["response", "repeat"])
def test_the_scores_of_all_epochs_are_the_mean_of_an_item(column):
    battles = podium.read_battles(scores_of(column, **ONCE))
    means = {
        entry.model: entry.score for entry in podium.rank(battles, "mean").standings[0].entries
    }
    assert means == pytest.approx({"once": 0.5, "often": 0.25})


@pytest.mark.slow
def test_the_credit_of_unequal_epochs_is_the_mean_over_all_pairs_of_scores():
    rng = np.random.default_rng(4)
    two, three = rng.normal(size=(5, 2)), rng.normal(size=(5, 3))
    table = podium.read_battles(scores_of(x=two, y=three)).table
    expected = [
        np.mean([x > y for x, y in itertools.product(*own)]) for own in zip(two, three, strict=True)
    ]
    assert table["credit"].to_numpy() == pytest.approx(expected)
    assert table["margin"].to_numpy() == pytest.approx(two.mean(axis=1) - three.mean(axis=1))


@pytest.mark.slow
def test_compare_takes_all_epochs_of_both():
    found = podium.compare("often", "once", scores_of(**ONCE)).findings[0]
    assert found.difference.value == pytest.approx(-0.25)


@pytest.mark.slow
def test_the_numbers_of_scores_are_said_by_model():
    [note] = notice_texts(podium.read_battles(scores_of(**ONCE)).notes)
    assert (
        "different numbers of scores (epochs, repeats) on 12 of 12 items: often: 4, once: 1 "
        "scores an item" in note
    )


def test_the_numbers_of_scores_are_those_of_a_task_also_if_a_judge_gave_them():
    tasks = [scores_of(**ONCE).assign(task=name, judge="j") for name in ("arc", "gsm")]
    for table in tasks:
        table["item"] = table["task"] + table["item"]
    notes = notice_texts(podium.read_battles(pd.concat(tasks, ignore_index=True)).notes)
    assert sum("12 of 12 items of arc: " in note for note in notes) == 1
    assert sum("12 of 12 items of gsm: " in note for note in notes) == 1


@pytest.mark.slow
def test_no_battle_of_unequal_epochs_is_missing():
    assert podium.read_battles(scores_of(**ONCE)).counts().missing == 0


def test_a_column_of_texts_of_responses_numbers_no_scores():
    rows = [
        (item, model, k % 2, f"{model} says {item}")
        for k, item in enumerate("ijk")
        for model in "xy"
    ]
    battles = podium.read_battles(
        pd.DataFrame(rows, columns=["item", "model", "score", "response"])
    )
    assert (len(battles), notice_texts(battles.notes)) == (3, ())


def test_equal_numbers_of_epochs_meet_epoch_by_epoch_without_a_note():
    battles = podium.read_battles(scores_of(x=[[1, 0]] * 3, y=[[0, 0]] * 3))
    assert (len(battles), notice_texts(battles.notes)) == (6, ())


def test_an_item_with_a_lost_epoch_weighs_as_much_as_the_others():
    scores = scores_of(x=[[1, 0, 1]] * 4, y=[[0, 1], *[[0, 1, 0]] * 3])
    battles = podium.read_battles(scores)
    assert battles.table.groupby("item").size().tolist() == [1, 1, 1, 1]
    assert "on 1 of 4 items" in notice_texts(battles.notes)[0]


@pytest.mark.slow
def test_a_score_that_is_empty_in_one_epoch_leaves_the_other_epochs_of_the_item():
    scores = scores_of(x=[[1, None], [1, 1]], y=[[0, 1], [1, 0]])
    table = podium.read_battles(scores).table
    assert table["score_a"].tolist() == [1, 1]
    assert table["credit"].tolist() == [0.75, 0.75]


@pytest.mark.slow
def test_one_judge_with_unequal_numbers_leaves_the_battles_of_another_as_they_are():
    unequal = scores_of(x=[[1, 1]] * 3, y=[[0]] * 3).assign(judge="first")
    equal = scores_of(x=[[1, 1]] * 3, y=[[0, 1]] * 3).assign(judge="second")
    battles = podium.read_battles(pd.concat([unequal, equal], ignore_index=True))
    assert battles.table.groupby("judge").size().to_dict() == {"first": 3, "second": 6}
