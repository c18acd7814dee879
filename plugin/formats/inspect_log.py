"""Inspect logs: verdicts of podium's tournaments, and scores of ordinary evals; opened by Inspect itself."""

from importlib import import_module
from pathlib import Path

import pandas as pd

from podium.errors import UsageError

MARK = "podium_log"
"""A column that says a frame was opened here."""


def opened(path: Path) -> pd.DataFrame | None:
    """Return the rows of a log; None for a JSON file that is no log.

    Raises:
        UsageError: it is a log, and inspect-ai is not installed.
        DataError: it is no whole log, or nothing in it is scored.
    """
    if not is_log(path):
        return None
    try:
        host = import_module("podium.hosts.inspect_ai.logs")
    except ImportError as error:
        raise UsageError(f"{path} is an Inspect log, and reading it needs inspect-ai ({error})") from None
    return host.records(path).assign(**{MARK: True})


def read(records: pd.DataFrame) -> pd.DataFrame:
    """Return the rows as they are: columns are the contract's already."""
    return records.drop(columns=MARK)


def is_log(path: Path) -> bool:
    """Tell a log by its suffix, or by the first fields of its JSON."""
    if path.suffix == ".eval":
        return True
    with path.open("rb") as stream:
        head = stream.read(4096)
    return b'"version"' in head and b'"eval"' in head and b'"status"' in head
