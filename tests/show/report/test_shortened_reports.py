"""The part of a report that `--section` and the summary keep."""

import pytest

from podium.errors import UsageError
from podium.tables import Report, Section, shorten_report

REPORT = Report(
    "plan",
    answer=("Compare two models.",),
    sections=(Section("items", "Items", notes=("five",)), Section("cost", "Cost")),
)


@pytest.mark.parametrize("typed", ["items", " items", "items\u200b"])
def test_a_section_is_found_by_the_name_that_people_see(typed):
    shown = shorten_report(REPORT, (), typed)
    assert [section.name for section in shown.sections] == ["items"]
    assert not shown.answer


def test_an_unknown_section_is_an_error():
    with pytest.raises(UsageError, match="no section called 'costs'; did you mean 'cost'"):
        shorten_report(REPORT, (), "costs")


def test_the_summary_keeps_the_preferred_section_and_names_the_others():
    [section] = shorten_report(REPORT, ("absent", "items", "cost")).sections
    assert section.name == "items"
    [five, hint] = section.notes
    assert five == "five"
    assert "--section NAME of cost" in hint
