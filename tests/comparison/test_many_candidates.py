"""A comparison of many models with one baseline looks at each battle once, not once per model."""

import numpy as np
import pandas as pd
import pytest

import podium
from podium.comparison import pair_data
from podium.comparison.compared_pair import ComparedPair
from podium.comparison.direct_battles import BattleColumns, DirectBattles
from podium.data.battles import Battles


@pytest.fixture
def scores() -> pd.DataFrame:
    """Return the scores of 30 models on 12 items."""
    rng = np.random.default_rng(5)
    rows = [
        {"item": f"q{item}", "model": f"m{model:02}", "score": int(rng.random() < 0.5)}
        for model in range(30)
        for item in range(12)
    ]
    return pd.DataFrame(rows)


def test_a_pair_has_the_battles_that_a_search_of_all_rows_finds(scores: pd.DataFrame) -> None:
    battles = podium.read_battles(scores)
    first = battles.table["model_a"].astype(str).to_numpy()
    second = battles.table["model_b"].astype(str).to_numpy()
    for names in (("m03", "m17"), ("m29", "m00"), ("m05", "m05"), ("m05", "nobody")):
        found = np.isin(first, names) & np.isin(second, names) & (first != second)
        assert battles.positions_between(*names).tolist() == np.flatnonzero(found).tolist()


def test_the_rows_that_are_read_do_not_grow_with_the_number_of_candidates(
    scores: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    battles_of = pair_data.direct_battles

    def count(columns: BattleColumns, pair: ComparedPair) -> DirectBattles:
        rows = battles_of(columns, pair)
        sizes.append(len(rows))
        return rows

    monkeypatch.setattr(pair_data, "direct_battles", count)
    items_read = 0
    items_of = BattleColumns.items.func

    def count_items(columns: BattleColumns) -> np.ndarray:
        nonlocal items_read
        items_read += 1
        return items_of(columns)

    monkeypatch.setattr(BattleColumns.items, "func", count_items)
    unparsed = 0
    mask_of = Battles.is_unparsed.func

    def count_masks(battles: Battles) -> np.ndarray:
        nonlocal unparsed
        unparsed += 1
        return mask_of(battles)

    monkeypatch.setattr(Battles.is_unparsed, "func", count_masks)
    comparison = podium.compare(scores, baseline="m00")
    assert len(comparison.findings) == 29
    assert sizes == [12] * 29
    assert unparsed < 29
    assert items_read == 1
