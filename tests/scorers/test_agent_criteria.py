"""The rubric for transcripts of agents has criteria of its own, and only those are read."""

import json

import pytest

from podium.plugins.catalogue import judging_settings
from podium.scorers.prompt import Texts
from podium.scorers.realization import Preference
from podium.scorers.reply import Reply
from podium.scorers.rubric import CRITERIA

AGENTS = ("completion", "groundedness", "efficiency", "safety", "recovery", "clarity")
TEXTS = Texts("Do it.", ("a", "b"))


@pytest.fixture(scope="module")
def how():
    return judging_settings("rubric", transcript=True)


def scores(names, a, b):
    """Return a reply with a score per criterion and response."""
    return Reply(
        json.dumps({"A": dict(zip(names, a, strict=True)), "B": dict(zip(names, b, strict=True))})
    )


def test_the_prompt_asks_for_the_criteria_of_agents_alone(how):
    prompt, schema = how.prompt(TEXTS), how.schema_prompt(TEXTS)
    assert all(f"\n{name}: " in prompt and f'"{name}": ' in prompt for name in AGENTS)
    assert not any(
        f"{name}:" in prompt or f'"{name}"' in schema for name in set(CRITERIA) - set(AGENTS)
    )


def test_scores_are_read_under_their_own_names(how):
    verdict = how.verdict(scores(AGENTS, (9, 8, 7, 6, 5, 4), (1, 1, 1, 1, 1, 1)), "off")
    assert verdict.criteria == dict(zip(AGENTS, (8.0, 7.0, 6.0, 5.0, 4.0, 3.0), strict=True))
    assert (verdict.credit, verdict.margin) == (1.0, 5.5)


def test_criteria_of_answers_are_not_those_of_agents(how):
    assert how.verdict(scores(CRITERIA, (9,) * 6, (1,) * 6), "off").reason is not None
    assert (
        judging_settings("rubric").verdict(scores(AGENTS, (9,) * 6, (1,) * 6), "off").reason
        is not None
    )


@pytest.mark.parametrize("degree", [0.0, 0.3, 0.5, 0.8, 1.0])
def test_what_the_stand_in_writes_is_read_as_text_and_as_json(how, degree):
    reply = how.write_reply(Preference(degree, degree))
    verdict = how.verdict(reply, "off")
    assert set(verdict.criteria) == set(AGENTS)
    structured = Reply(how.to_json(reply).text, structured=True)
    assert how.verdict(structured, "off") == verdict


@pytest.mark.parametrize(
    "name", ["direct", "cot", "labels", "rubric", "numeric", "likert", "token-probs"]
)
def test_every_realization_has_a_question_of_its_own_for_transcripts(name):
    plain, agents = judging_settings(name), judging_settings(name, transcript=True)
    texts = Texts("Do it.", ("a", "b")[: 2 if plain.is_pairwise else 1])
    asked = agents.prompt(texts)
    assert "agent" in asked.partition("\n")[0]
    assert "agent" not in plain.prompt(texts)
    for question in (
        "Was the task done?",
        "supported by a tool result?",
        "steps that did harm, or that were not needed?",
    ):
        assert question in asked
    assert plain.prompt_hash != agents.prompt_hash
