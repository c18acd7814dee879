"""How much of the prompts of a run a provider can keep in its prefix cache."""

from collections.abc import Iterable
from itertools import pairwise

from podium.scorers.prompt import count_tokens
from podium.wording import shared_length

LEAST_CACHED = 1024
"""Number of tokens from which on the large providers cache the beginning of a prompt."""


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
