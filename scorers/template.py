"""Templates: packaged or given, checked for their slots, and filled with fenced texts."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files

from podium.errors import UsageError
from podium.scorers.asking import SWITCHES, Settings, Template
from podium.scorers.fences import LINE, fenced, mark_in

SLOT = re.compile(r"\{([a-z][a-z_]*)\}")
CONDITION = re.compile(rf"^if (not )?({'|'.join(SWITCHES)}):[ ]?(.*)$")
FENCES = {
    "system": "SYSTEM PROMPT",
    "instruction": "INSTRUCTION",
    "reference": "REFERENCE ANSWER",
    "checklist": "CHECKLIST",
    "response": "RESPONSE",
    "response_a": "RESPONSE A",
    "response_b": "RESPONSE B",
}
"""Slot to the name on its fence."""


@cache
def packaged(name: str) -> Template:
    """Return a template that comes with podium."""
    file = files("podium.scorers") / "prompts" / f"{name}.txt"
    return Template(file.read_text(encoding="utf-8"), f"podium/scorers/prompts/{name}.txt")


def rules() -> str:
    """Return what every prompt says of fences, length and order; its one slot is the mark."""
    return packaged("rules").text.strip()


@cache
def checked(template: Template, settings: Settings, slots: tuple[str, ...]) -> str:
    """Return the lines of a template that the settings keep, every needed slot being there exactly once.

    Args:
        template: packaged or given.
        settings: what is switched on; a slot of that name is needed then.
        slots: the other slots that are needed.

    Raises:
        UsageError: a slot is missing, doubled or unknown, or a line looks like a fence.
    """
    text = "\n".join(_kept(template.text, settings)).strip() + "\n"
    needed = ["rules", *slots, *(name for name in settings.on if name in FENCES)]
    seen = Counter(SLOT.findall(text))
    for name in [*needed, *seen]:
        _check_slot(template, name, seen[name], needed)
    if LINE.search(text):
        raise UsageError(f"{template.source}: a line looks like a fence; fences come with the slots")
    return text


def filled(text: str, texts: Mapping[str, str]) -> str:
    """Put the texts, each behind its fence, into the slots of a checked template.

    Args:
        text: a checked template.
        texts: slot to what a stranger wrote.
    """
    names = {slot: FENCES[slot] for slot in texts}
    fences = fenced({names[slot]: text for slot, text in texts.items()})
    values = {slot: fences[name] for slot, name in names.items()}
    values["rules"] = rules().replace("{mark}", mark_in(next(iter(fences.values()))))
    return SLOT.sub(lambda slot: values[slot[1]], text)


def _kept(text: str, settings: Settings) -> Iterable[str]:
    for line in text.replace("\r\n", "\n").split("\n"):
        condition = CONDITION.match(line)
        if condition is None:
            yield line
        elif getattr(settings, condition[2]) != bool(condition[1]):
            yield condition[3]


def _check_slot(template: Template, name: str, times: int, needed: list[str]) -> None:
    if times == 1 and name in needed:
        return
    wanted = " ".join(f"{{{slot}}}" for slot in needed)
    if name not in needed:
        switch = f" while {name} is off (begin its line with `if {name}:`)" if name in SWITCHES else ""
        problem = f"slot {{{name}}} has no meaning here{switch}"
    else:
        problem = f"slot {{{name}}} is missing" if not times else f"slot {{{name}}} stands there {times} times"
    raise UsageError(f"{template.source}: {problem}; needed, once each: {wanted}")
