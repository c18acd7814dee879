"""A self-contained page for blind votes: two anonymous responses side by side, with keys for the verdict.

What it saves is the CSV that `podium.formats.label_sheet` reads: item, response_1, response_2 (left empty), verdict,
battle.
"""

from collections.abc import Sequence

from podium.formats.label_sheet import SheetRow, sheet_table
from podium.page.packing import fill_template, read_asset


def label_page(rows: Sequence[SheetRow]) -> str:
    """Render the voting page of a label sheet.

    Raises:
        UsageError: jinja2 is not installed.
    """
    # Texts as they are: the page shows them as text, and only the spreadsheet must not run them.
    sheet = sheet_table(rows)
    columns = ("item", "instruction", "response_1", "response_2", "battle")
    shown = [
        dict(zip(columns, (item, row.instruction, row.response_1, row.response_2, token), strict=True))
        for row, item, token in zip(rows, sheet["item"], sheet["battle"], strict=True)
    ]
    has_texts = any(row.response_1 for row in rows)
    return fill_template("label.html", [read_asset("votes.js")], shown, total=len(rows), has_texts=has_texts)
