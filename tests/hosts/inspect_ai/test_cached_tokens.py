"""What is said after a run of tokens from a provider's prompt cache."""

from types import SimpleNamespace
from typing import Any

import formed_judge  # noqa: F401
import pytest
from inspect_ai.model import ModelUsage, get_model

from podium.hosts.inspect_ai.judging import cached_tokens
from podium.hosts.inspect_ai.judging.cached_tokens import cached_tokens_texts
from podium.hosts.inspect_ai.tasks import round_robin
from podium.hosts.lm_eval.batch import judge_battles
from podium.plugins.catalogue import judging_settings


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


@pytest.mark.parametrize(
    ("price", "end"),
    [
        ([3, 15, 0.3], ", which saved 2.70 in money"),
        ([3, 15, 3], ", which saved 0.00 in money"),
        ([3, 15], "the provider's prompt cache"),
    ],
)
def test_given_prices_say_what_the_cache_saved_if_they_have_that_of_cached_tokens(
    monkeypatch: pytest.MonkeyPatch, price: list[float], end: str
) -> None:
    of_inspect = SimpleNamespace(input=100.0, input_cache_read=1.0, input_cache_write=100.0)
    monkeypatch.setattr(cached_tokens, "get_model_info", lambda _: SimpleNamespace(cost=of_inspect))
    [text] = cached_tokens_texts(used(1_000_000, 10), {"lab/judge": price})
    assert text.endswith(end)


PRICES = {"formed/caches": [10_000, 0, 1_000]}
"""At these prices, each call whose 9 of 10 input tokens are cached saves 0.081."""
CACHED = "input tokens (90%) of formed/caches came from the provider's prompt cache"


def test_a_tournament_says_at_its_end_what_the_cache_served(
    play: Any, write_responses: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    task = round_robin(responses=write_responses(items=1), prices=PRICES)
    log = play(task, "formed/caches")
    said = capfd.readouterr().err
    assert f"{9 * 12} of {10 * 12} {CACHED}, which saved 0.97 in money" in said
    assert log.status == "success"


def test_the_filter_of_lm_eval_says_what_the_cache_served(
    capfd: pytest.CaptureFixture[str],
) -> None:
    texts = {"instruction": "?", "response_a": "hi", "response_b": "hello"}
    battle = {"item": "q", "model_a": "a", "model_b": "b", **texts}
    for calls in (2, 0):
        judge_battles(
            judging_settings(),
            [battle],
            lambda: [get_model("formed/caches")],
            turns=("all", 0),
            concurrency=1,
            cache=True,
            prices=PRICES,
        )
        # The second time, all replies come from Inspect's cache.
        said = capfd.readouterr().err
        assert said.count(f"{9 * calls} of {10 * calls} {CACHED}") == (calls > 0)
        assert said.count("prompt cache, which saved 0.16 in money") == (calls > 0)
