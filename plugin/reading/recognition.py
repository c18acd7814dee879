"""Recognise a format by what a file contains."""

from podium.errors import DataError, UsageError
from podium.hookspecs import Format
from podium.plugins import catalogue
from podium.reading.table import remedy_of_columns


def recognise_format(columns: frozenset[str], label: str | None = None) -> Format | None:
    """Return the format whose signature the columns fit best; None when none fits.

    Raises:
        UsageError: two formats fit equally well.
    """
    fits: dict[int, list[Format]] = {}
    for known in catalogue.formats():
        given = columns | {known.label_is} if label and known.label_is else columns
        fits.setdefault(known.specificity(frozenset(given)), []).append(known)
    best = max(fits)
    if best == 0:
        return None
    if len(fits[best]) > 1:
        names = " or ".join(sorted(known.name for known in fits[best]))
        raise UsageError(f"the columns fit {names}: say which with --from")
    return fits[best][0]


def unrecognised_error(columns: frozenset[str], source: str) -> DataError:
    """Return the error for a file that fits no format, with what the nearest one misses."""
    return DataError(
        f"no known format has the columns {', '.join(sorted(columns)[:20]) or '(none)'}{_nearest_format(columns)}",
        remedy=f"{remedy_of_columns(sorted(columns), source)}; `podium list formats` shows what is known",
    )


def _nearest_format(columns: frozenset[str]) -> str:
    """Name the format of which most columns are there, if that is at least half of them."""
    signatures = [(known.name, signature) for known in catalogue.formats() for signature in known.signature]
    name, best = max(signatures, key=lambda pair: len(pair[1] & columns) / len(pair[1]))
    if len(best & columns) < len(best) / 2:
        return ""
    return f" (nearest: {name}, which also needs {', '.join(sorted(best - columns))})"
