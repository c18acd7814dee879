"""podium diagnose: recorded verdicts in, a card per judge out."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from podium.cli import options
from podium.cli.options import Detail
from podium.cli.output import notice_lines, show_progress
from podium.data.query import BattleQuery
from podium.errors import DataError
from podium.show.report.styles import Destination

if TYPE_CHECKING:
    from podium.diagnosis.card import Diagnosis
    from podium.tables import Report


@dataclass(frozen=True, slots=True)
class DiagnosisOptions:
    """What to look at, as typed; `podium.diagnose` describes each option.

    Attributes:
        gold: a file of a ranking, or of human battles.
        families: a file with the columns `model` and `family`, or `PATTERN=FAMILY,...`.
        near_tie: largest absolute margin of a near-tie.
        level: confidence level of intervals.
        seed: seed of the bootstrap draws.
    """

    gold: str | None
    families: Sequence[str]
    near_tie: float
    level: float
    seed: int


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
    multiple=True,
    help="Families of models and judges; by default guessed from names.",
)
@options.number_option(
    "--near-tie", interval="[0,]", help="Largest |margin| of a near-tie.", default=0.3
)
@options.level(help="Confidence level of intervals.")
@options.seed(help="Seed of bootstrap draws.")
@options.one_sided
@options.detail
@options.output(csv=False)
def diagnose(
    query: BattleQuery, how: DiagnosisOptions, detail: Detail, destination: Destination
) -> int:
    """Measure whether the judges in SOURCE... may rank models, and whether their rating gaps match
    human ratings.

    What the data cannot answer (no repeats, no human labels, no lengths) is listed with what would
    answer it.

    \b
    podium diagnose verdicts.csv
    podium diagnose verdicts.csv --section position
    podium diagnose votes.parquet --human-judge crowd --where judge=gpt-4
    podium diagnose verdicts.csv --gold leaderboard.csv --families 'acme-*=Acme,gpt-*=OpenAI'
    \f

    Returns:
        The exit code: 3 if a part of the sources or of `--gold` could not be read, else 0.
    """
    from podium.data.reading.judgments import read_query
    from podium.diagnosis.card import diagnose as diagnose_battles
    from podium.diagnosis.subject import read_gold
    from podium.show.report.writing import write_result

    families = options.join_assignments(map(_read_families, how.families))
    with show_progress():
        judgments = read_query(query.without_merging())
        battles = read_query(query)
        gold = read_gold(how.gold) if how.gold else None
    diagnosis = diagnose_battles(
        judgments,
        battles,
        gold=gold,
        families=families,
        level=how.level,
        seed=how.seed,
        near_tie=how.near_tie,
    )
    write_result(
        diagnosis,
        destination,
        messages=notice_lines(diagnosis.warnings),
        view=lambda result: _reports_in_detail(result, detail),
    )
    is_partial = battles.lost or (gold is not None and gold.lost_files)
    return 3 if is_partial else 0


def _read_families(typed_families: str) -> dict[str, str]:
    """Return families by pattern of a model's name.

    Args:
        typed_families: `PATTERN=FAMILY,...`, or a file with the columns `model` and `family`. An
            existing file counts as a file even if its name has an equals sign.

    Raises:
        DataError: the file names no family or cannot be read, or a model has two rows in it.
    """
    from podium.data.reading.side_tables import about_models, families_of

    if "=" in typed_families and not Path(typed_families).is_file():
        return options.read_assignments(typed_families)
    families = families_of(about_models(typed_families))
    if not families:
        remedy = "write the columns model and family"
        raise DataError("no family in it", source=typed_families, remedy=remedy)
    return families


def _reports_in_detail(diagnosis: "Diagnosis", detail: Detail) -> "Sequence[Report]":
    """Return the reports that are shown.

    They are those of one section with `--section`, all with `--full`, and else the summary.
    """
    from podium.diagnosis.card import card_reports, section_reports, summary_reports

    if detail.section:
        return section_reports(diagnosis, name=detail.section)
    return card_reports(diagnosis) if detail.full else summary_reports(diagnosis)
