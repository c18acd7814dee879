"""A self-contained page for blind votes, which saves the CSV that `podium.data.formats.label_sheet`
reads."""

from collections.abc import Sequence

from podium.data.formats.label_sheet import SheetRow, sheet_table
from podium.show.page.packing import read_asset, render_page


def label_page(rows: Sequence[SheetRow]) -> str:
    """Render the voting page of a label sheet."""
    sheet = sheet_table(rows)
    # The texts of `rows`: those of the sheet are escaped for spreadsheets, and the page shows texts
    # only as text.
    texts = [
        {name: getattr(row, name) for name in ("instruction", "response_1", "response_2")}
        for row in rows
    ]
    shown = [
        text | known
        for text, known in zip(texts, sheet[["item", "battle"]].to_dict("records"), strict=True)
    ]
    scripts, has_texts = (
        map(read_asset, ("tables.js", "votes.js")),
        any(row.response_1 for row in rows),
    )
    title, known = "Which response is better?", {"total": len(rows), "has_texts": has_texts}
    return render_page(
        "label", list(scripts), shown, title=title, heading=title, answer=(), **known
    )
