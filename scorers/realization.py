"""A realization: how a judge is asked, how its reply is read, and how a verdict is written in the same form."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from podium.errors import UsageError
from podium.scorers.prompt import SWITCHES, Settings, Template, Texts, check_template, fill_template
from podium.scorers.reply import Rating, Reply, Verdict

RESPONSES = {"pairwise": ("response_a", "response_b"), "pointwise": ("response",)}


@dataclass(frozen=True, slots=True)
class Preference:
    """What a judge holds of the responses, before it is put into words.

    Attributes:
        degree: in [0, 1]. Of a pair: 1 = the first is far better, 0.5 = neither is, 0 = the second is far better; of
            one response: how good it is.
        chance: the probability that the judge prefers the first of a pair, or says yes to a response.
        reasons: what it says before its verdict, where it is asked for reasons.
    """

    degree: float
    chance: float
    reasons: str = ""


@dataclass(frozen=True, slots=True)
class Realization:
    """A template, a reader, and a writer.

    Attributes:
        name: what the user calls it.
        kind: `pairwise` (two responses, a `Verdict`) or `pointwise` (one response, a `Rating`).
        template: returns the packaged words; None = there is no prompt, the scalar comes from a function.
        read_reply: `(reply, settings) -> Verdict` or `-> Rating`, strict and total: it never raises.
        write_reply: `(preference, settings) -> Reply`, which `read_reply` can read: what a judge that holds this
            preference answers, with the probabilities of its last token where they are read. None = only humans and
            models can answer, and the stand-in judge cannot.
        options: the settings that it understands.
        probabilities: `unused`; `soften`: token probabilities can stand in for the letter that was read; `needed`:
            without them nothing can be read.
    """

    name: str
    kind: Literal["pairwise", "pointwise"]
    template: Callable[[], Template] | None
    read_reply: Callable[[Reply, Settings], Verdict | Rating]
    write_reply: Callable[[Preference, Settings], Reply] | None = None
    options: frozenset[str] = frozenset({"reference", "system"})
    probabilities: Literal["unused", "soften", "needed"] = "unused"

    def check(self, settings: Settings) -> None:
        """Refuse settings that it does not understand, and templates that it cannot fill."""
        unknown = [name for name in settings.switched_on if name not in self.options]
        if unknown:
            own = ", ".join(name for name in SWITCHES if name in self.options) or "none"
            raise UsageError(f"realization {self.name!r} has no setting {unknown[0]!r}; its own: {own}")
        if self.template is not None:
            self.words(settings)
        elif settings.template is not None:
            raise UsageError(f"realization {self.name!r} has no prompt; {settings.template.source} cannot be used")

    def words(self, settings: Settings) -> str:
        """Return the template that the settings shape, with its slots still open."""
        return check_template(self.template_for(settings), settings, ("instruction", *RESPONSES[self.kind]))

    def template_for(self, settings: Settings) -> Template:
        """Return the given template, or the packaged one."""
        if self.template is None:
            raise UsageError(f"realization {self.name!r} has no prompt")
        return settings.template or self.template()

    def prompt(self, texts: Texts, settings: Settings) -> str:
        """Return what the judge is asked: the template, and in its slots the texts behind fences."""
        return fill_template(self.words(settings), texts.by_slot(settings, RESPONSES[self.kind]))
