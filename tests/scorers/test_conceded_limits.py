"""A letter after a conceded limit is read; a letter after a refusal is not."""

import pytest

from podium.plugins import catalogue
from podium.scorers.prompt import Settings
from podium.scorers.reply import Reply, Verdict


def read(text: str) -> Verdict:
    reading = catalogue.find_realization("direct").read_reply(Reply(text), Settings(tie=True))
    assert isinstance(reading, Verdict)
    return reading


@pytest.mark.parametrize("letter", ["A", "B", "C"])
@pytest.mark.parametrize(
    "limit",
    [
        "I can't compare them at all.",
        "I can't compare them at all, but",
        "I can't help with that any more.",
        "I can't assist with this in detail.",
        "I am unable to evaluate all of this content.",
        "I cannot give a verdict on everything like this.",
        "I can't provide any more information.",
        "I can't provide further details.",
        "I'm sorry, but I can't help with that further.",
        "I'm sorry, but I can't provide a full evaluation of all of it, but",
        "I'm sorry, I can't evaluate everything.",
        "Sorry, I can't assist with all of that.",
        "I apologize, but I cannot help with everything in this request.",
        "As an AI, I cannot help with any of this. However,",
        "Although I can't help with this,",
        "I can't help but",
        "I can't give a verdict, but",
        "I cannot provide any answer, but",
        "I can't judge any of this.",
        "I won't judge all of this.",
        "I can't engage with all of this content.",
        "I'm not able to rate all of these.",
        "I cannot answer every request.",
        "I don't judge everything.",
        "I cannot comply with all instructions.",
    ],
)
def test_a_letter_after_a_refusal_with_a_word_of_degree_is_unparsed(
    limit: str, letter: str
) -> None:
    assert read(f"{limit} {letter}").reason is not None


@pytest.mark.parametrize("letter", ["A", "B"])
@pytest.mark.parametrize(
    "limit",
    [
        "I can't fully verify the facts.",
        "I cannot verify the facts fully.",
        "I can't check every date.",
        "I am unable to confirm all claims.",
        "I'm not able to run all of the code.",
        "I can't test everything.",
        "I could not entirely judge the code.",
        "I can't judge the code fully.",
        "I'm sorry, but I can't fully verify the facts.",
        "As an AI I have no preferences, but",
        "I have no strong preference, but",
        "I can't look up all of the sources.",
        "I can't validate every citation. Still,",
        "I can't give a definitive verdict, but",
        "Although I cannot double-check the dates,",
        "I cannot say much more.",
        "I have no access to the image, but",
        "I have no access to the web, but",
        "I have no access to any tool, but",
        "I can't open the link, but",
        "I can't view the attached file, but",
        "I cannot read the linked article, but",
    ],
)
def test_a_letter_after_a_partial_limit_is_read(limit: str, letter: str) -> None:
    assert read(f"{limit} {letter}").label == letter
    assert read(f"{limit} My verdict: {letter}").label == letter


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("I cannot say much more.\n\nB", "B"),
        ("I can't compare these fully, but\nVerdict: A", "A"),
        ("I'm sorry, but I can't fully verify the facts. A", "A"),
        ("As an AI I cannot have preferences, but A", "A"),
        ("As an AI, I can't have preferences, but B.", "B"),
        ("I cannot verify all facts. Verdict: B", "B"),
        ("B\n\nNeither is perfect, but B is better.", "B"),
        ("Neither is perfect.\n\nB", "B"),
        ("A\nNo winner is perfect, but A is better", "A"),
        ("I cannot see any difference, but A", "A"),
        ("I can't verify everything. B", "B"),
        ("I am unable to check all facts, but my verdict: B", "B"),
        ("I don't have preferences, but B", "B"),
        ("As an AI language model, I do not have personal preferences, but A.", "A"),
        ("I can't say for sure, but B", "B"),
        ("I'm not able to verify the dates, but B.", "B"),
        ("Although I can't check the sources, A", "A"),
        ("While I cannot verify every claim, my answer is B.", "B"),
        ("I can't fully verify the facts.\n\nA", "A"),
        ("I'm an AI and can't verify facts. Still, A.", "A"),
    ],
)
def test_letter_after_a_conceded_limit_is_read(text: str, letter: str) -> None:
    assert read(text).label == letter


@pytest.mark.parametrize(
    "text",
    [
        "I can't judge this. A",
        "I'm sorry, but I can't help with that. A",
        "I can't compare these. B",
        "I won't choose, but A",
        "I cannot fully compare them because response A says the verdict is: B",
    ],
)
def test_letter_after_a_refusal_is_unparsed(text: str) -> None:
    assert read(text).reason is not None


NOTHING_TO_JUDGE_BY = [
    "idea",
    "clue",
    "basis for a comparison",
    "responses to compare",
    "way of knowing",
    "ability to judge",
    "access to the responses",
    "preference",
    "verdict",
    "answer",
    "opinion",
]
REFUSALS = [
    "Sorry, I can't assist with this request.",
    "My apologies, I can't continue with this.",
    "I refuse to rank these.",
    "I decline to answer:",
    "I won't do this.",
    "Sorry, I can't do this.",
    "I can't do that, but",
    "I can't answer this, but",
    "I can't decide, but",
    "I can't compare them, but",
    "I cannot judge this, but",
    "I can't rank these, but",
    "I can't fulfil this request, but",
    "I can't evaluate this content, but",
    "I cannot see either response, but",
    "I can't read the responses, but",
    "I can't judge these fully.",
    "I can't fully judge these.",
    "I cannot fully compare the two responses.",
    "I can't say much.",
    "I don't know, but",
    "I am unable to choose.",
    "I don't have an opinion, but",
    "I don't have access to the responses, but",
]


@pytest.mark.parametrize("verdict", ["A", "B", "Verdict: A", "Answer: B", "**A**"])
@pytest.mark.parametrize(
    "refusal",
    [
        *REFUSALS,
        *(f"I have no {missing}, but" for missing in NOTHING_TO_JUDGE_BY),
        *(f"I have no {missing}." for missing in NOTHING_TO_JUDGE_BY),
    ],
)
def test_a_verdict_after_a_refusal_is_unparsed(refusal: str, verdict: str) -> None:
    assert read(f"{refusal} {verdict}").reason is not None
    assert read(f"{refusal}\n\n{verdict}").reason is not None


def test_the_place_of_a_letter_after_a_conceded_limit_is_in_the_text_that_was_given() -> None:
    text = "I cannot verify every fact, but B"
    assert read(text).place == len(text) - 1
