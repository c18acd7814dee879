"""Open the records of a JSON document with DuckDB.

It reads a list of records, pandas' `orient="index"` with numbered rows, and results of promptfoo.
Other documents, and damaged ones, are read by `podium.data.formats.json_text.read_document`.
"""

import re
from pathlib import Path

from duckdb import Error

from podium.data.counting.duck import Duck, literal_path
from podium.data.counting.relations import text
from podium.data.formats.json_text import (
    are_row_numbers,
    columns_of_cells,
    has_records_by_row,
    keys_of_records,
    select_cells,
)
from podium.data.formats.records import Records, first_duplicate
from podium.data.formats.win_matrix import shares_names
from podium.errors import DataError

LARGEST_OBJECT = 2**28
"""Largest number of bytes of a document that is one object, which DuckDB reads into memory."""
LONGEST_ENDING = 4096
"""Number of bytes at the end of a document that are searched for its last bracket."""
CLOSED_LIST = re.compile(rb"[^,\s]\s*\]\s*$")
"""Matches the end of a list: a bracket after a value, or after the bracket of an empty list."""
RESULT_PATHS = ("$.results.results", "$.results")
"""Where promptfoo's results are in a whole document, and in a summary alone."""
RESULT_KEYS = {"promptIdx", "testIdx"}
"""Keys of each result of promptfoo."""


def open_document(path: Path, plain_file: Path, engine: Duck) -> Records | None:
    """Open the records of a document; None if it is another document, or damaged.

    Args:
        path: the file that the user named.
        plain_file: the file to read, an unpacked copy of it if it is compressed.
        engine: the database.
    """
    with plain_file.open("rb") as stream:
        is_list = stream.read(1) == b"["
    if is_list and not _is_list_closed(plain_file):
        return None
    try:
        if is_list:
            return _open_rows(path, _query_of_values(plain_file, "array"), engine)
        if plain_file.stat().st_size > LARGEST_OBJECT:
            return None
        document = engine.fresh("document")
        engine.store(document, _query_of_values(plain_file, "unstructured"))
        return _open_object(path, document, engine)
    except (Error, DataError, UnicodeDecodeError):
        return None


def _is_list_closed(path: Path) -> bool:
    """Return whether a list ends with a bracket that follows a value, not a comma.

    DuckDB would also read a list that was cut off after a record, as its first records.
    """
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - LONGEST_ENDING))
        ending = stream.read()
    return CLOSED_LIST.search(ending) is not None


def _query_of_values(path: Path, layout: str) -> str:
    """Return the SQL that reads the values of a file as JSON, in `layout`, a format of DuckDB."""
    size = path.stat().st_size + 1024
    options = f"format={text(layout)}, maximum_object_size={size}, compression='uncompressed'"
    return f"select json from read_json_objects({literal_path(path)}, {options})"


def _open_object(path: Path, document: str, engine: Duck) -> Records | None:
    """Return the records in a document that is one object; None if it has none.

    Args:
        path: the file that the user named.
        document: name of the table with the document.
        engine: the database.

    Raises:
        DataError, Error: see `_open_rows`.
    """
    described = engine.rows(f"select json_type(json), json_keys(json) from {document}")
    if (
        len(described) != 1
        or described[0][0] != "OBJECT"
        or first_duplicate(described[0][1]) is not None
    ):
        return None
    names_of_rows = described[0][1]
    for place in RESULT_PATHS if "results" in names_of_rows else ():
        ((keys,),) = engine.rows(f"select json_keys(json, {text(place + '[0]')}) from {document}")
        if keys is not None and {*keys} >= RESULT_KEYS:
            return _open_values(path, document, f"{place}[*]", engine)
    if not are_row_numbers(names_of_rows):
        return None
    records = _open_values(path, document, "$.*", engine)
    names = [*records.columns]
    is_matrix = shares_names(names, names_of_rows)
    return None if is_matrix or not has_records_by_row(names_of_rows, names) else records


def _open_values(path: Path, document: str, place: str, engine: Duck) -> Records:
    """Return the records that are the values at a place of a document.

    They are written into a file, because DuckDB takes several times longer to unnest a long list
    than to read it from there.

    Args:
        path: the file that the user named.
        document: name of the table with the document.
        place: JSON path with a wildcard.
        engine: the database.

    Raises:
        DataError, Error: see `_open_rows`.
    """
    values = f"array_to_string(json_extract(json, {text(place)}), ',')"
    ((joined,),) = engine.rows(f"select {values} from {document}")
    file = engine.folder / f"{engine.fresh('values')}.json"
    file.write_text(f"[{joined}]", encoding="utf-8")
    return _open_rows(path, _query_of_values(file, "array"), engine)


def _open_rows(path: Path, query: str, engine: Duck) -> Records:
    """Return the records of a query of JSON objects.

    Raises:
        DataError: a record has a key twice.
        Error: a row is no object, or damaged.
    """
    rows = engine.fresh("records")
    engine.store(rows, query)
    names, _ = keys_of_records(engine, rows)
    view = engine.fresh("file")
    engine.view(view, select_cells(rows, names))
    return Records(engine, str(path), view, columns_of_cells(names), is_text=True)
