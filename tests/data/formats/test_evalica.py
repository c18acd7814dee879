"""evalica CSV: left, right, winner."""

import pandas as pd
import pytest

import podium
from podium.notices.notice_text import notice_texts


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    ("winner", "credit"),
    [("left", 1.0), ("right", 0.0), ("tie", 0.5), ("Pizza", 1.0), ("Sushi", 0.0)],
)
def test_the_left_one_is_a(save, winner, credit):
    row = (
        podium.read_battles(save("food.csv", f"left,right,winner\nPizza,Sushi,{winner}\n"))
        .to_frame()
        .iloc[0]
    )
    assert (row["model_a"], row["model_b"], row["credit"]) == ("Pizza", "Sushi", credit)


def test_an_empty_winner_is_unparsed_with_its_reason(save):
    battles = podium.read_battles(
        save("food.csv", "left,right,winner\nPizza,Sushi,\nPizza,Sushi,left\n")
    )
    assert battles.unparsed_reasons() == {"no winner": 1}


@pytest.mark.parametrize("winner", ["Burger", "draw", "Left"])
def test_an_unknown_winner_is_an_error_not_a_tie(save, winner):
    with pytest.raises(
        podium.DataError, match=rf"food.csv, row 1: winner '{winner}' is not a known verdict"
    ):
        podium.read_battles(save("food.csv", f"left,right,winner\nPizza,Sushi,{winner}\n"))


def test_numbers_are_names(save):
    assert podium.read_battles(save("simple.csv", "left,right,winner\n0,01,left\n")).models == (
        "0",
        "01",
    )


def test_foreign_columns_beside_left_and_right_are_kept(save):
    text = "id,prompt,worker,winner,left,right\n0,8,58,tie,Pizza,Sushi\n"
    assert podium.read_battles(save("llmfao.csv", text)).table["worker"].tolist() == ["58"]


@pytest.mark.slow
def test_a_column_that_may_be_the_item_is_proposed_and_taken_when_it_is_named() -> None:
    duels = pd.DataFrame(
        {"prompt": ["p", "p", "q"], "left": "x", "right": "y", "winner": ["left", "right", "left"]}
    )
    [note] = notice_texts(podium.read_battles(duels).notes)
    assert note.endswith(
        "prompt looks like the item; if prompt is the item, say columns={'item': 'prompt'}"
    )
    assert podium.read_battles(duels, columns={"item": "prompt"}).counts().items == 2
