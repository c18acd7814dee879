"""Format numbers, in the same way in every view."""

from podium.tables import EMPTY


def cell_text(value: float | None, style: str) -> str:
    """Format a number by a format specification such as `.1%`; a dash for None."""
    return EMPTY if value is None else format(value, style)


def number_text(value: float | None, digits: int) -> str:
    """Format a number with a fixed number of decimals; a dash for None."""
    return cell_text(value, f".{digits}f")


def share_text(value: float | None) -> str:
    """Format a share as a percentage with one decimal, such as `12.3%`; a dash for None."""
    return cell_text(value, ".1%")


def percent(level: float) -> str:
    """Format a confidence level as a percentage, for example 0.95 as `95%`.

    It has at most four significant digits, or ten from 0.9999 on.
    """
    # With four digits, a level next to 1 would be written as 100%.
    digits = 4 if level < 0.9999 else 10
    return f"{100 * level:.{digits}g}%"


def slope_text(value: float) -> str:
    """Format a slope with three decimals, or three significant digits if it is small."""
    return f"{value:.3f}" if abs(value) >= 0.1 or value == 0 else f"{value:.3g}"


def interval_text(low: float | None, high: float | None, style: str) -> str:
    """Format an interval by a format specification of its ends.

    If one end is None, it is shown as infinite. If both are None, the text is a dash.
    """
    if low is None and high is None:
        return EMPTY
    low_text = "-∞" if low is None else cell_text(low, style)
    high_text = "∞" if high is None else cell_text(high, style)
    return f"{low_text} … {high_text}"


def range_text(low: int | None, high: int | None) -> str:
    """Format a range of integers as 1–3, or 2 if its ends are equal; a dash if `low` is None."""
    if low is None:
        return EMPTY
    return str(low) if low == high else f"{low}–{high}"
