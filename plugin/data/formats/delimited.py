"""Open CSV and TSV files with DuckDB.

If DuckDB rejects a file, the file is copied with the quotes and line ends that DuckDB expects. If
the copy fails, too, the error names the bad row.
"""

import csv
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from podium.data.counting.duck import Duck, literal_path
from podium.data.counting.relations import ROW, text
from podium.data.formats.records import (
    LONGEST_LINE,
    TEXT,
    Column,
    Records,
    first_duplicate,
    not_utf_8,
    short_lines,
)
from podium.errors import DataError
from podium.printable import shorten

DELIMITERS = (",", "\t", ";")


def open_delimited(path: Path, plain_file: Path, engine: Duck) -> Records:
    """Open a table with cells separated by commas, tabs or semicolons.

    The header is the first line that is not blank. The delimiter is the sign of `DELIMITERS` that
    is most frequent in it. Names of columns lose the blanks around them. The cells are text.

    Args:
        path: the file that the user named.
        plain_file: the file to read, an unpacked copy of it if it is compressed.
        engine: the database.

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
    columns = {name: Column(f"c{k}", TEXT, comma=delimiter != ",") for k, name in enumerate(names)}

    def scan(file: Path, skipped_lines: int, longest_line: int) -> str:
        """Return the query of a file's rows after some lines; lines have a largest length."""
        types = ", ".join(f"c{k}: 'VARCHAR'" for k in range(len(names)))
        options = (
            f"header=false, skip={skipped_lines}, "
            f"delim={text(delimiter)}, quote='\"', escape='\"', auto_detect=false, "
            f"columns={{{types}}}, max_line_size={longest_line}, "
            "compression='none', hive_partitioning=false"
        )
        cells = f"read_csv({literal_path(file)}, {options})"
        return f"select row_number() over () as {ROW}, * from {cells}"

    def repair(_: Exception) -> None:
        """Let the view read a copy of the file with the quotes and line ends that DuckDB expects.

        Raises:
            DataError: a row is not valid; the error names it.
        """
        copy = engine.folder / engine.fresh("copy")
        try:
            _copy_table(plain_file, copy, delimiter, len(names))
        except DataError as error:
            raise error.with_place(str(path)) from None
        engine.connection.execute(f"create or replace view {view} as {scan(copy, 1, LONGEST_LINE)}")

    engine.view(view, scan(plain_file, blank_lines + 1, 2**21))
    return Records(engine, str(path), view, columns, repair=repair, is_text=True)


def _read_column_names(path: Path) -> tuple[int, list[str], str]:
    """Read the beginning of a table.

    Returns:
        The number of blank lines before the header, the names of the columns, and the delimiter.

    Raises:
        DataError: the header is not UTF-8 or has an open quote, or it has one column and no row
            below.
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
            raise not_utf_8("header") from None
        except csv.Error as error:
            raise DataError(
                f"not a whole table ({error})", row="header", remedy="close the quotes"
            ) from None
        if len(names) == 1 and not stream.read(1):
            raise DataError("no rows below the header", remedy="give a file that holds verdicts")
    return blank_lines, names, delimiter


def _cell_reader(lines: Iterator[str], delimiter: str) -> Iterator[list[str]]:
    """Return a reader of the cells of each row, strict about quotes."""
    csv.field_size_limit(LONGEST_LINE)
    return csv.reader(lines, delimiter=delimiter, strict=True)


def _copy_table(path: Path, copy: Path, delimiter: str, width: int) -> None:
    """Copy a table with the quotes and line ends that DuckDB expects, without its empty rows.

    Args:
        path: the file.
        copy: path of the copy.
        delimiter: the sign between cells.
        width: number of columns.

    Raises:
        DataError: a row is not valid; the error names it.
    """
    row_number = -1
    remedy = "repair that row; every row needs every column, and a quote that opens must close"
    with path.open("rb") as stream, copy.open("w", encoding="utf-8", newline="") as target:
        writer = csv.writer(target, delimiter=delimiter, lineterminator="\n")
        # All lines get the same end, since a file may have lines from Windows and from Unix.
        lines = (
            line.decode("utf-8-sig").removesuffix("\n").removesuffix("\r") + "\n"
            for line in short_lines(stream)
        )
        try:
            rows = filter(any, _cell_reader(lines, delimiter))
            for row_number, cells in enumerate(rows):
                if len(cells) != width:
                    shown = shorten(delimiter.join(cells))
                    lengths = f"expected {width} columns, got {len(cells)}: {shown}"
                    problem = f"not a whole table ({lengths})"
                    raise DataError(problem, row=f"row {row_number}", remedy=remedy)
                writer.writerow(cells)
        except csv.Error as error:
            problem = f"not a whole table ({error})"
            raise DataError(problem, row=f"row {row_number + 1}", remedy=remedy) from None
        except UnicodeDecodeError:
            raise not_utf_8(f"row {row_number + 1}") from None
