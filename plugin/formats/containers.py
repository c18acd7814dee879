"""Files into records: CSV, TSV, Parquet, JSON and JSONL, plain or gzipped, one row per record.

The index of the frame is named `row` or `line` and holds the 1-based place of each record, for errors.
"""

import codecs
import csv
import gzip
import io
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from podium.errors import DataError, UsageError

SUFFIXES = (".csv", ".tsv", ".parquet", ".json", ".jsonl", ".csv.gz", ".tsv.gz", ".json.gz", ".jsonl.gz")
DELIMITERS = (",", "\t", ";")
LONGEST_LINE = 64 * 2**20
"""Bytes; a longer line of JSONL is refused: it is not one record."""


BLOCK = 2**20
"""Bytes that the CSV reader takes at once; a longer row needs larger blocks."""


def read_records(path: Path) -> pd.DataFrame:
    """Read a file of any known container.

    Raises:
        UsageError: the file does not exist.
        DataError: the file is empty, binary, cut off, or not what its first bytes promise.
    """
    try:
        return _read(path)
    except FileNotFoundError:
        raise UsageError(f"no such file: {path}") from None
    except DataError as error:
        raise error.with_place(str(path)) from None


def _read(path: Path) -> pd.DataFrame:
    with path.open("rb") as stream:
        magic = stream.read(4)
    if magic == b"PAR1":
        return _number_rows(_parquet(path), "row")
    if magic[:2] != b"\x1f\x8b":
        with path.open("rb") as stream:
            return _text(stream, path)
    try:
        with gzip.open(path) as stream:
            return _text(stream, path)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"not a whole gzip file ({error})", remedy="write or copy the file again") from None


def _text(stream: BinaryIO | gzip.GzipFile, path: Path) -> pd.DataFrame:
    head = stream.read(65536)
    stream.seek(0)
    if not head.strip():
        raise DataError("the file is empty", remedy="give a file that holds verdicts")
    if b"\0" in head:
        raise DataError("the file is binary", remedy="give CSV, TSV, Parquet, JSON or JSONL")
    start = head.removeprefix(codecs.BOM_UTF8).lstrip()[:1]
    if start not in b"[{":
        return _number_rows(_read_delimited(stream, head), "row")
    if start == b"{" and (".jsonl" in path.suffixes or _first_line_is_a_record(stream)):
        return _lines(stream)
    return _number_rows(_json(stream), "row")


def _number_rows(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    return frame.set_axis(pd.RangeIndex(1, len(frame) + 1, name=name))


def _parquet(path: Path) -> pd.DataFrame:
    try:
        return pyarrow.parquet.read_table(path).to_pandas()
    except pa.ArrowInvalid as error:
        raise DataError(f"not a whole Parquet file ({error})", remedy="write or copy the file again") from None


def _read_delimited(stream: Any, head: bytes) -> pd.DataFrame:
    lines = head.removeprefix(codecs.BOM_UTF8).splitlines()
    first_line = next(line for line in lines if line.strip()).decode(errors="replace")
    delimiter = max(DELIMITERS, key=first_line.count)
    names = next(csv.reader([first_line], delimiter=delimiter))
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"column {twice!r} appears twice", row="header", remedy="rename one of the two")
    try:
        return _table(stream, names, delimiter, BLOCK)
    except pa.ArrowInvalid as error:
        if "straddling" not in str(error):
            raise _table_error(stream, delimiter, len(names), str(error)) from None
    try:
        return _table(stream, names, delimiter, LONGEST_LINE)
    except pa.ArrowInvalid as error:
        raise _table_error(stream, delimiter, len(names), str(error)) from None


def _table(stream: Any, names: list[str], delimiter: str, block: int) -> pd.DataFrame:
    stream.seek(0)
    return (
        pyarrow.csv.read_csv(
            stream,
            read_options=pyarrow.csv.ReadOptions(block_size=block),
            parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=True, null_values=[""]
            ),
        )
        .rename_columns([name.strip() for name in names])
        .to_pandas()
    )


def _table_error(stream: Any, delimiter: str, width: int, problem: str) -> DataError:
    """Return the error for a table that cannot be read, with the row, which the reader does not tell."""
    if "UTF8" in problem:
        return DataError("not UTF-8 text", remedy="convert the file to UTF-8")
    if "Empty CSV" in problem:
        return DataError("no rows below the header", remedy="give a file that holds verdicts")
    row = _first_of_other_width(stream, delimiter, width)
    return DataError(
        f"not a whole table ({_shorten_text(problem)})",
        row=f"row {row}" if row else None,
        remedy="repair that row; every row needs every column, and a quote that opens must close",
    )


def _first_of_other_width(stream: Any, delimiter: str, width: int) -> int | None:
    stream.seek(0)
    lines = (line.decode(errors="replace") for line in stream)
    rows = (cells for cells in csv.reader(lines, delimiter=delimiter) if cells)
    try:
        return next((place for place, cells in enumerate(rows) if len(cells) != width), None)
    except csv.Error:
        return None


def _json(stream: Any) -> pd.DataFrame:
    try:
        content = json.load(io.TextIOWrapper(stream, encoding="utf-8-sig"))
    except json.JSONDecodeError as error:
        raise DataError(
            f"not whole JSON: {error.msg}",
            row=f"line {error.lineno}",
            remedy="the file is cut off or damaged: write or copy it again",
        ) from None
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8 text ({error.reason})", remedy="convert the file to UTF-8") from None
    if isinstance(content, dict) and all(isinstance(value, list | dict) for value in content.values()):
        return _columns(content)
    records = [content] if isinstance(content, dict) else content
    if isinstance(records, list) and all(isinstance(record, dict) for record in records):
        return pd.DataFrame(records)
    raise DataError(
        f"the JSON is not a list of records: {_shorten_text(str(content))!r}",
        remedy="give a list of objects, or JSONL",
    )


def _columns(content: dict[str, Any]) -> pd.DataFrame:
    try:
        return pd.DataFrame(content)
    except ValueError:
        raise DataError(
            "the JSON object does not hold columns of equal length", remedy="give a list of objects, or JSONL"
        ) from None


def _lines(stream: Any) -> pd.DataFrame:
    places, records = [], []
    for place, record in json_lines(stream):
        places.append(place)
        records.append(record)
    return pd.DataFrame(records, index=pd.Index(places, name="line"))


def json_lines(stream: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the records of JSONL with their lines.

    Raises:
        DataError: a line is longer than `LONGEST_LINE`, or no JSON object.
    """
    place = 0
    while line := stream.readline(LONGEST_LINE + 1):
        place += 1
        if len(line) > LONGEST_LINE:
            raise DataError(
                f"longer than {LONGEST_LINE >> 20} MiB",
                row=f"line {place}",
                remedy="write one record per line, without the bulk that podium does not need",
            )
        if line.strip():
            yield place, _record(line, place)


def _record(line: bytes, place: int) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise DataError(
            f"not a whole JSON record ({error}): {_shorten_text(line.decode('utf-8', errors='replace'))!r}",
            row=f"line {place}",
            remedy="remove or repair this line; a last line is cut off when its writer was killed",
        ) from None
    if not isinstance(record, dict):
        raise DataError(
            f"not a JSON object: {_shorten_text(str(record))!r}",
            row=f"line {place}",
            remedy="write one object per line",
        )
    return record


def _first_line_is_a_record(stream: Any) -> bool:
    """Tell JSONL from JSON: one line holds a whole object, and not one of columns."""
    line = next((line for line in iter(lambda: stream.readline(LONGEST_LINE), b"") if line.strip()), b"")
    stream.seek(0)
    try:
        record = json.loads(line)
    except ValueError:
        return False
    return isinstance(record, dict) and not all(isinstance(value, list | dict) for value in record.values())


def _shorten_text(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 80 else f"{text[:60]} ... {text[-15:]}"
