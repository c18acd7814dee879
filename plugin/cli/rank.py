"""podium rank: recorded verdicts in, rankings out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from podium.cli import options
from podium.cli.output import show_progress
from podium.data.query import BattleQuery
from podium.errors import UsageError
from podium.printable import tell
from podium.show.report.styles import Destination

if TYPE_CHECKING:
    from podium.data.battles import Battles
    from podium.rankers.ranking import Ranking

DEFAULT_RANKERS = ("bradley-terry", "mean")
"""If no ranker is named, one of these ranks, which depends on the sources."""


@dataclass(frozen=True, slots=True)
class RankingOptions:
    """How to rank, as typed; `podium.rank` describes each option.

    Attributes:
        rankers: names, separated by commas; None for the default of the sources.
        settings: `[RANKER.]KEY=VALUE` each.
        level: confidence level of intervals and rank sets.
        seed: seed of bootstrap draws and rank sets.
        by: column with one ranking per value; None for a single ranking.
        pool: rank the verdicts of several judges together.
        calibration: a file made by `podium calibrate`.
        models: a file with a table of facts about the models.
    """

    rankers: str | None = None
    settings: tuple[str, ...] = ()
    level: float = 0.95
    seed: int = 0
    by: str | None = None
    pool: bool = False
    calibration: str | None = None
    models: str | None = None


@options.command("How to rank", "Rank models from files of verdicts.")
@options.optional_sources
@options.ranker(
    default=None,
    help=(
        "One or more rankers; `podium list rankers` shows them. Default: bradley-terry; without "
        "a judge, mean."
    ),
)
@click.option(
    "--by",
    metavar="COLUMN",
    help="One ranking per value of this column. Rank sets hold for all of them together.",
)
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
    "--no-merge",
    "merge",
    is_flag=True,
    callback=options.negate,
    help="Keep the two orders of a pair as battles of their own.",
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
@click.option(
    "--reproduce",
    metavar="RANKING",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help=(
        "Make the ranking in this JSON file again, from the options that it records, and say "
        "whether the numbers are the same."
    ),
)
@options.output()
@options.figure(help="Draw scores, intervals and rank sets into this .svg, .png or .pdf file.")
def rank(
    query: BattleQuery, how: RankingOptions, destination: Destination, reproduce: Path | None
) -> int:
    """Rank the models in SOURCE... (files, directories, globs or URLs, each optionally label=path).

    \b
    podium rank battles.csv --ranker bradley-terry
    podium rank results/ --ranker win-rate --set anchor=gpt-4 --where judge=NAME
    podium rank lm_eval_out/ --metric acc,none --by task
    podium rank votes.parquet --columns model_a=left,model_b=right,credit=vote \\
        --credit-map left=1,tie=0.5,right=0 --ranker bradley-terry --by language
    podium rank --reproduce ranking.json
    \f

    Returns:
        The exit code: 3 if a part of the sources could not be read or a ranker failed, 1 if a
        reproduced ranking has other numbers, else 0.

    Raises:
        UsageError: no source is named, or options are typed beside `--reproduce`.
    """
    if reproduce is not None:
        return _rank_as_recorded(reproduce, query, how, destination)
    if not query.sources:
        raise UsageError("name the files to rank, or a ranking to make again (--reproduce FILE)")
    with show_progress():
        ranking, battles = rank_sources(query, how)
    from podium.show.report.ranking_view import write_ranking

    write_ranking(ranking, destination)
    return 3 if battles.lost or ranking.failures else 0


def _rank_as_recorded(
    path: Path, query: BattleQuery, how: RankingOptions, destination: Destination
) -> int:
    """Make a recorded ranking again, write it, and say whether the numbers are the same.

    Args:
        path: the file of the ranking.
        query: sources to read in place of the recorded ones, if any was named.
        how: the options of ranking; all must have their default values.
        destination: where the ranking is written.

    Returns:
        The exit code: 1 if a number is not the same, else 0.

    Raises:
        UsageError: an option of reading or ranking was typed.
    """
    # What counts the verdicts, and its memory, may be typed: no number depends on them.
    usual = BattleQuery(query.sources, engine=query.engine, memory=query.memory)
    if query != usual or how != RankingOptions():
        raise UsageError("--reproduce takes the options from the file: leave out all others")
    from podium.ranking.reproduce import reproduce
    from podium.show.report.ranking_view import write_ranking

    with show_progress():
        reproduction = reproduce(path, [str(source) for source in query.sources])
    write_ranking(reproduction.ranking, destination)
    tell(reproduction.sentence)
    return 1 if reproduction.differences else 0


def rank_sources(query: BattleQuery, how: RankingOptions) -> "tuple[Ranking, Battles]":
    """Read battles and rank them; return the ranking and the battles.

    With `--by metric` and no metric named, all metrics are read. A ranker that fails is among the
    ranking's `failures` and raises nothing.

    Raises:
        PodiumError: as `podium.read_battles` and `podium.rank`; a mistake in the rankers' names or
        settings is raised before a file is read.
    """
    from podium.ranking.rank_battles import rank as rank_battles

    battles, names, settings = rank_arguments(query, how)
    return rank_battles(battles, names, **settings), battles


def rank_arguments(
    query: BattleQuery, how: RankingOptions
) -> "tuple[Battles, list[str] | None, dict[str, Any]]":
    """Read battles; return them with the names of the rankers and the options of `podium.rank`.

    The names are None for the default. The options are by name of the argument of `podium.rank`:
    those of the command, and the settings of the rankers. With `--by metric` and no metric named,
    all metrics are read.

    Raises:
        PodiumError: as `podium.read_battles`; a mistake in the rankers' names or settings is raised
        before a file is read.
    """
    from podium.plugins.settings import parse_settings, ranker_names

    names = None if how.rankers is None else ranker_names(how.rankers)
    settings = {}
    if names or how.settings:
        # Without settings, the default rankers are not needed yet: importing both takes long.
        settings = parse_settings(how.settings, names or DEFAULT_RANKERS)
    from podium.data.reading.judgments import read_query

    # Of scores, these two rankers need fewer battles than others. None lets the reader decide.
    scores_only = None if names is None else {*names} <= {"mean", "median"}
    query = replace(query, scores_only=scores_only)
    if how.by == "metric" and not query.metric:
        query = replace(query, metric=("all",))
    shared_options = ("level", "seed", "by", "pool", "calibration", "models")
    arguments = {name: getattr(how, name) for name in shared_options} | settings
    return read_query(query), names, arguments


def params_of_ranking(left_out: Sequence[str]) -> list[click.Parameter]:
    """Return the parameters of `podium rank` for another command, which needs a source.

    `--reproduce` is not among them.

    Args:
        left_out: names of the parameters that the other command does not have.
    """
    unused = {*left_out, "sources", "reproduce"}
    sources = click.Argument(["sources"], nargs=-1, required=True, metavar="SOURCE...")
    return [sources, *(param for param in rank.params if param.name not in unused)]
