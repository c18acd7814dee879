"""Reports of a calibration, one table per question."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from podium.distributions import expit
from podium.documents import View, register_view
from podium.known_names import find_name
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
"""Names of the sections of a calibration's reports, in their order."""
BAR_WIDTH = 32
"""Width of a column of interval bars, in characters."""
LEGEND = (
    "log loss is that of human preferences, each predicted by the fits without one and without "
    "the other of its models (a coin has 0.693); ECE is that of the fit itself, and next to 0 for "
    "a fitted constant; width is the median over half splits"
)
"""Note below the table that compares targets."""


def agreement_report(agreement: Agreement) -> Report:
    """Build the report on the agreement of judge and humans, battle by battle."""
    rows = [
        ("battles with a verdict and a human label", f"{agreement.battles:,}"),
        ("kappa (win, tie, loss)", number_text(agreement.kappa, digits=3)),
        ("battles in which neither calls a tie", f"{agreement.decisive:,}"),
        ("  same winner", share_text(agreement.agreement)),
        ("mean |margin|", number_text(agreement.mean_abs_margin, digits=2)),
        ("verdicts against the sign of their margin", share_text(agreement.sign_conflicts)),
        ("larger |margin| where humans agree (AUC)", number_text(agreement.auc, digits=3)),
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
    """Return the reports of a calibration: the answer, `compared`, and the sections.

    Args:
        calibration: the calibration.
        agreement: the section `agreement`, as `agreement_report` returns it; None to leave it out.
        compared: reports that compare several targets; they come after the answer.
        section: name of the only section to return, without answer and `compared`; None for all
            of them.
        full: whether to return all sections that have data. If not, only the accuracy is returned,
            with a note that names the others.

    Raises:
        UsageError: there is no such section, or it has no data.
    """
    reports = {
        "agreement": agreement,
        "beta": _beta_report(calibration),
        "accuracy": _accuracy_report(calibration),
        "conformal": _conformal_report(calibration),
        "models": _models_report(calibration),
        "reliability": _reliability_report(calibration),
        "stability": _stability_report(calibration),
    }
    sections = {name: report for name, report in reports.items() if report}
    if section:
        return (sections[find_name("section", section, sections)],)
    names = ", ".join(sections)
    hint = Report("", notes=(f"The figures behind it: --section NAME of {names} · all: --full",))
    shown_sections = sections.values() if full else (sections["accuracy"], hint)
    answer = [Report("", notes=tuple(calibration.answer))] if calibration.answer else []
    return (*answer, *compared, *shown_sections)


def targets_report(calibrations: Sequence[Calibration]) -> Report:
    """Build the report that compares targets by the same leave-one-out evaluation.

    The first row is about hard ratings, which are the same for all targets; a row per calibration
    follows, about its soft ratings. If any of them are scale-corrected, a column with their error
    follows that of the error before the correction; other rows have a dash in it.

    Args:
        calibrations: one calibration per target, all of the same battles.
    """
    has_corrected = any(each.scale_correction for each in calibrations)
    errors = ["MAE", "scale-corrected"] if has_corrected else ["MAE"]
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
        _target_row(calibrations[0], "hard", has_corrected),
        *(_target_row(each, "soft", has_corrected) for each in calibrations),
    ]
    legend = []
    for calibration in calibrations:
        weights = calibration.target.weights
        if len(weights) > 1:
            texts = [f"{name} {slope_text(weight)}" for name, weight in weights.items()]
            legend.append(f"{calibration.target.kind} weighs {', '.join(texts)}")
    legend.append(LEGEND)
    title = "targets side by side, leave one model out"
    return _table_report(title, header, rows, "ll" + "r" * (len(header) - 2), legend=legend)


def _target_row(calibration: Calibration, kind: str, has_corrected: bool) -> list[str]:
    """Return the row of a target: two cells that name it, battles, errors, correlations, log loss,
    ECE (a dash for hard ratings), q, median standard error and width.

    Args:
        calibration: the calibration of the target.
        kind: `hard` or `soft` ratings.
        has_corrected: whether the row has two errors: without scale correction, and with it. The
            second one is a dash if these ratings are not corrected. If False, the row has one
            error, that of the ratings as they are.
    """
    accuracy = calibration.accuracy[kind]
    conformal = calibration.conformal[kind]
    errors = [number_text(accuracy.mae, digits=1)]
    if has_corrected:
        is_corrected = kind in calibration.scale_correction
        corrected = accuracy.mae if is_corrected else None
        errors = [number_text(accuracy.plain_mae, digits=1), number_text(corrected, digits=1)]
    ece = calibration.agreement.ece if kind == "soft" else None
    # Each battle counts for both of its models.
    battles = sum(held_out.battles for held_out in calibration.models) // 2
    return [
        *_ratings_name(calibration, kind),
        f"{battles:,}",
        *errors,
        number_text(accuracy.spearman, digits=3),
        number_text(accuracy.kendall, digits=3),
        number_text(accuracy.log_loss, digits=3),
        number_text(ece, digits=3),
        _quantile_text(conformal),
        number_text(conformal.median_se, digits=1),
        number_text(conformal.median_width, digits=1),
    ]


def intervals_report(calibrations: Sequence[Calibration]) -> Report:
    """Build the report on the intervals of each target's error and correlations.

    The rows are those of `targets_report`. The interval of the error stands in the column
    "MAE, scale-corrected" if these ratings are scale-corrected, else in the column "MAE"; the other
    column has a dash. A column of errors is left out if no row has an interval for it.

    Args:
        calibrations: one calibration per target, all of the same battles.
    """
    rows_of_report = [(calibrations[0], "hard"), *((each, "soft") for each in calibrations)]
    are_corrected = [kind in each.scale_correction for each, kind in rows_of_report]
    errors = []
    if not all(are_corrected):
        errors.append("MAE")
    if any(are_corrected):
        errors.append("MAE, scale-corrected")
    rows = []
    for (calibration, kind), is_corrected in zip(rows_of_report, are_corrected, strict=True):
        interval, *correlations = _interval_texts(calibration.accuracy[kind])
        own_column = "MAE, scale-corrected" if is_corrected else "MAE"
        cells = [interval if column == own_column else EMPTY for column in errors]
        rows.append([*_ratings_name(calibration, kind), *cells, *correlations])
    level = calibrations[0].accuracy["soft"].level
    title = "how well these are known"
    if level is not None:
        title = f"{percent(level)} intervals over models, each by itself"
    header = ["target", "", *errors, "Spearman", "Kendall"]
    return _table_report(title, header, rows, "ll" + "r" * (len(header) - 2))


def differences_report(choice: "Choice") -> Report:
    """Build the report that compares each target with the target of the smallest error.

    Figures are those of the row minus those of that target.
    """
    rows = []
    for contender, differences in choice.others:
        error = _signed_text(differences.get("mae"), digits=1)
        spearman = _signed_text(differences.get("spearman"), digits=3)
        kendall = _signed_text(differences.get("kendall"), digits=3)
        rows.append((*_contender_cells(contender), error, spearman, kendall))
    best = " ".join(filter(None, _contender_cells(choice.best)))
    title = f"difference from {best}, which errs least"
    legend = (
        f"with {percent(choice.level)} intervals over models that hold for all rows together; "
        f"errors over the {choice.n} models that all rate"
    )
    return _table_report(
        title, ["target", "", "", "MAE", "Spearman", "Kendall"], rows, "lllrrr", legend=[legend]
    )


def _ratings_name(calibration: Calibration, kind: str) -> list[str]:
    """Return two cells: the name of the ratings, and their parameter.

    The parameter is beta, the credit of a win for the target `smoothing`, and empty for hard
    ratings. `given` follows it if the user chose it.

    Args:
        calibration: the calibration.
        kind: `hard` or `soft` ratings.
    """
    target = calibration.target
    if kind == "hard":
        return ["hard", ""]
    origin = "" if target.battles else ", given"
    if target.kind == "credit":
        return ["credit", "as they are"]
    if target.kind == "smoothing":
        return ["smoothing", f"a win earns {expit(target.beta):.3f}{origin}"]
    return [target.kind, f"beta {slope_text(target.beta)}{origin}"]


def _contender_cells(contender: "Contender") -> list[str]:
    """Return three cells that name ratings: kind, parameter, and `scale-corrected` if they are."""
    kind, parameter = _ratings_name(contender.calibration, contender.kind)
    correction = "scale-corrected" if contender.is_scale_corrected else ""
    return [kind, f"({parameter})" if parameter else "", correction]


def _signed_text(figure: Estimate | None, digits: int) -> str:
    """Format a figure and its interval with signs, such as `+1.2 (-0.3 … +2.7)`.

    An interval that is unknown is left out; the text is a dash if the figure is unknown.
    """
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
    """Return a report with one table, whose title is that of the report.

    Args:
        title: the title.
        header: headers of the columns.
        rows: the cells by row.
        align: a letter per column, `l` or `r`; by default, all columns but the first are aligned
            to the right.
        bars: a column of bars, as `bar_column` returns it.
        legend: sentences that explain the columns.
    """
    cells = tuple(map(tuple, rows))
    table = Table(
        title="", header=tuple(header), rows=cells, align=align, bars=bars, legend=tuple(legend)
    )
    return Report(title, table=table)


def _figures_row(label: str, parts: Sequence[Any], name: str, style: str) -> tuple[str, ...]:
    """Return a row with a label and a figure of each part (hard and soft ratings).

    Args:
        label: the first cell.
        parts: objects that have the figure. A part that is None, or whose figure is, gets a dash.
        name: the attribute of a part that holds the figure.
        style: format specification of the figure.
    """
    figures = []
    for part in parts:
        figures.append(None if part is None else getattr(part, name))
    return (label, *(cell_text(figure, style) for figure in figures))


def _beta_report(calibration: Calibration) -> Report:
    """Build the report on beta, and on the battles and human labels that it was fitted to.

    Lines without a figure are left out: beta for credits, its interval, its range over fits
    without one model, and the weights of a single signal.
    """
    target = calibration.target
    human = calibration.provenance.get("human", {})
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
        origin = "" if target.battles else " (given)"
        rows.append(("beta", f"{slope_text(target.beta)}{origin}"))
    if target.low is not None and target.high is not None and target.level is not None:
        ends = f"{slope_text(target.low)} … {slope_text(target.high)}"
        rows.append((f"  {percent(target.level)} interval", ends))
    folds = calibration.fold_betas()
    if folds:
        ends = f"{slope_text(min(folds))} … {slope_text(max(folds))}"
        rows.append(("  without one model", ends))
    if len(target.weights) > 1:
        for name, weight in target.weights.items():
            rows.append((f"  weight of {name}", slope_text(weight)))
    judge = calibration.shown_judge or "judge not named"
    title = f"calibration · {judge} · target {target.kind}"
    return _table_report(title, ["", ""], rows)


def _accuracy_report(calibration: Calibration) -> Report:
    """Build the report on the errors of hard and soft ratings of held-out models.

    Lines about the scale correction are left out if neither is corrected.
    """
    hard_and_soft: list[Accuracy] = [calibration.accuracy[kind] for kind in ("hard", "soft")]
    factors = [calibration.scale_correction.get(kind) for kind in ("hard", "soft")]
    rows = [
        _figures_row("mean absolute error, Elo", hard_and_soft, "mae", ".1f"),
        _figures_row("Spearman", hard_and_soft, "spearman", ".3f"),
        _figures_row("Kendall", hard_and_soft, "kendall", ".3f"),
        _figures_row("models", hard_and_soft, "n", "d"),
    ]
    if calibration.scale_correction:
        values = []
        intervals = []
        for factor in factors:
            if factor is None:
                values.append("no")
                intervals.append(EMPTY)
                continue
            values.append(f"{factor.value:.2f}" if factor.is_known else "no")
            intervals.append(interval_text(factor.low, factor.high, ".2f"))
        rows.append(("scale-corrected by", *values))
        rows.append(("  90% interval", *intervals))
        rows.append(_figures_row("slope of human ratings on these", hard_and_soft, "slope", ".2f"))
    rows.append(
        _figures_row("error from a limited number of labels, Elo", hard_and_soft, "floor", ".1f")
    )
    if calibration.scale_correction:
        rows.append(
            _figures_row("spread beyond all sampling errors, Elo", factors, "spread", ".1f")
        )
    _, soft = hard_and_soft
    if soft.level is not None:
        labels = (
            f"{percent(soft.level)} intervals: error, Elo",
            "  Spearman",
            "  Kendall",
        )
        rows += zip(labels, *map(_interval_texts, hard_and_soft), strict=True)
    return _table_report(
        "ratings of models that the fit knew nothing of", ["", "hard", "soft"], rows
    )


def _conformal_report(calibration: Calibration) -> Report:
    """Build the report on the conformal intervals of hard and soft ratings.

    If there are too few models for half splits, a line says how many they need, and the coverage
    with each model left out takes their place.
    """
    hard_and_soft: list[Conformal] = [calibration.conformal[kind] for kind in ("hard", "soft")]
    _, soft = hard_and_soft
    quantile = "q, standard errors"
    error = "median standard error, Elo"
    if calibration.scale_correction:
        quantile = "q"
        error = "median error of judge and humans, Elo"
    rows = [
        (quantile, *map(_quantile_text, hard_and_soft)),
        _figures_row(error, hard_and_soft, "median_se", ".1f"),
        ("scores, of which needed", *(f"{part.n}, {part.least_models}" for part in hard_and_soft)),
    ]
    if any(part.t is not None for part in hard_and_soft):
        rows.append(
            _figures_row("by t instead, if disagreement is normal", hard_and_soft, "t", ".2f")
        )
    if any(part.coverage is not None for part in hard_and_soft):
        rows += [
            _figures_row(
                f"coverage over {soft.splits} half splits", hard_and_soft, "coverage", ".1%"
            ),
            _figures_row("median width over the splits, Elo", hard_and_soft, "median_width", ".1f"),
        ]
    else:
        needed = f"coverage and width over half splits need {2 * soft.least_models} models"
        rows.append((needed, EMPTY, EMPTY))
        if any(part.loo_coverage is not None for part in hard_and_soft):
            widths = [number_text(part.loo_width, digits=1) for part in hard_and_soft]
            rows.append(
                _figures_row(
                    "coverage, each left out (says n alone)", hard_and_soft, "loo_coverage", ".1%"
                )
            )
            rows.append(("median width, each left out, Elo", *widths))
    return _table_report(
        f"{percent(soft.level)} conformal intervals for new models", ["", "hard", "soft"], rows
    )


def _models_report(calibration: Calibration) -> Report:
    """Build the report on each held-out model, the best by humans first.

    A star marks a separated model, whose rating the battles do not bound. Bars show the soft
    ratings with conformal intervals, and human ratings as marks.
    A model without a soft or a human rating has no bar.
    """
    ordered = sorted(calibration.models, key=lambda held_out: -(held_out.human_elo or 0.0))
    header = ["model", "human", "hard", "error", "soft", "error", "SE", "battles"]
    rows = []
    intervals: list[Estimate | None] = []
    for held_out in ordered:
        row = [
            f"{held_out.model} *" if held_out.separated else held_out.model,
            number_text(held_out.human_elo, digits=0),
            number_text(held_out.rating("hard"), digits=0),
            cell_text(held_out.residual("hard"), "+.0f"),
            number_text(held_out.rating("soft"), digits=0),
            cell_text(held_out.residual("soft"), "+.0f"),
            number_text(held_out.se("soft"), digits=1),
            f"{held_out.battles:,}",
        ]
        rows.append(row)
        rating = held_out.rating("soft")
        if held_out.residual("soft") is None or rating is None:
            intervals.append(None)
        else:
            low, high = calibration.interval_of(held_out)
            intervals.append(Estimate(rating, low, high))
    bars = bar_column(
        intervals, BAR_WIDTH, ".0f", marks=[held_out.human_elo for held_out in ordered]
    )
    return _table_report("models, held out one by one", header, rows, bars=bars)


def _reliability_report(calibration: Calibration) -> Report | None:
    """Build the report on agreement by size of the judge's signal; None without bins."""
    rows = []
    for each_bin in calibration.agreement.bins:
        bar = "█" * round(max(0.0, each_bin.agreement - 0.5) * 40)
        first_cells = (f"{each_bin.battles:,}", number_text(each_bin.mean_margin, digits=2))
        rows.append((*first_cells, f"{each_bin.predicted:.1%}", f"{each_bin.agreement:.1%}", bar))
    ece = number_text(calibration.agreement.ece, digits=3)
    axis = f"50% … 100%   (ECE {ece})"
    header = ["battles", "mean |margin|", "predicted", "humans agreed", axis]
    return _table_report("is the signal a probability?", header, rows, "rrrrl") if rows else None


def _stability_report(calibration: Calibration) -> Report | None:
    """Build the report on beta from fewer human preferences; None if it was not computed.

    There is a row per number of preferences: mean and standard deviation of beta over random
    draws, and how many of the draws gave a beta.
    """
    rows = []
    for size in calibration.stability:
        mean = EMPTY if size.mean is None else slope_text(size.mean)
        sd = EMPTY if size.sd is None else slope_text(size.sd)
        draws = f"{size.draws} of {size.draws + size.failed}"
        rows.append([f"{size.battles:,}", mean, sd, draws])
    if not rows:
        return None
    header = ["preferences", "mean beta", "SD", "draws with a beta"]
    return _table_report("beta from fewer human preferences", header, rows, "rrrr")


def _interval_texts(accuracy: Accuracy) -> list[str]:
    """Format the intervals of mean absolute error, Spearman's rho and Kendall's tau.

    Returns:
        Three texts; a dash for an interval that is unknown.
    """
    intervals = (
        (accuracy.mae_interval, 1),
        (accuracy.spearman_interval, 2),
        (accuracy.kendall_interval, 2),
    )
    texts = []
    for ends, digits in intervals:
        texts.append(interval_text(*ends, f".{digits}f") if ends else EMPTY)
    return texts


def _quantile_text(conformal: Conformal) -> str:
    """Format the quantile of a conformal interval; `∞` if there are too few models."""
    return "∞" if conformal.q is None else f"{conformal.q:.2f}"


def draw_calibration(calibration: Calibration) -> Any:
    """Return the charts of a calibration; altair, an extra, is imported here.

    Raises:
        UsageError: altair is not installed.
    """
    from podium.show.pictures.charts import calibration_plot

    return calibration_plot(calibration)


register_view(Calibration, View(calibration_reports, chart=draw_calibration))
