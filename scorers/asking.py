"""What goes into a prompt: the settings of a run, and the texts of one presentation."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Template:
    """The words of a prompt, with slots for the texts.

    A slot is a name in braces, `{instruction}`. A line that begins with `if tie:` or `if not tie:` (likewise
    `checklist`, `reference`, `system`) belongs to the prompt only where that setting is on, or off.

    Attributes:
        text: the words.
        source: what to call them in an error: a path.
    """

    text: str
    source: str = "the given template"


@dataclass(frozen=True, slots=True)
class Settings:
    """What shapes every prompt of a run.

    Attributes:
        tie: whether the judge may say that neither response is better.
        checklist: whether questions are shown to the judge.
        reference: whether a reference answer is shown to the judge.
        system: whether the system prompt of the responses is shown to the judge.
        template: words to use instead of the packaged ones.
    """

    tie: bool = False
    checklist: bool = False
    reference: bool = False
    system: bool = False
    template: Template | None = None

    @property
    def on(self) -> tuple[str, ...]:
        """The names of what is switched on."""
        return tuple(name for name in SWITCHES if getattr(self, name))


SWITCHES = ("tie", "checklist", "reference", "system")
"""The settings that a template can ask for."""


@dataclass(frozen=True, slots=True)
class Texts:
    """What strangers wrote, for one presentation.

    Attributes:
        instruction: what the responses answer.
        responses: as shown: first and second, or only one for a pointwise judge.
        reference: a reference answer.
        system: the system prompt under which the responses were written; None = there was none.
        checklist: questions, answered with yes by a good response.
    """

    instruction: str
    responses: tuple[str, ...]
    reference: str | None = None
    system: str | None = None
    checklist: tuple[str, ...] = ()
