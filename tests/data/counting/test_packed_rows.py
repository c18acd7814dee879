"""Groups that are made of numbers are those of the database."""

from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from podium.data.counting import duck as duck_module
from podium.data.counting import packed_rows
from podium.data.counting.duck import ROWS_IN_NUMBERS, Duck, copy_command, literal_path
from podium.data.counting.grouping import Aggregate, Grouping, RowsToGroup
from podium.data.counting.packed_rows import plan_packing
from podium.errors import DataError

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
        st.none() | st.sampled_from([0.0, -0.0, 1.0, 2.5, -1e300]),
        st.none() | st.integers(1, 6),
        st.none() | st.booleans(),
        st.none() | st.integers(0, 2),
        st.none() | st.sampled_from([0.0, -0.0, 0.1, 0.5, 0.7, 1.0]),
    ),
    min_size=1,
    max_size=60,
)


def cells_of(duck: Duck, query: str) -> list[tuple[float | None, ...]]:
    """Return the rows of a query, numbers as rounded floats, and -0.0 as 0.0."""
    rows = duck.rows(query)
    return [
        tuple(None if cell is None else round(float(cell), 9) + 0.0 for cell in row) for row in rows
    ]


def literal(cell: float | None) -> str:
    """Return a cell as SQL."""
    if isinstance(cell, float):
        # Without its type, -0.0 would be a decimal number, which has no sign.
        return f"{cell!r}::double"
    return "null" if cell is None else repr(cell)


def is_grouped_as_numbers(duck: Duck, rows: int) -> bool:
    """Group the rows of `cells` into `groups`, and return whether these are arrays in memory."""
    duck.store_groups("groups", RowsToGroup("cells", rows, GROUPING, lambda: RANGES))
    return bool(duck.rows("select 1 from duckdb_views() where view_name = 'groups'"))


@settings(max_examples=60, deadline=None)
@given(ROWS, st.integers(1, 70))
@example([(0, 0, True, zero, 1, None, None, 1.0) for zero in (0.0, -0.0)], 1)
def test_groups_made_of_numbers_are_those_of_the_database(
    rows: list[tuple[float | None, ...]], rows_of_slice: int
) -> None:
    duck = Duck()
    columns = ", ".join(f"cast({name} as {type_}) as {name}" for name, type_ in TYPES.items())
    lines = ", ".join(f"({', '.join(map(literal, row))})" for row in rows)
    duck.store("cells", f"select {columns} from (values {lines}) as drawn({', '.join(TYPES)})")
    with patch.object(packed_rows, "ROWS_OF_SLICE", rows_of_slice):
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
        ({}, {"a": (-(2**63), -(2**63))}),
        ({}, {"a": (2**63 - 2, 2**63 - 1)}),
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


def constant_cells(**cells: str) -> str:
    """Return the columns (SQL) of rows whose cells are all the same, except for the given ones."""
    same = dict.fromkeys(TYPES, "1") | cells
    return ", ".join(f"cast({same[name]} as {type_}) as {name}" for name, type_ in TYPES.items())


def test_ranges_are_not_computed_if_the_types_are_left_to_the_database() -> None:
    duck = Duck()
    cells = constant_cells().replace("as BIGINT) as a", "as HUGEINT) as a")
    duck.store("cells", f"select {cells} from range(3)")
    duck.store_groups(
        "groups", RowsToGroup("cells", 3, GROUPING, lambda: pytest.fail("they were computed"))
    )
    assert duck.rows("select n from groups") == [(3,)]


def test_floats_that_are_no_number_are_one_group() -> None:
    duck = Duck()
    nan = "case range when 0 then 'nan'::double when 1 then -('nan'::double) end"
    duck.store("cells", f"select {constant_cells(d=nan)} from range(3)")
    assert is_grouped_as_numbers(duck, 3)
    assert duck.rows("select d, n from groups") == [(None, 3)]


@pytest.mark.parametrize("rows", [1, 99, 101, 1000])
def test_rows_that_become_more_or_fewer_are_refused(rows: int) -> None:
    duck = Duck()
    duck.store("cells", f"select {constant_cells()} from range(100)")
    with pytest.raises(DataError, match="number of rows changed while they were read"):
        is_grouped_as_numbers(duck, rows)


@pytest.mark.parametrize(
    "new_rows",
    ["", "range(100)", "range(2000)", "(select range + 1e12 as range from range(1000))"],
)
@pytest.mark.parametrize("memory", [None, "700MB"])
def test_a_file_that_changes_before_its_rows_are_grouped_is_named(
    new_rows: str, memory: str | None, tmp_path: Path
) -> None:
    file = tmp_path / "votes.parquet"

    def write(rows: str) -> None:
        """Write the file."""
        query = f"select {constant_cells(a='range')} from {rows}"
        Duck().connection.execute(copy_command(query, file))

    def change_file() -> dict[str, tuple[int, int]]:
        """Change the file when the ranges of its first rows are known, and return the ranges."""
        if new_rows:
            write(new_rows)
        else:
            file.write_bytes(file.read_bytes()[:-300])
        return RANGES | {"a": (0, 999)}

    write("range(1000)")
    duck = Duck(memory)
    duck.watch(file)
    duck.view("cells", f"select * from {literal_path(file)}")
    if memory is not None:
        # The rows do not become numbers, so that the ranges are not needed.
        change_file()
    with (
        patch.object(packed_rows, "_group_slice", side_effect=AssertionError("it was grouped")),
        pytest.raises(DataError, match=r"votes\.parquet: the file changed while it was read"),
    ):
        duck.store_groups("groups", RowsToGroup("cells", 1000, GROUPING, change_file))


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        ("damaged page", "cannot read or write .*damaged page.*TMPDIR.*repair the file"),
        ("Out of Memory Error: full", "do not fit into the memory .*--memory.*TMPDIR"),
    ],
)
def test_errors_after_the_first_batch_have_a_remedy(
    problem: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duck_module, "ROWS_OF_BATCH", 2048)
    monkeypatch.setattr(duck_module, "BATCH", 2048)
    duck = Duck()
    duck.store("numbers", "select range from range(500_000)")
    last = f"case when range = 490_000 then error('{problem}')::double else 1 end"
    duck.view("cells", f"select {constant_cells(value=last)} from numbers")
    batches = duck.batches("select value from cells", "value", 500_000)
    assert len(next(batches)["value"]) == 2048
    with pytest.raises(DataError, match=message):
        list(batches)
    with pytest.raises(DataError, match=message):
        is_grouped_as_numbers(duck, 500_000)


def test_rows_are_not_numbers_in_memory_if_memory_is_limited() -> None:
    assert Duck().fits_numbers(ROWS_IN_NUMBERS)
    assert not Duck().fits_numbers(ROWS_IN_NUMBERS + 1)
    assert not Duck().fits_numbers(0)
    assert not Duck("700MB").fits_numbers(1)
