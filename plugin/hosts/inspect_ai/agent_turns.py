"""The turns of an agent in a sample of a log: from its messages, and for sub-agents from its events."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import dropwhile
from typing import Any

from inspect_ai.event import Event
from inspect_ai.log import EvalSample, transcript
from inspect_ai.model import ChatMessage, ChatMessageAssistant
from inspect_ai.solver import TaskState

from podium.hosts.inspect_ai.media import text_with_places
from podium.responses.transcripts import AgentWork, Call, Show, Turn


def build_agent_response(sample: EvalSample | TaskState, show: Show, beside: int) -> tuple[str, AgentWork]:
    """Return what a judge is shown of a sample's response, with `beside` characters of its item, and what the model did
    for it. In a transcript, what an agent said beside its last call is no final answer, unless that call submitted
    it."""
    turns, answer = turns_of(sample), sample.output.completion
    if show.shows(turns) and not _is_final(sample.messages, answer):
        answer = ""
    return show.build_response(turns, answer, beside)


def _is_final(messages: Sequence[ChatMessage], completion: str) -> bool:
    """Return whether a completion is an answer: the last message of the assistant does not say it beside calls, or an
    argument or result of these calls is its end, as `submit()` makes it."""
    last = max((k for k, message in enumerate(messages) if message.role == "assistant"), default=0)
    message = messages[last] if messages else None
    if not isinstance(message, ChatMessageAssistant) or not message.tool_calls or message.text != completion:
        return True
    submitted = [str(value) for call in message.tool_calls for value in call.arguments.values()]
    submitted += [own.text for own in messages[last + 1 :] if own.role == "tool"]
    return any(text.strip() and f"\n{completion}".rstrip().endswith(f"\n{text.strip()}") for text in submitted)


def turns_of(sample: EvalSample | TaskState) -> list[Turn]:
    """Return what happened after the sample's input, without the system prompts before it. The events of a sample that
    is being scored are those of Inspect's transcript."""
    given = [] if isinstance(sample.input, str) else [each.role for each in sample.input if each.role != "system"]
    own = list(sample.messages)
    for role in (*(given or ["user"]), None):
        own = list(dropwhile(lambda message: message.role == "system", own))
        own = own[1:] if own and own[0].role == role else own
    events = sample.events if isinstance(sample, EvalSample) else transcript().events
    return list(_turns_in(own, _turns_of_agents(list(events))))


def _turns_in(messages: Sequence[ChatMessage], inner: Mapping[str, Sequence[Turn]]) -> Iterator[Turn]:
    """Yield the turns of messages; `inner` holds the turns of the sub-agents by the call that started them."""
    for message in messages:
        [text] = text_with_places([message])
        if message.role == "assistant":
            yield from _assistant_turns(message, text, inner)
        elif message.role == "tool":
            error = f"{message.error.type}: {message.error.message}" if message.error else ""
            said = "\n".join(filter(None, [error, text if text not in error else ""]))
            yield Turn("tool", said, call_id=message.tool_call_id, failed=bool(error))
        else:
            yield Turn(message.role, text)


def _assistant_turns(message: ChatMessageAssistant, text: str, inner: Mapping[str, Sequence[Turn]]) -> Iterator[Turn]:
    """Yield the turn of an assistant's message, and the results of tools that its provider ran."""
    content = [] if isinstance(message.content, str) else message.content
    used = [part for part in content if part.type == "tool_use"]
    calls = [Call(part.id, part.name, part.arguments) for part in used]
    for call in message.tool_calls or []:
        arguments = json.dumps(call.arguments, ensure_ascii=False)
        given = f"{arguments}\n{call.parse_error}" if call.parse_error else arguments
        calls.append(Call(call.id, call.function, given, inner.get(call.id, ())))
    yield Turn("assistant", text, tuple(calls))
    for part in used:
        yield Turn("tool", part.error or part.result, call_id=part.id, failed=bool(part.error))


def _turns_of_agents(events: Sequence[Event]) -> dict[str, list[Turn]]:
    """Return the turns of the agents that tool calls started, by call, without those of agents within."""
    spans = {event.id: (event.parent_id, event.type) for event in events if event.event == "span_begin"}
    turns: dict[str | None, list[Turn]] = {}
    started: dict[str, str] = {}
    for event in events:
        span: Any = event.span_id
        for _ in spans:
            span = spans[span][0] if span in spans and spans[span][1] != "agent" else span
        if event.event == "model" and event.output.choices:
            turns.setdefault(span, []).extend(_turns_in([event.output.message], {}))
        elif event.event == "tool":
            if event.agent_span_id:
                started[event.id] = event.agent_span_id
            result: Any = event.error.message if event.error else event.result
            parts = result if isinstance(result, list) else [result]
            said = "\n".join(str(getattr(part, "text", part)) for part in parts)
            turns.setdefault(span, []).append(Turn("tool", said, call_id=event.id, failed=event.error is not None))
    return {call: turns[span] for call, span in started.items() if span in turns}
