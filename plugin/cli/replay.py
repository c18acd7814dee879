"""podium replay: what a tournament would have found, and what it would have cost."""

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from podium.cli.options import (
    Numbers,
    complete_option,
    level_option,
    one_sided_option,
    output_options,
    pool_option,
    pop_output,
    ranker_option,
    read_sources,
    seed_option,
    settings_option,
    source_options,
)
from podium.cli.output import View
from podium.cli.study import RANKERS, run_typed_study
from podium.errors import UsageError


@click.command(short_help="Play a tournament with recorded verdicts as the judge.")
@source_options
@click.option(
    "--tournament",
    "tournaments",
    metavar="NAME[,NAME...]",
    help="Which battles to play; `podium list tournaments` shows them. Several are set side by side.",
)
@ranker_option("One or more rankers; side by side, one; in a study, win-rate as well unless others are named.")
@level_option()
@seed_option("Seed of the tournament and the rankers.")
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    help="Set tournaments side by side, averaged over so many seeds from --seed; in a study, 20.",
)
@click.option(
    "--budget", "budgets", type=Numbers(), help="Side by side, on as many items as so many battles allow (1000,5000)."
)
@click.option(
    "--study", "whole_study", is_flag=True, help="Every anchor, numbers of items, anchors and entrants, tournaments."
)
@click.option("--items", type=Numbers(), help="Numbers of items of a study; by default 25, 50, 100, 200, 400, 800.")
@click.option(
    "--gold", metavar="FILE", help="In a study, compare with this ranking (model, score), or with these battles."
)
@pool_option("Take the verdicts of several judges together.")
@one_sided_option
@complete_option
@output_options("table", "json", "csv", "md")
@settings_option("[NAME.]KEY=VALUE", "An option of a tournament or a ranker, as items=100; may be given several times.")
@click.pass_context
def replay(context: click.Context, **arguments: Any) -> None:
    """Play a tournament with the verdicts in SOURCE... as its judge, and rank what was played.

    A battle that is not on record is missing: counted, never a tie. Several tournaments, --seeds or --budget give a
    table of how far each is from the ranking of all that is on record, and of what it costs.

    With --study, the record becomes a laboratory: every entrant as the anchor, growing numbers of items, anchors and
    entrants, all tournaments, each over many seeds, against the whole record or a gold ranking.

    \b
    podium replay battles.csv --tournament swim
    podium replay battles.csv --tournament anchor --set anchor.anchor=gpt-4 --ranker win-rate
    podium replay battles.csv --tournament round_robin,anchor,swim,chain --seeds 20 --budget 1000,5000
    podium replay battles.csv --study --gold arena.csv -o study.csv
    """
    from podium.cli.output import write_figures
    from podium.study.side_by_side import tournament_names

    style, output = pop_output(arguments)
    whole_study = arguments.pop("whole_study")
    names = tournament_names(_tournaments(arguments.pop("tournaments"), whole_study))
    _refuse_misplaced(arguments, whole_study)
    complete = arguments.pop("complete")
    if whole_study and context.get_parameter_source("rankers") is ParameterSource.DEFAULT:
        arguments["rankers"] = ",".join(RANKERS)
    rankers = _settle_options(arguments, names)
    battles = read_sources(arguments, one_sided=arguments.pop("one_sided"))
    battles = battles.complete_items() if complete else battles
    if not whole_study and len(names) == 1 and arguments["seeds"] is None and arguments["budgets"] is None:
        context.exit(_replay_once(battles, names[0], rankers, style, output, arguments))
    run = run_typed_study if whole_study else _compare_tournaments
    figures, view = run(battles, names, rankers, arguments)
    write_figures(figures, view, style, output, figures.warnings)


def _tournaments(typed: str | None, whole_study: bool) -> str:
    """Return the names that were typed; in a study, all of podium's own by default.

    Raises:
        UsageError: none were typed, and it is no study.
    """
    if typed is None and not whole_study:
        raise click.UsageError("Missing option '--tournament'; or ask for a --study of all.")
    return "round_robin,anchor,swim,chain" if typed is None else typed


def _refuse_misplaced(arguments: dict[str, Any], whole_study: bool) -> None:
    """Refuse options that would be passed over in silence.

    Raises:
        UsageError: one of them was typed.
    """
    if whole_study and arguments["budgets"] is not None:
        raise UsageError("a study varies the number of items, not the budget; leave out --budget, or name --items")
    misplaced = next((name for name in ("items", "gold") if arguments[name] is not None), None)
    if misplaced and not whole_study:
        raise UsageError(f"--{misplaced} belongs to a --study; leave it out, or add --study")


def _settle_options(arguments: dict[str, Any], tournaments: list[str]) -> list[str]:
    """Read the typed settings into `arguments["options"]`; return the names of the rankers."""
    from podium.plugins.settings import parse_settings, ranker_names

    rankers = ranker_names(arguments.pop("rankers"))
    arguments["options"] = parse_settings(arguments.pop("settings"), rankers, tournaments)
    return rankers


def _replay_once(
    battles: Any, tournament: str, rankers: list[str], style: str, output: Path | None, arguments: dict[str, Any]
) -> int:
    """Play one tournament once; return the exit code."""
    from podium.cli.output import announce, write_figures
    from podium.replays import replay as replay_battles
    from podium.report.ranking_view import ranking_reports

    common = {name: arguments[name] for name in ("level", "seed", "pool")}
    ranking = replay_battles(battles, tournament, rankers, **common, **arguments["options"]).ranking
    announce(ranking)
    write_figures(ranking, ranking_reports, style, output)
    return 3 if ranking.failures else 0


def _compare_tournaments(
    battles: Any, tournaments: list[str], rankers: list[str], arguments: dict[str, Any]
) -> tuple[Any, View]:
    """Set tournaments side by side."""
    from podium.study.side_by_side import set_side_by_side
    from podium.study.side_by_side_report import side_by_side_reports

    common = {name: arguments[name] for name in ("seed", "pool")}
    comparison = set_side_by_side(
        battles,
        tournaments,
        ",".join(rankers),
        seeds=arguments["seeds"] or 1,
        budgets=arguments["budgets"] or (),
        **common,
        **arguments["options"],
    )
    return comparison, side_by_side_reports
