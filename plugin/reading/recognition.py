"""Recognise a format by what a file contains."""

from podium.errors import DataError, UsageError
from podium.hookspecs import Format
from podium.plugins import catalogue


def recognise_format(columns: frozenset[str], label: str | None = None) -> Format | None:
    """Return the format whose signature the columns fit best; None when none fits.

    Raises:
        UsageError: two formats fit equally well.
    """
    fits: dict[int, list[Format]] = {}
    for registered in catalogue.formats().values():
        one = registered.extension
        given = columns | {one.label_is} if label and one.label_is else columns
        fits.setdefault(one.specificity(frozenset(given)), []).append(one)
    best = max(fits)
    if best == 0:
        return None
    if len(fits[best]) > 1:
        names = " or ".join(sorted(one.name for one in fits[best]))
        raise UsageError(f"the columns fit {names}: say which with --from")
    return fits[best][0]


def unrecognised_error(columns: frozenset[str]) -> DataError:
    """Return the error for a file that fits no format, with what the nearest one misses."""
    return DataError(
        f"no known format has the columns {', '.join(sorted(columns)[:20]) or '(none)'}{_nearly(columns)}",
        remedy="name the columns, for example --columns model_a=left,model_b=right,credit=outcome; "
        "`podium list formats` shows what is known",
    )


def _nearly(columns: frozenset[str]) -> str:
    """Name the format of which most columns are there, if that is at least half of them."""
    signatures = [
        (one.extension.name, signature) for one in catalogue.formats().values() for signature in one.extension.signature
    ]
    name, best = max(signatures, key=lambda one: len(one[1] & columns) / len(one[1]))
    if len(best & columns) < len(best) / 2:
        return ""
    return f" (nearest: {name}, which also needs {', '.join(sorted(best - columns))})"
