"""A judge that is asked with a JSON schema: it takes, ignores or rejects it, and keeps every
call."""

import json

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    modelapi,
)

CALLS = []
"""Configuration of every call, and its prompt."""
NEXT_HABITS = {}
"""The habits of the next calls, of which the last stays, of judges whose name is no habit."""
TALK = "Response A is about fruit. Response B is about tools."


class RejectedError(RuntimeError):
    status_code = 400


class BusyError(RuntimeError):
    status_code = 503


@modelapi(name="formed")
class FormedJudge(ModelAPI):
    """`formed/HABIT`: `takes` the schema (its text replies are unparsed), `ignores` or `rejects`
    it; `textual` rejects it, too, and its text replies are parsed; `odd` rejects it in words that
    do not say so, and its text replies are parsed; `odder` rejects all calls so; `broken` fails,
    and `busy` too; `reasons` first
    and is cut off by any limit; `talks` until its limit; `loops` in its reasons; `quotes` its
    prompt in them; `full` rejects long prompts; `caches` takes the schema, and has 9 of 10 input
    tokens in its prompt cache. The habits of other names are in `NEXT_HABITS`."""

    def __init__(
        self, model_name, base_url=None, api_key=None, config=GenerateConfig(), **model_args
    ):
        super().__init__(model_name, base_url, api_key, [], config)

    async def generate(self, input, tools, tool_choice, config):
        prompt, habit = input[-1].text, self.model_name
        if habit in NEXT_HABITS:
            habits = NEXT_HABITS[habit]
            habit = habits.pop(0) if len(habits) > 1 else habits[0]
        CALLS.append((config, prompt))
        schema = config.response_schema
        if habit == "broken":
            raise RuntimeError("the server is broken")
        if habit == "busy":
            raise BusyError("503: try again later")
        if habit == "odder" or (schema and habit == "odd"):
            raise RejectedError("400: Extra inputs are not permitted")
        if schema and habit in ("rejects", "textual"):
            raise RejectedError(
                "400: response_format of type json_schema is not supported by this model"
            )
        if habit == "full" and "too long an answer" in prompt:
            raise RejectedError("400: the request exceeds the available context size (4096 tokens)")
        if habit == "full" and "huge answer" in prompt:
            return ModelOutput.from_content(
                "formed", "maximum context length is 4096", stop_reason="model_length"
            )
        if habit == "reasons":
            return output("A", reasoned=True, cut=(config.max_tokens or 1e9) < 1000)
        if schema and habit != "ignores":
            fields = schema.json_schema.properties
            loops = habit == "loops" and "reasons" in fields
            reasons = prompt if habit == "quotes" else "Both are short."
            return output(
                json.dumps({name: value_of(own, reasons) for name, own in fields.items()}),
                cut=loops,
                cached=9 if habit == "caches" else 0,
            )
        return output(
            "A" if habit in ("full", "odd", "plain", "textual") else TALK, cut=habit == "talks"
        )


def value_of(schema, reasons):
    """Return the first value that a schema allows, and the reasons where it allows any text."""
    if schema.properties:
        return {name: value_of(own, reasons) for name, own in schema.properties.items()}
    return schema.enum[0] if schema.enum else reasons


def output(text, *, reasoned=False, cut=False, cached=0):
    content = [ContentReasoning(reasoning="Hm."), ContentText(text=text)] if reasoned else text
    choice = ChatCompletionChoice(
        message=ChatMessageAssistant(content=content), stop_reason="max_tokens" if cut else "stop"
    )
    usage = ModelUsage(
        input_tokens=10 - cached,
        output_tokens=5,
        total_tokens=15,
        input_tokens_cache_read=cached or None,
    )
    return ModelOutput(model="formed", choices=[choice], usage=usage)
