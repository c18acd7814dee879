"""Make the judges of the filter and of the hosts' rankers: Inspect models that hide secrets."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from typing import Any

from inspect_ai.model import Model, ModelAPI, get_model
from rich.text import Text

import podium.hosts.inspect_ai.judging.offline_model  # noqa: F401 - registers the provider `podium`
from podium.errors import UsageError
from podium.hosts.ranker_options import refuse_lm_eval_model
from podium.hosts.secrets import is_secret, redact, secrets_of
from podium.notices.option_forms import option_text


def judge_model(name: str, arguments: Mapping[str, Any], option: str = "") -> Model:
    """Return the Inspect model of a name, whose errors and logs contain no secret.

    Args:
        name: name of the model with its provider, such as `openai/gpt-5`.
        arguments: arguments of the provider. Secret ones are used, and then left out of
            `model_args`.
        option: the option with the judge, for error messages; empty for that of the host's ranker.

    Raises:
        UsageError: the name is a model of lm-eval, the argument `base_url` holds a password, or the
            model cannot be made.
    """
    option = option or option_text("judge")
    refuse_lm_eval_model(name, option)
    address = str(arguments.get("base_url") or "")
    if redact(address) != address:
        raise UsageError(
            "the judge's base_url holds a password: give it as an argument or environment variable"
        )
    try:
        # lm-eval writes its results to stdout, so messages of providers go to stderr.
        with redirect_stdout(sys.stderr):
            model = get_model(name, memoize=False, **arguments)
    # Providers raise errors of various classes, for example if a package is not installed.
    except Exception as error:
        message = Text.from_markup(str(error)).plain
        problem = " ".join(message.split())
        problem = problem.removeprefix("ERROR: ")
        raise UsageError(f"{option} {name}: {redact(problem, secrets_of(arguments))}") from None
    _redact_errors(model.api, secrets_of(arguments))
    _redact_address(model.api)
    # The remaining arguments are written into the log and are part of the judge's identity.
    model.model_args = {
        key: value for key, value in model.model_args.items() if not is_secret(key, value)
    }
    return model


def _redact_errors(api: ModelAPI, secrets: Sequence[str]) -> None:
    """Change `api.generate` in place so that the messages of its errors contain no secrets.

    Servers may repeat a secret in an error, and Inspect logs errors. The errors and their causes
    keep their class. Texts in their `args` and `message` are changed, and no other attribute.

    Args:
        api: the provider of the judge.
        secrets: texts that are replaced (`redact`, which leaves very short ones).
    """
    generate = api.generate

    async def generate_redacted(*arguments: Any, **options: Any) -> Any:
        """Call the judge, and redact the messages of any error and its causes."""
        try:
            return await generate(*arguments, **options)
        except Exception as error:
            cause: Any = error
            while cause is not None:
                cause.args = tuple(
                    redact(part, secrets) if isinstance(part, str) else part for part in cause.args
                )
                if isinstance(getattr(cause, "message", None), str):
                    cause.message = redact(cause.message, secrets)
                cause = cause.__cause__ or cause.__context__
            raise

    api.generate = generate_redacted  # type: ignore[method-assign]


def _redact_address(api: ModelAPI) -> None:
    """Hide, in place, the password in the address of `api`, which Inspect logs.

    The client still uses the whole address. Nothing changes if the address has no password.
    """
    address = api.base_url
    initialize = api.initialize
    if not address or redact(address) == address:
        return

    def initialize_with_password() -> None:
        """Make the client with the whole address. Inspect repeats this if a key has expired."""
        api.base_url = address
        try:
            initialize()
        finally:
            api.base_url = redact(address)

    api.base_url = redact(address)
    api.initialize = initialize_with_password  # type: ignore[method-assign]
