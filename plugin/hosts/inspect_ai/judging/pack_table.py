"""The battles of a pack as a table in plain text."""

import math
from collections.abc import Mapping, Sequence

from podium.hosts.inspect_ai.judging.battle_outcomes import share_of_flips
from podium.hosts.inspect_ai.logs.podium_entries import BattleVerdict, VerdictRow

HEADINGS = ("model A", "model B", "credit", "flip", "A first", "B first")
"""Headings of the table. Credits are those of model A.

A judge that grades single responses has one verdict for both orders.
"""
UNPARSED = "unparsed"
"""Stands in the cell of a verdict that is unparsed; the reason is in a line below the table."""


def pack_table(
    verdicts: Sequence[BattleVerdict], short_names: Mapping[str, str] | None = None
) -> str:
    """Return a table with a row per battle: both models, model A's credit, flip, credit by order.

    The columns are as wide as their longest cell, because Inspect's viewer shows contents that are
    not trusted as plain text. To be narrow, the table does not have the reasons of unparsed
    verdicts and identical responses. They are below it, a line per reason of a battle.

    Args:
        verdicts: the battles.
        short_names: names that are shown in place of models' whole names, by whole name. Other
            models keep their whole name.
    """
    short = short_names or {}
    rows = [HEADINGS, *(_row_of_battle(verdict, short) for verdict in verdicts)]
    cells = [[cell.replace("\n", " ") for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    table = "\n".join(_line_of_cells(row, widths) for row in cells)
    reasons = [line for verdict in verdicts for line in _lines_of_reasons(verdict, short)]
    if not reasons:
        return table
    return f"{table}\n\n" + "\n".join(reasons)


def _line_of_cells(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Return a line of the table: its cells, each padded to its width, with two blanks between.

    Blanks at the end of the line are removed.
    """
    padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
    return "  ".join(padded).rstrip()


def _models_of(verdict: BattleVerdict, short: Mapping[str, str]) -> tuple[str, str]:
    """Return the names of both models of a battle as they are shown.

    A model that is in `short` has the short name there, any other its whole name.
    """
    return (
        short.get(verdict.model_a, verdict.model_a),
        short.get(verdict.model_b, verdict.model_b),
    )


def _row_of_battle(verdict: BattleVerdict, short: Mapping[str, str]) -> tuple[str, ...]:
    """Return the cells of a battle, in the order of `HEADINGS`.

    The cells of both orders have the credit of each judgment, with commas between. They are
    `no call` for identical responses, and an order without judgments is `not asked`. The share of
    flips is empty if it is not known, and for identical responses. `short` has the names that are
    shown in place of whole names.
    """
    credit = UNPARSED if verdict.credit is None else f"{verdict.credit:.3f}"
    flips = share_of_flips(verdict.judgments)
    flip = "" if math.isnan(flips) else f"{flips:.3g}"
    names = _models_of(verdict, short)
    if verdict.identical:
        return (*names, credit, "", "no call", "no call")
    by_order = []
    for rows in _judgments_by_order(verdict).values():
        by_order.append(", ".join(map(_credit_cell, rows)) or "not asked")
    return (*names, credit, flip, *by_order)


def _judgments_by_order(verdict: BattleVerdict) -> dict[str, list[VerdictRow]]:
    """Return the judgments with model A first under the key `A`, those with B first under `B`.

    If there are judgments without an order (`merged`), as of a judge that grades single responses,
    only these are returned, and both keys hold all of them.
    """
    rows = verdict.judgments
    merged = [row for row in rows if row["order"] == "merged"]
    return {
        "A": merged or [row for row in rows if row["order"] == "ab"],
        "B": merged or [row for row in rows if row["order"] == "ba"],
    }


def _credit_cell(row: VerdictRow) -> str:
    """Return the credit of a judgment, or that the judgment is unparsed."""
    return UNPARSED if row["credit"] is None else f"{row['credit']:.3f}"


def _lines_of_reasons(verdict: BattleVerdict, short: Mapping[str, str]) -> list[str]:
    """Return lines that say why judgments of a battle are unparsed, or why there are none.

    There is a line per reason. The list is empty if all judgments have a credit. `short` has the
    names that are shown in place of whole names.
    """
    battle = " against ".join(_models_of(verdict, short))
    if verdict.identical:
        return [f"{battle}: identical responses, a tie without a call"]
    orders: dict[str, list[str]] = {}
    for first, rows in _judgments_by_order(verdict).items():
        for row in rows:
            if row["credit"] is None:
                orders.setdefault(_reason_of(row), []).append(f"{first} first")
    lines = []
    for reason, where in orders.items():
        lines.append(f"{battle}, {' and '.join(dict.fromkeys(where))}: unparsed ({reason})")
    return lines


def credit_text(row: VerdictRow, prefix: str = "") -> str:
    """Return `prefix` and the credit of a judgment, or why the judgment is unparsed."""
    if row["credit"] is None:
        return f"{UNPARSED} ({_reason_of(row)})"
    return f"{prefix}{row['credit']:.3f}"


def _reason_of(row: VerdictRow) -> str:
    """Return why a judgment is unparsed, as the row of an unparsed judgment says."""
    return str(row["reason"])  # type: ignore[typeddict-item]
