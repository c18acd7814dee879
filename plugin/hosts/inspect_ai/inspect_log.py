"""The format `inspect`: logs of tournaments and of ordinary evals, read by Inspect where it is installed."""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from podium.errors import DataError, UsageError
from podium.hookspecs import Gathered, Reading, SourceFiles
from podium.hosts.inspect_ai.log_format import is_beside_logs, is_log

SUFFIXES = (".eval", ".json")


def read(records: pd.DataFrame) -> pd.DataFrame:
    """Refuse a table: logs are read as files."""
    del records
    raise DataError("no Inspect log", remedy="give a file that `inspect eval` wrote, .eval or .json")


def gather(sources: Sequence[SourceFiles], reading: Reading) -> Gathered:
    """Read the logs among what was found, and leave the other files alone.

    A log of which nothing can be read is left out and said, unless it is the only one.

    Raises:
        UsageError: there are logs, and inspect-ai is not installed.
        DataError: the only log is not whole, or nothing in it is scored.
    """
    ours = {path: source.label for source in sources for path in source.paths if path.suffix in SUFFIXES}
    beside = {path for path in ours if is_beside_logs(path)}
    logs = {path: label for path, label in ours.items() if path not in beside and is_log(path)}
    if not logs:
        return Gathered(claimed=beside)
    try:
        from podium.hosts.inspect_ai.folders import read_logs
    except ImportError as error:
        raise UsageError(f"{next(iter(logs))} is an Inspect log, and reading it needs inspect-ai ({error})") from None
    gathered = read_logs(logs, reading)
    return replace(gathered, claimed=gathered.claimed | beside)
