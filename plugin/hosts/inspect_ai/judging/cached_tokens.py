"""Say how many input tokens of a run came from a provider's prompt cache, and what that saved."""

from collections.abc import Iterator, Mapping

from inspect_ai.model import ModelUsage

from podium.hosts.inspect_ai.judging.call_prices import Prices, cost_of_usage, price_of


def cached_tokens_texts(
    usage: Mapping[str, ModelUsage], prices: Prices | None = None
) -> Iterator[str]:
    """Yield a sentence per model whose provider served input tokens from its cache.

    The money that this saved is named if the price of cached tokens was given, or if Inspect knows
    the prices of the model and none were given.

    Args:
        usage: the tokens of a run, by model.
        prices: prices that the user gave, by model; None if there are none.
    """
    for model, tokens in usage.items():
        cached = tokens.input_tokens_cache_read or 0
        if not cached:
            continue
        whole = tokens.input_tokens + cached + (tokens.input_tokens_cache_write or 0)
        text = f"{cached:,} of {whole:,} input tokens ({cached / whole:.0%}) of {model} came from"
        saved = _money_saved(model, tokens, prices or {})
        yield f"{text} the provider's prompt cache{_saved_text(saved)}"


def _money_saved(model: str, usage: ModelUsage, prices: Prices) -> float | None:
    """Return how much less the input cost than without a cache, in the currency of the prices.

    None if the prices of the model, or the price of its cached tokens, are unknown. Tokens that
    were written to the cache may cost more than others, so the result may be negative.
    """
    price = price_of(model, prices)
    if price is None or price.cached is None:
        return None
    whole = ModelUsage(
        input_tokens=usage.input_tokens
        + (usage.input_tokens_cache_read or 0)
        + (usage.input_tokens_cache_write or 0),
        output_tokens=usage.output_tokens,
    )
    return cost_of_usage(whole, price) - cost_of_usage(usage, price)


def _saved_text(saved: float | None) -> str:
    """Write the end of a sentence on what a cache saved, or on what it cost more.

    Args:
        saved: the money saved, negative if the cache cost more; None if unknown, which gives an
            empty text.
    """
    if saved is None:
        return ""
    if saved < 0:
        return f", which cost {-saved:,.2f} more in money than without a cache"
    return f", which saved {saved:,.2f} in money"
