"""Options shared by several commands: constants, or partials of `click.option` where help or
default differs."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from podium.errors import UsageError
from podium.findings import FINDINGS
from podium.show.report.styles import PICTURES, STYLES, suffix_style
from podium.storage.remote import Place, place_of

if TYPE_CHECKING:
    from podium.data.battles import Battles

Command = TypeVar("Command", bound=Callable[..., Any])
Decorator = Callable[[Command], Command]
AS_THEY_ARE = (
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
)
READ_BY = ("format_", "where", *AS_THEY_ARE)
"""Parameters of `reading_options`."""

READING, SHOWING = "What to read", "What to show"
READ_TOO = [
    "human_labels",
    "models",
    "responses",
    "no_merge",
    "one_sided",
    "complete",
    "families",
    "engine",
    "memory",
]
GROUPS = dict.fromkeys((*READ_BY, *READ_TOO), READING)
GROUPS |= dict.fromkeys(("style", "output", "figure", "section", "full", "no_texts"), SHOWING)
"""Heading of the help by parameter, in all commands."""


class GroupedCommand(click.Command):
    """A command with options in groups, its own under `doing`; `removed` maps old options to
    replacements."""

    def __init__(
        self,
        *names: Any,
        doing: str = "Options",
        removed: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(*names, **more)
        self.doing, self.removed = doing, removed or {}

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; a removed option raises UsageError that names its replacement."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if error.option_name not in self.removed:
                raise
            raise UsageError(
                f"{error.option_name} was removed: {self.removed[error.option_name]}"
            ) from None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a list under each heading."""
        rows: dict[str, list[tuple[str, str]]] = {self.doing: [], SHOWING: [], READING: []}
        for param in self.get_params(ctx):
            if isinstance(param, click.Option) and (record := param.get_help_record(ctx)):
                group = (
                    SHOWING if "--help" in param.opts else GROUPS.get(param.name or "", self.doing)
                )
                rows[group].append(record)
        for title, records in rows.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


def command(
    doing: str, short_help: str, **more: Any
) -> Callable[[Callable[..., Any]], GroupedCommand]:
    """Return the decorator that makes a command, whose own options are listed under the heading
    `doing`."""
    return click.command(cls=GroupedCommand, doing=doing, short_help=short_help, **more)


def read_assignments(typed: str) -> dict[str, str]:
    """Parse `a=b,c=d` as a dictionary."""
    parts = [part.partition("=") for part in typed.split(",")]
    if not all(key and equals for key, equals, _ in parts):
        raise click.BadParameter(f"{typed!r}: write KEY=VALUE, separated by commas")
    return {key.strip(): text.strip() for key, _, text in parts}


def read_credits(typed: str) -> dict[str, float]:
    """Parse `1=1,0=0.5,-1=0` as a dictionary of credits in [0, 1]."""
    credits = {}
    for word, text in read_assignments(typed).items():
        try:
            credits[word] = float(text)
        except ValueError:
            remedy = "leave it out and give --unknown unparsed where it says nothing"
            raise click.BadParameter(
                f"{word}={text}: a credit is a number, as 1=1,0=0.5,-1=0; {remedy}"
            ) from None
        if not 0 <= credits[word] <= 1:
            raise click.BadParameter(
                f"{word}={text}: credits lie in [0, 1], as the left model earned them"
            )
    return credits


def read_numbers(typed: str) -> tuple[int, ...]:
    """Parse `1000,5000` as positive integers."""
    parts = [part.strip() for part in typed.split(",")]
    if not all(part.isascii() and part.isdigit() and int(part) > 0 for part in parts):
        raise click.BadParameter(f"{typed!r}: write whole numbers above 0, separated by commas")
    return tuple(map(int, parts))


class OutputFile(click.Path):
    """A parameter type for an output path or object URL, in an existing folder, with a known
    suffix."""

    def __init__(self, suffixes: tuple[str, ...] = ()) -> None:
        super().__init__(dir_okay=False, writable=True, path_type=Path)
        self.suffixes = suffixes

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Validate that the folder or bucket exists and that the suffix is known."""
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
    """Return the option -o for a file with one of these suffixes."""
    return click.option(
        "-o", "output", metavar="FILE", type=OutputFile(suffixes), help=help, **more
    )


def choice_option(flag: str, values: str, help: str, **more: Any) -> Decorator:
    """Return an option with a fixed set of words, of which the first is the default."""
    words = values.split()
    return click.option(flag, type=click.Choice(words), help=help, **{"default": words[0], **more})


def count_option(flag: str, help: str, least: int = 1, **more: Any) -> Decorator:
    """Return an option for an integer of at least `least`."""
    return click.option(flag, type=click.IntRange(min=least), help=help, **more)


def number_option(flag: str, interval: str, help: str, **more: Any) -> Decorator:
    """Return an option for a number in an interval, as `[0,1)`."""
    low, high = (json.loads(end) if end else None for end in interval[1:-1].split(","))
    within = click.FloatRange(low, high, min_open=interval[0] == "(", max_open=interval[-1] == ")")
    return click.option(flag, type=within, help=help, **more)


assigned = partial(click.option, type=read_assignments, metavar="KEY=VALUE,...")
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
human_labels = file_option(
    "--human-labels",
    multiple=True,
    help="Human labels: item, model_a, model_b, credit, or a filled-in sheet of `podium label`; one file a person.",
)
pool = partial(click.option, "--pool", is_flag=True)
figure = partial(click.option, "--figure", metavar="FILE", type=OutputFile(PICTURES))
responses = partial(click.option, "--responses", metavar="PATH", multiple=True)
ranker = partial(
    click.option, "--ranker", "rankers", default="bradley-terry", metavar="NAME[,NAME...]"
)
settings = partial(click.option, "--set", "settings", multiple=True)
one_sided = choice_option(
    "--one-sided",
    "unparsed keep",
    "Whether a pair with only one readable order is unparsed, or keeps that verdict.",
)
complete = click.option(
    "--complete", is_flag=True, help="Only items on which every pair has a readable verdict."
)


def output(*, csv: bool = True) -> Decorator:
    """Return the options --format and -o; a CSV suffix is rejected where CSV is not available."""
    styles = {style: suffix for style, suffix in STYLES.items() if csv or style != "csv"}
    suffixes = () if csv else tuple(sorted(styles.values()))
    help = "Output format; by default that of -o's suffix, else table."
    by_format = click.option("--format", "style", type=click.Choice(styles), help=help)
    to_file = output_file(*suffixes, help="Write to this file.")
    return lambda command: by_format(to_file(command))


def detail(command: Command) -> Command:
    """Add the options --section and --full: how much of a report is shown."""
    by_name = click.option("--section", metavar="NAME", help="The figures of one section.")
    return by_name(
        click.option("--full", is_flag=True, help="All figures of all sections.")(command)
    )


def pop_detail(arguments: dict[str, Any], style: str = "table") -> tuple[str | None, bool]:
    """Pop --section and --full, which exclude each other; without --section, all styles but tables
    are full."""
    section, full = arguments.pop("section"), arguments.pop("full")
    if section and full:
        raise UsageError("--full shows every section; leave out --section, or --full")
    return section, full or (style != "table" and section is None)


def pop_output(arguments: dict[str, Any]) -> tuple[str, Place | None]:
    """Remove --format and -o from `arguments` and return the style and the file."""
    output = arguments.pop("output")
    return arguments.pop("style") or suffix_style(output), output


def _add_labels(battles: "Battles", places: Sequence[str], *, must_meet: bool) -> "Battles":
    """Add human labels from files to battles; with `must_meet`, labels of other battles raise an
    error."""
    from podium.data.human_labels import label_by_table
    from podium.data.reading.judgments import read_battles
    from podium.text import as_text

    sheets: list[Any] = list(places)
    for k, place in enumerate(places if len(places) > 1 else ()):
        # Two humans who agree on a battle are two votes, not a copied verdict: each file has judges
        # of its own.
        frame = read_battles(place, merge=False).to_frame()
        own = as_text(frame["judge"]).fillna("") if "judge" in frame else ""
        sheets[k] = frame.assign(judge=f"{k + 1}. file of labels: " + own)
    return label_by_table(battles, read_battles(*sheets), must_meet=must_meet)


several = partial(click.option, multiple=True)
READING_OPTIONS = (
    click.option(
        "--from",
        "format_",
        metavar="FORMAT",
        help="Format of the files; by default recognised by content.",
    ),
    several(
        "--where", metavar="COLUMN=VALUE", help="Keep only these rows; may be given several times."
    ),
    click.option(
        "--human-judge",
        metavar="NAME",
        help="This judge's verdicts become the human labels of the others' battles.",
    ),
    assigned("--columns", help="Columns of a foreign table, as item=prompt,model_a=left."),
    click.option(
        "--credit-map",
        type=read_credits,
        metavar="VERDICT=CREDIT,...",
        help="Verdicts of a foreign table, as 1=1,0=0.5,-1=0.",
    ),
    choice_option(
        "--unknown",
        "error unparsed",
        "A verdict that --credit-map does not know is an error, or unparsed.",
    ),
    choice_option(
        "--shown",
        "a b unknown",
        "Which response was shown first, where no column says it.",
        default=None,
    ),
    assigned("--fill", help="One value for a column that the table lacks, as model_b=gpt-4."),
    choice_option(
        "--matrix",
        "rows columns",
        "Of a table of wins whose rows and columns are the same models: a cell counts its row's wins, or its column's.",
        default=None,
    ),
    several(
        "--metric",
        metavar="NAME[,FILTER]",
        help="Of lm-eval folders: what to compare; may be given several times, or all. Default: the only one there is.",
    ),
    choice_option(
        "--runs",
        "newest all",
        "Of a model or tournament run several times (lm-eval, Inspect): the newest counts, or all are repeats.",
    ),
    several(
        "--allow",
        type=click.Choice([*FINDINGS]),
        help="Accept a finding that is an error otherwise: "
        + "; ".join(f"{n}, {s}" for n, s in FINDINGS.items())
        + ".",
    ),
)


def sources(command: Command) -> Command:
    """Add the argument SOURCE... and the options that say how to read it."""
    return click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")(
        reading_options(command)
    )


def reading_options(command: Command) -> Command:
    """Add the options that say how files are read."""
    return reduce(lambda made, option: option(made), reversed(READING_OPTIONS), command)


def reading_arguments(arguments: dict[str, Any]) -> dict[str, Any]:
    """Remove the options of `reading_options` from `arguments` and return them for
    `read_battles`."""
    where = [tuple(text.split("=", 1)) for text in arguments.pop("where")]
    for column in (column for column, *value in where if not value):
        raise click.BadParameter(f"{column!r}: write COLUMN=VALUE", param_hint="--where")
    return {
        "format": arguments.pop("format_"),
        "where": where,
        **{name: arguments.pop(name) for name in AS_THEY_ARE},
    }


def read_sources(arguments: dict[str, Any], *, must_meet: bool = False, **more: Any) -> "Battles":
    """Remove the options of `sources`, and `human_labels`, `one_sided` and `complete` if they are
    there, from `arguments` and read the battles that they describe; with `must_meet`, labels of
    other battles raise an error."""
    from podium.data.reading.judgments import read_battles

    labels, complete = arguments.pop("human_labels", ()), arguments.pop("complete", False)
    if "one_sided" in arguments:
        more["one_sided"] = arguments.pop("one_sided")
    battles = read_battles(*arguments.pop("sources"), **reading_arguments(arguments), **more)
    battles = _add_labels(battles, labels, must_meet=must_meet) if labels else battles
    return battles.complete_items() if complete else battles
