"""Results of two models by item agree with those of a data frame."""

import numpy as np
import pandas as pd
import pytest

import podium
from podium.comparison.compared_pair import ComparedPair
from podium.comparison.direct_battles import BattleColumns, direct_battles
from podium.comparison.item_results import credit_results, sum_by_code

PAIR = ComparedPair("a", "b", "auto", 0.95)


@pytest.fixture
def table() -> pd.DataFrame:
    """Return soft verdicts with weights between three models, some rows without item or verdict."""
    rng = np.random.default_rng(3)
    rows = []
    for k in range(200):
        first, second = rng.choice(["a", "b", "c"], 2, replace=False)
        item = None if k % 9 == 0 else f"q{rng.integers(20)}"
        credit = None if k % 7 == 0 else rng.random()
        rows.append((item, first, second, credit, rng.uniform(0.5, 2)))
    return pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit", "weight"])


def test_differences_by_item_are_those_of_a_group_by(table: pd.DataFrame) -> None:
    results = credit_results(direct_battles(BattleColumns(podium.read_battles(table)), PAIR))
    table["item"] = table["item"].fillna(pd.Series([f"row {k + 1}" for k in range(len(table))]))
    is_direct = table["model_a"].isin(["a", "b"]) & table["model_b"].isin(["a", "b"])
    rows = table[is_direct & table["credit"].notna()]
    credit = rows["credit"].where(rows["model_a"] == "a", 1 - rows["credit"])
    weight = rows["weight"].groupby(rows["item"]).sum()
    lead = (credit * rows["weight"]).groupby(rows["item"]).sum() / weight - 0.5
    assert results.item.tolist() == lead.index.tolist()
    np.testing.assert_allclose(results.difference, lead, rtol=0, atol=1e-12)
    np.testing.assert_allclose(results.weight, weight, rtol=1e-12)


def test_sums_do_not_depend_on_the_order_of_their_values() -> None:
    values = np.array([1e16, 1.0, -1e16, 0.25])
    code = np.array([0, 0, 0, 2])
    for order in ([0, 1, 2, 3], [3, 2, 1, 0], [1, 0, 3, 2]):
        assert sum_by_code(values[order], code[order], 3).tolist() == [1.0, 0.0, 0.25]


def test_models_that_never_met_have_no_items(table: pd.DataFrame) -> None:
    apart = table[(table["model_a"] == "c") | (table["model_b"] == "c")]
    results = credit_results(direct_battles(BattleColumns(podium.read_battles(apart)), PAIR))
    assert len(results) == 0
    assert results.to_dicts(10, has_weights=True) == []
