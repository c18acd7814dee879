"""A margin as humans write it: a number and its unit."""

import re

import numpy as np

from podium.errors import UsageError

MARGIN = re.compile(r"(?P<number>[0-9.eE+-]+)\s*(?P<unit>elo|points?|units?)?")


def parse_margin(margin: str, where: str) -> tuple[float, str]:
    """Return a margin and its unit: `elo`, `points`, or `units`, which a fraction below 1 need not say.

    Args:
        where: it stands, for messages.

    Raises:
        UsageError: it is no number of 0 or more, or has no unit.
    """
    shape = MARGIN.fullmatch(margin)
    try:
        number = float(shape["number"]) if shape else np.nan
    except ValueError:
        number = np.nan
    if shape is None or not 0 <= number < np.inf:
        raise UsageError(f"{where}: {margin!r} is no margin of 0 or more; write 10elo, 2points, 3units or 0.02")
    unit = {"e": "elo", "p": "points", "u": "units"}.get((shape["unit"] or " ")[0], "")
    if not unit and not ("." in shape["number"] and number < 1):
        raise UsageError(
            f"{where}: {margin} of what? write {margin}elo, {margin}points (hundredths of a share), "
            f"{margin}units (of the metric itself), or a fraction such as 0.02"
        )
    return number, unit or "units"
