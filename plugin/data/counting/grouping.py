"""Group rows by whole numbers, in SQL or in arrays.

A database groups by a hash table, which is slow if most groups have a single row, as most pairs on
an item have. To sort one number that combines the keys takes a fraction of the time.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

LARGEST_KEY = 2**63 - 1
"""Largest combined key: the largest whole number of eight bytes."""
LARGEST_WHOLE = 2**53
"""Below this, floats hold whole numbers without rounding."""
VALUE = "value_of_"
"""Prefix of a column with the values of an aggregate."""


class Aggregate(NamedTuple):
    """An aggregate of a group of rows.

    Attributes:
        kind: `count` of the rows with a value, or `sum`, `min` or `max` of the values; without
            values, the last three are empty.
        value: SQL of the value of a row.
    """

    kind: str
    value: str

    @property
    def sql(self) -> str:
        """SQL of the aggregate. Counts have four bytes."""
        if self.kind == "count":
            return f"cast(count({self.value}) as int)"
        return f"{self.kind}({self.value})"


@dataclass(frozen=True, slots=True)
class Grouping:
    """How rows are grouped.

    Attributes:
        keys: the columns by which they are grouped; empty cells are one group. Groups are sorted by
            them, in this order.
        aggregates: the aggregates by name.
    """

    keys: tuple[str, ...]
    aggregates: Mapping[str, Aggregate]

    def query(self, rows: str) -> str:
        """Return a query (SQL) of the groups of a relation: their keys and their aggregates.

        The query does not sort them.
        """
        keys = ", ".join(self.keys)
        columns = [f"{each.sql} as {name}" for name, each in self.aggregates.items()]
        return f"select {keys}, {', '.join(columns)} from {rows} group by {keys}"

    def values_query(self, rows: str, further: Sequence[str] = ()) -> str:
        """Return a query (SQL) of what `group_arrays` needs of a relation.

        Its columns are the keys, and a column for each aggregate, named `VALUE` and the name: for a
        count, whether the row has a value; for others the value, NaN if there is none. A count of
        all rows (`*`) has no column.

        Args:
            rows: the relation.
            further: further columns.
        """
        columns = [*self.keys, *further]
        for name, aggregate in self.aggregates.items():
            if aggregate.kind != "count":
                value = f"coalesce(cast({aggregate.value} as double), 'nan'::double)"
            elif aggregate.value == "*":
                continue
            else:
                value = f"({aggregate.value}) is not null"
            columns.append(f"{value} as {VALUE}{name}")
        return f"select {', '.join(columns)} from {rows}"

    def arrays_query(self, groups: Mapping[str, np.ndarray], relation: str) -> str:
        """Return a query (SQL) of the groups from a relation with the arrays of `group_arrays`.

        It has the columns of `query`; empty aggregates, which are NaN in arrays, are null.
        Numbers of one or two bytes become those of four, so that products of them do not overflow.

        Args:
            groups: the arrays by name.
            relation: the relation.
        """
        columns = []
        for name, array in groups.items():
            value = name
            if array.dtype.kind == "f":
                value = f"nullif(cast({name} as double), 'nan'::double)"
            elif array.dtype in (np.int8, np.int16):
                value = f"cast({name} as int)"
            columns.append(f"{value} as {name}")
        return f"select {', '.join(columns)} from {relation}"


@dataclass(frozen=True, slots=True)
class RowsToGroup:
    """Rows that a database is to group.

    Attributes:
        relation: the relation with the rows (SQL, to stand after FROM).
        number: number of rows.
        grouping: how they are grouped.
        ranges: returns the least and the last value of each column of whole numbers, by name. It
            is a function because the values take queries, and are not always needed.
    """

    relation: str
    number: int
    grouping: Grouping
    ranges: Callable[[], Mapping[str, tuple[int, int]]]


def group_arrays(grouping: Grouping, rows: dict[str, np.ndarray]) -> dict[str, np.ndarray] | None:
    """Group rows by sorting a number that combines their keys.

    Args:
        grouping: how they are grouped.
        rows: the columns of `Grouping.values_query`, shape (rows,) each; at least one row. Values
            of aggregates are removed once they are used, so that memory is free again.

    Returns:
        The groups, sorted by their keys: the keys and the aggregates by name, shape (groups,) each.
        A sum or an extreme of a group without values is NaN. None if the keys do not fit into one
        number.
    """
    key = _combine_keys([rows[name] for name in grouping.keys])
    if key is None:
        return None
    order, starts = _sort_groups(key)
    sizes = np.diff(starts, append=len(order))
    counts = count_type(sizes)
    first_row = order[starts]
    groups = {name: rows[name][first_row] for name in grouping.keys}
    # Most groups have one row, whose values are those of the group.
    is_larger = sizes > 1
    rows_of_larger = order[np.repeat(is_larger, sizes)]
    starts_of_larger = np.cumsum(sizes[is_larger]) - sizes[is_larger]
    for name, aggregate in grouping.aggregates.items():
        if aggregate == ("count", "*"):
            groups[name] = sizes.astype(counts)
            continue
        values = rows.pop(f"{VALUE}{name}")
        groups[name] = values[first_row]
        if aggregate.kind == "count":
            groups[name] = groups[name].astype(counts)
        if len(rows_of_larger):
            values_of_larger = values[rows_of_larger]
            groups[name][is_larger] = reduce_groups(
                aggregate.kind, values_of_larger, starts_of_larger
            )
    return groups


def count_type(sizes: np.ndarray) -> type[np.signedinteger]:
    """Return the smallest type of signed numbers that holds all counts of rows in groups.

    Args:
        sizes: number of rows of each group, shape (groups,).
    """
    largest = sizes.max()
    if largest < 2**7:
        return np.int8
    return np.int16 if largest < 2**15 else np.int32


def _combine_keys(keys: list[np.ndarray]) -> np.ndarray | None:
    """Return a number for each row by which rows are sorted as by several keys, shape (rows,).

    Args:
        keys: the keys, numbers of shape (rows,) each, the most important first; NaN if empty.

    Returns:
        The numbers, at least 0; None if they would exceed `LARGEST_KEY`, or if a key is neither a
        signed number nor a boolean.
    """
    combined = np.zeros(len(keys[0]), dtype=np.int64)
    combinations = 1
    for key in keys:
        if key.dtype.kind not in "bif":
            return None
        whole = _code_numbers(key) if key.dtype.kind == "f" else key
        least = int(whole.min())
        span = int(whole.max()) - least + 1
        combinations *= span
        if combinations > LARGEST_KEY:
            return None
        combined *= span
        combined += whole
        combined -= least
    return combined


def _code_numbers(values: np.ndarray) -> np.ndarray:
    """Return whole numbers in the order of some numbers, NaN first or last, shape (rows,)."""
    least = np.nanmin(values, initial=0.0) - 1
    largest = np.nanmax(values, initial=0.0)
    # Other numbers, infinite ones among them, cannot be cast.
    if max(-least, largest) < LARGEST_WHOLE:
        filled = np.where(np.isnan(values), least, values)
        whole = filled.astype(np.int64)
        if (whole == filled).all():
            return whole
    _, codes = np.unique(values, return_inverse=True)
    return codes


def _sort_groups(key: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the order of rows by a number, and the positions at which a new number begins.

    Rows with equal numbers keep their order. If number and position fit into eight bytes together,
    they are sorted as one number, which is several times faster than to sort positions by numbers.

    Args:
        key: numbers of at least 0, shape (rows,), which are overwritten.

    Returns:
        The order, shape (rows,), and the positions, shape (groups,).
    """
    bits = len(key).bit_length()
    if int(key.max()) > LARGEST_KEY >> bits:
        order = np.argsort(key, kind="stable")
        ordered_key = key[order]
    else:
        # Key and position become one number, which sorts faster than the two. `key` is overwritten.
        order = key
        order <<= bits
        # Positions of four bytes suffice for less than two billion rows.
        positions: np.ndarray = np.arange(len(key), dtype=np.int32 if bits < 32 else np.int64)
        order |= positions
        order.sort()
        ordered_key = order >> bits
        order &= (1 << bits) - 1
    begins = np.append(True, ordered_key[1:] != ordered_key[:-1])
    return order, np.flatnonzero(begins)


def reduce_groups(kind: str, values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return an aggregate of each group, shape (groups,).

    Args:
        kind: that of the `Aggregate`. Sums and extremes are NaN without values.
        values: the values in the order of the groups, NaN for none; for a count, whether there is a
            value; shape (rows,).
        starts: position of the first row of each group, shape (groups,).
    """
    if kind == "count":
        return np.add.reduceat(values, starts, dtype=np.int32)
    if kind == "min":
        return np.fmin.reduceat(values, starts)
    if kind == "max":
        return np.fmax.reduceat(values, starts)
    has_value = ~np.isnan(values)
    if has_value.all():
        return np.add.reduceat(values, starts)
    total = np.add.reduceat(np.where(has_value, values, 0.0), starts)
    return np.where(np.logical_or.reduceat(has_value, starts), total, np.nan)
