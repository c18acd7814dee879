"""Identities of judges: verdicts may be pooled only under the same identity."""

import json
import re
from collections.abc import Iterable, Mapping
from functools import partial
from hashlib import sha256
from typing import Any
from urllib.parse import quote, unquote

from podium.scorers.prompt import SWITCHES, Settings, keep_lines, rules
from podium.scorers.realization import Realization
from podium.scorers.schemas import ReplyForm

DIGITS = 12
escape_separators = partial(quote, safe="/:@ .+-_~[]{}\"'()*!?&<>^#$")
"""Escapes the characters that separate the parts of an identity: `|`, `,`, `=` and `%`."""


def prompt_hash(realization: Realization, settings: Settings, form: ReplyForm | None = None) -> str:
    """Return a 12-digit hash of everything that shapes a prompt: realization, template, rules of
    fences, switches and, if each reply is asked for with a schema, its form."""
    realization.check(settings)
    text = realization.template_for(settings).text if realization.template else None
    shape = {
        "realization": realization.name,
        "template": text and keep_lines(text, settings, ("transcript",)),
        "rules": rules(settings),
        **{name: getattr(settings, name) for name in SWITCHES},
        **({"transcript": True} if settings.transcript else {}),
        **({"schema": form.schema(settings), "form": form.words(settings)} if form else {}),
    }
    return sha256(json.dumps(shape, sort_keys=True).encode()).hexdigest()[:DIGITS]


def judge_identity(
    model: str,
    realization: Realization,
    settings: Settings,
    generation: Mapping[str, Any],
    form: ReplyForm | None = None,
) -> str:
    """Return the identity: model, realization, prompt hash and settings,
    `gpt-x|rubric|3fa9c0de1122|temperature=0`."""
    parts = [model, realization.name, prompt_hash(realization, settings, form)]
    known = []
    for name, value in sorted(generation.items()):
        if value is not None:
            # 0 and 0.0 are the same setting, and so are dictionaries in another order.
            whole = int(value) if isinstance(value, float) and value.is_integer() else value
            text = (
                value if isinstance(value, str) else json.dumps(whole, sort_keys=True, default=str)
            )
            known.append(f"{escape_separators(name)}={escape_separators(text)}")
    return "|".join([*map(escape_separators, parts), *([",".join(known)] if known else [])])


def split_identity(judge: str) -> tuple[str, str, str] | None:
    """Return model, realization and prompt hash of an identity of `judge_identity`; None for any
    other name."""
    parts = judge.split("|")
    is_asked = len(parts) in (3, 4) and re.fullmatch(f"[0-9a-f]{{{DIGITS}}}", parts[2])
    return (unquote(parts[0]), unquote(parts[1]), parts[2]) if is_asked else None


def differ_in_prompt(judges: Iterable[str]) -> list[list[str]]:
    """Return the groups of judges that differ in the prompt hash alone, two or more to a group."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for judge in judges:
        if split_identity(judge):
            parts = judge.split("|")
            groups.setdefault((*parts[:2], *parts[3:]), []).append(judge)
    return [group for group in groups.values() if len(group) > 1]
