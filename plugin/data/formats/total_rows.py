"""Leave out the rows of a score matrix that a spreadsheet computed: means and sums of the others.

Such a row has the name of a total, and its scores are the means or the sums of all other rows with
the same judge, metric and so on.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from podium.data.counting.relations import ROW
from podium.data.formats.records import Records
from podium.notices.notice import Notice

TOTAL_NAMES = frozenset(
    {
        "average",
        "avg",
        "durchschnitt",
        "gesamt",
        "mean",
        "mittelwert",
        "moyenne",
        "overall",
        "sum",
        "summe",
        "total",
    }
)
"""Names of rows that may hold means or sums, in lower case."""
GROUP_COLUMNS = ("judge", "metric", "repeat", "response", "category", "task")
"""Columns whose cells a total shares with the rows that it sums up; empty cells stand for all."""
MOST_DECIMALS = 6
"""A score is taken to be rounded to at most this many decimals."""
LARGEST_TOLERANCE = 0.1
"""Totals are compared with a tolerance that is a smaller part of the range of a model's scores.

With a larger one, an item would often be taken for a total; such a row must match exactly.
"""
Group = tuple[str | None, ...]
"""The cells of a row in the columns of `GROUP_COLUMNS` that the matrix has."""


@dataclass
class _NamedRow:
    """A row of a matrix with the name of a total: its name, its group and its score by model."""

    name: str
    group: Group
    scores: dict[str, float] = field(default_factory=dict)


def leave_out_totals(matrix: Records) -> tuple[Records, list[Notice]]:
    """Return a matrix without its rows of means or sums, and a warning that names them.

    Only rows whose item is a name of `TOTAL_NAMES` are tested. One whose scores are not the means
    or sums of the other rows stays: it may be an item. The list is empty, and the matrix the same,
    if no row is left out.

    Args:
        matrix: the scores, one per row, with the columns `item`, `model` and `score`.
    """
    item = matrix.columns["item"].text
    names = [str(name) for (name,) in matrix.rows(f"distinct {item}") if name is not None]
    names_of_totals = {name for name in names if name.strip().lower() in TOTAL_NAMES}
    if not names_of_totals or len(names) - len(names_of_totals) < 2:
        return matrix, []
    rows, others = _scores_of_rows(matrix, names_of_totals)
    totals = {
        number: row.name
        for number, row in rows.items()
        if _are_totals(row.scores, _scores_of_group(row.group, others))
    }
    if not totals:
        return matrix, []
    listed = ", ".join(map(str, totals))
    scan = f"(select * from {matrix.scan} where {ROW} not in ({listed}))"
    fields = {"source": matrix.source, "rows": list(dict.fromkeys(totals.values()))}
    return replace(matrix, scan=scan), [Notice("total-rows", fields)]


def _scores_of_rows(
    matrix: Records, names_of_totals: set[str]
) -> tuple[dict[int, _NamedRow], dict[Group, dict[str, list[float]]]]:
    """Return the rows with the name of a total by number, and other scores by group and model.

    Empty scores are left out.

    Args:
        matrix: the scores, one per row.
        names_of_totals: the names of totals that items have.
    """
    cells_of_group = [matrix.columns[name].text for name in GROUP_COLUMNS if name in matrix.columns]
    columns = (matrix.columns["item"].text, matrix.columns["model"].text)
    selection = ", ".join([ROW, *columns, matrix.columns["score"].number, *cells_of_group])
    rows: dict[int, _NamedRow] = {}
    others: dict[Group, dict[str, list[float]]] = {}
    for number, name, model, score, *group in matrix.rows(selection):
        if score is None:
            continue
        if name in names_of_totals:
            row = rows.setdefault(number, _NamedRow(name, tuple(group)))
            row.scores[model] = score
        else:
            others.setdefault(tuple(group), {}).setdefault(model, []).append(score)
    return rows, others


def _scores_of_group(
    group: Group, others: Mapping[Group, Mapping[str, list[float]]]
) -> dict[str, list[float]]:
    """Return the scores by model of the rows that a total of a group sums up.

    An empty cell in `group` stands for every value of its column.
    """
    scores: dict[str, list[float]] = {}
    for other, by_model in others.items():
        cells = zip(group, other, strict=True)
        if all(cell is None or cell == other_cell for cell, other_cell in cells):
            for model, scores_of_model in by_model.items():
                scores.setdefault(model, []).extend(scores_of_model)
    return scores


def _are_totals(scores_of_row: dict[str, float], others: dict[str, list[float]]) -> bool:
    """Return whether the scores of a row are the rounded means, or the rounded sums, of others.

    All of them must be means, or all must be sums. Means do not count if each model has equal
    scores in all other rows. The result is False if the row or the others lack a model, if there
    are fewer than two models or fewer than two other rows, or if all scores are 0 or 1, since an
    item has such scores, too. The row is taken to have as many decimals as its scores show, at most
    `MOST_DECIMALS`; `LARGEST_TOLERANCE` limits the error of rounding.

    Args:
        scores_of_row: the scores of the row by model.
        others: the scores of the other rows by model.
    """
    has_all_models = scores_of_row.keys() == others.keys()
    if len(scores_of_row) < 2 or not has_all_models:
        return False
    if max(map(len, others.values())) < 2:
        return False
    all_scores = np.concatenate([*others.values(), [*scores_of_row.values()]])
    if np.isin(all_scores, (0, 1)).all():
        return False
    decimals = 0
    while decimals < MOST_DECIMALS:
        if all(round(score, decimals) == score for score in scores_of_row.values()):
            break
        decimals += 1
    unit = 10.0**-decimals
    spread = max(float(np.ptp(others[model])) for model in scores_of_row)
    float_error = 1e-9 * float(np.abs(all_scores).max())
    scores = np.array([scores_of_row[model] for model in scores_of_row])
    means = np.array([np.mean(others[model]) for model in scores_of_row])
    sums = np.array([np.sum(others[model]) for model in scores_of_row])

    def are_equal(totals: np.ndarray, tolerance: float) -> bool:
        """Return whether the scores of the row are these totals, up to the tolerance.

        A tolerance that is not below `LARGEST_TOLERANCE` times the spread of the others counts as
        0. Floating-point errors are allowed in any case.
        """
        allowed = tolerance if tolerance < LARGEST_TOLERANCE * spread else 0.0
        return bool((np.abs(scores - totals) <= allowed + float_error).all())

    # A mean may be cut off instead of rounded. If all scores of each model are equal, an item has
    # the mean, too.
    return (spread > 0 and are_equal(means, unit)) or are_equal(sums, unit / 2)
