"""The format `inspect`: logs of tournaments and of ordinary evals, opened by Inspect where it is installed."""

from pathlib import Path

import pandas as pd

from podium.errors import UsageError
from podium.hosts.inspect_ai.log_format import is_log

MARK = "podium_log"
"""A column that says a frame was opened here."""


def open_log(path: Path) -> pd.DataFrame | None:
    """Return the rows of a log; None for a JSON file that is no log.

    Raises:
        UsageError: it is a log, and inspect-ai is not installed.
        DataError: it is no whole log, or nothing in it is scored.
    """
    if not is_log(path):
        return None
    try:
        from podium.hosts.inspect_ai.logs import log_rows
    except ImportError as error:
        raise UsageError(f"{path} is an Inspect log, and reading it needs inspect-ai ({error})") from None
    return log_rows(path).assign(**{MARK: True})


def drop_mark(records: pd.DataFrame) -> pd.DataFrame:
    """Return the rows as they are: columns are the contract's already."""
    return records.drop(columns=MARK)
