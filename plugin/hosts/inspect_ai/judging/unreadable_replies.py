"""Answers of a server that its client cannot read: without choices, not JSON, or of another API."""

import json

from inspect_ai.model import Model

from podium.hosts.inspect_ai.judging.call_timeouts import name_with_address

NO_CHOICES = "the reply has no choices"
"""Reason of `UnreadableReplyError`: the answer has no list of choices."""
NO_JSON = "the reply is no valid JSON"
"""Reason of `UnreadableReplyError`: the body of the answer cannot be parsed."""
OTHER_FORMAT = "the reply is no chat completion"
"""Reason of `UnreadableReplyError`: the answer is JSON, but of another API."""


class UnreadableReplyError(RuntimeError):
    """A server answered, and the client of its provider cannot read the answer.

    Attributes:
        reason: what is wrong with the answer, such as `the reply has no choices`.
        message: the reason with the model and its server's address. Inspect shows it.
    """

    def __init__(self, reason: str, detail: str) -> None:
        self.reason = reason
        self.message = f"{reason}: {detail}"
        super().__init__(self.message)


def as_unreadable_error(model: Model, failure: BaseException) -> UnreadableReplyError | None:
    """Return a new error if a call failed because its answer cannot be read, else None.

    Args:
        model: the model that was called.
        failure: the error of the call, without Inspect's wrappers.
    """
    where = name_with_address(model)
    if _misses_choices(failure):
        return UnreadableReplyError(NO_CHOICES, where)
    if is_decode_error(failure):
        return UnreadableReplyError(NO_JSON, f"{where}: {failure}")
    if "non-ChatCompletion" in str(failure):
        return UnreadableReplyError(OTHER_FORMAT, f"{where}: {failure}")
    return None


def is_decode_error(failure: BaseException) -> bool:
    """Return whether a call failed because the body of the answer is no valid JSON."""
    if isinstance(failure, json.JSONDecodeError):
        return True
    # A wrapper may keep only the text of the error, which begins with the name of its class.
    return str(failure).startswith("JSONDecodeError")


def _misses_choices(failure: BaseException) -> bool:
    """Return whether a call failed because the answer has no list of choices.

    Inspect then iterates over None and raises a TypeError. It is recognised by its traceback: a
    function in it has a variable `response` or `completion` whose attribute `choices` is None.
    """
    if not isinstance(failure, TypeError):
        return False
    place = failure.__traceback__
    while place is not None:
        for name in ("response", "completion"):
            answer = place.tb_frame.f_locals.get(name)
            if answer is not None and getattr(answer, "choices", ()) is None:
                return True
        place = place.tb_next
    return False
