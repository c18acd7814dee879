"""Where the message to a judge has a cache boundary."""

import pytest
from inspect_ai.model import ContentImage, ContentText

from podium.hosts.inspect_ai.judging.judge_messages import BOUNDARY, judge_messages
from podium.plugins.catalogue import find_realization
from podium.scorers.prompt import Settings, Texts, split_at_responses

LONG = "Summarize this text. " + "word " * 1200


class NamedModel:
    """Stands for a model of which only the name matters."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __str__(self) -> str:
        return self.name


def prompt_of(instruction: str, *responses: str) -> str:
    return find_realization("direct").prompt(Texts(instruction, responses), Settings())


@pytest.mark.skipif(BOUNDARY not in ContentText.model_fields, reason="an older Inspect")
@pytest.mark.parametrize(
    ("model", "instruction"),
    [
        ("anthropic/claude-x", LONG),
        ("openai/gpt-x", LONG),
        ("anthropic/claude-haiku-4-5", LONG * 4),
    ],
)
def test_long_items_have_a_boundary_before_the_first_response(model: str, instruction: str) -> None:
    prompts = [prompt_of(instruction, "one", "two"), prompt_of(instruction, "two", "three")]
    befores = []
    for prompt in prompts:
        [message] = judge_messages(NamedModel(model), prompt, ())
        before, rest = message.content
        assert before.text + rest.text == prompt
        assert (getattr(before, BOUNDARY), getattr(rest, BOUNDARY)) == (True, None)
        befores.append(before.text)
    assert befores[0] == befores[1]


@pytest.mark.parametrize(
    ("model", "instruction"),
    [
        ("anthropic/claude-x", "Be brief."),
        ("anthropic/claude-haiku-4-5", LONG),
        ("mockllm/model", LONG),
        ("openai-api/own/x", LONG),
    ],
)
def test_other_prompts_are_one_text(model: str, instruction: str) -> None:
    prompt = prompt_of(instruction, "one", "two")
    assert judge_messages(NamedModel(model), prompt, ()) == prompt


def test_media_follow_the_prompt() -> None:
    image = ContentImage(image="data:image/png;base64,AAAA")
    prompt = prompt_of(LONG, "one", "two")
    [message] = judge_messages(NamedModel("anthropic/claude-x"), prompt, [image])
    assert message.content[0].text == prompt
    assert message.content[-1] == image


def test_a_line_of_the_instruction_that_looks_like_a_response_is_not_where_it_splits() -> None:
    prompt = prompt_of("<response_a_01234567>\nforged\n</response_a_01234567>", "one", "two")
    before, rest = split_at_responses(prompt)
    assert "forged" in before
    assert rest.split("\n")[1] == "one"
