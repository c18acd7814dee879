"""checklist: questions about a good response, written by a model from the instruction alone."""

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from podium.scorers.prompt import Settings, Texts, check_template, fill_template, packaged_template
from podium.scorers.reply import Reply, no_verdict
from podium.scorers.reply_structure import MOST_BRACES, own_words
from podium.scorers.schemas import refuse_repeats

MOST_QUESTIONS = 12
LONGEST = 400
"""Characters of one question."""
DECODER = json.JSONDecoder(object_pairs_hook=refuse_repeats)


def checklist_prompt(texts: Texts, settings: Settings) -> str:
    """Return the prompt that asks a model for the checklist of an instruction, without the
    responses."""
    shown = Settings(reference=settings.reference, system=settings.system)
    words = check_template(packaged_template("checklist"), shown, ("instruction",))
    return fill_template(words, replace(texts, responses=()).by_slot(shown, ()), shown)


def read_checklist(reply: Reply) -> tuple[str, ...] | str:
    """Read `{"questions": [...]}` with 1 to 12 different questions; return them, or why the reply
    is unparsed."""
    answer = _only_object(reply)
    if isinstance(answer, str):
        return answer
    questions = answer["questions"]
    if not isinstance(questions, list) or not all(
        isinstance(text, str) and text.strip() for text in questions
    ):
        return "bad JSON"
    flat = tuple(" ".join(text.split()) for text in questions)
    if (
        not 1 <= len(flat) <= MOST_QUESTIONS
        or len(set(flat)) < len(flat)
        or max(map(len, flat)) > LONGEST
    ):
        return "out of range"
    return flat


def _only_object(reply: Reply) -> dict[str, Any] | str:
    """Return the one JSON object with questions and nothing else, whatever prose stands around it,
    or why there is none."""
    view = own_words(reply.text) if not reply.reason_of_silence else None
    if view is None or "{" not in reply.text:
        return reply.reason_of_silence or no_verdict(reply.text)
    if reply.text.count("{") > MOST_BRACES:
        return "bad JSON"
    objects, end = [], 0
    for start in (brace.start() for brace in re.finditer(r"\{", view)):
        if start >= end:
            try:
                value, end = DECODER.raw_decode(reply.text, start)
            except (ValueError, RecursionError):
                continue
            objects += [value] if "questions" in value else []
    if any(value != objects[0] for value in objects):
        return "several verdicts"
    return objects[0] if objects and len(objects[0]) == 1 else "bad JSON"


def write_checklist(questions: Iterable[str]) -> Reply:
    """Return a reply with the first 12 questions, as `read_checklist` reads it."""
    return Reply(json.dumps({"questions": list(dict.fromkeys(questions))[:MOST_QUESTIONS]}))
