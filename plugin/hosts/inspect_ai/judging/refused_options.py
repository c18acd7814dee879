"""Options of calls that a judge's server refuses: temperature, token probabilities, token limit.

The newest models of a provider often refuse an option that all models before them took.
"""

import re
from copy import copy
from typing import Any

from inspect_ai.model import GenerateConfig, Model

from podium.hosts.inspect_ai.judging.call_control import JudgeStoppedError, cause_of, status_of
from podium.printable import tell

OPTION_WORDS = {
    "logprobs": re.compile(r"log[ _-]?prob|token probabilit", re.IGNORECASE),
    "temperature": re.compile(r"\btemperature\b", re.IGNORECASE),
    "max_tokens": re.compile(
        r"\bmax[ _]?(?:\w+[ _]?)?tokens\b|maximum number of (?:\w+ )?tokens", re.IGNORECASE
    ),
}
"""How the error message of a server names an option, by its name in Inspect."""
SHOWN_OPTIONS = {
    "logprobs": "token probabilities",
    "temperature": "temperature",
    "max_tokens": "limit of output tokens",
}
"""The options in words."""
REFUSAL_WORDS = re.compile(
    r"not supported|unsupported"
    r"|(?:not|n't|only) (?:support|accept|allow|take|permit|enabled|valid)"
    r"|not (?:be )?(?:allowed|permitted|available|enabled|compatible|set|specified|used)"
    r"|deprecated|incompatible|unknown|unrecognized|unrecognised|unexpected|extraneous|invalid"
    r"|forbidden|may only|must be"
    r"|only .{0,40}(?:allowed|supported|accepted)"
    r"|too (?:large|high|big)"
    r"|remove"
    r"|(?:greater|larger|higher|less) than"
    r"|exceed|maximum allowed",
    re.IGNORECASE,
)
"""Matches the words with which servers refuse an option."""
NO_REFUSAL = frozenset({401, 404, 408, 409, 425, 429})
"""HTTP statuses below 500 of errors that are not about what the call asks."""
STATUSES_OF_SERVERS = frozenset({500, 501})
"""HTTP statuses from 500 on with which some servers reject what a call asks.

llama.cpp's server gave 500 for a prompt that is too long, for a JSON schema and for images.
"""
SETTINGS_OF_OPTION = {"logprobs": ("logprobs", "top_logprobs")}
"""Settings of Inspect that an option consists of, if it is not one of its own name."""


def refused_option(config: GenerateConfig, error: Exception) -> str | None:
    """Return the option of a call that its server refuses, as its error message says.

    Args:
        config: the settings of the call; only options that are set in it can be refused.
        error: the error of the call.

    Returns:
        A key of `OPTION_WORDS`, the first that the message names; None if the error has another
        cause.
    """
    is_fault_of_server = (status_of(error) or 0) >= 500
    if is_fault_of_server or not is_rejection(error):
        return None
    cause = cause_of(error)
    if not REFUSAL_WORDS.search(cause):
        return None
    for option, words in OPTION_WORDS.items():
        if _is_set(config, option) and words.search(cause):
            return option
    return None


def refusal_text(name: str, option: str, error: Exception) -> str:
    """Return that a model takes no option of calls, with the words of its server."""
    return f"{name} takes no {SHOWN_OPTIONS[option]} ({_words_of_server(error)})"


def _words_of_server(error: Exception) -> str:
    """Return what the server says in an error."""
    return f"its server says: {cause_of(error)}"


def leave_out_refused(refused: dict[str, str], name: str, option: str, error: Exception) -> None:
    """Note that a model refuses an option; the first time, print a message.

    Args:
        refused: the refused options of the model with the words of its server; changed in place.
        name: name of the model in the message.
        option: the option, as `refused_option` returns it.
        error: the error of the call.
    """
    if option not in refused:
        tell(f"{refusal_text(name, option, error)}: it is asked without in this run")
    refused[option] = _words_of_server(error)


def is_rejection(error: Exception) -> bool:
    """Return whether a call may have failed because of what it asks, by its HTTP status.

    It may if the status is unknown, below 500 and not in `NO_REFUSAL`, or in `STATUSES_OF_SERVERS`.
    It did not if the server was busy (429, 503, 529), its gateway failed (502, 504), or no call was
    made (JudgeStoppedError), whatever the message says.
    """
    if isinstance(error, JudgeStoppedError):
        return False
    status = status_of(error)
    if status is None or status in STATUSES_OF_SERVERS:
        return True
    return status < 500 and status not in NO_REFUSAL


def _is_set(config: GenerateConfig, option: str) -> bool:
    """Return whether the settings of a call set an option."""
    return bool(config.logprobs) if option == "logprobs" else getattr(config, option) is not None


def without_options(config: GenerateConfig, options: Any) -> GenerateConfig:
    """Return the settings of a call without some options."""
    names = [name for option in options for name in SETTINGS_OF_OPTION.get(option, (option,))]
    return config.model_copy(update=dict.fromkeys(names)) if names else config


def model_without(model: Model, options: Any) -> Model:
    """Return a model whose own settings lack some options; the same model if it has none of them.

    The settings of a call are added to those of its model, so they cannot remove one.
    """
    plain = without_options(model.config, options)
    if plain == model.config:
        return model
    changed = copy(model)
    changed.config = plain
    return changed
