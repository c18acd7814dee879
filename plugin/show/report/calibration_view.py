"""Reports of a calibration, one table per question."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scipy.special import expit

from podium.errors import find_name
from podium.numbers import (
    cell_text,
    interval_text,
    number_text,
    percent,
    share_text,
    slope_text,
)
from podium.rankers.calibration.calibration import Accuracy, Agreement, Calibration, Conformal
from podium.rankers.estimate import Estimate
from podium.show.report.terminal import bar_column
from podium.tables import EMPTY, Report, Table

if TYPE_CHECKING:
    from podium.rankers.calibration.accuracy import Choice, Contender

SECTIONS = ("agreement", "beta", "accuracy", "conformal", "models", "reliability", "stability")
BAR_WIDTH = 32
LEGEND = (
    "log loss is that of human preferences, each predicted by the fits without one and without the other of its models "
    "(a coin has 0.693); ECE is that of the fit itself, and next to 0 for a fitted constant; width is the median over "
    "half splits"
)


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
    return _table_report("judge and humans, all battles", ["", ""], rows)


def calibration_reports(
    calibration: Calibration,
    agreement: Report | None = None,
    compared: Sequence[Report] = (),
    section: str | None = None,
    *,
    full: bool = True,
) -> tuple[Report, ...]:
    """Return the answer with all sections that have data, or the short view; one section alone if
    it is named."""
    reports = (
        _beta_report,
        _accuracy_report,
        _conformal_report,
        _models_report,
        _reliability_report,
        _stability_report,
    )
    views = {
        "agreement": agreement,
        **dict(zip(SECTIONS[1:], (view(calibration) for view in reports), strict=True)),
    }
    sections = {name: report for name, report in views.items() if report}
    if section:
        return (sections[find_name("section", section, sections)],)
    more = Report(
        "", notes=(f"The figures behind it: --section NAME of {', '.join(sections)} · all: --full",)
    )
    shown = sections.values() if full else (sections["accuracy"], more)
    answer = [Report("", notes=tuple(calibration.answer))] if calibration.answer else []
    return (*answer, *compared, *shown)


def targets_report(calibrations: Sequence[Calibration]) -> Report:
    """Compare targets by the same leave-one-out evaluation."""
    both = any(each.scale_correction for each in calibrations)
    errors = ["MAE", "scale-corrected"] if both else ["MAE"]
    header = [
        "target",
        "",
        "battles",
        *errors,
        "Spearman",
        "Kendall",
        "log loss",
        "ECE",
        "q",
        "median SE",
        "width",
    ]
    rows = [
        _target_row(calibrations[0], "hard", both),
        *(_target_row(each, "soft", both) for each in calibrations),
    ]
    weights = [
        f"{target.kind} weighs {', '.join(f'{name} {slope_text(weight)}' for name, weight in target.weights.items())}"
        for target in (each.target for each in calibrations)
        if len(target.weights) > 1
    ]
    title = "targets side by side, leave one model out"
    return _table_report(
        title, header, rows, "ll" + "r" * (len(header) - 2), legend=(*weights, LEGEND)
    )


def _target_row(calibration: Calibration, kind: str, both: bool) -> list[str]:
    """Return the row of a target: battles, error (plain and scale-corrected if both), correlations,
    loss and widths."""
    accuracy, conformal = calibration.accuracy[kind], calibration.conformal[kind]
    corrected = number_text(accuracy.mae if kind in calibration.scale_correction else None, 1)
    return [
        *_ratings_name(calibration, kind),
        f"{sum(held.battles for held in calibration.models) // 2:,}",
        *(
            [number_text(accuracy.plain_mae, 1), corrected]
            if both
            else [number_text(accuracy.mae, 1)]
        ),
        *(
            number_text(figure, 3)
            for figure in (accuracy.spearman, accuracy.kendall, accuracy.log_loss)
        ),
        number_text(calibration.agreement.ece if kind == "soft" else None, 3),
        _quantile_text(conformal),
        number_text(conformal.median_se, 1),
        number_text(conformal.median_width, 1),
    ]


def intervals_report(calibrations: Sequence[Calibration]) -> Report:
    """Report the intervals of each target's error and correlations."""
    kinds = [(calibrations[0], "hard"), *((each, "soft") for each in calibrations)]
    rows = [
        [*_ratings_name(each, kind), *_interval_texts(each.accuracy[kind])] for each, kind in kinds
    ]
    level = calibrations[0].accuracy["soft"].level
    title = (
        "how well these are known"
        if level is None
        else f"{percent(level)} intervals over models, each by itself"
    )
    error = "MAE, scale-corrected" if any(each.scale_correction for each in calibrations) else "MAE"
    return _table_report(title, ["target", "", error, "Spearman", "Kendall"], rows, "llrrr")


def differences_report(choice: "Choice") -> Report:
    """Compare each target with the one of the smallest error."""
    digits = {"mae": 1, "spearman": 3, "kendall": 3}
    rows = [
        (
            *_contender_cells(each),
            *(_signed_text(beyond.get(name), places) for name, places in digits.items()),
        )
        for each, beyond in choice.others
    ]
    title = f"beyond {' '.join(filter(None, _contender_cells(choice.best)))}, which errs least"
    legend = (
        f"with {percent(choice.level)} intervals over models that hold for all rows together; errors over the "
        f"{choice.n} models that all rate"
    )
    return _table_report(
        title, ["target", "", "", "MAE", "Spearman", "Kendall"], rows, "lllrrr", legend=[legend]
    )


def _ratings_name(calibration: Calibration, kind: str) -> list[str]:
    """Return the name of hard or soft ratings, and the fitted parameter of the soft ones."""
    target = calibration.target
    if kind == "hard":
        return ["hard", ""]
    given = "" if target.battles else ", given"
    if target.kind == "credit":
        return ["credit", "as they are"]
    if target.kind == "smoothing":
        return ["smoothing", f"a win earns {expit(target.beta):.3f}{given}"]
    return [target.kind, f"beta {slope_text(target.beta)}{given}"]


def _contender_cells(contender: "Contender") -> list[str]:
    """Return the cells that name ratings: kind, parameter, and whether they are scale-corrected."""
    kind, parameter = _ratings_name(contender.calibration, contender.kind)
    how = "scale-corrected" if contender.is_scale_corrected else ""
    return [kind, f"({parameter})" if parameter else "", how]


def _signed_text(figure: Estimate | None, digits: int) -> str:
    if figure is None:
        return EMPTY
    ends = "" if figure.low is None else f" ({figure.low:+.{digits}f} … {figure.high:+.{digits}f})"
    return f"{figure.value:+.{digits}f}{ends}"


def _table_report(
    title: str,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    align: str = "",
    bars: tuple[str, ...] = (),
    legend: Sequence[str] = (),
) -> Report:
    cells = tuple(map(tuple, rows))
    return Report(
        title, table=Table("", tuple(header), cells, align, bars=bars, legend=tuple(legend))
    )


def _row(label: str, parts: Sequence[Any], name: str, style: str) -> tuple[str, ...]:
    """Return a row with a label and a figure of each part (hard and soft ratings)."""
    return (
        label,
        *(cell_text(None if part is None else getattr(part, name), style) for part in parts),
    )


def _beta_report(calibration: Calibration) -> Report:
    target, human = calibration.target, calibration.provenance.get("human", {})
    counts = calibration.provenance.get("counts", {})
    rows = [
        ("judged battles, of all", f"{counts.get('judged', 0):,} of {counts.get('battles', 0):,}"),
        (
            "human labels, ties among them",
            f"{human.get('labelled', 0):,}, {human.get('ties', 0):,}",
        ),
        ("human preferences beside a signal", f"{human.get('preferences', 0):,}"),
    ]
    if target.kind != "credit":
        rows.append(("beta", slope_text(target.beta) + ("" if target.battles else " (given)")))
    if target.low is not None and target.high is not None and target.level is not None:
        rows.append(
            (
                f"  {percent(target.level)} interval",
                f"{slope_text(target.low)} … {slope_text(target.high)}",
            )
        )
    if folds := calibration.fold_betas():
        rows.append(("  without one model", f"{slope_text(min(folds))} … {slope_text(max(folds))}"))
    if len(target.weights) > 1:
        rows += [
            (f"  weight of {name}", slope_text(weight)) for name, weight in target.weights.items()
        ]
    title = f"calibration · {calibration.judge or 'judge not named'} · target {target.kind}"
    return _table_report(title, ["", ""], rows)


def _accuracy_report(calibration: Calibration) -> Report:
    both: list[Accuracy] = [calibration.accuracy[kind] for kind in ("hard", "soft")]
    factors = [calibration.scale_correction.get(kind) for kind in ("hard", "soft")]
    rows = [
        _row("mean absolute error, Elo", both, "mae", ".1f"),
        _row("Spearman", both, "spearman", ".3f"),
        _row("Kendall", both, "kendall", ".3f"),
        _row("models", both, "n", "d"),
    ]
    if calibration.scale_correction:
        rows += [
            (
                "scale-corrected by",
                *(f"{own.value:.2f}" if own and own.is_known else "no" for own in factors),
            ),
            (
                "  90% interval",
                *(interval_text(own.low, own.high, ".2f") if own else EMPTY for own in factors),
            ),
            _row("slope of human ratings on these", both, "slope", ".2f"),
        ]
    rows.append(_row("error from a limited number of labels, Elo", both, "floor", ".1f"))
    if calibration.scale_correction:
        rows.append(_row("spread beyond all sampling errors, Elo", factors, "spread", ".1f"))
    if both[1].level is not None:
        labels = (f"{percent(both[1].level)} intervals: error, Elo", "  Spearman", "  Kendall")
        rows += zip(labels, *map(_interval_texts, both), strict=True)
    return _table_report(
        "ratings of models that the fit knew nothing of", ["", "hard", "soft"], rows
    )


def _conformal_report(calibration: Calibration) -> Report:
    both: list[Conformal] = [calibration.conformal[kind] for kind in ("hard", "soft")]
    corrected, soft = bool(calibration.scale_correction), both[1]
    error = f"median {'error of judge and humans' if corrected else 'standard error'}, Elo"
    rows = [
        ("q" if corrected else "q, standard errors", *map(_quantile_text, both)),
        _row(error, both, "median_se", ".1f"),
        ("scores, of which needed", *(f"{kind.n}, {kind.least_models}" for kind in both)),
    ]
    if any(kind.t is not None for kind in both):
        rows.append(_row("by t instead, if disagreement is normal", both, "t", ".2f"))
    if any(kind.coverage is not None for kind in both):
        rows += [
            _row(f"coverage over {soft.splits} half splits", both, "coverage", ".1%"),
            _row("median width over the splits, Elo", both, "median_width", ".1f"),
        ]
    else:
        rows.append(
            (
                f"coverage and width over half splits need {2 * soft.least_models} models",
                EMPTY,
                EMPTY,
            )
        )
        if any(kind.loo_coverage is not None for kind in both):
            rows += [
                _row("coverage, each left out (says n alone)", both, "loo_coverage", ".1%"),
                (
                    "median width, each left out, Elo",
                    *(number_text(kind.loo_width, 1) for kind in both),
                ),
            ]
    return _table_report(
        f"{percent(soft.level)} conformal intervals for new models", ["", "hard", "soft"], rows
    )


def _models_report(calibration: Calibration) -> Report:
    ordered = sorted(calibration.models, key=lambda held: -(held.human_elo or 0.0))
    header = ["model", "human", "hard", "error", "soft", "error", "SE", "battles"]
    rows = []
    for held in ordered:
        human, hard, soft = (
            number_text(own, 0)
            for own in (held.human_elo, held.rating("hard"), held.rating("soft"))
        )
        errors = [cell_text(held.residual(kind), "+.0f") for kind in ("hard", "soft")]
        name, se = held.model + (" *" if held.separated else ""), number_text(held.se("soft"), 1)
        rows.append([name, human, hard, errors[0], soft, errors[1], se, f"{held.battles:,}"])
    intervals = [
        None
        if held.residual("soft") is None or (rating := held.rating("soft")) is None
        else Estimate(rating, *calibration.interval_of(held))
        for held in ordered
    ]
    bars = bar_column(intervals, BAR_WIDTH, ".0f", marks=[held.human_elo for held in ordered])
    return _table_report("models, held out one by one", header, rows, bars=bars)


def _reliability_report(calibration: Calibration) -> Report | None:
    rows = []
    for share in calibration.agreement.bins:
        bar = "█" * round(max(0.0, share.agreement - 0.5) * 40)
        known = (f"{share.battles:,}", number_text(share.mean_margin, 2))
        rows.append((*known, f"{share.predicted:.1%}", f"{share.agreement:.1%}", bar))
    ece = number_text(calibration.agreement.ece, 3)
    header = ["battles", "mean |margin|", "predicted", "humans agreed", f"50% … 100%   (ECE {ece})"]
    return _table_report("is the signal a probability?", header, rows, "rrrrl") if rows else None


def _stability_report(calibration: Calibration) -> Report | None:
    rows = []
    for size in calibration.stability:
        beta = [EMPTY if value is None else slope_text(value) for value in (size.mean, size.sd)]
        rows.append([f"{size.battles:,}", *beta, f"{size.draws} of {size.draws + size.failed}"])
    header = ["preferences", "mean beta", "SD", "draws with a beta"]
    return (
        _table_report("beta from fewer human preferences", header, rows, "rrrr") if rows else None
    )


def _interval_texts(accuracy: Accuracy) -> list[str]:
    intervals = (
        (accuracy.mae_interval, 1),
        (accuracy.spearman_interval, 2),
        (accuracy.kendall_interval, 2),
    )
    return [interval_text(*ends, f".{digits}f") if ends else EMPTY for ends, digits in intervals]


def _quantile_text(conformal: Conformal) -> str:
    return "∞" if conformal.q is None else f"{conformal.q:.2f}"
