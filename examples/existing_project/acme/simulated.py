"""Simulated models, `sim/strong`, `sim/mid` and `sim/weak`: no download, no key, no network.

A model's skill is the chance that it does a thing well. What it does is drawn from a hash of its
name and the prompt, so the same run gives the same log.
"""

import re
from hashlib import sha256
from random import Random
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    modelapi,
)
from inspect_ai.tool import ToolChoice, ToolInfo

SKILLS = {"strong": 0.9, "mid": 0.65, "weak": 0.35}
SUM = re.compile(r"What is (\d+) \+ (\d+)\?")
FOUND = re.compile(r"The file says: (\w+)")
TIPS = (
    "Write down what you want to reach by the end of the week.",
    "Start with the smallest step that shows a result.",
    "Ask somebody who did it before what they would leave out.",
    "Plan a break, and keep it.",
)


class SimulatedModel(ModelAPI):
    """Answers sums, questions for advice, and questions about files."""

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        """Return the answer to the last message; `config.seed` is part of the draw."""
        del tools, tool_choice
        texts = [message.text for message in input]
        drawn = f"{self.model_name} {config.seed} {texts}"
        rng = Random(sha256(drawn.encode()).digest())
        answer = reply_to(texts, SKILLS[self.model_name], rng)
        return ModelOutput.from_content(self.model_name, answer)


@modelapi("sim")
def simulated() -> Any:
    """Return the class of the models `sim/strong`, `sim/mid` and `sim/weak`."""
    return SimulatedModel


def reply_to(texts: list[str], skill: float, rng: Random) -> str:
    """Return a good answer with the chance `skill`, else a poor one.

    Args:
        texts: the messages so far, the last one is answered.
        skill: chance in [0, 1].
        rng: what is drawn from.
    """
    is_good = rng.random() < skill
    question = SUM.search(texts[-1])
    if question:
        right = int(question[1]) + int(question[2])
        return str(right if is_good else right + rng.choice([-10, -1, 1, 10]))
    found = FOUND.search(texts[-1])
    if found:
        return f"The word is {found[1]}." if is_good else "The file is empty."
    count = 3 if is_good else 1
    tips = rng.sample(TIPS, count)
    thanks = "Good question! " if rng.random() < skill else ""
    return thanks + " ".join(tips)
