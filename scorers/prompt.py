"""Judge prompts: a template, and texts in its slots behind fences, `<response_a_3f9c2a1b>` to
`</response_a_3f9c2a1b>`. The mark is a hash of all texts and occurs in none of them, however
spelled: a response cannot close its own fence."""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import count

from podium.errors import UsageError

SWITCHES = ("tie", "checklist", "reference", "system")
"""Settings that a template can depend on and that a realization may not have."""
SLOT = re.compile(r"\{([a-z][a-z_]*)\}")
CONDITION = re.compile(rf"^if (not )?({'|'.join(SWITCHES)}|transcript):[ ]?(.*)$")
MARK = 8
"""Hexadecimal digits of a mark: 32 bits. Small models copy longer ones (benchmarks/prompts.py)."""
LINE = re.compile(rf"^<(/?)([a-z0-9_]+)_([0-9a-f]{{{MARK}}})>$", re.MULTILINE)
"""A line of a fence: whether it closes, the slot, the mark."""
ANSWER = "answer"
"""Name of the last piece of a transcript."""
NEXT_LINE = "\n> "
"""The end of a line within a piece of a transcript: pieces begin at the lines that do not begin
so."""
CHARACTERS_PER_TOKEN = 4
TOKENS_PER_FENCE = 13
"""Of a line such as `</response_a_b21ffed6>`: most digits of its code are a token each."""
NO_DIGIT = re.compile(r"[^0-9a-f]+")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""Control characters and line breaks other than a newline and a tab, and half characters that no
encoding can send."""


@dataclass(frozen=True, slots=True)
class Template:
    """The words of a prompt, with slots such as `{instruction}` for the texts.

    Attributes:
        text: a line that begins with `if tie:` or `if not tie:` (likewise `checklist`, `reference`,
            `system`, `transcript`) is part of the prompt only if that setting is on, or off.
        source: name in errors, a path.
    """

    text: str
    source: str = "the given template"


@dataclass(frozen=True, slots=True)
class Settings:
    """What shapes every prompt of a run: whether the judge may call a tie, whether it is shown a
    checklist, a reference or the responses' system prompt, the template that replaces the packaged
    one, and whether all responses are transcripts as `podium.responses.transcripts.render` writes
    them."""

    tie: bool = False
    checklist: bool = False
    reference: bool = False
    system: bool = False
    template: Template | None = None
    transcript: bool = False

    @property
    def switched_on(self) -> tuple[str, ...]:
        """Names of the switches that are on."""
        return tuple(name for name in SWITCHES if getattr(self, name))


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of one judgment: `responses` first and second, or one for a pointwise judge;
    `system` is None if there was none; a good response answers each question of `checklist` with
    yes."""

    instruction: str
    responses: tuple[str, ...]
    reference: str | None = None
    system: str | None = None
    checklist: tuple[str, ...] = ()

    def by_slot(self, settings: Settings, responses: tuple[str, ...]) -> Mapping[str, str]:
        """Return the shown texts by slot, `responses` the slots of the responses; UsageError if a
        text is missing."""
        by_slot = {
            "instruction": self.instruction,
            **dict(zip(responses, self.responses, strict=True)),
        }
        if settings.system:
            by_slot["system"] = self.system or ""
        if settings.reference:
            if self.reference is None:
                raise UsageError("a reference answer is to be shown, and this item has none")
            by_slot["reference"] = self.reference
        if settings.checklist:
            if not self.checklist:
                raise UsageError("a checklist is to be shown, and this item has none")
            questions = (" ".join(question.split()) for question in self.checklist)
            by_slot["checklist"] = "\n".join(
                f"{k}. {question}" for k, question in enumerate(questions, start=1)
            )
        return by_slot


@cache
def packaged_template(name: str, **words: str) -> Template:
    """Return a packaged template; `words` replace further slots, `{context}` the block with the
    instruction."""
    text = _prompt_file(name)
    for slot, words_of_slot in {"context": _prompt_file("context").rstrip("\n"), **words}.items():
        text = text.replace(f"{{{slot}}}", words_of_slot)
    return Template(text, f"podium/scorers/prompts/{name}.txt")


@cache
def rules(settings: Settings) -> str:
    """Return what every prompt says of fences, pieces of transcripts, length and order; its one
    slot is the mark."""
    return keep_lines(_prompt_file("rules"), settings).strip()


def _prompt_file(name: str) -> str:
    return (files("podium.scorers") / "prompts" / f"{name}.txt").read_text(encoding="utf-8")


def keep_lines(
    text: str, settings: Settings, switches: Collection[str] = (*SWITCHES, "transcript")
) -> str:
    """Return the lines of a template that these switches of the settings keep, without their
    conditions."""
    kept = []
    for line in text.replace("\r\n", "\n").split("\n"):
        condition = CONDITION.match(line)
        if condition is None or condition[2] not in switches:
            kept.append(line)
        elif getattr(settings, condition[2]) != bool(condition[1]):
            kept.append(condition[3])
    return "\n".join(kept)


@cache
def check_template(template: Template, settings: Settings, slots: tuple[str, ...]) -> str:
    """Return the lines of a template that the settings keep; UsageError unless each needed slot
    occurs once."""
    text = keep_lines(template.text, settings).strip() + "\n"
    needed = ["rules", *slots, *(name for name in settings.switched_on if name != "tie")]
    seen = Counter(SLOT.findall(text))
    for name, times in [*((name, seen[name]) for name in needed), *seen.items()]:
        if name not in needed:
            switch = (
                f" while {name} is off (begin its line with `if {name}:`)"
                if name in SWITCHES
                else ""
            )
            problem = f"slot {{{name}}} has no meaning here{switch}"
        elif times != 1:
            problem = (
                f"slot {{{name}}} is missing"
                if not times
                else f"slot {{{name}}} stands there {times} times"
            )
        else:
            continue
        wanted = " ".join(f"{{{slot}}}" for slot in needed)
        raise UsageError(f"{template.source}: {problem}; needed, once each: {wanted}")
    if LINE.search(text):
        raise UsageError(
            f"{template.source}: a line looks like a fence; fences come with the slots"
        )
    return text


def fill_template(text: str, texts: Mapping[str, str], settings: Settings) -> str:
    """Put the rules, and texts, by slot, behind fences into the slots of a checked template."""
    fences, mark = fence_texts(texts)
    values = {**fences, "rules": rules(settings).replace("{mark}", mark)}
    return SLOT.sub(lambda slot: values[slot[1]], text)


def fence_mark(texts: Mapping[str, str]) -> str:
    """Return a mark that occurs in none of the texts, in capitals or with other characters between
    its digits neither; the same texts give the same mark."""
    content = "".join(f"{name}\0{len(text)}\0{text}\0" for name, text in texts.items())
    digits = [
        NO_DIGIT.sub("", unicodedata.normalize("NFKC", text).lower()) for text in texts.values()
    ]
    salted = (f"{salt}\0{content}".encode("utf-8", "surrogatepass") for salt in count())
    marks = (hashlib.sha256(content_and_salt).hexdigest()[:MARK] for content_and_salt in salted)
    return next(mark for mark in marks if not any(mark in run for run in digits))


def fence_texts(texts: Mapping[str, str]) -> tuple[dict[str, str], str]:
    """Fence the text of every slot, with control characters escaped; return them and the fence
    mark."""
    shown = {slot: escape_controls(text) for slot, text in texts.items()}
    mark = fence_mark(shown)
    return {
        slot: f"<{slot}_{mark}>\n{text}\n</{slot}_{mark}>" for slot, text in shown.items()
    }, mark


def final_answer(transcript: str) -> str:
    """Return the final answer in a transcript that `podium.responses.transcripts.render` wrote;
    empty without one."""
    _, begun, answer = f"\n{transcript}".rpartition(f"\n{ANSWER}: ")
    return answer.replace(NEXT_LINE, "\n") if begun else ""


def count_tokens(text: str) -> float:
    """Estimate the number of tokens of a prompt or a part of it."""
    return (
        len(LINE.sub("", text)) / CHARACTERS_PER_TOKEN + len(LINE.findall(text)) * TOKENS_PER_FENCE
    )


def escape_controls(text: str) -> str:
    """Write control characters as escapes; newlines and tabs stay."""
    return CONTROL.sub(
        lambda sign: f"\\x{ord(sign[0]):02x}" if ord(sign[0]) < 256 else f"\\u{ord(sign[0]):04x}",
        text.replace("\r\n", "\n"),
    )
