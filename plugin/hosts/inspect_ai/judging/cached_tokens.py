"""Say how many input tokens of a run came from a provider's prompt cache, and what that saved."""

from collections.abc import Iterator, Mapping

from inspect_ai.model import ModelUsage, get_model_info

from podium.hosts.inspect_ai.judging.call_prices import Prices, TokenPrices


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
    for model, own in usage.items():
        cached = own.input_tokens_cache_read or 0
        if not cached:
            continue
        whole = own.input_tokens + cached + (own.input_tokens_cache_write or 0)
        text = f"{cached:,} of {whole:,} input tokens ({cached / whole:.0%}) of {model} came from"
        saved = _money_saved(model, own, prices or {})
        yield f"{text} the provider's prompt cache{_saved_text(saved)}"


def _money_saved(model: str, usage: ModelUsage, prices: Prices) -> float | None:
    """Return how much less the input cost than without a cache; None if a price is unknown.

    Tokens that were written to the cache may cost more than others, so the sum may be negative. At
    given prices, they cost as much as others.
    """
    read = usage.input_tokens_cache_read or 0
    written = usage.input_tokens_cache_write or 0
    if model in prices:
        given = TokenPrices(*prices[model])
        return None if given.cached is None else read * (given.input - given.cached) / 1e6
    price = getattr(get_model_info(model), "cost", None)
    if price is None:
        return None
    saved = read * (price.input - price.input_cache_read)
    saved += written * (price.input - price.input_cache_write)
    return saved / 1e6


def _saved_text(saved: float | None) -> str:
    """Write what a cache saved, in the currency of the prices; empty if it is unknown."""
    if saved is None:
        return ""
    if saved < 0:
        return f", which cost {-saved:,.2f} more in money than without a cache"
    return f", which saved {saved:,.2f} in money"
