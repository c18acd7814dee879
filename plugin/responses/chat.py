"""Conversations in OpenAI's chat format: the instruction, and the agent's turns."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from podium.notices.option_forms import option_text
from podium.responses.answers import QuestionRow, Record, ResponseRow, build_response, is_empty
from podium.responses.transcripts import Call, Show, Turn, turns_until_answer
from podium.text import MESSAGES_START, parse_literal

RESULT_ROLES = ("tool", "function", "tool_response", "observation")
"""Roles of messages with the result of a tool call."""
SYSTEM_ROLES = ("system", "developer")
"""Roles of system prompts."""
ROLES = (*SYSTEM_ROLES, "user", "assistant", "tool_call", *RESULT_ROLES)
"""All roles that a message may have."""
TEXT_TYPES = ("text", "input_text", "output_text", "refusal")
"""Types of the parts of a message that are texts."""
MEDIA_TYPES = (
    "image",
    "image_url",
    "input_image",
    "audio",
    "input_audio",
    "video",
    "video_url",
    "file",
    "document",
)
"""Types of the parts of a message that are shown by their type alone, such as `[image]`."""
REASONING_TYPES = ("reasoning", "thinking", "redacted_thinking")
"""Types of the parts of a message that are not shown at all."""


class Conversation(NamedTuple):
    """A conversation with a model.

    Attributes:
        system: the system prompt; None if there is none.
        instruction: the user's messages before the first turn; None if there are none.
        turns: the messages after the instruction.
    """

    system: str | None = None
    instruction: str | None = None
    turns: Sequence[Turn] = ()

    @property
    def answer(self) -> str:
        """The text of the final answer; empty if there is none.

        It is the last message of the assistant, if it has no calls and no result of a tool follows.
        """
        turns = turns_until_answer(self.turns)
        if not turns:
            return ""
        last = turns[-1]
        is_answer = last.role == "assistant" and not last.calls
        return last.text if is_answer else ""

    def as_instruction(self) -> str:
        """Return one text with all messages, each under its role, to be used as an instruction.

        The system prompt is left out; system messages among the turns are not.
        """
        texts = [("user", self.instruction)] if self.instruction else []
        for turn in self.turns:
            parts = [turn.text] if turn.text else []
            parts += [f"{call.name} {call.arguments}".rstrip() for call in turn.calls]
            texts.append((turn.role, "\n".join(parts)))
        return "\n\n".join(f"[{role}]\n{text}" for role, text in texts)


NO_CHAT = Conversation()
"""An empty conversation."""


def read_conversation(record: Record, messages: Sequence[Any]) -> Conversation:
    """Read a list of messages in OpenAI's format.

    The messages of the user before the first turn are joined as the instruction. The messages of
    the system before the first turn are joined as the system prompt. All other messages are turns.
    If a result does not name its call by `tool_call_id`, it belongs to the first call that has no
    result yet. A message without a text has the text of its refusal, if there is one.

    Raises:
        DataError: an entry is not a message, or a part, text or call of a message has an unknown
            form.
    """
    system_texts: list[str] = []
    user_texts: list[str] = []
    turns: list[Turn] = []
    open_calls: list[str] = []  # ids of the calls that have no result yet
    for number, message in _openai_messages(record, messages):
        role = message["role"]
        text = _message_text(record, message.get("content"))
        if not text:
            text = record.as_text("refusal", message.get("refusal")) or ""
        calls = _calls_of(record, message, number) if role in ("assistant", "tool_call") else ()
        open_calls += [call.id for call in calls]
        if role in SYSTEM_ROLES and not turns:
            system_texts.append(text)
        elif role == "user" and not turns:
            user_texts.append(text)
        elif role in RESULT_ROLES:
            answered_call = message.get("tool_call_id")
            if not answered_call and open_calls:
                answered_call = open_calls[0]
            open_calls = [call_id for call_id in open_calls if call_id != answered_call]
            call_id = answered_call if isinstance(answered_call, str) else None
            failed = message.get("is_error") is True
            turns.append(Turn("tool", text, call_id=call_id, failed=failed))
        elif role in SYSTEM_ROLES:
            turns.append(Turn("system", text, calls))
        elif role == "user":
            turns.append(Turn("user", text, calls))
        elif role == "tool_call":
            # The content is the call, not a text.
            turns.append(Turn("assistant", text="", calls=calls))
        else:
            turns.append(Turn("assistant", text, calls))
    return Conversation(
        system="\n\n".join(system_texts) or None,
        instruction="\n\n".join(user_texts) or None,
        turns=turns,
    )


def build_chat_response(
    show: Show,
    question: QuestionRow,
    model: str | None,
    chat: Conversation,
    *,
    errored: bool = False,
    number: int = 1,
) -> ResponseRow:
    """Return the response of an agent: its answer or its transcript.

    Args:
        show: says whether the response is the answer or the transcript.
        question: the question that was answered.
        model: name of the model; None if the file does not name it.
        chat: the conversation.
        errored: whether the model failed. The response then has no text, and the reason `ERRORED`.
        number: number of the response among those of the model to this question, from 1.

    Raises:
        DataError: the response is only the answer, and the user wrote again before it.
    """
    text, work = show.build_response(chat.turns, chat.answer, question.length)
    has_user = any(turn.role == "user" for turn in turns_until_answer(chat.turns))
    if has_user and not work.shown:
        remedy = f"{option_text('show', 'transcript', 'argument')} shows all messages"
        raise question.error("the user wrote again after the first answer", remedy)
    return build_response(question, model, text, errored=errored, number=number, work=work)


def messages_in(record: Record, cell: Any) -> list[Any] | None:
    """Return the messages in a cell.

    Args:
        record: the row of the cell, for error messages.
        cell: the value of the cell: a list, or a text with a list as JSON or as a Python literal.

    Returns:
        The messages. A list is returned unchecked; in a text, each entry must have a role. The
        result is None if the cell holds anything else, or a text with an empty list.

    Raises:
        DataError: the text begins like messages, but cannot be parsed, for example because it is
            cut off.
    """
    if not isinstance(cell, str):
        return cell if isinstance(cell, list) else None
    parsed = parse_literal(cell) if cell.lstrip().startswith(("[", "{")) else None
    if parsed is None and MESSAGES_START.match(cell):
        raise record.error(
            "the messages are neither JSON nor a Python literal", "write them as JSON, and whole"
        )
    is_chat = parsed and all(isinstance(message, dict) and "role" in message for message in parsed)
    return parsed if is_chat else None


def _openai_messages(
    record: Record, messages: Sequence[Any]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number, from 1, and the fields of each message in OpenAI's format.

    Messages of Anthropic are converted: their parts `tool_use` become calls, and their parts
    `tool_result` become messages of a tool with the same number.

    Raises:
        DataError: a message is not a mapping, or its role is unknown.
    """
    for number, message in enumerate(messages, 1):
        role = message.get("role") if isinstance(message, dict) else None
        if not isinstance(role, str) or role not in ROLES:
            raise record.error(
                f"message {number} has the role {role!r}", f"roles are {', '.join(ROLES)}"
            )
        content = message.get("content")
        listed = content if isinstance(content, list) else []
        parts = [(_part_type(part), part) for part in listed]
        results = [
            {**part, "role": "tool", "tool_call_id": part.get("tool_use_id")}
            for part_type, part in parts
            if part_type == "tool_result"
        ]
        calls = [
            {"id": part.get("id"), "function": {**part, "arguments": part.get("input")}}
            for part_type, part in parts
            if part_type == "tool_use"
        ]
        other_parts = [
            part for part_type, part in parts if part_type not in ("tool_use", "tool_result")
        ]
        remaining_message = message
        if calls or results:
            remaining_message = {**message, "content": other_parts}
        if calls:
            earlier_calls = message.get("tool_calls") or []
            if not isinstance(earlier_calls, list):
                earlier_calls = [earlier_calls]
            remaining_message["tool_calls"] = [*earlier_calls, *calls]
        is_only_results = results and not other_parts and not remaining_message.get("tool_calls")
        remaining = [] if is_only_results else [remaining_message]
        # In a message of the user, results answer calls of an earlier message and come first. In a
        # message of the assistant, they answer its own calls (of a provider's tools) and come last.
        ordered = [*remaining, *results] if role == "assistant" else [*results, *remaining]
        for converted in ordered:
            yield number, converted


def _part_type(part: Any) -> Any:
    """Return the type of a part of a message; None if it has none."""
    return part.get("type") if isinstance(part, dict) else None


def _message_text(record: Record, content: Any) -> str:
    """Return the text of a message.

    The texts of parts are joined by line ends, and reasoning is left out. A part with media is
    written as its type, such as `[image_url]`. If the content is an object, the text is its field
    `answer`, which arena-hard writes. An object without this field is written as JSON. If there is
    no content, the text is empty.

    Raises:
        DataError: the content is not text, or the type of a part is unknown.
    """
    if isinstance(content, list):
        texts = [_part_text(record, part) for part in content]
        return "\n".join(text for text in texts if text is not None)
    if isinstance(content, dict) and "answer" in content:
        content = content["answer"]
    elif isinstance(content, dict):
        content = json.dumps(content, ensure_ascii=False)
    return record.as_text("content", content) or ""


def _part_text(record: Record, part: Any) -> str | None:
    """Return the text of a part of a message; its type in brackets for media, None for reasoning.

    Raises:
        DataError: the type of the part is unknown.
    """
    if not isinstance(part, dict):
        return record.as_text("content", part) or ""
    part_type = _part_type(part)
    if part_type in REASONING_TYPES:
        return None
    text = record.as_text("text", part.get("text"))
    if not text:
        text = record.as_text("refusal", part.get("refusal"))
    if text:
        return text
    if part_type == "json":
        return json.dumps(part.get("json"), ensure_ascii=False)
    if part_type in MEDIA_TYPES:
        return f"[{part_type}]"
    if part_type in TEXT_TYPES or "text" in part:
        return ""
    types = ", ".join(
        (*TEXT_TYPES, "json", "tool_use", "tool_result", *REASONING_TYPES, *MEDIA_TYPES)
    )
    raise record.error(f"a part of a message has the type {part_type!r}", f"types are {types}")


def _calls_of(record: Record, message: dict[str, Any], number: int) -> tuple[Call, ...]:
    """Return the tool calls of a message.

    The calls stand in the field `tool_calls` or in the older field `function_call`. A message with
    the role `tool_call` has its call in the content. A call without an id gets the id `M.C`: the
    number of the message, and the number of the call in it. Arguments that are not text become
    JSON.

    Args:
        record: the row, for error messages.
        message: the message.
        number: number of the message, from 1.

    Raises:
        DataError: a call names no function.
    """
    entries: Any = message.get("tool_calls") or []
    if message["role"] == "tool_call":
        entries = [{"function": _parse_call(message.get("content"))}]
    elif not entries and message.get("function_call"):
        entries = [{"function": message["function_call"]}]
    if not isinstance(entries, list):
        entries = [entries]
    calls = []
    for call_number, call in enumerate(entries, 1):
        function = call.get("function", call) if isinstance(call, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            remedy = "a call is {'id': ..., 'function': {'name': ..., 'arguments': ...}}"
            raise record.error(f"call {call_number} of message {number} names no function", remedy)
        arguments = function.get("arguments")
        if is_empty(arguments):
            arguments_text = ""
        elif isinstance(arguments, str):
            arguments_text = arguments
        else:
            arguments_text = json.dumps(arguments, ensure_ascii=False)
        call_id = str(call.get("id") or f"{number}.{call_number}")
        calls.append(Call(call_id, function["name"], arguments_text))
    return tuple(calls)


def _parse_call(content: Any) -> Any:
    """Return the call in a message with the role `tool_call`, as a mapping with a name.

    The content is a mapping, or a text with one as JSON or as a Python literal. Any other text is
    the name of the tool.
    """
    parsed = parse_literal(content)
    if isinstance(parsed, dict) and "name" in parsed:
        return parsed
    return content if isinstance(content, dict) else {"name": content}
