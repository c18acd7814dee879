"""Start an engine for the queries: DuckDB, embedded, or Spark."""

from typing import TYPE_CHECKING, TypeAlias

from podium.errors import UsageError

if TYPE_CHECKING:
    from podium.counting.duck import Duck
    from podium.counting.spark import Spark

Engine: TypeAlias = "Duck | Spark"
"""A place where relations are, of one interface; queries are in the dialect that both share."""


def start_engine(name: str = "duckdb", memory: str | None = None) -> Engine:
    """Start `duckdb`, `spark` or `spark=URL` of a master; `memory` limits DuckDB, for example `700MB`."""
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
