"""Group many rows in memory: each row becomes one whole number, and the numbers are sorted.

A number of eight bytes holds the keys of a row in its upper bits. Its lower bits, the value code,
hold codes of the columns of which aggregates are made. These have few different values in most
tables, so that an aggregate is computed once for each value code, and looked up by it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from podium.data.counting.grouping import VALUE, Grouping, count_type, reduce_groups
from podium.errors import DataError

NUMBER = "podium_number"
"""Column with the numbers of the rows."""
VALUE_CODE = "podium_value_code"
"""Column with the value codes of a relation that has each value code once."""
BITS = 63
"""Bits of a number of eight bytes without its sign."""
SORTED_KEYS = 3
"""Number of first keys by which groups are sorted; the others may be in any order."""
MOST_VALUE_BITS = 16
"""Largest number of bits of a value code."""
MOST_FLOAT_BITS = 12
"""Largest number of bits of the code of a float."""
ROWS_OF_SLICE = 2**17
"""Number of sorted rows that are added up at once, so few that a processor's cache holds them."""
FLOAT = "DOUBLE"
"""DuckDB's type of floats."""
WHOLE_TYPES = ("INTEGER", "BIGINT")
"""DuckDB's types of whole numbers that fit into fields of a number."""


class BitField(NamedTuple):
    """The bits of a number that hold a column.

    Attributes:
        name: name of the column.
        type: DuckDB's type of the column.
        least: the value that has the code 1, in a column of whole numbers or booleans. An empty
            cell has the code 0. The codes of floats are in any order.
        bits: number of bits.
        shift: number of bits below them.
    """

    name: str
    type: str
    least: int
    bits: int
    shift: int

    def codes(self, numbers: np.ndarray) -> np.ndarray:
        """Return the codes in some numbers, of the same shape."""
        return (numbers >> self.shift) & ((1 << self.bits) - 1)


@dataclass(frozen=True, slots=True)
class Packing:
    """How rows become numbers.

    Attributes:
        grouping: how the rows are grouped.
        keys: the fields of its keys, the most important first, which has the upper bits.
        others: the fields of the other columns, which make up the value code.
        value_bits: number of bits of a value code.
    """

    grouping: Grouping
    keys: tuple[BitField, ...]
    others: tuple[BitField, ...]
    value_bits: int

    @property
    def floats(self) -> list[BitField]:
        """The fields of columns of floats."""
        return [field for field in (*self.keys, *self.others) if field.type == FLOAT]

    def numbers_query(self, rows: str) -> str:
        """Return a query (SQL) of the numbers of a relation, and of its columns of floats.

        The bits of the floats are 0 in the numbers. An empty float is NaN.
        """
        terms = []
        columns = []
        for field in (*self.keys, *self.others):
            if field.type == FLOAT:
                columns.append(f"coalesce({field.name}, 'nan'::double) as {field.name}")
            else:
                code = f"cast({field.name} as bigint) - {field.least - 1}"
                terms.append(f"coalesce({code}, 0) * {1 << field.shift}")
        selected = ", ".join([f"{' + '.join(terms)} as {NUMBER}", *columns])
        return f"select {selected} from {rows}"

    def value_codes(self, values: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return all value codes, and what they hold by column, shape (codes,) each.

        That is the code of a whole number or boolean, and the value of a float.

        Args:
            values: the values of each column of floats by code, NaN for an empty one.
        """
        value_codes = np.arange(1 << self.value_bits, dtype=np.int32)
        columns = {VALUE_CODE: value_codes}
        for field in self.others:
            columns[field.name] = field.codes(value_codes)
            if field.type == FLOAT:
                float_of_code = np.full(1 << field.bits, np.nan)
                float_of_code[: len(values[field.name])] = values[field.name]
                columns[field.name] = float_of_code[columns[field.name]]
        return columns

    def aggregates_query(self, value_codes: str) -> str:
        """Return a query (SQL) of the values that the aggregates have of a row, by value code.

        Args:
            value_codes: the relation with the arrays of `value_codes`.
        """
        columns = [VALUE_CODE, *(f"0 as {field.name}" for field in self.keys)]
        for field in self.others:
            value = f"nullif({field.name}, 'nan'::double)"
            if field.type != FLOAT:
                value = f"cast(nullif({field.name}, 0) + {field.least - 1} as {field.type})"
            columns.append(f"{value} as {field.name}")
        rows = f"(select {', '.join(columns)} from {value_codes}) as rows_of_codes"
        return f"{self.grouping.values_query(rows, (VALUE_CODE,))} order by {VALUE_CODE}"


def fits_by_types(grouping: Grouping, types: Mapping[str, str]) -> bool:
    """Return whether all columns of a relation have types that fit into numbers.

    These are whole numbers, booleans and floats; but a float is none of the first `SORTED_KEYS`
    keys.

    Args:
        grouping: how the rows are grouped.
        types: DuckDB's types of the columns, by name.
    """
    sorted_keys = grouping.keys[:SORTED_KEYS]
    return all(
        type_ in (*WHOLE_TYPES, "BOOLEAN") or (type_ == FLOAT and name not in sorted_keys)
        for name, type_ in types.items()
    )


def plan_packing(
    grouping: Grouping, types: Mapping[str, str], ranges: Mapping[str, tuple[int, int]]
) -> Packing | None:
    """Return how the rows of a relation become numbers; None if they do not fit into them.

    They do not fit, either, if a column has a type that does not (`fits_by_types`), or if its range
    is not known.

    Args:
        grouping: how the rows are grouped.
        types: DuckDB's types of the columns of the relation, by name: the keys, and columns of
            which aggregates are made.
        ranges: the least and the last value of each column of whole numbers.
    """
    if not fits_by_types(grouping, types):
        return None
    others = [name for name in types if name not in grouping.keys]
    floats = [name for name, type_ in types.items() if type_ == FLOAT]
    truths = {name: (0, 1) for name, type_ in types.items() if type_ == "BOOLEAN"}
    range_of = {**ranges, **truths}
    bits = {}
    for name in types.keys() - {*floats}:
        if name not in range_of:
            return None
        least, last = range_of[name]
        # The codes are 0 to last - least + 1.
        bits[name] = (last - least + 1).bit_length()
        # Codes and values, and the differences between them, are numbers of eight bytes.
        if abs(least) + (1 << bits[name]) > 1 << BITS:
            return None
    value_bits = sum(bits[name] for name in others if name in bits)
    free_bits = BITS - sum(bits.values())
    bits_of_float = min(MOST_FLOAT_BITS, free_bits // max(len(floats), 1))
    floats_of_values = len({*floats} & {*others})
    if floats_of_values:
        bits_of_float = min(bits_of_float, (MOST_VALUE_BITS - value_bits) // floats_of_values)
    if free_bits < 0 or value_bits > MOST_VALUE_BITS or bits_of_float < 1:
        return None
    fields = {}
    shift = 0
    for name in (*others, *reversed(grouping.keys)):
        size = bits.get(name, bits_of_float)
        least, _ = range_of.get(name, (0, 0))
        fields[name] = BitField(name, types[name], least, size, shift)
        shift += size
    return Packing(
        grouping,
        keys=tuple(fields[name] for name in grouping.keys),
        others=tuple(fields[name] for name in others),
        value_bits=value_bits + bits_of_float * floats_of_values,
    )


def group_as_numbers(
    packing: Packing,
    rows: int,
    batches: Iterable[Mapping[str, np.ndarray]],
    aggregate_values: Callable[[dict[str, np.ndarray]], dict[str, np.ndarray]],
) -> dict[str, np.ndarray] | None:
    """Group rows by sorting their numbers.

    Args:
        packing: how the rows become numbers.
        rows: number of rows, at least one.
        batches: the columns of `Packing.numbers_query`, some rows at a time.
        aggregate_values: returns the columns of `Packing.aggregates_query` for a relation with the
            columns that it is given, shape (codes,) each.

    Returns:
        The groups, as `group_arrays` returns them, sorted by their first `SORTED_KEYS` keys. None
        if a column of floats has more different values than codes.

    Raises:
        DataError: the batches have more or fewer rows, because a file has changed.
    """
    packed = _pack_rows(packing, rows, batches)
    if packed is None:
        return None
    numbers, values = packed
    aggregates = aggregate_values(packing.value_codes(values))
    starts = _starts_of_slices(numbers, packing.value_bits)
    total = sum(
        len(_group_starts(numbers[start:end] >> packing.value_bits))
        for start, end in pairwise([*starts, len(numbers)])
    )
    groups: dict[str, np.ndarray] = {}
    end = total
    # From the last slice to the first one, so that the memory of each is free when it is grouped.
    for start in reversed(starts):
        groups_of_slice = _group_slice(packing, numbers[start:], values, aggregates)
        numbers.resize(start, refcheck=False)
        size = len(groups_of_slice[packing.keys[0].name])
        for name, column in groups_of_slice.items():
            if name not in groups:
                groups[name] = np.zeros(total, dtype=column.dtype)
            type_of_both = np.promote_types(groups[name].dtype, column.dtype)
            groups[name] = groups[name].astype(type_of_both, copy=False)
            groups[name][end - size : end] = column
        end -= size
    return groups


def _pack_rows(
    packing: Packing, rows: int, batches: Iterable[Mapping[str, np.ndarray]]
) -> tuple[np.ndarray, dict[str, np.ndarray]] | None:
    """Return the numbers of rows, sorted, and the values of each column of floats by code.

    The shapes are (rows,) and (codes,). The result is None if a column of floats has more different
    values than codes. The arguments, and the error, are those of `group_as_numbers`.
    """
    numbers = np.empty(rows, dtype=np.int64)
    values = {field.name: _FloatCodes(1 << field.bits) for field in packing.floats}
    end = 0
    for batch in batches:
        start, end = end, end + len(batch[NUMBER])
        if end > rows:
            break
        numbers_of_batch = numbers[start:end]
        numbers_of_batch[:] = batch[NUMBER]
        for field in packing.floats:
            codes = values[field.name].code(batch[field.name])
            if codes is None:
                return None
            numbers_of_batch |= codes << field.shift
    if end != rows:
        # Not all numbers were set, or not all rows were read.
        problem = "the number of rows changed while they were read"
        raise DataError(problem, remedy="rank the files again when they are whole")
    numbers.sort()
    return numbers, {name: each.values for name, each in values.items()}


class _FloatCodes:
    """Codes of different numbers, from 0.

    Numbers that a column adds get the next codes, in the order of their bits.

    Args:
        most: largest number of codes.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        # The numbers, as whole numbers with the same bits: NaN is then equal to itself. All NaN get
        # the same bits, and so do 0.0 and -0.0.
        self._known = np.empty(0, dtype=np.int64)
        self._sorted = self._known
        self._code_of_sorted = np.empty(0, dtype=np.int64)

    @property
    def values(self) -> np.ndarray:
        """The numbers by code, shape (codes,)."""
        return self._known.view(np.float64)

    def code(self, column: np.ndarray) -> np.ndarray | None:
        """Return the codes of numbers, shape (n,); None if there would be too many.

        Args:
            column: the numbers, shape (n,).
        """
        # The sum of -0.0 and 0.0 is 0.0.
        numbers = column + 0.0
        numbers[np.isnan(numbers)] = np.nan
        bits = numbers.view(np.int64)
        position = self._positions(bits)
        is_new = np.ones(len(bits), dtype=bool)
        if len(self._sorted):
            is_new = self._sorted[position] != bits
        if is_new.any():
            self._known = np.append(self._known, np.unique(bits[is_new]))
            if len(self._known) > self._most:
                return None
            self._code_of_sorted = np.argsort(self._known)
            self._sorted = self._known[self._code_of_sorted]
            position = self._positions(bits)
        return self._code_of_sorted[position]

    def _positions(self, bits: np.ndarray) -> np.ndarray:
        """Return the position of each number among the sorted known ones; any if it is new; shape
        (n,)."""
        return np.searchsorted(self._sorted[1:], bits, side="right")


def _starts_of_slices(numbers: np.ndarray, value_bits: int) -> list[int]:
    """Return the positions that divide sorted numbers into slices of about `ROWS_OF_SLICE`.

    The first one is 0. No group is in two slices.
    """
    starts = []
    end = 0
    while end < len(numbers):
        starts.append(end)
        last = min(end + ROWS_OF_SLICE, len(numbers)) - 1
        # The group that has the last row ends where the number of another one may stand.
        next_group = ((int(numbers[last]) >> value_bits) + 1) << value_bits
        end = int(np.searchsorted(numbers, next_group))
    return starts


def _group_starts(keys: np.ndarray) -> np.ndarray:
    """Return the positions at which a new key begins, shape (groups,).

    Args:
        keys: the keys, sorted, shape (rows,); at least one.
    """
    return np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))


def _group_slice(
    packing: Packing,
    numbers: np.ndarray,
    values: Mapping[str, np.ndarray],
    aggregates: Mapping[str, np.ndarray],
) -> dict[str, np.ndarray]:
    """Return the groups of some sorted numbers.

    Args:
        packing: how the rows became numbers.
        numbers: the numbers, shape (rows,); at least one.
        values: the values of each column of floats by code, shape (codes,) each.
        aggregates: the columns of `Packing.aggregates_query`, shape (codes,) each.
    """
    starts = _group_starts(numbers >> packing.value_bits)
    value_code = numbers & ((1 << packing.value_bits) - 1)
    number_of_group = numbers[starts]
    sizes = np.diff(starts, append=len(numbers))
    groups = {}
    for field in packing.keys:
        codes = field.codes(number_of_group)
        is_float = field.type == FLOAT
        groups[field.name] = values[field.name][codes] if is_float else _decode(field, codes)
    is_counted = {}
    for name, aggregate in packing.grouping.aggregates.items():
        if aggregate == ("count", "*"):
            groups[name] = sizes.astype(count_type(sizes))
            continue
        of_code = aggregates[f"{VALUE}{name}"]
        if aggregate.kind == "count":
            is_counted[name] = of_code
        elif aggregate.kind == "sum":
            has_value = ~np.isnan(of_code)
            sums = np.add.reduceat(np.where(has_value, of_code, 0.0)[value_code], starts)
            groups[name] = _half_if_exact(sums)
            if not has_value.all():
                is_counted[f"{VALUE}{name}"] = has_value
        else:
            groups[name] = reduce_groups(aggregate.kind, of_code[value_code], starts)
    for name, counts in _count_rows(is_counted, value_code, starts, sizes).items():
        if name in aggregates:
            # A sum of no values is empty.
            groups[name.removeprefix(VALUE)][counts == 0] = np.nan
        else:
            groups[name] = counts
    return groups


def _half_if_exact(sums: np.ndarray) -> np.ndarray:
    """Return numbers of four bytes if they are equal to these of eight, else these; shape (n,)."""
    with np.errstate(over="ignore"):
        half = sums.astype(np.float32)
    return half if (half == sums).all() else sums


def _decode(field: BitField, codes: np.ndarray) -> np.ndarray:
    """Return the values of codes of whole numbers or booleans; NaN, thus floats, if any is empty.

    Booleans without empty cells are booleans, and whole numbers have the smallest type, from two
    bytes on. The codes, shape (n,), are overwritten.
    """
    if not codes.all():
        return np.where(codes, codes + (field.least - 1.0), np.nan)
    codes += field.least - 1
    if field.type == "BOOLEAN":
        return codes.astype(bool)
    largest = abs(field.least) + (1 << field.bits)
    return codes.astype(np.promote_types(np.int16, np.min_scalar_type(-largest)))


def _count_rows(
    is_counted: Mapping[str, np.ndarray],
    value_code: np.ndarray,
    starts: np.ndarray,
    sizes: np.ndarray,
) -> dict[str, np.ndarray]:
    """Return how many rows of each group are counted, by name; shape (groups,) each.

    Several counts are added up at once, in different bits of one number.

    Args:
        is_counted: whether rows with a value code are counted, by name, shape (codes,) each.
        value_code: the value code of each row, shape (rows,).
        starts: position of the first row of each group, shape (groups,).
        sizes: number of rows of each group, shape (groups,).
    """
    bits = int(sizes.max()).bit_length()
    names = list(is_counted)
    number_at_once = BITS // bits
    counts = {}
    for start in range(0, len(names), number_at_once):
        names_at_once = names[start : start + number_at_once]
        total_of_code = np.zeros(len(is_counted[names_at_once[0]]), dtype=np.int64)
        for k, name in enumerate(names_at_once):
            total_of_code += is_counted[name].astype(np.int64) << (k * bits)
        totals = np.add.reduceat(total_of_code[value_code], starts)
        for k, name in enumerate(names_at_once):
            count = (totals >> (k * bits)) & ((1 << bits) - 1)
            counts[name] = count.astype(count_type(sizes))
    return counts
