"""podium's options in lm-eval's command line, and the section `ranker:` of a `--config` file."""

import argparse
from collections.abc import Mapping
from typing import Any

from podium.errors import unknown_name_error
from podium.hosts.ranker_options import ARGUMENTS_OF_TOURNAMENTS, OPTIONS, PREFIX, host_form

TITLE = "ranking (podium)"
typed_in_lm_eval = host_form(option="--{name} {value}", argument="--ranker_args {name}={value}")
"""Writes an option for `lm_eval run`, or for podium's command if lm-eval does not have it."""
typed_for_judge_in_lm_eval = host_form(
    option="--{name} {value}",
    argument="--ranker_args {name}={value}",
    arguments=ARGUMENTS_OF_TOURNAMENTS,
)
"""As `typed_in_lm_eval`, of a run whose responses are judged."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add podium's options as a group to the parser of `lm_eval run`."""
    group = parser.add_argument_group(TITLE)
    for typed, option in OPTIONS.items():
        form: dict[str, Any] = {"metavar": option.shown}
        if not option.shown:
            form = {"action": "store_const", "const": True}
        elif not option.is_single:
            form["nargs"] = "+"
        group.add_argument(f"--{typed}", default=None, help=option.help, **form)


def take_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Remove podium's options from parsed arguments, in place.

    Returns:
        the options that were typed, by name in `OPTIONS`.
    """
    values = {name: vars(arguments).pop(name, None) for name in OPTIONS}
    return {name: value for name, value in values.items() if value is not None}


def section_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return podium's options in a `--config` file, by name in `OPTIONS`.

    They are written `ranker: NAME`, as a section `ranker:`, or as keys named like the options. In
    the section, `name` names the rankers, and `judge` stands for `ranker_judge`. Options without a
    value are left out.

    Raises:
        UsageError: a key that `is_ours` accepts, or a key of the section, is no option.
    """
    options = {name: value for name, value in config.items() if is_ours(name)}
    if isinstance(options.get(PREFIX), Mapping):
        section = options.pop(PREFIX)
        options |= {
            PREFIX if name == "name" else f"{PREFIX}_{name}": value
            for name, value in section.items()
        }
    for name in options:
        if name not in OPTIONS:
            raise unknown_name_error("key of the section ranker:", name, OPTIONS)
    return {name: value for name, value in options.items() if value is not None}


def is_ours(name: str) -> bool:
    """Return whether a key of a `--config` file is podium's: `ranker`, or `ranker_...`."""
    return name == PREFIX or name.startswith(f"{PREFIX}_")
