"""podium's options in Inspect's commands, in the metadata of a run, and in the environment."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from podium.errors import UsageError, unknown_name
from podium.hosts.ranker_options import OPTIONS, PREFIX, host_form
from podium.notices.option_forms import OptionForm

VARIABLES = "PODIUM_"
"""Start of the environment variables with options: `PODIUM_RANKER`, `PODIUM_RANKER_SET`."""
CHECKED = f"{VARIABLES}OPTIONS_CHECKED"
"""Environment variable that is set if a command with `--ranker` has checked the options."""
METADATA = "INSPECT_EVAL_METADATA"
"""Inspect's environment variable with the metadata of runs: `KEY=VALUE`, separated by spaces."""
ABSENT = frozenset(
    {
        "ranker_against",
        "ranker_judge",
        "ranker_judge_args",
        "ranker_tournament",
        "ranker_args",
        "ranker_label",
    }
)
"""Names in `OPTIONS` that Inspect's commands do not have."""
HELP = {"ranker": "Rank the models when the run has ended; `podium list rankers` shows the names."}
"""Help of the options that do something else than in lm-eval, by name in `OPTIONS`."""
IN_INSPECT = {
    name: option._replace(help=HELP.get(name, option.help))
    for name, option in OPTIONS.items()
    if name not in ABSENT
}
"""The options that Inspect's commands have, by their name in metadata."""
FLAGS = {f"--{name.replace('_', '-')}": name for name in IN_INSPECT}
"""The name of each option in metadata, by the option as it is typed."""
typed_in_inspect = host_form("--{flag} {value}", "-T {name}={value}", ABSENT)
"""Writes an option for `inspect eval`, or for podium's command if Inspect's has none."""
typed_in_metadata = host_form("--metadata {name}={value}", "-T {name}={value}", ABSENT)
"""Writes an option for the metadata of a run, or for podium's command."""


def split_ranker_options(arguments: Sequence[str]) -> tuple[list[str], dict[str, Any]]:
    """Split arguments into those of Inspect, and the values of podium's options.

    Returns:
        Inspect's arguments; and by name in `IN_INSPECT` the value of each option that takes one
        value, True of one that takes none, and a list of values of the others.

    Raises:
        UsageError: there is no such option, or its value is missing.
    """
    own: list[str] = []
    values: dict[str, Any] = {}
    rest = iter(arguments)
    for argument in rest:
        flag, equals, text = argument.partition("=")
        if flag != f"--{PREFIX}" and not flag.startswith((f"--{PREFIX}-", f"--{PREFIX}_")):
            own.append(argument)
            continue
        if flag not in FLAGS:
            raise unknown_name("option", flag, FLAGS)
        name = FLAGS[flag]
        if not IN_INSPECT[name].shown:
            values[name] = True
            continue
        value = text if equals else next(rest, None)
        if value is None:
            raise UsageError(f"{flag} needs a value: {flag} {IN_INSPECT[name].shown}")
        values[name] = value if IN_INSPECT[name].is_single else [*values.get(name, ()), value]
    return own, values


def to_environment(values: Mapping[str, Any]) -> dict[str, str]:
    """Return options as environment variables, from which `values_asked_for` reads them.

    Several values of one option are a list in JSON. A further variable says that they were checked.
    """
    variables = {CHECKED: "true"}
    for name, value in values.items():
        plain = value[0] if isinstance(value, list) and len(value) == 1 else value
        is_text = isinstance(plain, str) and not plain.startswith("[")
        variables[f"{VARIABLES}{name.upper()}"] = plain if is_text else json.dumps(plain)
    return variables


def values_asked_for(metadata: Mapping[str, Any], environment: Mapping[str, str]) -> dict[str, Any]:
    """Return the options that a run asks for, by name in `IN_INSPECT`; empty without a ranker.

    They are named by the run's metadata (`ranker=a,b`, `ranker_set=...`), by PODIUM_RANKER and
    PODIUM_RANKER_..., and by INSPECT_EVAL_METADATA. Of an option that several name, the first
    counts.

    Raises:
        UsageError: there is a ranker, and an option that Inspect's commands do not have.
    """
    # Inspect ignores INSPECT_EVAL_METADATA if any `--metadata` is given, so it is read here.
    words = (word.partition("=") for word in environment.get(METADATA, "").split())
    usual = {name: value for name, _, value in words}
    start = f"{VARIABLES}{PREFIX.upper()}"
    variables = {
        name.removeprefix(VARIABLES).lower(): _parse_variable(value)
        for name, value in environment.items()
        if name == start or name.startswith(f"{start}_")
    }
    values: dict[str, Any] = {}
    for given in (usual, variables, metadata):
        for name, value in given.items():
            is_ours = name == PREFIX or name.startswith(f"{PREFIX}_")
            if is_ours and value not in (None, "", []):
                values[name] = value
    if PREFIX not in values:
        return {}
    for name in values:
        if name not in IN_INSPECT:
            raise unknown_name("option of podium in the metadata or environment", name, IN_INSPECT)
    return values


def _parse_variable(text: str) -> Any:
    """Return the value of an environment variable: a list in JSON, true, or a text."""
    if text.startswith("["):
        with suppress(ValueError):
            return json.loads(text)
    return text


def form_of_options(environment: Mapping[str, str]) -> OptionForm:
    """Return the form in which messages write podium's options.

    It is that of a command if the command had `--ranker`, else that of metadata.
    """
    return typed_in_inspect if CHECKED in environment else typed_in_metadata
