"""The file to which a result is written, and the style of the text.

`podium --help` loads this file, but no writer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from podium.errors import UsageError
from podium.storage.remote import Place

if TYPE_CHECKING:
    from podium.tables import Report

View: TypeAlias = Callable[[Any], "Sequence[Report]"]
"""A function from a result to the reports that show it."""
STYLES = {
    "table": ".txt",
    "json": ".json",
    "csv": ".csv",
    "github": ".md",
    "md": ".md",
    "html": ".html",
    "latex": ".tex",
}
"""All styles, each with the suffix of its files. Of several styles with one suffix, the last one is
chosen by it."""
PICTURES = (".svg", ".png", ".pdf")
"""Suffixes of the files to which a chart can be written."""


def suffix_style(output: Place | None) -> str:
    """Return the style for the suffix of a file; `table` if there is no file or no suffix.

    Raises:
        UsageError: no style has this suffix.
    """
    if output is None or not output.suffix:
        return "table"
    styles = {suffix: style for style, suffix in STYLES.items()}
    if output.suffix not in styles:
        raise UsageError(
            f"cannot tell the format from {output.name!r}: use {', '.join(styles)}, or pass "
            "--format"
        )
    return styles[output.suffix]


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a result is written, and in which style.

    Attributes:
        output: the file of `-o`; None for stdout.
        style: one of `STYLES`. If it is None, the suffix of `output` decides.
        figure: the file of `--figure`; None for no chart.
    """

    output: Place | None = None
    style: str | None = None
    figure: Place | None = None

    def __post_init__(self) -> None:
        """Choose the style by the suffix of the file if none is given.

        Raises:
            UsageError: no style has the suffix.
        """
        if self.style is None:
            object.__setattr__(self, "style", suffix_style(self.output))
