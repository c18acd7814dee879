"""Files into records: CSV, TSV, Parquet, JSON, JSONL and DuckDB, plain or compressed, one row per record.

DuckDB reads them where it can, row by row as they are asked for; what it refuses is read again by the readers of the
standard library, which name the row that is to blame, or write a copy that DuckDB understands.
"""

import codecs
import csv
import errno
import gzip
import io
import json
import os
import shutil
import stat
import zlib
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO

import duckdb
import pandas as pd
import pyarrow as pa

from podium.counting.duck import Duck
from podium.counting.relations import ROW, quote_name, text
from podium.errors import DataError, UsageError
from podium.records import (
    JSON,
    TEXT,
    Column,
    Records,
    exact_column,
    nested_too_deeply,
    records_of,
    shorten,
    whole_number,
)

PLAIN = (".csv", ".tsv", ".parquet", ".json", ".jsonl")
SUFFIXES = (*PLAIN, *(name + packed for name in PLAIN if name != ".parquet" for packed in (".gz", ".zst")))
DELIMITERS = (",", "\t", ";")
GZIP, ZSTD, PARQUET, DATABASE = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PAR1", b"DUCK"
HEAD = 65536
LONGEST_LINE = 64 * 2**20
"""Bytes; a longer line is refused: it is not one record."""
LARGEST_DOCUMENT = 2**30
"""Bytes of JSON that is not in lines, and is read whole."""
PANDAS_INDEX = "__index_level_"
DAMAGED = "write or copy the file again"


def open_records(path: Path, engine: Duck) -> Records:
    """Open a file of any known container; of a DuckDB file, `path#table`.

    Raises:
        UsageError: the file does not exist.
        DataError: the file is empty, binary, cut off, or not what its first bytes promise.
    """
    try:
        return _open(path, engine)
    except FileNotFoundError:
        raise UsageError(f"no such file: {path}") from None
    except DataError as error:
        raise error.with_place(str(path)) from None


def read_records(path: Path) -> pd.DataFrame:
    """Read a file of any known container; the index is named `row` or `line`, and holds the place of each record.

    Raises:
        UsageError: the file does not exist.
        DataError: the file is empty, binary, cut off, or not what its first bytes promise.
    """
    try:
        return open_records(path, _shared_engine()).frame()
    except DataError as error:
        raise error.with_place(str(path)) from None


@cache
def _shared_engine() -> Duck:
    return Duck()


def _open(path: Path, engine: Duck) -> Records:
    file, _, table = str(path).partition("#") if not path.exists() else (str(path), "", "")
    engine.watch(Path(file))
    held = _plain_copy(Path(file), engine)
    with held.open("rb") as stream:
        head = stream.read(HEAD)
    if head.startswith(PARQUET):
        return _parquet(path, held, engine)
    if head[8:12] == DATABASE:
        return _database(path, held, table, engine)
    if not head.strip():
        raise DataError("the file is empty", remedy="give a file that holds verdicts")
    start = head.removeprefix(codecs.BOM_UTF8).lstrip()[:1]
    if start not in b"[{":
        return _read_delimited(path, held, engine)
    if start == b"{" and (".jsonl" in path.suffixes or _first_line_is_a_record(held)):
        return _lines(path, held, engine)
    return records_of(engine, _document(held), str(path))


def _plain_copy(path: Path, engine: Duck) -> Path:
    """Return the file; or a copy, where it is compressed or can be read only once.

    Raises:
        DataError: the file is binary, or cut off.
    """
    with path.open("rb") as stream:
        head = stream.peek(HEAD)
        packed = head.startswith((GZIP, ZSTD))
        if not packed:
            _refuse_binary(head)
            if stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                return path
        kind = "gzip" if head.startswith(GZIP) else "zstd" if packed else "file"
        copy = engine.folder / engine.fresh("copy")
        try:
            with copy.open("wb") as target:
                content = _open_packed(stream, kind)
                first = content.read(HEAD)
                _refuse_binary(first)
                target.write(first)
                shutil.copyfileobj(content, target, 2**20)
        except (EOFError, zlib.error, OSError) as error:
            if isinstance(error, OSError) and error.errno == errno.ENOSPC:
                problem = f"unpacked, it does not fit into {engine.folder.parent}"
                raise DataError(problem, remedy="free disk space, or set TMPDIR to a larger disk") from None
            raise DataError(f"not a whole {kind} file ({error})", remedy=DAMAGED) from None
    return copy


def _open_packed(stream: Any, kind: str) -> Any:
    if kind == "gzip":
        return gzip.GzipFile(fileobj=stream)
    return pa.CompressedInputStream(pa.PythonFile(stream), kind) if kind == "zstd" else stream


def _refuse_binary(head: bytes) -> None:
    if b"\0" in head[:HEAD] and not head.startswith(PARQUET) and head[8:12] != DATABASE:
        raise DataError("the file is binary", remedy="give CSV, TSV, Parquet, JSON or JSONL")


def _parquet(path: Path, held: Path, engine: Duck) -> Records:
    """Open a Parquet file, of which only the columns that are needed are ever read."""
    call = f"read_parquet({_literal(held)}, binary_as_string=true, hive_partitioning=false"
    try:
        types = engine.connection.execute(f"describe select * from {call})").fetchall()
    except duckdb.Error as error:
        raise _not_whole("Parquet", error) from None
    numbered = all(name != "file_row_number" for name, *_ in types)
    row = "file_row_number + 1" if numbered else "row_number() over ()"
    scan = f"{call}{', file_row_number=true' if numbered else ''})"
    return _view(engine, path, [(name, kind) for name, kind, *_ in types], row, scan, "Parquet")


def _database(path: Path, held: Path, table: str, engine: Duck) -> Records:
    """Open a table of a DuckDB file, which is never written to; a view of it could read other files, and is none."""
    name = engine.fresh("attached")
    try:
        engine.attach(name, held)
        known = engine.rows(f"select schema_name, table_name from duckdb_tables() where database_name = '{name}'")
    except (duckdb.Error, DataError) as error:
        raise _not_whole("DuckDB", error) from None
    fits = [(schema, own) for schema, own in known if table in (own, f"{schema}.{own}") or not table]
    if len(fits) != 1:
        names = ", ".join(sorted(own for _, own in known)) or "none"
        raise UsageError(f"{path}: name one of its tables, as {held.name}#TABLE; tables: {names}")
    scan = ".".join(map(quote_name, (name, *fits[0])))
    types = engine.rows(f"select column_name, column_type from (describe {scan})")
    return _view(engine, path, types, "row_number() over ()", scan, "DuckDB")


def _not_whole(kind: str, error: Exception) -> DataError:
    return DataError(f"not a whole {kind} file ({shorten(str(error))})", remedy=DAMAGED)


def _view(engine: Duck, path: Path, types: list[tuple[str, str]], row: str, scan: str, kind: str) -> Records:
    def refuse(error: Exception) -> None:
        raise _not_whole(kind, error).with_place(str(path))

    kept = [(name, type_) for name, type_ in types if not name.startswith(PANDAS_INDEX)]
    view = engine.fresh("file")
    columns = ", ".join(f"{quote_name(name)} as c{k}" for k, (name, _) in enumerate(kept))
    engine.view(view, f"select {row} as {ROW}, {columns} from {scan}")
    cells = {name: Column(f"c{k}", type_) for k, (name, type_) in enumerate(kept)}
    return Records(engine, str(path), view, cells, repair=refuse)


def _literal(path: Path) -> str:
    """Write a path for DuckDB, which would take some characters for wildcards."""
    return text("".join(f"[{letter}]" if letter in "*?[" else letter for letter in str(path.absolute())))


def _read_delimited(path: Path, held: Path, engine: Duck) -> Records:
    before, names, delimiter = _header(held)
    names = [name.strip() for name in names]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"column {twice!r} appears twice", row="header", remedy="rename one of the two")
    view = engine.fresh("file")
    columns = {name: Column(f"c{k}", TEXT, comma=delimiter != ",") for k, name in enumerate(names)}

    def scan(file: Path, skip: int, line: int) -> str:
        """Return the query of a file whose records follow `skip` others."""
        types = ", ".join(f"c{k}: 'VARCHAR'" for k in range(len(names)))
        how = f"header=false, skip={skip}, delim={text(delimiter)}, quote='\"', escape='\"', auto_detect=false"
        how += f", columns={{{types}}}, max_line_size={line}, compression='none', hive_partitioning=false"
        return f"select row_number() over () as {ROW}, * from read_csv({_literal(file)}, {how})"

    def repair(_: Exception) -> None:
        """Write a copy in one dialect, or name the row to blame."""
        copy = engine.folder / engine.fresh("copy")
        try:
            _copy_table(held, copy, delimiter, len(names))
        except DataError as error:
            raise error.with_place(str(path)) from None
        engine.connection.execute(f"create or replace view {view} as {scan(copy, 1, LONGEST_LINE)}")

    engine.view(view, scan(held, before + 1, 2**21))
    return Records(engine, str(path), view, columns, repair=repair)


def _header(path: Path) -> tuple[int, list[str], str]:
    """Return how many blank lines a table begins with, the names of its columns, and what stands between them.

    Raises:
        DataError: the header is no text, or all there is.
    """
    with path.open("rb") as stream:
        lines = (line.decode("utf-8-sig") for line in _short_lines(stream))
        try:
            before, first = next((place, line) for place, line in enumerate(lines) if line.strip())
            delimiter = max(DELIMITERS, key=first.count)
            names = next(_reader(_chain(first, lines), delimiter))
        except UnicodeDecodeError:
            raise _not_utf_8("header") from None
        except csv.Error as error:
            raise DataError(f"not a whole table ({error})", row="header", remedy="close the quotes") from None
        if len(names) == 1 and not stream.read(1):
            raise DataError("no rows below the header", remedy="give a file that holds verdicts")
    return before, names, delimiter


def _chain(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


def _reader(lines: Iterator[str], delimiter: str) -> Iterator[list[str]]:
    csv.field_size_limit(LONGEST_LINE)
    return csv.reader(lines, delimiter=delimiter, strict=True)


def _copy_table(path: Path, copy: Path, delimiter: str, width: int) -> None:
    """Write a table again with the quotes and line breaks that DuckDB expects.

    Raises:
        DataError: a row is not whole.
    """
    place = -1
    remedy = "repair that row; every row needs every column, and a quote that opens must close"
    with path.open("rb") as stream, copy.open("w", encoding="utf-8", newline="") as target:
        writer = csv.writer(target, delimiter=delimiter, lineterminator="\n")
        lines = (line.decode("utf-8-sig") for line in _short_lines(stream))
        try:
            for place, cells in enumerate(cells for cells in _reader(_universal(lines), delimiter) if any(cells)):
                if len(cells) != width:
                    shown = shorten(delimiter.join(cells))
                    raise DataError(
                        f"not a whole table (expected {width} columns, got {len(cells)}: {shown})",
                        row=f"row {place}",
                        remedy=remedy,
                    )
                writer.writerow(cells)
        except csv.Error as error:
            raise DataError(f"not a whole table ({error})", row=f"row {place + 1}", remedy=remedy) from None
        except UnicodeDecodeError:
            raise _not_utf_8(f"row {place + 1}") from None


def _universal(lines: Iterator[str]) -> Iterator[str]:
    """End every line alike: a file of two systems is one table."""
    for line in lines:
        yield line.removesuffix("\n").removesuffix("\r") + "\n"


def _not_utf_8(row: str) -> DataError:
    return DataError("not UTF-8 text", row=row, remedy="convert the file to UTF-8")


def _short_lines(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file.

    Raises:
        DataError: a line is longer than `LONGEST_LINE`.
    """
    for place in count(1):
        line = stream.readline(LONGEST_LINE + 1)
        if not line:
            return
        if len(line) > LONGEST_LINE:
            raise DataError(
                f"longer than {LONGEST_LINE >> 20} MiB",
                row=f"line {place}",
                remedy="write one record per line, without the bulk that podium does not need",
            )
        yield line


def _lines(path: Path, held: Path, engine: Duck) -> Records:
    """Open JSONL; the cells are JSON, as they stand in the file."""
    view = engine.fresh("file")
    try:
        names = _keys(engine, _objects(held))
    except duckdb.Error:
        with held.open("rb") as stream:
            places, records = zip(*json_lines(stream), strict=True)
        return records_of(engine, _frame_of(records).set_axis(pd.Index(places, name="line")), str(path))
    pointers = ", ".join(text("/" + name.replace("~", "~0").replace("/", "~1")) for name in names)
    cells = f"json_extract(json, [{pointers}])" if names else "[]"
    engine.view(view, f"select row_number() over () as {ROW}, {cells} as cells from {_objects(held)}")
    columns = {name: Column(f"nullif(cells[{k}], 'null')", JSON) for k, name in enumerate(names, 1)}
    return Records(engine, str(path), view, columns, lambda: _places(held))


def _objects(path: Path) -> str:
    return f"read_ndjson_objects({_literal(path)}, maximum_object_size={LONGEST_LINE}, compression='uncompressed')"


def _keys(engine: Duck, source: str) -> list[str]:
    """Return the keys of all records, in the order in which they are met.

    Raises:
        DataError: a line is no object, or holds a key twice.
        duckdb.Error: DuckDB cannot read a line.
    """
    shape = "json_keys(json) as keys, json_type(json) as kind, min(row) as row, max(strlen(json)) as longest"
    numbered = f"(select json, row_number() over () as row from {source})"
    shapes = engine.connection.execute(f"select {shape} from {numbered} group by keys, kind order by row").fetchall()
    for keys, kind, _, longest in shapes:
        if kind != "OBJECT" or longest > LONGEST_LINE:
            raise duckdb.Error("a line is no object, or too long")
        if len({*keys}) < len(keys):
            twice = next(key for key in keys if keys.count(key) > 1)
            raise DataError(f"a record has two values of {twice!r}", remedy="keep one of them")
    return list(dict.fromkeys(key for keys, *_ in shapes for key in keys))


def _places(path: Path) -> pd.Index:
    with path.open("rb") as stream:
        return pd.Index([place for place, line in enumerate(stream, 1) if line.strip()], name="line")


def json_lines(stream: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the records of JSONL with their lines.

    Raises:
        DataError: a line is longer than `LONGEST_LINE`, or no JSON object.
    """
    for place, line in enumerate(_short_lines(stream), 1):
        if line.strip():
            yield place, _record(line, place)


def _record(line: bytes, place: int) -> dict[str, Any]:
    try:
        record = json.loads(line.removeprefix(codecs.BOM_UTF8), parse_int=whole_number)
    except RecursionError:
        raise nested_too_deeply().with_place("", f"line {place}") from None
    except ValueError as error:
        raise DataError(
            f"not a whole JSON record ({error}): {shorten(line[:400].decode('utf-8', errors='replace'))!r}",
            row=f"line {place}",
            remedy="remove or repair this line; a last line is cut off when its writer was killed",
        ) from None
    if not isinstance(record, dict):
        raise DataError(
            f"not a JSON object: {shorten(str(record))!r}",
            row=f"line {place}",
            remedy="write one object per line",
        )
    return record


def _first_line_is_a_record(path: Path) -> bool:
    """Tell JSONL from JSON: one line holds a whole object, and not one of columns."""
    with path.open("rb") as stream:
        line = next((line for line in iter(lambda: stream.readline(LONGEST_LINE), b"") if line.strip()), b"")
    try:
        record = json.loads(line.removeprefix(codecs.BOM_UTF8), parse_int=whole_number)
    except (ValueError, RecursionError):
        return False
    return isinstance(record, dict) and not all(isinstance(value, list | dict) for value in record.values())


def _document(path: Path) -> pd.DataFrame:
    """Read JSON that is not in lines: a list of records, an object of columns, or W&B's columns and data."""
    if path.stat().st_size > LARGEST_DOCUMENT:
        raise DataError(f"JSON of more than {LARGEST_DOCUMENT >> 30} GiB", remedy="write JSONL: one record per line")
    with path.open("rb") as stream:
        content = _parse(stream)
    if isinstance(content, dict) and all(isinstance(value, list | dict) for value in content.values()):
        return _columns(content)
    records = [content] if isinstance(content, dict) else content
    if isinstance(records, list) and all(isinstance(record, dict) for record in records):
        return _frame_of(records)
    raise DataError(
        f"the JSON is not a list of records: {shorten(str(content))!r}",
        remedy="give a list of objects, or JSONL",
    )


def _parse(stream: BinaryIO) -> Any:
    try:
        return json.load(io.TextIOWrapper(stream, encoding="utf-8-sig"), parse_int=whole_number)
    except json.JSONDecodeError as error:
        raise DataError(
            f"not whole JSON: {error.msg}",
            row=f"line {error.lineno}",
            remedy="the file is cut off or damaged: write or copy it again",
        ) from None
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8 text ({error.reason})", remedy="convert the file to UTF-8") from None
    except RecursionError:
        raise nested_too_deeply() from None


def _columns(content: dict[str, Any]) -> pd.DataFrame:
    names, data = content.get("columns"), content.get("data")
    if len(content) == 2 and isinstance(names, list) and isinstance(data, list):
        whole = all(isinstance(row, list) and len(row) == len(names) for row in data)
        content = {str(name): [row[k] for row in data] for k, name in enumerate(names)} if whole else {}
    lists = [list(value.values()) if isinstance(value, dict) else value for value in content.values()]
    if len({*map(len, lists)}) != 1:
        raise DataError(
            "the JSON object does not hold columns of equal length", remedy="give a list of objects, or JSONL"
        )
    return _frame(dict(zip(content, lists, strict=True)))


def _frame_of(records: Sequence[dict[str, Any]]) -> pd.DataFrame:
    names = dict.fromkeys(name for record in records for name in record)
    return _frame({name: [record.get(name) for record in records] for name in names})


def _frame(columns: dict[str, list[Any]]) -> pd.DataFrame:
    frame = pd.DataFrame({name: exact_column(cells) for name, cells in columns.items()})
    return frame.set_axis(pd.RangeIndex(1, len(frame) + 1, name="row"))
