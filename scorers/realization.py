"""Realizations: how a judge is asked, and how its reply is read.

A realization can also write a reply, for the stand-in judge.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from podium.errors import UsageError
from podium.scorers.prompt import SWITCHES, Settings, Template, Texts, check_template, fill_template
from podium.scorers.reply import Rating, Reply, Verdict
from podium.scorers.schemas import ReplyForm

# Slots of the responses in a template, by kind of realization.
RESPONSE_SLOTS_OF_KIND = {"pairwise": ("response_a", "response_b"), "pointwise": ("response",)}


@dataclass(frozen=True, slots=True)
class Preference:
    """What a judge prefers, before it is put into words.

    Attributes:
        degree: in [0, 1]. For a pair, 1 says that the first response is far better, 0.5 that
            neither is better, and 0 that the second one is far better. For one response, 1 says
            that it is as good as can be, and 0 that it is worthless.
        chance: probability that the judge prefers the first of a pair, or says yes to a response.
        reasons: text that is written before the verdict if reasons are asked for.
    """

    degree: float
    chance: float
    reasons: str = ""


@dataclass(frozen=True, slots=True)
class Realization:
    """A way to ask a judge: a template, a reader of replies and a writer of replies.

    Attributes:
        name: the name by which users choose the realization.
        kind: `pairwise` (two responses, a `Verdict`) or `pointwise` (one response, a `Rating`).
        template: function that returns the packaged template; None if there is no prompt (reward
            models).
        read_reply: function that reads the verdict or rating of a reply; it never raises.
        write_reply: function that writes a reply which `read_reply` can read, with token
            probabilities if the realization uses them. None if the stand-in judge cannot answer.
        options: the switches of `Settings` that the realization has.
        probabilities: how the token probabilities of a text reply are used. They are `unused`, can
            replace the credit of the letter (`soften`), or are `needed` to read anything.
        form: the JSON object in which a reply can be asked for; None if there is none.
        tokens: limit of output tokens of a text reply, at least 256; None for no limit.
        margins: whether the verdicts say by how much a response is better.
        schema_first: whether `replies=auto` asks for the JSON object at once, and asks for text
            only if the judge takes no schema. If not, it asks for text first.
    """

    name: str
    kind: Literal["pairwise", "pointwise"]
    template: Callable[[], Template] | None
    read_reply: Callable[[Reply, Settings], Verdict | Rating]
    write_reply: Callable[[Preference, Settings], Reply] | None = None
    options: frozenset[str] = frozenset({"reference", "system"})
    probabilities: Literal["unused", "soften", "needed"] = "unused"
    form: ReplyForm | None = None
    tokens: int | None = None
    margins: bool = True
    schema_first: bool = False

    def has_reasons(self, settings: Settings) -> bool:
        """Return whether the judge writes reasons before its verdict.

        The judge does if the JSON form has a field of free text. Without a JSON form, the result
        is False.
        """
        if self.form is None:
            return False
        return None in self.form.fields(settings).values()  # None stands for free text

    def check(self, settings: Settings) -> None:
        """Check settings before the first call.

        Raises:
            UsageError: the realization does not have a switch that is on; the template cannot be
                filled; or a template is given for a realization without a prompt.
        """
        unknown = [name for name in settings.switched_on if name not in self.options]
        if unknown:
            available = ", ".join(name for name in SWITCHES if name in self.options) or "none"
            raise UsageError(
                f"realization {self.name!r} has no setting {unknown[0]!r}; its own: {available}"
            )
        if self.template is not None:
            # Called for its errors only.
            self.words(settings)
        elif settings.template is not None:
            problem = f"{settings.template.source} cannot be used"
            raise UsageError(f"realization {self.name!r} has no prompt; {problem}")

    def words(self, settings: Settings) -> str:
        """Return the template with the lines that the settings keep. Its slots are not filled.

        Raises:
            UsageError: a slot is missing, repeated or unknown, a line looks like a fence, or the
                realization has no prompt.
        """
        slots = ("instruction", *RESPONSE_SLOTS_OF_KIND[self.kind])
        return check_template(self.template_for(settings), settings, slots)

    def template_for(self, settings: Settings) -> Template:
        """Return the template of the settings, or the packaged one if they have none.

        Raises:
            UsageError: the realization has no prompt.
        """
        if self.template is None:
            raise UsageError(f"realization {self.name!r} has no prompt")
        return settings.template or self.template()

    def prompt(self, texts: Texts, settings: Settings) -> str:
        """Return the prompt of a judgment: the template with the texts between fences.

        Raises:
            UsageError: the realization has no prompt, the template has wrong slots or a line like
                a fence, or the item lacks a text that is to be shown.
        """
        by_slot = texts.by_slot(settings, RESPONSE_SLOTS_OF_KIND[self.kind])
        return fill_template(self.words(settings), by_slot, settings)
