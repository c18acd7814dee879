"""Headings and labels over marks of both responses: some name a criterion, others do not."""

import pytest

from podium.plugins import catalogue
from podium.scorers.prompt import Settings
from podium.scorers.reply import Rating, Reply, Verdict

NEUTRAL_HEADINGS = [
    "Summary table",
    "Comparison table",
    "Score table:",
    "Scorecard",
    "Here is a table of grades:",
    "Here's the overview.",
    "Overview",
    "Table",
    "Table 1:",
    "Final table",
    "Ratings at a glance",
    "Gesamtübersicht",
    "Tabelle:",
    "Side by side",
    "Head-to-head",
    "Evaluation matrix",
    "Step 3: totals",
    "**Comparison Table**",
    "## Overview",
    "Tableau récapitulatif",
]
CRITERIA = ["Style", "### Accuracy", "Tone:", "Regarding the layout."]
LISTS = ["A: poor\nB: excellent", "A – D\nB – B+", "- A: ⭐\n- B: ⭐⭐⭐⭐"]
TABLE = "| | A | B |\n|---|---|---|\n"
TOTALS = ["Overall", "Total", "Overall score", "Total score", "Gesamt"]


def read(name: str, text: str) -> Verdict | Rating:
    return catalogue.find_realization(name).read_reply(Reply(text), Settings())


@pytest.mark.parametrize("name", ["direct", "cot"])
@pytest.mark.parametrize("marks", LISTS)
@pytest.mark.parametrize("heading", NEUTRAL_HEADINGS)
def test_marks_under_a_heading_without_a_criterion_contradict_the_verdict(
    heading: str, marks: str, name: str
) -> None:
    assert read(name, f"{heading}\n{marks}\n\nVerdict: A").reason is not None


@pytest.mark.parametrize("marks", LISTS)
@pytest.mark.parametrize("heading", CRITERIA)
def test_marks_under_a_heading_with_a_criterion_leave_the_verdict(heading: str, marks: str) -> None:
    assert read("cot", f"{heading}\n{marks}\n\nVerdict: A").label == "A"


@pytest.mark.parametrize("name", ["direct", "cot"])
@pytest.mark.parametrize("marks", ["poor | excellent", "⭐ | ⭐⭐⭐", "D | B+", "❌ | ✅"])
@pytest.mark.parametrize("label", TOTALS)
@pytest.mark.parametrize("heading", [*NEUTRAL_HEADINGS[:4], *CRITERIA, "Comparison by aspect"])
def test_a_row_for_the_whole_responses_contradicts_the_verdict_under_any_heading(
    heading: str, label: str, marks: str, name: str
) -> None:
    text = f"{heading}\n{TABLE}| Style | good | fair |\n| {label} | {marks} |\n\n"
    assert read(name, f"{text}Verdict: A").reason is not None
    assert read(name, f"{text}Verdict: B").label == "B"


def test_a_line_for_the_whole_response_contradicts_the_verdict_under_any_heading() -> None:
    sections = "## Style\n### A\nOverall: poor\n### B\nOverall: excellent\n\n"
    assert read("cot", f"{sections}Verdict: A").reason is not None
    assert read("cot", f"{sections}Verdict: B").label == "B"
