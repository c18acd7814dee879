"""The version of the JSON that podium writes, and the check that what is read has it."""

from podium.errors import DataError

FORMAT_VERSION = "0.2"
"""Of rankings, calibration files, judge cards, comparisons, plans and logs."""
RANK_AGAIN = "run it again, or run `podium rank` on the verdicts"


def require_format(version: object, what: str, source: object, remedy: str = RANK_AGAIN) -> None:
    """Raise DataError for a document of another format version, or of none: renamed fields are never misread."""
    if version != FORMAT_VERSION:
        written = "without a format version"
        if isinstance(version, str):
            short = version if len(version) <= 80 else f"{version[:60]} ... {version[-15:]}"
            written = f"of format {' '.join(short.split())}"
        raise DataError(
            f"{what} {written}; this podium reads format {FORMAT_VERSION}", remedy=remedy, source=str(source)
        )
