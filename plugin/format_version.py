"""The version of the JSON that podium writes, and the check that what is read has it."""

from podium.errors import DataError
from podium.printable import shorten

FORMAT_VERSION = "0.3"
"""Of rankings, calibration files, judge cards, comparisons, plans and logs."""
RANK_AGAIN = "run it again, or run `podium rank` on the verdicts"


def require_format(version: object, what: str, source: object, remedy: str = RANK_AGAIN) -> None:
    """Raise DataError for a document of another format version, or of none: renamed fields are
    never misread."""
    if version != FORMAT_VERSION:
        written = (
            f"of format {shorten(version)}"
            if isinstance(version, str)
            else "without a format version"
        )
        problem = f"{what} {written}; this podium reads format {FORMAT_VERSION}"
        raise DataError(problem, remedy=remedy, source=str(source))
