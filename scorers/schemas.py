"""Replies as JSON: the schema that a provider enforces, and the strict parsing of such a reply."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from podium.scorers.prompt import Settings
from podium.scorers.reply import Rating, Reply, Verdict, no_verdict

Allowed = tuple[str, ...] | Mapping[str, Any] | None
"""What one field may hold.

It is a tuple (one of these texts), None (any text) or a mapping (an inner object with these fields;
the values of the mapping say what each of them may hold).
"""
Fields = Mapping[str, Allowed]
"""What each field of an object may hold, by its name."""
Answers = Mapping[str, Verdict | Rating]
"""The verdict or rating by allowed value of the last field."""
MOST_LISTED_VALUES = 12
"""Largest number of allowed values that a prompt lists. If there are more, it names only the first
and the last value."""


@dataclass(frozen=True, slots=True)
class ReplyForm:
    """The JSON object in which a realization's reply can be asked for.

    Attributes:
        fields: function that returns the allowed values of each field, in the order in which the
            fields are written. Grades are enumerated because providers ignore `minimum` and
            `maximum`.
        read: function that converts an object with exactly these fields and values to a verdict or
            rating.
        write: function that converts a text reply and its verdict or rating to an object, for the
            stand-in judge.
        meaning: sentences of the prompt that say what the values mean.
        tokens: limit of output tokens of such a reply.
        choices: function that returns the verdict or rating of each value of the last field. None
            if token probabilities cannot grade the field.
    """

    fields: Callable[[Settings], Fields]
    read: Callable[[Mapping[str, Any], Settings], Verdict | Rating]
    write: Callable[[Reply, Verdict | Rating, Settings], Mapping[str, Any]]
    meaning: str = ""
    tokens: int = 64
    choices: Callable[[Settings], Answers] | None = None

    def schema(self, settings: Settings, *, brief: bool = False) -> dict[str, Any]:
        """Return the JSON schema of a reply; with `brief`, without fields of free text."""
        return _schema_of(self._fields(settings, brief))

    def paragraph(self, settings: Settings, *, brief: bool = False) -> str:
        """Return the last paragraph of a prompt, which asks for the object.

        It overrides the form that the prompt names before.

        Args:
            settings: what shapes the prompts of the run.
            brief: whether the object has no fields of free text.
        """
        example = json.dumps(_example_reply(self._fields(settings, brief)), ensure_ascii=False)
        meaning = f"\n{self.meaning}" if self.meaning else ""
        return (
            "Whatever form is named above, answer with one JSON object and nothing else: "
            f"{example}{meaning}"
        )

    def _fields(self, settings: Settings, brief: bool) -> Fields:
        """Return what each field may hold, by name; with `brief`, without fields of free text."""
        fields = self.fields(settings)
        return _without_text(fields) if brief else fields

    def parse(self, reply: Reply, settings: Settings) -> Verdict | Rating | str:
        """Parse a reply that is one object with these fields and nothing else.

        The fields of free text may be missing, but only all together.

        Returns:
            The verdict or rating of the reply. If the reply is unparsed, the reason: that of
            `Reply.reason_of_silence`, `refusal` or `bad JSON`.
        """
        if reply.reason_of_silence:
            return reply.reason_of_silence
        answer = parse_object(reply.text)
        fields = self.fields(settings)
        if answer is not None:
            allowed_forms = (fields, _without_text(fields))
            if any(_is_allowed(answer, form) for form in allowed_forms):
                return self.read(answer, settings)
        return "refusal" if no_verdict(reply.text) == "refusal" else "bad JSON"


def parse_object(text: str) -> Mapping[str, Any] | None:
    """Parse a text that is one JSON object and nothing else.

    Returns:
        The object. None if the text is something else, or if a key of the object or of an inner
        object is repeated.
    """
    try:
        value = json.loads(text, object_pairs_hook=refuse_repeats)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def refuse_repeats(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    """Build a JSON object from its keys and values; raise ValueError if a key is repeated."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key is repeated")
    return dict(pairs)


def choice_form(
    field: str,
    answers: Callable[[Settings], Answers],
    *,
    reasons: bool = False,
    meaning: str = "",
    tokens: int = 64,
) -> ReplyForm:
    """Build the form of a reply that chooses one of some answers.

    Args:
        field: name of the field with the choice.
        answers: function that returns the verdict or rating of each allowed value of the field.
        reasons: whether a field `reasons` of free text stands before the field.
        meaning: sentences of the prompt that say what the values mean.
        tokens: limit of output tokens of such a reply.
    """
    reasons_field: Fields = {"reasons": None} if reasons else {}

    def write(reply: Reply, parsed: Verdict | Rating, settings: Settings) -> Mapping[str, Any]:
        """Return the object with the value of the parsed label and, if it has the field, reasons.

        The reasons are the reply without its last paragraph, which is the verdict; "" if the reply
        has one paragraph. The parsed label must be that of an answer.
        """
        values = answers(settings).items()
        value_of_label = next(value for value, answer in values if answer.label == parsed.label)
        text_before = reply.text.rpartition("\n\n")[0]
        return {**dict.fromkeys(reasons_field, text_before), field: value_of_label}

    return ReplyForm(
        fields=lambda settings: {**reasons_field, field: tuple(answers(settings))},
        read=lambda answer, settings: answers(settings)[answer[field]],
        write=write,
        meaning=meaning,
        tokens=tokens,
        choices=answers,
    )


def _without_text(fields: Fields) -> Fields:
    """Return the fields without those of free text; inner objects stay."""
    return {name: allowed for name, allowed in fields.items() if allowed is not None}


def _schema_of(allowed: Allowed) -> dict[str, Any]:
    """Return the JSON schema of a value: of a text, or of an object with exactly some fields.

    Args:
        allowed: what the value may be; for an object, the `Fields` of the object.
    """
    if allowed is None:
        return {"type": "string"}
    if not isinstance(allowed, Mapping):
        return {"type": "string", "enum": [*allowed]}
    properties = {name: _schema_of(values) for name, values in allowed.items()}
    return {
        "type": "object",
        "properties": properties,
        "required": [*allowed],
        "additionalProperties": False,
    }


def _example_reply(allowed: Allowed) -> Any:
    """Return an example of a reply that describes the allowed values: `{"grade": "1 to 100"}`.

    Args:
        allowed: what the value may be; for an object, the `Fields` of the object.

    Returns:
        A text that describes the allowed texts: all of them with `or` between or, of more than
        `MOST_LISTED_VALUES`, the first and the last with `to` between. For an object, a dictionary
        with the example of each of its fields.
    """
    if isinstance(allowed, Mapping):
        return {name: _example_reply(values) for name, values in allowed.items()}
    if allowed is None:
        return "your reasons in a few sentences"
    if len(allowed) <= MOST_LISTED_VALUES:
        return " or ".join(allowed)
    return f"{allowed[0]} to {allowed[-1]}"


def _is_allowed(answer: Any, allowed: Allowed) -> bool:
    """Return whether a value of a reply is allowed.

    An object must have exactly the allowed fields, each with an allowed value. Any other value must
    be a text.

    Args:
        answer: the value in the reply.
        allowed: what the value may be; for an object, the `Fields` of the object.
    """
    if isinstance(allowed, Mapping):
        if not isinstance(answer, Mapping) or answer.keys() != allowed.keys():
            return False
        return all(_is_allowed(answer[name], values) for name, values in allowed.items())
    return isinstance(answer, str) and (allowed is None or answer in allowed)
