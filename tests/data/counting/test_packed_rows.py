"""Groups that are made of numbers are those of the database."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.data.counting import packed_rows
from podium.data.counting.duck import ROWS_IN_NUMBERS, Duck
from podium.data.counting.grouping import Aggregate, Grouping
from podium.data.counting.packed_rows import plan_packing

AGGREGATES = {
    "n": Aggregate("count", "*"),
    "known": Aggregate("count", "value"),
    "large": Aggregate("count", "case when value > 0.5 and flag then 1 end"),
    "total": Aggregate("sum", "value"),
    "least": Aggregate("min", "reason"),
    "last": Aggregate("max", "value"),
}
GROUPING = Grouping(("a", "b", "c", "d", "e"), AGGREGATES)
TYPES = {
    "a": "BIGINT",
    "b": "INTEGER",
    "c": "BOOLEAN",
    "d": "DOUBLE",
    "e": "INTEGER",
    "flag": "BOOLEAN",
    "reason": "INTEGER",
    "value": "DOUBLE",
}
RANGES = {"a": (-(2**20), 3), "b": (0, 40_000), "e": (1, 6), "reason": (0, 2)}
ROWS = st.lists(
    st.tuples(
        st.sampled_from([-(2**20), 0, 3]),
        st.sampled_from([0, 7, 40_000]),
        st.booleans(),
        st.none() | st.sampled_from([1.0, 2.5, -1e300]),
        st.none() | st.integers(1, 6),
        st.none() | st.booleans(),
        st.none() | st.integers(0, 2),
        st.none() | st.sampled_from([0.0, -0.0, 0.1, 0.5, 0.7, 1.0]),
    ),
    min_size=1,
    max_size=60,
)


def cells_of(duck: Duck, query: str) -> list[tuple[float | None, ...]]:
    """Return the rows of a query, numbers as rounded floats."""
    rows = duck.rows(query)
    return [tuple(None if cell is None else round(float(cell), 9) for cell in row) for row in rows]


def literal(cell: float | None) -> str:
    """Return a cell as SQL."""
    return "null" if cell is None else repr(cell)


def is_grouped_as_numbers(duck: Duck, rows: int) -> bool:
    """Group the rows of `cells` into `groups`, and return whether these are arrays in memory."""
    duck.store_groups("groups", rows, "cells", GROUPING, lambda: RANGES)
    return bool(duck.rows("select 1 from duckdb_views() where view_name = 'groups'"))


@settings(max_examples=60, deadline=None)
@given(ROWS, st.integers(1, 70))
def test_groups_made_of_numbers_are_those_of_the_database(
    rows: list[tuple[float | None, ...]], rows_of_slice: int
) -> None:
    duck = Duck()
    columns = ", ".join(f"cast({name} as {type_}) as {name}" for name, type_ in TYPES.items())
    lines = ", ".join(f"({', '.join(map(literal, row))})" for row in rows)
    duck.store("cells", f"select {columns} from (values {lines}) as drawn({', '.join(TYPES)})")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packed_rows, "ROWS_OF_SLICE", rows_of_slice)
        assert is_grouped_as_numbers(duck, len(rows))
    names = ", ".join((*GROUPING.keys, *AGGREGATES))
    made = cells_of(duck, f"select {names} from groups")
    assert sorted(made, key=str) == sorted(cells_of(duck, GROUPING.query("cells")), key=str)
    first_keys = [row[:3] for row in made]
    assert first_keys == sorted(first_keys)


@pytest.mark.parametrize(
    ("types", "ranges"),
    [
        ({"a": "VARCHAR"}, {}),
        ({"a": "DOUBLE"}, {}),
        ({"flag": "VARCHAR"}, {}),
        ({}, {"a": (0, 2**62)}),
        ({}, {"reason": (0, 2**16)}),
        ({}, {"a": (0, 2**50)}),
    ],
)
def test_rows_that_do_not_fit_into_a_number_are_left_to_the_database(
    types: dict[str, str], ranges: dict[str, tuple[int, int]]
) -> None:
    assert plan_packing(GROUPING, TYPES | types, RANGES | ranges) is None


def test_columns_of_unknown_range_are_left_to_the_database() -> None:
    ranges = {name: limits for name, limits in RANGES.items() if name != "e"}
    assert plan_packing(GROUPING, TYPES, ranges) is None


def test_rows_of_many_different_values_are_left_to_the_database() -> None:
    duck = Duck()
    cells = "range % 4 as a, 0 as b, true as c, 1e0 as d, 1 as e, true as flag, 0 as reason"
    duck.store("cells", f"select {cells}, range / 3 as value from range(300)")
    assert not is_grouped_as_numbers(duck, 300)
    made = cells_of(duck, "select * from groups")
    assert sorted(made) == sorted(cells_of(duck, GROUPING.query("cells")))


def test_rows_are_not_numbers_in_memory_if_memory_is_limited() -> None:
    assert Duck().fits_numbers(ROWS_IN_NUMBERS)
    assert not Duck().fits_numbers(ROWS_IN_NUMBERS + 1)
    assert not Duck().fits_numbers(0)
    assert not Duck("700MB").fits_numbers(1)
