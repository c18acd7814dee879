"""podium replay: what a tournament would have found, and what it would have cost."""

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from podium.cli.output_file import OutputFile
from podium.cli.sources import read, source_options
from podium.cli.study import RANKERS, study
from podium.errors import UsageError


class Numbers(click.ParamType):
    """`1000,5000` as whole numbers above 0."""

    name = "N[,N...]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Split at commas."""
        if not isinstance(value, str):
            return value
        parts = [part.strip() for part in value.split(",")]
        if not all(part.isascii() and part.isdigit() and int(part) > 0 for part in parts):
            self.fail(f"{value!r}: write whole numbers above 0, separated by commas", param, ctx)
        return tuple(map(int, parts))


@click.command(short_help="Play a tournament with recorded verdicts as the judge.")
@source_options
@click.option(
    "--tournament",
    "tournaments",
    metavar="NAME[,NAME...]",
    help="Which battles to play; `podium list tournaments` shows them. Several are set side by side.",
)
@click.option(
    "--ranker",
    "rankers",
    default="bradley-terry",
    show_default=True,
    metavar="NAME[,NAME...]",
    help="One or more rankers; side by side, one; in a study, win-rate as well unless others are named.",
)
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Confidence level of intervals and rank sets.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the tournament and the rankers."
)
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
@click.option("--pool", is_flag=True, help="Take the verdicts of several judges together.")
@click.option(
    "--one-sided",
    type=click.Choice(["unread", "keep"]),
    default="unread",
    show_default=True,
    help="A pair of which only one order could be read is unread, or keeps that verdict.",
)
@click.option("--complete", is_flag=True, help="Only items on which every pair has a readable verdict.")
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
    metavar="[NAME.]KEY=VALUE",
    help="An option of a tournament or a ranker, as items=100; may be given several times.",
)
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
    from podium.report.writers import suffix_style
    from podium.study.side_by_side import tournament_names

    style, output = arguments.pop("style") or suffix_style(arguments["output"]), arguments.pop("output")
    whole_study = arguments.pop("whole_study")
    names = tournament_names(_tournaments(arguments.pop("tournaments"), whole_study))
    _refuse_misplaced(arguments, whole_study)
    complete = arguments.pop("complete")
    if whole_study and context.get_parameter_source("rankers") is ParameterSource.DEFAULT:
        arguments["rankers"] = ",".join(RANKERS)
    rankers = _settled(arguments, names)
    battles = read(arguments, one_sided=arguments.pop("one_sided"))
    battles = battles.complete_items() if complete else battles
    if whole_study:
        study(battles, names, rankers, style, output, arguments)
    elif len(names) == 1 and arguments["seeds"] is None and arguments["budgets"] is None:
        context.exit(_single(battles, names[0], rankers, style, output, arguments))
    else:
        _several(battles, names, rankers, style, output, arguments)


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


def _settled(arguments: dict[str, Any], tournaments: list[str]) -> list[str]:
    """Read the typed settings into `arguments["options"]`; return the names of the rankers."""
    from podium.plugins.settings import parse_settings, ranker_names

    rankers = ranker_names(arguments.pop("rankers"))
    arguments["options"] = parse_settings(arguments.pop("settings"), rankers, tournaments)
    return rankers


def _single(
    battles: Any, tournament: str, rankers: list[str], style: str, output: Path | None, arguments: dict[str, Any]
) -> int:
    """Play one tournament once; return the exit code."""
    from podium.cli.output import announce, write_figures
    from podium.replays import replay as replay_battles
    from podium.report.ranking_view import ranking_reports

    common = {name: arguments[name] for name in ("level", "seed", "pool")}
    found = replay_battles(battles, tournament, rankers, **common, **arguments["options"])
    announce(found.ranking)
    write_figures(found.ranking, ranking_reports, style, output)
    return 3 if found.ranking.failures else 0


def _several(
    battles: Any, tournaments: list[str], rankers: list[str], style: str, output: Path | None, arguments: dict[str, Any]
) -> None:
    """Set tournaments side by side."""
    from podium.cli.output import write_figures
    from podium.study.side_by_side import set_side_by_side
    from podium.study.side_by_side_report import side_by_side_reports

    common = {name: arguments[name] for name in ("seed", "pool")}
    found = set_side_by_side(
        battles,
        tournaments,
        ",".join(rankers),
        seeds=arguments["seeds"] or 1,
        budgets=arguments["budgets"] or (),
        **common,
        **arguments["options"],
    )
    write_figures(found, side_by_side_reports, style, output, found.warnings)
