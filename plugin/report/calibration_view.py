"""A calibration as reports: what a reader asks of a judge, one table per question."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scipy.special import expit

from podium.errors import find_name
from podium.nouns.calibration import Agreement, Calibration, Conformal, HeldOut
from podium.nouns.estimate import Estimate
from podium.report.model import EMPTY, Axis, Report, Table
from podium.report.numbers import axis_ends, cell_text, number_text, percent, share_text, slope_text

if TYPE_CHECKING:
    from podium.rankers.calibration.choice import Choice, Contender

SECTIONS = ("agreement", "beta", "accuracy", "conformal", "models", "reliability", "stability")
BLOCKS = 20
"""Columns of a bar that shows a share."""
PICTURE_WIDTH = 32
LEGEND = (
    "log loss is that of human preferences, each predicted by the fits without one and without the other of its models "
    "(a coin has 0.693); ECE is that of the fit itself, and next to 0 for a fitted constant; width is the median over "
    "half splits"
)
Rows = Sequence[Sequence[str]]


def agreement_report(agreement: Agreement) -> Report:
    """Build the report on battle-by-battle agreement with humans."""
    rows = [
        ("battles with a verdict and a human label", f"{agreement.battles:,}"),
        ("kappa (win, tie, loss)", number_text(agreement.kappa, 3)),
        ("battles in which neither calls a tie", f"{agreement.decisive:,}"),
        ("  same winner", share_text(agreement.agreement)),
        ("mean |margin|", number_text(agreement.mean_abs_margin, 2)),
        ("verdicts against the sign of their margin", share_text(agreement.sign_conflicts)),
        ("larger |margin| where humans agree (AUC)", number_text(agreement.auc, 3)),
    ]
    return _report("judge and humans, all battles", ["", ""], rows)


def calibration_reports(calibration: Calibration) -> tuple[Report, ...]:
    """Build the reports of a calibration."""
    return (*_answer(calibration), *_sections(calibration).values())


def select_reports(
    calibration: Calibration, agreement: Report, compared: Sequence[Report], section: str | None, *, full: bool
) -> tuple[Report, ...]:
    """Return the reports to print: the short view, one section, or all sections.

    Raises:
        UsageError: there is no section of this name.
    """
    sections = {"agreement": agreement, **_sections(calibration)}
    if section:
        return (sections[find_name("section", section, sections)],)
    more = Report("", notes=(f"The figures behind it: --section NAME of {', '.join(sections)} · all: --full",))
    shown = sections.values() if full else (sections["accuracy"], more)
    return (*_answer(calibration), *compared, *shown)


def _answer(calibration: Calibration) -> tuple[Report, ...]:
    """Build the report with the answer sentences; empty if there are none."""
    return (Report("", notes=tuple(calibration.answer)),) if calibration.answer else ()


def _sections(calibration: Calibration) -> dict[str, Report]:
    """Build the sections of a calibration by name; sections without data are left out."""
    views = (_beta, _accuracy, _conformal, _models, _reliability, _stability)
    there = (True, True, True, True, bool(calibration.agreement.bins), bool(calibration.stability))
    known = zip(SECTIONS[1:], views, there, strict=True)
    return {name: view(calibration) for name, view, is_there in known if is_there}


def targets_report(calibrations: Sequence[Calibration]) -> Report:
    """Compare targets by the same leave-one-out evaluation."""
    errors = ["MAE", "scale-corrected"] if any(each.scale_correction for each in calibrations) else ["MAE"]
    header = ["target", "", "battles", *errors, "Spearman", "Kendall", "log loss", "ECE", "q", "median SE", "width"]
    hard, both = calibrations[0], len(errors) == 2
    widths = _widths(hard.conformal["hard"])
    rows = [["hard", "", _battles(hard), *_errors(hard, "hard", both), EMPTY, EMPTY, *widths]]
    for soft in calibrations:
        loss, ece = number_text(soft.accuracy["soft"].log_loss, 3), number_text(soft.agreement.ece, 3)
        row = [soft.target.kind, _parameter(soft), _battles(soft), *_errors(soft, "soft", both), loss, ece]
        rows.append([*row, *_widths(soft.conformal["soft"])])
    weights = [
        f"{soft.target.kind} weighs "
        + ", ".join(f"{name} {slope_text(weight)}" for name, weight in soft.target.weights.items())
        for soft in calibrations
        if len(soft.target.weights) > 1
    ]
    title = "targets side by side, leave one model out"
    return _report(title, header, rows, "ll" + "r" * (len(header) - 2), legend=(*weights, LEGEND))


def intervals_report(calibrations: Sequence[Calibration]) -> Report:
    """Report the intervals of each target's error and correlations."""
    kinds = [(["hard", ""], calibrations[0].accuracy["hard"])]
    kinds += [([soft.target.kind, _parameter(soft)], soft.accuracy["soft"]) for soft in calibrations]
    rows = [
        [
            *names,
            _extremes(accuracy.mae_interval, 1, 1),
            _extremes(accuracy.spearman_interval, 1, 2),
            _extremes(accuracy.kendall_interval, 1, 2),
        ]
        for names, accuracy in kinds
    ]
    level = calibrations[0].accuracy["soft"].level
    title = "how well these are known" if level is None else f"{percent(level)} intervals over models, each by itself"
    error = "MAE, scale-corrected" if any(each.scale_correction for each in calibrations) else "MAE"
    return _report(title, ["target", "", error, "Spearman", "Kendall"], rows, "llrrr")


def differences_report(choice: "Choice") -> Report:
    """Compare each target with the one of the smallest error."""
    rows = []
    for contender, difference in choice.others:
        figures = ((difference.mae, 1), (difference.spearman, 3), (difference.kendall, 3))
        rows.append([*_contender(contender), *(_signed_text(figure, digits) for figure, digits in figures)])
    title = f"beyond {' '.join(filter(None, _contender(choice.best)))}, which errs least"
    legend = [
        f"with {percent(choice.level)} intervals over models that hold for all rows together; errors over the "
        f"{choice.n} models that all rate"
    ]
    return _report(title, ["target", "", "", "MAE", "Spearman", "Kendall"], rows, "lllrrr", legend=legend)


def _contender(contender: "Contender") -> list[str]:
    """Return the cells that describe a target: kind, parameters, and whether it is scale-corrected."""
    how = "scale-corrected" if contender.is_scale_corrected else ""
    if contender.kind == "hard":
        return ["hard", "", how]
    return [contender.calibration.target.kind, f"({_parameter(contender.calibration)})", how]


def _signed_text(figure: tuple[float, tuple[float, float] | None] | None, digits: int) -> str:
    """Format a signed number with its interval."""
    if figure is None:
        return EMPTY
    value, ends = figure
    between = "" if ends is None else f" ({ends[0]:+.{digits}f} … {ends[1]:+.{digits}f})"
    return f"{value:+.{digits}f}{between}"


def _report(
    title: str, header: Sequence[str], rows: Rows, align: str = "", axis: Axis | None = None, legend: Sequence[str] = ()
) -> Report:
    """Build a report with one table."""
    cells = tuple(map(tuple, rows))
    return Report(title, table=Table("", tuple(header), cells, align, axis=axis, legend=tuple(legend)))


def _beta(calibration: Calibration) -> Report:
    """Build the section on beta."""
    target, human = calibration.target, calibration.provenance.get("human", {})
    counts = calibration.provenance.get("counts", {})
    rows = [("judged battles, of all", f"{counts.get('judged', 0):,} of {counts.get('battles', 0):,}")]
    rows.append(("human labels, ties among them", f"{human.get('labelled', 0):,}, {human.get('ties', 0):,}"))
    rows.append(("human preferences beside a signal", f"{human.get('preferences', 0):,}"))
    if target.kind != "credit":
        rows.append(("beta", slope_text(target.beta) + ("" if target.battles else " (given)")))
    if target.low is not None and target.high is not None and target.level is not None:
        rows.append((f"  {percent(target.level)} interval", f"{slope_text(target.low)} … {slope_text(target.high)}"))
    if folds := calibration.fold_betas():
        rows.append(("  without one model", f"{slope_text(min(folds))} … {slope_text(max(folds))}"))
    if len(target.weights) > 1:
        rows += [(f"  weight of {name}", slope_text(weight)) for name, weight in target.weights.items()]
    title = f"calibration · {calibration.judge or 'judge not named'} · target {target.kind}"
    return _report(title, ["", ""], rows)


def _accuracy(calibration: Calibration) -> Report:
    """Build the section on leave-one-out errors."""
    both = (calibration.accuracy["hard"], calibration.accuracy["soft"])
    rows = [
        ("mean absolute error, Elo", *(number_text(kind.mae, 1) for kind in both)),
        ("Spearman", *(number_text(kind.spearman, 3) for kind in both)),
        ("Kendall", *(number_text(kind.kendall, 3) for kind in both)),
        ("models", *(str(kind.n) for kind in both)),
    ]
    floor = ("error that humans' own sampling leaves, Elo", *(number_text(kind.floor, 1) for kind in both))
    rows += _scale_rows(calibration, floor) if calibration.scale_correction else [floor]
    if both[1].level is not None:
        rows += [
            (f"{percent(both[1].level)} intervals: error, Elo", *(_extremes(kind.mae_interval, 1, 1) for kind in both)),
            ("  Spearman", *(_extremes(kind.spearman_interval, 1, 2) for kind in both)),
            ("  Kendall", *(_extremes(kind.kendall_interval, 1, 2) for kind in both)),
        ]
    return _report("ratings of models that the fit knew nothing of", ["", "hard", "soft"], rows)


def _scale_rows(calibration: Calibration, floor: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Build the rows on the scale correction: factor, remaining slope, and sampling errors."""
    both = [calibration.accuracy[kind] for kind in ("hard", "soft")]
    scale_corrections = [calibration.scale_correction.get(kind) for kind in ("hard", "soft")]
    return [
        (
            "scale-corrected by",
            *(number_text(s.mean, 2) if s is not None and s.is_known else "no" for s in scale_corrections),
        ),
        (
            "  90% interval",
            *(EMPTY if s is None or s.low is None else f"{s.low:.2f} … {s.high:.2f}" for s in scale_corrections),
        ),
        ("slope of human ratings on these", *(number_text(kind.slope, 2) for kind in both)),
        floor,
        (
            "spread beyond all sampling errors, Elo",
            *(EMPTY if s is None else f"{s.spread:.1f}" for s in scale_corrections),
        ),
    ]


def _conformal(calibration: Calibration) -> Report:
    """Build the section on conformal intervals."""
    both = (calibration.conformal["hard"], calibration.conformal["soft"])
    unit = "error of judge and humans" if calibration.scale_correction else "standard error"
    rows = [
        ("q" if calibration.scale_correction else "q, standard errors", *map(_quantile, both)),
        (f"median {unit}, Elo", *(number_text(kind.median_se, 1) for kind in both)),
        ("scores, of which needed", *(f"{kind.n}, {kind.least_models}" for kind in both)),
    ]
    if any(kind.t is not None for kind in both):
        rows.append(("by t instead, if disagreement is normal", *(number_text(kind.t, 2) for kind in both)))
    if all(kind.coverage is None for kind in both):
        rows.append((f"coverage and width over half splits need {2 * both[1].least_models} models", EMPTY, EMPTY))
        if any(kind.loo_coverage is not None for kind in both):
            rows.append(("coverage, each left out (says n alone)", *(share_text(kind.loo_coverage) for kind in both)))
            rows.append(("median width, each left out, Elo", *(number_text(kind.loo_width, 1) for kind in both)))
    else:
        rows += [
            (f"coverage over {both[1].splits} half splits", *(share_text(kind.coverage) for kind in both)),
            ("  least … largest", *(_extremes(kind.coverage_range, 100, 0, "%") for kind in both)),
            ("median width over the splits, Elo", *(number_text(kind.median_width, 1) for kind in both)),
            ("  least … largest", *(_extremes(kind.width_range, 1, 1) for kind in both)),
        ]
    title = f"{percent(both[1].level)} conformal intervals for new models"
    return _report(title, ["", "hard", "soft"], rows)


def _models(calibration: Calibration) -> Report:
    """Build the table of held-out models with a bar per interval."""
    ordered = sorted(calibration.models, key=lambda held: -(held.human_elo or 0.0))
    header = ["model", "human", "hard", "error", "soft", "error", "SE", "battles"]
    rows = [
        [
            held.model + (" *" if held.separated else ""),
            number_text(held.human_elo, 0),
            number_text(held.rating("hard"), 0),
            cell_text(held.residual("hard"), "+.0f"),
            number_text(held.rating("soft"), 0),
            cell_text(held.residual("soft"), "+.0f"),
            number_text(held.se("soft"), 1),
            f"{held.battles:,}",
        ]
        for held in ordered
    ]
    bars, marks = tuple(_bar(calibration, held) for held in ordered), tuple(held.human_elo for held in ordered)
    ends = axis_ends(bars, marks)
    axis = Axis(bars, ends, (f"{ends[0]:.0f}", f"{ends[1]:.0f}"), PICTURE_WIDTH, marks) if ends else None
    return _report("models, held out one by one", header, rows, axis=axis)


def _bar(calibration: Calibration, held: HeldOut) -> Estimate | None:
    """Return a model's soft rating with its conformal interval; None if it has none."""
    rating = held.rating("soft")
    return None if held.residual("soft") is None or rating is None else Estimate(rating, *calibration.interval_of(held))


def _reliability(calibration: Calibration) -> Report:
    """Build the reliability table."""
    rows = [
        [
            f"{share.battles:,}",
            number_text(share.mean_margin, 2),
            f"{share.predicted:.1%}",
            f"{share.agreement:.1%}",
            "█" * round(max(0.0, share.agreement - 0.5) * 2 * BLOCKS),
        ]
        for share in calibration.agreement.bins
    ]
    ece = number_text(calibration.agreement.ece, 3)
    header = ["battles", "mean |margin|", "predicted", "humans agreed", f"50% … 100%   (ECE {ece})"]
    return _report("is the signal a probability?", header, rows, "rrrrl")


def _stability(calibration: Calibration) -> Report:
    """Build the table of beta over random subsets."""
    rows = [
        [
            f"{size.battles:,}",
            *(EMPTY if value is None else slope_text(value) for value in (size.mean, size.sd)),
            f"{size.draws} of {size.draws + size.failed}",
        ]
        for size in calibration.stability
    ]
    header = ["preferences", "mean beta", "SD", "draws with a beta"]
    return _report("beta from fewer human preferences", header, rows, "rrrr")


def _parameter(calibration: Calibration) -> str:
    """Format the fitted parameter of a target."""
    target = calibration.target
    given = "" if target.battles else ", given"
    if target.kind == "credit":
        return "as they are"
    if target.kind == "smoothing":
        return f"a win earns {expit(target.beta):.3f}{given}"
    return f"beta {slope_text(target.beta)}{given}"


def _errors(calibration: Calibration, kind: str, both: bool) -> list[str]:
    """Format the mean absolute error and the rank correlations, before and after the scale correction if both."""
    accuracy = calibration.accuracy[kind]
    scale_corrected = number_text(accuracy.mae if kind in calibration.scale_correction else None, 1)
    errors = [number_text(accuracy.plain_mae, 1), scale_corrected] if both else [number_text(accuracy.mae, 1)]
    return [*errors, number_text(accuracy.spearman, 3), number_text(accuracy.kendall, 3)]


def _battles(calibration: Calibration) -> str:
    """Format the number of labelled battles."""
    return f"{sum(held.battles for held in calibration.models) // 2:,}"


def _widths(kind: Conformal) -> list[str]:
    """Format coverage and width of conformal intervals."""
    return [_quantile(kind), number_text(kind.median_se, 1), number_text(kind.median_width, 1)]


def _quantile(kind: Conformal) -> str:
    """Format the conformal quantile, or its t substitute."""
    return "∞" if kind.q is None else f"{kind.q:.2f}"


def _extremes(ends: tuple[float, float] | None, factor: float, digits: int, unit: str = "") -> str:
    """Format a range over splits."""
    return EMPTY if ends is None else f"{factor * ends[0]:.{digits}f}{unit} … {factor * ends[1]:.{digits}f}{unit}"
