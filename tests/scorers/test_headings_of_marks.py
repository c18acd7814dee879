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


@pytest.mark.fast_cases(60)
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


@pytest.mark.parametrize("name", ["direct", "cot"])
@pytest.mark.parametrize(
    "text",
    [
        "A: poor but funny\nB: excellent\n\n",
        "A: weak, though short\nB: strong\n\n",
        "A: terrible, if funny. B: excellent.\n\n",
        "A: poor. B: excellent. However, both are long.\n\n",
        "A: poor. B: excellent. Still, neither is perfect.\n\n",
        "A: poor. B: excellent. However, A is too long.\n\n",
        "A gets a D, B gets a B.\n\n",
        "Response A earns a C, response B earns a B.\n\n",
        "A deserves an F and B deserves a B.\n\n",
        "A: two\nB: nine\n\n",
        "- A: four\n- B: eight\n\n",
    ],
)
def test_a_concession_of_the_lower_mark_does_not_hide_a_contradiction(text: str, name: str) -> None:
    assert read(name, f"{text}Verdict: A").reason is not None
    assert read("cot", f"{text}Verdict: B").label == "B"


@pytest.mark.parametrize(
    "text",
    [
        "A: poor\nB: excellent but off topic\n\n",
        "A: weak, yet right. B: strong.\n\n",
        "A: poor. B: excellent. However, B is off topic.\n\n",
        "A: poor. B: excellent. However, only A answers the question.\n\n",
        "A: two\nB: nine\n\nThere are two moons.\n\n",
    ],
)
def test_a_concession_of_the_higher_mark_leaves_the_verdict(text: str) -> None:
    assert read("cot", f"{text}Verdict: A").label == "A"


@pytest.mark.parametrize("name", ["direct", "cot"])
@pytest.mark.parametrize("marks", ["❌ | ✅", "poor | excellent", "⭐ | ⭐⭐⭐"])
@pytest.mark.parametrize(
    "criteria",
    [
        ("Accuracy", "Completeness", "Tone"),
        ("Correct", "Follows the instructions"),
        ("Helpfulness", "Factuality", "Clarity", "Fluency"),
    ],
)
def test_a_table_in_which_every_criterion_prefers_the_other_response_contradicts_the_verdict(
    criteria: tuple[str, ...], marks: str, name: str
) -> None:
    rows = "".join(f"| {criterion} | {marks} |\n" for criterion in criteria)
    assert read(name, f"{TABLE}{rows}\nVerdict: A").reason is not None
    assert read(name, f"{TABLE}{rows}\nVerdict: B").label == "B"


@pytest.mark.parametrize(
    "rows",
    [
        "| Off topic | ❌ | ✅ |\n| Repeats itself | ❌ | ✅ |\n",
        "| Accuracy | ✅ | ❌ |\n| Tone | ❌ | ✅ |\n| Style | ❌ | ✅ |\n",
        "| Accuracy errors | ❌ | ✅ |\n| Lack of clarity | ❌ | ✅ |\n",
        "| Accuracy | 42 | 41 |\n| Style | ❌ | ✅ |\n",
        "| Style | ❌ | ✅ |\n",
    ],
)
def test_a_table_with_other_rows_leaves_the_verdict(rows: str) -> None:
    assert read("cot", f"{TABLE}{rows}\nAccuracy decides.\n\nVerdict: A").label == "A"


CRITERION_LABELS = [
    "Short",
    "Reasoning",
    "Explanation",
    "Quality",
    "Summary",
    "Analysis",
    "Grade",
    "General",
    "Question",
    "Task",
    "Points",
    "Review",
    "Reasons",
    "Note",
    "Answer",
    "Result",
    "Results",
]


@pytest.mark.parametrize("name", ["direct", "cot"])
@pytest.mark.parametrize("label", CRITERION_LABELS)
def test_a_row_beside_a_criterion_is_another_criterion(label: str, name: str) -> None:
    rows = [f"| {label} | excellent | poor |\n", "| Correctness | poor | excellent |\n"]
    assert read(name, f"{TABLE}{rows[0]}{rows[1]}\nVerdict: B").label == "B"
    assert read(name, f"{TABLE}{rows[1]}{rows[0]}\nVerdict: B").label == "B"


@pytest.mark.parametrize("label", ["Overall", "Total", "Final", "Verdict", "Rating", "Score"])
def test_a_row_for_the_whole_responses_beside_a_criterion_contradicts_the_verdict(
    label: str,
) -> None:
    rows = f"| Correctness | poor | excellent |\n| {label} | excellent | poor |\n"
    assert read("cot", f"{TABLE}{rows}\nVerdict: B").reason is not None


@pytest.mark.parametrize("label", ["Quality", "Grade", "Points", "Result", "Assessment", ""])
def test_the_only_row_of_a_table_contradicts_the_verdict(label: str) -> None:
    assert read("cot", f"{TABLE}| {label} | excellent | poor |\n\nVerdict: B").reason is not None


@pytest.mark.parametrize("name", ["direct", "cot"])
@pytest.mark.parametrize("form", ["{0}:\nA: {1}\nB: {2}\n\n", "**{0}**\nA: {1}\nB: {2}\n\n"])
@pytest.mark.parametrize("label", [one for one in CRITERION_LABELS if one != "Answer"])
def test_a_heading_before_a_criterion_is_another_criterion(
    label: str, form: str, name: str
) -> None:
    criterion = form.format("Correctness", "poor", "excellent")
    marks = form.format(label, "excellent", "poor")
    assert read(name, f"{marks}{criterion}Verdict: B").label == "B"
    assert read(name, f"{marks}Verdict: B").reason is not None


@pytest.mark.parametrize("label", ["Summary", "Result", "Overall", "Assessment"])
def test_a_last_heading_that_sums_up_contradicts_the_verdict(label: str) -> None:
    marks = f"Style:\nA: good\nB: fair\n\n{label}:\nA: poor\nB: excellent\n\n"
    assert read("cot", f"{marks}Verdict: A").reason is not None


@pytest.mark.parametrize("name", ["direct", "cot"])
@pytest.mark.parametrize("heading", ["", "Overall rating:\n"])
@pytest.mark.parametrize(
    "marks",
    [
        "A (poor), B (excellent)",
        "A (poor) vs B (excellent)",
        "Response A (poor) and response B (excellent).",
        "A [poor], B [excellent]",
        "A (⭐), B (⭐⭐⭐⭐)",
        "A (D), B (A-)",
        "A (❌), B (✅)",
        "A (two out of ten), B (nine out of ten)",
        "A (two stars), B (four stars)",
        "(A) poor (B) excellent",
        "(A) poor, (B) excellent",
        "(A) ⭐ (B) ⭐⭐⭐",
        "I'd give A a D and B a B+.",
        "I would give A a D and B an A.",
        "I gave A a C, B a B.",
        "I'd grade A D+ and B A-.",
        "I give response A two stars and response B five stars.",
        "A, poor. B, excellent.",
    ],
)
def test_marks_in_brackets_and_given_marks_contradict_the_verdict(
    marks: str, heading: str, name: str
) -> None:
    assert read(name, f"{heading}{marks}\n\nVerdict: A").reason is not None
    assert read("cot", f"{heading}{marks}\n\nVerdict: B").label == "B"
