"""Records: the rows of a file in a database, with SQL that converts their cells."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from duckdb import Error, OutOfMemoryException

from podium.data.counting.coded_texts import CodedFrame, texts_of_dictionary
from podium.data.counting.duck import Duck, copy_command, literal_path, out_of_memory_error
from podium.data.counting.relations import ROW, quote_name, sql_literal
from podium.data.counting.verdicts import arrow_column
from podium.errors import DataError
from podium.garbage_collection import garbage_collection_paused
from podium.printable import shorten
from podium.text import EMPTY

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


LONGEST_LINE = 64 * 2**20
"""Largest number of bytes of a line; a file with a longer line is rejected."""
MOST_BLANK = 4_000_000
"""Largest number of blank lines in sequence, or of their bytes; a file with more is rejected."""
TEXT = "VARCHAR"
"""DuckDB's type of texts."""
JSON = "JSON"
"""DuckDB's type of JSON text."""
REALS = ("DOUBLE", "FLOAT")
"""DuckDB's types of floats."""
WHOLE_NUMBERS = (
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "HUGEINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
)
"""DuckDB's types of whole numbers."""
NESTED_TYPES = ("STRUCT", "MAP", "UNION", "LIST")
"""Beginnings of DuckDB's types of nested values."""
LARGEST_EXACT_NUMBER = 2**53
"""Above this, not every whole number can be written as a float without rounding."""
JSON_NUMBERS = frozenset({"BIGINT", "UBIGINT", "DOUBLE"})
"""DuckDB's types of numbers in JSON."""
ROWS_OF_SAMPLE = 10_000
"""Number of first rows in which repeated texts are looked for; columns of fewer are not encoded."""
MOST_DIFFERENT = 0.75
"""Largest share of different texts in these rows of a column that is encoded."""
MOST_DIGITS = 300
"""Whole numbers with more digits are kept as text, because they can be too large for a float."""


def short_lines(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file with their ends. Lines before an error are yielded.

    Raises:
        DataError: a line is too long, or there are too many blank lines in sequence.
    """
    blank = 0
    for place in count(1):
        line = stream.readline(LONGEST_LINE + 1)
        if not line:
            return
        blank = blank + 1 if line.isspace() else 0
        if blank > MOST_BLANK:
            raise blank_lines_error().with_place("", f"line {place}")
        if len(line) > LONGEST_LINE:
            problem = f"longer than {LONGEST_LINE >> 20} MiB"
            remedy = "write one record per line, without the bulk that podium does not need"
            raise DataError(problem, row=f"line {place}", remedy=remedy)
        yield line


def blank_lines_error() -> DataError:
    """Return the error for a file with more than `MOST_BLANK` blank lines in sequence."""
    problem = f"more than {MOST_BLANK:,} blank lines"
    return DataError(problem, remedy="remove them; was the file damaged?")


def nan_as_empty(number: str) -> str:
    """Return SQL of a float that is NULL where the given SQL is NaN.

    DuckDB knows the least and the largest number of a column of a Parquet file, and takes from them
    that `isnan` and an equation with NaN are false. But files leave NaN out of these two numbers.
    """
    return f"case when isfinite({number}) or isinf({number}) then {number} end"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of records.

    Attributes:
        sql: the SQL expression of the cells.
        type: the type of the cells in DuckDB; `JSON` for JSON text.
        comma: whether numbers that are written as text may have a decimal comma.
        cells: the cells, if the records come from a data frame; else None.
    """

    sql: str
    type: str = TEXT
    comma: bool = False
    cells: "pd.Series | None" = field(default=None, repr=False, compare=False)

    @property
    def text(self) -> str:
        """SQL for the column as text.

        Whole numbers have no decimals, and objects and lists are JSON. Empty cells, empty texts and
        NaN are NULL.
        """
        if self.type == JSON:
            plain_text = f"{self.sql} ->> '$'"
            whole = f"regexp_replace({plain_text}, '^(-?[0-9]+)\\.0+$', '\\1')"
            cell = f"case json_type({self.sql}) when 'DOUBLE' then {whole} else {plain_text} end"
        elif self.type in REALS:
            whole = (
                f"isfinite({self.sql}) and {self.sql} = floor({self.sql}) "
                f"and abs({self.sql}) < 1e38"
            )
            digits = f"cast(case when {whole} then {self.sql} end as hugeint)"
            plain_text = f"cast({nan_as_empty(self.sql)} as varchar)"
            return f"coalesce(cast({digits} as varchar), {plain_text})"
        elif self.type.startswith(NESTED_TYPES) or self.type.endswith("]"):
            cell = f"cast(to_json({self.sql}) as varchar)"
        else:
            cell = self.sql if self.type == TEXT else f"cast({self.sql} as varchar)"
        return f"nullif({cell}, '')"

    @property
    def number(self) -> str:
        """SQL for the column as floats (DOUBLE).

        Booleans, also in JSON, are 1 and 0. Cells that are empty, NaN or not a number, such as the
        text `true`, are NULL. Texts of numbers are numbers, with a decimal comma only if `comma` is
        True.
        """
        if self.type in REALS:
            return nan_as_empty(f"cast({self.sql} as double)")
        if self.type == "BOOLEAN":
            return f"cast(cast({self.sql} as integer) as double)"
        if self.is_number:
            return f"cast({self.sql} as double)"
        digits = f"replace({self.text}, '_', '?')"
        if self.comma:
            digits = f"regexp_replace({digits}, '^(\\s*[-+]?[0-9]*),([0-9]+\\s*)$', '\\1.\\2')"
        number = f"nullif(try_cast({digits} as double), 'nan'::double)"
        if self.type != JSON:
            return number
        truths = "when 'true' then 1.0 when 'false' then 0.0"
        return f"case cast({self.sql} as varchar) {truths} else {number} end"

    @property
    def json(self) -> str | None:
        """SQL for the column as JSON. Text that is not JSON is NULL.

        The result is None for a type that has no objects, lists or text.
        """
        if self.type == JSON:
            return self.sql
        if self.type.startswith(("STRUCT", "MAP")) or self.type.endswith("]"):
            return f"to_json({self.sql})"
        if self.type == TEXT:
            return f"case when json_valid({self.sql}) then cast({self.sql} as json) end"
        return None

    @property
    def is_number(self) -> bool:
        """Whether the type allows numbers only; truth values count as numbers."""
        is_list = self.type.endswith("]")
        return not is_list and self.type.startswith((*WHOLE_NUMBERS, *REALS, "DECIMAL", "BOOLEAN"))

    @property
    def non_number_condition(self) -> str:
        """SQL condition that is true for a cell that is neither empty nor a number.

        Words of `EMPTY`, such as `none`, count as empty cells.
        """
        empty = ", ".join(map(sql_literal, sorted(EMPTY)))
        return f"{self.number} is null and lower(trim({self.text})) not in ({empty})"


@dataclass(frozen=True, slots=True)
class Records:
    """The rows of files.

    Attributes:
        engine: the database.
        source: name of the file, for messages.
        scan: a table, a view or a query in brackets. Its column `ROW` counts the rows from 1.
        columns: the columns by name.
        places: function that returns the numbers of the rows in the file, such as line numbers;
            None if the rows are simply counted.
        repair: function that is called if a query fails. It makes the view readable, or raises an
            error that names the bad row. If it is None, nothing can be repaired.
        number: number of rows; None if it is not known yet.
        is_text: whether the scan is a view that parses a text file whenever it is read.
    """

    engine: Duck
    source: str
    scan: str
    columns: Mapping[str, Column]
    places: "Callable[[], pd.Index] | None" = None
    repair: Callable[[Exception], None] | None = None
    number: int | None = None
    is_text: bool = False

    def parse_once(self) -> "Records":
        """Return the same records, so that a text file is parsed now and not at each query.

        The cells are copied to a Parquet file in the folder of the database, from which a query
        reads the columns that it needs. The records are returned unchanged if they do not come from
        a text file, or if the copy cannot be made. That is the case if the folder has no room, or
        if a row is damaged: the error of a later query then names this row.
        """
        view = self._copy(f"select * from {self.scan}") if self.is_text else None
        if view is None:
            return self
        parsed = replace(self, scan=view, is_text=False, repair=None)
        return parsed._with_plain_cells() if self._json_columns() else parsed

    def _copy(self, query: str) -> str | None:
        """Copy the rows of a query to a Parquet file, and return the name of a view of this file.

        The result is None if the copy cannot be made.
        """
        view = self.engine.fresh("rows")
        file = self.engine.folder / f"{view}.parquet"
        try:
            self.engine.connection.execute(copy_command(query, file))
        except (Error, UnicodeDecodeError):
            file.unlink(missing_ok=True)
            return None
        self.engine.view(view, f"select * from {literal_path(file)}")
        return view

    def _json_columns(self) -> dict[str, Column]:
        """Return the columns of JSON text, by name."""
        return {name: column for name, column in self.columns.items() if column.type == JSON}

    def _with_plain_cells(self) -> "Records":
        """Return the same records with JSON text converted to plain text or numbers.

        A column of JSON is converted if all its cells are texts, or all are numbers that a float
        holds exactly as they are written. Empty cells stay empty. Nothing is converted if the
        folder has no room for another copy.
        """
        json_columns = self._json_columns()
        plain = {name: _plain_type(self, column) for name, column in json_columns.items()}
        selected = [ROW]
        columns: dict[str, Column] = {}
        for k, (name, column) in enumerate(self.columns.items(), 1):
            plain_type = plain.get(name)
            sql = column.sql
            if plain_type == TEXT:
                sql = f"{column.sql} ->> '$'"
            elif plain_type is not None:
                sql = f"cast({column.sql} as double)"
            selected.append(f"{sql} as c{k}")
            columns[name] = replace(column, sql=f"c{k}", type=plain_type or column.type)
        view = self._copy(f"select {', '.join(selected)} from {self.scan}")
        return self if view is None else replace(self, scan=view, columns=columns)

    def rows(self, selection: str, rest: str = "") -> list[tuple[Any, ...]]:
        """Return the rows of a small query over the scan.

        Args:
            selection: SQL of the selected expressions.
            rest: SQL after the scan, such as a condition.

        Raises:
            DataError: the file is damaged, or the memory does not suffice.
            Error: DuckDB rejects the query, and the records have no `repair`.
        """
        connection = self.engine.connection
        return self._run(selection, rest, lambda query: connection.execute(query).fetchall())

    def frame(self) -> "pd.DataFrame":
        """Return all records as a data frame without rounding.

        The index has the numbers of the rows, and its name says what they count, such as `line`.
        JSON text is parsed.

        Raises:
            DataError: the file is damaged, does not fit into memory, or has JSON that is nested
                too deeply.
        """
        import pandas as pd

        selected = [f"{column.sql} as c{k}" for k, column in enumerate(self.columns.values())]
        selection = ", ".join([*selected, ROW])
        order = f"order by {ROW}"
        connection = self.engine.connection
        table = self._run(selection, order, lambda query: connection.sql(query).to_arrow_table())
        *arrays, row_numbers = table.columns
        columns = zip(self.columns.values(), arrays, strict=True)
        cells = [self._cells(column, cells).reset_index(drop=True) for column, cells in columns]
        frame = pd.concat(cells, axis=1) if cells else pd.DataFrame()
        frame.columns = pd.Index(list(self.columns), dtype=object)
        if self.places:
            return frame.set_axis(self.places())
        numbers = row_numbers.to_numpy()
        if len(numbers) and numbers[-1] != len(numbers):
            # Some rows of the file are left out; the others keep their numbers.
            return frame.set_axis(pd.Index(numbers, name="row"))
        return frame.set_axis(pd.RangeIndex(1, len(numbers) + 1, name="row"))

    def _run(self, selection: str, rest: str, fetch: Callable[[str], Any]) -> Any:
        """Run a query over the scan; if it fails, repair the scan and run it once more.

        Args:
            selection: SQL of the selected expressions.
            rest: SQL after the scan.
            fetch: runs a query and returns its result, which this function returns.

        Raises:
            DataError: the memory does not suffice, the repair failed, or the query fails again.
            Error: the query failed, and nothing can be repaired.
        """
        try:
            return fetch(f"select {selection} from {self.scan} {rest}")
        except OutOfMemoryException as error:
            raise out_of_memory_error(error, self.source) from None
        except (Error, UnicodeDecodeError) as error:
            if self.repair is None:
                raise
            self.repair(error)
        try:
            return replace(self, repair=None)._run(selection, rest, fetch)
        except (Error, UnicodeDecodeError) as error:
            problem = f"cannot be read ({shorten(str(error))})"
            raise DataError(problem, source=self.source, remedy="repair the file") from None

    def name_row(self, row: int) -> str:
        """Return the place of a row, counted from 1, in the file: `row 7` or `line 7`."""
        return row_name(self.places(), row - 1) if self.places else f"row {row}"

    def _cells(self, column: Column, cells: "pa.ChunkedArray") -> "pd.Series":
        """Convert the cells of a column to pandas. JSON is parsed.

        If the column comes from a data frame, its own cells are returned instead.

        Raises:
            DataError: JSON is nested too deeply.
        """
        if column.cells is not None:
            return column.cells
        if column.type != JSON:
            return cells.to_pandas(integer_object_nulls=True)
        encoded = cells.combine_chunks().dictionary_encode()
        distinct = encoded.dictionary.to_pylist()
        # Python parses whole numbers several times faster without a function of its own.
        has_long_cell = max(map(len, distinct), default=0) > MOST_DIGITS
        parse_int = whole_number if has_long_cell else None
        try:
            with garbage_collection_paused():
                parsed = [*json.loads(f"[{','.join(distinct)}]", parse_int=parse_int)]
        except RecursionError:
            raise self._deep_cell_error(distinct, encoded.indices) from None
        # The last value is the one of empty cells.
        values = [*parsed, None] if encoded.null_count else parsed
        codes = encoded.indices.fill_null(len(parsed)).to_numpy(zero_copy_only=False)
        return exact_column(values).take(codes)

    def _deep_cell_error(self, distinct: Sequence[str], codes: "pa.Array") -> DataError:
        """Return the error for the first cell of a column that is nested too deeply.

        Args:
            distinct: the different cells of the column, as JSON text.
            codes: position in `distinct` by row.
        """
        for row, code in enumerate(codes.to_pylist(), 1):
            try:
                if code is not None:
                    json.loads(distinct[code], parse_int=whole_number)
            except RecursionError:
                return nested_too_deeply_error().with_place(self.source, self.name_row(row))
        return nested_too_deeply_error().with_place(self.source)


def words_of_column(column: Column) -> str:
    """Return an SQL expression of the cells as the function `normal_words` writes them.

    Cells are in Unicode form NFC, with one blank for any white space between words, and none at the
    ends. Empty cells are NULL, but a cell of white space alone is an empty text. `normal_words`
    stands in `podium.comparability.asked_items`.
    """
    space = r"[\s\v\x{1c}-\x{1f}\x{85}\p{Z}]+"
    spaced = f"regexp_replace(nfc_normalize({column.text}), '{space}', ' ', 'g')"
    # Most cells have only ASCII and one blank between words; this test is faster than to replace.
    return (
        f"trim(case when regexp_matches({column.text}, '  |[^ -~]') then {spaced} "
        f"else {column.text} end)"
    )


def _plain_type(records: Records, column: Column) -> str | None:
    """Return the type to which a column of JSON can be converted; None if it stays JSON.

    The type is `TEXT` if all cells are texts or empty, and `DOUBLE` if all cells are numbers whose
    text stays the same in this type.
    """
    json_type = f"json_type({column.sql})"
    rows = records.rows(json_type, f"where {json_type} is not null group by {json_type}")
    types = {name for (name,) in rows}
    if types <= {"VARCHAR"}:
        return TEXT
    if not types.issubset(JSON_NUMBERS):
        return None
    # Each number is compared once, however often it stands in the column. Without `materialized`,
    # DuckDB compares before it looks for different numbers.
    different = f"select distinct {column.sql} as cell from {records.scan}"
    cells = f"(with cells as materialized ({different}) from cells)"
    cell = replace(column, sql="cell")
    as_double = Column("try_cast(cast(cell as varchar) as double)", "DOUBLE")
    differs = f"{as_double.text} is distinct from {cell.text}"
    has_other_text = replace(records, scan=cells).rows("1", f"where {differs} limit 1")
    return None if has_other_text else "DOUBLE"


def records_of(engine: Duck, frame: "pd.DataFrame", source: str) -> Records:
    """Register a data frame in the database as records. Its index has the numbers of the rows.

    Raises:
        DataError: two columns have the same name.
    """
    import pyarrow as pa

    names = [str(name) for name in frame.columns]
    duplicate = first_duplicate(names)
    if duplicate is not None:
        problem = f"two columns are called {duplicate!r}"
        remedy = "rename or remove one of them in the file"
        raise DataError(problem, source=source, remedy=remedy)
    cells = {}
    texts = {}
    for k in range(len(names)):
        column = arrow_column(frame.iloc[:, k])
        cells[f"c{k}"] = _encode_texts(column)
        if cells[f"c{k}"] is not column:
            texts[Column(f"c{k}").text] = texts_of_dictionary(cells[f"c{k}"])
    name = engine.fresh("frame")
    table = pa.table({ROW: pa.array(np.arange(1, len(frame) + 1)), **cells})
    engine.register(name, table)
    engine.keep_codes(name, CodedFrame(table, "*", texts))
    types = engine.columns(name)
    columns = {
        old: Column(f"c{k}", types[f"c{k}"], cells=frame.iloc[:, k]) for k, old in enumerate(names)
    }
    return Records(
        engine=engine, source=source, scan=name, columns=columns, places=lambda: frame.index
    )


def _encode_texts(column: "pa.Array | pa.ChunkedArray") -> "pa.Array | pa.ChunkedArray":
    """Return a column with each different text once and a code by row, if texts repeat.

    The database then handles each different text once in most operations. Columns of another type,
    those with fewer than `ROWS_OF_SAMPLE` rows, and those whose first rows hardly repeat a text,
    are returned unchanged: their codes would only take memory.
    """
    import pyarrow as pa

    is_text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    if not is_text or len(column) < ROWS_OF_SAMPLE:
        return column
    different = len(column.slice(0, ROWS_OF_SAMPLE).unique())
    if different > MOST_DIFFERENT * ROWS_OF_SAMPLE:
        return column
    encoded = column.dictionary_encode()
    return encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded


def records_of_view(engine: Duck, view: str, source: str) -> Records:
    """Return the records of a table or view of the engine that has a column `ROW`.

    Args:
        engine: the database.
        view: name of the table or view. All its columns except `ROW` are columns of the records.
        source: name of the file in messages.
    """
    types = engine.columns(view)
    columns = {name: Column(quote_name(name), types[name]) for name in types if name != ROW}
    return Records(engine, source, view, columns)


def column_called(records: Records, name: str) -> Column | None:
    """Return the column of a name, or the values of a key in a column of objects (`COLUMN.KEY`).

    A key may have several parts, as in `answers.0.model`. A part that is a whole number also stands
    for a place in a list, counted from 0. The result is None if there is no such column, and none
    before the first dot whose type can hold objects (text can). A cell that is no object, or has
    not this key, is empty.
    """
    if name in records.columns:
        return records.columns[name]
    holder, dot, key = name.partition(".")
    if not dot or holder not in records.columns:
        return None
    objects = records.columns[holder].json
    if objects is None:
        return None
    in_objects = ""
    in_lists = ""
    for part in key.replace('"', "").split("."):
        in_objects += f'."{part}"'
        in_lists += f"[{part}]" if part.isdecimal() else f'."{part}"'
    values = [
        f"nullif(json_extract({objects}, {sql_literal('$' + path)}), 'null')"
        for path in dict.fromkeys((in_objects, in_lists))
    ]
    if len(values) == 1:
        return Column(values[0], JSON)
    return Column(f"coalesce({', '.join(values)})", JSON)


def row_name(index: "pd.Index", position: int) -> str:
    """Return the place in a file of the row at a position: `row 7`, or `line 7` in JSONL.

    Args:
        index: the numbers of the rows. Its name says what they count, as `row` or `line`; if it
            has no name, the numbers are ignored, and rows are counted from 1.
        position: position of the row, from 0.
    """
    return f"{index.name} {index[position]}" if index.name else f"row {position + 1}"


def first_duplicate(names: Sequence[str]) -> str | None:
    """Return the first name that occurs twice; None if all names are different."""
    if len({*names}) == len(names):
        return None
    return next(name for name in names if names.count(name) > 1)


def exact_column(values: Sequence[Any]) -> "pd.Series":
    """Convert values to a column without rounding integers.

    The values stay Python objects if the absolute value of an integer is above
    `LARGEST_EXACT_NUMBER`, if a text cannot be encoded, or if there are no values. Otherwise,
    pandas chooses the type.
    """
    import pandas as pd

    if not len(values):
        return pd.Series(values, dtype=object)
    try:
        column = pd.Series(values)
    except UnicodeEncodeError:
        return pd.Series(values, dtype=object)
    if pd.api.types.is_numeric_dtype(column) and _has_inexact_number(column, values):
        return pd.Series(values, dtype=object)
    return column


def _has_inexact_number(column: "pd.Series", values: Sequence[Any]) -> bool:
    """Return whether a value is a whole number whose absolute value is above the largest exact one.

    Args:
        column: the values as pandas holds them; a float may be a rounded whole number.
        values: the values.
    """
    is_large = (column >= LARGEST_EXACT_NUMBER) | (column <= -LARGEST_EXACT_NUMBER)
    large = (values[position] for position in np.flatnonzero(is_large.to_numpy()).tolist())
    return any(isinstance(value, int) and abs(value) > LARGEST_EXACT_NUMBER for value in large)


def whole_number(digits: str) -> int | str:
    """Parse the digits of a whole number; return the text if there are more than `MOST_DIGITS`."""
    return int(digits) if len(digits) <= MOST_DIGITS else digits


def nested_too_deeply_error() -> DataError:
    """Return the error for JSON that is nested too deeply to parse."""
    return DataError("nested too deeply", remedy="write a flat object per record")


def columns_as(columns: Mapping[str, str]) -> str:
    """Return an SQL selection of expressions, by name: `a + b as "sum", c as "item"`.

    An empty name becomes `_`. If a name equals an earlier name or `ROW`, except for upper and lower
    case, `_` is appended to it.
    """
    columns_by_name: dict[str, str] = {}
    for name, sql in columns.items():
        free_name = name or "_"
        while free_name.casefold() in columns_by_name or free_name.casefold() == ROW:
            free_name += "_"
        columns_by_name[free_name.casefold()] = f"{sql} as {quote_name(free_name)}"
    return ", ".join(columns_by_name.values())
