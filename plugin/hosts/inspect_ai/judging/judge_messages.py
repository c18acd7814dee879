"""The message that a judge gets: the prompt, with a cache boundary and the item's media."""

from collections.abc import Sequence

from inspect_ai.model import ChatMessage, ChatMessageUser, Content, ContentText, Model

from podium.hosts.inspect_ai.media import prompt_with_media
from podium.scorers.prompt import count_tokens, split_at_responses
from podium.scorers.shared_prefixes import least_cached

BOUNDARY = "cache_breakpoint"
"""Field of Inspect's `ContentText` that marks a cache boundary; older versions do not have it."""
PROVIDERS_WITH_BOUNDARIES = frozenset({"anthropic", "openai"})
"""Providers of Inspect that pass cache boundaries on. The others get the prompt as one text."""


def judge_messages(model: Model, prompt: str, media: Sequence[Content]) -> str | list[ChatMessage]:
    """Return a judge's input: the prompt, then the media.

    A cache boundary stands before the first response if three conditions hold: the item has no
    media, the provider takes boundaries, and the text before the first response is long enough to
    be cached. All prompts of an item are the same up to there. The result is then a list with one
    message, else what `prompt_with_media` returns.

    Args:
        model: the judge.
        prompt: the prompt.
        media: the item's media, which follow the prompt.
    """
    item_part, rest = split_at_responses(prompt)
    has_field = BOUNDARY in ContentText.model_fields
    takes_boundaries = has_field and provider_of(model) in PROVIDERS_WITH_BOUNDARIES
    if media or not takes_boundaries or count_tokens(item_part) < least_cached(str(model)):
        return prompt_with_media(prompt, media)
    before = ContentText.model_validate({"text": item_part, BOUNDARY: True})
    return [ChatMessageUser(content=[before, ContentText(text=rest)])]


def provider_of(model: Model) -> str:
    """Return the name of a model's provider, such as `openai` for `openai/gpt-5`."""
    return str(model).partition("/")[0]
