"""podium replay: what a tournament would have found, and what it would have cost."""

from typing import Any

import click

from podium.cli import options
from podium.errors import UsageError

STUDY = "run benchmarks/anchor_study.py of podium's repository, which prints Kendall's tau by anchor, items and anchors"
REMOVED = dict.fromkeys(("--study", "--items", "--gold", "--section", "--full"), STUDY)
REMOVED["--items"] += "; a tournament's number of items is --set items=N"


@options.command(
    "What to play", "Play a tournament with recorded verdicts as the judge.", removed=REMOVED
)
@options.sources
@click.option(
    "--tournament",
    "tournaments",
    required=True,
    metavar="NAME[,NAME...]",
    help="Which battles to play; `podium list tournaments` shows the names. Several are compared in a table.",
)
@options.ranker(help="One or more rankers; several tournaments are compared by one.")
@options.level()
@options.seed(help="Seed of the tournament and the rankers.")
@options.count_option("--seeds", "Compare tournaments over this many seeds, counted from --seed.")
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
def replay(**arguments: Any) -> int:
    """Play a tournament with the verdicts in SOURCE... as its judge, and rank what was played.

    A battle that is not on record counts as missing, never as a tie. Several tournaments, --seeds
    or --budget print a table of costs, and of how far each ranking is from the ranking of the whole
    record.

    \b
    podium replay battles.csv --tournament swim
    podium replay battles.csv --tournament anchor --set anchor.anchor=gpt-4 --ranker win-rate
    podium replay battles.csv --tournament round_robin,anchor,swim,chain --seeds 20 --budget 1000,5000
    podium replay battles.csv --tournament ring,chain,swim --set ring.until=top3 --set chain.until=top3 --seeds 20
    """
    from podium.cli.output import announce, write_figures
    from podium.planning.replays import replay as replay_battles
    from podium.planning.tournament_table import compare_tournaments, tournament_names
    from podium.plugins.settings import parse_settings, ranker_names

    style, output = options.pop_output(arguments)
    names, rankers = (
        tournament_names(arguments.pop("tournaments")),
        ranker_names(arguments.pop("rankers")),
    )
    settings = parse_settings(arguments.pop("settings"), rankers, names)
    if "seed" in settings:
        raise UsageError("--set seed: give --seed, which seeds the tournament and the rankers")
    seeds, budgets = arguments.pop("seeds"), arguments.pop("budgets")
    battles = options.read_sources(arguments)
    # What is left of the arguments are level, seed and pool.
    if len(names) == 1 and seeds is None and budgets is None:
        ranking = replay_battles(battles, names[0], rankers, **arguments, **settings).ranking
        announce(ranking)
        write_figures(ranking, style, output)
        return 3 if ranking.failures or battles.lost else 0
    del arguments["level"]
    settings |= {"seeds": seeds or 1, "budgets": budgets or ()}
    table = compare_tournaments(battles, names, ",".join(rankers), **arguments, **settings)
    write_figures(table, style, output, [*battles.lost, *table.warnings])
    return 3 if battles.lost else 0
