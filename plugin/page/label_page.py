"""A sheet of votes as one self-contained page: two responses side by side, nobody's name, keys for the verdict.

What it saves is the CSV that `podium.formats.label_sheet` reads: item, response_1, response_2 (left empty), verdict,
battle.
"""

from collections.abc import Sequence

from podium.formats.label_sheet import SheetRow, sheet_table
from podium.page.packing import fill_template, json_in_page, own_file, policy
from podium.pictures.extra import load_extra
from podium.report.html import stylesheet


def label_page(rows: Sequence[SheetRow]) -> str:
    """Write the page of a sheet.

    Raises:
        UsageError: jinja2 is not installed.
    """
    markup = load_extra("markupsafe").Markup
    # Texts as they are: the page shows them as text, and only the spreadsheet must not run them.
    sheet = sheet_table(rows)
    columns = ("item", "instruction", "response_1", "response_2", "battle")
    shown = [
        dict(zip(columns, (item, row.instruction, row.response_1, row.response_2, token), strict=True))
        for row, item, token in zip(rows, sheet["item"], sheet["battle"], strict=True)
    ]
    scripts = [own_file("votes.js")]
    return fill_template(
        "label.html",
        total=len(rows),
        has_texts=any(row.response_1 for row in rows),
        styles=markup(stylesheet() + own_file("page.css")),
        scripts=[markup(text) for text in scripts],
        policy=policy(scripts),
        data=markup(json_in_page(shown)),
    )
