"""A calibration as text: what a reader asks of a judge, one table per question."""

import os
import shutil
import sys
from collections.abc import Sequence
from io import StringIO

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text
from scipy.special import expit

from podium.calibration import Calibration, Conformal, HeldOut
from podium.cli.picture import interval_bar
from podium.cli.printable import printable
from podium.cli.tables import width_of
from podium.rankers.calibration.agreement import Agreement

EMPTY = "–"
WIDTH = 120
BAR = 20
PICTURE = 32
LEGEND = (
    "log loss is that of human preferences, each predicted by the fits without one and without the other of its models "
    "(a coin has 0.693); ECE is that of the fit itself, and next to 0 for a fitted constant; width is the median over "
    "half splits"
)
Rows = Sequence[Sequence[str]]


def disagreement(found: Agreement) -> str:
    """Say how the judge agrees with people, battle by battle."""
    rows = [
        ("battles with a verdict and a human label", f"{found.battles:,}"),
        ("kappa (win, tie, loss)", _number(found.kappa, 3)),
        ("battles in which neither calls a tie", f"{found.decisive:,}"),
        ("  same winner", _share(found.agreement)),
        ("mean |margin|", _number(found.mean_abs_margin, 2)),
        ("verdicts against the sign of their margin", _share(found.sign_conflicts)),
        ("larger |margin| where people agree (AUC)", _number(found.auc, 3)),
    ]
    return _rendered(("judge and people, all battles", _table(["", ""], rows)))


def summary(found: Calibration) -> str:
    """Say what the calibration found."""
    return _rendered(
        (_title(found), _beta(found)),
        ("ratings of entrants that the fit knew nothing of", _accuracy(found)),
        (_conformal_title(found), _conformal(found)),
        ("entrants, held out one by one", _entrants(found)),
        *([("is the signal a probability?", _reliability(found))] if found.agreement["bins"] else []),
        *([("beta from fewer human preferences", _stability(found))] if found.stability else []),
    )


def comparison(found: Sequence[Calibration]) -> str:
    """Set targets side by side, each evaluated by the same leave-one-out."""
    header = ["target", "", "battles", "MAE", "Spearman", "Kendall", "log loss", "ECE", "q", "median SE", "width"]
    hard = found[0]
    rows = [["hard", "", _battles(hard), *_figures(hard, "hard"), EMPTY, EMPTY, *_widths(hard.conformal["hard"])]]
    for one in found:
        loss, ece = _number(one.accuracy["soft"].log_loss, 3), _number(one.agreement["ece"], 3)
        row = [one.target.kind, _parameter(one), _battles(one), *_figures(one, "soft"), loss, ece]
        rows.append([*row, *_widths(one.conformal["soft"])])
    text = _rendered(("targets side by side, leave one entrant out", _table(header, rows, left=2)))
    weights = [_weights(one) for one in found if len(one.target.weights) > 1]
    return "\n".join([text.rstrip("\n"), *weights, LEGEND]) + "\n\n"


def _title(found: Calibration) -> str:
    judge = printable(found.judge) if found.judge else "judge not named"
    return f"calibration · {judge} · target {found.target.kind}"


def _beta(found: Calibration) -> Table:
    target, human = found.target, found.provenance.get("human", {})
    counts = found.provenance.get("counts", {})
    rows = [("judged battles, of all", f"{counts.get('judged', 0):,} of {counts.get('battles', 0):,}")]
    rows.append(("human labels, ties among them", f"{human.get('labelled', 0):,}, {human.get('ties', 0):,}"))
    rows.append(("human preferences beside a signal", f"{human.get('preferences', 0):,}"))
    if target.kind != "credit":
        rows.append(("beta", _weight(target.beta) + ("" if target.battles else " (given)")))
    if target.low is not None and target.high is not None and target.level is not None:
        rows.append((f"  {100 * target.level:g}% interval", f"{_weight(target.low)} … {_weight(target.high)}"))
    folds = [found.fold_beta(one) for one in found.entrants if one.weights]
    if target.battles and folds:
        rows.append(("  without one entrant", f"{_weight(min(folds))} … {_weight(max(folds))}"))
    if len(target.weights) > 1:
        rows += [(f"  weight of {printable(name)}", f"{weight:.3f}") for name, weight in target.weights.items()]
    return _table(["", ""], rows)


def _accuracy(found: Calibration) -> Table:
    hard, soft = found.accuracy["hard"], found.accuracy["soft"]
    rows = [
        ("mean absolute error, Elo", _number(hard.mae, 1), _number(soft.mae, 1)),
        ("Spearman", _number(hard.spearman, 3), _number(soft.spearman, 3)),
        ("Kendall", _number(hard.kendall, 3), _number(soft.kendall, 3)),
        ("entrants", str(hard.n), str(soft.n)),
    ]
    return _table(["", "hard", "soft"], rows)


def _conformal_title(found: Calibration) -> str:
    one = found.conformal["soft"]
    return f"{100 * one.level:g}% conformal intervals for new entrants"


def _conformal(found: Calibration) -> Table:
    hard, soft = found.conformal["hard"], found.conformal["soft"]
    both = (hard, soft)
    rows = [
        ("q, standard errors", *(_infinite(one) for one in both)),
        ("median standard error, Elo", *(_number(one.median_se, 1) for one in both)),
        ("scores, of which needed", *(f"{one.n}, {one.needed}" for one in both)),
        *_split_rows(both),
    ]
    return _table(["", "hard", "soft"], rows)


def _split_rows(both: tuple[Conformal, Conformal]) -> Rows:
    """Say what the intervals did on halves of the entrants, or how many that would take."""
    if all(one.coverage is None for one in both):
        return [(f"coverage and width over half splits need {2 * both[1].needed} entrants", EMPTY, EMPTY)]
    return [
        (f"coverage over {both[1].splits} half splits", *(_share(one.coverage) for one in both)),
        ("  least … largest", *(_range(one.coverage_range, 100, 0, "%") for one in both)),
        ("median width over the splits, Elo", *(_number(one.median_width, 1) for one in both)),
        ("  least … largest", *(_range(one.width_range, 1, 1) for one in both)),
    ]


def _entrants(found: Calibration) -> Table:
    """Return a row per entrant, with a picture of its interval where there is room."""
    q = found.conformal["soft"].q
    ordered = sorted(found.entrants, key=lambda one: -(one.human_elo or 0.0))
    header = ["model", "human", "hard", "error", "soft", "error", "SE", "battles"]
    rows = [_entrant(one) for one in ordered]
    bounds = _bounds(ordered, q)
    if bounds and width_of(header, rows) + PICTURE + 3 <= _room():
        left, right = (f"{bound:.0f}" for bound in bounds)
        header.append(left + " " * (PICTURE - len(left) - len(right)) + right)
        rows = [[*row, _picture(one, q, bounds)] for row, one in zip(rows, ordered, strict=True)]
    return _table(header, rows)


def _bounds(held: Sequence[HeldOut], q: float | None) -> tuple[float, float] | None:
    ends = [_end(one, q, sign) for one in held for sign in (-1, 1)] + [one.human_elo for one in held]
    known = [end for end in ends if end is not None]
    return (min(known), max(known)) if known and min(known) < max(known) else None


def _entrant(one: HeldOut) -> list[str]:
    return [
        printable(one.model) + (" *" if one.separated else ""),
        _number(one.human_elo, 0),
        _number(one.hard_elo, 0),
        _signed(one.residual("hard")),
        _number(one.soft_elo, 0),
        _signed(one.residual("soft")),
        _number(one.soft_se, 1),
        f"{one.battles:,}",
    ]


def _end(one: HeldOut, q: float | None, sign: int) -> float | None:
    if one.soft_elo is None or one.residual("soft") is None:
        return None
    return one.soft_elo + sign * (q or 0.0) * (one.soft_se or 0.0)


def _picture(one: HeldOut, q: float | None, bounds: tuple[float, float]) -> str:
    if one.residual("soft") is None:
        return ""
    low, high = (_end(one, q, sign) if q else None for sign in (-1, 1))
    return interval_bar(low, one.soft_elo, high, bounds, PICTURE, mark=one.human_elo)


def _reliability(found: Calibration) -> Table:
    rows = [
        [
            f"{one['battles']:,}",
            _number(one["mean_margin"], 2),
            f"{one['predicted']:.1%}",
            f"{one['agreement']:.1%}",
            _bar(one["agreement"]),
        ]
        for one in found.agreement["bins"]
    ]
    ece = _number(found.agreement["ece"], 3)
    header = ["battles", "mean |margin|", "predicted", "people agreed", f"50% … 100%   (ECE {ece})"]
    return _table(header, rows, left=0)


def _stability(found: Calibration) -> Table:
    rows = [
        [f"{one.battles:,}", _number(one.mean, 3), _number(one.sd, 3), f"{one.draws} of {one.draws + one.failed}"]
        for one in found.stability
    ]
    return _table(["preferences", "mean beta", "SD", "draws with a beta"], rows, left=0)


def _bar(share: float) -> str:
    """Draw a share between a half and one."""
    return "█" * round(max(0.0, share - 0.5) * 2 * BAR)


def _parameter(one: Calibration) -> str:
    """Return what was fitted, or given, in a few words."""
    given = "" if one.target.battles else ", given"
    if one.target.kind == "credit":
        return "as they are"
    if one.target.kind == "smoothing":
        return f"a win earns {expit(one.target.beta):.3f}{given}"
    return f"beta {one.target.beta:.3f}{given}"


def _weights(one: Calibration) -> str:
    shown = ", ".join(f"{printable(name)} {weight:.3f}" for name, weight in one.target.weights.items())
    return f"{one.target.kind} weighs {shown}"


def _figures(one: Calibration, kind: str) -> list[str]:
    found = one.accuracy[kind]
    return [_number(found.mae, 1), _number(found.spearman, 3), _number(found.kendall, 3)]


def _battles(one: Calibration) -> str:
    return f"{sum(held.battles for held in one.entrants) // 2:,}"


def _widths(one: Conformal) -> list[str]:
    return [_infinite(one), _number(one.median_se, 1), _number(one.median_width, 1)]


def _infinite(one: Conformal) -> str:
    return "∞" if one.q is None else f"{one.q:.2f}"


def _number(value: float | None, digits: int) -> str:
    return EMPTY if value is None else f"{value:.{digits}f}"


def _weight(value: float) -> str:
    """Write a slope: three decimals, or three digits where margins are large and it is small."""
    return f"{value:.3f}" if abs(value) >= 0.1 or value == 0 else f"{value:.3g}"


def _signed(value: float | None) -> str:
    return EMPTY if value is None else f"{value:+.0f}"


def _share(value: float | None) -> str:
    return EMPTY if value is None else f"{value:.1%}"


def _range(ends: tuple[float, float] | None, factor: float, digits: int, unit: str = "") -> str:
    return EMPTY if ends is None else f"{factor * ends[0]:.{digits}f}{unit} … {factor * ends[1]:.{digits}f}{unit}"


def _table(header: Sequence[str], rows: Rows, left: int = 1) -> Table:
    """Make a table; the first `left` columns, and a picture at the end, are aligned to the left."""
    table = Table(box=box.SIMPLE_HEAD if any(header) else None, pad_edge=False, show_header=any(header))
    for k, name in enumerate(header):
        drawn = k == len(header) - 1 and "  " in name
        table.add_column(Text(name), justify="left" if k < left or drawn else "right", no_wrap=True)
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def _room() -> int:
    """Return the columns that a table may take."""
    return shutil.get_terminal_size((WIDTH, 24)).columns if sys.stdout.isatty() else WIDTH


def _rendered(*sections: tuple[str, Table]) -> str:
    """Return titles and tables as text; a table wider than the terminal wraps rather than lose a number."""
    buffer = StringIO()
    styled = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    console = Console(file=buffer, width=10 * WIDTH, force_terminal=styled, highlight=False, markup=False, emoji=False)
    for title, table in sections:
        console.print(Text(title, style="bold"), soft_wrap=True)
        console.print(table)
        console.print()
    return "".join(f"{line.rstrip()}\n" for line in buffer.getvalue().splitlines())
