"""Who judged: the names under which verdicts may be put together, and must not be mixed up."""

import json
import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from podium.scorers.prompt import SWITCHES, Settings, rules
from podium.scorers.realization import Realization

DIGITS = 12


def prompt_hash(realization: Realization, settings: Settings) -> str:
    """Return 12 hexadecimal digits that change with everything that shapes a prompt, and with no text in it.

    That is the realization, the template, what every prompt says of fences, and which settings are on.
    """
    realization.check(settings)
    shape = {
        "realization": realization.name,
        "template": realization.template_for(settings).text if realization.template else None,
        "rules": rules(),
        **{name: getattr(settings, name) for name in SWITCHES},
    }
    return sha256(json.dumps(shape, sort_keys=True).encode()).hexdigest()[:DIGITS]


def judge_identity(model: str, realization: Realization, settings: Settings, generation: Mapping[str, Any]) -> str:
    """Return the identity of a judge: its model, realization, prompt hash and generation settings.

    `model`: as the host names it; `realization`: how it is asked; `settings`: what shapes its prompts; `generation`:
    temperature and the like, without secrets: it is written into every verdict; None = not set.

    Returns: `openai/gpt-x|rubric|3fa9c0de1122|temperature=0`.
    """
    parts = [model, realization.name, prompt_hash(realization, settings)]
    known = []
    for name, value in sorted(generation.items()):
        if value is not None:
            # One way to write it: 0 and 0.0 are the same, so are dictionaries in another order.
            whole = int(value) if isinstance(value, float) and value.is_integer() else value
            text = value if isinstance(value, str) else json.dumps(whole, sort_keys=True, default=str)
            known.append(f"{_escape_separators(name)}={_escape_separators(text)}")
    return "|".join([*map(_escape_separators, parts), *([",".join(known)] if known else [])])


def differ_in_prompt(judges: Iterable[str]) -> list[list[str]]:
    """Return the groups of judges that differ in the prompt hash alone, two or more to a group.

    >>> differ_in_prompt(["gpt-x|direct|3fa9c0de1122", "gpt-x|direct|00a9c0de1199", "gpt-y|direct|3fa9c0de1122"])
    [['gpt-x|direct|3fa9c0de1122', 'gpt-x|direct|00a9c0de1199']]
    """
    groups: dict[tuple[str, ...], list[str]] = {}
    for judge in judges:
        parts = judge.split("|")
        if len(parts) in (3, 4) and re.fullmatch(f"[0-9a-f]{{{DIGITS}}}", parts[2]):
            groups.setdefault((*parts[:2], *parts[3:]), []).append(judge)
    return [group for group in groups.values() if len(group) > 1]


def _escape_separators(text: str) -> str:
    """Escape what separates the parts of an identity."""
    return quote(text, safe="/:@ .+-_~[]{}\"'()*!?&<>^#$")
