"""Open files as records: CSV, TSV, Parquet, JSON, JSONL and DuckDB, plain or compressed.

The kind of a file (its container) is recognised by its first bytes, not by its name.
"""

import bz2
import codecs
import gzip
import lzma
import os
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from duckdb import Error, OutOfMemoryException

from podium.data.counting.duck import Duck, literal_path, out_of_memory_error
from podium.data.counting.relations import ROW, quote_name
from podium.data.formats.bad_rows import BadRow
from podium.data.formats.delimited import open_delimited
from podium.data.formats.git_lfs import reject_lfs_pointer
from podium.data.formats.json_documents import open_document
from podium.data.formats.json_text import first_line_is_a_record, open_lines, read_document
from podium.data.formats.records import MOST_BLANK, Column, Records, blank_lines_error, records_of
from podium.data.formats.win_matrix import shares_names
from podium.data.text_encodings import encoding_of_other_text, is_wide_text_expected
from podium.errors import DataError, UsageError, reject_stream
from podium.notices.option_forms import option_text
from podium.printable import shorten
from podium.storage.atomic_files import NO_ROOM_ERRORS
from podium.storage.temporary_folders import make_folder
from podium.wording import some_paths

if TYPE_CHECKING:
    import pandas as pd


PLAIN_SUFFIXES = (".csv", ".tsv", ".parquet", ".json", ".jsonl")
"""Suffixes of tables that are not compressed."""
TEXT_SUFFIXES = tuple(name for name in PLAIN_SUFFIXES if name != ".parquet")
"""Suffixes of tables that may be compressed as a whole."""
SUFFIXES = (
    *PLAIN_SUFFIXES,
    *(name + packed for name in TEXT_SUFFIXES for packed in (".gz", ".zst", ".xz", ".bz2", ".zip")),
)
"""Suffixes of all tables that are found in folders, such as `.csv` and `.csv.gz`."""
PACKED_STARTS = {
    "gzip": (b"\x1f\x8b",),
    "zstd": (b"\x28\xb5\x2f\xfd",),
    "xz": (b"\xfd7zXZ\x00",),
    "bzip2": (b"BZh",),
    # A zip file without files begins with the second.
    "zip": (b"PK\x03\x04", b"PK\x05\x06"),
}
"""First bytes of compressed files, by the name of the compression."""
OFFICE_MEMBERS = frozenset({"[Content_Types].xml", "content.xml"})
"""Files in the workbooks of Excel and LibreOffice, which are zip files."""
UTF_STARTS = {
    # UTF-32 first, since its mark begins with that of UTF-16.
    "utf-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),
    "utf-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
}
"""Byte order marks of texts that are not UTF-8, by encoding."""
PARQUET_START = b"PAR1"
DATABASE_START = b"DUCK"
"""First bytes of a Parquet file, and the ninth to the twelfth byte of a DuckDB database."""
HEAD_SIZE = 65536
"""Number of first bytes that are read to recognise the container."""
PIECE_SIZE = 2**20
"""Number of bytes that are copied at once."""
UNPACKED_SIZE = 2**30
"""Number of bytes to which any compressed file may unpack."""
UNPACKED_RATIO = 250
"""Largest ratio of unpacked and packed size of a file that unpacks to more than `UNPACKED_SIZE`.

Files with verdicts unpack to 10 to 50 times their size.
"""
DAMAGE_ERRORS = (EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, NotImplementedError)
"""Errors of unpacking a damaged file, in addition to OSError."""
PANDAS_INDEX = "__index_level_"
"""Beginning of the names of columns to which pandas writes an index."""
_COPIES_OF_STREAMS: dict[tuple[int, int], Path] = {}
"""The copy of each stream that was read, by its device and inode."""
shared_engine = cache(Duck)
"""Return the one database of this process for files that are read as a whole."""


def open_records(path: Path, engine: Duck, bad_rows: list[BadRow] | None = None) -> Records:
    """Open a file of any known container, or a table of a DuckDB file as `path#table`.

    The rows are read by the engine when they are asked for; a JSON document is read at once.
    Malformed rows of CSV, TSV and JSONL are put into `bad_rows` and left out if there is such a
    list and they are few (`raise_if_too_many`). It is complete when all rows were read once.

    Raises:
        UsageError: there is no such file or table, or the path is a pipe, a socket or a device.
        DataError: the file is empty, binary, damaged, or of no known container.
    """
    try:
        return _open_container(path, engine, bad_rows)
    except FileNotFoundError:
        raise UsageError(f"no such file: {path}") from None
    except DataError as error:
        raise error.with_place(str(path)) from None


def read_records(path: Path) -> "pd.DataFrame":
    """Read a file of any known container, or a table of a DuckDB file as `path#table`.

    The index of the data frame has the numbers of the rows. Its name is `row` or `line`. UsageError
    is raised if there is no such file or table, and DataError if the file is empty, binary or
    damaged.
    """
    return open_records(path, shared_engine()).frame()


def _open_container(path: Path, engine: Duck, bad_rows: list[BadRow] | None) -> Records:
    """Open a file with the reader for the container that its first bytes show.

    A file that is compressed or can be read only once is copied into the engine's folder. A text
    that is not JSON is opened as a delimited table.

    Raises:
        DataError: the file is empty or damaged, or a pointer of Git LFS.
    """
    file = str(path)
    table = ""
    if not path.exists():
        file, _, table = file.partition("#")
    engine.watch(Path(file))
    plain_file = _utf_8_copy(_plain_copy(Path(file), engine), engine)
    with plain_file.open("rb") as stream:
        head = stream.read(HEAD_SIZE)
    reject_lfs_pointer(head)
    if head.startswith(PARQUET_START):
        return _open_parquet(path, plain_file, engine)
    if head[8:12] == DATABASE_START:
        return _open_database(path, plain_file, table, engine)
    if not head.strip():
        raise DataError("the file is empty", remedy="give a file that holds rows")
    start = head.removeprefix(codecs.BOM_UTF8).lstrip()[:1]
    if start not in b"[{":
        return open_delimited(path, plain_file, engine, bad_rows)
    if start == b"{" and (".jsonl" in path.suffixes or first_line_is_a_record(plain_file)):
        return open_lines(path, plain_file, engine, bad_rows)
    opened = open_document(path, plain_file, engine)
    return opened or records_of(engine, read_document(plain_file), str(path))


def _plain_copy(path: Path, engine: Duck) -> Path:
    """Return the path of a file, or of an unpacked copy of it in the engine's folder.

    A file is copied if it is compressed, or if it is no regular file. The copy of a stream is kept,
    so that a command can read its sources twice.

    Raises:
        UsageError: the path is a pipe, a socket or a device.
        DataError: the file is binary or damaged, or unpacks to too many bytes.
    """
    reject_stream(path)
    with path.open("rb") as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            return _plain_copy(_kept_copy(stream), engine)
        head = stream.peek(HEAD_SIZE)
        kind = _kind_of_packing(head)
        if kind is None:
            _reject_binary(head)
            return path
        copy = engine.folder / engine.fresh("copy")
        _copy_unpacked(stream, kind, copy, path.stat().st_size)
        return copy


def _kept_copy(stream: BinaryIO) -> Path:
    """Return the path of a copy of a stream, which can be read only once.

    The stream is read at the first call. Later calls for the same stream return the same copy.
    """
    status = os.fstat(stream.fileno())
    key = (status.st_dev, status.st_ino)
    if key not in _COPIES_OF_STREAMS:
        copy = make_folder() / "stream"
        _copy_unpacked(stream, "file", copy)
        _COPIES_OF_STREAMS[key] = copy
    return _COPIES_OF_STREAMS[key]


def _kind_of_packing(head: bytes) -> str | None:
    """Return the key of `PACKED_STARTS` of a file that begins so; None if it is not compressed."""
    return next((kind for kind, starts in PACKED_STARTS.items() if head.startswith(starts)), None)


def _copy_unpacked(stream: Any, kind: str, copy: Path, packed_size: int | None = None) -> None:
    """Copy a stream to a new file, unpacked.

    Args:
        stream: the open file.
        kind: `file`, or a key of `PACKED_STARTS`.
        copy: the file to write.
        packed_size: size of a compressed file in bytes; None if it is not compressed.

    Raises:
        DataError: the file is damaged or binary, has more than `MOST_BLANK` blank bytes in a row,
            or unpacks to too many bytes; or the disk is full.
    """
    size = 0
    blank_bytes = 0
    largest_size = max(UNPACKED_SIZE, (packed_size or 0) * UNPACKED_RATIO)
    try:
        content = _unpacked_stream(stream, kind)
        with copy.open("wb") as target:
            while piece := content.read(PIECE_SIZE):
                if packed_size and not size:
                    _reject_binary(piece)
                size += target.write(piece)
                blank_bytes = blank_bytes + len(piece) if piece.isspace() else 0
                if blank_bytes > MOST_BLANK:
                    raise blank_lines_error()
                if packed_size and size > largest_size:
                    problem = f"it unpacks to more than {UNPACKED_RATIO} times its size"
                    raise DataError(problem, remedy="unpack it yourself if you trust it")
    except (*DAMAGE_ERRORS, OSError) as error:
        if isinstance(error, OSError) and error.errno in NO_ROOM_ERRORS:
            problem = f"unpacked, it does not fit into {tempfile.gettempdir()}"
            remedy = "free disk space, or set TMPDIR to a larger disk"
            raise DataError(problem, remedy=remedy) from None
        raise _damage_error(kind, error) from None


def _unpacked_stream(stream: Any, kind: str) -> Any:
    """Return a stream of the unpacked content of a stream; `kind` is `file` or a key of
    `PACKED_STARTS`.

    Raises:
        DataError: a zip file has a password, has no file or several files, or is a document of an
            office program.
        BadZipFile: a zip file is damaged.
    """
    import pyarrow as pa

    match kind:
        case "gzip":
            return gzip.GzipFile(fileobj=stream)
        case "zstd":
            return pa.CompressedInputStream(pa.PythonFile(stream), kind)
        case "xz":
            return lzma.LZMAFile(stream)
        case "bzip2":
            return bz2.BZ2File(stream)
        case "zip":
            return _only_member(zipfile.ZipFile(stream))
    return stream


def _only_member(archive: zipfile.ZipFile) -> Any:
    """Open the only file in a zip file; folders and hidden files do not count.

    Raises:
        DataError: there is no file or there are several, the file has a password, or the zip file
            is a document of an office program.
    """
    members = []
    for member in archive.infolist():
        name = member.filename
        is_hidden = name.startswith("__MACOSX/") or name.rpartition("/")[2].startswith(".")
        if not member.is_dir() and not is_hidden:
            members.append(member)
    if not OFFICE_MEMBERS.isdisjoint(member.filename for member in members):
        problem = "the file is a workbook or another document of an office program"
        raise DataError(problem, remedy="save the table as CSV")
    if not members:
        raise DataError("the zip file has 0 files", remedy="give a file that holds rows")
    if len(members) > 1:
        names = some_paths([member.filename for member in members])
        problem = f"the zip file has {len(members)} files: {names}"
        raise DataError(problem, remedy="unpack it, and give the file with the verdicts")
    try:
        return archive.open(members[0])
    except (RuntimeError, NotImplementedError) as error:
        problem = f"the zip file cannot be unpacked ({shorten(str(error))})"
        raise DataError(problem, remedy="unpack it, and give the file in it") from None


def _utf_8_copy(path: Path, engine: Duck) -> Path:
    """Return the path of a file, or of a copy of it in UTF-8 whose lines end with a line feed.

    A text is copied if it begins with the byte order mark of UTF-16 or UTF-32, if it is not UTF-8
    and the user named its encoding (`texts_in`), if its lines end with a carriage return alone, or
    if it has two byte order marks. A text that should be UTF-8 and is not is left as it is: the
    reader of the table names the row.

    Raises:
        DataError: the text is not in the encoding of its mark, or in the one that the user named.
    """
    with path.open("rb") as stream:
        head = stream.read(HEAD_SIZE)
    if head.startswith(PARQUET_START) or head[8:12] == DATABASE_START:
        return path
    encoding = next((name for name, marks in UTF_STARTS.items() if head.startswith(marks)), None)
    encoding = encoding or encoding_of_other_text(path)
    ends_with_cr = b"\0" not in head and b"\r" in head and b"\n" not in head
    has_two_marks = head.startswith(2 * codecs.BOM_UTF8)
    is_plain = encoding is None and not ends_with_cr and not has_two_marks
    if is_plain:
        return path
    copy = engine.folder / engine.fresh("copy")
    text_encoding = encoding or "utf-8"
    has_line_feeds: bool | None = None  # None before the first piece
    try:
        with (
            path.open(encoding=text_encoding, newline="", errors="strict") as stream,
            copy.open("w", encoding="utf-8", newline="") as target,
        ):
            while piece := stream.read(PIECE_SIZE):
                if has_line_feeds is None:
                    start = piece[:HEAD_SIZE]
                    has_line_feeds = "\n" in start or "\r" not in start
                    piece = piece.lstrip("\ufeff")
                target.write(piece if has_line_feeds else piece.replace("\r", "\n"))
    except UnicodeError as error:
        if encoding is None:
            # The reader of the table names the row.
            return path
        problem = f"not a whole {encoding.upper()} text ({shorten(str(error))})"
        raise DataError(problem, remedy="write the file again, in UTF-8") from None
    return copy


def _reject_binary(head: bytes) -> None:
    """Raise DataError if the first bytes of a file are neither text nor Parquet or DuckDB."""
    if b"\0" not in head[:HEAD_SIZE]:
        return
    is_table = head.startswith(PARQUET_START) or head[8:12] == DATABASE_START
    is_wide_text = any(map(head.startswith, UTF_STARTS.values())) or is_wide_text_expected()
    if not is_table and not is_wide_text:
        raise _binary_error(head[:HEAD_SIZE])


def _binary_error(head: bytes) -> DataError:
    """Return the error for binary content that begins so: a file, or what was compressed in it.

    It says so if this content is compressed, too, and proposes the likely encoding if the bytes
    look like UTF-16.
    """
    kind = _kind_of_packing(head)
    if kind is not None:
        return DataError(
            f"there is a second compressed file in it ({kind})", remedy="unpack it once"
        )
    remedy = "give CSV, TSV, Parquet, JSON or JSONL"
    # Most characters of UTF-16 have one byte that is 0: the second one if it is little-endian.
    halves = {"utf-16-be": head[::2], "utf-16-le": head[1::2]}
    likely = [name for name, half in halves.items() if 2 * half.count(0) > len(half)]
    if len(likely) == 1:
        remedy += f", or, if it is UTF-16 without a mark, {option_text('encoding', likely[0])}"
    return DataError("the file is binary", remedy=remedy)


def _open_parquet(path: Path, plain_file: Path, engine: Duck) -> Records:
    """Open a Parquet file. Later, only the columns that are needed are read.

    Columns with an index of pandas are dropped, unless they name the rows of a matrix of wins.

    Args:
        path: the file that the user named.
        plain_file: the file to read.
        engine: the database.

    Raises:
        DataError: the file is damaged, or there is too little memory for it.
    """
    file = literal_path(plain_file)
    arguments = f"{file}, binary_as_string=true, hive_partitioning=false"
    rows = f"read_parquet({arguments})"
    try:
        described = engine.connection.execute(f"describe select * from {rows}").fetchall()
    except OutOfMemoryException as error:
        raise out_of_memory_error(error, str(path)) from None
    except Error as error:
        raise _damage_error("Parquet", error) from None
    types = [(name, type_) for name, type_, *_ in described]
    if any(name == "file_row_number" for name, _ in types):
        row = "row_number() over ()"
        scan = rows
    else:
        row = "file_row_number + 1"
        scan = f"read_parquet({arguments}, file_row_number=true)"
    names_of_rows = _names_of_rows(engine, types, scan)
    return _view_of_columns(
        engine, path, types=types, row=row, scan=scan, kind="Parquet", kept_index=names_of_rows
    )


def _names_of_rows(engine: Duck, types: Sequence[tuple[str, str]], scan: str) -> str | None:
    """Return the column with pandas' index if the index has names of columns; None otherwise.

    The index of a matrix of wins has them, because its rows and columns are the same models.

    Args:
        engine: the database.
        types: name and type of each column.
        scan: SQL that reads the file.
    """
    columns = [name for name, _ in types]
    for name, type_ in types:
        if type_ != "VARCHAR" or not name.startswith(PANDAS_INDEX):
            continue  # only texts can name the rows
        labels = engine.rows(f"select {quote_name(name)} from {scan} limit {2 * len(columns)}")
        if shares_names([str(label) for (label,) in labels], columns):
            return name
    return None


def _open_database(path: Path, plain_file: Path, table: str, engine: Duck) -> Records:
    """Open a table of a DuckDB file read-only.

    Views are rejected, because they could read other files.

    Args:
        path: the file as the user named it, with the table.
        plain_file: the file to read.
        table: name of the table, with or without its schema; empty for the only table.
        engine: the database, to which the file is attached.

    Raises:
        DataError: the file is damaged.
        UsageError: there is no such table, or several fit.
    """
    name = engine.fresh("attached")
    try:
        engine.attach(name, plain_file)
        tables = engine.rows(
            f"select schema_name, table_name from duckdb_tables() where database_name = '{name}'"
        )
    except (Error, DataError) as error:
        raise _damage_error("DuckDB", error) from None
    matching_tables = tables
    if table:
        matching_tables = [
            (schema, name) for schema, name in tables if table in (name, f"{schema}.{name}")
        ]
    if len(matching_tables) != 1:
        names = ", ".join(sorted(table_name for _, table_name in tables)) or "none"
        raise UsageError(
            f"{path}: name one of its tables, as {plain_file.name}#TABLE; tables: {names}"
        )
    scan = ".".join(map(quote_name, (name, *matching_tables[0])))
    types = engine.rows(f"select column_name, column_type from (describe {scan})")
    return _view_of_columns(
        engine, path, types=types, row="row_number() over ()", scan=scan, kind="DuckDB"
    )


def _damage_error(kind: str, error: Exception) -> DataError:
    """Return the error for a file that cannot be read to its end; `kind` names its container."""
    problem = f"not a whole {kind} file ({shorten(str(error))})"
    return DataError(problem, remedy="write or copy the file again")


def _view_of_columns(
    engine: Duck,
    path: Path,
    types: list[tuple[str, str]],
    row: str,
    scan: str,
    kind: str,
    kept_index: str | None = None,
) -> Records:
    """Return the records of a table, which read a new view of its columns.

    In the view, the columns are called c0, c1 and so on; the records have the names of the file.

    Args:
        engine: the database.
        path: the file.
        types: name and type of each column.
        row: SQL of the number of a row, from 1.
        scan: SQL that reads the file.
        kind: name of the container, for errors.
        kept_index: the column with an index of pandas that is kept; other columns with an index are
            dropped.
    """

    def raise_damaged(error: Exception) -> None:
        """Raise the error for this file."""
        raise _damage_error(kind, error).with_place(str(path))

    kept_columns = []
    for name, type_ in types:
        if name == kept_index or not name.startswith(PANDAS_INDEX):
            kept_columns.append((name, type_))
    view = engine.fresh("file")
    columns = ", ".join(f"{quote_name(name)} as c{k}" for k, (name, _) in enumerate(kept_columns))
    engine.view(view, f"select {row} as {ROW}, {columns} from {scan}")
    cells = {name: Column(f"c{k}", type_) for k, (name, type_) in enumerate(kept_columns)}
    return Records(engine=engine, source=str(path), scan=view, columns=cells, repair=raise_damaged)
