"""checklist: questions about a good response, written by a model from the instruction alone."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from podium.scorers.prompt import Settings, Texts, check_template, fill_template, packaged_template
from podium.scorers.reply import Reply, no_verdict
from podium.scorers.reply_structure import MOST_BRACES, own_words
from podium.scorers.schemas import parse_object, refuse_repeats

MOST_QUESTIONS = 12
"""Largest number of questions in a checklist; a reply with more is unparsed."""
LONGEST_QUESTION = 400
"""Largest number of characters of one question; a reply with a longer one is unparsed."""
CHECKLIST_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"questions": {"type": "array", "items": {"type": "string"}}},
    "required": ["questions"],
    "additionalProperties": False,
}
"""JSON schema of a checklist. Providers ignore bounds of lists, so it has none."""
# Fields of the object that `BRIEF_SCHEMA` describes.
BRIEF_FIELDS = ("question_1", "question_2", "question_3")
BRIEF_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {name: {"type": "string"} for name in BRIEF_FIELDS},
    "required": [*BRIEF_FIELDS],
    "additionalProperties": False,
}
"""JSON schema of a checklist of three questions, for models that would never end a list."""
CHECKLIST_TOKENS = 512
"""Limit of the output tokens of a checklist, which is above 12 questions of usual length."""
REMINDER = (
    "An earlier reply to this could not be read: it was not the JSON object that is asked for."
)
"""Last paragraph of the prompt from the second attempt on."""
BRIEF_REMINDER = (
    "Answer with one JSON object with the fields question_1, question_2 and question_3, each of "
    "them one short question."
)
"""What follows `REMINDER` if the form of the reply is `BRIEF_SCHEMA`."""
DECODER = json.JSONDecoder(object_pairs_hook=refuse_repeats)
"""Decodes a JSON object within a text; objects with a repeated key raise ValueError."""


def checklist_prompt(
    texts: Texts, settings: Settings, attempt: int = 1, *, brief: bool = False
) -> str:
    """Return the prompt that asks a model for the checklist of an instruction.

    From the second attempt on, the prompt ends with a reminder that describes the form of the
    answer; with `brief`, this is the form of `BRIEF_SCHEMA`. The model does not see the responses.
    It sees the reference and the system prompt if the settings show them to the judge. The template
    is always the packaged one, even if the judge has another template.

    Raises:
        UsageError: the settings show a reference, and the item has none.
    """
    prompt_settings = Settings(reference=settings.reference, system=settings.system)
    template = check_template(packaged_template("checklist"), prompt_settings, ("instruction",))
    text_by_slot = replace(texts, responses=()).by_slot(prompt_settings, ())
    prompt = fill_template(template, text_by_slot, prompt_settings)
    if attempt == 1:
        return prompt
    reminder = f"{REMINDER} {BRIEF_REMINDER}" if brief else REMINDER
    return f"{prompt.rstrip()}\n\n{reminder}\n"


def read_checklist(reply: Reply) -> tuple[str, ...] | str:
    """Read a reply of the form `{"questions": [...]}`, or of `BRIEF_SCHEMA` with three questions.

    A question that is repeated counts once.

    Returns:
        The questions, 1 to 12 different ones of at most 400 characters, each on one line. If the
        reply is unparsed, the reason: `out of range` if there is no question, too many questions
        or a question that is too long, `bad JSON` if there is no list of texts or a text is blank,
        `several verdicts` if there are two different lists, or the reason why the reply is silent
        or has no JSON.
    """
    form = _read_brief_form(reply) or _read_list_form(reply)
    if isinstance(form, str):
        return form  # the reason why the reply is unparsed
    texts = form["questions"]
    if not isinstance(texts, list):
        return "bad JSON"
    if not all(isinstance(text, str) and text.strip() for text in texts):
        return "bad JSON"
    questions = tuple(dict.fromkeys(" ".join(text.split()) for text in texts))
    if not 1 <= len(questions) <= MOST_QUESTIONS:
        return "out of range"
    is_too_long = max(map(len, questions)) > LONGEST_QUESTION
    return "out of range" if is_too_long else questions


def _read_brief_form(reply: Reply) -> dict[str, Any] | None:
    """Convert a reply in `BRIEF_SCHEMA` to `{"questions": [...]}`; None for any other reply."""
    form = None if reply.reason_of_silence else parse_object(reply.text)
    if form is None or form.keys() != set(BRIEF_FIELDS):
        return None
    return {"questions": [form[name] for name in BRIEF_FIELDS]}


def _read_list_form(reply: Reply) -> dict[str, Any] | str:
    """Return the JSON object of a reply whose only key is `questions`.

    Prose around the object and objects without this key are ignored. Quotations are not searched.

    Returns:
        The object. If the reply is unparsed, the reason: `several verdicts` if two objects with
        this key differ; `bad JSON` if no object has it, if the object has further keys, or if the
        reply has too many braces; the reason of `no_verdict` if the reply has no brace or is no
        reply to the prompt (`own_words`); or the reason why the reply is silent.
    """
    if reply.reason_of_silence:
        return reply.reason_of_silence
    view = own_words(reply.text)
    if view is None or "{" not in reply.text:
        return no_verdict(reply.text)
    if reply.text.count("{") > MOST_BRACES:
        return "bad JSON"
    objects = []
    end = 0
    for brace in re.finditer(r"\{", view):
        if brace.start() < end:
            continue  # inside of the object before
        try:
            value, end = DECODER.raw_decode(reply.text, brace.start())
        except (ValueError, RecursionError):
            continue
        if "questions" in value:
            objects.append(value)
    if any(value != objects[0] for value in objects):
        return "several verdicts"
    if not objects or len(objects[0]) != 1:
        return "bad JSON"
    return objects[0]


def write_checklist(questions: Iterable[str]) -> Reply:
    """Return a reply with the first 12 different questions, which `read_checklist` can read.

    The questions are not checked: there must be one, none blank or of more than 400 characters.
    """
    unique_questions = list(dict.fromkeys(questions))
    return Reply(json.dumps({"questions": unique_questions[:MOST_QUESTIONS]}))
