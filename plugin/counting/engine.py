"""What runs the queries: DuckDB, embedded, or Spark."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import pyarrow as pa

from podium.errors import UsageError


class Engine(Protocol):
    """A place where relations are; queries are in the dialect that all engines share."""

    def fresh(self, stem: str) -> str:
        """Return a name that nothing has yet."""

    def register(self, name: str, table: pa.Table) -> None:
        """Give an Arrow table a name."""

    def scan(self, name: str, paths: Sequence[str]) -> None:
        """Give Parquet files a name; they stay where they are."""

    def view(self, name: str, query: str) -> None:
        """Give a query a name; it runs each time it is asked."""

    def store(self, name: str, query: str) -> None:
        """Run a query once and keep its rows."""

    def store_groups(self, name: str, rows: int, source: str, query: Callable[[str], str], order: str) -> None:
        """Group the rows of a source once and keep the groups.

        Args:
            name: of the groups.
            rows: number of rows of the source.
            source: what follows `from`.
            query: makes the query from a source; it groups by the order's first column, perhaps among others.
            order: of the groups, as `batches` is told it.
        """

    def table(self, query: str) -> pa.Table:
        """Return all rows of a query."""

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return all rows of a small query as Python values."""

    def batches(self, query: str, order: str) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a query of stored groups in their order, some at a time."""

    def columns(self, name: str) -> dict[str, str]:
        """Return the columns of a table or view with their types."""


def engine_named(name: str = "duckdb", memory: str | None = None) -> Engine:
    """Start an engine.

    Args:
        name: `duckdb`, `spark`, or `spark=URL` with the address of a master.
        memory: the most that DuckDB holds in memory, for example `700MB`.

    Raises:
        UsageError: there is no such engine, it is not installed, or it takes no such memory.
    """
    kind, _, url = name.partition("=")
    if kind == "duckdb" and not url:
        from podium.counting.duck import Duck

        return Duck(memory)
    if kind != "spark":
        raise UsageError(f"engine {name!r} is unknown; use duckdb, spark, or spark=URL of a master")
    if memory is not None:
        raise UsageError("--memory is DuckDB's; Spark's is set where its cluster is configured")
    from podium.counting.spark import Spark

    return Spark(url or None)
