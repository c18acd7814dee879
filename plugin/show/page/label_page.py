"""A self-contained page on which humans vote without seeing the models' names.

The page saves the votes as CSV, which `podium.data.formats.label_sheet` reads.
"""

from collections.abc import Sequence

from podium.data.formats.label_sheet import SheetRow, sheet_table
from podium.show.page.packing import read_asset, render_page


def label_page(rows: Sequence[SheetRow]) -> str:
    """Render the voting page of a label sheet as one HTML document.

    Each row is a battle, without the models' names. The order of the rows is kept.

    Raises:
        UsageError: jinja2 is not installed.
    """
    sheet = sheet_table(rows)
    items_and_battles = sheet[["item", "battle"]].to_dict("records")
    cards = []
    for row, item_and_battle in zip(rows, items_and_battles, strict=True):
        # The texts of the sheet are escaped for spreadsheets. The page does not need that, because
        # it shows them as plain text.
        texts = {
            "instruction": row.instruction,
            "response_1": row.response_1,
            "response_2": row.response_2,
        }
        cards.append(texts | item_and_battle)
    title = "Which response is better?"
    return render_page(
        "label",
        scripts=[read_asset("tables.js"), read_asset("votes.js")],
        data=cards,
        title=title,
        heading=title,
        answer=(),
        total=len(rows),
        has_texts=any(row.response_1 for row in rows),
    )
