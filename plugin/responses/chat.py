"""Conversations in OpenAI's chat format: the instruction, and the turns of the agent that follows it."""

import ast
import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from podium.responses.answers import QuestionRow, Record, ResponseRow, build_response, is_empty
from podium.responses.transcripts import Call, Show, Turn

RESULTS = ("tool", "function", "tool_response", "observation")
ROLES = ("system", "developer", "user", "assistant", "tool_call", *RESULTS)


class Conversation(NamedTuple):
    """A conversation: its system prompt, the user's first messages, the turns that follow, and the final answer."""

    system: str | None = None
    instruction: str | None = None
    turns: Sequence[Turn] = ()

    @property
    def answer(self) -> str:
        """The text of the last turn, if it is of the assistant and calls no tool."""
        last = self.turns[-1] if self.turns else None
        return last.text if last and last.role == "assistant" and not last.calls else ""


NO_CHAT = Conversation()


def read_conversation(record: Record, messages: Sequence[Any]) -> Conversation:
    """Read messages (roles, `tool_calls`, `tool_call_id`); DataError for what is no message. Results without the id of
    their call are those of the calls in their order."""
    system, asked = list[str](), list[str]()
    turns, waiting = list[Turn](), list[str]()
    for k, message in enumerate(messages, 1):
        role = message.get("role") if isinstance(message, dict) else None
        if not isinstance(role, str) or role not in ROLES:
            raise record.error(f"message {k} has the role {role!r}", f"roles are {', '.join(ROLES)}")
        text = _message_text(record, message.get("content"))
        calls = _calls_of(record, message, k) if role in ("assistant", "tool_call") else ()
        waiting += [call.id for call in calls]
        if role in ("system", "developer"):
            system.append(text)
        elif role == "user" and not turns:
            asked.append(text)
        elif role in RESULTS:
            call = message.get("tool_call_id") or (waiting[0] if waiting else None)
            waiting = [own for own in waiting if own != call]
            turns.append(Turn("tool", text, call_id=call if isinstance(call, str) else None))
        else:
            turns.append(Turn("user" if role == "user" else "assistant", "" if role == "tool_call" else text, calls))
    return Conversation("\n\n".join(system) or None, "\n\n".join(asked) or None, turns)


def build_chat_response(
    show: Show,
    question: QuestionRow,
    model: str | None,
    chat: Conversation,
    *,
    errored: bool = False,
    number: int = 1,
) -> ResponseRow:
    """Return the response of an agent as `show` says; DataError for an answer to messages that are not shown."""
    text, work = show.build_response(chat.turns, chat.answer, question.length)
    if not work.shown and any(turn.role == "user" for turn in chat.turns):
        raise question.error("the user wrote again after the first answer", "-T show=transcript shows all messages")
    return build_response(question, model, text, errored=errored, number=number, work=work)


def _message_text(record: Record, content: Any) -> str:
    """Return the text of a message; parts without text as `[image_url]`, `content` of arena-hard its answer, other
    objects as JSON."""
    if isinstance(content, list):
        parts = [part if isinstance(part, dict) else {"text": part} for part in content]
        return "\n".join(_message_text(record, part.get("text", f"[{part.get('type')}]")) for part in parts)
    if isinstance(content, dict):
        content = content["answer"] if "answer" in content else json.dumps(content, ensure_ascii=False)
    return record.as_text("content", content) or ""


def _calls_of(record: Record, message: dict[str, Any], number: int) -> tuple[Call, ...]:
    """Return the calls of a message: `tool_calls`, an older `function_call`, or the content of a role `tool_call`."""
    if message["role"] == "tool_call":
        given: Any = [{"function": _parse_call(message.get("content"))}]
    else:
        older = message.get("function_call")
        given = message.get("tool_calls") or ([{"function": older}] if older else [])
    calls = []
    for k, call in enumerate(given if isinstance(given, list) else [given], 1):
        function = call.get("function", call) if isinstance(call, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            remedy = "a call is {'id': ..., 'function': {'name': ..., 'arguments': ...}}"
            raise record.error(f"call {k} of message {number} names no function", remedy)
        arguments = function.get("arguments")
        shown = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        calls.append(
            Call(str(call.get("id") or f"{number}.{k}"), function["name"], "" if is_empty(arguments) else shown)
        )
    return tuple(calls)


def _parse_call(content: Any) -> Any:
    """Return the call that a text holds as JSON or as Python's literal; a text that holds none is the call's name."""
    for parse in (json.loads, ast.literal_eval):
        with suppress(ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            if isinstance(parsed := parse(content), dict) and "name" in parsed:
                return parsed
    return content if isinstance(content, dict) else {"name": content}
