"""checklist: questions about a good response, written by a model from the instruction alone."""

import json
from collections.abc import Iterable
from dataclasses import replace

from podium.scorers.json_objects import only_object
from podium.scorers.prompt import Settings, Texts, check_template, fill_template, packaged_template
from podium.scorers.reply import Reply

MOST_QUESTIONS = 12
LONGEST = 400
"""Characters of one question."""
KEYS = frozenset({"questions"})


def checklist_prompt(texts: Texts, settings: Settings) -> str:
    """Return the prompt that asks a model for the checklist of an instruction, without the responses."""
    shown = Settings(reference=settings.reference, system=settings.system)
    words = check_template(packaged_template("checklist"), shown, ("instruction",))
    return fill_template(words, replace(texts, responses=()).by_slot(shown, ()))


def read_checklist(reply: Reply) -> tuple[str, ...] | str:
    """Read `{"questions": [...]}` with 1 to 12 different questions; return them, or why the reply is unparsed."""
    answer = only_object(reply, KEYS)
    if isinstance(answer, str):
        return answer
    questions = answer["questions"]
    if not isinstance(questions, list) or not all(isinstance(text, str) and text.strip() for text in questions):
        return "bad JSON"
    flat = tuple(" ".join(text.split()) for text in questions)
    if not 1 <= len(flat) <= MOST_QUESTIONS or len(set(flat)) < len(flat) or max(map(len, flat)) > LONGEST:
        return "out of range"
    return flat


def write_checklist(questions: Iterable[str]) -> Reply:
    """Return a reply with the first 12 questions, as `read_checklist` reads it."""
    return Reply(json.dumps({"questions": list(dict.fromkeys(questions))[:MOST_QUESTIONS]}))
