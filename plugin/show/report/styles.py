"""Where results are written, and in which style.

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
"""From figures to what is shown of them."""
STYLES = {
    "table": ".txt",
    "json": ".json",
    "csv": ".csv",
    "md": ".md",
    "html": ".html",
    "latex": ".tex",
}
"""All styles, each with the suffix that asks for it."""
PICTURES = (".svg", ".png", ".pdf")
"""Suffixes of figures."""


def suffix_style(output: Place | None) -> str:
    """Return the output style of a file suffix; `table` without a file."""
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
        output: the file of `-o`; None is stdout.
        style: one of `STYLES`; if it is not given, that of the suffix of `output`.
        figure: the file of `--figure`; None draws nothing.
    """

    output: Place | None = None
    style: str | None = None
    figure: Place | None = None

    def __post_init__(self) -> None:
        """Choose the style; UsageError for a suffix of no style."""
        if self.style is None:
            object.__setattr__(self, "style", suffix_style(self.output))
