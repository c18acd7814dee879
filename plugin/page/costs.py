"""The costs of the models' answers, next to their ratings."""

from collections.abc import Sequence

import pandas as pd

from podium.hookspecs import load_target
from podium.nouns.ranking import Standings
from podium.page.texts import files_in
from podium.plugins import catalogue
from podium.report.model import EMPTY, Table
from podium.report.numbers import number_text

MEANS = {"tokens in": 0, "tokens out": 0, "seconds": 1, "money": 4}
"""Means per answer, with their decimals."""


def costs_table(standings: Standings, sources: Sequence[str]) -> Table | None:
    """Build a row per model with mean tokens, time and price of its answers; None if no source records them."""
    rows = [
        row
        for known in catalogue.formats()
        if known.costs
        for source in sources
        for path in files_in(source, known.suffixes)
        for row in load_target(known.costs)(path)
    ]
    ranked = [entry.model for entry in standings.entries]
    frame = pd.DataFrame(rows, columns=["model", *MEANS]).astype(dict.fromkeys(MEANS, float))
    of_models = frame.groupby("model")[list(MEANS)]
    means, counts = of_models.mean().reindex(ranked), of_models.count().max(axis=1).reindex(ranked).fillna(0)
    means = means.dropna(axis=1, how="all")
    if not len(means.columns):
        return None
    digits, table_rows = 0 if standings.scale == "elo" else 3, []
    for entry in standings.entries:
        costs = means.loc[entry.model].items()
        cells = (EMPTY if pd.isna(value) else f"{value:,.{MEANS[str(name)]}f}" for name, value in costs)
        table_rows.append((entry.model, number_text(entry.score, digits), f"{counts[entry.model]:,.0f}", *cells))
    legend = ("Means over a model's answers, from its own logs; the judge's costs are not included.",)
    return Table("", ("model", "score", "answers", *means.columns), tuple(table_rows), legend=legend)
