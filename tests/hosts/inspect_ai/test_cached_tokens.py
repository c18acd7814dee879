"""What is said after a run of tokens from a provider's prompt cache."""

from types import SimpleNamespace

import pytest
from inspect_ai.model import ModelUsage

from podium.hosts.inspect_ai.judging import cached_tokens
from podium.hosts.inspect_ai.judging.cached_tokens import cached_tokens_texts


def used(read: int, write: int = 0) -> dict[str, ModelUsage]:
    """Return the usage of a model of which 1,000 input tokens came from no cache."""
    usage = ModelUsage(
        input_tokens=1000, input_tokens_cache_read=read, input_tokens_cache_write=write
    )
    return {"lab/judge": usage}


def test_nothing_is_said_without_a_cache() -> None:
    assert [*cached_tokens_texts(used(0))] == []
    assert [*cached_tokens_texts({"lab/judge": ModelUsage(input_tokens=5)})] == []


def test_the_share_of_cached_tokens_has_its_denominator() -> None:
    assert [*cached_tokens_texts(used(8000, 1000))] == [
        "8,000 of 10,000 input tokens (80%) of lab/judge came from the provider's prompt cache"
    ]


@pytest.mark.parametrize(
    ("read", "write", "end"),
    [
        (1_000_000, 0, ", which saved 2.70 in money"),
        (1_000_000, 1_000_000, ", which saved 1.95 in money"),
        (1000, 4_000_000, ", which cost 3.00 more in money than without a cache"),
    ],
)
def test_what_the_cache_saved_is_the_difference_of_prices(
    monkeypatch: pytest.MonkeyPatch, read: int, write: int, end: str
) -> None:
    price = SimpleNamespace(input=3.0, input_cache_read=0.3, input_cache_write=3.75)
    monkeypatch.setattr(cached_tokens, "get_model_info", lambda _: SimpleNamespace(cost=price))
    [text] = cached_tokens_texts(used(read, write))
    assert text.endswith(end)
