"""Judge prompts: a template whose slots are filled with texts between fences.

The fences of a text are lines such as `<response_a_3f9c2a1b>` and `</response_a_3f9c2a1b>`. The
mark `3f9c2a1b` occurs in none of the texts, however it is spelled. So a response cannot close its
own fence.

The mark is a hash of the item's texts, so that all prompts of an item begin alike and a provider
can compute this beginning once. It is no secret: if a response contains it, or anything like a
fence, the mark of this prompt is a hash of all its texts.
"""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from podium.errors import UsageError

SWITCHES = ("tie", "checklist", "reference", "system")
"""Settings that are on or off and can change a prompt. Not every realization has all of them."""
SLOT = re.compile(r"\{([a-z][a-z_]*)\}")
"""A slot of a template, such as `{instruction}`."""
CONDITION = re.compile(
    rf"^if (?P<negation>not )?(?P<switch>{'|'.join(SWITCHES)}|transcript):[ ]?(?P<rest>.*)$"
)
"""A line of a template that depends on a setting, such as `if not tie: Choose A or B.`"""
MARK_DIGITS = 8
"""Hexadecimal digits of a mark: 32 bits. Small models copy longer ones (benchmarks/fences.py)."""
FENCE_LINE = re.compile(
    rf"^<(?P<slash>/?)(?P<slot>[a-z0-9_]+)_(?P<mark>[0-9a-f]{{{MARK_DIGITS}}})>$", re.MULTILINE
)
"""A line of a fence, such as `</response_a_3f9c2a1b>`."""
RESPONSE_SLOTS = ("response", "response_a", "response_b")
"""Slots of the texts that differ between the prompts of an item. All prompts have the others."""
FENCED_NAMES = ("instruction", "response", "reference", "checklist", "system")
"""Beginnings of the names of fences; `response` is that of `response_a`, too."""
RESEMBLES_FENCE = re.compile(rf"<(?:{'|'.join(FENCED_NAMES)})|[0-9a-f]{{{MARK_DIGITS}}}>")
"""Matches what resembles a fence, in a text that `_letters_of_fences` made."""
ANSWER_NAME = "answer"
"""Name of the last piece of a transcript."""
NEXT_LINE = "\n> "
"""Line break within a piece of a transcript. A line without `> ` begins a new piece."""
CHARACTERS_PER_TOKEN = 4
"""Estimated number of characters of a token, outside of fences."""
TOKENS_PER_FENCE = 13
"""Estimated number of tokens of a line such as `</response_a_b21ffed6>`.

Most digits of the mark are a token each.
"""
NOT_HEXADECIMAL = re.compile(r"[^0-9a-f]+")
NOT_OF_FENCE = re.compile(r"[^0-9a-z<>]+")
CONTROL_CHARACTER = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""Control characters other than newline and tab, and surrogates, which no encoding can send."""


@dataclass(frozen=True, slots=True)
class Template:
    """The words of a prompt, with slots such as `{instruction}` for the texts.

    Attributes:
        text: the words. A line that begins with `if tie:` is part of the prompt only if that
            setting is on, and one with `if not tie:` only if it is off. The other settings are
            `checklist`, `reference`, `system` and `transcript`.
        source: path of the template, for error messages.
    """

    text: str
    source: str = "the given template"


@dataclass(frozen=True, slots=True)
class Settings:
    """What shapes every prompt of a run.

    Attributes:
        tie: whether the judge may call a tie.
        checklist: whether the judge is shown a checklist for the instruction.
        reference: whether the judge is shown the item's reference answer.
        system: whether the judge is shown the system prompt of the responses.
        template: the template that replaces the packaged one.
        transcript: whether responses are transcripts, as
            `podium.responses.transcripts.render` writes them. In a run over several tasks, they
            are in some of them (`Judging.adapted_to`).
    """

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
    """The texts of one judgment.

    Attributes:
        instruction: what the models were asked.
        responses: the response shown first and the response shown second. For a pointwise judge,
            there is only one.
        reference: a right answer; None if the item has none.
        system: the system prompt of the responses; None if there was none.
        checklist: questions that a good response answers with yes.
    """

    instruction: str
    responses: tuple[str, ...]
    reference: str | None = None
    system: str | None = None
    checklist: tuple[str, ...] = ()

    def by_slot(self, settings: Settings, responses: tuple[str, ...]) -> Mapping[str, str]:
        """Return the texts that are shown, by slot of the template.

        The instruction and the responses are always shown. The system prompt, the reference and
        the checklist are shown if the settings say so. A missing system prompt is shown as an empty
        text.

        Args:
            settings: says which texts are shown.
            responses: the slots of the responses, as many as there are responses.

        Raises:
            UsageError: the settings show a reference or checklist, and the item has none.
        """
        by_slot = {"instruction": self.instruction}
        by_slot |= zip(responses, self.responses, strict=True)
        if settings.system:
            by_slot["system"] = self.system or ""
        if settings.reference:
            if self.reference is None:
                raise UsageError("a reference answer is to be shown, and this item has none")
            by_slot["reference"] = self.reference
        if settings.checklist:
            if not self.checklist:
                raise UsageError("a checklist is to be shown, and this item has none")
            numbered = enumerate(self.checklist, start=1)
            lines = [f"{number}. {' '.join(question.split())}" for number, question in numbered]
            by_slot["checklist"] = "\n".join(lines)
        return by_slot


@cache
def packaged_template(name: str, **words: str) -> Template:
    """Return a packaged template.

    Args:
        name: name of the file in `scorers/prompts`, without its ending.
        words: texts, by slot, that replace their slots; other slots stay. The slot `{context}` is
            replaced by the packaged block with the instruction, unless `words` has another text.
    """
    text = _prompt_file(name)
    texts = {"context": _prompt_file("context").rstrip("\n"), **words}
    for slot, text_of_slot in texts.items():
        text = text.replace(f"{{{slot}}}", text_of_slot)
    return Template(text, f"podium/scorers/prompts/{name}.txt")


@cache
def rules(settings: Settings) -> str:
    """Return the paragraph of every prompt about fences, transcripts, length and order.

    It is the same for all prompts of a run.
    """
    return keep_lines(_prompt_file("rules"), settings).strip()


def _prompt_file(name: str) -> str:
    """Return the text of the packaged file `scorers/prompts/NAME.txt`."""
    return (files("podium.scorers") / "prompts" / f"{name}.txt").read_text(encoding="utf-8")


def keep_lines(
    text: str, settings: Settings, switches: Collection[str] = (*SWITCHES, "transcript")
) -> str:
    """Return the lines of a template that the settings keep, without their conditions.

    A line such as `if tie: Choose A, B or C.` is kept only if its condition holds. Lines without a
    condition are always kept.

    Args:
        text: the template.
        settings: says which switches are on.
        switches: the switches whose conditions are decided; lines with others stay as they are.
    """
    kept_lines = []
    for line in text.replace("\r\n", "\n").split("\n"):
        condition = CONDITION.match(line)
        if condition is None or condition["switch"] not in switches:
            kept_lines.append(line)
            continue
        is_wanted_on = not condition["negation"]
        if getattr(settings, condition["switch"]) == is_wanted_on:
            kept_lines.append(condition["rest"])
    return "\n".join(kept_lines)


@cache
def check_template(template: Template, settings: Settings, slots: tuple[str, ...]) -> str:
    """Check the slots of a template, and return the lines that the settings keep.

    The slots stay unfilled. The result ends with one line break, and has no blanks at its start.

    Args:
        template: the template.
        settings: what shapes the prompts of the run.
        slots: names of the slots that the template must have, besides `rules` and the slots of the
            settings that are on.

    Raises:
        UsageError: a slot that it must have does not occur exactly once, another slot occurs, or a
            line looks like a fence.
    """
    text = keep_lines(template.text, settings).strip() + "\n"
    needed_slots = ["rules", *slots, *(name for name in settings.switched_on if name != "tie")]
    problem = _problem_of_slots(text, needed_slots)
    if problem:
        listed_slots = " ".join(f"{{{slot}}}" for slot in needed_slots)
        raise UsageError(f"{template.source}: {problem}; needed, once each: {listed_slots}")
    if FENCE_LINE.search(text):
        raise UsageError(
            f"{template.source}: a line looks like a fence; fences come with the slots"
        )
    return text


def _problem_of_slots(text: str, needed_slots: Sequence[str]) -> str | None:
    """Return a clause on the first problem of a template's slots: `slot {rules} is missing`.

    Returns:
        The clause. None if each of the needed slots occurs exactly once, and no other slot occurs.
    """
    counts = Counter(SLOT.findall(text))
    for name in needed_slots:
        if not counts[name]:
            return f"slot {{{name}}} is missing"
        if counts[name] > 1:
            return f"slot {{{name}}} stands there {counts[name]} times"
    unknown = next((name for name in counts if name not in needed_slots), None)
    if unknown is None:
        return None
    problem = f"slot {{{unknown}}} has no meaning here"
    if unknown in SWITCHES:
        problem += f" while {unknown} is off (begin its line with `if {unknown}:`)"
    return problem


def fill_template(text: str, texts: Mapping[str, str], settings: Settings) -> str:
    """Fill the slots of a checked template with the rules and with texts between fences.

    Text that looks like a slot inside of one of the texts stays as it is.

    Args:
        text: the template, as `check_template` returns it.
        texts: a text for each slot except `rules`. Their control characters are escaped.
        settings: what shapes the prompts of the run.
    """
    fences, _ = fence_texts(texts)
    values = {**fences, "rules": rules(settings)}
    return SLOT.sub(lambda slot: values[slot[1]], text)


def _mark_of_item(texts: Mapping[str, str]) -> str | None:
    """Return the mark that all prompts of an item share.

    Returns:
        The mark. None if there is no response, if there are only responses, or if a response
        contains the mark or anything like a fence.
    """
    responses = [text for slot, text in texts.items() if slot in RESPONSE_SLOTS]
    item_texts = {slot: text for slot, text in texts.items() if slot not in RESPONSE_SLOTS}
    if not responses or not item_texts:
        return None
    mark = fence_mark(item_texts)
    for text in responses:
        if mark in _digits_of(text) or RESEMBLES_FENCE.search(_letters_of_fences(text)):
            return None
    return mark


@lru_cache(maxsize=32)
def _digits_of(text: str) -> str:
    """Return the hexadecimal digits of a text in lower case, without all other characters.

    The results of the last texts are remembered, because the prompts of a battle show the same
    texts in both orders.
    """
    return NOT_HEXADECIMAL.sub("", unicodedata.normalize("NFKC", text).lower())


@lru_cache(maxsize=32)
def _letters_of_fences(text: str) -> str:
    """Return the characters of a text that fences are recognised by: a to z, digits, < and >.

    The results of the last texts are remembered (see `_digits_of`).
    """
    return NOT_OF_FENCE.sub("", unicodedata.normalize("NFKC", text).lower())


def fence_mark(texts: Mapping[str, str]) -> str:
    """Return a mark of 8 hexadecimal digits that occurs in none of the texts.

    The mark does not even occur in other case, or with other characters between its digits. The
    same texts in the same slots always have the same mark.
    """
    content = "".join(f"{name}\0{len(text)}\0{text}\0" for name, text in texts.items())
    digits_of_texts = [_digits_of(text) for text in texts.values()]
    salt = 0
    while True:
        salted = f"{salt}\0{content}".encode("utf-8", "surrogatepass")
        mark = hashlib.sha256(salted).hexdigest()[:MARK_DIGITS]
        if not any(mark in digits for digits in digits_of_texts):
            return mark
        salt += 1


def fence_texts(texts: Mapping[str, str]) -> tuple[dict[str, str], str]:
    """Escape the control characters of every text, and put the text between its fences.

    All fences have one mark. It is a hash of the texts besides the responses, so that all prompts
    of an item share it. If there are no such texts or no responses, or if a response contains this
    mark or anything like a fence, it is a hash of all texts (`fence_mark`).

    Returns:
        The fenced texts by slot, and the mark of their fences.
    """
    escaped_texts = {slot: escape_controls(text) for slot, text in texts.items()}
    mark = _mark_of_item(escaped_texts) or fence_mark(escaped_texts)
    fenced = {
        slot: f"<{slot}_{mark}>\n{text}\n</{slot}_{mark}>" for slot, text in escaped_texts.items()
    }
    return fenced, mark


def split_at_responses(prompt: str) -> tuple[str, str]:
    """Split a prompt before the fence of its first response.

    All prompts of an item have the same first part, unless a response resembles a fence. The first
    part is empty if the prompt has no response.
    """
    lines = list(FENCE_LINE.finditer(prompt))
    for line in lines:
        # A response may contain lines that look like fences of another mark.
        is_own_fence = line["mark"] == lines[0]["mark"]
        if is_own_fence and line["slot"] in RESPONSE_SLOTS:
            return prompt[: line.start()], prompt[line.start() :]
    return "", prompt


def final_answer(transcript: str) -> str:
    """Return the final answer in a transcript that `podium.responses.transcripts.render` wrote.

    The result is empty if the transcript has no final answer.
    """
    _, answer_start, answer = f"\n{transcript}".rpartition(f"\n{ANSWER_NAME}: ")
    return answer.replace(NEXT_LINE, "\n") if answer_start else ""


def count_tokens(text: str) -> float:
    """Estimate the number of tokens of a prompt or a part of it, without a tokenizer.

    A token is 4 characters, and a fence line 13 tokens. The result need not be a whole number.
    """
    characters = len(FENCE_LINE.sub("", text))
    fence_lines = sum(1 for _ in FENCE_LINE.finditer(text))
    return characters / CHARACTERS_PER_TOKEN + fence_lines * TOKENS_PER_FENCE


def escape_controls(text: str) -> str:
    """Write control characters as escapes, such as `\\x1b`.

    Newlines and tabs stay, and the line end `\\r\\n` becomes a newline.
    """
    return CONTROL_CHARACTER.sub(_escape_of_character, text.replace("\r\n", "\n"))


def _escape_of_character(character: re.Match[str]) -> str:
    """Return the escape of the matched character, such as `\\x1b` or `\\u2028`."""
    code = ord(character[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
