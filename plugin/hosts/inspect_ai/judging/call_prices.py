"""Prices of the tokens of calls, as the user gives them or as Inspect knows them."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import NamedTuple

from inspect_ai.model import Model, ModelUsage, get_model_info

from podium.errors import UsageError

Prices = Mapping[str, Sequence[float]]
"""Prices by model, as given: of a million input tokens, of a million output tokens and, if it is
given, of a million input tokens from a provider's prompt cache."""
PRICE_FORM = "[INPUT, OUTPUT] or [INPUT, OUTPUT, CACHED], per million tokens"
"""How error messages describe the prices of a model."""


class TokenPrices(NamedTuple):
    """Prices of a million tokens of a model.

    Attributes:
        input: of input tokens.
        output: of output tokens.
        cached: of input tokens that a provider's prompt cache serves; None if unknown. They then
            cost as much as other input tokens.
        written: of input tokens that are written to that cache, which some providers bill at more
            than other input tokens; None if unknown. They then cost as much as others.
    """

    input: float
    output: float
    cached: float | None = None
    written: float | None = None


def check_prices(prices: Prices | None) -> None:
    """Check prices that the user gave; None if there are none.

    Raises:
        UsageError: the prices are no mapping, those of a model are not two or three finite numbers
            of 0 or more, or its price of cached input is above its price of input.
    """
    if prices is None:
        return
    if not isinstance(prices, Mapping):
        raise UsageError(f"prices={prices}: give a mapping of models to {PRICE_FORM}")
    for name, price in prices.items():
        is_list = isinstance(price, Sequence) and not isinstance(price, str)
        if not is_list or len(price) not in (2, 3):
            raise UsageError(f"prices={name}: {price}: give two or three numbers, {PRICE_FORM}")
        for field, part in zip(("INPUT", "OUTPUT", "CACHED"), price, strict=False):
            is_number = isinstance(part, int | float) and not isinstance(part, bool)
            if not is_number or not isfinite(part) or part < 0:
                raise UsageError(
                    f"prices={name}: {price}: {field} is {part}: give a number of 0 or more"
                )
        price_of_input, _, *price_of_cached = price
        if price_of_cached and price_of_cached[0] > price_of_input:
            raise UsageError(
                f"prices={name}: {price}: CACHED is more than INPUT: the order is {PRICE_FORM}"
            )


def price_of(model: Model | str, prices: Prices) -> TokenPrices | None:
    """Return the prices of a model's tokens, as given or as Inspect knows them; None if unknown.

    Args:
        model: the model, or its name.
        prices: prices that the user gave (`check_prices`).
    """
    price = prices.get(str(model))
    if price:
        return TokenPrices(*price)
    cost = getattr(get_model_info(model), "cost", None)
    if cost is None:
        return None
    return TokenPrices(cost.input, cost.output, cost.input_cache_read, cost.input_cache_write)


def cost_of_usage(usage: ModelUsage, price: TokenPrices) -> float:
    """Return what the tokens of calls cost, in the currency of the prices.

    Input tokens that a provider's cache served or stored have their own prices, or that of other
    input tokens if theirs is unknown.
    """
    cached = usage.input_tokens_cache_read or 0
    written = usage.input_tokens_cache_write or 0
    price_cached = price.input if price.cached is None else price.cached
    price_written = price.input if price.written is None else price.written
    cost = usage.input_tokens * price.input + usage.output_tokens * price.output
    cost += cached * price_cached + written * price_written
    return cost / 1e6
