"""Notes on judges that were asked for JSON in part, and for text in part."""

import pandas as pd
import pytest

from podium.data.asked_judges import notes_on_forms
from podium.notices.notice_text import notice_text
from podium.scorers.judge_record import JudgeRecord


def sheet(structured: int, text: int, replies: str = "schema-first") -> pd.DataFrame:
    """Return a table with these numbers of verdicts of one judge, and one unparsed reply."""
    forms = [True] * structured + [None] * text
    frame = pd.DataFrame(
        {
            "judge": "j",
            "credit": [1.0] * len(forms) + [None],
            "schema": [*forms, None],
        }
    )
    frame.attrs["judges"] = {"j": JudgeRecord("j", kind="model", model="m", replies=replies)}
    return frame


def test_sources_that_differ_in_the_form_are_named():
    sheets = [("one", sheet(9, 0)), ("two", sheet(0, 9)), ("three", sheet(7, 0))]
    [note] = notes_on_forms(sheets)
    assert note.code == "forms-of-replies-differ"
    assert note.fields == {"judge": "j", "schema": ["one", "three"], "text": ["two"]}
    assert notice_text(note).startswith(
        "j answered in a JSON schema in one, three, and with text in two"
    )


def test_a_source_with_both_forms_is_named_with_the_numbers():
    [note] = notes_on_forms([("one", sheet(9, 4))])
    assert note.code == "forms-of-replies-mixed"
    assert note.fields == {"path": "one", "judge": "j", "schema": 9, "text": 4}


@pytest.mark.parametrize(
    "sheets",
    [
        [("one", sheet(9, 0)), ("two", sheet(5, 0))],
        [("one", sheet(0, 9)), ("two", sheet(0, 5))],
        [("one", sheet(9, 2))],
        [("one", sheet(200, 9))],
        [("one", sheet(9, 4, "auto")), ("two", sheet(0, 9, "auto"))],
        [("one", sheet(9, 0)), ("two", sheet(0, 0))],
        [("one", sheet(9, 0).drop(columns="credit"))],
        [],
    ],
    ids=["json", "text", "noise", "few", "text first", "no verdict", "scores", "nothing"],
)
def test_nothing_is_said_of_one_form(sheets):
    assert [*notes_on_forms(sheets)] == []


def test_without_a_column_of_schemas_all_verdicts_are_text():
    [note] = notes_on_forms([("one", sheet(9, 0)), ("two", sheet(0, 9).drop(columns="schema"))])
    assert note.fields["text"] == ["two"]


def test_ties_of_identical_responses_have_no_form():
    frame = sheet(9, 4)
    frame["attempts"] = [1] * 9 + [0] * 4 + [1]
    assert [*notes_on_forms([("one", frame), ("two", sheet(9, 0))])] == []
