"""Comparisons of verdicts of several judges, and of verdicts whose order decides in one task."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import podium

CHANCES = {"ab": 0.7, "ac": 0.8, "bc": 0.65}


def verdicts_of(judges: int) -> pd.DataFrame:
    """Return verdicts in both orders: on code the response shown first always wins."""
    rng = np.random.default_rng(0)
    rows = []
    for task in ("code", "prose"):
        for item in range(40):
            for a, b in combinations("abc", 2):
                for judge in range(judges):
                    for order in ("ab", "ba"):
                        is_won = order == "ab"
                        if task == "prose":
                            is_won = rng.random() < CHANCES[a + b]
                        rows.append(
                            (f"{task}{item}", a, b, order, float(is_won), task, f"j{judge}")
                        )
    columns = ["item", "model_a", "model_b", "order", "credit", "task", "judge"]
    return pd.DataFrame(rows, columns=columns)


def test_a_comparison_says_for_which_judges_it_holds():
    compared = podium.compare("a", "b", verdicts_of(2), pool=True)
    assert compared.answer[0].startswith("For these two judges: a is clearly ahead of b by ")
    assert "score test by items, t, for these two judges" in str(compared)
    assert compared.to_dict()["comparisons"][0]["raters"] == {"unit": "judge", "number": 2}


def test_a_comparison_of_several_pairs_says_for_which_judges_it_holds():
    compared = podium.compare(verdicts_of(2), baseline="a", pool=True)
    assert compared.answer[0].startswith("For these two judges: ")


def test_a_comparison_by_one_judge_names_none():
    compared = podium.compare("a", "b", verdicts_of(1))
    assert compared.answer[0].startswith("a is clearly ahead of b by ")
    assert "raters" not in compared.to_dict()["comparisons"][0]


@pytest.mark.parametrize("by", [None, "task"])
def test_slices_are_proposed_only_where_they_are_not_shown(by):
    compared = podium.compare("a", "b", verdicts_of(1), by=by)
    proposals = [notice for notice in compared.warnings if notice.fields.get("value") == "code"]
    assert len(proposals) == (by is None)


def test_what_the_answer_says_of_the_order_is_no_warning_beside_it():
    compared = podium.compare("a", "b", verdicts_of(2), pool=True)
    assert compared.answer[1].startswith("On code, the response shown first has a win rate of")
    assert not [notice for notice in compared.warnings if notice.fields.get("value") == "code"]


def test_a_slice_and_its_judges_are_named_in_one_clause():
    ranking = podium.rank(verdicts_of(2), by="task", pool=True)
    assert ranking.standings[0].answer[0].startswith("On code, for these two judges: ")
