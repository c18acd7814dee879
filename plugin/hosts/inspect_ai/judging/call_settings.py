"""The settings of each call to a judge: form of the reply, temperature, limit of tokens."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal, NamedTuple

import anyio
from inspect_ai.model import GenerateConfig, Model, ModelOutput, ResponseSchema
from inspect_ai.util import JSONSchema

from podium.hosts.inspect_ai.judging.call_control import JudgeStoppedError, cause_of
from podium.hosts.inspect_ai.judging.judge_models import judges_by_role
from podium.hosts.inspect_ai.logs.podium_entries import STOPPED
from podium.printable import shorten, tell
from podium.scorers.judge_record import JudgeRecord
from podium.scorers.judging import Judging
from podium.scorers.probabilities import ALTERNATIVES, FEW_ALTERNATIVES
from podium.scorers.reply import FILTERED, TOO_LONG, Reply, no_verdict
from podium.scorers.schemas import parse_object

Schema = Literal["full", "brief"]
"""Only a `full` JSON schema has a field for reasons, if the realization asks for them."""
ABOUT_SCHEMA = re.compile(
    r"response_?format|json_?schema|\bschema|grammar|structured[ _]outputs?|guided", re.IGNORECASE
)
"""Matches the error message of a server that takes no JSON schema."""
ABOUT_LENGTH = re.compile(
    r"context[ _]?(?:length|size|window)|prompt is too long|input (?:is too long|length)"
    r"|too many (?:input )?tokens|exceed_context_size",
    re.IGNORECASE,
)
"""Matches the error message of a server about a prompt that is too long."""
ABOUT_PROBABILITIES = re.compile(r"log[ _]?prob", re.IGNORECASE)
"""Matches the error message of a server that gives fewer token probabilities than asked for."""


class CallLimits(NamedTuple):
    """Temperature of a judge, and its limits of output tokens.

    Attributes:
        text: limit of a reply as text; None if there is no limit.
        schema: limit of a reply in a JSON schema; None if there is no limit.
    """

    temperature: float
    text: int | None
    schema: int | None

    def to_text(self) -> str:
        """Return the limits in words."""
        limits = ((self.text, "a text reply"), (self.schema, "a JSON reply"))
        words = [
            f"at most {limit:,} output tokens {of}" for limit, of in limits if limit is not None
        ]
        return ", ".join([f"temperature {self.temperature:g}", *words])


def limits_of(how: Judging, model: Model | None) -> CallLimits:
    """Return the temperature and limits of a judge.

    Options of the run win over the settings of the judge's role, and these over podium's defaults.
    """
    own = model.config if model else GenerateConfig()
    temperature = how.generation.get("temperature", own.temperature)
    given = how.generation.get("max_tokens", own.max_tokens)
    text = None if how.replies == "schema" else given or how.realization.tokens
    schema = max(how.form.tokens, given or 0) if how.form else None
    return CallLimits(temperature or 0, text, schema)


def judge_limits(how: Judging) -> dict[str, CallLimits]:
    """Return the limits of each judge by name; under `judge` if no role is known yet."""
    if how.realization.template is None:
        return {}
    return {str(model): limits_of(how, model) for model in judges_by_role()} or {
        "judge": limits_of(how, None)
    }


class CallSettings:
    """Settings of a run's calls, which depend on the replies so far.

    The replies show which judges take a JSON schema, which need more tokens to reason, and which
    give only few alternatives of a token.
    """

    def __init__(self, how: Judging) -> None:
        self.how = how
        self._takes_schema: dict[JudgeRecord, bool] = {}
        self._unlimited: set[JudgeRecord] = set()
        self._few_alternatives: set[JudgeRecord] = set()
        self._locks: dict[JudgeRecord, anyio.Lock] = {}

    @asynccontextmanager
    async def first_alone(self, judge: JudgeRecord) -> AsyncIterator[None]:
        """Let the body run alone until it is known whether the judge takes a JSON schema.

        The first reply decides this for all further calls.
        """
        async with self._locks.setdefault(judge, anyio.Lock()):
            if judge not in self._takes_schema:
                yield
                return
        yield

    def schema_of(self, judge: JudgeRecord, attempt: int) -> Schema | None:
        """Return the schema of an attempt: first `full`, then `brief`; None for a text reply."""
        asked = attempt if self.how.replies == "schema" else attempt - 1
        if self.how.form is None or not asked or not self._takes_schema.get(judge, True):
            return None
        return "full" if asked == 1 else "brief"

    def config(self, model: Model, judge: JudgeRecord, schema: Schema | None) -> GenerateConfig:
        """Return the generation settings of a call."""
        how = self.how
        limits = limits_of(how, model)
        limit = limits.schema if schema else limits.text
        if judge in self._unlimited:
            limit = None
        named: dict[str, Any] = {
            **how.generation,
            "temperature": limits.temperature,
            "max_tokens": limit,
        }
        if schema and how.form:
            own = how.form.schema(how.settings, brief=schema == "brief")
            form = JSONSchema.model_validate(own)
            named["response_schema"] = ResponseSchema(name="reply", json_schema=form, strict=True)
        if how.has_probabilities(structured=schema is not None):
            # Reasons have many tokens. Few alternatives are asked for, as they would fill the log.
            reasons_first = how.realization.has_reasons(how.settings) and not schema
            few = judge in self._few_alternatives or reasons_first
            named |= {"logprobs": True, "top_logprobs": FEW_ALTERNATIVES if few else ALTERNATIVES}
        return GenerateConfig(**named)

    def lifts_limit(
        self, judge: JudgeRecord, model: Model, config: GenerateConfig, output: ModelOutput
    ) -> bool:
        """Return whether a reply was cut off while the model reasoned.

        If podium set the limit of tokens, not the user, the judge has no limit from then on.
        """
        is_own = config.max_tokens is not None and not self.how.generation.get(
            "max_tokens", model.config.max_tokens
        )
        content = output.message.content if output.choices else ""
        is_shown = not isinstance(content, str) and any(
            part.type == "reasoning" for part in content
        )
        has_reasoned = is_shown or bool(output.usage and output.usage.reasoning_tokens)
        lifts = is_own and ended_at_limit(output) and has_reasoned
        self._unlimited |= {judge} if lifts else set()
        return lifts

    def rejects_alternatives(
        self, judge: JudgeRecord, config: GenerateConfig, error: Exception
    ) -> bool:
        """Return whether a call failed because it asked for too many alternatives of a token.

        From then on, the judge is asked for few alternatives.
        """
        if config.top_logprobs != ALTERNATIVES or not ABOUT_PROBABILITIES.search(cause_of(error)):
            return False
        self._few_alternatives.add(judge)
        return True

    def takes_schema(self, judge: JudgeRecord, reply: Reply | Exception) -> bool:
        """Return whether a judge takes JSON schemas, as its first reply or error shows.

        Raises:
            JudgeStoppedError: the judge takes none, and `replies=schema` requires one.
        """
        if judge in self._takes_schema:
            return self._takes_schema[judge]
        if isinstance(reply, Exception):
            why = f"its server says: {cause_of(reply)}"
        elif reply.reason_of_silence or no_verdict(reply.text) == "refusal":
            return True  # such a reply shows nothing, so the next one decides
        elif parse_object(reply.text) is not None:
            self._takes_schema[judge] = True
            return True
        else:
            why = f"its first reply is no JSON object: {shorten(reply.text)!r}"
        self._takes_schema[judge] = False
        name = judge.shown_model
        if self.how.replies == "schema":
            raise JudgeStoppedError(
                f"{STOPPED}: {name} takes no JSON schema ({why}); leave out replies=schema"
            )
        tell(f"{name} takes no JSON schema ({why}): unparsed replies are repeated as text")
        return False


def is_about_schema(error: Exception) -> bool:
    """Return whether a call failed because its server takes no schema."""
    return (
        not isinstance(error, JudgeStoppedError)
        and ABOUT_SCHEMA.search(cause_of(error)) is not None
    )


def why_too_long(result: ModelOutput | Exception) -> str:
    """Return the server's message if a prompt did not fit the judge's context; else empty."""
    if isinstance(result, Exception):
        cause = cause_of(result)
        return (
            cause
            if not isinstance(result, JudgeStoppedError) and ABOUT_LENGTH.search(cause)
            else ""
        )
    # If the output has a usage, the prompt did fit, and the reply has filled the context.
    return (
        (result.completion or TOO_LONG)
        if _stop_of(result) == "model_length" and not result.usage
        else ""
    )


def why_withheld(output: ModelOutput) -> str:
    """Return why the provider withheld an answer (filter or refusal); empty if it did not."""
    if _stop_of(output) == "content_filter":
        return FILTERED
    content = output.message.content if output.choices else ""
    is_refusal = not isinstance(content, str) and any(
        getattr(part, "refusal", None) for part in content
    )
    return "refusal" if is_refusal else ""


def ended_at_limit(output: ModelOutput) -> bool:
    """Return whether a reply ended at a token limit."""
    return _stop_of(output) in ("max_tokens", "model_length")


def _stop_of(output: ModelOutput) -> str | None:
    """Return why a model stopped writing; None if the server sent no reply at all."""
    return output.choices[0].stop_reason if output.choices else None


def settings_to_log(how: Judging) -> dict[str, Any]:
    """Return how the judges are asked, as a log keeps it."""
    return {
        "replies": how.replies,
        "limits": {judge: own._asdict() for judge, own in judge_limits(how).items()},
    }
