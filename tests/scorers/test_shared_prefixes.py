"""The share of prompts that a prefix cache would serve."""

import random

import pytest

from podium.plugins.catalogue import find_realization
from podium.scorers.prompt import Settings, Texts
from podium.scorers.shared_prefixes import least_cached, share_of_prefix_cache


def shared(first: str, second: str) -> int:
    """Return the number of characters with which both texts begin."""
    pairs = zip(first, second, strict=False)
    return next((k for k, (a, b) in enumerate(pairs) if a != b), min(len(first), len(second)))


def served_by_search(prompts: list[str]) -> float:
    """Return the same share by comparing each prompt with all prompts before it."""
    served = 0
    for place, prompt in enumerate(prompts):
        served += max((shared(prompt, other) for other in prompts[:place]), default=0)
    return served / sum(map(len, prompts))


@pytest.mark.parametrize("seed", range(10))
def test_the_share_is_that_of_a_cache_that_keeps_everything(seed: int) -> None:
    rng = random.Random(seed)
    prompts = ["".join(rng.choices("ab", k=rng.randint(1, 12))) for _ in range(60)]
    share = share_of_prefix_cache(prompts, least=0)
    assert share == pytest.approx(served_by_search(prompts))
    rng.shuffle(prompts)
    assert share_of_prefix_cache(prompts, least=0) == pytest.approx(share)


def test_short_beginnings_are_not_cached() -> None:
    prompts = ["a" * 4000 + "b", "a" * 4000 + "c"]
    assert share_of_prefix_cache(prompts) == 0
    assert share_of_prefix_cache([text + "d" * 100 for text in prompts], least=1000) > 0.48
    assert share_of_prefix_cache([]) == 0


@pytest.mark.parametrize(
    ("model", "least"),
    [
        (None, 1024),
        ("openai/gpt-5", 1024),
        ("anthropic/claude-sonnet-4-5-20250929", 1024),
        ("anthropic/claude-opus-4-1", 1024),
        ("anthropic/claude-opus-4-8", 1024),
        ("anthropic/claude-opus-4-5-20251101", 4096),
        ("anthropic/claude-opus-4-6", 4096),
        ("openrouter/anthropic/claude-haiku-4.5", 4096),
        ("bedrock/global.anthropic.claude-haiku-4-5-20251001-v1:0", 4096),
        ("anthropic/claude-3-haiku-20240307", 2048),
        ("anthropic/claude-3-5-haiku-latest", 2048),
        ("google/gemini-2.5-pro", 2048),
        ("google/gemini-3.5-flash", 4096),
        ("google/gemini-2.0-flash", 1024),
        ("hf/org/opus-4-5", 1024),
    ],
)
def test_some_providers_cache_only_longer_beginnings(model: str | None, least: int) -> None:
    assert least_cached(model) == least


def test_most_of_a_round_robin_on_a_long_item_is_cacheable() -> None:
    one = find_realization("rubric")
    answers = [f"{k} " * 100 for k in range(6)]
    prompts = []
    for first in answers:
        for second in answers:
            if first != second:
                prompts.append(one.prompt(Texts("word " * 1600, (first, second)), Settings()))
    assert share_of_prefix_cache(prompts) > 0.7
