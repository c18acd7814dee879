"""The models' answers in Inspect logs, and the questions that samples of logs and datasets ask."""

import json
from pathlib import Path

from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.model import ChatMessage

from podium.errors import named_in_errors
from podium.hosts.inspect_ai.agent_turns import build_agent_response
from podium.hosts.inspect_ai.compatibility import kept_in_store
from podium.hosts.inspect_ai.log_contents import (
    REQUESTED,
    RequestMetadata,
    is_tournament,
    parse_answers,
    parse_sample,
    read_tournament,
)
from podium.hosts.inspect_ai.log_files import NAMESPACE
from podium.hosts.inspect_ai.logs import UNUSED, read_by_inspect, whole_samples
from podium.hosts.inspect_ai.media import media_as_text, text_with_places, why_not_shown
from podium.responses.answers import QuestionRow, ResponseRow, build_response
from podium.responses.assembly import AGREE
from podium.responses.transcripts import Show


def responses_in(path: Path, show: Show) -> list[ResponseRow]:
    """Return a log's responses: one per sample and epoch of an ordinary eval, the requested ones of a tournament."""
    header = read_by_inspect(path, header_only=True)
    if not is_tournament(header):
        return [_response_of(sample, path, header, show) for sample in whole_samples(path) if sample.input]
    with named_in_errors(path):
        read_tournament(header)
        samples = read_by_inspect(path, exclude_fields=UNUSED - {"store"}).samples or []
        if any(REQUESTED in sample.metadata and NAMESPACE not in sample.store for sample in samples):
            samples = read_by_inspect(path, exclude_fields={"messages"}).samples or []
        rows: dict[tuple[str, str], ResponseRow] = {}
        for sample in samples:
            request = parse_sample(sample.metadata)
            if isinstance(request, RequestMetadata):
                known = {name: getattr(request, name) for name in AGREE}
                # Every epoch repeats them.
                for (name, item), given in parse_answers(request, kept_in_store(sample, NAMESPACE)).items():
                    question = QuestionRow(item, **known, source=str(path), row=f"sample {sample.id}")
                    rows[name, item] = build_response(question, name, given.text, errored=given.failed is not None)
        return list(rows.values())


def _response_of(sample: EvalSample, path: Path, log: EvalLog, show: Show) -> ResponseRow:
    """Return the response of a sample; without text if it or its item has media that a judge could not be shown."""
    question, model = question_of(sample, sample.id, str(path), log.eval.task), log.eval.model
    if not sample.error and (why := why_not_shown(sample)):
        return ResponseRow(question, model, None, why, sample.epoch)
    text, work = build_agent_response(sample, show, question.length)
    return build_response(question, model, text, errored=bool(sample.error), number=sample.epoch, work=work)


def question_of(sample: EvalSample | Sample, item: str | int, source: str, task: str) -> QuestionRow:
    """Return the question that a sample of a log or dataset asks."""
    metadata, target = sample.metadata or {}, sample.target
    category = metadata.get("category")
    instruction, system = _split_prompt(sample.input)
    return QuestionRow(
        item=str(item),
        instruction=instruction,
        category=category if category is None or isinstance(category, str) else json.dumps(category, default=str),
        reference=(target if isinstance(target, str) else "\n".join(target)) or None,
        system=system,
        source=source,
        row=f"sample {item}",
        task=task,
        media=media_as_text(sample.input),
    )


def _split_prompt(given: str | list[ChatMessage]) -> tuple[str, str | None]:
    """Return instruction and system prompt; the messages of a conversation are joined, each under its role."""
    if isinstance(given, str):
        return given, None
    asked = [message for message in given if message.role != "system"]
    system = "\n\n".join(message.text for message in given if message.role == "system") or None
    texts = text_with_places(asked)
    if len(asked) == 1:
        return texts[0], system
    return "\n\n".join(f"[{message.role}]\n{text}" for message, text in zip(asked, texts, strict=True)), system
