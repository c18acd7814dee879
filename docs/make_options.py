"""Makes docs/options.md from the commands themselves.

python docs/make_options.py > docs/options.md
"""

import click

from podium import Ranker, Tournament
from podium.cli.main import podium
from podium.plugins import catalogue
from podium.plugins.settings import options_of, parameters_of

HEAD = """# Every option

Made by `python docs/make_options.py`; `podium COMMAND --help` says the same. `podium inspect` and `podium lm_eval` take
all options of the hosts' own commands, and `--ranker` beside them: [inspect](inspect.md), [lm-eval](lm_eval.md).
"""
OF_THE_HOSTS = {"inspect", "lm_eval"}


def cell(text):
    """Return a text as a cell of a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|")


def option_row(option, context):
    """Return the row of one option: how it is typed, and what it does."""
    typed, said = option.get_help_record(context)
    return f"| `{cell(typed)}` | {cell(said)} |"


def command_page(name, command):
    """Return the section of one command."""
    context = click.Context(command, info_name=f"podium {name}")
    options = [one for one in command.params if isinstance(one, click.Option) and not one.hidden]
    rows = [option_row(one, context) for one in options if one.get_help_record(context)]
    summary = cell(command.help.split("\n\n")[0])
    return "\n".join([f"## podium {name}", "", summary, "", "| option | |", "|---|---|", *rows, ""])


def settings_page(kind, title, remark, options):
    """Return the section of what each ranker or tournament takes as KEY=VALUE; `options` returns
    those of a name."""
    rows = []
    for name in sorted(catalogue.extensions_of(kind)):
        known = ", ".join(f"`{key}`" for key in options(name))
        rows.append(f"| `{name}` | {known or '–'} |")
    return "\n".join([f"## {title}", "", remark, "", "| name | options |", "|---|---|", *rows, ""])


def all_pages():
    """Return the whole page."""
    context = click.Context(podium)
    commands = [(name, podium.get_command(context, name)) for name in podium.list_commands(context)]
    sections = [
        command_page(name, command) for name, command in commands if name not in OF_THE_HOSTS
    ]
    rankers = settings_page(
        Ranker,
        "Rankers",
        "By `--set KEY=VALUE`; what they mean: [statistics](statistics.md#rankers).",
        lambda name: options_of(catalogue.ranker_function(name)),
    )
    tournaments = settings_page(
        Tournament,
        "Tournaments",
        "By `-T KEY=VALUE` in Inspect, `--set` in `podium replay`: [stopping](stopping.md).",
        lambda name: parameters_of(catalogue.tournament_rule(name)),
    )
    return "\n".join([HEAD, *sections, rankers, tournaments]).rstrip("\n")


if __name__ == "__main__":
    print(all_pages())
