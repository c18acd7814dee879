"""Leave out the rows of a score matrix that a spreadsheet computed: means and sums of the others.

Such a row has the name of a total, and its scores are the means or the sums of all other rows.
"""

from dataclasses import replace

import numpy as np

from podium.data.counting.relations import text
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
MOST_DECIMALS = 6
"""A score is taken to be rounded to at most this many decimals."""


def leave_out_totals(matrix: Records) -> tuple[Records, list[Notice]]:
    """Return a matrix without its rows of means or sums, and a warning that names them.

    A row with such a name whose scores are not those of the other rows stays: it may be an item.

    Args:
        matrix: the scores, one per row, with the columns `item`, `model` and `score`.
    """
    item = matrix.columns["item"].text
    names = [str(name) for (name,) in matrix.rows(f"distinct {item}") if name is not None]
    named = [name for name in names if name.strip().lower() in TOTAL_NAMES]
    if not named or len(names) - len(named) < 2:
        return matrix, []
    model = matrix.columns["model"].text
    rows = matrix.rows(f"{item}, {model}, {matrix.columns['score'].number}")
    own: dict[str, dict[str, float]] = {name: {} for name in named}
    others: dict[str, list[float]] = {}
    for name, scored_model, score in rows:
        if score is None:
            continue
        if name in own:
            own[name][scored_model] = score
        else:
            others.setdefault(scored_model, []).append(score)
    totals = [name for name in named if _are_totals(own[name], others)]
    if not totals:
        return matrix, []
    listed = ", ".join(text(name) for name in totals)
    scan = f"(select * from {matrix.scan} where {item} is null or {item} not in ({listed}))"
    notice = Notice("total-rows", {"source": matrix.source, "rows": totals})
    return replace(matrix, scan=scan), [notice]


def _are_totals(own: dict[str, float], others: dict[str, list[float]]) -> bool:
    """Return whether the scores of a row are the rounded means, or the rounded sums, of others.

    Args:
        own: the scores of the row by model.
        others: the scores of the other rows by model.
    """
    if len(own) < 2 or own.keys() != others.keys():
        return False
    decimals = 0
    while decimals < MOST_DECIMALS and any(round(own[m], decimals) != own[m] for m in own):
        decimals += 1
    # The row is rounded, and the other scores may be shown rounded, too.
    half_unit = 0.5 * 10**-decimals
    scores = np.array([own[model] for model in own])
    means = np.array([np.mean(others[model]) for model in own])
    sums = np.array([np.sum(others[model]) for model in own])
    numbers = np.array([len(others[model]) for model in own])
    is_mean = np.abs(scores - means) <= 2 * half_unit + 1e-9
    is_sum = np.abs(scores - sums) <= (1 + numbers) * half_unit + 1e-9
    return bool(is_mean.all() or is_sum.all())
