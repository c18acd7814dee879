"""podium replay: what a tournament would have found, and what it would have cost."""

from dataclasses import dataclass

import click

from podium.cli import options
from podium.cli.output import notice_lines
from podium.data.query import BattleQuery
from podium.errors import UsageError
from podium.show.report.styles import Destination

STUDY = (
    "run benchmarks/anchor_study.py of podium's repository, which prints Kendall's tau by anchor, "
    "items and anchors"
)
"""What replaces the options of the study of anchors."""
REMOVED_OPTIONS = dict.fromkeys(("--study", "--items", "--gold", "--section", "--full"), STUDY)
REMOVED_OPTIONS["--items"] += "; a tournament's number of items is --set items=N"
"""What replaces an option that an earlier version had, by option."""


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """What to play, as typed.

    Attributes:
        tournaments: names, separated by commas.
        rankers: names, separated by commas.
        settings: `[NAME.]KEY=VALUE` each, of tournaments and rankers.
        seed: of the tournament and the rankers; the first one where there are several.
        level: confidence level of intervals and rank sets.
        seeds: number of seeds over which tournaments are compared; None if it was not typed.
        budgets: numbers of battles to compare tournaments on; None if none was typed.
        pool: take the verdicts of several judges together.
    """

    tournaments: str
    rankers: str
    settings: tuple[str, ...]
    level: float
    seed: int
    seeds: int | None
    budgets: tuple[int, ...] | None
    pool: bool


@options.command(
    "What to play",
    "Play a tournament with recorded verdicts as the judge.",
    removed=REMOVED_OPTIONS,
)
@options.sources
@click.option(
    "--tournament",
    "tournaments",
    required=True,
    metavar="NAME[,NAME...]",
    help=(
        "Which battles to play; `podium list tournaments` shows the names. Several are compared "
        "in a table."
    ),
)
@options.ranker(help="One or more rankers; several tournaments are compared by one.")
@options.level()
@options.seed(help="Seed of the tournament and the rankers.")
@options.count_option(
    "--seeds", help="Compare tournaments over this many seeds, counted from --seed."
)
@click.option(
    "--budget",
    "budgets",
    type=options.read_numbers,
    metavar="N[,N...]",
    help="Compare tournaments on as many items as these numbers of battles allow (1000,5000).",
)
@options.pool(help="Take the verdicts of several judges together.")
@options.one_sided
@options.complete
@options.output()
@options.settings(
    metavar="[NAME.]KEY=VALUE",
    help="An option of a tournament or a ranker, as items=100; may be given several times.",
)
def replay(query: BattleQuery, how: ReplayOptions, destination: Destination) -> int:
    """Play a tournament with the verdicts in SOURCE... as its judge, and rank what was played.

    A battle that is not on record counts as missing, never as a tie. Several tournaments, --seeds
    or --budget print a table of costs, and of how far each ranking is from the ranking of the whole
    record.

    \b
    podium replay battles.csv --tournament swim
    podium replay battles.csv --tournament anchor --set anchor.anchor=gpt-4 --ranker win-rate
    podium replay battles.csv --tournament round_robin,anchor,swim,chain --seeds 20 --budget 1000,5000
    podium replay battles.csv --tournament ring,chain,swim --set ring.until=top3 --set chain.until=top3 --seeds 20
    \f

    Returns:
        The exit code: 3 if a part of the sources could not be read or a ranker failed, else 0.
    """  # noqa: E501
    from podium.data.reading.judgments import read_query
    from podium.planning.replays import replay as replay_battles
    from podium.planning.tournament_table import compare_tournaments, tournament_names
    from podium.plugins.settings import parse_settings, ranker_names
    from podium.show.report.ranking_view import write_ranking
    from podium.show.report.writing import write_result

    names = tournament_names(how.tournaments)
    rankers = ranker_names(how.rankers)
    settings = parse_settings(how.settings, rankers, names)
    if "seed" in settings:
        raise UsageError("--set seed: give --seed, which seeds the tournament and the rankers")
    battles = read_query(query)
    if len(names) == 1 and how.seeds is None and how.budgets is None:
        replayed = replay_battles(
            battles,
            names[0],
            rankers,
            level=how.level,
            seed=how.seed,
            pool=how.pool,
            **settings,
        )
        write_ranking(replayed.ranking, destination)
        return 3 if replayed.ranking.failures or battles.lost else 0
    table = compare_tournaments(
        battles,
        names,
        ",".join(rankers),
        seeds=how.seeds or 1,
        seed=how.seed,
        budgets=how.budgets or (),
        pool=how.pool,
        **settings,
    )
    warnings = notice_lines([*battles.lost, *table.warnings])
    write_result(table, destination, messages=warnings)
    return 3 if battles.lost else 0
