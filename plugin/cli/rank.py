"""podium rank: recorded verdicts in, rankings out."""

from typing import Any

import click
from click.core import ParameterSource

from podium.cli.output_file import OutputFile
from podium.cli.sources import read, source_options
from podium.errors import UsageError

STREAMED = {"sources", "rankers", "columns", "level", "seed", "settings", "style", "output", "stream"}
"""Parameters that `--stream` heeds."""


@click.command(short_help="Rank models from files of verdicts.")
@source_options
@click.option(
    "--ranker",
    "rankers",
    default="bradley-terry",
    show_default=True,
    metavar="NAME[,NAME...]",
    help="One or more rankers; `podium list rankers` shows them.",
)
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Confidence level of intervals and rank sets.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seed of bootstrap draws and rank sets; the same seed gives the same output.",
)
@click.option("--by", metavar="COLUMN", help="One ranking per value of this column.")
@click.option("--pool", is_flag=True, help="Rank the verdicts of several judges together.")
@click.option(
    "--calibration",
    metavar="FILE",
    type=click.Path(),
    help="A file made by `podium calibrate`: beta and conformal intervals for soft-elo.",
)
@click.option(
    "--entrants", metavar="FILE", type=click.Path(), help="A table with a column model, and family, date ... of each."
)
@click.option("--no-merge", is_flag=True, help="Keep the two orders of a pair as battles of their own.")
@click.option(
    "--one-sided",
    type=click.Choice(["unread", "keep"]),
    default="unread",
    show_default=True,
    help="A pair of which only one order could be read is unread, or keeps that verdict.",
)
@click.option("--complete", is_flag=True, help="Only items on which every pair has a readable verdict.")
@click.option("--stream", is_flag=True, help="Read Parquet of any size piece by piece (bradley-terry, no merging).")
@click.option(
    "--format",
    "style",
    type=click.Choice(["table", "json", "csv", "md"]),
    help="Output format; by default that of -o's suffix, else table.",
)
@click.option("-o", "output", metavar="FILE", type=OutputFile(), help="Write to this file.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="[RANKER.]KEY=VALUE",
    help="An option of a ranker, as pin=MODEL:1000; may be given several times.",
)
@click.pass_context
def rank(context: click.Context, **arguments: Any) -> None:
    """Rank the models in SOURCE... (files, directories or globs, each optionally label=path).

    \b
    podium rank battles.csv --ranker bradley-terry
    podium rank results/ --ranker win-rate --set anchor=gpt-4 --where judge=NAME
    podium rank lm_eval_out/ --metric acc,none --by task
    podium rank votes.parquet --columns model_a=left,model_b=right,credit=vote \\
        --credit-map left=1,tie=0.5,right=0 --ranker bradley-terry --by language
    """
    from podium.cli.output import announce, write_figures
    from podium.cli.progress_bar import shown_on_terminal
    from podium.report.ranking_view import ranking_reports
    from podium.report.writers import suffix_style

    style = arguments.pop("style") or suffix_style(arguments["output"])
    output = arguments.pop("output")
    with shown_on_terminal():
        ranking, whole = _ranking(context, arguments)
    announce(ranking)
    write_figures(ranking, ranking_reports, style, output)
    context.exit(0 if whole and not ranking.failures else 3)


def _ranking(context: click.Context, arguments: dict[str, Any]) -> tuple[Any, bool]:
    """Return the ranking, and whether all sources could be read."""
    from podium.plugins.settings import parse_settings, ranker_names

    names = ranker_names(arguments.pop("rankers"))
    options = parse_settings(arguments.pop("settings"), names)
    if arguments.pop("stream"):
        _refuse_unstreamed(context)
        return _streamed(arguments, names, options), True
    from podium.rank_battles import rank as rank_battles

    common = {name: arguments.pop(name) for name in ("level", "seed", "by", "pool", "calibration", "entrants")}
    complete = arguments.pop("complete")
    battles = read(arguments, merge=not arguments.pop("no_merge"), one_sided=arguments.pop("one_sided"))
    ranked = rank_battles(battles.complete_items() if complete else battles, names, **common, **options)
    return ranked, not battles.lost


def _refuse_unstreamed(context: click.Context) -> None:
    """Refuse options that a stream would pass over in silence."""
    given = [
        param.opts[0]
        for param in context.command.params
        if param.name not in STREAMED and context.get_parameter_source(str(param.name)) is ParameterSource.COMMANDLINE
    ]
    if given:
        raise UsageError(f"--stream ranks the rows as they are and does not know {', '.join(given)}; leave one out")


def _streamed(arguments: dict[str, Any], names: list[str], options: dict[str, Any]) -> Any:
    from podium.plugins.settings import options_of
    from podium.streaming import rank_stream

    settings = {key.rpartition(".")[2]: value for key, value in options.items()}
    unknown = sorted(settings.keys() - options_of(rank_stream).keys())
    if unknown:
        raise UsageError(f"--stream does not know the setting {', '.join(unknown)}; leave one out")
    common = {name: arguments[name] for name in ("level", "seed")}
    return rank_stream(arguments["sources"], names, arguments["columns"], **common, **settings)
