"""The model `podium/offline`: the scorer decides the form of its reply, and tokens are returned on
request."""

import asyncio

import pytest
from inspect_ai.model import GenerateConfig, get_model

from podium.hosts.inspect_ai.judging.offline_api import OTHER_PROMPT_PROBLEM, pass_to_stand_in
from podium.plugins import catalogue
from podium.scorers.prompt import Texts

TEXTS = Texts("Answer in lower case.", ("LOUD", "quiet"))


def completion(prompt, **config):
    return asyncio.run(
        get_model("podium/offline").generate(prompt, config=GenerateConfig(**config))
    )


def test_offline_judge_gives_no_verdict_to_unknown_scorers():
    assert completion("Which is better, A or B?").completion == OTHER_PROMPT_PROBLEM


@pytest.mark.parametrize(
    ("name", "stated"),
    [("direct", "B"), ("cot", "Verdict: B"), ("labels", "[[B>A]]"), ("rubric", '{"A"')],
)
def test_the_form_is_that_of_the_scorer_that_asks(name, stated):
    how = catalogue.judging_settings(name)
    with pass_to_stand_in(how, TEXTS):
        assert stated in completion(how.prompt(TEXTS)).completion
    assert completion(how.prompt(TEXTS)).completion == OTHER_PROMPT_PROBLEM


@pytest.mark.parametrize("wanted", [True, False])
def test_tokens_come_where_they_are_requested(wanted):
    how = catalogue.judging_settings("direct")
    with pass_to_stand_in(how, TEXTS):
        logprobs = completion(how.prompt(TEXTS), logprobs=wanted).choices[0].logprobs
    assert (logprobs is not None) == wanted
