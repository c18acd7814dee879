"""Read from a log's first samples how a prompt was made of an input."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from podium.hosts.inspect_ai.logs.message_texts import text_of_input, text_of_message
from podium.hosts.inspect_ai.logs.stored_samples import first_samples

INPUT = "{input}"
"""Stands for the sample's input in a template."""
COMPARED_SAMPLES = 2
"""Number of samples that must show the same template."""
Message = tuple[str, str]
"""Role and text of a message."""


def prompt_template_in(path: Path) -> str | None:
    """Return the template that made prompts of a log's inputs.

    It has the messages before the first message of the model, in which `{input}` stands for the
    sample's input.

    Returns:
        The template. None if no message of the user holds the input as it is, if a text is unknown,
        or if the first two samples show different templates, as with examples drawn for each
        sample.
    """
    templates = {_template_of(sample) for sample in first_samples(path, COMPARED_SAMPLES)}
    return templates.pop() if len(templates) == 1 else None


def _template_of(sample: Mapping[str, Any]) -> str | None:
    """Return the template that a sample shows.

    It has the messages before the model's first one, with an empty line between two. Those of the
    user have `{input}` in place of the input; all others begin with their role in brackets.

    None if a text of the sample is unknown, or if no message of the user holds the input as it is.
    """
    attachments = sample.get("attachments") or {}
    asked_text = text_of_input(sample.get("input"), attachments)
    before = _messages_before_answer(sample.get("messages") or (), attachments)
    if not asked_text or before is None:
        return None
    parts = []
    for role, text in before:
        template_text = text.replace(asked_text, INPUT) if role == "user" else f"[{role}] {text}"
        parts.append(template_text.strip())
    template = "\n\n".join(parts)
    return template if INPUT in template else None


def _messages_before_answer(
    messages: Sequence[Mapping[str, Any]], attachments: Mapping[str, str]
) -> list[Message] | None:
    """Return the messages before the first one of the model, as role and text.

    All messages are returned if none is of the model. None if a text is unknown.
    """
    before: list[Message] = []
    for message in messages:
        if message.get("role") == "assistant":
            break
        text = text_of_message(message, attachments)
        if text is None:
            return None
        before.append((str(message.get("role")), text))
    return before
