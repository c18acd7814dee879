"""Read the texts of messages and inputs, some of which are attachments of the log."""

from collections.abc import Mapping
from typing import Any

ATTACHMENT = "attachment://"
"""The beginning of a text that stands for an attachment of the log."""


def resolve_text(value: Any, attachments: Mapping[str, str]) -> str | None:
    """Return a text, or the attachment that it refers to.

    None if the log does not hold the attachment, or if `value` is no text.

    Args:
        value: the text. If it begins with `ATTACHMENT`, the rest is the name of an attachment.
        attachments: the attachments of the sample, by name.
    """
    if isinstance(value, str) and value.startswith(ATTACHMENT):
        return attachments.get(value.removeprefix(ATTACHMENT))
    return value if isinstance(value, str) else None


def text_of_input(sample_input: Any, attachments: Mapping[str, str]) -> str | None:
    """Return the text of a sample's input, without white space at the ends; None if unknown.

    Of messages, it is the text of the last message by the user.

    Args:
        sample_input: the input: a text, messages, or None.
        attachments: the attachments of the sample, by name.
    """
    if isinstance(sample_input, str):
        text = resolve_text(sample_input, attachments)
    else:
        messages = [message for message in sample_input or () if message.get("role") == "user"]
        text = text_of_message(messages[-1], attachments) if messages else None
    return None if text is None else text.strip()


def text_of_message(message: Mapping[str, Any], attachments: Mapping[str, str]) -> str | None:
    """Return the text of a message, whose several texts are joined by line ends.

    Media are left out. A message without a text has an empty one. None if the log does not hold one
    of its texts.
    """
    content = message.get("content")
    if isinstance(content, str):
        return resolve_text(content, attachments)
    parts = [part.get("text") for part in content or () if part.get("type") == "text"]
    texts = [resolve_text(part, attachments) for part in parts]
    texts_of_parts = [text for text in texts if text is not None]
    return "\n".join(texts_of_parts) if len(texts_of_parts) == len(texts) else None
