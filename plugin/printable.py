"""Make names safe to show: no control characters in terminals, no formulas in spreadsheets."""

import re
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

FORMULA = re.compile(r"[=@\t\r]|[+-](?![\s\d.])")
"""How a cell begins that a spreadsheet would run."""


def printable(text: str) -> str:
    """Escape line breaks and control characters."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)


def tell(message: str, who: str = "podium") -> None:
    """Write a message to stderr with control characters escaped and URL credentials removed."""
    from podium.storage.remote import without_secrets  # imported here because lm-eval's help loads this file

    print(printable(f"{who}: {without_secrets(message)}"), file=sys.stderr)


def escape_cells(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Escape control characters, and prefix an apostrophe to texts that a spreadsheet would execute."""

    def harmless(cell: object) -> object:
        """Escape a text for CSV: control characters, and an apostrophe before what a spreadsheet would execute."""
        if not isinstance(cell, str):
            return cell
        return ("'" if FORMULA.match(cell) else "") + printable(cell)

    return frame.map(harmless)


def formula_columns(frame: "pd.DataFrame") -> list[str]:
    """Return the columns with a text that a spreadsheet would execute."""
    texts = frame.select_dtypes(exclude="number")
    cells = ((name, texts[name].dropna().unique()) for name in texts)
    return [str(name) for name, values in cells if any(FORMULA.match(cell) for cell in values if isinstance(cell, str))]
