"""What a host prints of a ranking after a run."""

import pandas as pd

import podium
from podium.show.report.brief_view import brief_ranking_text


def test_what_is_missing_is_counted_in_battles_as_in_the_table() -> None:
    """Of three models, one lacks 3 of 10 items: 3 scores, and 6 battles."""
    rows = [
        (f"q{k}", model, float(k % 2))
        for k in range(10)
        for model in ("ash", "elm", "fir")
        if model != "fir" or k not in (3, 5, 8)
    ]
    scores = pd.DataFrame(rows, columns=["item", "model", "score"])
    ranking = podium.rank(podium.read_battles(scores))
    text = brief_ranking_text(ranking, ["fir"], is_judged=False)
    assert "10 items, 6 battles missing" in text
    assert "24 battles: 24 judged, 0 unparsed, 6 missing" in str(ranking)
