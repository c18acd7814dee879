"""podium's model for Inspect: the judge `podium/offline`."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    Logprob,
    Logprobs,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    TopLogprob,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from podium.errors import PluginError, UsageError
from podium.hosts.inspect_ai.media import media_in
from podium.plugins.catalogue import culprit_of_realization
from podium.scorers.judging import Judging
from podium.scorers.offline import StandIn
from podium.scorers.prompt import CHARACTERS_PER_TOKEN, Texts
from podium.scorers.reply import Reply

SETTINGS: dict[str, Any] = {
    "position_bias": float,
    "noise": float,
    "seed": int,
    "tie": float,
    "sharpness": float,
}
"""Types of the arguments of `podium/offline`, which `-M` or a model role sets."""
OTHER_PROMPT_PROBLEM = (
    "This rule-based stand-in answers podium's scorers alone, and says nothing to this prompt."
)
"""Reply of `podium/offline` to a prompt that is not from podium's scorers."""
_ASKED: ContextVar[tuple[Judging, Texts] | None] = ContextVar("asked", default=None)
"""Settings and texts of the running call (`pass_to_stand_in`); None outside of podium's calls."""


@contextmanager
def pass_to_stand_in(judging: Judging, texts: Texts) -> Iterator[None]:
    """Pass settings and texts to `podium/offline` while the body runs.

    Inspect itself passes only the prompt to a model.
    """
    token = _ASKED.set((judging, texts))
    try:
        yield
    finally:
        _ASKED.reset(token)


class OfflineAPI(ModelAPI):
    """The model API of `podium/offline`, a rule-based judge.

    It checks demands of an instruction that can be counted.

    Args:
        model_name: `offline`.
        base_url: not used.
        api_key: not used.
        config: generation settings.
        **model_args: the arguments in `SETTINGS`, as text or numbers.

    Raises:
        UsageError: another model name, or an unknown argument.
        ValueError: the value of an argument is no number.
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig | None = None,
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config or GenerateConfig())
        if model_name != "offline":
            allowed = "its one model is podium/offline"
            raise UsageError(f"podium has no model {model_name!r}; {allowed}")
        unknown = sorted(set(model_args) - set(SETTINGS))
        if unknown:
            allowed = f"its own: {', '.join(SETTINGS)}"
            raise UsageError(f"podium/offline has no argument {', '.join(unknown)}; {allowed}")
        self.judge = StandIn(**{name: SETTINGS[name](value) for name, value in model_args.items()})

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],  # noqa: ARG002
        tool_choice: ToolChoice,  # noqa: ARG002
        config: GenerateConfig,
    ) -> ModelOutput:
        """Return the reply to the last message, with estimated numbers of tokens as its usage.

        Outside of `pass_to_stand_in`, it is a text that says that the model answers only podium's
        scorers.

        Raises:
            NotImplementedError: a message has media.
            PluginError: the realization has no function that writes replies.
        """
        media = media_in(input)
        if media:
            raise NotImplementedError(
                f"podium/offline is shown text only, and there is {media[0].type}"
            )
        prompt = input[-1].text
        asked_texts = _ASKED.get()
        if asked_texts and asked_texts[0].realization.write_reply is None:
            origin = culprit_of_realization(asked_texts[0].realization.name)
            who = f"{origin} cannot be asked of podium/offline"
            remedy = "add one beside its read_reply, or take another judge"
            raise PluginError(f"{who}: its Realization has no write_reply; {remedy}")
        reply = (
            self.judge.answer(prompt, *asked_texts) if asked_texts else Reply(OTHER_PROMPT_PROBLEM)
        )
        # Without responses, a checklist is asked for, which is always written as JSON.
        if asked_texts and config.response_schema:
            judging, texts = asked_texts
            if texts.responses:
                reply = judging.to_json(reply)
        output = ModelOutput.from_content(f"podium/{self.model_name}", reply.text)
        output.choices[0].logprobs = _logprobs(reply) if config.logprobs and reply.tokens else None
        prompt_tokens = len(prompt) // CHARACTERS_PER_TOKEN
        written = max(1, len(reply.text) // CHARACTERS_PER_TOKEN)
        output.usage = ModelUsage(
            input_tokens=prompt_tokens, output_tokens=written, total_tokens=prompt_tokens + written
        )
        return output

    def max_connections(self) -> int:
        """Return how many calls may run at once. The number is high, as calls need no network."""
        return 100


def _logprobs(reply: Reply) -> Logprobs:
    """Convert the token probabilities of a reply to the form of Inspect.

    A token has the logarithm of its own probability, or 0 if its alternatives do not contain it.
    """
    content = []
    for token in reply.tokens:
        # A probability of 0 has no logarithm.
        logs = {text: math.log(max(p, 1e-300)) for text, p in token.top.items()}
        top = [TopLogprob(token=text, logprob=log) for text, log in logs.items()]
        content.append(
            Logprob(token=token.text, logprob=logs.get(token.text, 0.0), top_logprobs=top)
        )
    return Logprobs(content=content)
