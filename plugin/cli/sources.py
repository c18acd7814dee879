"""Options that say how files are read, shared by the commands that read them."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from podium.battles import Battles

Command = TypeVar("Command", bound=Callable[..., Any])


class Assignments(click.ParamType):
    """`a=b,c=d` as a dictionary."""

    name = "KEY=VALUE,..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Split at commas and at the first `=` of each part."""
        if not isinstance(value, str):
            return value
        parts = [part.partition("=") for part in value.split(",")]
        wrong = next((key for key, equals, _ in parts if not equals or not key), None)
        if wrong is not None:
            self.fail(f"{value!r}: write KEY=VALUE, separated by commas", param, ctx)
        return {key.strip(): text.strip() for key, _, text in parts}


class Credits(Assignments):
    """`1=1,0=0.5,-1=0` as a dictionary of credits."""

    name = "VERDICT=CREDIT,..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the credits as numbers in [0, 1]."""
        words = super().convert(value, param, ctx)
        try:
            credit_of = {word: float(credit) for word, credit in words.items()}
        except ValueError:
            self.fail(f"{value!r}: credits are numbers, for example 1=1,0=0.5,-1=0", param, ctx)
        if not all(0 <= credit <= 1 for credit in credit_of.values()):
            self.fail(f"{value!r}: credits lie in [0, 1], as the left model earned them", param, ctx)
        return credit_of


OPTIONS = (
    click.argument("sources", nargs=-1, required=True, metavar="SOURCE..."),
    click.option("--from", "format_", metavar="FORMAT", help="Format of the files; by default recognised by content."),
    click.option(
        "--where",
        multiple=True,
        metavar="COLUMN=VALUE",
        help="Keep only these rows; may be given several times.",
    ),
    click.option(
        "--human-judge", metavar="NAME", help="This judge's verdicts become the human labels of the others' battles."
    ),
    click.option("--columns", type=Assignments(), help="Columns of a foreign table, as item=prompt,model_a=left."),
    click.option("--credit-map", type=Credits(), help="Verdicts of a foreign table, as 1=1,0=0.5,-1=0."),
    click.option(
        "--unknown",
        type=click.Choice(["error", "unread"]),
        default="error",
        show_default=True,
        help="A verdict that --credit-map does not know is an error, or unread.",
    ),
    click.option(
        "--shown",
        type=click.Choice(["a", "b", "unknown"]),
        help="Which response was shown first, where no column says it.",
    ),
    click.option("--fill", type=Assignments(), help="One value for a column that the table lacks, as model_b=gpt-4."),
    click.option(
        "--metric",
        multiple=True,
        metavar="NAME[,FILTER]",
        help="Of lm-eval folders: what to compare; may be given several times, or all. Default: the only one there is.",
    ),
    click.option(
        "--runs",
        type=click.Choice(["newest", "all"]),
        default="newest",
        show_default=True,
        help="Of a model that lm-eval ran several times on a task: the newest run counts, or all are repeats.",
    ),
)


def source_options(command: Command) -> Command:
    """Add the argument SOURCE... and the options that say how to read it."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def read(arguments: dict[str, Any], **more: Any) -> "Battles":
    """Read the battles that the options of `source_options` describe, taking those options out of `arguments`."""
    from podium.reading.judgements import read_battles

    sources = arguments.pop("sources")
    return read_battles(
        *sources,
        format=arguments.pop("format_"),
        where=[_condition(text) for text in arguments.pop("where")],
        **{
            name: arguments.pop(name)
            for name in ("human_judge", "columns", "credit_map", "unknown", "shown", "fill", "metric", "runs")
        },
        **more,
    )


def _condition(text: str) -> tuple[str, str]:
    column, equals, value = text.partition("=")
    if not equals:
        raise click.BadParameter(f"{text!r}: write COLUMN=VALUE", param_hint="--where")
    return column, value
