"""Families guessed from names."""

import pytest

from podium.diagnosis.judge_checks import MAKERS, Family, family_of, group_by_family


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("gpt-4o-mini", "OpenAI"),
        ("openai/gpt-oss-20b", "OpenAI"),
        ("openai/azure/o3-mini", "OpenAI"),
        ("GPT 4", "OpenAI"),
        ("ChatGPT", "OpenAI"),
        ("GPT-NeoXT-Chat-Base (20B)", "Together"),
        ("gpt-j-6b", "EleutherAI"),
        ("gpt4all-13b-snoozy", "Nomic AI"),
        ("cerebras/Cerebras-GPT-13B", "Cerebras"),
        ("gpt-sw3-20b-instruct", "AI Sweden"),
        ("togethercomputer/GPT-JT-6B-v1", "Together"),
        ("gpt4-x-vicuna-13b", "LMSYS"),
        ("claude-3-opus", "Anthropic"),
        ("anthropic/claude-instant-v1", "Anthropic"),
        ("Code Llama Instruct (7B)", "Meta"),
        ("meta-llama/Llama-3.1-8B-Instruct", "Meta"),
        ("Mixtral-8x22B-Instruct-v0.1", "Mistral"),
        ("google/gemma-4-e4b", "Google"),
        ("together/Qwen/Qwen3.5-27B", "Alibaba"),
        ("deepseek-v3.2", "DeepSeek"),
        ("command-nightly", "Cohere"),
        ("vicuna-13b", "LMSYS"),
        ("alpaca-7b", "Stanford"),
        ("weighted_alpaca_eval_gpt4_turbo", "OpenAI"),
        ("alpaca_eval_cot_gpt4_turbo_fn", "OpenAI"),
    ],
)
def test_a_family_is_guessed_from_the_beginning_of_a_word(name, family):
    assert family_of(name, {}) == Family(family, "guessed")


@pytest.mark.parametrize(
    "name", ["my-model", "crowd", "model-01", "egpt", "alpaca_eval", "openai-api/local/ash"]
)
def test_unknown_names_have_no_family(name):
    assert family_of(name, {}) is None


def test_patterns_come_before_guesses_and_in_their_order():
    given = {"GPT-*": "first", "gpt-4": "second"}
    assert family_of("gpt-4", given) == Family("first", "given")


def test_members_leave_out_who_has_no_family():
    assert group_by_family(["claude-2", "nobody", "claude-1"], {}) == {
        "Anthropic": ("claude-1", "claude-2")
    }


def test_signs_of_makers_are_lower_case_and_of_one_maker_each():
    signs = [sign for group in MAKERS.values() for sign in group]
    assert all(sign == sign.lower() for sign in signs)
    assert len(signs) == len(set(signs))
