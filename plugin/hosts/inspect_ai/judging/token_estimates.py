"""Estimate the tokens of calls whose server sends no usage. Every task imports this file."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from math import ceil

from inspect_ai.log import transcript
from inspect_ai.model import Model, ModelOutput, ModelUsage

from podium.hosts.inspect_ai.logs.log_files import NAMESPACE
from podium.scorers.prompt import count_tokens

ESTIMATE = f"{NAMESPACE}_estimated_tokens"
"""Key in a sample's store of the estimated tokens: `[input tokens, output tokens]` by model."""
_ESTIMATE: ContextVar[dict[str, list[int]] | None] = ContextVar("estimated_tokens", default=None)
"""The estimate of the running calls (`estimating_tokens`); None outside of it."""


@contextmanager
def estimating_tokens() -> Iterator[dict[str, list[int]]]:
    """Collect the estimated tokens of calls in the body whose server sends no usage.

    The yielded dictionary, which grows with each call, has `[input tokens, output tokens]` by name
    of the model.
    """
    estimate: dict[str, list[int]] = {}
    token = _ESTIMATE.set(estimate)
    try:
        yield estimate
    finally:
        _ESTIMATE.reset(token)


def estimate_usage(model: Model, prompt: str, output: ModelOutput) -> None:
    """Add the tokens of a call to the estimate if its server sent no usage.

    Replies from the cache do not count. Outside of `estimating_tokens`, nothing is done.

    Args:
        model: the model.
        prompt: the text that it read.
        output: what it wrote; reasoning counts, too.
    """
    estimate = _ESTIMATE.get()
    has_usage = output.usage is not None and output.usage.total_tokens
    if estimate is None or has_usage or _is_from_cache(output):
        return
    written = output.completion
    content = output.message.content if output.choices else ""
    if not isinstance(content, str):
        written += "".join(getattr(part, "reasoning", "") for part in content)
    tokens = estimate.setdefault(str(model), [0, 0])
    tokens[0] += ceil(count_tokens(prompt))
    tokens[1] += max(ceil(count_tokens(written)), 1)


def _is_from_cache(output: ModelOutput) -> bool:
    """Return whether an output came from Inspect's cache, as the sample's transcript records.

    False if the output is empty, or if the transcript does not have it.
    """
    if not output.choices:
        return False
    for event in reversed(transcript().events):
        if event.event != "model" or not event.output.choices:
            continue
        if event.output.message.id == output.message.id:
            return event.cache == "read"
    return False


def read_estimate(stored_estimate: Mapping[str, Sequence[int]] | None) -> dict[str, ModelUsage]:
    """Return the estimated tokens that a sample's store holds, by model.

    Args:
        stored_estimate: input and output tokens by model; None if the store holds none.
    """
    usages = {}
    for model, (tokens_in, tokens_out) in (stored_estimate or {}).items():
        total = tokens_in + tokens_out
        usages[model] = ModelUsage(
            input_tokens=tokens_in, output_tokens=tokens_out, total_tokens=total
        )
    return usages
