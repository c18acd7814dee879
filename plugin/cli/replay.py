"""podium replay: what a tournament would have found, and what it would have cost."""

from functools import partial
from typing import Any

import click
from click.core import ParameterSource

from podium.cli import options
from podium.cli.output import View
from podium.errors import UsageError

STUDIED_RANKERS = ("bradley-terry", "win-rate")
"""Rankers of a study in which none are named."""
STUDY_SEEDS = 20


@click.command(
    cls=options.GroupedCommand,
    doing="What to play",
    short_help="Play a tournament with recorded verdicts as the judge.",
)
@options.sources
@click.option(
    "--tournament",
    "tournaments",
    metavar="NAME[,NAME...]",
    help="Which battles to play; `podium list tournaments` shows them. Several are set side by side.",
)
@options.ranker(help="One or more rankers; side by side, one; in a study, win-rate as well unless others are named.")
@options.level()
@options.seed(help="Seed of the tournament and the rankers.")
@options.count_option(
    "--seeds", "Set tournaments side by side, averaged over so many seeds from --seed; in a study, 20."
)
@options.numbers("--budget", "budgets", help="Side by side, on as many items as so many battles allow (1000,5000).")
@click.option(
    "--study", "whole_study", is_flag=True, help="Every anchor, numbers of items, anchors and models, tournaments."
)
@options.numbers("--items", help="Numbers of items of a study; by default 25, 50, 100, 200, 400, 800.")
@click.option(
    "--gold", metavar="FILE", help="In a study, compare with this ranking (model, score), or with these battles."
)
@options.pool(help="Take the verdicts of several judges together.")
@options.one_sided
@options.complete
@options.detail
@options.output()
@options.settings(
    metavar="[NAME.]KEY=VALUE", help="An option of a tournament or a ranker, as items=100; may be given several times."
)
@click.pass_context
def replay(context: click.Context, **arguments: Any) -> None:
    """Play a tournament with the verdicts in SOURCE... as its judge, and rank what was played.

    A battle that is not on record is missing: counted, never a tie. Several tournaments, --seeds or --budget give a
    table of how far each is from the ranking of all that is on record, and of what it costs.

    With --study, the record becomes a laboratory: every model as the anchor, growing numbers of items, anchors and
    models, all tournaments, each over many seeds, against the whole record or a gold ranking.

    \b
    podium replay battles.csv --tournament swim
    podium replay battles.csv --tournament anchor --set anchor.anchor=gpt-4 --ranker win-rate
    podium replay battles.csv --tournament round_robin,anchor,swim,chain --seeds 20 --budget 1000,5000
    podium replay battles.csv --tournament ring,chain,swim --set ring.until=top3 --set chain.until=top3 --seeds 20
    podium replay battles.csv --study --gold arena.csv -o study.csv
    """
    from podium.cli.output import announce, write_figures
    from podium.plugins.settings import parse_settings, ranker_names
    from podium.report.ranking_view import ranking_reports
    from podium.study.side_by_side import tournament_names
    from podium.study.study_report import select_reports
    from podium.verbs.replays import replay as replay_battles

    style, output = options.pop_output(arguments)
    whole_study = arguments.pop("whole_study")
    typed = arguments.pop("tournaments")
    if typed is None and not whole_study:
        raise click.UsageError("Missing option '--tournament'; or ask for a --study of all.")
    names = tournament_names("round_robin,anchor,swim,chain,ring" if typed is None else typed)
    asked = {name: arguments.pop(name) for name in ("seeds", "budgets", "items", "gold")}
    _refuse_misplaced({**arguments, **asked}, whole_study)
    section, full = options.pop_detail(arguments, style)
    if whole_study and context.get_parameter_source("rankers") is ParameterSource.DEFAULT:
        arguments["rankers"] = ",".join(STUDIED_RANKERS)
    rankers = ranker_names(arguments.pop("rankers"))
    settings = parse_settings(arguments.pop("settings"), rankers, names)
    if "seed" in settings:
        raise UsageError("--set seed: give --seed, which seeds the tournament and the rankers")
    complete = arguments.pop("complete")
    battles = options.read_sources(arguments, one_sided=arguments.pop("one_sided"))
    battles = battles.complete_items() if complete else battles
    # What is left of the arguments are level, seed and pool.
    if whole_study:
        figures = _study(battles, names, rankers, asked, {**arguments, **settings})
        view: View = partial(select_reports, section=section, full=full)
    elif len(names) == 1 and asked["seeds"] is None and asked["budgets"] is None:
        ranking = replay_battles(battles, names[0], rankers, **arguments, **settings).ranking
        announce(ranking)
        write_figures(ranking, ranking_reports, style, output)
        context.exit(3 if ranking.failures else 0)
    else:
        del arguments["level"]
        figures, view = _compare_tournaments(battles, names, rankers, asked, {**arguments, **settings})
    write_figures(figures, view, style, output, figures.warnings)


def _refuse_misplaced(typed: dict[str, Any], whole_study: bool) -> None:
    """Raise UsageError for options that would have no effect."""
    if whole_study and typed["budgets"] is not None:
        raise UsageError("a study varies the number of items, not the budget; leave out --budget, or name --items")
    misplaced = next((name for name in ("items", "gold", "section", "full") if typed[name] not in (None, False)), None)
    if misplaced and not whole_study:
        raise UsageError(f"--{misplaced} belongs to a --study; leave it out, or add --study")


def _compare_tournaments(
    battles: Any, tournaments: list[str], rankers: list[str], asked: dict[str, Any], common: dict[str, Any]
) -> tuple[Any, View]:
    """Replay several tournaments and return the comparison with its view."""
    from podium.study.side_by_side import set_side_by_side
    from podium.study.study_report import side_by_side_reports

    seeds, budgets = asked["seeds"] or 1, asked["budgets"] or ()
    ranker = ",".join(rankers)
    return set_side_by_side(battles, tournaments, ranker, seeds=seeds, budgets=budgets, **common), side_by_side_reports


def _study(
    battles: Any, tournaments: list[str], rankers: list[str], asked: dict[str, Any], common: dict[str, Any]
) -> Any:
    from podium.cli.progress_bar import show_progress
    from podium.study.laboratory import run_study
    from podium.study.yardstick import read_reference

    numbers: dict[str, Any] = {"items": asked["items"] or (), "seeds": asked["seeds"] or STUDY_SEEDS}
    with show_progress():
        gold = read_reference(asked["gold"], pool=common["pool"]) if asked["gold"] is not None else {}
        return run_study(battles, rankers, tournaments=tournaments, **numbers, **gold, **common)
