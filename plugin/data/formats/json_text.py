"""Open JSON files with a record per line (JSONL), or with one document.

DuckDB reads JSONL. Python reads documents, and JSONL that DuckDB rejects, to name the bad line.
"""

import codecs
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duckdb import Error, OutOfMemoryException

from podium.data.battles import COLUMNS
from podium.data.counting.duck import OWN_SQL_ERRORS, Duck, literal_path, out_of_memory_error
from podium.data.counting.relations import ROW, sql_literal
from podium.data.formats.bad_rows import LONGEST_CONTENT, BadRow, raise_if_too_many
from podium.data.formats.git_lfs import reject_lfs_pointer
from podium.data.formats.records import (
    JSON,
    LONGEST_LINE,
    Column,
    Records,
    exact_column,
    first_duplicate,
    nested_too_deeply_error,
    records_of,
    short_lines,
    whole_number,
)
from podium.data.formats.win_matrix import shares_names
from podium.data.text_encodings import NotUtf8Error, not_utf_8_error
from podium.errors import DataError, NotATableError
from podium.printable import shorten

if TYPE_CHECKING:
    import pandas as pd


class CutLineError(DataError):
    """The last line is cut off, because the program that wrote or copied it was killed."""


KNOWN_COLUMNS = frozenset(
    {*COLUMNS, "model", "score", "winner", "preference", "model_1", "left", "generator_1", "games"}
)
"""Names of columns. A key with such a name shows that an object is a record, and not a column."""
LONGEST_RECORD = 2**20
"""A single line with more bytes than this, and no line end, is a document and not a record."""
LARGEST_DOCUMENT = 2**30
"""Largest number of bytes of a JSON document, which is read into memory."""


def open_lines(
    path: Path, plain_file: Path, engine: Duck, bad_rows: list[BadRow] | None = None
) -> Records:
    """Open a JSONL file. Its cells stay JSON text until their types are known.

    If DuckDB rejects the file, it is read by Python at once, so that errors name the bad line.

    Args:
        path: the file that the user named.
        plain_file: the file to read, an unpacked copy of it if it is compressed.
        engine: the database.
        bad_rows: takes the lines that are no records, which are then left out if they are few
            (`raise_if_too_many`); None if they are errors.

    Raises:
        DataError: a line is not an object or too long, a record has a key twice, or the memory does
            not suffice.
    """
    view = engine.fresh("file")
    try:
        names, number = keys_of_records(engine, _table_of_objects(plain_file))
    except OutOfMemoryException as error:
        raise out_of_memory_error(error, str(path)) from None
    except OWN_SQL_ERRORS:
        raise
    except Error:
        import pandas as pd

        with plain_file.open("rb") as stream:
            numbered = list(json_lines(stream, bad_rows))
        raise_if_too_many(bad_rows or [], len(numbered))
        places, records = zip(*numbered, strict=True)
        frame = _frame_of_records(records).set_axis(pd.Index(places, name="line"))
        return records_of(engine, frame, str(path))
    engine.view(view, select_cells(_table_of_objects(plain_file), names))

    def line_numbers() -> "pd.Index":
        """Return the number of the line of each record, from 1. Blank lines have no record."""
        import pandas as pd

        # With no more line ends than records, no line is blank.
        if _count_line_ends(plain_file) <= number:
            return pd.RangeIndex(1, number + 1, name="line")
        with plain_file.open("rb") as stream:
            lines = enumerate(short_lines(stream), start=1)
            return pd.Index([place for place, line in lines if line.strip()], name="line")

    return Records(
        engine=engine,
        source=str(path),
        scan=view,
        columns=columns_of_cells(names),
        places=line_numbers,
        is_text=True,
    )


def columns_of_cells(names: Sequence[str]) -> dict[str, Column]:
    """Return the columns that `select_cells` makes of the keys of records, by key."""
    return {name: Column(f"c{k}", JSON) for k, name in enumerate(names, 1)}


def select_cells(source: str, names: Sequence[str]) -> str:
    """Return a query (SQL) that splits JSON objects into cells.

    `source` is a table, or a call that reads one, whose column `json` has the objects. The result's
    columns are the number of the row (`ROW`) and the cells of each key, c1, c2 and so on. A
    cell is NULL if the record lacks the key, or if its value is null.
    """
    escaped_names = [name.replace("~", "~0").replace("/", "~1") for name in names]
    pointers = ", ".join(sql_literal(f"/{name}") for name in escaped_names)
    cells = f"json_extract(json, [{pointers}])" if names else "[]"
    parsed = f"select row_number() over () as {ROW}, {cells} as cells"
    columns = [f"nullif(cells[{k}], 'null') as c{k}" for k in range(1, len(names) + 1)]
    return f"select {', '.join([ROW, *columns])} from ({parsed} from {source})"


def _table_of_objects(path: Path) -> str:
    """Return the table function (SQL) that reads the lines of a file as objects, in the column
    `json`."""
    options = f"maximum_object_size={LONGEST_LINE}, compression='uncompressed'"
    return f"read_ndjson_objects({literal_path(path)}, {options})"


def _count_line_ends(path: Path) -> int:
    """Return the number of line feeds in a file.

    If they are no more than its records, no line is blank, since each record ends with one, except
    perhaps the last.
    """
    piece = bytearray(2**20)
    number = 0
    with path.open("rb") as stream:
        while size := stream.readinto(piece):
            number += piece.count(b"\n", 0, size)
    return number


def keys_of_records(engine: Duck, source: str) -> tuple[list[str], int]:
    """Return the keys of all records in order of appearance, and the number of records.

    Args:
        engine: the database.
        source: a table, or a call (SQL) that reads one, whose column `json` has the objects.

    Raises:
        DataError: a record has a key twice.
        Error: a line is not an object, or too long.
    """
    # A value with keys is an object. Only the type of others is read, because DuckDB parses a value
    # again for each function of it.
    kind = "case when len(keys) = 0 then json_type(json) else 'OBJECT' end as kind"
    facts = "min(row) as row, max(strlen(json)) as longest, count(*) as number"
    keyed = f"select json, json_keys(json) as keys, row_number() over () as row from {source}"
    # The records are grouped by their keys, since most records have the same ones.
    groups_of_keys = engine.connection.execute(
        f"select keys, {kind}, {facts} from ({keyed}) group by keys, kind order by row"
    ).fetchall()
    for keys, kind, row, longest, _ in groups_of_keys:
        if kind != "OBJECT" or longest > LONGEST_LINE:
            raise Error("a line is no object, or too long")
        duplicate = first_duplicate(keys)
        if duplicate is not None:
            raise _duplicate_key_error(duplicate, f"record {row}")
    names = list(dict.fromkeys(key for keys, *_ in groups_of_keys for key in keys))
    return names, sum(number for *_, number in groups_of_keys)


def json_lines(
    stream: Any, bad_rows: list[BadRow] | None = None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the line number, from 1, and the record of each line; blank lines are skipped.

    Args:
        stream: the file, open for bytes by its path.
        bad_rows: takes the lines that are no records, which are then skipped; None if they are
            errors.

    Raises:
        CutLineError: the last line is cut off, whether or not there are `bad_rows`.
        DataError: a line is too long or not an object.
        NotUtf8Error: a line is not UTF-8, whether or not there are `bad_rows`.
    """
    for place, line in enumerate(short_lines(stream), 1):
        if not line.strip():
            continue
        try:
            record = _parse_line(line, place, Path(stream.name))
        except (NotUtf8Error, CutLineError):
            # The rows after a cut are lost, and nobody knows how many they are.
            raise
        except DataError as error:
            if bad_rows is None:
                raise
            content = line[:LONGEST_CONTENT].decode("utf-8", errors="replace")
            bad_rows.append(BadRow(error, content))
            continue
        yield place, record


def _parse_line(line: bytes, place: int, path: Path) -> dict[str, Any]:
    """Parse a line of a file as a JSON object.

    Raises:
        CutLineError: the line is not whole JSON, and has no line end.
        DataError: the line is not an object, or not UTF-8, and the error names its number; or it is
            the first one of a pointer of Git LFS.
    """
    try:
        record = json.loads(line.removeprefix(codecs.BOM_UTF8), parse_int=whole_number)
    except RecursionError:
        raise nested_too_deeply_error().with_place("", f"line {place}") from None
    except ValueError as error:
        is_cut = not line.endswith(b"\n")
        if isinstance(error, UnicodeDecodeError):
            is_character_cut = is_cut and error.end == len(line)
            if not is_character_cut:
                raise not_utf_8_error(f"line {place}", path) from None
        reject_lfs_pointer(line)
        beginning = line[:400].decode("utf-8", errors="replace")
        problem = f"not a whole JSON record ({error}): {shorten(beginning)!r}"
        remedy = "remove or repair this line; a last line is cut off when its writer was killed"
        kind = CutLineError if is_cut else DataError
        raise kind(problem, row=f"line {place}", remedy=remedy) from None
    if not isinstance(record, dict):
        problem = f"not a JSON object: {shorten(line.decode('utf-8-sig').strip())!r}"
        raise DataError(problem, row=f"line {place}", remedy="write one object per line")
    return record


def first_line_is_a_record(path: Path) -> bool:
    """Return whether the first line of a file is a record, as in JSONL.

    If all values of the object are lists or objects, it is a document with columns and not a
    record. A document of promptfoo is no record, either. The result is also False if the line is no
    whole JSON object, or if a long line is the whole file.
    """
    if _is_one_long_line(path):
        return False
    with path.open("rb") as stream:
        try:
            _, record = next(json_lines(stream))
        except DataError:
            return False
    is_document = _results_of_promptfoo(record) is not None
    return not is_document and not all(isinstance(cell, list | dict) for cell in record.values())


def _is_one_long_line(path: Path) -> bool:
    """Return whether a file is one line of at least `LONGEST_RECORD` bytes without a line end."""
    with path.open("rb") as stream:
        pieces = iter(lambda: stream.read(LONGEST_RECORD), b"")
        has_line_end = any(b"\n" in piece for piece in pieces)
        return not has_line_end and stream.tell() >= LONGEST_RECORD


def read_document(path: Path) -> "pd.DataFrame":
    """Read a JSON document as a table.

    The document is a list of records, an object with columns, or an object as Weights & Biases
    (`columns` and `data`) or pandas (`orient="split"`, `"index"` or `"table"`) writes it. Any other
    object is a single record. Of a document of promptfoo, the table has the results. Of a list of
    lists (`orient="values"`), the columns are called `0`, `1` and so on, unless the first list has
    names of columns. Rows are counted from 1.

    Raises:
        NotATableError: the document is something else.
        DataError: the document is damaged or too large, or an object in it has a key twice.
    """
    if path.stat().st_size > LARGEST_DOCUMENT:
        problem = f"JSON of more than {LARGEST_DOCUMENT >> 30} GiB"
        raise DataError(problem, remedy="write JSONL: one record per line")

    def parse_object_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """Return an object as a dictionary; DataError if it has a key twice."""
        record = dict(pairs)
        if len(record) < len(pairs):
            twice = first_duplicate([key for key, _ in pairs])
            if twice is not None:
                raise _duplicate_key_error(twice)
        return record

    try:
        with path.open(encoding="utf-8-sig") as stream:
            content = json.load(
                stream, parse_int=whole_number, object_pairs_hook=parse_object_pairs
            )
    except json.JSONDecodeError as error:
        problem = f"not whole JSON: {error.msg}"
        remedy = "the file is cut off or damaged: write or copy it again"
        raise DataError(problem, row=f"line {error.lineno}", remedy=remedy) from None
    except UnicodeDecodeError:
        raise not_utf_8_error("", path) from None
    except RecursionError:
        raise nested_too_deeply_error() from None
    records = content
    if isinstance(content, dict):
        results = _results_of_promptfoo(content)
        if results is not None:
            return _frame_of_records(results)
        if all(isinstance(value, list | dict) for value in content.values()):
            return _frame_of_columns(content)
        records = [content]
    if _are_records(records) or _are_rows_of_cells(records):
        return _frame_of_list(records)
    problem = f"the JSON is not a list of records: {shorten(str(content))!r}"
    raise NotATableError(problem, remedy="give a list of objects, or JSONL")


def _results_of_promptfoo(content: dict[str, Any]) -> list[dict[str, Any]] | None:
    """Return the results in a document of promptfoo, a record per test, prompt and provider.

    They are in `results.results`, or in `results` of a summary alone. The result is None for any
    other document.
    """
    results = content.get("results")
    if isinstance(results, dict):
        results = results.get("results")
    if isinstance(results, list) and results and _are_records(results):
        return results if {"promptIdx", "testIdx"} <= results[0].keys() else None
    return None


def _duplicate_key_error(key: str, place: str | None = None) -> DataError:
    """Return the error for a record that has a key twice; `place` is where it is, if known."""
    return DataError(f"a record has two values of {key!r}", row=place, remedy="keep one of them")


def _frame_of_columns(content: dict[str, Any]) -> "pd.DataFrame":
    """Convert an object with columns, or an object as pandas writes it, to a data frame.

    A column is a list of cells, or an object with a cell per name of a row. pandas also writes
    `columns` and `data` with or without `index` (`orient="split"`), an object with a record per
    name of a row (`orient="index"`), and `data` with a `schema` (`orient="table"`). Names of rows
    become the column without a name if they are also names of columns, or if any of them is no
    number.

    Raises:
        NotATableError: the columns have different lengths.
        DataError: two columns have the same name.
    """
    split_columns = _split_orientation(content)
    if split_columns is not None:
        return _exact_frame(split_columns)
    if content.keys() == {"schema", "data"} and _are_records(content["data"]):
        return _frame_of_records(content["data"])
    if all(isinstance(value, dict) for value in content.values()):
        return _frame_of_objects(content)
    lists = []
    for value in content.values():
        lists.append(list(value.values()) if isinstance(value, dict) else value)
    if len({*map(len, lists)}) != 1:
        problem = "the JSON object does not hold columns of equal length"
        raise NotATableError(problem, remedy="give a list of objects, or JSONL")
    return _exact_frame(dict(zip(content, lists, strict=True)))


def _frame_of_objects(content: dict[str, dict[str, Any]]) -> "pd.DataFrame":
    """Convert an object of objects, which are columns or records, to a data frame.

    The cells of columns are aligned by the names of their rows. Columns of a table whose rows and
    columns share names may lack cells, as the diagonal of a matrix of wins; others may not.

    Raises:
        NotATableError: two columns have different rows.
    """
    rows = list(dict.fromkeys(key for value in content.values() for key in value))
    is_square = shares_names(rows, [*content])
    if not is_square and has_records_by_row(content, rows):
        return _with_names_of_rows(_frame_of_records([*content.values()]), [*content])
    have_all_rows = all(len(value) == len(rows) for value in content.values())
    if not is_square and not have_all_rows:
        problem = "the columns of the JSON object do not have the same rows"
        raise NotATableError(problem, remedy="give a list of objects, or JSONL")
    columns: dict[str, list[Any]] = {}
    if is_square or not are_row_numbers(rows):
        columns[""] = rows
    for name, value in content.items():
        columns[name] = [value.get(row) for row in rows]
    return _exact_frame(columns)


def _split_orientation(content: dict[str, Any]) -> dict[str, list[Any]] | None:
    """Return the columns of an object with `columns`, `data` and perhaps `index`, by name.

    The result is None for an object with other keys, or whose names, rows and row names do not fit
    each other. Names of rows that are not only numbers become the column without a name, unless
    there is one.

    Raises:
        DataError: two columns have the same name.
    """
    names = content.get("columns")
    data = content.get("data")
    index = content.get("index", [])
    other_keys = content.keys() - {"columns", "data", "index"}
    if other_keys:
        return None
    if not isinstance(names, list) or not isinstance(data, list) or not isinstance(index, list):
        return None
    if not all(isinstance(row, list) and len(row) == len(names) for row in data):
        return None
    if "index" in content and len(index) != len(data):
        return None
    headers = [str(name) for name in names]
    duplicate = first_duplicate(headers)
    if duplicate is not None:
        raise _duplicate_column_error(duplicate)
    columns: dict[str, list[Any]] = {}
    if not are_row_numbers(map(str, index)) and "" not in headers:
        columns[""] = index
    for k, name in enumerate(headers):
        columns[name] = [row[k] for row in data]
    return columns


def has_records_by_row(content: dict[str, Any], keys: Sequence[str]) -> bool:
    """Return whether an object has a record per name of a row (`orient="index"` of pandas).

    If either the keys of the object or the keys of its values are only numbers, these are the names
    of rows. If podium knows columns of one of the two, the others are the names of rows. If it
    knows columns of neither, the names that are more are those of rows. In any other case, such as
    known columns in both, the result is False: the keys of the object are the columns.

    Args:
        content: an object whose values are objects.
        keys: all keys of its values.
    """
    has_numbered_rows = are_row_numbers(content)
    has_numbered_columns = are_row_numbers(keys)
    if has_numbered_rows or has_numbered_columns:
        return has_numbered_rows and not has_numbered_columns
    knows_inner_keys = not KNOWN_COLUMNS.isdisjoint(keys)
    knows_outer_keys = not KNOWN_COLUMNS.isdisjoint(content)
    if knows_inner_keys != knows_outer_keys:
        return knows_inner_keys
    return not knows_inner_keys and len(content) > len(keys)


def _with_names_of_rows(frame: "pd.DataFrame", names: Sequence[str]) -> "pd.DataFrame":
    """Add the names of rows as the column without a name, unless they are only numbers.

    A table that has such a column is returned unchanged; any other is changed in place.
    """
    import pandas as pd

    if are_row_numbers(names) or "" in frame:
        return frame
    frame.insert(0, "", pd.Series(names, index=frame.index, dtype=object))
    return frame


def are_row_numbers(names: Iterable[str]) -> bool:
    """Return whether all names of rows are whole numbers, as those that pandas gives by default.

    It is True if there are no names.
    """
    return all(name.isdecimal() for name in names)


def _are_records(value: Any) -> bool:
    """Return whether a value is a list of objects; True for an empty list."""
    return isinstance(value, list) and all(isinstance(record, dict) for record in value)


def _frame_of_list(rows: Sequence[Any]) -> "pd.DataFrame":
    """Convert a list of records (`_frame_of_records`) or of lists of cells (`_frame_of_rows`)."""
    return _frame_of_records(rows) if _are_records(rows) else _frame_of_rows(rows)


def _are_rows_of_cells(value: Any) -> bool:
    """Return whether a value is a list of equally long lists, not empty, of single values."""
    if not isinstance(value, list) or not value:
        return False
    if not all(isinstance(row, list) for row in value):
        return False
    width = len(value[0])
    if not width or any(len(row) != width for row in value):
        return False
    return not any(isinstance(cell, list | dict) for row in value for cell in row)


def _frame_of_rows(rows: Sequence[Sequence[Any]]) -> "pd.DataFrame":
    """Convert lists of cells to a data frame.

    The first list has the names of the columns if one of them is a name that podium knows and other
    lists follow. Otherwise, the columns are called `0`, `1` and so on.

    Raises:
        DataError: two columns have the same name.
    """
    header = [str(number) for number in range(len(rows[0]))]
    if len(rows) > 1 and not KNOWN_COLUMNS.isdisjoint(rows[0]):
        header = [str(name) for name in rows[0]]
        rows = rows[1:]
    duplicate = first_duplicate(header)
    if duplicate is not None:
        raise _duplicate_column_error(duplicate)
    columns = {}
    for k, name in enumerate(header):
        columns[name] = [row[k] for row in rows]
    return _exact_frame(columns)


def _duplicate_column_error(name: str) -> DataError:
    """Return the error for a document with two columns of one name."""
    problem = f"two columns are called {name!r}"
    return DataError(problem, remedy="rename or remove one of them in the file")


def _frame_of_records(records: Sequence[dict[str, Any]]) -> "pd.DataFrame":
    """Convert records to a data frame. The cell of a key that a record lacks is empty."""
    names = dict.fromkeys(name for record in records for name in record)
    columns = {}
    for name in names:
        columns[name] = [record.get(name) for record in records]
    return _exact_frame(columns)


def _exact_frame(columns: dict[str, list[Any]]) -> "pd.DataFrame":
    """Convert columns to a data frame without rounding integers. Rows are counted from 1."""
    import pandas as pd

    frame = pd.DataFrame({name: exact_column(cells) for name, cells in columns.items()})
    return frame.set_axis(pd.RangeIndex(1, len(frame) + 1, name="row"))
