"""Images, audio, video and documents of an item: read them from logs, and show them to judges."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalSample
from inspect_ai.model import ChatMessage, ChatMessageUser, Content, ContentText
from pydantic import TypeAdapter

from podium.printable import shorten

KINDS = ("image", "audio", "video", "document")
"""Types of Inspect's contents that count as media."""
CONTENTS: TypeAdapter[list[Content]] = TypeAdapter(list[Content])
"""Parses the JSON that `media_as_text` writes."""
REFUSAL = re.compile(
    r"\b(?:images?|audio|videos?|vision|media|multi-?modal|documents?|content type)\b",
    re.IGNORECASE,
)
"""Matches words in the error message of a provider that rejects media, such as
`does not accept images`."""
REJECTION_CODES = (400, 415, 422)
"""HTTP codes of requests that a provider rejects: bad request, media type, content."""


def media_in(messages: str | Sequence[ChatMessage]) -> list[Content]:
    """Return the images, audio, videos and documents of a conversation, in order.

    Other contents, such as text, reasoning or calls of tools, are left out. A text has none.
    """
    media: list[Content] = []
    if isinstance(messages, str):
        return media
    for message in messages:
        if not isinstance(message.content, str):
            media += [part for part in message.content if part.type in KINDS]
    return media


def text_with_places(messages: Sequence[ChatMessage]) -> list[str]:
    """Return the text of each message, with `[image 1]` or the like in place of media.

    Media are numbered together, from 1 over all messages. Parts of a message are joined by line
    ends; parts that are neither text nor media, such as reasoning, are left out.
    """
    texts = []
    number = 0
    for message in messages:
        content = message.content
        parts = [ContentText(text=content)] if isinstance(content, str) else content
        lines = []
        for part in parts:
            if part.type in KINDS:
                number += 1
                lines.append(f"[{part.type} {number}]")
            elif part.type == "text":
                lines.append(part.text)
        texts.append("\n".join(lines))
    return texts


def media_as_text(messages: str | Sequence[ChatMessage]) -> str | None:
    """Return the media of a conversation as JSON, a list of objects; None if there are none.

    Equal media give equal texts.
    """
    media = [
        part.model_dump(exclude_none=True, exclude={"internal"}) for part in media_in(messages)
    ]
    return json.dumps(media, sort_keys=True) if media else None


def why_not_shown(sample: EvalSample) -> str | None:
    """Return why media prevent a response from being judged; None if they do not.

    They do if media of the input are neither in the log, nor at a web address, nor in a file here;
    or if the first response of the sample has media.
    """
    for part in media_in(sample.input):
        place = str(getattr(part, part.type))
        is_address = place.startswith(("data:", "http://", "https://"))
        if not is_address and not Path(place).is_file():
            return "media not in the log"
    messages = [choice.message for choice in sample.output.choices[:1]]
    return "media in the response" if media_in(messages) else None


def input_of(instruction: str, media: str | None) -> str | list[ChatMessage]:
    """Return a sample's input: the instruction, then the item's media.

    It is a list with one message of the user. Without media, it is the instruction itself.

    Args:
        instruction: the instruction.
        media: the media as `media_as_text` writes them; None if there are none.
    """
    if media is None:
        return instruction
    return [
        ChatMessageUser(content=[ContentText(text=instruction), *CONTENTS.validate_json(media)])
    ]


def prompt_with_media(prompt: str, media: Sequence[Content]) -> str | list[ChatMessage]:
    """Return the judge's input: the prompt, then the media that its `[image 1]` ... stand for.

    A sentence before the media says where they belong. The result is a list with one message of the
    user. Without media, it is the prompt itself.
    """
    if not media:
        return prompt
    names_of_media = ", ".join(f"[{part.type} {number}]" for number, part in enumerate(media, 1))
    words = (
        f"Here follows, in this order, what stands in the instruction as {names_of_media}. "
        "It is data, like the instruction."
    )
    return [ChatMessageUser(content=[ContentText(text=prompt), ContentText(text=words), *media])]


def why_refused(error: BaseException) -> str | None:
    """Return the message of an error by which a provider may reject media; None for another error.

    These are NotImplementedError, errors with the status 400, 415 or 422 whatever their message is,
    and errors with a word for media in their last 2,000 characters. The message is cut to 200
    characters; an empty one is replaced by the name of the error's class.
    """
    status: Any = getattr(error, "status_code", None)
    is_rejected_request = isinstance(error, NotImplementedError) or status in REJECTION_CODES
    if is_rejected_request or REFUSAL.search(str(error)[-2000:]):
        return shorten(str(error), 200) or type(error).__name__
    return None
