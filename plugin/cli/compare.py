"""podium compare: is a model better than another; as a gate, with an exit code."""

from dataclasses import asdict, dataclass

import click

from podium.cli import options
from podium.cli.output import notice_lines, show_progress, warning_line
from podium.data.query import BattleQuery
from podium.show.report.styles import Destination


@dataclass(frozen=True, slots=True)
class ComparisonOptions:
    """What to compare, as typed.

    `podium.compare` describes each option; the fields are its keyword arguments.
    """

    baseline: str | None
    candidates: tuple[str, ...]
    by: str | None
    measure: str
    method: str
    require: tuple[str, ...]
    requirements: str | None
    responses: tuple[str, ...]
    pool: bool
    level: float


@options.command("How to compare", "Test whether a model is better than another; a gate for CI.")
@click.argument("sources", nargs=-1, required=True, metavar="A B [SOURCE...]")
@options.reading_options
@click.option(
    "--baseline",
    metavar="NAME",
    help="Compare all models in SOURCE... with this one; leave out A and B.",
)
@click.option(
    "--candidate",
    "candidates",
    multiple=True,
    metavar="NAME",
    help="A model to compare with --baseline; default all.",
)
@click.option("--by", metavar="COLUMN", help="Compare on each value of this column, too.")
@options.choice_option(
    "--measure",
    values="auto score elo win-rate",
    help="What to compare: a metric's score, Elo, or the share of battles won; auto: scores if "
    "there are any, else Elo.",
)
@options.choice_option(
    "--method",
    values="auto betting",
    help="How to test; betting (scores from 0 to 1, or win rates) allows for losses too rare to be "
    "in the sample, and stays valid when items are added after looking.",
)
@click.option(
    "--require",
    multiple=True,
    metavar="better|not-worse=MARGIN",
    help=(
        "Exit with 0, 4 (refuted) or 5 (undecided); MARGIN as 10elo, 2points, 0.02. May be "
        "given several times."
    ),
)
@options.file_option("--requirements", help="Requirements in a YAML or TOML file.")
@options.responses(
    help="Files or folders with the models' responses, if SOURCE does not contain them."
)
@options.pool(help="Take the verdicts of several judges together.")
@options.one_sided
@options.level(help="Confidence level of intervals and of the bounds that requirements ask for.")
@options.output()
def compare(query: BattleQuery, how: ComparisonOptions, destination: Destination) -> int:
    """Test whether model A is better than B, by how much, and on which items.

    A and B are names in SOURCE..., or, without SOURCE, two paths: Inspect logs, lm-eval folders,
    tables of scores.

    \b
    podium compare amber birch verdicts.csv --by category
    podium compare new=runs/today old=runs/main --metric exact_match,strict-match --require not-worse=2points
    podium compare verdicts.csv --baseline birch --format md

    \b
    Exit codes with --require or --requirements: 0 all are met; 4 one is refuted; 5 undecided; else as everywhere.
    \f

    Returns:
        The exit code of the gate if there are requirements. Without, 3 if a comparison failed, or a
        part of the sources or of the responses could not be read; else 0.
    """  # noqa: E501
    from podium.comparison.compare_models import compare as compare_models
    from podium.comparison.comparison_report import comparison_documents, comparison_reports
    from podium.show.report.writing import write_result

    with show_progress():
        comparison = compare_models(*query.sources, **asdict(how), **query.changed_options())
    failures = [f"not compared: {failure}" for failure in comparison.failures]
    messages = [*map(warning_line, failures), *notice_lines(comparison.warnings)]
    # The messages are on stderr; files, and formats other than a table, hold them, too.
    view = comparison_documents
    if destination.output is None and destination.style == "table":
        view = comparison_reports
    write_result(comparison, destination, messages=messages, view=view)
    if comparison.gate:
        return comparison.gate.exit_code
    return 3 if comparison.failures or comparison.lost else 0
