"""podium's options in Inspect's commands, in the metadata of a run, and in the environment."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from podium.errors import UsageError, unknown_name_error
from podium.hosts.ranker_options import (
    ARGUMENTS_OF_TOURNAMENTS,
    OPTIONS,
    PREFIX,
    host_form,
    options_from,
    parse_pairs,
)
from podium.hosts.secrets import secrets_of
from podium.notices.option_forms import OptionForm

VARIABLE_PREFIX = "PODIUM_"
"""Start of the environment variables with options: `PODIUM_RANKER`, `PODIUM_RANKER_SET`."""
CHECKED_VARIABLE = f"{VARIABLE_PREFIX}OPTIONS_CHECKED"
"""Environment variable that is set if a command with `--ranker` has checked the options."""
METADATA = "INSPECT_EVAL_METADATA"
"""Inspect's environment variable with the metadata of runs: `KEY=VALUE`, separated by spaces."""
ABSENT_OPTIONS = frozenset({"ranker_label"})
"""Names in `OPTIONS` that Inspect's commands do not have: a command may run several models."""
JUDGE_ARGS = "ranker_judge_args"
"""Name in `OPTIONS` of the option that may hold secrets."""
HELP = {
    "ranker": (
        "Rank the models when the run has ended, with those of earlier logs of the task in "
        "--log-dir; `podium list rankers` shows the names"
    ),
    "ranker_against": (
        "Logs of other models, in place of those in --log-dir: files or folders, each optionally "
        "LABEL=PATH"
    ),
    "ranker_judge": (
        "Let an Inspect model judge the responses after the eval (openai/gpt-5, podium/offline), "
        "instead of ranking by scores. Several are a jury"
    ),
}
"""Help of the options that do something else than in lm-eval, by name in `OPTIONS`."""
INSPECT_OPTIONS = {
    name: option._replace(help=HELP.get(name, option.help))
    for name, option in OPTIONS.items()
    if name not in ABSENT_OPTIONS
}
"""The options that Inspect's commands have, by their name in metadata."""
FLAGS = {f"--{name.replace('_', '-')}": name for name in INSPECT_OPTIONS}
"""The name of each option in metadata, by the option as it is typed."""
_as_option = partial(host_form, option="--{flag} {value}", absent=ABSENT_OPTIONS)
_as_metadata = partial(host_form, option="--metadata {name}={value}", absent=ABSENT_OPTIONS)
typed_in_inspect = _as_option(argument="-T {name}={value}")
"""Writes an option for `inspect eval`, or for podium's command if Inspect's has none."""
typed_in_metadata = _as_metadata(argument="-T {name}={value}")
"""Writes an option for the metadata of a run, or for podium's command."""
typed_for_tournament = _as_option(argument="-T {name}={value}", arguments=ARGUMENTS_OF_TOURNAMENTS)
"""As `typed_in_inspect`, of a tournament that is played alone."""
typed_for_tournament_in_metadata = _as_metadata(
    argument="-T {name}={value}", arguments=ARGUMENTS_OF_TOURNAMENTS
)
"""As `typed_in_metadata`, of a tournament that is played alone."""
typed_for_judge = _as_option(
    argument="--ranker-args {name}={value}", arguments=ARGUMENTS_OF_TOURNAMENTS
)
"""As `typed_in_inspect`, of a tournament that follows an eval."""
typed_for_judge_in_metadata = _as_metadata(
    argument="--metadata ranker_args={name}={value}", arguments=ARGUMENTS_OF_TOURNAMENTS
)
"""As `typed_in_metadata`, of a tournament that follows an eval."""


def split_ranker_options(arguments: Sequence[str]) -> tuple[list[str], dict[str, Any]]:
    """Split arguments into those of Inspect, and the values of podium's options.

    Returns:
        Inspect's arguments, and the values by name in `INSPECT_OPTIONS`: a text for an option with
        one value (the last one that was typed), a list of texts for an option with several, and
        True for an option without a value, or the text after its `=`.

    Raises:
        UsageError: there is no such option, or its value is missing.
    """
    for_inspect: list[str] = []
    values: dict[str, Any] = {}
    rest = iter(arguments)
    for argument in rest:
        flag, equals, text = argument.partition("=")
        if flag != f"--{PREFIX}" and not flag.startswith((f"--{PREFIX}-", f"--{PREFIX}_")):
            for_inspect.append(argument)
            continue
        if flag not in FLAGS:
            raise unknown_name_error("option", flag, FLAGS)
        name = FLAGS[flag]
        if not INSPECT_OPTIONS[name].shown:
            values[name] = text if equals else True
            continue
        value = text if equals else next(rest, None)
        if value is None:
            raise UsageError(f"{flag} needs a value: {flag} {INSPECT_OPTIONS[name].shown}")
        values[name] = value if INSPECT_OPTIONS[name].is_single else [*values.get(name, ()), value]
    return for_inspect, values


def to_environment(values: Mapping[str, Any]) -> dict[str, str]:
    """Return options as environment variables, from which `values_asked_for` reads them.

    Several values of one option are a list in JSON, and True is `true`. The variable
    `CHECKED_VARIABLE` is always among them.

    Args:
        values: the values by name in `INSPECT_OPTIONS`, as `split_ranker_options` returns them.
    """
    variables = {CHECKED_VARIABLE: "true"}
    for name, value in values.items():
        plain = value[0] if isinstance(value, list) and len(value) == 1 else value
        # A text that begins with `[` would be read as a list.
        is_text = isinstance(plain, str) and not plain.startswith("[")
        variables[f"{VARIABLE_PREFIX}{name.upper()}"] = plain if is_text else json.dumps(plain)
    return variables


def values_asked_for(metadata: Mapping[str, Any], environment: Mapping[str, str]) -> dict[str, Any]:
    """Return the options that a run asks for, by name in `INSPECT_OPTIONS`; empty without a ranker.

    They are named by the run's metadata (`ranker=a,b`, `ranker_set=...`), by PODIUM_RANKER and
    PODIUM_RANKER_..., and by INSPECT_EVAL_METADATA. Of an option that several of these name, the
    value of the first of them counts. Empty values count as not given.

    Raises:
        UsageError: there is a ranker, and an option that Inspect's commands do not have, or a
            secret in the metadata.
    """
    # Inspect ignores INSPECT_EVAL_METADATA if any `--metadata` is given, so it is read here.
    words = (word.partition("=") for word in environment.get(METADATA, "").split())
    usual = {name: value for name, _, value in words}
    start = f"{VARIABLE_PREFIX}{PREFIX.upper()}"
    variables = {
        name.removeprefix(VARIABLE_PREFIX).lower(): _parse_variable(value)
        for name, value in environment.items()
        if name == start or name.startswith(f"{start}_")
    }
    values: dict[str, Any] = {}
    for values_of_source in (usual, variables, metadata):
        for name, value in values_of_source.items():
            is_ours = name == PREFIX or name.startswith(f"{PREFIX}_")
            if is_ours and value not in (None, "", []):
                values[name] = value
    if PREFIX not in values:
        return {}
    arguments = metadata.get(JUDGE_ARGS)
    if arguments and secrets_of(parse_pairs(arguments)):
        raise UsageError(
            f"{JUDGE_ARGS} in the metadata holds a secret, and Inspect writes metadata into logs: "
            f"set the environment variable {VARIABLE_PREFIX}{JUDGE_ARGS.upper()} or the provider's "
            "own"
        )
    for name in values:
        if name not in INSPECT_OPTIONS:
            raise unknown_name_error(
                "option of podium in the metadata or environment", name, INSPECT_OPTIONS
            )
    return values


def metadata_in_arguments(arguments: Sequence[str]) -> dict[str, Any]:
    """Return the metadata that the arguments of Inspect's command give, by name.

    Several arguments `--metadata KEY=VALUE` are one mapping, as in Inspect. They count more than
    the metadata in the file of `--run-config`.
    """
    values: dict[str, Any] = {}
    typed: dict[str, str] = {}
    # Each word comes with the word after it, which is empty for the last word.
    for word, following in zip(arguments, [*arguments[1:], ""], strict=True):
        option, _, text = word.partition("=")
        if option == "--metadata":
            name, _, value = (text or following).partition("=")
            typed[name] = value
        elif option == "--run-config":
            values |= _metadata_in_file(text or following)
    return values | typed


def _metadata_in_file(path: str) -> dict[str, Any]:
    """Return the metadata in a file of Inspect's run configuration, in YAML or JSON.

    Empty if the file cannot be read, which Inspect reports.
    """
    import yaml

    with suppress(OSError, ValueError, yaml.YAMLError):
        content = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
        metadata = content.get("metadata") if isinstance(content, Mapping) else None
        return dict(metadata) if isinstance(metadata, Mapping) else {}
    return {}


def require_ranker(all_values: Mapping[str, Any], asked_options: Mapping[str, Any]) -> None:
    """Raise UsageError if options of podium are given to a run that asks for no ranker.

    Args:
        all_values: what was typed for the run, and its metadata. Options that the environment sets
            for all runs are not among them.
        asked_options: the options that the run asks for (see `values_asked_for`).
    """
    if not asked_options:
        options_from({name: value for name, value in all_values.items() if name in INSPECT_OPTIONS})


def _parse_variable(text: str) -> Any:
    """Return the value of an environment variable: a list if it is one in JSON, else the text.

    A text such as `true` stays a text.
    """
    if text.startswith("["):
        with suppress(ValueError):
            return json.loads(text)
    return text


def form_of_options(
    environment: Mapping[str, str], *, judged: bool = False, tournament: bool = False
) -> OptionForm:
    """Return the form in which messages write podium's options.

    It is the form of a command (`--ranker-pin X`) if a command has checked the options, else that
    of metadata (`--metadata ranker_pin=X`).

    Args:
        environment: the environment variables.
        judged: whether the messages are about a tournament that follows an eval.
        tournament: whether they are about a tournament that is played alone.
    """
    if tournament:
        is_checked = CHECKED_VARIABLE in environment
        return typed_for_tournament if is_checked else typed_for_tournament_in_metadata
    if CHECKED_VARIABLE in environment:
        return typed_for_judge if judged else typed_in_inspect
    return typed_for_judge_in_metadata if judged else typed_in_metadata
