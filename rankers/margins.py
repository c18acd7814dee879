"""Margins as users type them: a number and its unit."""

import re

import numpy as np

from podium.errors import UsageError

MARGIN = re.compile(r"(?P<number>[0-9.eE+-]+)\s*(?P<unit>elo|points?|units?)?")


def parse_margin(margin: str, where: str) -> tuple[float, str]:
    """Parse `10elo`, `2points` or `0.02` into number and unit: `elo`, `points` (percentage points) or `units` (of the
    metric), which fractions below 1 may omit; `where` is the option, for messages."""
    shape = MARGIN.fullmatch(margin)
    try:
        number = float(shape["number"]) if shape else np.nan
    except ValueError:
        number = np.nan
    if shape is None or not 0 <= number < np.inf:
        raise UsageError(f"{where}: {margin!r} is not a margin of 0 or more; write 10elo, 2points, 3units or 0.02")
    unit = {"e": "elo", "p": "points", "u": "units"}.get((shape["unit"] or " ")[0], "")
    if not unit and not ("." in shape["number"] and number < 1):
        raise UsageError(
            f"{where}: {margin} has no unit; write {margin}elo, {margin}points (percentage points), "
            f"{margin}units (of the metric), or a fraction such as 0.02"
        )
    return number, unit or "units"
