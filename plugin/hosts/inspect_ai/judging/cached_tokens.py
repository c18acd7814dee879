"""Say how many input tokens of a run came from a provider's prompt cache, and what that saved."""

from collections.abc import Iterator, Mapping

from inspect_ai.model import ModelUsage, get_model_info


def cached_tokens_texts(usage: Mapping[str, ModelUsage]) -> Iterator[str]:
    """Yield a sentence per model whose provider served input tokens from its cache.

    The money that this saved is named if Inspect knows the prices of the model.

    Args:
        usage: the tokens of a run, by model.
    """
    for model, own in usage.items():
        cached = own.input_tokens_cache_read or 0
        if not cached:
            continue
        whole = own.input_tokens + cached + (own.input_tokens_cache_write or 0)
        text = f"{cached:,} of {whole:,} input tokens ({cached / whole:.0%}) of {model} came from"
        yield f"{text} the provider's prompt cache{_saved_text(model, own)}"


def _saved_text(model: str, usage: ModelUsage) -> str:
    """Write how much less the input cost than without a cache; empty if prices are unknown.

    Tokens that were written to the cache may cost more than others, so the sum may be negative.
    """
    price = getattr(get_model_info(model), "cost", None)
    if price is None:
        return ""
    read = (usage.input_tokens_cache_read or 0) * (price.input - price.input_cache_read)
    written = (usage.input_tokens_cache_write or 0) * (price.input - price.input_cache_write)
    saved = (read + written) / 1e6
    if saved < 0:
        return f", which cost {-saved:,.2f} more in money than without a cache"
    return f", which saved {saved:,.2f} in money"
