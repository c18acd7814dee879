"""A sheet of votes as one self-contained page: two responses side by side, nobody's name, keys for the verdict.

What it saves is the CSV that `podium.formats.label_sheet` reads: item, response_1, response_2 (left empty), verdict,
battle.
"""

from collections.abc import Sequence

from podium.formats.label_sheet import SheetRow, sheet_table
from podium.page.packing import fill_template, own_file


def label_page(rows: Sequence[SheetRow]) -> str:
    """Write the page of a sheet.

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
    return fill_template("label.html", [own_file("votes.js")], shown, total=len(rows), has_texts=has_texts)
