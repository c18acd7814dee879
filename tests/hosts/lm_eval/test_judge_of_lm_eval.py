"""A model of lm-eval that judges: batches, failures one by one, prompts that do not fit, settings."""

import asyncio
from typing import ClassVar

import pytest

pytest.importorskip("lm_eval.api")
pytest.importorskip("inspect_ai")

# Before a model is registered here: lm-eval looks for its own only where there are none yet.
import lm_eval.models  # noqa: F401
from inspect_ai.model import GenerateConfig, get_model
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model

from podium.hosts.lm_eval import judge  # noqa: F401

POISON = "poison"
ROOM = 50


@register_model("podium-test-local")
class Local(LM):
    """A model on this machine, as the harness knows them: it refuses a whole batch for one of its prompts."""

    batches: ClassVar[list[list[str]]] = []
    settings: ClassVar[list[dict]] = []
    max_length = ROOM + 10
    max_gen_toks = 10

    def __init__(self, pretrained, key_of_something=None):
        super().__init__()
        self.tokenizer = self

    chat_template = "yes"

    def tok_encode(self, text):
        return text.split()

    def apply_chat_template(self, messages):
        return "".join(f"<{one['role']}>{one['content']}" for one in messages)

    def generate_until(self, requests, disable_tqdm=False):
        prompts = [one.args[0] for one in requests]
        Local.batches.append(prompts)
        Local.settings += [one.args[1] for one in requests]
        if any(POISON in one for one in prompts):
            raise ValueError("cannot do it")
        return [f"re {one}" for one in prompts]

    def loglikelihood(self, requests, **options):
        raise NotImplementedError

    loglikelihood_rolling = loglikelihood


@pytest.fixture(autouse=True)
def fresh():
    """Forget what was asked before."""
    Local.batches, Local.settings = [], []


def answers(prompts, **config):
    """Ask for all prompts at once; return replies, and errors as texts."""
    model = get_model("lm-eval/podium-test-local/tiny", memoize=False)

    async def one(prompt):
        try:
            return (await model.generate(prompt, config=GenerateConfig(**config))).completion
        except Exception as error:
            return error

    async def every():
        return await asyncio.gather(*(one(prompt) for prompt in prompts))

    return asyncio.run(every())


def test_what_waits_goes_together():
    prompts = [f"question {k}" for k in range(20)]
    assert answers(prompts) == [f"re <user>{one}" for one in prompts]
    # The first call makes the model; all that came meanwhile is one or two batches.
    assert len(Local.batches) <= 3
    assert sum(map(len, Local.batches)) == 20


def test_one_prompt_that_fails_for_good_takes_no_other_with_it():
    prompts = [f"question {k}" if k != 7 else POISON for k in range(12)]
    found = answers(prompts)
    assert [k for k, one in enumerate(found) if isinstance(one, Exception)] == [7]
    assert str(found[7]) == "ValueError: cannot do it"
    assert found[11] == "re <user>question 11"


def test_a_prompt_longer_than_the_context_fails_and_is_never_cut():
    fits, too_long = "word " * (ROOM - 1), "word " * (ROOM + 1)
    found = answers([fits, too_long])
    assert found[0].startswith("re ")
    assert f"{ROOM + 1} tokens, and the model's context has room for {ROOM}" in str(found[1])
    assert not any(too_long.strip() in prompt for batch in Local.batches for prompt in batch)


def test_settings_reach_the_model_in_its_words():
    answers(["one"])
    answers(["two"], temperature=0.7, max_tokens=5, top_p=0.9)
    assert Local.settings == [
        {"until": [], "do_sample": False, "temperature": 0.0},
        {"until": [], "do_sample": True, "temperature": 0.7, "max_gen_toks": 5, "top_p": 0.9},
    ]


def test_a_model_on_this_machine_takes_no_key():
    with pytest.raises(Exception, match="takes no api_key"):
        get_model("lm-eval/podium-test-local/tiny", memoize=False, api_key="sk-0123456789")
