"""Columns of a score matrix that say something about its rows, and are not models."""

import numpy as np
import pytest
from statsmodels.stats.weightstats import DescrStatsW

from podium.comparison.compare_models import compare
from podium.data.reading.judgments import read_battles
from podium.errors import DataError
from podium.notices.notice_text import notice_texts
from podium.ranking.rank_battles import rank

SCORES = {"a": (1, 1, 0, 1, 0, 1), "b": (0, 1, 1, 0, 0, 1)}
WEIGHTS = (1, 2, 3, 4, 1, 2)


def _matrix(save, columns, label="item"):
    """Write a matrix with a row per item, and with further columns."""
    every = {**SCORES, **columns}
    lines = [",".join([label, *every])]
    for k in range(len(WEIGHTS)):
        lines.append(",".join([f"q{k}", *(str(cells[k]) for cells in every.values())]))
    return save("scores.csv", "\n".join(lines) + "\n")


def _means(path):
    [standings] = rank(read_battles(path), "mean").standings
    return {entry.model: entry.score for entry in standings.entries}


@pytest.mark.slow
@pytest.mark.parametrize("label", ["item", ""])
@pytest.mark.parametrize("name", ["weight", "weights", "Weight", "sample_weight"])
def test_weights_of_a_matrix_are_weights_in_every_figure(save, name, label):
    path = _matrix(save, {name: WEIGHTS}, label)
    expected = {model: DescrStatsW(cells, WEIGHTS).mean for model, cells in SCORES.items()}
    assert _means(path) == pytest.approx(expected)
    [finding] = compare("a", "b", path).findings
    assert finding.scores == pytest.approx((expected["a"], expected["b"]))


@pytest.mark.parametrize("name", ["weights", "Weight"])
def test_weights_of_other_tables_are_weights(save, name):
    lines = [f"item,model,score,{name}"]
    for model, cells in SCORES.items():
        for k, (score, weight) in enumerate(zip(cells, WEIGHTS, strict=True)):
            lines.append(f"q{k},{model},{score},{weight}")
    expected = {model: np.average(cells, weights=WEIGHTS) for model, cells in SCORES.items()}
    assert _means(save("long.csv", "\n".join(lines))) == pytest.approx(expected)


@pytest.mark.fast_cases(3)
@pytest.mark.parametrize("name", ["n", "Count", "index", "difficulty", "turn", "average", "max"])
def test_a_column_of_facts_is_named_and_is_no_model(save, name):
    battles = read_battles(_matrix(save, {name: (7, 5, 6, 1, 2, 3)}))
    assert {*battles.models} == {*SCORES}
    told = " ".join(notice_texts(battles.notes))
    assert f"facts about rows: {name}" in told
    assert "columns read as models: a, b" in told


def test_facts_can_be_used_for_slices(save):
    battles = read_battles(_matrix(save, {"difficulty": (1, 1, 1, 2, 2, 2)}))
    assert battles.values_of("difficulty") == ("1", "2")


def test_a_column_that_cannot_be_told_from_a_model_is_named_as_a_model(save):
    battles = read_battles(_matrix(save, {"reviewer": (0, 1, 1, 0, 1, 0)}))
    assert "columns read as models: a, b, reviewer" in " ".join(notice_texts(battles.notes))


def test_a_mean_beside_the_scores_of_models_is_no_item(save):
    path = save("rows.csv", "model,q0,q1,q2,average\na,1,0,1,0.67\nb,0,0,1,0.33\n")
    battles = read_battles(path)
    assert battles.table["item"].nunique() == 3
    assert "facts about rows: average" in " ".join(notice_texts(battles.notes))


@pytest.mark.parametrize(
    "text",
    [
        "model,q0,q1,q2,weight\na,1,0,1,2\nb,0,0,1,1\n",
        "model,q0,q1,q2\na,1,0,1\nb,0,0,1\nweights,2,1,1\n",
    ],
)
def test_weights_of_a_matrix_with_a_row_per_model_are_refused_by_name(save, text):
    with pytest.raises(DataError, match="weight"):
        read_battles(save("rows.csv", text))


def test_a_column_of_a_win_matrix_that_is_no_model_is_named(save):
    path = save("wins.csv", ",a,b,c,n\na,,3,2,9\nb,1,,2,9\nc,2,2,,9\n")
    battles = read_battles(path, matrix="rows")
    assert {*battles.models} == {"a", "b", "c"}
    assert "no row has the name of the column: n" in " ".join(notice_texts(battles.notes))
