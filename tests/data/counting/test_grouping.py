"""Groups that are made by sorting are those of the database."""

import math

import numpy as np
import pandas as pd
import pytest
from counted_tables import COLUMNS, drawn_rows, frame_of, with_columns
from hypothesis import given, settings
from hypothesis import strategies as st

import podium
from podium.data.counting.duck import Duck
from podium.data.counting.grouping import Aggregate, Grouping, group_arrays
from podium.data.counting.verdicts import verdicts_of
from podium.data.formats import records

AGGREGATES = {
    "n": Aggregate("count", "*"),
    "known": Aggregate("count", "value"),
    "large": Aggregate("count", "case when value > 0.5 then 1 end"),
    "total": Aggregate("sum", "value"),
    "least": Aggregate("min", "value"),
    "last": Aggregate("max", "value"),
}
GROUPING = Grouping(("a", "b", "c"), AGGREGATES)
ROWS = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.none() | st.sampled_from([-1.5, -1.0, 0.0, 2.0, 2.0**53, 1e20, math.inf]),
        st.booleans(),
        st.none() | st.floats(0, 1).map(lambda value: round(value, 3)),
    ),
    min_size=1,
    max_size=40,
)


def groups_of(duck: Duck, query: str) -> list[tuple[float | None, ...]]:
    """Return the rows of a query, numbers as rounded floats."""
    rows = duck.rows(query)
    return [tuple(None if cell is None else round(float(cell), 9) for cell in row) for row in rows]


@settings(max_examples=60, deadline=None)
@given(ROWS)
def test_groups_made_by_sorting_are_those_of_the_database(
    rows: list[tuple[int, float | None, bool, float | None]],
) -> None:
    duck = Duck()
    table = pd.DataFrame(rows, columns=["a", "b", "c", "value"]).astype({"a": "int64"})
    columns = {name: table[name].to_numpy() for name in ("a", "c")}
    for name in ("b", "value"):
        columns[name] = table[name].to_numpy(dtype=np.float64)
    cells = "a, nullif(b, 'nan'::double) as b, c, nullif(value, 'nan'::double) as value"
    duck.view_arrays("cells", columns, lambda relation: f"select {cells} from {relation}")
    groups = group_arrays(GROUPING, duck.arrays(GROUPING.values_query("cells")))
    assert groups is not None
    duck.view_arrays("groups", groups, lambda relation: GROUPING.arrays_query(groups, relation))
    names = ", ".join((*GROUPING.keys, *AGGREGATES))
    made = groups_of(duck, f"select {names} from groups")
    assert sorted(made, key=str) == sorted(groups_of(duck, GROUPING.query("cells")), key=str)
    assert [row[0] for row in made] == sorted(row[0] or 0 for row in made)


def test_keys_that_do_not_fit_into_a_number_are_left_to_the_database() -> None:
    columns = {name: np.array([0, 2**40]) for name in ("a", "b", "c")}
    assert group_arrays(GROUPING, columns) is None


def test_rows_of_far_numbers_count_alike() -> None:
    rng = np.random.default_rng(2)
    names = [f"m{k:03}" for k in range(300)]
    rows = [(*rng.choice(names, 2, replace=False), rng.integers(3) / 2) for _ in range(400)]
    table = pd.DataFrame(rows, columns=["model_a", "model_b", "credit"])
    near = verdicts_of(table)
    far = verdicts_of(table)
    far.engine.view(
        "far",
        f"select podium_row * {2**44} as podium_row, * exclude (podium_row) from {far.judgments}",
    )
    far.judgments = "far"
    assert far.tally == near.tally
    for column in ("model_a", "model_b"):
        assert far.codes_of(column).tolist() == near.codes_of(column).tolist()


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_texts_that_are_encoded_change_nothing(
    share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(4)
    rows = [
        (f"q{rng.integers(9)}", *rng.choice(["a", "b", "c", "ä"], 2, replace=False), 1.0)
        for _ in range(90)
    ]
    rows.append(("", "a", "b", 0.5))
    table = pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"])
    expected = podium.rank(table).to_dict()["rankings"]
    monkeypatch.setattr(records, "ROWS_OF_SAMPLE", 10)
    monkeypatch.setattr(records, "MOST_DIFFERENT", share)
    assert podium.rank(table).to_dict()["rankings"] == expected


@pytest.mark.parametrize("merge", [True, False])
def test_codes_of_battles_are_those_of_the_database(
    *, merge: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = frame_of(with_columns(drawn_rows(7), COLUMNS), COLUMNS)
    verdicts = verdicts_of(table, merge=merge)
    codes = {name: verdicts.codes_of(name).tolist() for name in ("model_a", "model_b", "item")}
    notes = verdicts.notes()
    assert verdicts.engine.is_small(len(table))
    monkeypatch.setattr("podium.data.counting.duck.ROWS_IN_ARRAYS", 0)
    monkeypatch.setattr("podium.data.counting.duck.ROWS_IN_NUMBERS", 0)
    by_database = verdicts_of(table, merge=merge)
    assert not by_database.engine.is_small(len(table))
    for name, own in codes.items():
        assert own == by_database.codes_of(name).tolist()
    assert notes == by_database.notes()
