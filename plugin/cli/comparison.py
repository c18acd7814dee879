"""A study of tournaments as a table, JSON, CSV or Markdown."""

import sys
from pathlib import Path

import click

from podium.cli.aligned import PLAIN_WIDTH, aligned, markdown_table, paragraphs, room
from podium.cli.printable import printable
from podium.cli.tables import literal
from podium.study.comparison import Row, Study

EMPTY = "–"


def write(found: Study, style: str, output: Path | None) -> None:
    """Write the study to a file, or to stdout."""
    if output is None:
        sys.stdout.write(as_text(found, style, room(sys.stdout.isatty())))
        return
    output.write_text(as_text(found, style), encoding="utf-8", errors="backslashreplace")
    click.echo(f"podium: wrote {output}", err=True)


def as_text(found: Study, style: str, width: int = PLAIN_WIDTH) -> str:
    """Return the study in one of the styles table, json, csv, md; a table is as wide as there is room."""
    if style == "json":
        return found.to_json() + "\n"
    if style == "csv":
        return found.to_frame().to_csv(index=False)
    header, rows = cells(found)
    if style == "md":
        return (
            "\n".join([f"**{literal(title_of(found))}**", "", *markdown_table(header, rows), "", legend(found)]) + "\n"
        )
    told = paragraphs([legend(found)], width)
    return "\n".join([title_of(found), "", *aligned(header, rows, width=width), "", *told]) + "\n"


def title_of(found: Study) -> str:
    """Say what is compared with what."""
    whole = found.whole
    return f"tournaments against all {whole['battles']:,} battles of {whole['items']:,} items, by {found.ranker}"


def legend(found: Study) -> str:
    """Say what the columns are."""
    seeds = max(row.seeds for row in found.rows)
    unit = "Elo" if found.scale == "elo" else found.scale
    means = f"means ± standard deviation over {seeds} seeds" if seeds > 1 else "one seed"
    return (
        f"error: mean absolute difference of the scores ({printable(unit)}), both centred; tau: Kendall's; {means}; "
        "calls: judge calls, both orders"
    )


def cells(found: Study) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows as text; columns that say nothing are left out."""
    header = ["tournament", "budget", "battles", "calls", "pairs", "rounds", "missing", "error", "tau", "failed"]
    rows = [_cells(row) for row in found.rows]
    idle = {"budget": EMPTY, "missing": "0", "failed": "0"}
    keep = [k for k, name in enumerate(header) if any(row[k] != idle.get(name) for row in rows)]
    return [header[k] for k in keep], [[row[k] for k in keep] for row in rows]


def _cells(row: Row) -> list[str]:
    return [
        printable(row.tournament),
        EMPTY if row.budget is None else f"{row.budget:,}",
        *(f"{value:,.0f}" for value in (row.battles, row.calls, row.pairs, row.rounds, row.missing)),
        _spread(row.error, row.error_sd, 1),
        _spread(row.tau, row.tau_sd, 2),
        str(row.failed),
    ]


def _spread(mean: float | None, sd: float | None, digits: int) -> str:
    if mean is None:
        return EMPTY
    return f"{mean:.{digits}f}" + ("" if sd is None else f" ± {sd:.{digits}f}")
