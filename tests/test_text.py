"""Columns as text: an empty cell is None, whatever type of column pandas makes."""

import numpy as np
import pandas as pd
import pytest

from podium.text import as_text


@pytest.mark.parametrize(
    "column",
    [
        pytest.param(pd.Series(["x", None, "y"], dtype=object), id="object"),
        pytest.param(pd.Series(["x", np.nan, "y"], dtype="str"), id="text"),
        pytest.param(pd.Series(["x", "", "y"], dtype="str"), id="empty text"),
        pytest.param(pd.Series(["x", None, "y"], dtype="category"), id="categorical"),
        pytest.param(pd.Series(["x", float("nan"), "y"], dtype=object), id="not a number"),
    ],
)
def test_empty_cells_become_none(column):
    assert as_text(column).tolist() == ["x", None, "y"]


def test_whole_numbers_have_no_decimals_and_empty_ones_are_none():
    assert as_text(pd.Series([1.0, np.nan, 2.5])).tolist() == ["1", None, "2.5"]
