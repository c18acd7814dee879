"""DuckDB as the engine: an embedded database that writes to disk what does not fit into memory."""

import atexit
import glob
import itertools
import re
import shutil
import stat
import weakref
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from functools import cached_property, partial
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from duckdb import BinderException, CatalogException, Error, OutOfMemoryException, ParserException

from podium.data.counting.coded_texts import CodedFrame
from podium.data.counting.grouping import RowsToGroup
from podium.data.counting.packed_rows import fits_by_types, group_as_numbers, plan_packing
from podium.data.counting.relations import sql_literal
from podium.errors import DataError, UsageError
from podium.storage.temporary_folders import make_folder, process_folder

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

BATCH = 1_000_000
"""Largest number of rows that are handed over at once if there are no more."""
ROWS_OF_BATCH = 250_000
"""Number of rows that are handed over at once if there are more: what is computed of them then
takes little memory."""
ROWS_AT_ONCE = 4_000_000
"""Largest number of rows that are grouped at once: their groups take half a gigabyte at most."""
ROWS_IN_ARRAYS = 2_000_000
"""Largest number of rows whose counted columns are read into arrays, which take a tenth of a
gigabyte at most."""
ROWS_IN_NUMBERS = 12_000_000
"""Largest number of rows that are grouped as numbers in memory (`packed_rows`): the numbers take a
tenth of a gigabyte at most, and their groups three tenths."""
SIZE = re.compile(r"(?=.*[1-9])\d+(\.\d+)? ?[KMGT](i?B)?", re.IGNORECASE)
"""Matches a size of memory above 0, such as `700MB` or `1.5 GiB`."""
SETTINGS = (
    "set python_enable_replacements = false",
    "set autoinstall_known_extensions = false",
    "set autoload_known_extensions = false",
    "set enable_progress_bar = false",
)
"""Settings with which names in a query never mean Python variables, and nothing is downloaded."""
OWN_SQL_ERRORS = (BinderException, CatalogException, ParserException)
"""DuckDB's errors that can only come from podium's own SQL, and not from a file."""
OUT_OF_MEMORY = "Out of Memory Error"
"""Begin of the text of an `OutOfMemoryException`, by which it is recognised in Arrow's errors."""
FREE_DISK = "free disk space where the environment variable TMPDIR points"
"""What to do if there is no room, for errors."""
MOST_IDLE = 4
"""Largest number of unused connections that are kept for reuse."""
FileState = tuple[int, int, int]
"""What changes with a file: inode, size in bytes, and modification time in nanoseconds."""
_IDLE_CONNECTIONS: "list[DuckDBPyConnection]" = []
"""Connections that can be reused."""
_OPEN_DATABASES: "weakref.WeakSet[Duck]" = weakref.WeakSet()
"""Databases that are not closed yet."""


class Duck:
    """An in-process DuckDB database, closed when it is garbage-collected.

    Args:
        memory: limit of the memory that DuckDB uses, for example `700MB`; further data is written
            to disk. None for DuckDB's own limit.

    Attributes:
        folder: a temporary folder for files of this database, which is removed at the end.
        connection: the connection, whose errors are those of DuckDB.

    Raises:
        UsageError: `memory` is not a size.
    """

    def __init__(self, memory: str | None = None) -> None:
        if memory is not None and not SIZE.fullmatch(memory):
            raise UsageError(f"memory {memory!r} is no size; write for example 700MB or 4GB")
        self.folder = make_folder()
        self._has_limit = memory is not None
        # A connection with a limit of memory would keep it, so that it is neither reused nor kept.
        may_reuse = memory is None
        self.connection = _IDLE_CONNECTIONS.pop() if may_reuse and _IDLE_CONNECTIONS else _connect()
        self._made: list[tuple[str, str]] = []
        self._finalizer = weakref.finalize(
            self, _close, self.connection, self.folder, self._made, keep=may_reuse
        )
        _OPEN_DATABASES.add(self)
        self._numbers = itertools.count()
        self._types: dict[str, dict[str, str]] = {}
        self._arrays: dict[str, dict[str, np.ndarray]] = {}
        self._frames: dict[str, CodedFrame] = {}
        self._watched: dict[Path, FileState | None] = {}
        if memory is not None:
            self._run(f"set memory_limit = '{memory}'")

    def close(self) -> None:
        """Release the connection. The database cannot be used any more."""
        self._finalizer()
        del self.connection

    def watch(self, path: Path) -> None:
        """Record the state of a file.

        If the file changes later, storing a query or viewing arrays raises DataError.
        """
        self._watched[path] = _state(path)

    def fresh(self, stem: str) -> str:
        """Return an unused table name that begins with `stem`."""
        return f"{stem}_{next(self._numbers)}"

    def register(self, name: str, table: Any) -> None:
        """Register rows in memory as a view.

        Args:
            name: name of the view.
            table: an Arrow table, a data frame, or arrays by the names of columns.
        """
        self.connection.register(name, table)
        self._made.append(("unregister", name))

    def keep_codes(self, name: str, frame: CodedFrame) -> None:
        """Keep the codes of texts in a relation, which has the rows of a data frame."""
        self._frames[name] = frame

    def coded_frame(self, name: str) -> CodedFrame | None:
        """Return the rows and codes of a relation; None if it is not known to be a data frame."""
        return self._frames.get(name)

    def attach(self, name: str, path: Path) -> None:
        """Attach a DuckDB file read-only under this name.

        An error of DuckDB is raised if the file is not a whole database.
        """
        self.connection.execute(f"attach {sql_literal(str(path.resolve()))} as {name} (read_only)")
        self._made.append(("detach", name))

    def view_arrays(
        self, name: str, arrays: dict[str, np.ndarray], query: Callable[[str], str]
    ) -> None:
        """Create a view of a query of arrays, which stay in memory.

        Args:
            name: name of the view.
            arrays: the columns by name, shape (rows,) each.
            query: the query, as a function of the relation with the arrays.

        Raises:
            DataError: a watched file has changed, from which the arrays may be.
        """
        self._refuse_changed()
        relation = self.fresh("arrays")
        self.register(relation, arrays)
        self._arrays[relation] = arrays
        self.view(name, query(relation))

    def view(self, name: str, query: str) -> None:
        """Create a view of a query; the query runs each time the view is read."""
        self._run(f"create view {name} as {query}")
        self._made.append(("drop view", name))

    def store(self, name: str, query: str) -> None:
        """Run a query once and store its rows as a table, on disk if memory is short.

        DataError is raised if DuckDB cannot run the query, or if a watched file has changed.
        """
        self._run(f"create table {name} as {query}")
        self._made.append(("drop table", name))
        self._refuse_changed()

    def is_small(self, rows: int) -> bool:
        """Return whether some columns of so many rows may be arrays (`ROWS_IN_ARRAYS`)."""
        return rows <= ROWS_IN_ARRAYS

    def fits_numbers(self, rows: int) -> bool:
        """Return whether so many rows may be numbers in memory (`ROWS_IN_NUMBERS`).

        They may not if there are none, or if the memory is limited, because the limit is that of
        the database.
        """
        return not self._has_limit and 0 < rows <= ROWS_IN_NUMBERS

    def store_groups(self, name: str, rows: RowsToGroup) -> None:
        """Store the groups of rows, sorted by their first three keys.

        Rows that fit into numbers are grouped in memory, others by queries.

        Args:
            name: name of the new table or view.
            rows: the rows, and how they are grouped.

        Raises:
            DataError: the rows cannot be read, or a file has changed while they were.
        """
        fits_numbers = self.fits_numbers(rows.number)
        try:
            if not (fits_numbers and self._group_numbers(name, rows)):
                self._group_by_queries(name, rows)
        except Exception:
            # The cause may be that a file has changed, which is then the error.
            self._refuse_changed()
            raise

    def _group_by_queries(self, name: str, rows: RowsToGroup) -> None:
        """Store the groups of rows, which queries make, under the name of a new table or view.

        If there are more than `ROWS_AT_ONCE` rows, they are grouped in several steps, and the
        groups are stored on disk. Each step takes the rows of a range of the first key.
        """
        grouping = rows.grouping
        order = ", ".join(grouping.keys[:3])
        if rows.number <= ROWS_AT_ONCE:
            self.store(name, f"{grouping.query(rows.relation)} order by {order}")
            return
        on_disk = f"{self._disk}.{name}"
        # A Parquet file is written in half of the time of a table on disk.
        file = self.folder / f"{name}_rows.parquet"
        self._run(copy_command(f"select * from {rows.relation}", file))
        self._refuse_changed()
        rows_on_disk = f"read_parquet({literal_path(file)})"
        for number, condition in enumerate(
            self._ranges(rows_on_disk, grouping.keys[0], rows.number)
        ):
            part = f"(select * from {rows_on_disk} where {condition}) as part"
            verb = f"insert into {on_disk}" if number else f"create table {on_disk} as"
            self._run(f"{verb} {grouping.query(part)} order by {order}")
        file.unlink()
        self.view(name, f"select * from {on_disk}")

    def _group_numbers(self, name: str, rows: RowsToGroup) -> bool:
        """Make a new view of the groups of rows in memory, if each row fits into a number.

        The result is whether the rows fit. `rows.ranges` is called only if the types of the columns
        fit.
        """
        grouping = rows.grouping
        types = self._types_of(f"select * from {rows.relation}")
        if not fits_by_types(grouping, types):
            return False
        packing = plan_packing(grouping, types, rows.ranges())
        if packing is None:
            return False

        def aggregate_values(value_codes: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
            """Return the columns of `Packing.aggregates_query`, computed by the database."""
            # All rows were read. Those of another file would not have fitted into their fields.
            self._refuse_changed()
            relation = self.fresh("value_codes")
            self.register(relation, value_codes)
            return self.arrays(packing.aggregates_query(relation))

        with closing(_batches_of(self.connection, packing.numbers_query(rows.relation))) as batches:
            groups = group_as_numbers(packing, rows.number, batches, aggregate_values)
        if groups is None:
            return False
        self.view_arrays(name, groups, partial(grouping.arrays_query, groups))
        return True

    def _ranges(self, table: str, column: str, rows: int) -> list[str]:
        """Return SQL conditions for ranges of a column with about `ROWS_AT_ONCE` rows each.

        The ranges are ascending, do not overlap and cover all values. They are estimated from a
        sample of the rows.

        Args:
            table: the relation, such as the name of a table.
            column: name of the column, which holds whole numbers.
            rows: number of rows of the relation.
        """
        sample = f"select {column} from {table} using sample reservoir(20000 rows) repeatable (1)"
        values = sorted(value for (value,) in self.rows(sample))
        parts = ceil(rows / ROWS_AT_ONCE)
        # The values that divide the sample into equal parts.
        ends = sorted({values[len(values) * part // parts] for part in range(1, parts)})
        lower = ["true", *(f"{column} >= {end}" for end in ends)]
        upper = [*(f"{column} < {end}" for end in ends), "true"]
        return [f"{low} and {high}" for low, high in zip(lower, upper, strict=True)]

    @cached_property
    def _disk(self) -> str:
        """Name of an attached on-disk database, for tables that need not fit into memory."""
        self._run(f"attach {sql_literal(str(self.folder / 'packed.duckdb'))} as packed")
        self._made.append(("detach", "packed"))
        return "packed"

    def table(self, query: str) -> "pa.Table":
        """Return all rows of a query as an Arrow table.

        Raises:
            DataError: DuckDB cannot run the query.
        """
        with _convert_duckdb_errors():
            return self.connection.sql(query).to_arrow_table()

    def arrays(self, query: str) -> dict[str, np.ndarray]:
        """Return the columns of a query by name, shape (rows,) each.

        An empty cell is NaN among numbers, else None. DataError is raised if DuckDB cannot run the
        query.
        """
        with _convert_duckdb_errors():
            columns = self.connection.sql(query).fetchnumpy()
        return {name: _fill_empty(column) for name, column in columns.items()}

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return all rows of a small query as Python values.

        DataError is raised if DuckDB cannot run the query.
        """
        return self._run(query).fetchall()

    def batches(
        self,
        query: str,
        order: str,  # noqa: ARG002
        most: int,
    ) -> Iterator[dict[str, np.ndarray]]:
        """Yield the rows of a query of stored groups in the order in which they are stored.

        If the query has at most `BATCH` rows, they are one batch, or none if there is no row.
        Otherwise, each batch has about `ROWS_OF_BATCH` rows. A batch is the columns by name, as
        `arrays` returns them.

        Args:
            query: the query.
            order: not used, because groups are sorted before they are stored.
            most: a number of rows that the query does not exceed, which decides whether there is
                one batch.

        Raises:
            DataError: DuckDB cannot run the query.
        """
        if most <= BATCH:
            batch = self.arrays(query)
            any_column = next(iter(batch.values()))
            if len(any_column):
                yield batch
            return
        with _convert_duckdb_errors(), self.connection.cursor() as cursor:
            # What is registered is known to one connection only.
            for name, arrays in self._arrays.items():
                cursor.register(name, arrays)
            # One thread, so that the other cores are free for the caller, which sums up the rows.
            cursor.execute("set threads = 1")
            try:
                yield from _batches_of(cursor, query)
            finally:
                cursor.execute("reset threads")

    def columns(self, name: str) -> dict[str, str]:
        """Return the type of each column of a table or view, by name of the column.

        The types are looked up once.
        """
        if name not in self._types:
            self._types[name] = self._types_of(name)
        return dict(self._types[name])

    def _types_of(self, relation: str) -> dict[str, str]:
        """Return the type of each column of a table, view or query, by name of the column."""
        return {str(row[0]): str(row[1]) for row in self.rows(f"describe {relation}")}

    def _refuse_changed(self) -> None:
        """Raise DataError if a watched file has changed since `watch`."""
        for path, state in self._watched.items():
            if _state(path) != state:
                remedy = "rank it again when it is whole"
                problem = "the file changed while it was read"
                raise DataError(problem, source=str(path), remedy=remedy)

    def _run(self, query: str) -> "DuckDBPyConnection":
        """Execute a query; DuckDB's errors become `DataError`."""
        with _convert_duckdb_errors():
            return self.connection.execute(query)


def arrays_of(table: "pa.Table | pa.RecordBatch") -> dict[str, np.ndarray]:
    """Return the columns of an Arrow table by name, as `Duck.arrays` does.

    The arrays of whole numbers or floats of a record batch share its memory and cannot be changed.
    An empty cell is NaN among numbers, else None.
    """
    return {name: _array_of(table.column(name)) for name in table.schema.names}


def _array_of(column: "pa.Array | pa.ChunkedArray") -> np.ndarray:
    """Return a column of Arrow as an array. An empty cell is NaN among numbers, else None."""
    import pyarrow as pa

    has_numbers = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    if isinstance(column, pa.Array) and has_numbers and not column.null_count:
        # Arrow's own conversion imports pandas, which takes longer than a million numbers.
        return np.from_dlpack(column)
    return column.to_numpy(zero_copy_only=False)


def _fill_empty(column: np.ndarray) -> np.ndarray:
    """Return a column of DuckDB, which may be masked, as an array without a mask.

    An empty cell is NaN among numbers, else None.
    """
    if not hasattr(column, "mask"):
        return column
    if column.dtype.kind in "iuf":
        return np.ma.filled(column.astype(np.float64), np.nan)
    values = np.asarray(column.data, dtype=object)
    values[np.ma.getmaskarray(column)] = None
    return values


def _batches_of(
    connection: "DuckDBPyConnection", query: str
) -> Generator[dict[str, np.ndarray], None, None]:
    """Yield the rows of a query, `ROWS_OF_BATCH` at a time, as `Duck.arrays` returns them.

    No other query may run on the connection until all rows were yielded, or the generator is
    closed.

    Raises:
        DataError: DuckDB cannot run the query, or not to its end.
    """
    import pyarrow as pa

    with _convert_duckdb_errors():
        reader = connection.sql(query).to_arrow_reader(ROWS_OF_BATCH)
    with closing(reader):
        while True:
            try:
                batch = reader.read_next_batch()
            except StopIteration:
                return
            except (OSError, pa.ArrowException, Error) as error:
                # Arrow hands on an error of DuckDB as one of its own, with the same text.
                raise _read_error(error) from None
            yield arrays_of(batch)


@contextmanager
def _convert_duckdb_errors() -> Iterator[None]:
    """Convert DuckDB's errors to DataError. Errors in podium's own SQL are raised as they are."""
    try:
        yield
    except OWN_SQL_ERRORS:
        raise
    except Error as error:
        raise _read_error(error) from None


def _read_error(error: Exception) -> DataError:
    """Return the error for a query that DuckDB cannot run, or not to its end.

    Args:
        error: the error of DuckDB, or of Arrow with the text of DuckDB's.
    """
    if isinstance(error, OutOfMemoryException) or OUT_OF_MEMORY in str(error):
        return out_of_memory_error(error)
    first_line, *_ = str(error).partition("\n")
    remedy = f"{FREE_DISK}, or repair the file; it must not change while it is read"
    return DataError(f"the database cannot read or write ({first_line})", remedy=remedy)


def out_of_memory_error(error: Exception, source: str | None = None) -> DataError:
    """Build the error for a query that exceeds the memory limit or the free disk space.

    Args:
        error: the error of the database.
        source: the file that was read; None if several were.
    """
    first_line, *_ = str(error).partition("\n")
    problem = f"the verdicts do not fit into the memory that is allowed ({first_line})"
    return DataError(problem, source=source, remedy=f"allow more with --memory, or {FREE_DISK}")


def _state(path: Path) -> FileState | None:
    """Return the state of a file; None if there is no such regular file."""
    try:
        facts = path.stat()
    except OSError:
        return None
    if not stat.S_ISREG(facts.st_mode):
        return None
    return facts.st_ino, facts.st_size, facts.st_mtime_ns


def _connect() -> "DuckDBPyConnection":
    """Return a connection to a new database in memory, with the settings `SETTINGS`.

    What does not fit into memory is written to a folder of this process.
    """
    # Imported here and not at the top of the file, because DuckDB prints a warning for each of its
    # functions that still exists when Python ends. Global names of a module may last so long:
    # aiohttp's C parser holds Inspect's server and registry, and those hold podium's functions.
    # The exceptions of DuckDB are plain classes and may be imported globally.
    from duckdb import connect

    connection: DuckDBPyConnection = connect(
        config={"temp_directory": str(process_folder() / "spilled")}
    )
    for setting in SETTINGS:
        connection.execute(setting)
    return connection


def _close(
    connection: "DuckDBPyConnection", folder: Path, made: list[tuple[str, str]], keep: bool
) -> None:
    """Drop all that was made on a connection, then keep the connection for reuse or close it.

    It is closed if something cannot be dropped, or if `MOST_IDLE` connections are kept already.

    Args:
        connection: the connection.
        folder: its temporary folder, which is removed.
        made: a verb such as `drop table` and a name for each object, in the order of creation.
        keep: whether the connection may be reused.
    """
    try:
        for verb, name in reversed(made):
            if verb == "unregister":
                connection.unregister(name)
            else:
                connection.execute(f"{verb} {name}")
    except Error:
        keep = False
    shutil.rmtree(folder, ignore_errors=True)
    if keep and len(_IDLE_CONNECTIONS) < MOST_IDLE:
        _IDLE_CONNECTIONS.append(connection)
    else:
        connection.close()


def literal_path(path: Path) -> str:
    """Return an absolute path as a literal of SQL, with its wildcard characters escaped."""
    return sql_literal(glob.escape(str(path.absolute())))


def copy_command(query: str, file: Path) -> str:
    """Return the command that writes the rows of a query to a file.

    The path of a file that is written has no wildcards, so that nothing in it is escaped.
    """
    return f"copy ({query}) to {sql_literal(str(file.absolute()))}"


def _close_all() -> None:
    """Close all connections when Python ends, even if their databases are still referenced."""
    for engine in list(_OPEN_DATABASES):
        engine.close()
    while _IDLE_CONNECTIONS:
        _IDLE_CONNECTIONS.pop().close()


atexit.register(_close_all)
