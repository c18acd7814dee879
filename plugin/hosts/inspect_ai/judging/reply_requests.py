"""Requests for one reply of a judge: a verdict, or a checklist.

Every call to a judge is made for such a request, so all follow the same rules: a JSON schema where
the judge takes one, limits of tokens, and further attempts.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from podium.scorers.checklist import (
    BRIEF_SCHEMA,
    CHECKLIST_SCHEMA,
    CHECKLIST_TOKENS,
    checklist_prompt,
)
from podium.scorers.judging import Judging
from podium.scorers.probabilities import ALTERNATIVES, FEW_ALTERNATIVES
from podium.scorers.prompt import Texts

Schema = Literal["full", "brief"]
"""Only a `full` JSON schema has a field for reasons, if the realization asks for them."""


@dataclass(frozen=True, slots=True)
class ReplyRequest:
    """A request for one reply.

    Attributes:
        judging: how the judge is asked.
        texts: the texts that the prompts show.
        call: function from the number of the attempt to the name under which the output of the
            call is cached.
        media: media that the prompts show.
        text_prompt: function from the number of the attempt, from 1, to the prompt for a text.
        schema_prompt: function from the kind of schema and the number of the attempt to the prompt.
        json_schema: function from the kind of schema to the JSON schema; None if the reply is never
            asked for with one.
        text_tokens: limit of output tokens of a text; None for no limit.
        schema_tokens: limit of output tokens of a JSON reply.
        schema_first: whether the first attempt has a schema.
        alternatives: function from whether the reply is asked for with a schema to the number of
            alternatives of each token that are asked for; 0 for none.
    """

    judging: Judging
    texts: Texts
    call: Callable[[int], str]
    text_prompt: Callable[[int], str]
    schema_prompt: Callable[[Schema, int], str]
    json_schema: Callable[[Schema], Mapping[str, Any]] | None
    text_tokens: int | None
    schema_tokens: int
    schema_first: bool
    alternatives: Callable[[bool], int]
    media: Any = ()

    def schema_of(self, attempt: int) -> Schema | None:
        """Return the schema of an attempt: first `full`, then `brief`; None for a text.

        The first attempt is for a text unless `schema_first`. Without a `json_schema`, all attempts
        are for a text.

        Args:
            attempt: number of the attempt, from 1.
        """
        schema_attempt = attempt if self.schema_first else attempt - 1
        if self.json_schema is None or schema_attempt == 0:
            return None
        return "full" if schema_attempt == 1 else "brief"


def verdict_request(
    judging: Judging, texts: Texts, call: Callable[[int], str], media: Any = ()
) -> ReplyRequest:
    """Return the request for a verdict on the responses in `texts`, or for a rating of one.

    Args:
        judging: how the judge is asked.
        texts: the item's texts, with two responses, or one to be rated.
        call: function from the number of the attempt to the name under which the output of the
            call is cached.
        media: media that the prompt shows.
    """
    form = judging.form

    def write_schema(schema: Schema) -> Mapping[str, Any]:
        """Return the JSON schema of the verdict; empty if the realization has none."""
        is_brief = schema == "brief"
        return form.schema(judging.settings, brief=is_brief) if form else {}

    def write_schema_prompt(schema: Schema, _attempt: int) -> str:
        """Return the prompt that asks for JSON, which is the same in all attempts."""
        is_brief = schema == "brief"
        return judging.schema_prompt(texts, brief=is_brief)

    return ReplyRequest(
        judging=judging,
        texts=texts,
        call=call,
        text_prompt=partial(judging.prompt, texts),
        schema_prompt=write_schema_prompt,
        json_schema=write_schema if form else None,
        text_tokens=judging.realization.tokens,
        schema_tokens=form.tokens if form else 0,
        schema_first=judging.asks_schema_first,
        alternatives=partial(_alternatives_of, judging),
        media=media,
    )


def checklist_request(judging: Judging, texts: Texts, call: Callable[[int], str]) -> ReplyRequest:
    """Return the request for the checklist of an item.

    The first attempt has a schema, unless `replies=text`, also where verdicts are first asked for
    as text: a checklist is no verdict, so the form of its reply decides nothing. No token
    probabilities are asked for.

    Args:
        judging: how the judge is asked.
        texts: the item's texts, without responses.
        call: function from the number of the attempt to the name under which the output of the
            call is cached.
    """

    def write_schema_prompt(schema: Schema, attempt: int) -> str:
        """Return the prompt that asks for the checklist as JSON in an attempt."""
        is_brief = schema == "brief"
        return checklist_prompt(texts, judging.settings, attempt, brief=is_brief)

    return ReplyRequest(
        judging=judging,
        texts=texts,
        call=call,
        text_prompt=partial(checklist_prompt, texts, judging.settings),
        schema_prompt=write_schema_prompt,
        json_schema=None if judging.replies == "text" else _schema_of_checklist,
        text_tokens=CHECKLIST_TOKENS,
        schema_tokens=CHECKLIST_TOKENS,
        schema_first=True,
        alternatives=lambda _: 0,
    )


def _schema_of_checklist(schema: Schema) -> Mapping[str, Any]:
    """Return the JSON schema of a checklist: a list of questions, or for `brief` three fields.

    A list may go on until the limit of tokens; a fixed number of fields ends.
    """
    return BRIEF_SCHEMA if schema == "brief" else CHECKLIST_SCHEMA


def _alternatives_of(judging: Judging, structured: bool) -> int:
    """Return how many alternatives of each token are asked for with a verdict.

    0 if token probabilities are not read, `FEW_ALTERNATIVES` if reasons come before the verdict in
    a text, else `ALTERNATIVES`.

    Args:
        judging: how the judge is asked.
        structured: whether the reply is asked for with a JSON schema.
    """
    if not judging.has_probabilities(structured):
        return 0
    # Reasons have many tokens. Few alternatives are asked for, as they would fill the log.
    reasons_first = judging.realization.has_reasons(judging.settings) and not structured
    return FEW_ALTERNATIVES if reasons_first else ALTERNATIVES
