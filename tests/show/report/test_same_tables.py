"""Two rankers with the same table for the same battles show it once."""

import pandas as pd

import podium
from podium.show.report.ranking_view import ranking_text


def graded() -> pd.DataFrame:
    """Return battles of three models with graded credits, in which x is better than y than z."""
    rows = []
    for k in range(40):
        for shift, (a, b) in enumerate((("x", "y"), ("y", "z"), ("x", "z"))):
            credit = 0.55 + 0.1 * shift + 0.002 * (k % 20)
            rows.append({"item": f"q{k}", "model_a": a, "model_b": b, "credit": credit})
    return pd.DataFrame(rows)


def test_a_table_that_an_earlier_ranker_has_is_replaced_by_a_line():
    ranking = podium.rank(podium.read_battles(graded()), "bradley-terry,soft-elo,win-rate")
    text = ranking_text(ranking)
    assert "soft-elo: the same table as bradley-terry\n" in text
    assert text.count(" rank   model") == 2, "that of win-rate is another one"
    assert len(ranking.standings) == 3, "the JSON has all"
