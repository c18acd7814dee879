"""A judge that reads `quality=` in the responses, replies in every realization's form, and fails on
request."""

import json
import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from fenced_texts import texts_in_fences
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    GenerateConfig,
    Logprob,
    Logprobs,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    TopLogprob,
    modelapi,
)
from inspect_ai.tool import ToolChoice, ToolInfo
from inspect_ai.util import JSONSchema

from podium.scorers.judging import REMINDER
from podium.scorers.rubric import CRITERIA

GARBAGE = "Both have their merits, and it depends on the reader."
LABELS = ("B>>A", "B>A", "A=B", "A>B", "A>>B")
WORDS = ("terrible", "poor", "fair", "good", "excellent")
QUALITY = re.compile(r"quality=(-?[\d.]+)")


@dataclass
class Behaviour:
    """What a judge does.

    Attributes:
        bias: what the place at the top is worth, in logits.
        form: `letter`, `cot`, `labels`, `rubric`, `numeric`, `likert` or `yes`.
        probabilities: whether token probabilities come with a reply, when they are asked for.
        garbage: share of the prompts whose every reply is unreadable.
        filtered: share of the prompts whose every reply the content filter ends.
        unparsed_first: whether the first reply to every prompt is unreadable.
        errors: share of the prompts that fail.
        fails_first: whether the first call of those prompts fails alone.
        blind: whether it refuses images and the like.
        cost: money that Inspect says a call takes.
        usage: whether a reply says how many tokens it took.
        scripted: prompt to reply, instead of all this.
    """

    bias: float = 0.3
    cost: float | None = None
    form: str = "letter"
    probabilities: bool = True
    garbage: float = 0.0
    filtered: float = 0.0
    unparsed_first: bool = False
    errors: float = 0.0
    fails_first: bool = False
    blind: bool = False
    usage: bool = True
    scripted: Callable[[str], str] | None = None


@dataclass
class Record:
    """What all judges were asked since the test began: prompts without reminders of the form,
    those, kinds of media."""

    behaviours: dict[str, Behaviour] = field(default_factory=dict)
    prompts: list[tuple[str, str]] = field(default_factory=list)
    reminders: list[str] = field(default_factory=list)
    media: list[list[str]] = field(default_factory=list)

    @property
    def calls(self) -> int:
        """How many calls reached a judge."""
        return len(self.prompts)

    def times(self) -> Counter[tuple[str, str]]:
        """Count the calls by judge and prompt."""
        return Counter(self.prompts)


RECORD = Record()


def strength(text: str) -> float:
    """Return the quality that a response names."""
    found = QUALITY.search(text)
    return float(found[1]) if found else 0.0


def preferred(first: float, second: float, bias: float) -> float:
    """Return the probability that the response shown first is preferred."""
    return 1 / (1 + math.exp(-(first - second + bias)))


def chance(prompt: str, purpose: str) -> float:
    """Return a number in [0, 1) that a prompt always has."""
    return int.from_bytes(sha256(f"{purpose}\0{prompt}".encode()).digest()[:6], "big") / 2**48


@modelapi(name="scripted")
class ScriptedJudge(ModelAPI):
    """`scripted/NAME`: behaves as `RECORD.behaviours[NAME]` says."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        self.own = model_args

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        prompt, reminder, form = input[-1].text.partition(REMINDER)
        prompt = f"{prompt.rstrip()}\n" if reminder else prompt
        RECORD.prompts.append((self.model_name, prompt))
        RECORD.reminders += [form.strip()] if reminder else []
        manner = (
            Behaviour(**self.own)
            if self.own
            else RECORD.behaviours.get(self.model_name, Behaviour())
        )
        content = input[-1].content
        RECORD.media.append(
            [] if isinstance(content, str) else [one.type for one in content if one.type != "text"]
        )
        if RECORD.media[-1] and manner.blind:
            raise RuntimeError("400: this model does not support image input")
        first_time = RECORD.times()[self.model_name, prompt] == 1
        if chance(prompt, "error") < manner.errors and (first_time or not manner.fails_first):
            raise RuntimeError("the provider is on fire")
        spoilt = chance(prompt, "garbage") < manner.garbage or (
            manner.unparsed_first and first_time
        )
        text, letter, p = (GARBAGE, None, None) if spoilt else reply_to(prompt, manner)
        if config.response_schema and not spoilt:
            text = in_schema(text, config.response_schema.json_schema)
        probabilities = (
            _probabilities(text, letter, p) if config.logprobs and manner.probabilities else None
        )
        output = _output(self.model_name, text, probabilities)
        if chance(prompt, "filter") < manner.filtered:
            output.choices[0].stop_reason = "content_filter"
        if output.usage:
            output.usage.total_cost = manner.cost
        if not manner.usage:
            output.usage = None
        return output


def reply_to(prompt: str, manner: Behaviour) -> tuple[str, str | None, float | None]:
    """Return the reply, its decisive token, and the probability of the first answer."""
    if manner.scripted is not None:
        return manner.scripted(prompt), None, None
    shown = texts_in_fences(prompt)
    if manner.form in ("numeric", "likert", "yes"):
        return _rated(strength(shown["response"]), manner.form)
    first, second = strength(shown["response_a"]), strength(shown["response_b"])
    p = preferred(first, second, manner.bias)
    letter = "A" if p > 0.5 else "B"
    if manner.form == "labels":
        return f"I weighed both.\n[[{LABELS[min(4, int(5 * p))]}]]", None, None
    if manner.form == "rubric":
        marks = {
            side: dict.fromkeys(CRITERIA, mark(q))
            for side, q in (("A", first + manner.bias), ("B", second))
        }
        return json.dumps(marks), None, None
    return (
        (
            f"The first says this, the second that.\nVerdict: {letter}"
            if manner.form == "cot"
            else letter
        ),
        letter,
        p,
    )


def mark(quality: float) -> int:
    """Return a mark from 1 to 10 for a quality of about 0 to 5."""
    return max(1, min(10, 1 + round(2 * quality)))


def in_schema(text: str, schema: JSONSchema) -> str:
    """Return a reply as the JSON object of a schema; objects and other texts stay as they are."""
    fields = schema.properties or {}
    *before, last = fields
    allowed = fields[last].enum
    if not allowed:
        return text
    value = text.split()[-1].strip("[]") if text.strip() else text
    if value in LABELS:
        value = "EDCBA"[LABELS.index(value)]
    if value not in allowed:
        return text
    return json.dumps({**dict.fromkeys(before, "I weighed both."), last: value})


def _rated(quality: float, form: str) -> tuple[str, str | None, float | None]:
    p = preferred(quality, 1.5, 0.0)
    if form == "numeric":
        return f"[[{round(100 * p)}]]", None, None
    if form == "likert":
        return f"[[{WORDS[min(4, int(5 * p))]}]]", None, None
    return ("yes" if p > 0.5 else "no"), "yes" if p > 0.5 else "no", p


def _probabilities(text: str, letter: str | None, p: float | None) -> Logprobs:
    if letter is None or p is None:
        return Logprobs(content=[_certain(text)])
    low, high = ("no", "yes") if letter in ("yes", "no") else ("B", "A")
    top = [
        TopLogprob(token=high, logprob=math.log(p)),
        TopLogprob(token=low, logprob=math.log(1 - p)),
    ]
    before = text[: text.rindex(letter)]
    decisive = Logprob(token=letter, logprob=math.log(max(p, 1 - p)), top_logprobs=top)
    return Logprobs(content=[*([_certain(before)] if before else []), decisive])


def _certain(token: str) -> Logprob:
    return Logprob(token=token, logprob=0.0, top_logprobs=[TopLogprob(token=token, logprob=0.0)])


def _output(name: str, text: str, probabilities: Logprobs | None) -> ModelOutput:
    message = ChatMessageAssistant(content=text, model=f"scripted/{name}")
    choice = ChatCompletionChoice(message=message, stop_reason="stop", logprobs=probabilities)
    usage = ModelUsage(input_tokens=10, output_tokens=1, total_tokens=11)
    return ModelOutput(model=f"scripted/{name}", choices=[choice], usage=usage)
