"""podium calibrate: human-labelled battles in, a judge's calibration out."""

from typing import Any

import click

from podium.cli import options
from podium.cli.output import draw, print_reports, show_progress, warn
from podium.defaults import CALIBRATION_LEVEL
from podium.errors import PodiumError, find_name
from podium.printable import tell
from podium.storage.remote import Place


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
    help="Draw the judge's ratings over human ratings, and its reliability, into this .svg, .png or .pdf file."
)
@options.human_labels
@options.level(
    help="Coverage of the conformal intervals, and level of the interval of beta.",
    default=CALIBRATION_LEVEL,
)
@options.count_option("--splits", "Random half splits that test coverage.", default=5)
@options.count_option(
    "--bootstrap", "Resamples per standard error of the judge; by default a sandwich.", least=20
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
@options.choice_option(
    "--cluster",
    "item row",
    "What is independent within a model's battles; the same where no item comes twice.",
)
@click.option("--regularization", type=float, default=0.01, help="Penalty lambda of the fits.")
@click.option(
    "--no-scale-correction",
    is_flag=True,
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
    output: Place | None, figure: Place | None, side_by_side: bool, **arguments: Any
) -> int:
    """Learn from human-labelled battles in SOURCE... how far to trust a judge's margins and
    ratings; kept only with -o.

    \b
    podium calibrate labelled.csv -o calibration.json
    podium calibrate votes.parquet --human-judge crowd --where judge=gpt-4 -o calibration.json
    podium rank new.csv --ranker soft-elo --calibration calibration.json
    """
    from podium.rankers.calibration.accuracy import select_best
    from podium.rankers.calibration.calibration_run import calibrate as calibrate_battles
    from podium.rankers.calibration.calibration_run import calibrate_targets, judge_agreement
    from podium.show.report import calibration_view as view
    from podium.storage.atomic_files import write_text

    arguments["scale_correction"] = not arguments.pop("no_scale_correction")
    section, full = options.pop_detail(arguments)
    if section is not None:
        find_name("section", section, view.SECTIONS)
    battles = options.read_sources(arguments, must_meet=True)
    with show_progress():
        agreement = view.agreement_report(judge_agreement(battles))
        try:
            calibration = calibrate_battles(battles, **arguments)
        except PodiumError:
            print_reports([agreement])
            raise
        shared = {
            name: value for name, value in arguments.items() if name not in ("target", "constant")
        }
        targets = calibrate_targets(battles, tell=warn, **shared) if side_by_side else []
    compared = []
    if targets:
        beyond = view.differences_report(select_best(targets, arguments["level"]))
        compared = [view.targets_report(targets), view.intervals_report(targets), beyond]
    if output is not None:
        # Before the first line: who reads them may stop at any.
        write_text(output, calibration.to_json() + "\n")
    print_reports(view.calibration_reports(calibration, agreement, compared, section, full=full))
    for warning in calibration.warnings:
        warn(warning)
    tell(
        f"wrote {output}"
        if output
        else "not kept: -o calibration.json keeps the calibration for podium rank"
    )
    draw(calibration, figure)
    return 3 if battles.lost else 0
