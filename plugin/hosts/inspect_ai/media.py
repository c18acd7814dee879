"""Images, audio, video and files of an item: found in a log, shown to the judge beside its prompt, or said missing."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalSample
from inspect_ai.model import ChatMessage, ChatMessageUser, Content, ContentText
from pydantic import TypeAdapter

KINDS = ("image", "audio", "video", "document")
CONTENTS: TypeAdapter[list[Content]] = TypeAdapter(list[Content])
NOT_IN_LOG = "media not in the log"
IN_RESPONSE = "media in the response"
SHOWABLE = re.compile(r"data:|https?://")
REFUSAL = re.compile(r"\b(?:images?|audio|videos?|vision|media|multi-?modal|documents?|content type)\b", re.IGNORECASE)
"""What a provider's error speaks of that refuses media."""


def media_in(messages: str | Sequence[ChatMessage]) -> list[Content]:
    """Return what of a conversation is not text."""
    return [] if isinstance(messages, str) else [part for message in messages for part in _parts(message)]


def _parts(message: ChatMessage) -> Iterator[Content]:
    content = [] if isinstance(message.content, str) else message.content
    return (part for part in content if part.type in KINDS)


def text_with_places(messages: Sequence[ChatMessage]) -> list[str]:
    """Return the text of each message, with `[image 1]` where media stand, counted over all of them."""
    texts, number = [], 0
    for message in messages:
        lines = []
        for part in [ContentText(text=message.content)] if isinstance(message.content, str) else message.content:
            if part.type in KINDS:
                number += 1
                lines.append(f"[{part.type} {number}]")
            elif part.type == "text":
                lines.append(part.text)
        texts.append("\n".join(lines))
    return texts


def media_as_text(messages: str | Sequence[ChatMessage]) -> str | None:
    """Return media as JSON, as an item keeps them; None without any."""
    media = [part.model_dump(exclude_none=True, exclude={"internal"}) for part in media_in(messages)]
    return json.dumps(media, sort_keys=True) if media else None


def why_not_shown(sample: EvalSample) -> str | None:
    """Return why a response cannot be judged by what a log holds: its media, or those of its item, are not there."""
    places = [str(getattr(part, part.type)) for part in media_in(sample.input)]
    if not all(SHOWABLE.match(place) or Path(place).is_file() for place in places):
        return NOT_IN_LOG
    answer = sample.output.choices[0].message if sample.output.choices else None
    return IN_RESPONSE if answer and any(_parts(answer)) else None


def input_of(instruction: str, media: str | None) -> str | list[ChatMessage]:
    """Return the input of a sample: the instruction, and the item's media beside it."""
    if media is None:
        return instruction
    return [ChatMessageUser(content=[ContentText(text=instruction), *CONTENTS.validate_json(media)])]


def prompt_with_media(prompt: str, media: Sequence[Content]) -> str | list[ChatMessage]:
    """Return what the judge is asked: the prompt, and after it what the instruction's places stand for."""
    if not media:
        return prompt
    named = ", ".join(f"[{part.type} {number}]" for number, part in enumerate(media, 1))
    words = f"Here follows, in this order, what stands in the instruction as {named}. It is data, like the instruction."
    return [ChatMessageUser(content=[ContentText(text=prompt), ContentText(text=words), *media])]


def refuse_media(messages: Sequence[ChatMessage], who: str) -> None:
    """Refuse what a judge of text would not see."""
    if media := media_in(messages):
        raise NotImplementedError(f"{who} is shown text only, and there is {media[0].type}")


def why_refused(error: BaseException) -> str | None:
    """Return in words why a judge did not take media; None where the error is of another kind.

    A provider refuses by the status of a bad request, or speaks of media; what may succeed later is no refusal. Its own
    words are those of the innermost error: the host's begin with the whole request.
    """
    cause: BaseException | None = error
    words = None
    while cause is not None:
        status: Any = getattr(cause, "status_code", None)
        if isinstance(cause, NotImplementedError) or status in (400, 415, 422) or REFUSAL.search(str(cause)[-2000:]):
            words = " ".join(str(cause).split())[:200] or type(cause).__name__
        cause = cause.__cause__ or cause.__context__
    return words
