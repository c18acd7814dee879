"""Times in columns, and periods of time with equally many battles."""

import re
from collections.abc import Collection
from datetime import UTC, datetime
from itertools import pairwise

import numpy as np

EPOCHS = ((1e9, 2e9, 1.0), (1e12, 2e12, 1e3), (1e15, 2e15, 1e6))
"""Least and largest number, and numbers per second, of times since 1970 in seconds, milliseconds
and microseconds."""
PERIODS = re.compile(r"(?P<column>.+):(?P<number>[1-9]\d?)")
"""A column of times and the number of periods, as `created_at:2`."""


def seconds_of_texts(texts: np.ndarray) -> np.ndarray:
    """Return dates, or numbers since 1970, in seconds since 1970, shape (texts,).

    Numbers may be in the units of `EPOCHS`, which their size tells apart; a number of any other
    size, such as a year alone, is NaN. Dates are in ISO 8601; those without a zone are in UTC. The
    result is NaN for other texts, and for None.
    """
    import pandas as pd

    column = pd.Series(texts, dtype=object)
    numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float)
    seconds = np.full(len(column), np.nan)
    for least, most, per_second in EPOCHS:
        is_epoch = (numbers >= least) & (numbers < most)
        seconds[is_epoch] = numbers[is_epoch] / per_second
    is_text = np.isnan(numbers) & column.notna().to_numpy()
    if is_text.any():
        dates = pd.to_datetime(column[is_text], errors="coerce", utc=True, format="ISO8601")
        is_date = dates.notna().to_numpy()
        values = np.full(len(dates), np.nan)
        moments = dates[is_date].dt.tz_convert(None).to_numpy(dtype="datetime64[ms]")
        values[is_date] = moments.astype(np.int64) / 1e3
        seconds[is_text] = values
    return seconds


def split_name_of_periods(name: str, columns: Collection[str]) -> tuple[str, int] | None:
    """Return the column and the number of periods of a name such as `created_at:2`.

    None if a column has the whole name, or no column has the part before the colon.
    """
    match = None if name in columns else PERIODS.fullmatch(name)
    if match is None or match["column"] not in columns:
        return None
    return match["column"], int(match["number"])


def cells_by_period(texts: np.ndarray, number: int) -> dict[str, list[str]]:
    """Return the distinct texts of each of several successive periods, by the name of the period.

    Periods have about equally many battles; those at one time are in one period. Texts that are no
    time are in none. The name of a period is its first and last day, with the time of the day if
    two periods begin or end on one day. Periods of one name, as those within a millisecond, are
    one period. Empty if no text is a time.

    Args:
        texts: the text of each battle, None if it is empty.
        number: number of periods.
    """
    seconds = seconds_of_texts(texts)
    has_time = np.isfinite(seconds)
    _times, order, counts = np.unique(seconds[has_time], return_inverse=True, return_counts=True)
    # The middle of the ranks of each time's battles, and the period of this rank, shape (times,).
    middle_rank = np.cumsum(counts) - counts / 2
    period_of_time = np.minimum(middle_rank * number // max(has_time.sum(), 1), number - 1)
    period = period_of_time[order]
    periods = [np.flatnonzero(has_time)[period == k] for k in range(number)]
    filled_periods = [rows for rows in periods if len(rows)]
    ends = [(seconds[rows].min(), seconds[rows].max()) for rows in filled_periods]
    days = [f"{_day(first)} to {_day(last)}" for first, last in ends]
    is_shared = False
    for (_, end), (next_start, _) in pairwise(ends):
        is_shared |= _day(end) == _day(next_start)
    if is_shared:
        days = [f"{_moment(first)} to {_moment(last)}" for first, last in ends]
    cells: dict[str, set[str]] = {}
    for name, rows in zip(days, filled_periods, strict=True):
        cells.setdefault(name, set()).update(texts[rows].tolist())
    return {name: sorted(cells_of_period) for name, cells_of_period in cells.items()}


def _day(seconds: float) -> str:
    """Return the day of a time in seconds since 1970, in UTC, as `2024-05-31`."""
    return datetime.fromtimestamp(float(seconds), UTC).date().isoformat()


def _moment(seconds: float) -> str:
    """Return the day and the time of the day, in UTC."""
    moment = datetime.fromtimestamp(float(seconds), UTC).replace(tzinfo=None)
    return moment.isoformat(sep=" ", timespec="milliseconds").removesuffix(".000")
