"""The sheet that humans fill in, and what is read back from it."""

import pandas as pd
import pytest

from podium import DataError, read_battles
from podium.data.formats.label_sheet import SheetRow, read, sheet_table

ROWS = (
    SheetRow("item-1", "Say hello.\nTwice.", "birch", "amber", "hello\nhello", "=1+1"),
    SheetRow("item-2", "Add.", "amber", "cedar", "2", "3"),
    SheetRow("=item-3", "Add.", "cedar", "birch", "2", "3"),
)


def filled(*verdicts):
    return sheet_table(ROWS).assign(verdict=list(verdicts))


def test_a_sheet_names_no_model_and_keeps_line_breaks():
    table = sheet_table(ROWS)
    assert list(table) == ["item", "instruction", "response_1", "response_2", "verdict", "battle"]
    assert not any(name in table.to_csv() for name in ("amber", "birch", "cedar"))
    assert (table["response_1"][0], table["response_2"][0]) == ("hello\nhello", "'=1+1")


def test_a_sheet_reads_back_as_the_battles_it_was_made_of(tmp_path):
    path = tmp_path / "sheet.csv"
    filled("1", "2", "tie").to_csv(path, index=False)
    table = read_battles(path).to_frame()
    found = {
        item: (a, b, credit)
        for item, a, b, credit in table[["item", "model_a", "model_b", "credit"]].to_numpy()
    }
    assert found == {
        "item-1": ("birch", "amber", 1.0),
        "item-2": ("amber", "cedar", 0.0),
        "=item-3": ("cedar", "birch", 0.5),
    }


def test_the_number_of_a_response_is_read_back_and_older_tokens_mean_the_first():
    rows = [*ROWS[:2], SheetRow("item-2", "Add.", "amber", "cedar", "2", "4", response=2)]
    read_back = read(sheet_table(rows).assign(verdict="1"))
    assert read_back["response"].tolist() == [1, 1, 2]
    assert "response" not in read(filled("1", "2", "tie"))


def test_an_empty_verdict_is_not_labelled_and_no_tie():
    table = read(filled("1", "", None))
    assert table["credit"].isna().tolist() == [False, True, True]
    assert table["reason"].tolist()[1:] == ["not labelled", "not labelled"]


@pytest.mark.parametrize("words", [("1.0", "2.0", "TIE"), (" 1", "2 ", "Tie")])
def test_verdicts_as_spreadsheets_write_them_are_read(words):
    assert read(filled(*words))["credit"].tolist() == [1.0, 0.0, 0.5]


def test_another_verdict_is_rejected_with_the_words_that_are_known():
    with pytest.raises(
        DataError, match=r"verdict 'maybe' is not a known verdict.*write 1, 2 or tie"
    ):
        read(filled("1", "maybe", ""))


def test_a_token_that_was_changed_is_rejected_with_its_row():
    table = filled("1", "2", "tie")
    table.loc[1, "battle"] = "x"
    with pytest.raises(DataError, match=r"row 2: battle is 'x', which is no token"):
        read(table)


def test_rows_whose_cells_were_moved_are_rejected():
    table = filled("1", "2", "tie")
    with pytest.raises(DataError, match="keep the cells of a row together"):
        read(table.assign(battle=pd.Series(table["battle"].tolist()[::-1])))
