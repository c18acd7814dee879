"""The settings of each call to a judge: form of the reply, temperature, limit of tokens."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import anyio
from inspect_ai.model import GenerateConfig, Model, ModelOutput, ResponseSchema
from inspect_ai.util import JSONSchema

from podium.hosts.inspect_ai.judging.call_control import (
    SHUTDOWN_TIMEOUT,
    JudgeStoppedError,
    cause_of,
)
from podium.hosts.inspect_ai.judging.first_calls import FirstCalls
from podium.hosts.inspect_ai.judging.judge_models import judges_by_role
from podium.hosts.inspect_ai.judging.refused_options import (
    is_rejection,
    leave_out_refused,
    model_without,
    refusal_text,
    refused_option,
    settings_of_options,
)
from podium.hosts.inspect_ai.judging.reply_requests import ReplyRequest, Schema
from podium.hosts.inspect_ai.judging.schema_trial import SchemaTrial, may_reject_schema
from podium.printable import shorten, tell
from podium.scorers.judge_record import JudgeRecord
from podium.scorers.judging import Judging
from podium.scorers.probabilities import ALTERNATIVES, FEW_ALTERNATIVES
from podium.scorers.reasoning import strip_reasoning
from podium.scorers.reply import FILTERED, TOO_LONG, Reply, no_verdict
from podium.scorers.schemas import parse_object

ERROR_ABOUT_SCHEMA = re.compile(
    r"response[ _-]?format"
    r"|output[ _-]?(?:config\W{0,3})?format"
    r"|json[ _-]?(?:schema|mode)"
    r"|\bschema|grammar"
    r"|structured[ _-]?(?:outputs?|decoding|generation|responses?)"
    r"|guided"
    r"|(?:controlled|constrained)[ _-]?(?:generation|decoding|outputs?)"
    r"|response[ _]?(?:mime[ _]?type|schema)",
    re.IGNORECASE,
)
"""Matches the error message of a server that takes no JSON schema.

A judge that rejects one in other words is known by a trial without the schema (`SchemaTrial`).
"""
ERROR_ABOUT_LENGTH = re.compile(
    r"context[ _]?(?:length|size|window)"
    r"|prompt is too long"
    r"|input (?:is too long|length)"
    r"|too many (?:input )?tokens"
    r"|exceed_context_size",
    re.IGNORECASE,
)
"""Matches the error message of a server about a prompt that is too long, such as
`prompt is too long`."""
ERROR_ABOUT_NUMBER = re.compile(
    r"log[ _-]?prob\w*\D{0,80}\b(?:\d{1,2}\b|less|fewer|most|max|exceed|range|between|at least)",
    re.IGNORECASE,
)
"""Matches the error message of a server that gives fewer token probabilities than asked for,
such as `top_logprobs must be at most 5`."""
MOST_GARBLED = 3
"""Number of replies to a JSON schema that are no JSON object, before any reply is one.

A judge with so many of them counts as one that takes no JSON schema.
"""
MORE_TOKENS = 16_384
"""Limit of output tokens of a judge whose reasoning does not fit podium's limit."""


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
        """Return temperature and limits as a phrase; a limit that is None is left out.

        Example: `temperature 0, at most 2,048 output tokens a text reply`.
        """
        words = [f"temperature {self.temperature:g}"]
        for limit, reply in ((self.text, "a text reply"), (self.schema, "a JSON reply")):
            if limit is not None:
                words.append(f"at most {limit:,} output tokens {reply}")
        return ", ".join(words)


def limits_of(judging: Judging, model: Model | None) -> CallLimits:
    """Return the temperature of a judge, and its limits of a reply with a verdict.

    Options of the run win over the settings of the judge's role, and these over podium's defaults.
    A limit of a JSON reply is never below podium's default. The temperature is 0 if nobody sets
    one. The limit of a text reply is None with `replies=schema`, and that of a JSON reply is None
    if the realization has no form for JSON.

    Args:
        judging: how the judge is asked.
        model: the judge; None if it is not known yet.
    """
    config = model.config if model else GenerateConfig()
    temperature = judging.generation.get("temperature", config.temperature) or 0
    by_user = _limit_by_user(judging, model)
    text = None
    if judging.replies != "schema":
        text = by_user or judging.realization.tokens
    schema = None
    if judging.form:
        schema = max(judging.form.tokens, by_user or 0)
    return CallLimits(temperature, text, schema)


def _limit_by_user(judging: Judging, model: Model | None) -> int | None:
    """Return the limit of output tokens by the options of the run, or else by the judge's role.

    None if neither sets a limit.
    """
    limit_of_model = model.config.max_tokens if model else None
    limit: int | None = judging.generation.get("max_tokens", limit_of_model)
    return limit


def judge_limits(judging: Judging) -> dict[str, CallLimits]:
    """Return the limits of each judge by the name of its model.

    If no role is known yet, there is one entry, `judge`, without the settings of a role. The result
    is empty for a realization without a prompt, as of a reward model.
    """
    if judging.realization.template is None:
        return {}
    limits = {str(model): limits_of(judging, model=model) for model in judges_by_role()}
    return limits or {"judge": limits_of(judging, model=None)}


@dataclass(slots=True)
class JudgeState:
    """What the replies of a judge have shown so far in a run.

    Attributes:
        takes_schema: whether the judge takes a JSON schema; None if it is not known yet.
        garbled: number of replies to a schema that were no JSON object.
        refused: why the judge refuses an option of calls, by name of the option.
        needs_more_tokens: whether podium's limit of tokens has cut off a reasoning.
        few_alternatives: whether the judge gives only few alternatives of a token.
        stopped: the error that refuses further calls; None if calls are made.
        first_calls: lets the judge's first calls be made alone.
        schema_trial: whether a rejected call works without its schema.
    """

    takes_schema: bool | None = None
    garbled: int = 0
    refused: dict[str, str] = field(default_factory=dict)
    needs_more_tokens: bool = False
    few_alternatives: bool = False
    stopped: JudgeStoppedError | None = None
    first_calls: FirstCalls = field(default_factory=FirstCalls)
    schema_trial: SchemaTrial = field(default_factory=SchemaTrial)


class CallSettings:
    """Settings of a run's calls, which depend on the replies so far.

    The replies show which judges take a JSON schema, which options they refuse, which need more
    tokens to reason, and which give only few alternatives of a token.

    Args:
        judging: how judges are asked.
        ends_run: whether the first refused call ends the run. Later calls then wait
            `SHUTDOWN_TIMEOUT` seconds before they are refused, so that the run can end first.
    """

    def __init__(self, judging: Judging, *, ends_run: bool = False) -> None:
        self.judging = judging
        self._ends_run = ends_run
        self._states: dict[JudgeRecord, JudgeState] = {}

    def state_of(self, judge: JudgeRecord) -> JudgeState:
        """Return the state of a judge, which callers may change; a new one at the first call."""
        state = self._states.get(judge)
        if state is None:
            state = self._states[judge] = JudgeState()
        return state

    def first_alone(
        self, judge: JudgeRecord, *, has_schema: bool
    ) -> AbstractAsyncContextManager[None]:
        """Let the body run alone if it makes the judge's first call of a form (`FirstCalls`).

        If the first reply to a JSON schema is garbled, the second and third call are made alone,
        too. Entering raises JudgeStoppedError if no more calls are made to the judge.

        Args:
            judge: the judge.
            has_schema: whether the call asks for a reply in a JSON schema.
        """
        state = self.state_of(judge)
        # For speed, later calls pass no lock.
        if state.stopped is None and state.first_calls.is_over(has_schema=has_schema):
            return nullcontext()
        return self._wait_for_first_call(state, has_schema=has_schema)

    @asynccontextmanager
    async def _wait_for_first_call(
        self, state: JudgeState, *, has_schema: bool
    ) -> AsyncIterator[None]:
        """Let the body run alone if it makes a judge's first call of a form; see `first_alone`.

        Args:
            state: the state of the judge.
            has_schema: whether the call asks for a reply in a JSON schema.

        Raises:
            JudgeStoppedError: no more calls are made to the judge.
        """

        def is_settled() -> bool:
            """Return whether the next call need not be made alone.

            False only if the call has a schema, replies to schemas were garbled, and it is not
            known yet whether the judge takes a schema.
            """
            is_open = state.takes_schema is None and 0 < state.garbled < MOST_GARBLED
            return not (has_schema and is_open)

        first_calls = state.first_calls
        async with first_calls.wait_for_first_call(has_schema=has_schema, is_settled=is_settled):
            if state.stopped:
                if self._ends_run:
                    await anyio.sleep(SHUTDOWN_TIMEOUT)
                raise state.stopped.copy()
            yield

    def schema_of(self, judge: JudgeRecord, request: ReplyRequest, attempt: int) -> Schema | None:
        """Return the schema of an attempt; None for a text, as if the judge takes no schema.

        Args:
            judge: the judge.
            request: what it is asked for.
            attempt: number of the attempt, from 1.
        """
        takes_none = self.state_of(judge).takes_schema is False
        return None if takes_none else request.schema_of(attempt)

    def config(
        self, model: Model, judge: JudgeRecord, request: ReplyRequest, schema: Schema | None
    ) -> GenerateConfig:
        """Return the generation settings of a call.

        They are the options of the run, with the judge's temperature and limit of tokens, the
        schema, and the request for token probabilities if they are read. Options that the judge
        refuses are left out. Settings of the judge's role are not among them, except for these
        two: Inspect adds them.

        Args:
            model: the judge's model.
            judge: the judge.
            request: what it is asked for.
            schema: the schema of the reply; None for a text reply.
        """
        state = self.state_of(judge)
        settings: dict[str, Any] = {
            **self.judging.generation,
            "temperature": limits_of(self.judging, model=model).temperature,
            "max_tokens": self._token_limit(model, judge, request, schema),
        }
        if schema and request.json_schema:
            json_schema = JSONSchema.model_validate(request.json_schema(schema))
            settings["response_schema"] = ResponseSchema(
                name="reply", json_schema=json_schema, strict=True
            )
        number = request.alternatives(schema is not None)
        if state.few_alternatives:
            number = min(number, FEW_ALTERNATIVES)
        if number:
            settings["logprobs"] = True
            settings["top_logprobs"] = number
        refused_settings = settings_of_options(state.refused)
        return GenerateConfig(
            **{name: value for name, value in settings.items() if name not in refused_settings}
        )

    def _token_limit(
        self, model: Model, judge: JudgeRecord, request: ReplyRequest, schema: Schema | None
    ) -> int | None:
        """Return the limit of output tokens of a call; None if there is none.

        It is the user's limit, else `MORE_TOKENS` if the judge needs more, else the limit of the
        request. The limit of a JSON reply is never below that of the request.
        """
        by_user = _limit_by_user(self.judging, model)
        if by_user is None and self.state_of(judge).needs_more_tokens:
            return MORE_TOKENS
        if schema:
            return max(request.schema_tokens, by_user or 0)
        return by_user or request.text_tokens

    def asked_model(self, model: Model, judge: JudgeRecord) -> Model:
        """Return the judge's model, without the options in its own settings that it refuses."""
        return model_without(model, self.state_of(judge).refused)

    def limit_of_call(
        self, model: Model, judge: JudgeRecord, request: ReplyRequest, schema: Schema | None
    ) -> int | None:
        """Return the limit of output tokens that a call sets (`config`).

        None if there is no limit, or if the judge refuses one. The arguments are those of `config`.
        """
        if "max_tokens" in self.state_of(judge).refused:
            return None
        return self._token_limit(model, judge, request, schema)

    def raise_limit(
        self, judge: JudgeRecord, model: Model, limit: int | None, output: ModelOutput
    ) -> bool:
        """Raise a judge's limit of tokens if its reply needs it, and return whether it was raised.

        The limit is raised to `MORE_TOKENS` for the rest of the run if the reply of a model that
        reasons was cut off at a lower limit that podium set, not the user. The call must then be
        repeated.

        Args:
            judge: the judge.
            model: its model.
            limit: the limit of output tokens of the call, as `limit_of_call` returned it before the
                call; None if the call had none.
            output: the reply.
        """
        if _limit_by_user(self.judging, model) is not None or not has_reasoned_to_limit(output):
            return False
        if limit is None or limit >= MORE_TOKENS:
            return False
        self.state_of(judge).needs_more_tokens = True
        return True

    def adapt_to(self, judge: JudgeRecord, config: GenerateConfig, error: Exception) -> bool:
        """Leave out an option for which a call failed, and return whether there was one.

        The option is left out of all later calls to the judge, and the call must be repeated. If
        the server's message is about the number of alternatives of a token, fewer alternatives are
        asked for, and the option stays. If the limit of tokens was raised (`raise_limit`) and the
        prompt then does not fit, the option is that limit. A message is printed when an option is
        left out for the first time.

        Args:
            judge: the judge.
            config: the settings of the call.
            error: the error of the call.

        Raises:
            JudgeStoppedError: the judge gives no token probabilities, and the run needs them.
        """
        state = self.state_of(judge)
        option = refused_option(config, error)
        has_more_tokens = config.max_tokens == MORE_TOKENS and "max_tokens" not in state.refused
        if option is None and has_more_tokens and why_too_long(error):
            # The prompt fits into the context, but so many tokens beside it do not.
            option = "max_tokens"
        if option is None:
            return False
        many = config.top_logprobs == ALTERNATIVES
        if option == "logprobs" and many and ERROR_ABOUT_NUMBER.search(cause_of(error)):
            state.few_alternatives = True
            return True
        if option == "logprobs" and self.judging.needs_probabilities:
            refusal = refusal_text(judge.shown_model, option, error)
            state.stopped = JudgeStoppedError(f"{refusal}, which are needed here")
            raise state.stopped.copy()
        leave_out_refused(state.refused, judge.shown_model, option, error)
        return True

    def refuse_schema(self, judge: JudgeRecord, why: str) -> None:
        """Ask a judge for text from now on, because it takes no JSON schema.

        The first time, a message is printed.

        Args:
            judge: the judge.
            why: what shows that it takes none.

        Raises:
            JudgeStoppedError: `replies=schema` requires a schema.
        """
        state = self.state_of(judge)
        if state.takes_schema is False:
            return
        name = judge.shown_model
        state.takes_schema = False
        state.refused["schema"] = why
        if self.judging.replies == "schema":
            state.stopped = JudgeStoppedError(
                f"{name} takes no JSON schema ({why}); use replies=text"
            )
            raise state.stopped.copy()
        next_form = (
            "it is asked for text"
            if self.judging.asks_schema_first
            else "it is asked again for text"
        )
        tell(f"{name} takes no JSON schema ({why}): {next_form}")

    async def try_without_schema(
        self,
        judge: JudgeRecord,
        config: GenerateConfig,
        error: Exception,
        ask_for_text: Callable[[], Awaitable[object]],
    ) -> bool:
        """Return whether a judge takes no schema after a rejected call, so that text is asked for.

        Servers reject a schema in words of their own, so a call without it (a trial) shows whether
        the schema is the reason. Trials are made as `SchemaTrial` says, and only while it is not
        known whether the judge takes a schema. If a trial is answered, `refuse_schema` notes it.

        The result is False without a trial if the call had no schema, with `replies=schema`, or if
        the HTTP status is not one with which servers reject a schema.

        Args:
            judge: the judge.
            config: the settings of the rejected call.
            error: the error of that call.
            ask_for_text: makes the call without a schema and returns its output; its errors count
                as a trial that shows nothing.
        """
        state = self.state_of(judge)
        if not config.response_schema or self.judging.replies == "schema":
            return False
        if not may_reject_schema(error):
            return False
        works = await state.schema_trial.works_without(
            ask_for_text, is_settled=lambda: state.takes_schema is not None
        )
        if works:
            self.refuse_schema(judge, f"its server says: {cause_of(error)}")
        return state.takes_schema is False

    def note_garbled(self, judge: JudgeRecord, reply: Reply) -> bool:
        """Return whether a reply to a JSON schema is noise, so that text must be asked for instead.

        The reply is counted in the state of the judge. Once a reply is a JSON object, the judge
        takes a schema, and no later reply is noise. If `MOST_GARBLED` replies are noise before
        that, the judge takes no schema (`refuse_schema`). A reply that was withheld, refused, or
        cut off in its reasoning or in its object is no noise.

        Args:
            judge: the judge.
            reply: its reply in a schema.

        Raises:
            JudgeStoppedError: the judge takes none, and `replies=schema` requires one.
        """
        state = self.state_of(judge)
        if state.takes_schema or _shows_nothing(reply):
            return False
        if parse_object(reply.text) is not None:
            state.takes_schema = True
            return False
        state.garbled += 1
        if state.garbled >= MOST_GARBLED:
            number = f"{state.garbled} replies are no JSON object"
            self.refuse_schema(judge, f"{number}, the last: {shorten(reply.text)!r}")
        return True


def _shows_nothing(reply: Reply) -> bool:
    """Return whether a reply does not show if the judge takes a JSON schema.

    A reply that was cut off shows nothing if it is empty, begins as a JSON object, or was cut off
    in its reasoning. Any other reply shows nothing if it was withheld or is a refusal.
    """
    if reply.truncated:
        # A text that talks on is no object, whatever would have followed.
        beginning = reply.text.lstrip()[:1]
        return beginning in ("", "{") or reply.in_reasoning
    return bool(reply.reason_of_silence) or no_verdict(reply.text) == "refusal"


def is_about_schema(error: Exception) -> bool:
    """Return whether the message of a failed call says that its server takes no JSON schema.

    False whatever the message says if the server was busy or out of order (`is_rejection`).
    """
    return is_rejection(error) and ERROR_ABOUT_SCHEMA.search(cause_of(error)) is not None


def why_too_long(result: ModelOutput | Exception) -> str:
    """Return the server's message if a prompt did not fit the judge's context; else empty.

    It is also empty if the server was busy or out of order (`is_rejection`): a limit of tokens a
    minute is no limit of a prompt. An output tells it by its stop reason `model_length`, without
    usage. The result is then its text, or `TOO_LONG` if it has none.

    Args:
        result: the output or the error of the call.
    """
    if isinstance(result, Exception):
        cause = cause_of(result)
        return cause if is_rejection(result) and ERROR_ABOUT_LENGTH.search(cause) else ""
    # If the output has a usage, the prompt did fit, and the reply has filled the context.
    if _stop_of(result) == "model_length" and not result.usage:
        return result.completion or TOO_LONG
    return ""


def why_withheld(output: ModelOutput) -> str:
    """Return why the provider withheld an answer: `FILTERED` or `refusal`; empty if it did not.

    The output says so by its stop reason, or by a part that is marked as a refusal. A text that
    refuses does not count.
    """
    if _stop_of(output) == "content_filter":
        return FILTERED
    content = output.message.content if output.choices else ""
    is_refusal = not isinstance(content, str) and any(
        getattr(part, "refusal", None) for part in content
    )
    return "refusal" if is_refusal else ""


def has_reasoned_to_limit(output: ModelOutput) -> bool:
    """Return whether a reply was cut off at a limit of tokens, and tokens went into reasoning.

    Tokens went into reasoning if the message has a part with reasoning, if the usage counts
    reasoning tokens, or if no answer had begun (`is_cut_in_reasoning`).
    """
    if not ended_at_limit(output):
        return False
    content = output.message.content if output.choices else ""
    shows_reasoning = not isinstance(content, str) and any(
        part.type == "reasoning" for part in content
    )
    has_reasoned = shows_reasoning or bool(output.usage and output.usage.reasoning_tokens)
    return has_reasoned or is_cut_in_reasoning(output)


def is_cut_in_reasoning(output: ModelOutput) -> bool:
    """Return whether a reply was cut off at a limit of tokens before its answer began.

    Its answer had not begun if no text is left after the reasoning is removed. The whole text may
    be empty, as a server may not send the reasoning.
    """
    return ended_at_limit(output) and not strip_reasoning(output.completion).strip()


def ended_at_limit(output: ModelOutput) -> bool:
    """Return whether a reply ended at a limit of output tokens, or at the end of the context."""
    return _stop_of(output) in ("max_tokens", "model_length")


def _stop_of(output: ModelOutput) -> str | None:
    """Return why a model stopped writing; None if the server sent no reply at all."""
    return output.choices[0].stop_reason if output.choices else None


def settings_to_log(judging: Judging) -> dict[str, Any]:
    """Return the form of replies and the limits of each judge, as a log keeps them.

    The keys are `replies` (the option) and `limits`: by name of the judge's model, the attributes
    of `CallLimits` by name.
    """
    limits = {
        judge: limits_of_judge._asdict() for judge, limits_of_judge in judge_limits(judging).items()
    }
    return {"replies": judging.replies, "limits": limits}
