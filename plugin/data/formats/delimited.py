"""Open CSV and TSV files with DuckDB.

If DuckDB rejects a file, the file is copied with the quotes and line ends that DuckDB expects. If
the copy fails, too, the error names the bad row.
"""

import csv
from _csv import Reader
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from podium.data.counting.duck import Duck, literal_path
from podium.data.counting.relations import ROW, sql_literal
from podium.data.formats.bad_rows import LONGEST_CONTENT, BadRow, raise_if_too_many
from podium.data.formats.records import (
    LONGEST_LINE,
    TEXT,
    Column,
    Records,
    first_duplicate,
    short_lines,
)
from podium.data.text_encodings import not_utf_8_error
from podium.errors import DataError, NotATableError
from podium.printable import shorten
from podium.wording import quantity

DELIMITERS = (",", "\t", ";")
"""Signs that may stand between cells."""


def open_delimited(
    path: Path, plain_file: Path, engine: Duck, bad_rows: list[BadRow] | None = None
) -> Records:
    """Open a table with cells separated by commas, tabs or semicolons.

    The header is the first line that is not blank. The delimiter is the sign of `DELIMITERS` that
    is most frequent in it. Names of columns lose the blanks around them. The cells are text.

    Args:
        path: the file that the user named.
        plain_file: the file to read, an unpacked copy of it if it is compressed.
        engine: the database.
        bad_rows: takes the malformed rows, which are then left out if they are few
            (`raise_if_too_many`); None if they are errors. It is complete when all rows were read
            once.

    Raises:
        DataError: the header is not a row of names, or has a name twice.
    """
    blank_lines, names, delimiter = _read_column_names(plain_file)
    names = [name.strip() for name in names]
    duplicate = first_duplicate(names)
    if duplicate is not None:
        problem = f"column {duplicate!r} appears twice"
        raise DataError(problem, row="header", remedy="rename one of the two")
    view = engine.fresh("file")
    columns = {
        name: Column(f"c{k}", TEXT, comma=(delimiter != ",")) for k, name in enumerate(names)
    }

    def repair(_: Exception) -> None:
        """Let the view read a copy of the file with the quotes and line ends that DuckDB expects.

        Raises:
            DataError: a row is not valid; the error names it.
        """
        copy = engine.folder / engine.fresh("copy")
        try:
            rows_left_out = _copy_table(
                plain_file, copy, delimiter, len(names), leaves_out=bad_rows is not None
            )
        except DataError as error:
            raise error.with_place(str(path)) from None
        if bad_rows is not None:
            bad_rows[:] = rows_left_out
        rows_of_copy = _query_of_rows(copy, len(names), delimiter, skipped_lines=1, is_copy=True)
        engine.connection.execute(f"create or replace view {view} as {rows_of_copy}")

    lines_before_rows = blank_lines + 1
    query = _query_of_rows(plain_file, len(names), delimiter, skipped_lines=lines_before_rows)
    engine.view(view, query)
    return Records(
        engine=engine, source=str(path), scan=view, columns=columns, repair=repair, is_text=True
    )


def _query_of_rows(
    file: Path, width: int, delimiter: str, *, skipped_lines: int, is_copy: bool = False
) -> str:
    """Return the query of a table's rows, as the columns `ROW`, c0, c1 and so on.

    Args:
        file: the file.
        width: number of columns.
        delimiter: the sign between cells.
        skipped_lines: number of lines before the first row.
        is_copy: whether it is a copy, in which the first cell of each row is its number, and lines
            may have `LONGEST_LINE` bytes. DuckDB rejects another file with a line of more than 2
            MiB, which is then copied.
    """
    types = [f"c{k}: 'VARCHAR'" for k in range(width)]
    if is_copy:
        types.insert(0, "n: 'BIGINT'")
        selected = f"n as {ROW}, * exclude (n)"
        longest_line = LONGEST_LINE
    else:
        selected = f"row_number() over () as {ROW}, *"
        longest_line = 2**21
    options = (
        f"header=false, skip={skipped_lines}, "
        f"delim={sql_literal(delimiter)}, quote='\"', escape='\"', auto_detect=false, "
        f"columns={{{', '.join(types)}}}, max_line_size={longest_line}, "
        "compression='none', hive_partitioning=false"
    )
    return f"select {selected} from read_csv({literal_path(file)}, {options})"


def _read_column_names(path: Path) -> tuple[int, list[str], str]:
    """Read the beginning of a table.

    Returns:
        The number of blank lines before the header, the names of the columns, and the delimiter.

    Raises:
        NotATableError: the header has one column and no row below.
        DataError: the header is not UTF-8 or has an open quote.
    """
    with path.open("rb") as stream:
        lines = (line.decode("utf-8-sig") for line in short_lines(stream))
        try:
            blank_lines, header_line = next(
                (place, line) for place, line in enumerate(lines) if line.strip()
            )
            delimiter = max(DELIMITERS, key=header_line.count)
            names = next(_cell_reader(chain([header_line], lines), delimiter))
        except UnicodeDecodeError:
            raise not_utf_8_error("header", path) from None
        except csv.Error as error:
            raise DataError(
                f"not a whole table ({error})",
                row="header",
                remedy="close the quotes, and end all lines in the same way",
            ) from None
        if len(names) == 1 and not stream.read(1):
            remedy = "give a file that holds verdicts"
            raise NotATableError("no rows below the header", remedy=remedy)
    return blank_lines, names, delimiter


def _cell_reader(lines: Iterator[str], delimiter: str) -> Reader:
    """Return a reader of the cells of each row, strict about quotes.

    The limit of the module `csv` for a cell is set to `LONGEST_LINE`.
    """
    csv.field_size_limit(LONGEST_LINE)
    return csv.reader(lines, delimiter=delimiter, strict=True)


class MalformedRowError(DataError):
    """A row has too few or too many cells, or its quotes are wrong."""


def _copy_table(
    path: Path, copy: Path, delimiter: str, width: int, *, leaves_out: bool
) -> list[BadRow]:
    """Copy a table with the quotes and line ends that DuckDB expects, without its empty rows.

    In the copy, the first cell of each row is its number in the file.

    Args:
        path: the file.
        copy: path of the copy.
        delimiter: the sign between cells.
        width: number of columns.
        leaves_out: whether malformed rows are left out if they are few (`raise_if_too_many`). The
            header, a last row without a line end, and a row of several lines, whose quote may be
            that of a row below, are errors all the same.

    Returns:
        The rows that are left out.

    Raises:
        DataError: a row is not valid; the error names it.
    """
    bad_rows: list[BadRow] = []
    number = 0
    with path.open("rb") as stream, copy.open("w", encoding="utf-8", newline="") as target:
        writer = csv.writer(target, delimiter=delimiter, lineterminator="\n")
        latest_line = [""]
        reader = _cell_reader(_lines_with_one_end(stream, latest_line), delimiter)
        while True:
            first_line = reader.line_num + 1
            try:
                cells = _next_row(reader, number, delimiter, width)
            except MalformedRowError as error:
                # A last row without a line end was cut off: the rows after it are lost, too.
                is_cut = not latest_line[0].endswith("\n")
                is_header = number == 0
                has_several_lines = reader.line_num > first_line
                # A wrong quote joins lines, so that a row of several lines may hold further rows.
                if is_header or has_several_lines or is_cut or not leaves_out:
                    raise
                content = latest_line[0].rstrip("\r\n")[:LONGEST_CONTENT]
                bad_rows.append(BadRow(error, content))
                number += 1
                continue
            except UnicodeDecodeError:
                raise not_utf_8_error(f"row {number}", path) from None
            if cells is None:
                break
            if cells:
                writer.writerow([number, *cells])
                number += 1
    # The header has the number 0.
    rows = number - 1
    raise_if_too_many(bad_rows, rows - len(bad_rows))
    return bad_rows


def _lines_with_one_end(stream: BinaryIO, latest_line: list[str]) -> Iterator[str]:
    """Yield lines with the same end, since a file may have lines from Windows and from Unix.

    Each line is also put into `latest_line[0]`, with its own end.
    """
    for line in short_lines(stream):
        latest_line[0] = line.decode("utf-8-sig")
        yield latest_line[0].removesuffix("\n").removesuffix("\r") + "\n"


def _next_row(reader: Reader, number: int, delimiter: str, width: int) -> list[str] | None:
    """Return the cells of the next row: an empty list if all are empty; None after the last row.

    Args:
        reader: the reader of the rows, strict about quotes.
        number: number of the row in errors.
        delimiter: the sign between cells, for errors.
        width: number of cells that a row must have.

    Raises:
        MalformedRowError: the row is not valid. The error names it by its number.
    """
    place = f"row {number}"
    remedy = "repair that row; every row needs every column, and a quote that opens must close"
    try:
        cells = next(reader, None)
    except csv.Error as error:
        problem = f"not a whole table ({error})"
        raise MalformedRowError(problem, row=place, remedy=remedy) from None
    if cells is None:
        return None
    if not any(cells):
        return []
    if len(cells) != width:
        counts = f"expected {quantity(width, 'column')}, got {len(cells)}"
        problem = f"not a whole table ({counts}: {shorten(delimiter.join(cells))})"
        raise MalformedRowError(problem, row=place, remedy=remedy)
    return cells
