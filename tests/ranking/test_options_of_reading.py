"""The errors of `podium.rank` name the function that takes options of reading."""

import pandas as pd
import pytest

import podium
from podium.errors import DataError, UsageError

LABELS = ["m", "m ", "m", "m "]
BATTLES = pd.DataFrame(
    {
        "item": ["q0", "q1", "q2", "q3"],
        "model_a": LABELS,
        "model_b": ["x"] * 4,
        "credit": [1.0, 0.0, 1.0, 1.0],
    }
)


def test_the_remedy_of_an_error_can_be_typed():
    with pytest.raises(DataError) as raised:
        podium.rank(BATTLES)
    assert "podium.read_battles(..., names='joined')" in str(raised.value)
    battles = podium.read_battles(BATTLES, names="joined")
    podium.rank(battles)
    assert sorted(battles.models) == ["m", "x"]


@pytest.mark.slow
def test_options_of_rank_itself_are_keywords():
    with pytest.raises(UsageError) as raised:
        podium.rank(BATTLES.replace("m ", "m"), by="judgee")
    assert "read_battles" not in str(raised.value)
    with pytest.raises(DataError, match="count them as one with names='joined'"):
        podium.read_battles(BATTLES)
