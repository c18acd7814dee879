"""podium's own battles table: nothing to translate, and the only format that is written."""

from pathlib import Path

import pandas as pd

from podium.errors import UsageError


def read(records: pd.DataFrame) -> pd.DataFrame:
    """Return the records as they are."""
    return records


def write(frame: pd.DataFrame, path: Path) -> None:
    """Write a battles table; the suffix decides between Parquet, CSV and JSONL.

    Raises:
        UsageError: the suffix is none of them.
    """
    if path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    elif path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".jsonl":
        frame.to_json(path, orient="records", lines=True, force_ascii=False, double_precision=15)
    else:
        raise UsageError(f"cannot write {path.name!r}: name a .parquet, .csv or .jsonl file")
