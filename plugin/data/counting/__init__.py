"""Count, merge and sum judgments by SQL queries, in DuckDB or in Spark (see `relations`)."""
