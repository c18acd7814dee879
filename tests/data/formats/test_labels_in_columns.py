"""Labels of judges, such as `A>B` and `[[B=A]]`, in the column `winner` or `credit` of a table."""

import pandas as pd
import pytest

import podium
from podium.errors import DataError

LABELS = {
    "A>B": 1.0,
    "[[A>>B]]": 1.0,
    "[[A=B]]": 0.5,
    "[[B=A]]": 0.5,
    "B>A": 0.0,
    "[[A<B]]": 0.0,
    "[[B<A]]": 1.0,
    "B<<A": 1.0,
}


def table(column: str, **columns: str) -> pd.DataFrame:
    rows = [
        {"item": f"q{k}", "model_a": "x", "model_b": "y", column: label, **columns}
        for k, label in enumerate(LABELS)
    ]
    return pd.DataFrame(rows)


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("column", ["winner", "credit"])
def test_labels_are_read_as_credits_of_model_a(column: str) -> None:
    battles = podium.read_battles(table(column))
    assert battles.to_frame()["credit"].tolist() == [*LABELS.values()]


@pytest.mark.slow
@pytest.mark.parametrize("column", ["winner", "credit"])
def test_labels_are_read_where_model_a_was_shown_first(column: str) -> None:
    battles = podium.read_battles(table(column, order="ab"))
    assert battles.to_frame()["credit"].tolist() == [*LABELS.values()]


def test_labels_beside_numbers_are_read() -> None:
    frame = table("credit").assign(credit=["A>B", "0.25", "1", "", "[[B=A]]", "0", "B>A", "0.5"])
    credits = podium.read_battles(frame).to_frame()["credit"].fillna(-1).tolist()
    assert credits == [1.0, 0.25, 1.0, -1, 0.5, 0.0, 0.0, 0.5]


def test_a_winner_by_a_label_is_rejected_where_model_b_was_shown_first() -> None:
    with pytest.raises(DataError, match="with order ba does not say whether A is model_a"):
        podium.read_battles(table("winner", order="ba"))


def test_a_credit_by_a_label_is_rejected_where_model_b_was_shown_first() -> None:
    with pytest.raises(DataError, match="is not a number"):
        podium.read_battles(table("credit", order="ba"))


def test_a_label_beside_another_word_is_rejected() -> None:
    frame = table("credit").assign(credit=["A>B", *["perhaps"] * 7])
    with pytest.raises(DataError, match="is not a number"):
        podium.read_battles(frame)
