"""Recognize and redact secrets in everything that is written: results, logs and errors."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from podium.errors import UsageError

SECRET_NAME = re.compile(
    r"(^|_)(api_?key|key|token|secret|password|passwd|authorization|credentials?)$"
)
"""Matches names of arguments and variables that hold a secret, for example `openai_api_key`."""
SECRET_ASSIGNMENT = re.compile(r"(?i)\b(?:api_?key|token|secret|password)=")
"""Matches the name of a secret in arguments that are written as one text: `api_key=...`."""
SECRET_IN_ADDRESS = re.compile(r"://[^/@\s]*@")
"""Matches the user and password in an address: `://user:password@`."""
SECRET_SHAPES = re.compile(
    r"\b(?:sk|pk|hf|gsk|xai)[-_][A-Za-z0-9_-]{16,}|\bBearer +[A-Za-z0-9._~+/=-]{8,}"
)
"""Matches texts that look like API keys (`sk-...`, `hf_...`) or bearer tokens."""
SHORTEST = 8
"""Values of secrets with fewer characters are not hidden.

Short values, such as `none`, may occur in any text.
"""
HIDDEN_TEXT = "***"
"""Stands in place of a secret."""


def refuse_secrets(arguments: Mapping[str, Any]) -> None:
    """Raise UsageError if an argument of a filter contains a secret, at any depth.

    An argument contains a secret if its name is that of a secret, or if its text assigns a secret
    (`api_key=...`) or has anything that `redact` hides. lm-eval writes the arguments into its
    results.
    """
    for path, value in _leaves(arguments):
        name = path.rpartition(".")[2]
        holds_secret = False
        if isinstance(value, str):
            holds_secret = bool(SECRET_ASSIGNMENT.search(value)) or redact(value) != value
        if is_secret_name(name) or holds_secret:
            raise UsageError(
                f"{path} holds a secret, and lm-eval writes a filter's arguments into its results "
                "file: remove it from the YAML and set the provider's environment variable "
                "instead, as OPENAI_API_KEY"
            )


def is_secret_name(name: str) -> bool:
    """Return whether an argument or variable with this name holds a secret (`SECRET_NAME`).

    Upper and lower case count the same, and so do hyphens and underscores.
    """
    return bool(SECRET_NAME.search(name.lower().replace("-", "_")))


def is_secret(name: str, value: Any) -> bool:
    """Return whether an argument of a judge's model is secret by its name or its value.

    Arguments with `header` in their names are secret, too; true and false never are.
    """
    if isinstance(value, bool):
        return False
    is_named = is_secret_name(name) or "header" in name.lower()
    return is_named or (isinstance(value, str) and redact(value) != value)


def secrets_of(arguments: Mapping[str, Any]) -> list[str]:
    """Return the values of secret arguments (`is_secret`) as texts, without empty texts.

    If the value is a mapping or list, as for headers, all values in it are returned. Each text
    comes twice, the second time without `Bearer` before it.
    """
    values = [value for name, value in arguments.items() if is_secret(name, value)]
    texts = [str(leaf).strip() for value in values for _, leaf in _leaves(value)]
    secrets = []
    for text in texts:
        if text:
            secrets += [text, text.removeprefix("Bearer ").strip()]
    return secrets


def redact(text: str, secrets: Sequence[str] = ()) -> str:
    """Return a text with `***` in place of secrets.

    Secrets are the given ones and those in environment variables, if they have at least `SHORTEST`
    characters; users and passwords in addresses; and texts that look like keys.
    """
    environment = {value for name, value in os.environ.items() if is_secret_name(name)}
    # The longest secret is replaced first, because another one may be a part of it.
    for secret in sorted({*secrets, *environment}, key=len, reverse=True):
        if len(secret) >= SHORTEST:
            text = text.replace(secret, HIDDEN_TEXT)
    without_keys = SECRET_SHAPES.sub(HIDDEN_TEXT, text)
    return SECRET_IN_ADDRESS.sub(f"://{HIDDEN_TEXT}@", without_keys)


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the path and value of each leaf in nested mappings and lists.

    A path is the keys joined by dots, after `path` if it is not empty. Lists add nothing to it.
    """
    if isinstance(value, Mapping):
        for name, inner in value.items():
            inner_path = f"{path}.{name}" if path else str(name)
            yield from _leaves(inner, inner_path)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for inner in value:
            yield from _leaves(inner, path)
    else:
        yield path, value
