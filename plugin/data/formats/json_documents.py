"""Open the records of a JSON document with DuckDB.

It reads a list of records, pandas' `orient="index"` with numbered rows, and results of promptfoo.
Other documents, and damaged ones, are read by `podium.data.formats.json_text.read_document`.
"""

import re
from pathlib import Path

from duckdb import Error

from podium.data.counting.duck import OWN_SQL_ERRORS, Duck, literal_path
from podium.data.counting.relations import sql_literal
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
LIST_END = re.compile(rb"[^,\s]\s*\]\s*$")
"""Matches the end of a list: a bracket after a value, or after the bracket of an empty list."""
RESULT_PATHS = ("$.results.results", "$.results")
"""Where promptfoo's results are in a whole document, and in a summary alone."""
RESULT_KEYS = ("promptIdx", "testIdx")
"""Keys of each result of promptfoo."""


def open_document(path: Path, plain_file: Path, engine: Duck) -> Records | None:
    """Open the records of a document; None if another reader has to read it.

    DuckDB reads a list of records, records by numbers of rows (pandas' `orient="index"`), and
    results of promptfoo. Another reader has to read any other document, a damaged one, one with a
    key twice in a record, or one object of more than `LARGEST_OBJECT` bytes.

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
            rows = engine.fresh("records")
            engine.store(rows, _query_of_values(plain_file))
            return _open_values(path, rows, engine)
        if plain_file.stat().st_size > LARGEST_OBJECT:
            return None
        return _open_object(path, plain_file, engine)
    except OWN_SQL_ERRORS:
        raise
    except (Error, DataError, UnicodeDecodeError):
        return None


def _is_list_closed(path: Path) -> bool:
    """Return whether a list ends with a bracket that follows a value, not a comma.

    DuckDB would also read a list that was cut off after a record, as its first records.
    """
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - LONGEST_ENDING))
        ending = stream.read()
    return LIST_END.search(ending) is not None


def _query_of_values(path: Path) -> str:
    """Return a query (SQL) of the values of a list in a file, as JSON in the column `json`."""
    size = path.stat().st_size + 1024
    options = f"format='array', maximum_object_size={size}, compression='uncompressed'"
    return f"select json from read_json_objects({literal_path(path)}, {options})"


def _open_object(path: Path, plain_file: Path, engine: Duck) -> Records | None:
    """Return the records in a document that is one object.

    None if it has none of the forms of `_query_of_records`, if it has a key twice, or if its values
    under numbered keys are not records but columns.

    Args:
        path: the file that the user named.
        plain_file: the file to read.
        engine: the database.

    Raises:
        DataError, Error: a record has a key twice, is no object, or is damaged.
    """
    import pyarrow as pa

    documents = engine.table(_query_of_records(plain_file))
    (names,) = documents["names"].to_pylist()
    if documents["records"].null_count or first_duplicate(names) is not None:
        return None
    # Arrow makes rows of a long list several times faster than DuckDB.
    values = engine.fresh("values")
    texts_of_records = documents["records"].combine_chunks().flatten()
    engine.register(values, pa.table({"json": texts_of_records}))
    records = _open_values(path, values, engine)
    if not are_row_numbers(names):
        return records
    columns = [*records.columns]
    has_records = has_records_by_row(names, columns) and not shares_names(columns, names)
    return records if has_records else None


def _query_of_records(path: Path) -> str:
    """Return a query (SQL) of one row with the records in a document, as JSON text.

    Its columns are `names`, the keys of the document, and `records`: a list of promptfoo's results,
    or of all values if the first key is a number. `records` is NULL if there are neither.
    """
    # DuckDB parses the document again for each function of it, so there are few of them.
    firsts = ", ".join(sql_literal(f"{place}[0]") for place in RESULT_PATHS)
    content = f"select content as json from read_text({literal_path(path)})"
    keys = f"select json, json_keys(json, ['$', {firsts}]) as keys from ({content})"
    cases = ""
    # DuckDB's lists begin at 1. `keys[1]` is of `$`, so `keys[2]` is of the first path.
    for number, place in enumerate(RESULT_PATHS, start=2):
        is_place = f"list_has_all(keys[{number}], [{', '.join(map(sql_literal, RESULT_KEYS))}])"
        cases += f"when {is_place} then json_extract(json, {sql_literal(place + '[*]')}) "
    cases += "when regexp_full_match(keys[1][1], '[0-9]+') then json_extract(json, '$.*')"
    return f"select keys[1] as names, case {cases} end as records from ({keys})"


def _open_values(path: Path, rows: str, engine: Duck) -> Records:
    """Return the records of a table whose column `json` has JSON objects.

    Raises:
        DataError: a record has a key twice.
        Error: a row is no object, or damaged.
    """
    names, _ = keys_of_records(engine, rows)
    view = engine.fresh("file")
    engine.view(view, select_cells(rows, names))
    return Records(
        engine=engine, source=str(path), scan=view, columns=columns_of_cells(names), is_text=True
    )
