"""The relations against plain loops over rows, on drawn and on recorded tables; and cells against
rows."""

import naive_counting as naive
import pandas as pd
import pytest
from counted_tables import (
    COLUMNS,
    check,
    drawn_rows,
    frame_of,
    needs_data,
    recorded_round_robin,
    recorded_votes,
    with_columns,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from podium import NotIdentifiedError, rank
from podium.data.battles import Battles
from podium.data.counting.battle_frame import BattleFrame
from podium.data.counting.duck import Duck
from podium.data.counting.verdicts import verdicts_of
from podium.notices.notice_text import notice_texts


@pytest.fixture(autouse=True)
def tiny_blocks(monkeypatch):
    monkeypatch.setattr("podium.data.counting.duck.BATCH", 7)
    monkeypatch.setattr("podium.data.counting.duck.ROWS_OF_BATCH", 7)
    monkeypatch.setattr("podium.data.counting.packed_rows.ROWS_OF_SLICE", 7)


@pytest.mark.slow
@pytest.mark.parametrize("keep_one_sided", [False, True])
@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_counts_equal_plain_loops(seed, merge, keep_one_sided):
    check(drawn_rows(seed), COLUMNS, merge=merge, keep_one_sided=keep_one_sided)


@pytest.mark.slow
@pytest.mark.parametrize("without", [(), ("item",), ("order",)])
def test_rows_grouped_a_range_at_a_time_equal_plain_loops(without, monkeypatch):
    monkeypatch.setattr("podium.data.counting.duck.ROWS_IN_ARRAYS", 0)
    monkeypatch.setattr("podium.data.counting.duck.ROWS_IN_NUMBERS", 0)
    monkeypatch.setattr("podium.data.counting.duck.ROWS_AT_ONCE", 25)
    columns = [name for name in COLUMNS if name not in without]
    check(with_columns(drawn_rows(5), columns), columns, merge=True, keep_one_sided=False)


@pytest.mark.slow
@pytest.mark.parametrize("merge", [True, False])
def test_rows_grouped_by_the_database_equal_plain_loops(merge, monkeypatch):
    monkeypatch.setattr("podium.data.counting.duck.ROWS_IN_ARRAYS", 0)
    monkeypatch.setattr("podium.data.counting.duck.ROWS_IN_NUMBERS", 0)
    check(drawn_rows(6), COLUMNS, merge=merge, keep_one_sided=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    "further",
    [
        (),
        ("order", "judge", "repeat"),
        ("order", "reason", "identical", "category"),
        ("order", "weight", "judge"),
        ("hard_credit", "repeat", "length_a", "length_b"),
        ("order", "margin"),
    ],
)
@pytest.mark.parametrize("item", [("item",), ()])
@pytest.mark.parametrize("keep_one_sided", [False, True])
def test_rows_grouped_as_numbers_equal_plain_loops(further, item, keep_one_sided, monkeypatch):
    monkeypatch.setattr("podium.data.counting.duck.ROWS_IN_ARRAYS", 0)
    monkeypatch.setattr(Duck, "_group_by_queries", None)
    columns = (*item, "model_a", "model_b", "credit", *further)
    check(drawn_rows(8), columns, merge=True, keep_one_sided=keep_one_sided)


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(st.integers(10, 10_000), st.sets(st.sampled_from(("item", *naive.OPTIONAL))), st.booleans())
def test_tables_without_some_columns_count_alike(seed, without, keep_one_sided):
    columns = [name for name in COLUMNS if name not in without]
    if "order" in without:
        columns = [name for name in columns if name != "swap"]
    check(drawn_rows(seed, 40), columns, merge=True, keep_one_sided=keep_one_sided)


@pytest.mark.slow
@pytest.mark.real_data
@needs_data
@pytest.mark.parametrize("keep_one_sided", [False, True])
def test_recorded_round_robin_counts_alike(keep_one_sided):
    check(*recorded_round_robin(), keep_one_sided=keep_one_sided)


@pytest.mark.slow
@pytest.mark.real_data
@needs_data
def test_recorded_votes_of_several_judges_count_alike():
    check(*recorded_votes())


OPTIONS = [
    ("bradley-terry", {}),
    ("bradley-terry", {"labels": "hard"}),
    ("bradley-terry", {"interval": "bootstrap", "resamples": 20}),
    ("win-rate", {}),
    ("win-rate", {"anchor": "Model", "labels": "hard"}),
    ("win-rate", {"interval": "bootstrap", "resamples": 20}),
    ("win-rate", {"anchor": "Model", "interval": "bootstrap", "resamples": 20}),
]


@pytest.mark.slow
@pytest.mark.parametrize("by", [None, "category"])
@pytest.mark.parametrize(("ranker", "options"), OPTIONS)
def test_rankings_from_cells_equal_those_from_rows(ranker, options, by):
    """A bootstrap draws clusters by their number, so it also says that clusters are numbered
    alike."""
    columns = [name for name in COLUMNS if name != "judge"]
    stored = Battles(verdicts_of(frame_of(with_columns(drawn_rows(5, 400), columns), columns)))
    cells = rank(stored, ranker, by=by, **options)
    rows = rank(Battles(BattleFrame(stored.table)), ranker, by=by, **options)
    ours, theirs = cells.to_frame(), rows.to_frame()
    numbers = ours.select_dtypes("number").columns
    assert ours[numbers].astype(float).to_numpy() == pytest.approx(
        theirs[numbers].astype(float).to_numpy(), abs=1e-9, rel=1e-9, nan_ok=True
    )
    pd.testing.assert_frame_equal(ours.drop(columns=numbers), theirs.drop(columns=numbers))
    for one, other in zip(cells.standings, rows.standings, strict=True):
        assert (one.counts, notice_texts(one.warnings), one.slice) == (
            other.counts,
            notice_texts(other.warnings),
            other.slice,
        )


def test_a_table_of_which_nothing_can_be_read_is_rejected_from_cells_as_from_rows():
    rows = with_columns(
        [row | {"credit": None, "margin": None} for row in drawn_rows(0, 20)], COLUMNS
    )
    columns = [name for name in COLUMNS if name not in ("judge", "margin")]
    stored = Battles(verdicts_of(frame_of(rows, columns)))
    for battles in (stored, Battles(BattleFrame(stored.table))):
        with pytest.raises(NotIdentifiedError, match="readable verdict"):
            rank(battles, "bradley-terry")
