"""podium rank: recorded verdicts in, rankings out."""

from typing import Any

import click

from podium.cli import options

DEFAULT_RANKERS = ("bradley-terry", "mean")
"""If no ranker is named, one of these ranks, which depends on the sources."""


@options.command("How to rank", "Rank models from files of verdicts.")
@options.sources
@options.ranker(
    default=None,
    help="One or more rankers; `podium list rankers` shows them. Default: bradley-terry; without a judge, mean.",
)
@click.option("--by", metavar="COLUMN", help="One ranking per value of this column.")
@options.settings(
    metavar="[RANKER.]KEY=VALUE",
    help="An option of a ranker, as pin=MODEL:1000; may be given several times.",
)
@options.pool(help="Rank the verdicts of several judges together.")
@options.file_option(
    "--calibration",
    help="A file made by `podium calibrate`: beta and conformal intervals for soft-elo.",
)
@options.level()
@options.seed(help="Seed of bootstrap draws and rank sets; the same seed gives the same output.")
@options.human_labels
@options.file_option("--models", help="A table with a column model, and family, date ... of each.")
@click.option(
    "--no-merge", is_flag=True, help="Keep the two orders of a pair as battles of their own."
)
@options.one_sided
@options.complete
@click.option(
    "--engine",
    metavar="NAME[=URL]",
    default="duckdb",
    help="What counts the verdicts: duckdb, or spark with the URL of a master.",
)
@click.option(
    "--memory",
    metavar="SIZE",
    help="The most that DuckDB holds in memory, as 700MB; the rest is on disk.",
)
@options.output()
@options.figure(help="Draw scores, intervals and rank sets into this .svg, .png or .pdf file.")
def rank(**arguments: Any) -> int:
    """Rank the models in SOURCE... (files, directories, globs or URLs, each optionally label=path).

    \b
    podium rank battles.csv --ranker bradley-terry
    podium rank results/ --ranker win-rate --set anchor=gpt-4 --where judge=NAME
    podium rank lm_eval_out/ --metric acc,none --by task
    podium rank votes.parquet --columns model_a=left,model_b=right,credit=vote \\
        --credit-map left=1,tie=0.5,right=0 --ranker bradley-terry --by language
    """
    from podium.cli.output import announce, draw, show_progress, write_figures

    style, output = options.pop_output(arguments)
    figure = arguments.pop("figure")
    with show_progress():
        ranking, battles = rank_sources(arguments)
    announce(ranking)
    write_figures(ranking, style, output)
    draw(ranking, figure)
    return 3 if battles.lost or ranking.failures else 0


def rank_sources(arguments: dict[str, Any]) -> tuple[Any, Any]:
    """Read, rank and return the ranking and the battles; used options are removed from
    `arguments`."""
    from podium.plugins.settings import parse_settings, ranker_names

    named, texts = arguments.pop("rankers"), arguments.pop("settings")
    names = ranker_names(named) if named is not None else None
    # Without settings, the default rankers are not needed yet: importing both takes long.
    settings = parse_settings(texts, names or DEFAULT_RANKERS) if names or texts else {}
    from podium.ranking.rank_battles import rank as rank_battles

    common = {
        name: arguments.pop(name)
        for name in ("level", "seed", "by", "pool", "calibration", "models")
    }
    how: dict[str, Any] = {
        name: arguments.pop(name) for name in ("engine", "memory") if name in arguments
    }
    how["scores_only"] = {*names} <= {"mean", "median"} if names else None
    battles = options.read_sources(arguments, merge=not arguments.pop("no_merge", False), **how)
    return rank_battles(battles, names, **common, **settings), battles
