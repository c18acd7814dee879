"""Makes docs/options.md from the commands themselves.

python docs/make_options.py > docs/options.md
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import fields
from itertools import pairwise
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import click

from podium import Ranker, Tournament
from podium.cli.main import podium
from podium.hosts.inspect_ai import tasks
from podium.hosts.inspect_ai.inspect_options import FLAGS, HELP
from podium.hosts.inspect_ai.tournament.run_options import JudgeOptions, RunOptions
from podium.hosts.inspect_ai.tournament.tournament_request import RunSettings
from podium.hosts.ranker_options import OPTIONS
from podium.plugins import catalogue
from podium.plugins.settings import options_of, parameters_of
from podium.scorers.judging import Judging, build_judging

HEAD = """# Every option

Made by `python docs/make_options.py`; `podium COMMAND --help` says the same. `podium inspect` \
and `podium lm_eval` take
all options of the hosts' own commands, and `--ranker` beside them: [inspect](inspect.md), \
[lm-eval](lm_eval.md).
"""
OF_THE_HOSTS = {"inspect", "lm_eval"}
OPTIONS_OF_HOSTS = """## Rankings in the hosts

Beside the options of `podium inspect eval|eval-set|eval-retry|score` and `podium lm_eval run` \
(without `podium` after
`podium enable`). In a section `ranker:` of lm-eval's `--config` file, the names stand without \
`ranker_` (`name` for `--ranker`).
In Inspect, each is also metadata (`--metadata ranker_set=...`, or in a run config) and an \
environment variable
(`PODIUM_RANKER_SET`, as in `.env`). Metadata count more than the environment. Of `...`, several \
may be given: in Inspect
by giving the option again.

| Inspect | lm-eval | |
|---|---|---|
"""
OPTIONS_OF_TASKS = """## Tournaments in Inspect

`inspect eval podium/NAME -T responses=SOURCE,... -T OPTION=VALUE ... --model-role judge=MODEL`: \
every tournament takes
the [options of a run](#options-of-a-run) and the [options of the judge](#options-of-the-judge), \
and some of its own,
which `podium replay` takes as `--set OPTION=VALUE`. Examples: [inspect](inspect.md), \
[stopping](stopping.md).
"""
KIND_OF_VALUE = {bool: "true, false", int: "whole number", float: "number", str: "text"}
KIND_OF_VALUE |= {Sequence: "list, or text with commas", Mapping: "mapping"}
ATTRIBUTE = re.compile(r"^ {4}(\w+): (.+(?:\n {8}.+)*)", re.MULTILINE)
"""An attribute of a docstring of Google form, with the lines that go on with it."""


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


def descriptions_of_keys(options):
    """Return the text below each key of a TypedDict, by key; those of its base not included."""
    body = ast.parse(textwrap.dedent(inspect.getsource(options))).body[0].body
    pairs = pairwise(body)
    return {
        key.target.id: text.value.value
        for key, text in pairs
        if isinstance(key, ast.AnnAssign) and isinstance(text, ast.Expr)
    }


def descriptions_of_rule(rule):
    """Return the descriptions of a tournament's options by name: the attributes in the docstrings
    of its class and of its bases."""
    texts = {}
    for base in reversed(rule.__mro__):
        texts |= dict(ATTRIBUTE.findall(inspect.cleandoc(base.__doc__ or "")))
    return texts


def values_text(annotation):
    """Return what may be given for an option of this type."""
    if get_origin(annotation) is Literal:
        return ", ".join(f"`{value}`" for value in get_args(annotation))
    if get_origin(annotation) in (Union, UnionType):
        parts = [part for part in get_args(annotation) if part is not type(None)]
        origins = {get_origin(part) for part in parts}
        # A list of names may be written as a text.
        parts = [part for part in parts if not (part is str and Sequence in origins)]
        return "; ".join(values_text(part) for part in parts)
    return KIND_OF_VALUE[get_origin(annotation) or annotation]


def task_option_row(name, default, annotation, description):
    """Return the row of one option of a task."""
    text = cell(description)
    meaning = text[0].upper() + text[1:]
    return f"| `{name}={default_text(default)}` | {values_text(annotation)} | {meaning} |"


def default_text(default):
    """Return a default as it is typed; empty if it says nothing."""
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, float):
        return f"{default:g}"
    return "" if default is None or default in ("", ()) else str(default)


def task_options_page(title, intro, rows):
    """Return the section of some options of tasks."""
    head = ["| option, default | values | meaning |", "|---|---|---|"]
    return "\n".join([title, "", intro, "", *head, *rows, ""])


def run_rows():
    """Return the rows of the options of a run."""
    defaults = {own.name: own.default for own in fields(RunSettings)}
    types = get_type_hints(RunOptions)
    return [
        task_option_row(name, defaults[name], types[name], text)
        for name, text in descriptions_of_keys(RunOptions).items()
    ]


def judge_rows():
    """Return the rows of the options of the judge."""
    plain = {own.name: own.default for own in fields(Judging)}
    typed = {name: own.default for name, own in parameters_of(build_judging).items()}
    realization = parameters_of(catalogue.judging_settings)["realization"].default
    defaults: dict[str, Any] = {**plain, **typed, "realization": realization}
    types = get_type_hints(JudgeOptions)
    return [
        task_option_row(name, defaults[name], types[name], text)
        for name, text in descriptions_of_keys(JudgeOptions).items()
    ]


def tournament_pages():
    """Yield the sections of what tournaments take in Inspect: the options of each, those of all."""
    yield OPTIONS_OF_TASKS
    for name in sorted(catalogue.extensions_of(Tournament)):
        task = getattr(tasks, "recorded_task" if name == "recorded" else name)
        descriptions = descriptions_of_rule(catalogue.tournament_rule(name))
        own = [
            parameter
            for key, parameter in parameters_of(task).items()
            if key not in ("responses", "kwargs")
        ]
        rows = [
            task_option_row(each.name, each.default, each.annotation, descriptions[each.name])
            for each in own
        ]
        yield task_options_page(f"### podium/{name}", cell(task.__doc__), rows)
    yield task_options_page("## Options of a run", cell(RunOptions.__doc__), run_rows())
    yield task_options_page("## Options of the judge", cell(JudgeOptions.__doc__), judge_rows())


def host_options_page():
    """Return the section of what `--ranker` takes beside itself in both hosts."""
    rows = []
    for name, option in OPTIONS.items():
        value = option.shown.strip("<>")
        value = value if "|" in value else value.upper()
        if not option.is_single and value:
            value += " ..."
        by_flag = {typed: flag for flag, typed in FLAGS.items()}
        in_inspect = f"`{cell(f'{by_flag[name]} {value}').strip()}`" if name in by_flag else ""
        in_lm_eval = f"`{cell(f'--{name} {value}').strip()}`"
        text = cell(option.help)
        if name in HELP:
            text = f"In Inspect: {cell(HELP[name])}. In lm-eval: {text}"
        rows.append(f"| {in_inspect} | {in_lm_eval} | {text} |")
    return OPTIONS_OF_HOSTS + "\n".join([*rows, ""])


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
    pages = [*sections, host_options_page(), rankers, *tournament_pages()]
    return "\n".join([HEAD, *pages]).rstrip("\n")


if __name__ == "__main__":
    print(all_pages())
