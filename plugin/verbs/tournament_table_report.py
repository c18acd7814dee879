"""The table of tournaments as a report."""

from collections.abc import Iterator

from podium.report.model import EMPTY, Report, Table
from podium.report.numbers import cell_text
from podium.verbs.tournament_table import COSTS, TournamentRow, TournamentTable

HEADER = ("tournament", "budget", *COSTS, "90% within", "answered", "error", "tau", "failed")
UNINFORMATIVE = {"budget": EMPTY, "missing": "0", "90% within": EMPTY, "answered": EMPTY, "failed": "0"}
"""Cells by column; a column with no other cell is left out."""


def tournament_table_reports(table: TournamentTable) -> tuple[Report, ...]:
    """Return a report with one row per tournament and budget."""
    whole, seeds = table.whole, max(row.seeds for row in table.rows)
    unit = "Elo" if table.scale == "elo" else table.scale
    means = f"means ± standard deviation over {seeds} seeds" if seeds > 1 else "one seed"
    legend = (
        f"error: mean absolute difference of the scores ({unit}), both centred; tau: Kendall's; {means}; "
        "calls: judge calls, both orders"
    )
    if any(row.tournament.partition(" ")[0] == "ring" for row in table.rows):
        legend += " (ring: one order)"
    if any(row.answered is not None for row in table.rows):
        legend += "; answered: seeds in which the question was answered; 90% within: calls of nine of ten seeds"
    rows = [_cells(row) for row in table.rows]
    kept = [k for k, name in enumerate(HEADER) if any(row[k] != UNINFORMATIVE.get(name) for row in rows)]
    header, *rows = (tuple(row[k] for k in kept) for row in (HEADER, *rows))
    title = f"tournaments against all {whole['battles']:,} battles of {whole['items']:,} items, by {table.ranker}"
    answer = (*_fewest_calls_to_answer(table), *_nearest_and_cheapest(table, unit))
    return (Report(title, answer, table=Table("", header, tuple(rows), legend=(legend,))),)


def _fewest_calls_to_answer(table: TournamentTable) -> Iterator[str]:
    """Yield a sentence with the tournament that answers the question most often, for the fewest calls."""
    asked = [(-row.answered, row.calls, row.tournament) for row in table.rows if row.answered is not None]
    if asked:
        share, calls, name = min(asked)
        if share:
            yield f"{name} answers the question in {-share:.0%} of seeds, for {calls:,.0f} judge calls on average."
        else:
            yield "No tournament answers the question on these items: more items, or a margin, would help."


def _nearest_and_cheapest(table: TournamentTable, unit: str) -> Iterator[str]:
    """Yield sentences with the tournament nearest to the whole record, and the cheapest that errs as little."""
    ranked = [(row, row.error) for row in table.rows if row.error is not None]
    # A tournament that plays the whole record is at its ranking by definition.
    known = [(row, error) for row, error in ranked if row.battles < table.whole["battles"]] or ranked
    if not known:
        yield "No tournament gave a ranking of all models."
        return
    nearest, least = min(known, key=lambda pair: (pair[1], pair[0].calls))
    alike = [pair for pair in known if pair[1] <= least + (nearest.error_sd or 0.0)]
    cheapest, error = min(alike, key=lambda pair: (pair[0].calls, pair[1]))
    digits = 1 if least >= 1 else 3
    yield (
        f"{nearest.tournament} is nearest to the ranking of the whole record: {least:.{digits}f} {unit} off on "
        f"average, for {nearest.calls:,.0f} judge calls."
    )
    if cheapest is not nearest:
        yield (
            f"{cheapest.tournament} has a similar error ({error:.{digits}f}, within a standard deviation over seeds) "
            f"for {cheapest.calls:,.0f} calls."
        )


def _cells(row: TournamentRow) -> tuple[str, ...]:
    """Format a row in the order of `HEADER`."""
    return (
        row.tournament,
        cell_text(row.budget, ","),
        *(f"{getattr(row, name):,.0f}" for name in COSTS),
        cell_text(row.most, ","),
        cell_text(row.answered, ".0%"),
        _with_deviation(row.error, row.error_sd, 1),
        _with_deviation(row.tau, row.tau_sd, 2),
        str(row.failed),
    )


def _with_deviation(mean: float | None, sd: float | None, digits: int) -> str:
    """Format a mean and its standard deviation, as `3.4 ± 1.6`."""
    if mean is None:
        return EMPTY
    return f"{mean:.{digits}f}" + ("" if sd is None else f" ± {sd:.{digits}f}")
