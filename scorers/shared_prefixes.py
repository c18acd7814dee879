"""How much of the prompts of a run a provider can keep in its prefix cache."""

import re
from collections.abc import Iterable
from itertools import pairwise

from podium.scorers.prompt import count_tokens
from podium.wording import shared_length

LEAST_CACHED = 1024
"""Number of tokens from which on a provider caches the beginning of a prompt, by default.

It is that of OpenAI (https://platform.openai.com/docs/guides/prompt-caching) and of most models of
Anthropic.
"""
LEAST_CACHED_OF = (
    (r"claude.*(?:opus-4[.-][567]|haiku-4[.-]5)", 4096),
    (r"claude.*(?:3[.-]5-haiku|3-haiku|haiku-3)", 2048),
    (r"gemini-3", 4096),
    (r"gemini-2[.-]5", 2048),
)
"""Patterns of models and the number of tokens from which on their provider caches, if it is more.

The first pattern in a model's name counts. It is searched without case.

Sources, as of 2026: for Claude, https://platform.claude.com/docs/en/build-with-claude/
prompt-caching, as quoted in https://github.com/anthropics/anthropic-sdk-python/issues/1194, and
https://docs.litellm.ai/docs/completion/prompt_caching, which has 4,096 for Opus 4.7 on Bedrock
(others say 2,048 for Anthropic's own server); for Gemini, the table of July 2026 in
https://ai.google.dev/gemini-api/docs/caching (that of May had 1,024 for Flash). Providers change
these numbers. New models of Anthropic need 1,024 or fewer, so the default is on the safe side.
"""


def least_cached(model: str | None) -> int:
    """Return from how many tokens on a model's provider caches the beginning of a prompt.

    >>> least_cached("anthropic/claude-haiku-4-5"), least_cached("openai/gpt-5")
    (4096, 1024)

    Args:
        model: name of the model, with or without its provider; None if it is not known.
    """
    for pattern, least in LEAST_CACHED_OF:
        if model and re.search(pattern, model, re.IGNORECASE):
            return least
    return LEAST_CACHED


def share_of_prefix_cache(prompts: Iterable[str], least: float = LEAST_CACHED) -> float:
    """Return the share of the tokens of prompts that a perfect prefix cache would serve.

    Such a cache keeps every prompt. It serves the longest beginning that a prompt shares with an
    earlier prompt. The share does not depend on the order of the prompts, so they are sorted: then
    each prompt shares its longest beginning with a neighbour.

    Args:
        prompts: the prompts of all calls.
        least: shared beginnings with fewer tokens are not cached.

    Returns:
        The share, in [0, 1); 0 without prompts.
    """
    ordered = sorted(prompts)
    token_count = sum(map(count_tokens, ordered))
    served_count = 0.0
    for first, second in pairwise(ordered):
        shared_count = count_tokens(first[: shared_length(first, second)])
        if shared_count >= least:
            served_count += shared_count
    return served_count / token_count if token_count else 0.0
