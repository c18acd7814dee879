"""The sentences of a comparison on slices: in which the candidate is ahead, and in which behind."""

import pandas as pd
import pytest

import podium as api

OPPOSITE = {"code": 0.9, "prose": 0.1}


def make_battles(shares, opponents=("b",), items=40) -> pd.DataFrame:
    """Let model a win a share of the items of each category against each opponent."""
    rows = [
        {
            "item": f"{category}{item}",
            "model_a": "a",
            "model_b": opponent,
            "credit": float(item < share * items),
            "category": category,
            "judge": "j",
        }
        for category, share in shares.items()
        for item in range(items)
        for opponent in opponents
    ]
    return pd.DataFrame(rows)


def test_the_answer_says_where_the_candidate_is_ahead_and_where_behind():
    found = api.compare("a", "b", make_battles(OPPOSITE), by="category")
    lead, slices, wins, _ = found.answer
    assert lead.startswith("a and b are too close to call, with no difference measured")
    assert slices == (
        "By category, a is clearly ahead of b on code; clearly behind b on prose (2 tests, Holm)."
    )
    assert wins == "40 wins, 40 losses, 0 ties by item."


def test_without_slices_the_answer_has_no_sentence_on_them():
    found = api.compare("a", "b", make_battles(OPPOSITE))
    assert not any("By category" in sentence for sentence in found.answer)


@pytest.mark.slow
def test_many_slices_with_one_verdict_are_counted():
    shares = {f"c{number}": 0.5 for number in range(6)}
    found = api.compare("a", "b", make_battles(shares, items=10), by="category")
    assert found.answer[1] == (
        "By category, a is too close to b to call on all 6 values (6 tests, Holm)."
    )


@pytest.mark.slow
def test_of_several_candidates_those_are_named_whose_slices_contradict_each_other():
    frame = make_battles(OPPOSITE, opponents=("b",))
    level = make_battles({"code": 0.5, "prose": 0.5}, opponents=("c",))
    found = api.compare(pd.concat([frame, level]), baseline="a", by="category")
    assert found.answer[1:] == (
        "By category, b is clearly ahead of a on prose; clearly behind a on code.",
    )


@pytest.mark.slow
def test_candidates_with_contrary_slices_that_are_not_named_are_counted():
    frame = make_battles(OPPOSITE, opponents=("b", "c", "d", "e", "f"))
    found = api.compare(frame, baseline="a", by="category")
    assert len(found.answer) == 5
    assert found.answer[-1] == (
        "2 more are clearly ahead on some values of category and clearly behind on others."
    )


@pytest.mark.slow
def test_slices_about_which_nothing_is_claimed_have_no_sentence():
    """The lost battles of a model may explain its lead, in each slice too."""
    frame = make_battles({"code": 0.6, "prose": 0.6}, opponents=("b", "c", "d"), items=100)
    others = frame.assign(model_a="b", credit=0.5)
    others = others[others["model_b"] != "b"]
    frame["credit"] = frame["credit"].astype(object)
    frame.loc[frame["credit"] == 0, "credit"] = None
    found = api.compare("a", "b", pd.concat([frame, others]), by="category")
    assert found.answer[0].startswith("Nothing is claimed about a and b: ")
    assert not any("By category" in sentence for sentence in found.answer)
