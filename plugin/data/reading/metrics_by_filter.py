"""Keep scores by different filters of lm-eval apart in tables of scores.

A filter extracts the answer that is scored, so that the scores of one metric by two filters are two
metrics, as in lm-eval's own results (`exact_match,strict-match`).
"""

from collections.abc import Sequence
from dataclasses import replace

from podium.data.formats.records import Column
from podium.data.reading.rows import RecordTable
from podium.data.reading.table import is_pointwise

FILTER = "filter"
"""Column with the name of the filter."""
PARTS_OF_SCORE = ("model", "task", "item", "metric")
"""Columns that say what a score is of, apart from its filter."""


def name_metrics_by_filter(tables: Sequence[RecordTable]) -> list[RecordTable]:
    """Return tables in which scores by different filters are of different metrics.

    A table is changed if a model has scores of one item by several filters. Tables of battles and
    of a host's eval are left as they are.

    Args:
        tables: all tables, before scores are paired.
    """
    return [_with_filters(each) if _has_several_filters(each) else each for each in tables]


def _has_several_filters(each: RecordTable) -> bool:
    """Return whether a table has scores of a model on one item by several filters.

    The scores must be of the same task and metric. False for tables of battles, of a host's eval
    and without a column `filter`.
    """
    columns = each.records.columns
    if each.is_of_host or FILTER not in columns or not is_pointwise(columns):
        return False
    key = ", ".join(columns[name].text for name in PARTS_OF_SCORE if name in columns)
    cell = columns[FILTER].text
    with_several_values = f"group by {key} having min({cell}) <> max({cell}) limit 1"
    return bool(each.records.rows("1", with_several_values))


def _with_filters(each: RecordTable) -> RecordTable:
    """Return a table whose metrics have the name of the filter after a comma.

    A row without a filter keeps its metric. A row without a metric has the filter's name as metric.
    """
    columns = each.records.columns
    cell = columns[FILTER].text
    name = cell
    if "metric" in columns:
        metric = columns["metric"].text
        name = f"coalesce({metric} || ',' || {cell}, {metric}, {cell})"
    records = replace(each.records, columns={**columns, "metric": Column(name)})
    return replace(each, records=records)
