"""A self-contained page for blind votes, which saves the CSV that `podium.formats.label_sheet` reads."""

from collections.abc import Sequence

from podium.formats.label_sheet import SheetRow, sheet_table
from podium.page.packing import fill_template, read_asset


def label_page(rows: Sequence[SheetRow]) -> str:
    """Render the voting page of a label sheet."""
    sheet = sheet_table(rows)
    # The texts of `rows`: those of the sheet are escaped for spreadsheets, and the page shows texts only as text.
    shown = [
        {name: getattr(row, name) for name in ("instruction", "response_1", "response_2")}
        | {"item": item, "battle": token}
        for row, item, token in zip(rows, sheet["item"], sheet["battle"], strict=True)
    ]
    has_texts = any(row.response_1 for row in rows)
    return fill_template("label.html", [read_asset("votes.js")], shown, total=len(rows), has_texts=has_texts)
