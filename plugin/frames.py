"""Recognize what pandas makes, without importing pandas.

Its import takes longer than all that a small ranking does. A value of one of its types exists only
if it was imported already.
"""

import sys
from typing import Any


def is_frame(value: object) -> bool:
    """Return whether a value is a data frame of pandas."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, pandas.DataFrame)


def is_missing(value: Any) -> bool:
    """Return whether a single value is None, NaN, or a missing value of pandas (`NA`, `NaT`)."""
    pandas = sys.modules.get("pandas")
    if pandas is not None:
        return bool(pandas.isna(value))
    # Only NaN differs from itself.
    return value is None or bool(value != value)
