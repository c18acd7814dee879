"""Gold standards: a ranking of podium's, a table of scores, or battles."""

import json

import pandas as pd
import pytest

from podium import DataError, rank, read_battles, simulate
from podium.diagnosis.subject import read_gold


def test_a_table_of_scores_is_a_ranking(tmp_path):
    path = tmp_path / "board.csv"
    path.write_text("model,elo\nb,1200\na,1100.5\n")
    found = read_gold(str(path))
    assert found.scores == {"a": 1100.5, "b": 1200.0}
    assert found.battles is None


def test_podiums_own_json_is_a_ranking(tmp_path):
    ranking = rank(simulate(3, 10, seed=1).battles(), "bradley-terry,win-rate")
    path = tmp_path / "ranking.json"
    path.write_text(ranking.to_json())
    held = json.loads(path.read_text())["rankings"][0]
    assert read_gold(str(path)).scores == {one["model"]: one["score"] for one in held["models"]}
    assert read_gold(str(path)).scale.name == "elo"


@pytest.mark.slow
def test_battles_are_a_gold_standard(tmp_path):
    frame = simulate(3, 10, seed=1).judgments()
    path = tmp_path / "votes.csv"
    frame.to_csv(path, index=False)
    found = read_gold(str(path))
    assert found.scores is None
    assert len(found.battles) == len(read_battles(frame))


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        (
            {"model": ["a", "b"], "score": [1, "much"]},
            "row 2: score 'much' of 'b' is not a number, or too large",
        ),
        (
            {"model": ["a", "b"], "score": [1, -1e308]},
            "row 2: score .* of 'b' is not a number, or too large",
        ),
        ({"model": ["a", "a"], "score": [1, 2]}, "more than one score of a"),
    ],
)
def test_a_score_that_is_none_is_rejected(tmp_path, rows, problem):
    path = tmp_path / "board.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    with pytest.raises(DataError, match=problem):
        read_gold(str(path))


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        (
            "points.csv",
            "system,points\na,1\n",
            "neither a ranking nor battles: no known format has the columns",
        ),
        ("other.json", '[{"a": 1}]', "neither a ranking nor battles"),
        (
            "half.json",
            '{"podium": "0.3", "rankings": [{"ranker": "elo"}]}',
            "is not a ranking: no field 'rankings.0.slice'",
        ),
        ("odd.json", '{"podium": "0.3", "rankings": [3]}', "is not a ranking: rankings.0 is 3"),
    ],
)
def test_a_file_that_is_neither_says_what_would_do(tmp_path, name, text, problem):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(DataError, match=problem) as error:
        read_gold(str(path))
    assert "the columns model and score" in str(error.value)


def test_a_file_cut_short_is_an_error_of_the_file(tmp_path):
    path = tmp_path / "cut.json"
    path.write_text('{"rankings": [')
    with pytest.raises(DataError, match="cut"):
        read_gold(str(path))
