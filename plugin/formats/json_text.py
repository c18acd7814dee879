"""JSON, in lines or as one document: DuckDB reads lines; Python reads the rest, and names the line that is to blame."""

import codecs
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import duckdb
import pandas as pd

from podium.counting.duck import Duck, literal_path, out_of_memory
from podium.counting.relations import ROW, text
from podium.errors import DataError
from podium.formats.records import (
    JSON,
    LONGEST_LINE,
    Column,
    Records,
    exact_column,
    nested_too_deeply,
    records_of,
    short_lines,
    shorten,
    whole_number,
)

LARGEST_DOCUMENT = 2**30
"""Bytes of JSON that is not in lines, and is read whole."""


def open_lines(path: Path, held: Path, engine: Duck) -> Records:
    """Open JSONL; the cells are JSON, as they stand in the file."""
    view = engine.fresh("file")
    try:
        names = _keys(engine, _objects(held))
    except duckdb.OutOfMemoryException as error:
        raise out_of_memory(error, str(path)) from None
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
    return f"read_ndjson_objects({literal_path(path)}, maximum_object_size={LONGEST_LINE}, compression='uncompressed')"


def _keys(engine: Duck, source: str) -> list[str]:
    """Return the keys of all records, in the order in which they are met."""
    shape = "json_keys(json) as keys, json_type(json) as kind, min(row) as row, max(strlen(json)) as longest"
    numbered = f"(select json, row_number() over () as row from {source})"
    shapes = engine.connection.execute(f"select {shape} from {numbered} group by keys, kind order by row").fetchall()
    for keys, kind, _, longest in shapes:
        if kind != "OBJECT" or longest > LONGEST_LINE:
            raise duckdb.Error("a line is no object, or too long")
        if len({*keys}) < len(keys):
            twice = next(key for key in keys if keys.count(key) > 1)
            raise _two_values(twice)
    return list(dict.fromkeys(key for keys, *_ in shapes for key in keys))


def _places(path: Path) -> pd.Index:
    with path.open("rb") as stream:
        return pd.Index([place for place, line in enumerate(stream, 1) if line.strip()], name="line")


def json_lines(stream: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the records of JSONL with their lines.

    Raises:
        DataError: a line is longer than `LONGEST_LINE`, or no JSON object.
    """
    for place, line in enumerate(short_lines(stream), 1):
        if line.strip():
            yield place, _record(line, place)


def _record(line: bytes, place: int) -> dict[str, Any]:
    try:
        record = json.loads(line.removeprefix(codecs.BOM_UTF8), parse_int=whole_number)
    except RecursionError:
        raise nested_too_deeply().with_place("", f"line {place}") from None
    except ValueError as error:
        problem = f"not a whole JSON record ({error}): {shorten(line[:400].decode('utf-8', errors='replace'))!r}"
        remedy = "remove or repair this line; a last line is cut off when its writer was killed"
        raise DataError(problem, row=f"line {place}", remedy=remedy) from None
    if not isinstance(record, dict):
        problem = f"not a JSON object: {shorten(str(record))!r}"
        raise DataError(problem, row=f"line {place}", remedy="write one object per line")
    return record


def first_line_is_a_record(path: Path) -> bool:
    """Tell JSONL from JSON: one line holds a whole object, and not one of columns."""
    with path.open("rb") as stream:
        line = next((line for line in iter(lambda: stream.readline(LONGEST_LINE), b"") if line.strip()), b"")
    try:
        record = json.loads(line.removeprefix(codecs.BOM_UTF8), parse_int=whole_number)
    except (ValueError, RecursionError):
        return False
    return isinstance(record, dict) and not all(isinstance(value, list | dict) for value in record.values())


def read_document(path: Path) -> pd.DataFrame:
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
    problem = f"the JSON is not a list of records: {shorten(str(content))!r}"
    raise DataError(problem, remedy="give a list of objects, or JSONL")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object."""
    record = dict(pairs)
    if len(record) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _two_values(next(key for key in keys if keys.count(key) > 1))
    return record


def _two_values(key: str) -> DataError:
    return DataError(f"a record has two values of {key!r}", remedy="keep one of them")


def _parse(stream: BinaryIO) -> Any:
    try:
        text_of_stream = io.TextIOWrapper(stream, encoding="utf-8-sig")
        return json.load(text_of_stream, parse_int=whole_number, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        remedy = "the file is cut off or damaged: write or copy it again"
        raise DataError(f"not whole JSON: {error.msg}", row=f"line {error.lineno}", remedy=remedy) from None
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
