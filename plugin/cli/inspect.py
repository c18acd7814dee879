"""podium inspect: the stock `inspect` command, and --ranker."""

from importlib.util import find_spec

import click

from podium.errors import UsageError


@click.command(
    short_help="The stock inspect command, with --ranker on eval, eval-set, eval-retry and score.",
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []},
    add_help_option=False,
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def inspect(arguments: tuple[str, ...]) -> None:
    """Run `inspect ARGUMENTS...`; with --ranker NAME the models are ranked when the run has ended.

    \b
    podium inspect eval podium/round_robin -T responses=answers/ --model-role judge=openai/gpt-5
    podium inspect eval task.py --model openai/gpt-5,openai/gpt-5-mini --ranker bradley-terry
    """
    if find_spec("inspect_ai") is None:
        raise UsageError("inspect-ai is not installed: pip install 'podium[inspect]'")
    from podium.hosts.inspect_ai.command import run

    run(arguments)
