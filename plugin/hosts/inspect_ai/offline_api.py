"""The embedded judge as Inspect sees it: a model that answers by checking rules."""

import math
from typing import Any

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
)
from inspect_ai.tool import ToolChoice, ToolInfo

from podium.errors import UsageError
from podium.offline.answering import answer
from podium.scorers.verdict import Reply

CHARACTERS_PER_TOKEN = 4


class OfflineAPI(ModelAPI):
    """`podium/offline`: checks the verifiable constraints of an instruction. It is no language model."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),
        position_bias: float = 0.0,
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        if model_name != "offline":
            raise UsageError(f"podium has no model {model_name!r}; its one model is podium/offline")
        if model_args:
            raise UsageError(f"podium/offline has no argument {', '.join(model_args)}; its own: position_bias")
        self.position_bias = float(position_bias)

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        """Answer the last message."""
        prompt = input[-1].text
        reply = answer(prompt, position_bias=self.position_bias, logprobs=bool(config.logprobs))
        return ModelOutput(
            model=f"podium/{self.model_name}",
            choices=[
                ChatCompletionChoice(
                    message=ChatMessageAssistant(content=reply.text, model=f"podium/{self.model_name}"),
                    stop_reason="stop",
                    logprobs=_logprobs(reply),
                )
            ],
            usage=_usage(prompt, reply.text),
        )

    def max_connections(self) -> int:
        """Return how many calls may run at once: nobody waits for anything."""
        return 100


def _logprobs(reply: Reply) -> Logprobs | None:
    if not reply.tokens:
        return None
    return Logprobs(
        content=[
            Logprob(
                token=token.text,
                logprob=math.log(max(token.top.get(token.text, 1.0), 1e-300)),
                top_logprobs=[TopLogprob(token=text, logprob=math.log(max(p, 1e-300))) for text, p in token.top.items()],
            )
            for token in reply.tokens
        ]
    )


def _usage(prompt: str, text: str) -> ModelUsage:
    shown, said = len(prompt) // CHARACTERS_PER_TOKEN, max(1, len(text) // CHARACTERS_PER_TOKEN)
    return ModelUsage(input_tokens=shown, output_tokens=said, total_tokens=shown + said)
