"""The relations as SQL, in the dialect that DuckDB and Spark share."""

ROW = "podium_row"
"""The column that holds a presentation's place: unique, in the order of reading."""
