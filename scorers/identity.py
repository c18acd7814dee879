"""Identities of judges: verdicts may be pooled only if their judges have the same identity."""

import json
from collections.abc import Mapping
from functools import partial
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from podium.scorers.judge_record import JudgeRecord
from podium.scorers.prompt import SWITCHES, Settings, keep_lines, rules
from podium.scorers.realization import Realization
from podium.scorers.schemas import ReplyForm

HASH_DIGITS = 12
"""Hexadecimal digits of a prompt hash: 48 bits."""
escape_separators = partial(quote, safe="/:@ .+-_~[]{}\"'()*!?&<>^#$")
"""Escapes the characters that separate the parts of an identity: `|`, `,`, `=` and `%`."""


def prompt_hash(realization: Realization, settings: Settings, form: ReplyForm | None = None) -> str:
    """Return a hash, of 12 hexadecimal digits, of everything that shapes a prompt.

    The hash covers the realization, the template, the rules of fences and the switches.

    Args:
        realization: how the judge is asked.
        settings: what shapes every prompt of the run.
        form: the JSON form if every reply is asked for in it, else None. The hash covers the form,
            too.

    Raises:
        UsageError: the realization cannot be asked with these settings (`Realization.check`).
    """
    realization.check(settings)
    template = None
    if realization.template:
        text = realization.template_for(settings).text
        template = keep_lines(text, settings, ("transcript",))
    shape: dict[str, Any] = {
        "realization": realization.name,
        "template": template,
        "rules": rules(settings),
    }
    shape |= {name: getattr(settings, name) for name in SWITCHES}
    if settings.transcript:
        shape["transcript"] = True
    if form:
        shape |= {"schema": form.schema(settings), "form": form.paragraph(settings)}
    written = json.dumps(shape, sort_keys=True)
    return sha256(written.encode()).hexdigest()[:HASH_DIGITS]


def build_judge(
    model: str,
    realization: Realization,
    settings: Settings,
    generation: Mapping[str, Any],
    *,
    form: ReplyForm | None = None,
    replies: str = "auto",
    model_name: str | None = None,
) -> JudgeRecord:
    """Return the record of a judge that is asked.

    The name of the judge joins the model, the realization, the prompt hash and the settings, as in
    `gpt-x|rubric|3fa9c0de1122|temperature=0`. Two judges have the same name only if all four parts
    are the same.

    Args:
        model: the model with its provider.
        realization: how the judge is asked.
        settings: what shapes every prompt of the run.
        generation: the model's settings by name; those that are None are left out.
        form: the JSON form if every reply is asked for in it, else None.
        replies: how replies are asked for: `schema`, `text`, `SCHEMA_FIRST`, or `auto` (as text,
            and with a schema if that is unparsed). Unless it is `auto`, it is listed among the
            settings in the name, but not in the record's `settings`.
        model_name: the model without its provider; None if unknown.

    Returns:
        The record, of the kind `reward` if the realization has no prompt, else `model`.

    Raises:
        UsageError: the realization cannot be asked with these settings (`Realization.check`).
    """
    hash_of_prompt = prompt_hash(realization, settings, form)
    known_settings = {
        name: _setting_text(value) for name, value in generation.items() if value is not None
    }
    settings_in_name = dict(known_settings)
    if replies != "auto":
        settings_in_name["replies"] = replies
    pairs = [
        f"{escape_separators(name)}={escape_separators(text)}"
        for name, text in sorted(settings_in_name.items())
    ]
    name_parts = [escape_separators(part) for part in (model, realization.name, hash_of_prompt)]
    if pairs:
        name_parts.append(",".join(pairs))
    return JudgeRecord(
        name="|".join(name_parts),
        kind="reward" if realization.template is None else "model",
        model=model,
        model_name=model_name,
        realization=realization.name,
        prompt=hash_of_prompt,
        replies=replies,
        settings=tuple(sorted(known_settings.items())),
    )


def _setting_text(value: Any) -> str:
    """Return a setting as text.

    A text is returned as it is, and any other value as JSON. Equal settings have equal text: 0.0
    is written as 0, and the keys of dictionaries are sorted.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value, sort_keys=True, default=str)
