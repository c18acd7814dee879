"""podium inspect, podium lm_eval: the stock commands of the hosts, and --ranker."""

from importlib.util import find_spec
from typing import Any

import click

from podium.errors import UsageError, install_hint
from podium.printable import exit_code

SETTINGS_OF_PASSING_ON: dict[str, Any] = {
    "context_settings": {
        "ignore_unknown_options": True,
        "allow_extra_args": True,
        "help_option_names": [],
    },
    "add_help_option": False,
}
"""Everything goes to the host, its --help as well."""


@click.command(
    short_help="The stock inspect command, with --ranker on eval, eval-set, eval-retry and score.",
    **SETTINGS_OF_PASSING_ON,
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def inspect(context: click.Context, arguments: tuple[str, ...]) -> None:
    """Run `inspect ARGUMENTS...`; with --ranker NAME the models are ranked when the run has ended.

    \b
    podium inspect eval podium/round_robin -T responses=answers/ --model-role judge=openai/gpt-5
    podium inspect eval task.py --model openai/gpt-5,openai/gpt-5-mini --ranker bradley-terry
    \f

    The process ends with the host's exit code.

    Raises:
        UsageError: inspect-ai is not installed.
    """
    if find_spec("inspect_ai") is None:
        raise UsageError(f"inspect-ai is not installed: {install_hint('inspect')}")
    from podium.hosts.inspect_ai.inspect_command import run

    try:
        run(arguments)
    except SystemExit as end:
        context.exit(exit_code(end))


@click.command(
    "lm_eval",
    short_help="The stock lm_eval command, with --ranker on run.",
    **SETTINGS_OF_PASSING_ON,
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def lm_eval(context: click.Context, arguments: tuple[str, ...]) -> None:
    """Run `lm_eval ARGUMENTS...`; with --ranker NAME the model is ranked among earlier runs, by
    metric or judge.

    \b
    podium lm_eval run --model hf --model_args pretrained=gpt2 --tasks gsm8k -o runs --ranker bradley-terry
    podium lm_eval run ... --ranker soft-elo --ranker_against runs/ --ranker_judge openai/gpt-5
    \f

    The process ends with the exit code that `run_lm_eval` returns.
    """  # noqa: E501
    from podium.hosts.lm_eval.lm_eval_command import run_lm_eval

    context.exit(run_lm_eval(arguments))
