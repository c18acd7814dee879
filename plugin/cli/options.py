"""Options shared by several commands: constants, or partials of `click.option` where help or
default differs."""

import json
import os
import shlex
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any, TypeVar

import click

from podium.data.reading_options import OPTIONS_BY_NAME
from podium.data.text_encodings import texts_in
from podium.errors import UsageError
from podium.garbage_collection import rare_garbage_collection
from podium.notices.option_forms import typed_source
from podium.show.report.styles import PICTURES, STYLES
from podium.storage.remote import place_of, without_secrets

Command = TypeVar("Command", bound=Callable[..., Any])
Value = TypeVar("Value")
Decorator = Callable[[Command], Command]
"""Adds options or arguments to the function of a command."""

READING = "What to read"
"""Heading of the options of reading in the help of commands."""
SHOWING = "What to show"
"""Heading of the options of output in the help of commands."""
READING_PARAMETERS = (
    "format",
    "where",
    "human_judge",
    "columns",
    "credit_map",
    "unknown",
    "shown",
    "fill",
    "matrix",
    "metric",
    "runs",
    "allow",
    "names",
    "ids",
    "lower_is_better",
    "cluster",
    "encoding",
    "mapping",
)
"""Parameters of `reading_options`."""
FURTHER_READING_PARAMETERS = (
    "human_labels",
    "models",
    "responses",
    "merge",
    "one_sided",
    "complete",
    "families",
    "engine",
    "memory",
)
"""Further parameters of commands that stand under the heading `READING` in the help."""
GROUPS = dict.fromkeys((*READING_PARAMETERS, *FURTHER_READING_PARAMETERS), READING)
GROUPS |= dict.fromkeys(("style", "output", "figure", "section", "full", "no_texts"), SHOWING)
"""Heading of the help by parameter, in all commands."""


TYPED_KEY = "podium.typed"
"""Key in the `meta` of click's context: the arguments of the command as they were typed."""


class RecordCommand(click.Command):
    """A command whose function takes records: a parameter that is annotated with a dataclass gets
    the options that are called like the fields of the dataclass."""

    def invoke(self, ctx: click.Context) -> Any:
        """Call the function and return its result.

        In `ctx.params`, the options that are fields of a record are replaced by the record, under
        the name of the function's parameter. All other options stay. The encoding of a query is
        also that of all other files that the command reads.
        """
        typed = dict(ctx.params)
        encoding = typed.get("encoding")
        parameters = signature(self.callback).parameters if self.callback else {}
        records = {
            name: take_record(parameter.annotation, typed)
            for name, parameter in parameters.items()
            if is_dataclass(parameter.annotation)
        }
        ctx.params = typed | records
        with texts_in(encoding), rare_garbage_collection():
            return super().invoke(ctx)


def take_record(record_class: Any, typed: dict[str, Any]) -> Any:
    """Make a record of the options that are called like its fields, and remove those from `typed`.

    A field whose type is a dataclass is made in the same way. A field of which the command has no
    option keeps its default.

    Args:
        record_class: the dataclass of the record.
        typed: the values of options by name; it is changed in place.
    """
    values = {}
    for field in fields(record_class):
        if is_dataclass(field.type):
            values[field.name] = take_record(field.type, typed)
        elif field.name in typed:
            values[field.name] = typed.pop(field.name)
    return record_class(**values)


class GroupedCommand(RecordCommand):
    """A command of records whose help has options in groups.

    Args:
        doing: heading of the command's own options.
        removed: what replaces an option that an earlier version had, by option.
    """

    def __init__(
        self,
        *names: Any,
        doing: str = "Options",
        removed: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        """Make the command; the class lists the arguments that click does not know."""
        super().__init__(*names, **more)
        self.doing = doing
        self.removed = removed or {}

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; a removed option raises UsageError that names its replacement.

        The arguments are kept for `typed_command` and `typed_by_group`.
        """
        ctx.meta[TYPED_KEY] = tuple(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if error.option_name not in self.removed:
                raise
            raise UsageError(
                f"{error.option_name} was removed: {self.removed[error.option_name]}"
            ) from None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in groups: the command's own, what to show, and what to read.

        Hidden options and groups without options are left out.
        """
        rows: dict[str, list[tuple[str, str]]] = {self.doing: [], SHOWING: [], READING: []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if not record:
                continue
            group = GROUPS.get(param.name or "", self.doing)
            if "--help" in param.opts:
                group = SHOWING
            rows[group].append(record)
        for title, records in rows.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


def typed_command() -> str:
    """Return the command that runs as one text for a shell, as it was typed, without secrets."""
    context = click.get_current_context()
    typed = ["podium", context.info_name or "", *context.meta[TYPED_KEY]]
    return without_secrets(shlex.join(typed))


def typed_by_group(left_out: Collection[str]) -> tuple[list[str], list[str]]:
    """Return the arguments of the command that runs, as typed: those of reading, and the others.

    Those of reading are the sources and the options of `READING_PARAMETERS`. Options that were not
    typed are left out. A source that begins with a dash gets `./` in front.

    Args:
        left_out: names of parameters that are left out.
    """
    context = click.get_current_context()
    # `typed` has the parameters in the order in which they were typed, once for each time.
    values, _, typed = context.command.make_parser(context).parse_args(
        list(context.meta[TYPED_KEY])
    )
    reading: list[str] = []
    others: list[str] = []
    for parameter in dict.fromkeys(typed):
        name = parameter.name or ""
        value = values.get(name)
        if name in left_out or value is None:
            continue
        target = reading if name in READING_PARAMETERS or name == "sources" else others
        if isinstance(parameter, click.Argument):
            # Arguments stand before all options.
            words = value if isinstance(value, list | tuple) else [value]
            target[:0] = map(typed_source, words)
        elif isinstance(parameter, click.Option):
            target += _typed_option(parameter, value)
    return reading, others


def _typed_option(option: click.Option, value: Any) -> list[str]:
    """Return an option as it is typed, once for each of its values.

    A flag is one word, in its negative form (`--no-merge`) if its value is False and it has one.
    Any other option is its last spelling, the long one if there are two, followed by the value.
    """
    if option.is_flag:
        spellings = option.opts if value else option.secondary_opts or option.opts
        return [spellings[0]]
    parts: list[str] = []
    for each in value if isinstance(value, list) else [value]:
        parts += [option.opts[-1], str(each)]
    return parts


def command(
    doing: str, short_help: str, **more: Any
) -> Callable[[Callable[..., Any]], GroupedCommand]:
    """Return a decorator that makes a `GroupedCommand` of a function.

    Args:
        doing: heading of the command's own options in its help.
        short_help: the line about the command in the list of commands.
        **more: other arguments of `GroupedCommand` or `click.Command`, as `removed` or `params`.
    """
    return click.command(cls=GroupedCommand, doing=doing, short_help=short_help, **more)


def read_condition(typed: str) -> tuple[str, str]:
    """Parse `COLUMN=VALUE` of `--where` as column and value, which may be empty.

    Raises:
        click.BadParameter: there is no equals sign.
    """
    column, equals, value = typed.partition("=")
    if not equals:
        raise click.BadParameter(f"{column!r}: write COLUMN=VALUE", param_hint="--where")
    return column, value


def read_assignments(typed: str, *, at_last_sign: bool = False) -> dict[str, str]:
    """Parse `a=b,c=d` as a dictionary of texts, without blanks around them.

    If a part has several equals signs, the key ends at the first one, or at the last one with
    `at_last_sign`.

    Raises:
        click.BadParameter: a part has no key or no equals sign, or a key has two values.
    """
    split = str.rpartition if at_last_sign else str.partition
    parts = [split(part, "=") for part in typed.split(",")]
    if not all(key and equals for key, equals, _ in parts):
        raise click.BadParameter(f"{typed!r}: write KEY=VALUE, separated by commas")
    return join_assignments([{key.strip(): text.strip()} for key, _, text in parts])


def join_assignments(mappings: Iterable[Mapping[str, Value]]) -> dict[str, Value]:
    """Return the values of all mappings, by key. Several mappings may give a key the same value.

    Raises:
        click.BadParameter: a key has two values.
    """
    joined: dict[str, Value] = {}
    for assignments in mappings:
        for key, value in assignments.items():
            first_value = joined.setdefault(key, value)
            if first_value != value:
                raise click.BadParameter(
                    f"{key} has two values, {first_value} and {value}: give one"
                )
    return joined


def _join_typed(
    context: click.Context,  # noqa: ARG001
    parameter: click.Parameter,  # noqa: ARG001
    typed: Sequence[Mapping[str, Value]],
) -> dict[str, Value] | None:
    """Join the values of an option that may be typed several times; None if it was not typed.

    It is a callback of click.
    """
    return join_assignments(typed) if typed else None


def read_credits(typed: str) -> dict[str, float]:
    """Parse `1=1,0=0.5,-1=0` as credits of the left model by verdict.

    A verdict may have an `=`: it ends at the last one.

    Raises:
        click.BadParameter: a part has no verdict or equals sign, or its credit is not a number in
            [0, 1].
    """
    credits = {}
    for word, text in read_assignments(typed, at_last_sign=True).items():
        try:
            credits[word] = float(text)
        except ValueError:
            raise click.BadParameter(
                f"{word}={text}: give the credit of model_a as a number, 1 for a win and 0 for a "
                f"loss, or leave out {word} if it is no verdict and type --unknown unparsed"
            ) from None
        if not 0 <= credits[word] <= 1:
            raise click.BadParameter(
                f"{word}={text}: credits lie in [0, 1], as the left model earned them"
            )
    return credits


def read_numbers(typed: str) -> tuple[int, ...]:
    """Parse `1000,5000` as positive integers, in the order typed.

    Raises:
        click.BadParameter: a part is not a whole number above 0.
    """
    parts = [part.strip() for part in typed.split(",")]
    numbers = []
    for part in parts:
        is_whole = part.isascii() and part.isdigit()
        if not is_whole or int(part) == 0:
            raise click.BadParameter(f"{typed!r}: write whole numbers above 0, separated by commas")
        numbers.append(int(part))
    return tuple(numbers)


class OutputFile(click.Path):
    """A parameter type for an output path or object URL, in an existing folder, with a known
    suffix."""

    def __init__(self, suffixes: tuple[str, ...] = ()) -> None:
        """Accept files with one of the suffixes (with the dot); any file if no suffix is given."""
        super().__init__(dir_okay=False, writable=True, path_type=Path)
        self.suffixes = suffixes

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the typed path or object URL as a `Path` or a remote place.

        Raises:
            click.BadParameter: the folder is missing, the path is a folder or not writable, or the
                suffix is none of `suffixes`.
            PodiumError: the bucket of an object URL cannot be written to.
        """
        place = place_of(os.fspath(value))
        if isinstance(place, Path):
            place = Path(os.fsdecode(super().convert(place, param, ctx)))
            if not place.parent.is_dir():
                self.fail(f"there is no folder {str(place.parent)!r}", param, ctx)
        else:
            place.check_writable()
        if self.suffixes and place.suffix not in self.suffixes:
            self.fail(
                f"cannot write {place.name!r}: name a {', '.join(self.suffixes)} file", param, ctx
            )
        return place


def output_file(*suffixes: str, help: str, **more: Any) -> Decorator:
    """Return the option -o for a file with one of these suffixes; for any file if none is given.

    Args:
        *suffixes: the suffixes, each with its dot.
        help: help text.
        **more: arguments of `click.option`.
    """
    return click.option(
        "-o", "output", metavar="FILE", type=OutputFile(suffixes), help=help, **more
    )


def choice_option(flag: str, values: str, help: str, **more: Any) -> Decorator:
    """Return an option with a fixed set of words.

    Args:
        flag: the option as it is typed.
        values: the words, separated by blanks. The first is the default.
        help: help text.
        **more: arguments of `click.option`; a `default` overrides the first word.
    """
    words = values.split()
    how = {"default": words[0], **more}
    return click.option(flag, type=click.Choice(words), help=help, **how)


def count_option(flag: str, help: str, least: int = 1, **more: Any) -> Decorator:
    """Return an option for an integer of at least `least`.

    Args:
        flag: the option as it is typed.
        help: help text.
        least: the smallest integer that is allowed.
        **more: arguments of `click.option`; without a `default`, an option that is not typed is
            None.
    """
    return click.option(flag, type=click.IntRange(min=least), help=help, **more)


def number_option(flag: str, interval: str, help: str, **more: Any) -> Decorator:
    """Return an option for a number in an interval.

    Args:
        flag: the option as it is typed.
        interval: both ends, as `[0,1)`: a square bracket includes the end, a round one excludes
            it. An end left out, as in `[0,]`, is unbounded.
        help: help text.
        **more: arguments of `click.option`; without a `default`, an option that is not typed is
            None.
    """
    first, last = interval[1:-1].split(",")
    within = click.FloatRange(
        min=json.loads(first) if first else None,
        max=json.loads(last) if last else None,
        min_open=interval.startswith("("),
        max_open=interval.endswith(")"),
    )
    return click.option(flag, type=within, help=help, **more)


def shared_option(name: str) -> Decorator:
    """Return the option that `podium.data.reading_options.OPTIONS_BY_NAME` describes.

    Hosts have the same options in their own form.

    Args:
        name: its name there, as `human_labels` for the option `--human-labels`.
    """
    option = OPTIONS_BY_NAME[name]
    flag = f"--{name.replace('_', '-')}"
    click_options: dict[str, Any] = {
        "multiple": option.kind in ("texts", "words", "conditions", "files")
    }
    if option.kind == "truth":
        flag = f"{flag}/--no-{name.replace('_', '-')}"
        click_options["default"] = None
    elif option.kind == "flag":
        click_options["is_flag"] = True
    elif option.words:
        click_options["type"] = click.Choice(option.words)
    else:
        click_options["metavar"] = option.shown
    if option.kind == "word":
        click_options["default"] = option.words[0]
    types: dict[str, Any] = {"conditions": read_condition, "files": click.Path()}
    if option.kind in types:
        click_options["type"] = types[option.kind]
    return click.option(flag, help=option.help, **click_options)


# Each of these makes an option from the arguments in which commands differ, such as its help.
assigned = partial(
    click.option,
    type=read_assignments,
    metavar="KEY=VALUE,...",
    multiple=True,
    callback=_join_typed,
)
level = partial(
    number_option,
    "--level",
    "(0,1)",
    help="Confidence level of intervals and rank sets.",
    default=0.95,
)
seed = partial(count_option, "--seed", least=0, default=0)
file_option = partial(click.option, metavar="FILE", type=click.Path())
output_folder = partial(
    click.option, "-o", "output", metavar="DIR", type=click.Path(file_okay=False, path_type=Path)
)
human_labels = shared_option("human_labels")
pool = partial(click.option, "--pool", is_flag=True)
figure = partial(click.option, "--figure", metavar="FILE", type=OutputFile(PICTURES))
responses = partial(click.option, "--responses", metavar="PATH", multiple=True)
ranker = partial(
    click.option, "--ranker", "rankers", default="bradley-terry", metavar="NAME[,NAME...]"
)
settings = partial(click.option, "--set", "settings", multiple=True)
one_sided = choice_option(
    "--one-sided",
    values="unparsed keep",
    help="Whether a pair with only one readable order is unparsed, or keeps that verdict; by "
    "default as the log records, else unparsed.",
    default=None,
)
complete = shared_option("complete")


def output(*, csv: bool = True) -> Decorator:
    """Return a decorator that adds the options --format and -o.

    The command gets them as `style` and `output`, the fields of `Destination`.

    Args:
        csv: allow CSV as a format. If False, -o takes only the suffixes of the other formats; if
            True, it takes any suffix.
    """
    styles = {style: suffix for style, suffix in STYLES.items() if csv or style != "csv"}
    suffixes = () if csv else tuple(sorted(styles.values()))
    help = "Output format; by default that of -o's suffix, else table."
    by_format = click.option("--format", "style", type=click.Choice(styles), help=help)
    to_file = output_file(*suffixes, help="Write to this file.")

    def add_both(command: Command) -> Command:
        """Add both options to a command."""
        return by_format(to_file(command))

    return add_both


def detail(command: Command) -> Command:
    """Add the options --section and --full: how much of a report is shown.

    The command gets them as `section` (one name, or None) and `full`, the fields of `Detail`.
    """
    add_section = click.option("--section", metavar="NAME", help="The figures of one section.")
    add_full = click.option("--full", is_flag=True, help="All figures of all sections.")
    return add_section(add_full(command))


@dataclass(frozen=True, slots=True)
class Detail:
    """How much of a report is shown: its summary, the figures of one section, or all.

    Attributes:
        section: the name of `--section`; None shows the summary.
        full: show the figures of all sections.
    """

    section: str | None = None
    full: bool = False

    def __post_init__(self) -> None:
        """Raise UsageError if both are given."""
        if self.section and self.full:
            raise UsageError("--full shows every section; leave out --section, or --full")


def negate(_context: click.Context, _param: click.Parameter, is_given: bool) -> bool:
    """Return False if a flag such as `--no-merge` was typed, else True.

    It is the callback of an option whose parameter (`merge`) the flag switches off.
    """
    return not is_given


READING_OPTIONS: tuple[Decorator, ...] = (
    click.option(
        "--from",
        "format",
        metavar="FORMAT",
        help="Format of the files; by default recognised by content.",
    ),
    shared_option("where"),
    shared_option("human_judge"),
    assigned("--columns", help="Columns of a foreign table, as item=prompt,model_a=left."),
    assigned(
        "--credit-map",
        type=read_credits,
        metavar="VERDICT=CREDIT,...",
        help="Verdicts of a foreign table, as 1=1,0=0.5,-1=0.",
    ),
    choice_option(
        "--unknown",
        values="error unparsed",
        help="A verdict that --credit-map does not know is an error, or unparsed.",
    ),
    choice_option(
        "--shown",
        values="a b unknown",
        help="Which response was shown first, where no column says it.",
        default=None,
    ),
    assigned("--fill", help="One value for a column that the table lacks, as model_b=gpt-4."),
    choice_option(
        "--matrix",
        values="rows columns",
        help="Of a table of wins whose rows and columns are the same models: a cell counts its "
        "row's wins, or its column's.",
        default=None,
    ),
    shared_option("metric"),
    shared_option("runs"),
    shared_option("allow"),
    shared_option("names"),
    shared_option("ids"),
    shared_option("lower_is_better"),
    shared_option("cluster"),
    shared_option("encoding"),
    shared_option("mapping"),
)
"""The options of `reading_options`, in the order of the help."""


def sources(command: Command) -> Command:
    """Add the argument SOURCE..., at least one, and `reading_options` to a command."""
    add_sources = click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
    return add_sources(reading_options(command))


def optional_sources(command: Command) -> Command:
    """Add the argument SOURCE..., which may be left out, and `reading_options` to a command."""
    add_sources = click.argument("sources", nargs=-1, metavar="[SOURCE...]")
    return add_sources(reading_options(command))


def reading_options(command: Command) -> Command:
    """Add the options of `READING_OPTIONS` to a command: how files are read."""
    # The help lists the option that is added last first.
    for add_option in reversed(READING_OPTIONS):
        command = add_option(command)
    return command
