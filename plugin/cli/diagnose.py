"""podium diagnose: recorded verdicts in, a card per judge out."""

from pathlib import Path
from typing import Any

import click

from podium.cli.output_file import OutputFile
from podium.cli.sources import Assignments, read, source_options


@click.command(short_help="Tell how far to trust a judge: biases, consistency, agreement with people.")
@source_options
@click.option("--gold", metavar="RANKING|BATTLES", help="What the judge is measured by: a ranking, or human battles.")
@click.option(
    "--families",
    metavar="FILE|PATTERN=FAMILY,...",
    help="Families of models and judges; by default guessed from names.",
)
@click.option(
    "--near-tie",
    type=click.FloatRange(min=0),
    default=0.3,
    show_default=True,
    help="Largest |margin| of a near-tie.",
)
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Confidence level of intervals.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of bootstrap draws.")
@click.option(
    "--one-sided",
    type=click.Choice(["unread", "keep"]),
    default="unread",
    show_default=True,
    help="A pair of which only one order could be read is unread, or keeps that verdict.",
)
@click.option(
    "--format",
    "style",
    type=click.Choice(["table", "json", "md"]),
    help="Output format; by default that of -o's suffix, else table.",
)
@click.option("-o", "output", metavar="FILE", type=OutputFile((".json", ".md", ".txt")), help="Write to this file.")
def diagnose(**arguments: Any) -> None:
    """Describe the judges whose verdicts are in SOURCE..., one card each.

    What the data cannot answer (no repeats, no human labels, no lengths) is said, with what would supply it; the rest
    is answered.

    \b
    podium diagnose verdicts.csv
    podium diagnose votes.parquet --human-judge crowd --where judge=gpt-4
    podium diagnose verdicts.csv --gold leaderboard.csv --families 'acme-*=Acme,gpt-*=OpenAI'
    """
    from podium.cli.output import write_figures
    from podium.cli.progress_bar import shown_on_terminal
    from podium.diagnosis.card import diagnose as diagnose_battles
    from podium.diagnosis.card_report import card_reports
    from podium.diagnosis.gold_source import read_gold
    from podium.report.writers import suffix_style

    style = arguments.pop("style") or suffix_style(arguments["output"])
    output = arguments.pop("output")
    options = {name: arguments.pop(name) for name in ("level", "seed", "near_tie")}
    gold, families = arguments.pop("gold"), _families(arguments.pop("families"))
    one_sided = arguments.pop("one_sided")
    with shown_on_terminal():
        presentations = read(dict(arguments), merge=False)
        battles = read(dict(arguments), one_sided=one_sided)
        standard = read_gold(gold) if gold else None
    found = diagnose_battles(presentations, battles, gold=standard, families=families, **options)
    write_figures(found, card_reports, style, output, found.warnings)


def _families(given: str | None) -> dict[str, str]:
    """Read patterns, or a table with the columns model and family."""
    from glob import escape

    from podium.errors import DataError
    from podium.reading.entrants import about_entrants

    if given is None:
        return {}
    if "=" in given and not Path(given).is_file():
        return dict(Assignments().convert(given, None, None))
    about = about_entrants(given)
    found = {escape(model): str(known["family"]) for model, known in about.items() if known.get("family")}
    if not found:
        raise DataError("no family in it", source=given, remedy="write the columns model and family")
    return found
