"""A realization: how a judge is asked, and how its reply is read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from podium.errors import UsageError
from podium.scorers.asking import SWITCHES, Settings, Template, Texts
from podium.scorers.template import checked, filled
from podium.scorers.verdict import Rating, Reply, Verdict

RESPONSES = {"pairwise": ("response_a", "response_b"), "pointwise": ("response",)}


@dataclass(frozen=True, slots=True)
class Realization:
    """A template and a reader.

    Attributes:
        name: what the user calls it.
        kind: `pairwise` (two responses, a `Verdict`) or `pointwise` (one response, a `Rating`).
        template: returns the packaged words; None = there is no prompt, the scalar comes from a function.
        read: `(reply, settings) -> Verdict` or `-> Rating`, strict and total: it never raises.
        yields: which of `credit`, `margin`, `criteria`, `score` a reading has.
        max_tokens: what the answer needs, reasoning of the model's own excluded.
        options: the settings that it understands.
        probabilities: `unused`; `soften`: token probabilities can stand in for the letter that was read; `needed`:
            without them nothing can be read.
    """

    name: str
    kind: Literal["pairwise", "pointwise"]
    template: Callable[[], Template] | None
    read: Callable[[Reply, Settings], Verdict] | Callable[[Reply, Settings], Rating]
    yields: tuple[str, ...]
    max_tokens: int
    options: frozenset[str] = frozenset({"reference", "system"})
    probabilities: Literal["unused", "soften", "needed"] = "unused"

    def check(self, settings: Settings) -> None:
        """Refuse settings that it does not understand, and templates that it cannot fill.

        Raises:
            UsageError: an option is not one of its own, or a slot is missing, doubled or unknown.
        """
        unknown = [name for name in settings.on if name not in self.options]
        if unknown:
            own = ", ".join(name for name in SWITCHES if name in self.options) or "none"
            raise UsageError(f"realization {self.name!r} has no setting {unknown[0]!r}; its own: {own}")
        if self.template is not None:
            self.words(settings)
        elif settings.template is not None:
            raise UsageError(f"realization {self.name!r} has no prompt; {settings.template.source} cannot be used")

    def words(self, settings: Settings) -> str:
        """Return the template that the settings shape, with its slots still open.

        Raises:
            UsageError: a slot is missing, doubled or unknown, or this realization has no prompt.
        """
        return checked(self.template_for(settings), settings, ("instruction", *RESPONSES[self.kind]))

    def template_for(self, settings: Settings) -> Template:
        """Return the given template, or the packaged one."""
        if self.template is None:
            raise UsageError(f"realization {self.name!r} has no prompt")
        return settings.template or self.template()

    def prompt(self, texts: Texts, settings: Settings) -> str:
        """Return what the judge is asked: the template, and in its slots the texts behind fences.

        Raises:
            UsageError: a text that the settings ask for is not there, or the template cannot be filled.
            ValueError: too many responses, or too few.
        """
        return filled(self.words(settings), slotted(texts, settings, RESPONSES[self.kind]))


def slotted(texts: Texts, settings: Settings, responses: tuple[str, ...]) -> Mapping[str, str]:
    """Return the texts that the settings show, by slot.

    Raises:
        UsageError: a text that the settings ask for is not there.
        ValueError: too many responses, or too few.
    """
    by_slot = {"instruction": texts.instruction, **dict(zip(responses, texts.responses, strict=True))}
    if settings.system:
        by_slot["system"] = texts.system or ""
    if settings.reference:
        if texts.reference is None:
            raise UsageError("a reference answer is to be shown, and this item has none")
        by_slot["reference"] = texts.reference
    if settings.checklist:
        if not texts.checklist:
            raise UsageError("a checklist is to be shown, and this item has none")
        by_slot["checklist"] = numbered(texts.checklist)
    return by_slot


def numbered(questions: tuple[str, ...]) -> str:
    """Return questions as numbered lines, one each.

    >>> numbered(("Is it short?", "Is it\\nFrench?"))
    '1. Is it short?\\n2. Is it French?'
    """
    return "\n".join(f"{k}. {' '.join(question.split())}" for k, question in enumerate(questions, start=1))
