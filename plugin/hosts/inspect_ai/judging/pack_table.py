"""The battles of a pack as a table in plain text."""

from collections.abc import Sequence

from podium.hosts.inspect_ai.judging.battle_outcomes import share_of_flips
from podium.hosts.inspect_ai.logs.podium_entries import BattleVerdict, VerdictRow

HEADINGS = ("model A", "model B", "credit", "flip", "A first", "B first")
"""Headings of the table. Credits are those of model A.

A judge that grades single responses has one verdict for both orders.
"""


def pack_table(verdicts: Sequence[BattleVerdict]) -> str:
    """Return a table with a row per battle: both models, model A's credit, flip, credit by order.

    The columns are as wide as their longest cell, because Inspect's viewer shows contents that are
    not trusted as plain text.
    """
    rows = [HEADINGS, *(_row_of_battle(verdict) for verdict in verdicts)]
    cells = [[cell.replace("\n", " ") for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(_line_of_cells(row, widths) for row in cells)


def _line_of_cells(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Return a line of the table, its cells padded to some widths."""
    padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
    return "  ".join(padded).rstrip()


def _row_of_battle(verdict: BattleVerdict) -> tuple[str, ...]:
    """Return the cells of a battle."""
    credit = "unparsed" if verdict.credit is None else f"{verdict.credit:.3f}"
    flips = share_of_flips(verdict.judgments)
    flip = "" if flips != flips else f"{flips:.3g}"
    names = (verdict.model_a, verdict.model_b, credit, flip)
    if verdict.identical:
        return (*names[:-1], "", "identical responses", "no call")
    judgments = verdict.judgments
    merged = [row for row in judgments if row["order"] == "merged"]
    by_order = []
    for order in ("ab", "ba"):
        own = merged or [row for row in judgments if row["order"] == order]
        by_order.append(", ".join(map(credit_text, own)) or "not asked")
    return (*names, *by_order)


def credit_text(row: VerdictRow, prefix: str = "") -> str:
    """Return `prefix` and the credit of a judgment, or why the judgment is unparsed."""
    if row["credit"] is None:
        return f"unparsed ({row['reason']})"  # type: ignore[typeddict-item]
    return f"{prefix}{row['credit']:.3f}"
