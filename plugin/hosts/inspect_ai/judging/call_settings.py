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
        temperature: the sampling temperature.
        text: limit of a reply as text; None if there is no limit.
        schema: limit of a reply in a JSON schema; None if there is no limit.
    """

    temperature: float
    text: int | None
    schema: int | None

    def to_text(self) -> str:
        """Return temperature and limits in words; a limit that does not exist is left out."""
        words = [f"temperature {self.temperature:g}"]
        for limit, reply in ((self.text, "a text reply"), (self.schema, "a JSON reply")):
            if limit is not None:
                words.append(f"at most {limit:,} output tokens {reply}")
        return ", ".join(words)


def limits_of(how: Judging, model: Model | None) -> CallLimits:
    """Return the temperature and limits of a judge.

    Options of the run win over the settings of the judge's role, and these over podium's defaults.
    A limit of a JSON reply is never below podium's default.

    Args:
        how: how the judge is asked.
        model: the judge; None if it is not known yet.
    """
    config = model.config if model else GenerateConfig()
    temperature = how.generation.get("temperature", config.temperature)
    given = how.generation.get("max_tokens", config.max_tokens)
    text = None if how.replies == "schema" else given or how.realization.tokens
    schema = max(how.form.tokens, given or 0) if how.form else None
    return CallLimits(temperature or 0, text, schema)


def judge_limits(how: Judging) -> dict[str, CallLimits]:
    """Return the limits of each judge by the name of its model.

    If no role is known yet, they are under `judge`. They are empty for a realization without a
    prompt, which calls no model.
    """
    if how.realization.template is None:
        return {}
    limits = {str(model): limits_of(how, model) for model in judges_by_role()}
    return limits or {"judge": limits_of(how, None)}


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
        # Judges whose first call in a JSON schema was begun.
        self._begun: set[JudgeRecord] = set()

    @asynccontextmanager
    async def first_alone(self, judge: JudgeRecord) -> AsyncIterator[None]:
        """Let the first body run alone, which shows whether the judge takes a JSON schema.

        If it shows nothing, because its call failed or the reply was withheld, all others run at
        once: a server that gives no answer must not keep one call after the other waiting.
        """
        async with self._locks.setdefault(judge, anyio.Lock()):
            if judge not in self._begun:
                self._begun.add(judge)
                yield
                return
        yield

    def schema_of(self, judge: JudgeRecord, attempt: int) -> Schema | None:
        """Return the schema of an attempt: first `full`, then `brief`; None for a text reply.

        With `replies=schema` the first attempt has a schema, otherwise the second one. No attempt
        has one if the realization has no form, or if the judge takes no schema.

        Args:
            judge: the judge.
            attempt: number of the attempt, from 1.
        """
        schema_attempt = attempt if self.how.replies == "schema" else attempt - 1
        takes_schema = self._takes_schema.get(judge, True)
        if self.how.form is None or schema_attempt == 0 or not takes_schema:
            return None
        return "full" if schema_attempt == 1 else "brief"

    def config(self, model: Model, judge: JudgeRecord, schema: Schema | None) -> GenerateConfig:
        """Return the generation settings of a call.

        They are the options of the run, with the judge's temperature and limit of tokens, the
        schema, and the request for token probabilities if the realization uses them.

        Args:
            model: the judge's model.
            judge: the judge.
            schema: the schema of the reply; None for a text reply.
        """
        how = self.how
        limits = limits_of(how, model)
        limit = limits.schema if schema else limits.text
        if judge in self._unlimited:
            limit = None
        settings: dict[str, Any] = {
            **how.generation,
            "temperature": limits.temperature,
            "max_tokens": limit,
        }
        if schema and how.form:
            form = how.form.schema(how.settings, brief=schema == "brief")
            json_schema = JSONSchema.model_validate(form)
            settings["response_schema"] = ResponseSchema(
                name="reply", json_schema=json_schema, strict=True
            )
        if how.has_probabilities(structured=schema is not None):
            # Reasons have many tokens. Few alternatives are asked for, as they would fill the log.
            reasons_first = how.realization.has_reasons(how.settings) and not schema
            few = judge in self._few_alternatives or reasons_first
            number = FEW_ALTERNATIVES if few else ALTERNATIVES
            settings |= {"logprobs": True, "top_logprobs": number}
        return GenerateConfig(**settings)

    def lifts_limit(
        self, judge: JudgeRecord, model: Model, config: GenerateConfig, output: ModelOutput
    ) -> bool:
        """Return whether a judge's limit of tokens is lifted, so that the call must be repeated.

        It is if the reply of a model that reasons was cut off at a limit that podium set, not the
        user. The judge has no limit from then on.

        Args:
            judge: the judge.
            model: its model.
            config: the settings of the call.
            output: the reply.
        """
        limit_of_user = self.how.generation.get("max_tokens", model.config.max_tokens)
        is_limit_by_podium = config.max_tokens is not None and not limit_of_user
        content = output.message.content if output.choices else ""
        shows_reasoning = not isinstance(content, str) and any(
            part.type == "reasoning" for part in content
        )
        has_reasoned = shows_reasoning or bool(output.usage and output.usage.reasoning_tokens)
        is_lifted = is_limit_by_podium and ended_at_limit(output) and has_reasoned
        if is_lifted:
            self._unlimited.add(judge)
        return is_lifted

    def rejects_alternatives(
        self, judge: JudgeRecord, config: GenerateConfig, error: Exception
    ) -> bool:
        """Return whether a call failed because it asked for too many alternatives of a token.

        If it did, the judge is asked for few alternatives from then on.
        """
        if config.top_logprobs != ALTERNATIVES or not ABOUT_PROBABILITIES.search(cause_of(error)):
            return False
        self._few_alternatives.add(judge)
        return True

    def takes_schema(self, judge: JudgeRecord, reply: Reply | Exception) -> bool:
        """Return whether a judge takes JSON schemas, as its first reply or error shows.

        The first reply that shows it decides for the run. A refusal, or a reply that was withheld
        or failed, shows nothing: True is returned, and the next one decides. If the judge takes no
        schema, a message is printed once.

        Args:
            judge: the judge.
            reply: its reply in a schema, or the error about the schema.

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
    """Return the server's message if a prompt did not fit the judge's context; else empty.

    Args:
        result: the output or the error of the call.
    """
    if isinstance(result, JudgeStoppedError):
        return ""
    if isinstance(result, Exception):
        cause = cause_of(result)
        return cause if ABOUT_LENGTH.search(cause) else ""
    # If the output has a usage, the prompt did fit, and the reply has filled the context.
    if _stop_of(result) == "model_length" and not result.usage:
        return result.completion or TOO_LONG
    return ""


def why_withheld(output: ModelOutput) -> str:
    """Return why the provider withheld an answer: `FILTERED` or `refusal`; empty if it did not."""
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
    """Return the form of replies and the limits of each judge, as a log keeps them."""
    limits = {judge: of_judge._asdict() for judge, of_judge in judge_limits(how).items()}
    return {"replies": how.replies, "limits": limits}
