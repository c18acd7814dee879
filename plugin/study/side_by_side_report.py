"""Tournaments side by side as a report."""

from podium.report.model import EMPTY, Form, Report, Table
from podium.study.side_by_side import COSTS, TournamentRow, TournamentTable

HEADER = ("tournament", "budget", *COSTS, "error", "tau", "failed")
IDLE = {"budget": EMPTY, "missing": "0", "failed": "0"}
"""Cells that say nothing; of other columns, none."""


def side_by_side_reports(figures: TournamentTable) -> tuple[Report, ...]:
    """Say what is compared with what, a tournament a row."""
    whole, seeds = figures.whole, max(row.seeds for row in figures.rows)
    unit = "Elo" if figures.scale == "elo" else figures.scale
    means = f"means ± standard deviation over {seeds} seeds" if seeds > 1 else "one seed"
    legend = (
        f"error: mean absolute difference of the scores ({unit}), both centred; tau: Kendall's; {means}; "
        "calls: judge calls, both orders"
    )
    rows = [_cells(row) for row in figures.rows]
    kept = [k for k, name in enumerate(HEADER) if any(row[k] != IDLE.get(name) for row in rows)]
    header, *rows = (tuple(row[k] for k in kept) for row in (HEADER, *rows))
    title = f"tournaments against all {whole['battles']:,} battles of {whole['items']:,} items, by {figures.ranker}"
    return (Report(title, table=Table("", header, tuple(rows), legend=(legend,)), form=Form.SHEET),)


def _cells(row: TournamentRow) -> tuple[str, ...]:
    return (
        row.tournament,
        EMPTY if row.budget is None else f"{row.budget:,}",
        *(f"{getattr(row, name):,.0f}" for name in COSTS),
        _spread(row.error, row.error_sd, 1),
        _spread(row.tau, row.tau_sd, 2),
        str(row.failed),
    )


def _spread(mean: float | None, sd: float | None, digits: int) -> str:
    if mean is None:
        return EMPTY
    return f"{mean:.{digits}f}" + ("" if sd is None else f" ± {sd:.{digits}f}")
