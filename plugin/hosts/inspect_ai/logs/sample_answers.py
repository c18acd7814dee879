"""Read models' answers, agents' turns and the questions of samples from Inspect logs."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import dropwhile
from pathlib import Path
from typing import Any

from inspect_ai.dataset import Sample
from inspect_ai.event import Event
from inspect_ai.log import EvalLog, EvalSample, transcript
from inspect_ai.model import ChatMessage, ChatMessageAssistant
from inspect_ai.solver import TaskState

from podium.data.item_columns import short_values
from podium.errors import named_in_errors
from podium.hosts.inspect_ai.inspect_ai_compatibility import kept_in_store
from podium.hosts.inspect_ai.logs.log_files import NAMESPACE
from podium.hosts.inspect_ai.logs.podium_entries import (
    REQUEST_KEY,
    RequestMetadata,
    is_tournament,
    parse_answers,
    parse_sample,
    read_tournament,
)
from podium.hosts.inspect_ai.logs.stored_samples import (
    UNUSED_FIELDS,
    read_by_inspect,
    whole_samples,
)
from podium.hosts.inspect_ai.media import media_as_text, text_with_places, why_not_shown
from podium.responses.answers import INVALIDATED, QuestionRow, ResponseRow, build_response
from podium.responses.collection import AGREEING_FIELDS
from podium.responses.response_files import RowForm
from podium.responses.transcripts import AgentWork, Call, Show, Turn
from podium.text import text_of


def build_agent_response(
    sample: EvalSample | TaskState, show: Show, beside: int
) -> tuple[str, AgentWork]:
    """Return what a judge is shown of a sample's response, and the model's work.

    What is shown is a transcript or the last message, as `show` decides. In a transcript, a text
    that the agent wrote together with its last tool call counts as its final answer only if that
    call submitted it.

    Args:
        sample: the sample, of a log or of a run.
        show: what is shown of agents.
        beside: number of characters of the item, which is also in the prompt.
    """
    turns = turns_of(sample)
    answer = sample.output.completion
    is_answer = not show.shows(turns) or _is_final(sample.messages, answer)
    return show.build_response(turns, answer if is_answer else "", beside)


def _is_final(messages: Sequence[ChatMessage], completion: str) -> bool:
    """Return whether a completion is a final answer, and not a text beside a tool call.

    False only if the assistant's last message has this text and tool calls, and the text does not
    end with an argument or a result of these calls. It ends so after a call of `submit()`.
    """
    places = [k for k, message in enumerate(messages) if message.role == "assistant"]
    if not places:
        return True
    last = places[-1]
    message = messages[last]
    if (
        not isinstance(message, ChatMessageAssistant)
        or not message.tool_calls
        or message.text != completion
    ):
        return True
    submitted = [str(value) for call in message.tool_calls for value in call.arguments.values()]
    submitted += [message.text for message in messages[last + 1 :] if message.role == "tool"]
    return any(
        text.strip() and f"\n{completion}".rstrip().endswith(f"\n{text.strip()}")
        for text in submitted
    )


def turns_of(sample: EvalSample | TaskState) -> list[Turn]:
    """Return the turns after the sample's input: of the model, of tools, and of users.

    System prompts before, between and after the messages of the input are left out, too. While a
    sample is being scored, its events are taken from Inspect's transcript.
    """
    roles_of_input: list[str] = []
    if not isinstance(sample.input, str):
        roles_of_input = [message.role for message in sample.input if message.role != "system"]
    new_messages = list(sample.messages)
    # Skip the messages that repeat the input, and the system prompts before, between and after
    # them. No message has the role None.
    for role in (*(roles_of_input or ["user"]), None):
        new_messages = list(dropwhile(lambda message: message.role == "system", new_messages))
        if new_messages and new_messages[0].role == role:
            new_messages = new_messages[1:]
    events = sample.events if isinstance(sample, EvalSample) else transcript().events
    return list(_turns_in(new_messages, _turns_of_agents(list(events))))


def _turns_in(
    messages: Sequence[ChatMessage], inner: Mapping[str, Sequence[Turn]]
) -> Iterator[Turn]:
    """Yield the turns of messages: one per message, and one per result of a provider's own tool.

    Args:
        messages: the messages.
        inner: turns of sub-agents, by the id of the call that started them.
    """
    for message in messages:
        [text] = text_with_places([message])
        if message.role == "assistant":
            yield from _assistant_turns(message, text, inner)
        elif message.role == "tool":
            error = f"{message.error.type}: {message.error.message}" if message.error else ""
            # The text may repeat the error.
            other_text = "" if text in error else text
            turn_text = "\n".join(filter(None, [error, other_text]))
            yield Turn("tool", turn_text, call_id=message.tool_call_id, failed=bool(error))
        else:
            yield Turn(message.role, text)


def _assistant_turns(
    message: ChatMessageAssistant, text: str, inner: Mapping[str, Sequence[Turn]]
) -> Iterator[Turn]:
    """Yield the turn of an assistant's message, then results of tools that the provider ran.

    Args:
        message: the message.
        text: its text, as it is shown.
        inner: turns of sub-agents, by the id of the call that started them.
    """
    content = [] if isinstance(message.content, str) else message.content
    used = [part for part in content if part.type == "tool_use"]
    calls = [Call(part.id, part.name, part.arguments) for part in used]
    for call in message.tool_calls or []:
        arguments = json.dumps(call.arguments, ensure_ascii=False)
        call_text = f"{arguments}\n{call.parse_error}" if call.parse_error else arguments
        calls.append(
            Call(id=call.id, name=call.function, arguments=call_text, inner=inner.get(call.id, ()))
        )
    yield Turn("assistant", text=text, calls=tuple(calls))
    for part in used:
        yield Turn("tool", part.error or part.result, call_id=part.id, failed=bool(part.error))


def _turns_of_agents(events: Sequence[Event]) -> dict[str, list[Turn]]:
    """Return the turns of the agents that tool calls started, by id of the call.

    Turns of agents that were started by these agents are not included. A call whose agent has no
    turns is left out.
    """
    begun = [event for event in events if event.event == "span_begin"]
    # For each span that is not of an agent, the span around it.
    outer_spans = {event.id: event.parent_id for event in begun if event.type != "agent"}
    turns: dict[str | None, list[Turn]] = {}
    started: dict[str, str] = {}
    for event in events:
        span: Any = event.span_id
        # Go up to the nearest enclosing span of an agent, which takes at most as many steps as
        # there are spans. Further steps change nothing.
        for _ in begun:
            span = outer_spans.get(span, span)
        if event.event == "model" and event.output.choices:
            turns.setdefault(span, []).extend(_turns_in([event.output.message], {}))
        elif event.event == "tool":
            if event.agent_span_id:
                started[event.id] = event.agent_span_id
            result: Any = event.error.message if event.error else event.result
            parts = result if isinstance(result, list) else [result]
            turn_text = "\n".join(str(getattr(part, "text", part)) for part in parts)
            turns.setdefault(span, []).append(
                Turn("tool", turn_text, call_id=event.id, failed=event.error is not None)
            )
    return {call: turns[span] for call, span in started.items() if span in turns}


def responses_in(path: Path, form: RowForm) -> list[ResponseRow]:
    """Return a log's responses.

    An ordinary eval has one response per sample and epoch; samples with an empty input are left
    out. A tournament has the responses that it requested from models. Responses of invalidated
    samples have no text.

    Args:
        path: the log.
        form: what is shown of agents, and which key of the metadata has the groups of items.

    Raises:
        DataError: the log is damaged.
    """
    header = read_by_inspect(path, header_only=True)
    if not is_tournament(header):
        return [
            _response_of(sample, path, header, form)
            for sample in whole_samples(path)
            if sample.input
        ]
    with named_in_errors(path):
        read_tournament(header)
        samples = read_by_inspect(path, exclude_fields=UNUSED_FIELDS - {"store"}).samples or []
        # Answers that are not in the store may be in the events (`kept_in_store`).
        if any(
            REQUEST_KEY in sample.metadata and NAMESPACE not in sample.store for sample in samples
        ):
            samples = read_by_inspect(path, exclude_fields={"messages"}).samples or []
        rows: dict[tuple[str, str], ResponseRow] = {}
        for sample in samples:
            request = parse_sample(sample.metadata)
            if isinstance(request, RequestMetadata):
                facts_of_item = {name: getattr(request, name) for name in AGREEING_FIELDS}
                is_valid = sample.invalidation is None
                answers = parse_answers(request, kept_in_store(sample, NAMESPACE))
                # All epochs hold the same answers, so each is kept once.
                for (name, item), answer in answers.items():
                    question = QuestionRow(
                        item, **facts_of_item, source=str(path), row=f"sample {sample.id}"
                    )
                    row = build_response(
                        question, name, answer.text, errored=answer.failed is not None
                    )
                    if not is_valid:
                        row = ResponseRow(
                            question=question, model=name, text=None, reason=INVALIDATED
                        )
                    rows[name, item] = row
        return list(rows.values())


def _response_of(sample: EvalSample, path: Path, log: EvalLog, form: RowForm) -> ResponseRow:
    """Return the response of a sample.

    It has no text, but a reason, if the sample is invalidated or ended with an error, if it has
    media that a judge could not be shown, or if its answer is empty.
    """
    question = question_of(sample, sample.id, str(path), log.eval.task, form.cluster)
    model = log.eval.model
    if sample.invalidation is not None:
        return ResponseRow(
            question=question, model=model, text=None, reason=INVALIDATED, number=sample.epoch
        )
    why = "" if sample.error else why_not_shown(sample)
    if why:
        return ResponseRow(
            question=question, model=model, text=None, reason=why, number=sample.epoch
        )
    text, work = build_agent_response(sample, form.show, question.length)
    return build_response(
        question, model, text, errored=bool(sample.error), number=sample.epoch, work=work
    )


def question_of(
    sample: EvalSample | Sample,
    item: str | int,
    source: str,
    task: str,
    cluster: str | None = None,
) -> QuestionRow:
    """Return the question that a sample of a log or dataset asks.

    Its category is the value of the key `category` in the metadata of the sample (as JSON if it is
    no text), its group the value of the key `cluster`, and its further columns the short values
    there. Several targets are joined by line ends.

    Args:
        sample: the sample.
        item: id of the item.
        source: name of the log or dataset.
        task: the task of the sample.
        cluster: the key of the metadata with the groups of items; None if there are no groups.
    """
    metadata = sample.metadata or {}
    group = metadata.get(cluster) if cluster else None
    category = metadata.get("category")
    if category is not None and not isinstance(category, str):
        category = json.dumps(category, default=str)
    target = sample.target if isinstance(sample.target, str) else "\n".join(sample.target)
    instruction, system = _split_prompt(sample.input)
    return QuestionRow(
        item=str(item),
        instruction=instruction,
        category=category,
        reference=target or None,
        system=system,
        source=source,
        row=f"sample {item}",
        task=task,
        media=media_as_text(sample.input),
        choices=tuple(sample.choices or ()),
        group=text_of(group),
        columns=short_values(metadata),
    )


def _split_prompt(prompt: str | list[ChatMessage]) -> tuple[str, str | None]:
    """Return the instruction and the system prompt (None if there is none) of a sample's input.

    The instruction has all messages that are no system prompts, joined by empty lines. If there are
    several, each stands below its role, as `[user]`. Media are `[image 1]` or the like.
    """
    if isinstance(prompt, str):
        return prompt, None
    asked_messages = [message for message in prompt if message.role != "system"]
    system = "\n\n".join(message.text for message in prompt if message.role == "system") or None
    texts = text_with_places(asked_messages)
    texts_with_role = [
        f"[{message.role}]\n{text}" for message, text in zip(asked_messages, texts, strict=True)
    ]
    # A single message needs no name of its role.
    prompt_texts = texts if len(asked_messages) == 1 else texts_with_role
    return "\n\n".join(prompt_texts), system
