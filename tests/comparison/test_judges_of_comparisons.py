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


@pytest.mark.slow
def test_a_comparison_says_for_which_judges_it_holds():
    compared = podium.compare("a", "b", verdicts_of(2), pool=True)
    assert compared.answer[0].startswith("For these two judges: a is clearly ahead of b by ")
    assert "score test by items, t, for these two judges" in str(compared)
    assert compared.to_dict()["comparisons"][0]["raters"] == {"unit": "judge", "number": 2}


@pytest.mark.slow
def test_a_comparison_of_several_pairs_says_for_which_judges_it_holds():
    compared = podium.compare(verdicts_of(2), baseline="a", pool=True)
    assert compared.answer[0].startswith("For these two judges: ")


def test_a_comparison_by_one_judge_names_none():
    compared = podium.compare("a", "b", verdicts_of(1))
    assert compared.answer[0].startswith("a is clearly ahead of b by ")
    assert "raters" not in compared.to_dict()["comparisons"][0]


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("by", [None, "task"])
def test_slices_are_proposed_only_where_they_are_not_shown(by):
    compared = podium.compare("a", "b", verdicts_of(1), by=by)
    proposals = [notice for notice in compared.warnings if notice.fields.get("value") == "code"]
    assert len(proposals) == (by is None)


def test_what_the_answer_says_of_the_order_is_no_warning_beside_it():
    compared = podium.compare("a", "b", verdicts_of(2), pool=True)
    assert compared.answer[1].startswith("On code, the response shown first has a win rate of")
    assert not [notice for notice in compared.warnings if notice.fields.get("value") == "code"]


@pytest.mark.slow
def test_a_slice_and_its_judges_are_named_in_one_clause():
    ranking = podium.rank(verdicts_of(2), by="task", pool=True)
    assert ranking.standings[0].answer[0].startswith("On code, for these two judges: ")


@pytest.mark.slow
def test_the_win_rate_of_a_pair_is_limited_to_the_judges_of_that_pair():
    table = verdicts_of(1)
    other_pairs = table[table["model_b"] == "c"].index
    table.loc[other_pairs, "judge"] = "j1"
    compared = podium.compare("a", "b", table, pool=True, measure="win-rate")
    assert compared.findings[0].raters is None
    with_others = podium.compare("a", "b", table, pool=True, measure="elo")
    assert with_others.findings[0].raters == ("judge", 2)


def single_orders() -> pd.DataFrame:
    """Return verdicts in one order each, of a judge that favours the response shown first."""
    rng = np.random.default_rng(1)
    rows = []
    for item in range(120):
        for a, b in combinations("abcd", 2):
            is_first = rng.random() < 0.5
            lead = 0.45 * ("abcd".index(b) - "abcd".index(a)) + (0.35 if is_first else -0.35)
            credit = float(rng.random() < 1 / (1 + np.exp(-lead)))
            rows.append((f"i{item}", a, b, "ab" if is_first else "ba", credit, f"t{item % 2}"))
    return pd.DataFrame(rows, columns=["item", "model_a", "model_b", "order", "credit", "task"])


@pytest.mark.slow
def test_a_gate_keeps_the_doubt_about_the_order():
    compared = podium.compare("a", "b", single_orders(), require="better")
    assert compared.findings[0].loss_check is not None or compared.findings[0].doubt is not None
    assert any("show both orders" in sentence for sentence in compared.answer)


@pytest.mark.slow
def test_what_was_found_in_a_slice_alone_stands_below_its_table():
    table = single_orders()
    is_fair = table["task"] == "t1"
    rng = np.random.default_rng(2)
    lead = 0.45 * (table["model_b"].map("abcd".index) - table["model_a"].map("abcd".index))
    chance = 1 / (1 + np.exp(-lead))
    fair = (rng.random(len(table)) < chance).astype(float)
    table.loc[is_fair, "credit"] = fair[is_fair]
    compared = podium.compare("a", "d", table, by="task")
    checks = [each.loss_check or each.doubt for each in compared.findings[0].slices]
    assert checks[0] is not None
    assert checks[1] is None
    assert "decided verdicts on t0" in " ".join(str(compared).split())
