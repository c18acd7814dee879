"""Judges as Inspect models; those of lm-eval are `lm-eval/TYPE/MODEL`, with its own batching and concurrency."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout, suppress
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import anyio.to_thread
from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelAPI, ModelOutput, get_model, modelapi
from inspect_ai.tool import ToolChoice, ToolInfo

from podium.errors import UsageError
from podium.hosts.inspect_ai.media import refuse_media
from podium.hosts.lm_eval.options import LM_EVAL, parse_pairs
from podium.hosts.lm_eval.secrets import is_secret, redact, secrets_of
from podium.hosts.lm_eval.silence import silence

PROVIDER = "lm-eval"
MODEL = "lm_model"
"""What lm-eval's argument `model` is called in Inspect, which has one of its own."""
BATCH = 64
"""Prompts that a model on this machine is given at once, at most; it batches them further by its own batch size."""


def judge_model(name: str, arguments: Mapping[str, Any]) -> Model:
    """Return a judge as an Inspect model; what it keeps of its arguments, for the log, holds no secret.

    Args:
        name: of a model of Inspect, or `lm-eval:TYPE,key=value,...`.
    """
    import podium.hosts.inspect_ai.registry  # noqa: F401
    from podium.formats.lm_eval_layout import NO_MATTER

    if name.startswith(LM_EVAL):
        name, arguments = name_and_arguments(name.removeprefix(LM_EVAL), arguments)
    address = str(arguments.get("base_url") or "")
    if redact(address) != address:
        raise UsageError("the judge's base_url holds a password: give it as an argument or environment variable")
    try:
        # What goes to stdout is lm-eval's.
        with redirect_stdout(sys.stderr):
            model = get_model(name, memoize=False, **arguments)
    # Providers raise errors of their own kinds, some with the prompt to install a package.
    except Exception as error:
        raise UsageError(f"--ranker_judge {name}: {redact(str(error), secrets_of(arguments))}") from None
    _redact_errors(model.api, secrets_of(arguments))
    _redact_address(model.api)
    # What stays is kept in the log and makes the judge's identity.
    idle = NO_MATTER if name.startswith(PROVIDER) else frozenset()
    model.model_args = {
        key: value for key, value in model.model_args.items() if key not in idle and not is_secret(key, value)
    }
    return model


def name_and_arguments(spec: str, more: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return Inspect's name and the arguments of `TYPE,key=value,...`.

    >>> name_and_arguments("local-chat-completions,model=org/judge,num_concurrent=8", {})
    ('lm-eval/local-chat-completions/org/judge', {'num_concurrent': 8, 'lm_model': 'org/judge'})

    Args:
        more: arguments given elsewhere; those of the text count.
    """
    from podium.formats.lm_eval_layout import NAMING

    kind, _, text = spec.partition(",")
    arguments = {**more, **(parse_pairs(text) if text else {})}
    model = next((str(arguments[name]) for name in NAMING if name in arguments), None)
    if not kind or model is None:
        raise UsageError(
            "a judge of lm-eval is written lm-eval:<type>,<arg>=<value>,... with the model among the arguments, as "
            "lm-eval:local-chat-completions,model=NAME,base_url=http://localhost:8000/v1/chat/completions"
        )
    if "model" in arguments:
        arguments[MODEL] = arguments.pop("model")
    # Inspect keeps replies in a folder of this name: a path must not lead out of it. The whole path is an argument.
    inside = "/".join(part for part in model.split("/") if part.strip(". "))
    return f"{PROVIDER}/{kind}/{Path(model).name if Path(model).exists() else inside}", arguments


def _redact_errors(api: ModelAPI, secrets: Sequence[str]) -> None:
    """Let a judge's errors tell no secret, whatever its server puts into them: Inspect keeps them in its log."""
    generate = api.generate

    async def generate_redacted(*arguments: Any, **options: Any) -> Any:
        try:
            return await generate(*arguments, **options)
        except Exception as error:
            cause: Any = error
            while cause is not None:
                cause.args = tuple(redact(part, secrets) if isinstance(part, str) else part for part in cause.args)
                if isinstance(getattr(cause, "message", None), str):
                    cause.message = redact(cause.message, secrets)
                cause = cause.__cause__ or cause.__context__
            raise

    api.generate = generate_redacted  # type: ignore[method-assign]


def _redact_address(api: ModelAPI) -> None:
    """Let a judge's address that came from the environment show no password: Inspect writes it into its log.

    A provider makes its client from it, at once and again where a key has expired; only then it is whole.
    """
    address, initialize = api.base_url, api.initialize
    if not address or redact(address) == address:
        return

    def initialize_whole() -> None:
        api.base_url = address
        try:
            initialize()
        finally:
            api.base_url = redact(address)

    api.base_url = redact(address)
    api.initialize = initialize_whole  # type: ignore[method-assign]


@dataclass(eq=False)
class Call:
    """A prompt that waits, with settings in lm-eval's words, and what came of it: a text, or an error for good."""

    messages: list[dict[str, str]]
    settings: dict[str, Any]
    text: str | None = None
    error: Exception | None = None


@modelapi(name=PROVIDER)
class LmEvalAPI(ModelAPI):
    """`lm-eval/TYPE/MODEL`: what lm-eval calls `--model TYPE --model_args ...`; failures count one by one.

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
        from lm_eval.api.registry import get_model as get_class
        from lm_eval.models.api_models import TemplateAPI

        from podium.formats.lm_eval_layout import NAMING

        super().__init__(model_name, base_url, api_key, [], config or GenerateConfig())
        kind, _, name = model_name.partition("/")
        try:
            self.kind: Any = get_class(kind)
        except (ValueError, KeyError, ImportError) as error:
            raise UsageError(f"lm-eval has no model type {kind!r} here: {error}") from None
        self.served = issubclass(self.kind, TemplateAPI)
        self.arguments = {"model" if key == MODEL else key: value for key, value in model_args.items()}
        if name and not any(key in self.arguments for key in NAMING):
            self.arguments["pretrained"] = name
        if base_url is not None:
            self.arguments["base_url"] = base_url
        if api_key is not None:
            if not self.served:
                raise UsageError(f"--ranker_judge {PROVIDER}:{kind}: a model on this machine takes no api_key")
            self.arguments["header"] = {"Authorization": f"Bearer {api_key}"}
        self.secrets = [*secrets_of(self.arguments), *([api_key] if api_key else [])]
        self.model: Any = None
        self.finder: list[Call] = []
        self.making = anyio.Lock()
        self.turns = anyio.CapacityLimiter(self.max_connections() if self.served else 1)

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],  # noqa: ARG002
        tool_choice: ToolChoice,  # noqa: ARG002
        config: GenerateConfig,
    ) -> ModelOutput:
        """Answer, together with what else waits where the model takes batches."""
        refuse_media(input, f"{PROVIDER}/{self.model_name}")
        messages = [{"role": message.role, "content": message.text} for message in input]
        temperature, limits = config.temperature or 0.0, {"max_gen_toks": config.max_tokens, "top_p": config.top_p}
        # What is not set is the model's own.
        given = {name: value for name, value in limits.items() if value is not None}
        call = Call(messages, {"until": [], "do_sample": temperature > 0, "temperature": temperature, **given})
        self.finder.append(call)
        try:
            async with self.making:
                if self.model is None:
                    self.model = await anyio.to_thread.run_sync(self._make_model)
            async with self.turns:
                if call.text is None and call.error is None:
                    # What waits with the same settings goes with it.
                    alike = [other for other in self.finder if other.settings == call.settings and other is not call]
                    batch = [call, *([] if self.served else alike[: BATCH - 1])]
                    self.finder = [other for other in self.finder if other not in batch]
                    await anyio.to_thread.run_sync(self._answer, batch)
        finally:
            # One that was cancelled must not be asked with the next batch.
            self.finder = [other for other in self.finder if other is not call]
        if call.error is not None:
            raise RuntimeError(redact(f"{type(call.error).__name__}: {call.error}", self.secrets)) from None
        return ModelOutput.from_content(f"{PROVIDER}/{self.model_name}", call.text or "", "unknown")

    def max_connections(self) -> int:
        """Return how many calls may wait or run at once: a server's `num_concurrent`, else a batch."""
        return max(1, int(self.arguments.get("num_concurrent", 1))) if self.served else BATCH

    def _make_model(self) -> Any:
        # A call is a thread of its own: within it, nothing is concurrent, and one that fails stops no other.
        own = {**self.arguments, "num_concurrent": 1} if self.served else self.arguments
        with silence():
            return self.kind.create_from_arg_obj(own)

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
        requests = [SimpleNamespace(args=(self._prompt(call), deepcopy(call.settings))) for call in batch]
        with silence():
            texts = self.model.generate_until(requests, disable_tqdm=True)
        for call, text in zip(batch, texts, strict=True):
            call.text = str(text)

    def _prompt(self, call: Call) -> Any:
        """Return the prompt as lm-eval's chat templates make it, plain where the model has no template."""
        tokenizer = getattr(self.model, "tokenizer", None)
        template = getattr(tokenizer, "chat_template", None)
        sent_as_text = self.served and not self.model.tokenized_requests
        if "chat" in self.kind.__name__.lower() or (template and not sent_as_text):
            prompt = self.model.apply_chat_template(call.messages)
        else:
            prompt = "\n\n".join(message["content"] for message in call.messages)
        # Where lm-eval sends it as text, the server counts.
        is_counted = tokenizer is not None and getattr(self.model, "tokenized_requests", True)
        if isinstance(prompt, str) and is_counted:
            usual = self.model._max_gen_toks if self.served else self.model.max_gen_toks
            room = int(self.model.max_length) - int(call.settings.get("max_gen_toks", usual))
            length = len(self.model.tok_encode(prompt))
            if length > room:
                raise ValueError(f"the prompt has {length} tokens, and the model's context has room for {room}")
        return prompt
