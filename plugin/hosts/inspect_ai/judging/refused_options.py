"""Options of calls that a judge's server refuses: temperature, token probabilities, token limit.

The newest models of a provider often refuse an option that all models before them took.
"""

import re
from collections.abc import Iterable
from copy import copy

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
"""Matches how the error message of a server names an option, by the option's name in Inspect."""
SHOWN_OPTIONS = {
    "logprobs": "token probabilities",
    "temperature": "temperature",
    "max_tokens": "limit of output tokens",
}
"""How messages name the options, by the name in Inspect."""
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
"""Matches the words with which servers refuse an option, such as `is not supported`."""
NO_REFUSAL = frozenset({401, 404, 408, 409, 425, 429})
"""HTTP statuses below 500 of errors that are not about what the call asks."""
STATUSES_OF_SERVERS = frozenset({500, 501})
"""HTTP statuses from 500 on with which some servers reject what a call asks.

llama.cpp's server gave 500 for a prompt that is too long, for a JSON schema and for images.
"""
SETTINGS_OF_OPTION = {"logprobs": ("logprobs", "top_logprobs")}
"""Names of the settings of Inspect that an option consists of, if there are several.

Any other option is the one setting of its name.
"""


def refused_option(config: GenerateConfig, error: Exception) -> str | None:
    """Return the option of a call that its server refuses, as its error message says.

    Args:
        config: the settings of the call; only options that are set in it can be refused.
        error: the error of the call.

    Returns:
        The first key of `OPTION_WORDS` that the message names and the settings set. None if there
        is none, if the message has no words of refusal, or if the HTTP status shows another cause
        (`is_rejection`) or is 500 or above.
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
    """Write that a model takes no such option of calls, with the words of its server.

    Args:
        name: name of the model in the message.
        option: the option, a key of `SHOWN_OPTIONS`.
        error: the error of the call.
    """
    return f"{name} takes no {SHOWN_OPTIONS[option]} ({_words_of_server(error)})"


def _words_of_server(error: Exception) -> str:
    """Write what the server says in an error: `its server says: ...`."""
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

    True in three cases: the status is unknown; it is below 500 and not in `NO_REFUSAL`; or it is in
    `STATUSES_OF_SERVERS`. The message does not count. So the result is False if the server was busy
    (429, 503, 529), if its gateway failed (502, 504), or if no call was made (JudgeStoppedError).
    """
    if isinstance(error, JudgeStoppedError):
        return False
    status = status_of(error)
    if status is None or status in STATUSES_OF_SERVERS:
        return True
    return status < 500 and status not in NO_REFUSAL


def _is_set(config: GenerateConfig, option: str) -> bool:
    """Return whether the settings of a call set an option, a key of `OPTION_WORDS`."""
    return bool(config.logprobs) if option == "logprobs" else getattr(config, option) is not None


def settings_of_options(options: Iterable[str]) -> set[str]:
    """Return the names of the settings of Inspect that options consist of (`SETTINGS_OF_OPTION`).

    Args:
        options: names of options, as `refused_option` returns them. A name that is no setting of
            Inspect, such as `schema`, is returned, too.
    """
    names: set[str] = set()
    for option in options:
        names.update(SETTINGS_OF_OPTION.get(option, (option,)))
    return names


def without_options(config: GenerateConfig, options: Iterable[str]) -> GenerateConfig:
    """Return settings of a call in which the given options are None.

    It is `config` itself if none of the options is set in it, else a changed copy.

    Args:
        config: the settings, which are not changed.
        options: names of options.
    """
    set_names = [
        name
        for name in settings_of_options(options)
        if name in GenerateConfig.model_fields and getattr(config, name) is not None
    ]
    return config.model_copy(update=dict.fromkeys(set_names)) if set_names else config


def model_without(model: Model, options: Iterable[str]) -> Model:
    """Return a model whose own settings lack the given options.

    It is `model` itself if its settings have none of the options, else a changed copy. The settings
    of a call are added to those of its model, so that they cannot remove an option.

    Args:
        model: the model, which is not changed.
        options: names of options.
    """
    plain = without_options(model.config, options)
    if plain is model.config:
        return model
    changed = copy(model)
    changed.config = plain
    return changed
