"""Read why a battle has no verdict from a column that other tools write, such as `error`."""

from collections.abc import Mapping

from podium.data.counting.relations import sql_literal
from podium.data.formats.records import Column
from podium.data.formats.verdict_cells import NO_ERROR_VALUES
from podium.scorers.reply import FILTERED

ERROR_NAMES = (
    "error",
    "error_message",
    "error_msg",
    "exception",
    "api_error",
    "parse_error",
    "failure",
    "failure_reason",
)
"""Names of columns with errors, in lower case."""
FINISH_NAMES = ("finish_reason", "stop_reason")
"""Names of columns that say why a reply ended, in lower case."""
FINISHED_VALUES = ("stop", "end_turn", "eos", "stop_sequence", "completed")
"""Values of `FINISH_NAMES` for a reply that ended by itself."""
REASON_OF_FINISH = {
    "length": "truncated",
    "max_tokens": "truncated",
    "content_filter": FILTERED,
    "refusal": "refusal",
}
"""The reason that podium has for an ending, by value of `FINISH_NAMES`."""
LONGEST_ERROR = 60
"""Number of characters of an error that are kept."""


def with_reasons(columns: Mapping[str, Column]) -> dict[str, Column]:
    """Return typed columns of battles, or of scores, with a column `reason`.

    A row without a reason and without a credit, margin or score has the reason that the first of
    the columns `ERROR_NAMES` and `FINISH_NAMES` with a value says. Other rows keep their reason. If
    the table has none of these columns, no column is added.

    Args:
        columns: the columns, by podium's names. The mapping is not changed.
    """
    by_name = {name.lower(): column for name, column in columns.items()}
    reasons = [_error_in(by_name[name], name) for name in ERROR_NAMES if name in by_name]
    reasons += [_ending_in(by_name[name], name) for name in FINISH_NAMES if name in by_name]
    if not reasons:
        return dict(columns)
    verdicts = [columns[name].sql for name in ("credit", "margin", "score") if name in columns]
    given = columns["reason"].sql if "reason" in columns else "null"
    is_without_verdict = f"coalesce({', '.join(verdicts)}) is null"
    of_columns = f"case when {is_without_verdict} then coalesce({', '.join(reasons)}) end"
    return {**columns, "reason": Column(f"coalesce({given}, {of_columns})")}


def _error_in(column: Column, name: str) -> str:
    """Return SQL of the error in a cell, shortened to `LONGEST_ERROR` characters.

    It is the name of the column if the cell is `true`, `1` or `yes`, and NULL if the cell is one of
    `NO_ERROR_VALUES`.
    """
    cell = f"trim({column.text})"
    none = ", ".join(map(sql_literal, sorted(NO_ERROR_VALUES)))
    return (
        f"case when lower({cell}) in ({none}) then null "
        f"when lower({cell}) in ('true', '1', 'yes') then {sql_literal(name)} "
        f"else left({cell}, {LONGEST_ERROR}) end"
    )


def _ending_in(column: Column, name: str) -> str:
    """Return SQL of the reason for an ending of a reply; NULL if the reply ended by itself.

    For an ending that is not in `REASON_OF_FINISH`, the reason is the name of the column and the
    cell.
    """
    cell = f"lower(trim({column.text}))"
    cases_of_known = " ".join(
        f"when {sql_literal(value)} then {sql_literal(reason)}"
        for value, reason in REASON_OF_FINISH.items()
    )
    ended = " ".join(f"when {sql_literal(value)} then null" for value in FINISHED_VALUES)
    other = f"{sql_literal(name)} || ' ' || left({column.text}, {LONGEST_ERROR})"
    return f"case {cell} {cases_of_known} {ended} else {other} end"
