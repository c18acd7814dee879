"""The calls of a judge that is a model of lm-eval: its own batching and concurrency, failures one by one."""

from collections.abc import Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import anyio
import anyio.to_thread
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from podium.errors import UsageError
from podium.hosts.lm_eval.hidden import secrets_of, without
from podium.hosts.lm_eval.judge_model import MODEL, NAMES, PROVIDER
from podium.hosts.lm_eval.quiet import quiet

BATCH = 64
"""Prompts that a model on this machine is given at once, at most; it batches them further by its own batch size."""


@dataclass(eq=False)
class Call:
    """A prompt that waits, and what came of it.

    Attributes:
        messages: role and content of each.
        settings: of the generation, in lm-eval's words.
        text: the reply; None while there is none.
        error: why there is none, once that is certain.
    """

    messages: list[dict[str, str]]
    settings: dict[str, Any]
    text: str | None = None
    error: Exception | None = None

    @property
    def done(self) -> bool:
        """Whether nothing more is to be waited for."""
        return self.text is not None or self.error is not None


class LmEvalAPI(ModelAPI):
    """`lm-eval/TYPE/MODEL`: what lm-eval calls `--model TYPE --model_args ...`.

    Token probabilities, token usage and the reason why a reply ends are unknown: lm-eval drops them.
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
        kind, _, name = model_name.partition("/")
        self.kind = _kind(kind)
        self.served = _is_served(self.kind)
        self.arguments = {"model" if key == MODEL else key: value for key, value in model_args.items()}
        if name and not any(one in self.arguments for one in NAMES):
            self.arguments["pretrained"] = name
        if base_url is not None:
            self.arguments["base_url"] = base_url
        if api_key is not None:
            if not self.served:
                raise UsageError(f"--ranker_judge {PROVIDER}:{kind}: a model on this machine takes no api_key")
            self.arguments["header"] = {"Authorization": f"Bearer {api_key}"}
        self.secrets = [*secrets_of(self.arguments), *([api_key] if api_key else [])]
        self.model: Any = None
        self.waiting: list[Call] = []
        self.making = anyio.Lock()
        self.turns = anyio.CapacityLimiter(self.max_connections() if self.served else 1)

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],  # noqa: ARG002
        tool_choice: ToolChoice,  # noqa: ARG002
        config: GenerateConfig,
    ) -> ModelOutput:
        """Answer, together with what else waits where the model takes batches.

        Raises:
            RuntimeError: lm-eval could not get a reply to this prompt, after its own retries.
        """
        call = Call([{"role": one.role, "content": one.text} for one in input], _settings(config))
        self.waiting.append(call)
        try:
            async with self.making:
                if self.model is None:
                    self.model = await anyio.to_thread.run_sync(self._made)
            async with self.turns:
                if not call.done:
                    await anyio.to_thread.run_sync(self._answer, self._batch(call))
        finally:
            # One that was cancelled must not be asked with the next batch.
            self.waiting = [one for one in self.waiting if one is not call]
        if call.error is not None:
            raise RuntimeError(without(self.secrets, f"{type(call.error).__name__}: {call.error}")) from None
        return self._output(call.text or "")

    def max_connections(self) -> int:
        """Return how many calls may wait or run at once: a server's `num_concurrent`, else a batch."""
        return max(1, int(self.arguments.get("num_concurrent", 1))) if self.served else BATCH

    def _made(self) -> Any:
        # A call is a thread of its own: within it, nothing is concurrent, and one that fails stops no other.
        own = {**self.arguments, "num_concurrent": 1} if self.served else self.arguments
        with quiet():
            return self.kind.create_from_arg_obj(own)

    def _batch(self, call: Call) -> list[Call]:
        """Take the call, and what waits with the same settings, out of what waits."""
        alike = [one for one in self.waiting if one.settings == call.settings and one is not call]
        batch = [call, *([] if self.served else alike[: BATCH - 1])]
        self.waiting = [one for one in self.waiting if one not in batch]
        return batch

    def _answer(self, batch: Sequence[Call]) -> None:
        """Fill in the replies; where a batch fails, each prompt is asked alone, so that only its own failure counts."""
        if len(batch) > 1:
            with suppress(Exception):
                self._ask(batch)
                return
        for call in batch:
            try:
                self._ask([call])
            except Exception as error:
                call.error = error

    def _ask(self, batch: Sequence[Call]) -> None:
        requests = [SimpleNamespace(args=(self._prompt(one), deepcopy(one.settings))) for one in batch]
        with quiet():
            texts = self.model.generate_until(requests, disable_tqdm=True)
        for call, text in zip(batch, texts, strict=True):
            call.text = str(text)

    def _prompt(self, call: Call) -> Any:
        """Return the prompt as lm-eval's chat templates make it, plain where the model has no template.

        Raises:
            ValueError: it is longer than the model's context; lm-eval would cut off its beginning.
        """
        prompt = self._templated(call.messages)
        if isinstance(prompt, str) and (room := self._room(call)) is not None:
            length = len(self.model.tok_encode(prompt))
            if length > room:
                raise ValueError(f"the prompt has {length} tokens, and the model's context has room for {room}")
        return prompt

    def _templated(self, messages: list[dict[str, str]]) -> Any:
        template = getattr(getattr(self.model, "tokenizer", None), "chat_template", None)
        sent_as_text = self.served and not self.model.tokenized_requests
        if "chat" in self.kind.__name__.lower() or (template and not sent_as_text):
            return self.model.apply_chat_template(messages)
        return "\n\n".join(one["content"] for one in messages)

    def _room(self, call: Call) -> int | None:
        """Return how many tokens a prompt may have; None where lm-eval sends it as text, and the server counts."""
        if getattr(self.model, "tokenizer", None) is None or not getattr(self.model, "tokenized_requests", True):
            return None
        usual: int = self.model._max_gen_toks if self.served else self.model.max_gen_toks
        return int(self.model.max_length) - int(call.settings.get("max_gen_toks", usual))

    def _output(self, text: str) -> ModelOutput:
        name = f"{PROVIDER}/{self.model_name}"
        message = ChatMessageAssistant(content=text, model=name, source="generate")
        return ModelOutput(model=name, choices=[ChatCompletionChoice(message=message, stop_reason="unknown")])


def _settings(config: GenerateConfig) -> dict[str, Any]:
    """Return the settings of a generation in lm-eval's words; what is not set is the model's own."""
    temperature = config.temperature or 0.0
    told = {"max_gen_toks": config.max_tokens, "top_p": config.top_p}
    known = {name: value for name, value in told.items() if value is not None}
    return {"until": [], "do_sample": temperature > 0, "temperature": temperature, **known}


def _kind(name: str) -> Any:
    """Return lm-eval's class of models.

    Raises:
        UsageError: there is none of this name.
    """
    from lm_eval.api.registry import get_model

    try:
        return get_model(name)
    except (ValueError, KeyError, ImportError) as error:
        raise UsageError(f"lm-eval has no model type {name!r} here: {error}") from None


def _is_served(kind: Any) -> bool:
    """Whether models of this class are behind an address."""
    from lm_eval.models.api_models import TemplateAPI

    return issubclass(kind, TemplateAPI)
