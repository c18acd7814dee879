"""Prices that the user gives: what they must be, and that cached tokens may have their own."""

import re
from typing import Any

import pytest
from inspect_ai.model import ModelUsage

from podium.errors import UsageError
from podium.hosts.inspect_ai.judging.call_prices import (
    TokenPrices,
    check_prices,
    cost_of_usage,
    price_of,
)
from podium.hosts.inspect_ai.judging.cost_limit import CostLimit
from podium.hosts.inspect_ai.tasks import round_robin
from podium.hosts.lm_eval.filter import JudgeFilter

USAGE = ModelUsage(
    input_tokens=1_000_000,
    output_tokens=100_000,
    input_tokens_cache_read=2_000_000,
    input_tokens_cache_write=500_000,
)
INVALID: list[tuple[Any, str]] = [
    (2, "prices=2: give a mapping of models to [INPUT, OUTPUT]"),
    ({"a/b": 2}, "prices=a/b: 2: give two or three numbers, [INPUT, OUTPUT] or [INPUT, OUTPUT, C"),
    ({"a/b": [2]}, "prices=a/b: [2]: give two or three numbers"),
    ({"a/b": "25"}, "prices=a/b: 25: give two or three numbers"),
    ({"a/b": [1, 2, 0.1, 3]}, "prices=a/b: [1, 2, 0.1, 3]: give two or three numbers"),
    ({"a/b": [1, "x"]}, "OUTPUT is x: give a number of 0 or more"),
    ({"a/b": [-1, 2]}, "INPUT is -1: give a number of 0 or more"),
    ({"a/b": [1, 2, None]}, "CACHED is None: give a number of 0 or more"),
    ({"a/b": [1, 2, True]}, "CACHED is True: give a number of 0 or more"),
    ({"a/b": [1, 2, float("nan")]}, "CACHED is nan: give a number of 0 or more"),
    ({"a/b": [0.1, 2, 1]}, "prices=a/b: [0.1, 2, 1]: CACHED is more than INPUT: the order is ["),
]


@pytest.mark.parametrize(("prices", "words"), INVALID)
def test_prices_that_are_none_are_rejected_by_what_is_wrong(prices: Any, words: str) -> None:
    with pytest.raises(UsageError, match=re.escape(words)):
        check_prices(prices)


@pytest.mark.parametrize("prices", [None, {}, {"a/b": [1, 2]}, {"a/b": (1, 2, 0)}])
def test_two_or_three_prices_by_model_are_accepted(prices: Any) -> None:
    check_prices(prices)


def test_prices_are_checked_before_a_run_without_a_limit_of_its_cost(write_responses: Any) -> None:
    with pytest.raises(UsageError, match="give two or three numbers"):
        round_robin(responses=write_responses(), prices={"scripted/judge": [1]})
    with pytest.raises(UsageError, match="give two or three numbers"):
        JudgeFilter(against="out", judge="scripted/judge", prices={"scripted/judge": [1]})


def test_cached_tokens_have_their_own_price_if_it_is_given() -> None:
    assert cost_of_usage(USAGE, TokenPrices(2, 10)) == pytest.approx(3.5 * 2 + 1)
    assert cost_of_usage(USAGE, TokenPrices(2, 10, 0.5)) == pytest.approx(1.5 * 2 + 2 * 0.5 + 1)


def test_a_limit_of_cost_counts_cached_tokens_at_their_price() -> None:
    full = CostLimit(100, {"a/b": [2, 10]}, 2)
    own = CostLimit(100, {"a/b": [2, 10, 0.5]}, 2)
    assert full._cost({"a/b": USAGE}) == pytest.approx(8)
    assert own._cost({"a/b": USAGE}) == pytest.approx(5)
    assert own._cost({"a/b": USAGE}, is_cached=False) == pytest.approx(8)


def test_a_given_price_goes_before_that_of_inspect() -> None:
    assert price_of("a/b", {"a/b": [2, 10]}) == TokenPrices(2, 10, None)
    assert price_of("a/b", {"a/b": [2, 10, 0.5]}) == TokenPrices(2, 10, 0.5)
    assert price_of("a/b", {}) is None
