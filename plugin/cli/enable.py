"""podium enable and podium disable: --ranker on the bare commands of the hosts."""

import sys

import click


@click.command(short_help="Let the bare inspect and lm_eval commands of this environment take --ranker.")
@click.option("--user", is_flag=True, help="For all Pythons of this version that you run outside virtual environments.")
def enable(user: bool) -> None:
    """Let the bare inspect and lm_eval commands of this environment take --ranker.

    One file is written into its site-packages; without --ranker the commands stay as they are.

    \b
    podium enable
    inspect eval task.py --model openai/gpt-5,openai/gpt-5-mini --ranker bradley-terry
    lm_eval run --model hf --tasks gsm8k --output_path runs --ranker bradley-terry
    podium disable
    """
    from podium import enabling

    path = enabling.enable(user=user)
    whose = "all your Pythons of this version" if user else sys.prefix
    click.echo(f"podium: inspect and lm_eval of {whose} now take --ranker; wrote {path}", err=True)


@click.command(short_help="Undo enable: nothing of it stays.")
def disable() -> None:
    """Undo `podium enable`: its file is removed, and nothing of it stays."""
    from podium import enabling

    removed = enabling.disable()
    for path in removed:
        click.echo(f"podium: removed {path}", err=True)
    if not removed:
        click.echo(f"podium: was not enabled in {sys.prefix}", err=True)
