"""The version of the JSON that podium writes, and a check of the version that a document has."""

from podium.errors import DataError
from podium.printable import shorten

FORMAT_VERSION = "0.3"
"""Version of rankings, calibration files, judge cards, comparisons, plans and logs."""
RANK_AGAIN = "run it again, or run `podium rank` on the verdicts"
"""The default remedy for a document of another format version."""


def require_format(version: object, what: str, source: object, remedy: str = RANK_AGAIN) -> None:
    """Check that a document has the format version that this podium reads.

    Fields may have another meaning in another version.

    Args:
        version: the version that the document gives; anything but a text counts as none.
        what: what the document is, for the message.
        source: the file.
        remedy: what the user can do.

    Raises:
        DataError: the document has another version, or none.
    """
    if version != FORMAT_VERSION:
        written = (
            f"of format {shorten(version)}"
            if isinstance(version, str)
            else "without a format version"
        )
        problem = f"{what} {written}; this podium reads format {FORMAT_VERSION}"
        raise DataError(problem, remedy=remedy, source=str(source))
