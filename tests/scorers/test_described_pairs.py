"""Responses that are described side by side: the name of the first one is never the verdict."""

import pytest

from podium.plugins import catalogue
from podium.scorers.prompt import Settings
from podium.scorers.reply import Rating, Reply, Verdict

HEADINGS = [
    "Ratings",
    "Result",
    "Summary",
    "Scores",
    "**Assessment**",
    "### Conclusion",
    "Overall rating:",
    "Fazit",
    "Urteil:",
    "Ergebnis",
    "Gewinner:",
    "My pick",
    "Bewertung:",
]
NAMES_OF_A_DECISION = ["Winner", "Best", "Preferred", "Better response", "I choose", "Gewinner"]
DESCRIPTIONS = [
    "A (poor), B (good)",
    "A (fair) vs B (good)",
    "A (slow) vs. B (fast)",
    "A (⭐); B (⭐⭐⭐⭐).",
    "Response A (two stars) and response B (four stars)",
    "**A** (3/10), **B** (9/10)",
    "A - fair, B - good",
    "A - two stars; B - four stars",
    "A – C, B – A-",
    "A — slow, B — fast",
    "A → slow, B → fast",
    "A = short, B = complete",
    "A, 3. B, 9.",
    "A, fair. B, good.",
    "A, two stars.\nB, four stars.",
    "- A (weak sources)\n- B (solid sources)",
    "- A - weak\n- B - solid",
]


def read(name: str, text: str) -> Verdict | Rating:
    return catalogue.find_realization(name).read_reply(Reply(text), Settings())


@pytest.mark.fast_cases(73)
@pytest.mark.parametrize("name", ["direct", "cot"])
@pytest.mark.parametrize("description", DESCRIPTIONS)
@pytest.mark.parametrize("heading", HEADINGS)
def test_first_name_of_two_described_responses_under_a_heading_is_no_verdict(
    heading: str, description: str, name: str
) -> None:
    assert read(name, f"{heading}\n{description}").reason is not None
    for rest in ("Any issues? None.", "Which has more errors? A.", "A is off topic."):
        assert read(name, f"{heading}\n{description}\n\n{rest}").label != "A"
    for verdict in ("B", "**B**", "B over A", "Rather B than A."):
        assert read(name, f"{verdict}\n\n{heading}\n{description}").label != "A"


@pytest.mark.parametrize("name", ["direct", "cot"])
@pytest.mark.parametrize(
    "description", [one for one in DESCRIPTIONS if "\n" not in one and "." not in one]
)
@pytest.mark.parametrize("lead", [*NAMES_OF_A_DECISION, "Fazit", "Result", "Overall rating"])
def test_first_name_of_two_described_responses_after_a_colon_is_no_verdict(
    lead: str, description: str, name: str
) -> None:
    assert read(name, f"{lead}: {description}").reason is not None
    assert read(name, f"{lead}: {description}\n\nAny issues? None.").reason is not None


@pytest.mark.parametrize("description", ["A (good), B (poor)", "A - good, B - poor"])
@pytest.mark.parametrize("lead", ["Winner: ", "Winner\n", "**Verdict:** ", "### Verdict\n"])
def test_a_letter_that_a_described_winner_contradicts_is_unparsed(
    lead: str, description: str
) -> None:
    assert read("direct", f"B\n\n{lead}{description}").reason is not None
    assert read("cot", f"Verdict: B\n\n{lead}{description}").reason is not None


@pytest.mark.parametrize("name", ["direct", "cot"])
@pytest.mark.parametrize(
    "text",
    [
        "Verdict: A (8/10) over B (5/10)",
        "Verdict: A (9) > B (7)",
        "Verdict: A (clear)",
        "Verdict: A - it names both dates.",
        "Verdict: A - it names both dates.\n\nB - names one.",
        "Verdict: A, because it names both. B, however, names one.",
        "Winner: A (good)\nRunner-up: B (fair)",
    ],
)
def test_a_verdict_with_a_description_of_its_own_is_read(text: str, name: str) -> None:
    assert read(name, text).label == "A"


@pytest.mark.parametrize("name", ["direct", "cot"])
@pytest.mark.parametrize("description", [*DESCRIPTIONS[:3], *DESCRIPTIONS[4:8]])
def test_a_verdict_after_two_described_responses_is_read(description: str, name: str) -> None:
    assert read(name, f"{description}\n\nVerdict: B").label == "B"
