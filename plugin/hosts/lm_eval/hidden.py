"""What of a judge's arguments must not be written anywhere: not in results, not in logs, not in errors."""

from collections.abc import Mapping, Sequence
from typing import Any

from podium.hosts.lm_eval.options import LM_EVAL, RankerOptions, pairs
from podium.hosts.lm_eval.secrets import HIDDEN, is_secret_name, redacted


def secrets_in(options: RankerOptions) -> list[str]:
    """Return the secret values among all arguments of the judges."""
    typed = [one.partition(",")[2] for one in options.judges if one.startswith(LM_EVAL)]
    found = [secrets_of(options.judge_args), *(secrets_of(pairs(one)) for one in typed if one)]
    return [secret for secrets in found for secret in secrets]


def secrets_of(arguments: Mapping[str, Any]) -> list[str]:
    """Return the texts in arguments that are secret by name; of a mapping (headers), all."""
    return [text for key, value in arguments.items() if is_secret(key, value) for text in _texts(value)]


def is_secret(name: str, value: Any) -> bool:
    """Whether an argument must not be written anywhere."""
    if isinstance(value, bool):
        return False
    return is_secret_name(name) or "header" in name.lower() or (isinstance(value, str) and redacted(value) != value)


def without(secrets: Sequence[str], text: str) -> str:
    """Return a text with these secrets, and whatever has a key's shape, hidden."""
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return redacted(text)


def _texts(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [text for one in value.values() for text in _texts(one)]
    if isinstance(value, list | tuple):
        return [text for one in value for text in _texts(one)]
    text = str(value).strip()
    return [text, text.removeprefix("Bearer ").strip()] if text else []
