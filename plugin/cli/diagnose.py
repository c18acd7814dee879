"""podium diagnose: recorded verdicts in, a card per judge out."""

from functools import partial
from pathlib import Path
from typing import Any

import click

from podium.cli import options
from podium.cli.output import show_progress, write_figures
from podium.errors import DataError
from podium.show.report.styles import View


@options.command(
    "What to look at",
    "Measure how far to trust a judge: biases, consistency, agreement with humans.",
)
@options.sources
@click.option(
    "--gold", metavar="RANKING|BATTLES", help="The gold standard: a ranking, or human battles."
)
@click.option(
    "--families",
    metavar="FILE|PATTERN=FAMILY,...",
    help="Families of models and judges; by default guessed from names.",
)
@options.number_option("--near-tie", "[0,]", "Largest |margin| of a near-tie.", default=0.3)
@options.level(help="Confidence level of intervals.")
@options.seed(help="Seed of bootstrap draws.")
@options.one_sided
@options.detail
@options.output(csv=False)
def diagnose(**arguments: Any) -> int:
    """Measure whether the judges in SOURCE... may rank models, and whether their rating gaps match
    human ratings.

    What the data cannot answer (no repeats, no human labels, no lengths) is listed with what would
    answer it.

    \b
    podium diagnose verdicts.csv
    podium diagnose verdicts.csv --section position
    podium diagnose votes.parquet --human-judge crowd --where judge=gpt-4
    podium diagnose verdicts.csv --gold leaderboard.csv --families 'acme-*=Acme,gpt-*=OpenAI'
    """
    from podium.data.reading.side_tables import about_models, families_of
    from podium.diagnosis.card import card_reports, section_reports, summary_reports
    from podium.diagnosis.card import diagnose as diagnose_battles
    from podium.diagnosis.subject import read_gold

    style, output = options.pop_output(arguments)
    common = {name: arguments.pop(name) for name in ("level", "seed", "near_tie")}
    gold, given, families = arguments.pop("gold"), arguments.pop("families"), {}
    one_sided, (section, full) = arguments.pop("one_sided"), options.pop_detail(arguments)
    view: View = card_reports if full else summary_reports
    if section:
        view = partial(section_reports, name=section)
    if given and "=" in given and not Path(given).is_file():
        families = options.read_assignments(given)
    elif given is not None and not (families := families_of(about_models(given))):
        raise DataError(
            "no family in it", source=given, remedy="write the columns model and family"
        )
    with show_progress():
        judgments = options.read_sources(dict(arguments), merge=False)
        battles = options.read_sources(dict(arguments), one_sided=one_sided)
        standard = read_gold(gold) if gold else None
    diagnosis = diagnose_battles(judgments, battles, gold=standard, families=families, **common)
    write_figures(diagnosis, style, output, diagnosis.warnings, view)
    return 3 if battles.lost else 0
