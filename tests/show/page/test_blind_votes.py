"""The page that asks humans for votes: no names, keys, progress that is kept, a CSV that podium
reads."""

import base64
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from podium import read_battles
from podium.data.formats.label_sheet import SheetRow
from podium.printable import escape_cells
from podium.show.page.label_page import label_page

ROWS = [
    SheetRow(
        f"item {k}, <b>",
        f"Say {k}.</script>",
        "secret-model",
        "hidden-rival",
        f"<i>left</i> {k}",
        f"right {k}",
    )
    for k in range(5)
]
FORMULA = "-2+3+cmd|' /C calc'!A0"


def test_no_name_of_a_model_is_in_the_page_but_inside_its_tokens() -> None:
    page = label_page(ROWS)
    assert ("secret" in page, "rival" in page) == (False, False)
    document = json.loads(page.split('id="data">')[1].split("</script>")[0])
    assert (
        "secret-model" in zlib.decompress(base64.urlsafe_b64decode(document[0]["battle"])).decode()
    )


@pytest.mark.slow
def test_votes_by_keys_are_kept_saved_and_read_back(
    tmp_path: Path, open_page: Callable[..., Any], violations: Callable[[Any], list[str]]
) -> None:
    path = tmp_path / "label.html"
    path.write_text(label_page(ROWS), encoding="utf-8")
    seen = open_page(path)
    page = seen.page
    assert page.locator("#left").inner_text() == "<i>left</i> 0"
    for key in ("ArrowLeft", "ArrowRight", " ", "s"):
        page.keyboard.press(key)
    page.reload()
    assert "Battle 5 of 5: 3 judged, 1 skipped" in page.locator("#progress").inner_text()
    page.keyboard.press("z")
    page.keyboard.press("z")
    page.locator("#choose-2").click()
    with page.expect_download() as download:
        page.locator("#save").click()
    sheet = tmp_path / "votes.csv"
    download.value.save_as(sheet)
    table = read_battles(str(sheet)).table
    assert table["item"].tolist() == [row.item for row in ROWS]
    assert table["credit"].fillna(-1).tolist() == [1.0, 0.0, 0.0, -1.0, -1.0]
    assert table["model_a"].tolist() == ["secret-model"] * 5
    assert (seen.errors, seen.requests, violations(page)) == ([], [], [])


@pytest.mark.slow
def test_what_a_spreadsheet_would_run_is_escaped_as_the_commands_do(
    tmp_path: Path, open_page: Callable[..., Any]
) -> None:
    (tmp_path / "label.html").write_text(
        label_page([SheetRow(FORMULA, "", "x", "y", "", "")]), encoding="utf-8"
    )
    page = open_page(tmp_path / "label.html").page
    with page.expect_download() as download:
        page.locator("#save").click()
    download.value.save_as(tmp_path / "votes.csv")
    assert (
        (tmp_path / "votes.csv")
        .read_text(encoding="utf-8")
        .splitlines()[1]
        .startswith(f"'{FORMULA},")
    )
    assert read_battles(str(tmp_path / "votes.csv")).table["item"].tolist() == [FORMULA]
    cells = [
        FORMULA,
        "=a",
        " =a",
        "＝a",
        "-1.5",
        "+2",
        "-.5e-3",
        "-7.",
        "a=b",
        "- a point",
        "3-1",
        "",
        "-",
        "+-1",
    ]
    assert (
        page.evaluate("cells => cells.map(podium.cell)", cells)
        == escape_cells(pd.DataFrame(cells))[0].tolist()
    )
