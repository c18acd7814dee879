"""podium calibrate: human-labelled battles in, a judge's calibration out."""

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from podium.cli import options
from podium.cli.options import Detail
from podium.cli.output import show_progress, tell_notices, warn
from podium.data.query import BattleQuery
from podium.defaults import CALIBRATION_LEVEL
from podium.errors import PodiumError
from podium.known_names import find_name
from podium.printable import tell
from podium.show.report.styles import Destination

if TYPE_CHECKING:
    from podium.data.battles import Battles
    from podium.rankers.calibration.calibration import Calibration
    from podium.tables import Report


@dataclass(frozen=True, slots=True)
class CalibrationOptions:
    """How to calibrate, as typed; `podium.calibrate` describes each option.

    `cluster` is `item` or `row`; a column with groups of items is an option of reading.
    """

    level: float
    splits: int
    bootstrap: int | None
    seed: int
    target: Any
    constant: float | None
    ridge: float
    regularization: float
    scale_correction: bool
    cluster: Any = "item"


@options.command(
    "How to calibrate",
    "Fit a judge's temperature and conformal bounds on human-labelled battles.",
    removed={
        "--models": "nothing in a calibration depends on a table of models any more; leave it out"
    },
)
@options.sources
@options.output_file(".json", help="Write the calibration to this file.")
@options.figure(
    help=(
        "Draw the judge's ratings over human ratings, and its reliability, into this .svg, .png "
        "or .pdf file."
    )
)
@options.human_labels
@options.level(
    help="Coverage of the conformal intervals, and level of the interval of beta.",
    default=CALIBRATION_LEVEL,
)
@options.count_option("--splits", help="Random half splits that test coverage.", default=5)
@options.count_option(
    "--bootstrap",
    help="Resamples per standard error of the judge; by default a sandwich.",
    least=20,
)
@options.seed(help="Seed of resamples and splits.")
@click.option(
    "--target",
    metavar="[margin|smoothing|criteria|credit|log-odds]",
    help="What is softened; by default the margin, or soft credits where there are no margins.",
)
@click.option(
    "--constant", type=float, help="Credit of a win under --target smoothing; by default fitted."
)
@click.option(
    "--ridge",
    type=float,
    default=10.0,
    help="Pull of the weights of --target criteria to their mean.",
)
@click.option("--regularization", type=float, default=0.01, help="Penalty lambda of the fits.")
@click.option(
    "--no-scale-correction",
    "scale_correction",
    is_flag=True,
    callback=options.negate,
    help="Keep the judge's scale: the paper's ratings, errors and scores.",
)
@options.one_sided
@options.detail
@click.option(
    "--compare",
    "side_by_side",
    is_flag=True,
    help="Set every target that the battles allow side by side.",
)
def calibrate(
    query: BattleQuery,
    how: CalibrationOptions,
    detail: Detail,
    destination: Destination,
    side_by_side: bool,
) -> int:
    """Learn from human-labelled battles in SOURCE... how far to trust a judge's margins and
    ratings; kept only with -o.

    \b
    podium calibrate labelled.csv -o calibration.json
    podium calibrate votes.parquet --human-judge crowd --where judge=gpt-4 -o calibration.json
    podium rank new.csv --ranker soft-elo --calibration calibration.json
    \f

    `--cluster row` takes each battle as independent. The reports are printed. `--compare` adds the
    tables of all targets and changes nothing in the calibration that is written.

    Returns:
        The exit code: 3 if a part of the sources could not be read, else 0.
    """
    from podium.data.human_labels import require_a_label
    from podium.data.reading.judgments import read_query
    from podium.show.pictures.style import save
    from podium.show.report import calibration_view as view
    from podium.show.report.writing import print_reports
    from podium.storage.atomic_files import write_text

    if detail.section is not None:
        find_name("section", detail.section, view.SECTIONS)
    if query.cluster in ("item", "row"):
        how = replace(how, cluster=query.cluster)
        query = replace(query, cluster=None)
    battles = read_query(query)
    require_a_label(battles)
    with show_progress():
        agreement, calibration = _calibrate_battles(battles, how)
        compared = _compare_targets(battles, how) if side_by_side else []
    if destination.output is not None:
        # Written before anything is printed: a reader of stdout, as `head`, may end the command
        # after any line.
        write_text(destination.output, calibration.to_json() + "\n")
    reports = view.calibration_reports(
        calibration, agreement, compared, detail.section, full=detail.full
    )
    print_reports(reports)
    tell_notices(calibration.warnings)
    if destination.output:
        tell(f"wrote {destination.output}")
    else:
        tell("not kept: -o calibration.json keeps the calibration for podium rank")
    if destination.figure is not None:
        save(calibration.plot(), destination.figure)
        tell(f"wrote {destination.figure}")
    return 3 if battles.lost else 0


def _calibrate_battles(battles: "Battles", how: CalibrationOptions) -> "tuple[Report, Calibration]":
    """Return the report of the judge's agreement with humans, and the calibration.

    If the calibration cannot be fitted, the report is printed, and the PodiumError is raised again.
    """
    from podium.rankers.calibration.calibration_run import calibrate as fit_calibration
    from podium.rankers.calibration.calibration_run import judge_agreement
    from podium.show.report.calibration_view import agreement_report
    from podium.show.report.writing import print_reports

    agreement = agreement_report(judge_agreement(battles))
    try:
        return agreement, fit_calibration(battles, **asdict(how))
    except PodiumError:
        print_reports([agreement])
        raise


def _compare_targets(battles: "Battles", how: CalibrationOptions) -> "list[Report]":
    """Return the reports that set the calibrations by every target side by side.

    The target and the constant in `how` are ignored. A warning is printed for each target that
    cannot be fitted; if none can, there are no reports.
    """
    from podium.rankers.calibration.accuracy import select_best
    from podium.rankers.calibration.calibration_run import calibrate_targets
    from podium.show.report import calibration_view as view

    shared_options = asdict(how)
    del shared_options["target"], shared_options["constant"]
    targets = calibrate_targets(battles, tell=warn, **shared_options)
    if not targets:
        return []
    differences = view.differences_report(select_best(targets, how.level))
    return [view.targets_report(targets), view.intervals_report(targets), differences]
