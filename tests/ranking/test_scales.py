"""What a score is comes from the ranker's scale, also from a plug-in's own, and from no name."""

import json

import numpy as np
import pandas as pd
import pytest

import podium
from podium import Ranker, Scale
from podium.plugins import catalogue
from podium.rankers.from_pairs import from_pairs
from podium.rankers.json_files import read_ranking
from podium.score_scale import ELO, WIN_RATE, as_scale, win_rate_against
from podium.show.report.ranking_view import standings_report

WINS = Scale("net wins", unit="wins", format=".0f", difference_format=".0f", heading="wins, net")


def net_wins(battles, *, level=0.95, rng):
    """Rank by wins minus losses."""

    def score(pairs):
        net = 2 * pairs.credit - pairs.weight
        return np.bincount(pairs.first, net, pairs.models) - np.bincount(
            pairs.second, net, pairs.models
        )

    return from_pairs("net-wins", WINS, score, battles, level=level, rng=rng, resamples=20)


@pytest.fixture
def battles():
    """Return battles of two models, of which the first wins most."""
    rows = [
        {"item": f"q{k}", "model_a": "ash", "model_b": "elm", "credit": float(k % 5 > 0)}
        for k in range(60)
    ]
    return podium.read_battles(pd.DataFrame(rows))


def test_a_scale_of_a_plug_in_heads_its_column_and_formats_scores(battles, monkeypatch, tmp_path):
    known = Ranker("net-wins", net_wins, "wins minus losses")
    monkeypatch.setattr(catalogue, "extension", lambda *_: known)
    monkeypatch.setattr(catalogue, "ranker_function", lambda _: net_wins)
    ranking = podium.rank(battles, "net-wins")
    [standings] = ranking.standings
    assert standings.scale == WINS
    table = standings_report(standings).table
    assert table.header[2] == "wins, net"
    assert table.rows[0][2] == "36"
    path = tmp_path / "ranking.json"
    path.write_text(json.dumps(ranking.to_dict()))
    assert read_ranking(path).standings[0].scale == WINS


@pytest.mark.slow
def test_a_win_rate_against_a_model_of_any_name_keeps_the_name(battles):
    [standings] = podium.rank(battles, "win-rate", anchor="elm").standings
    assert standings.scale == win_rate_against("elm")
    name = "x against y: win rate"
    assert win_rate_against(name).against == name


@pytest.mark.parametrize(
    ("scale", "text"),
    [(ELO, "85 Elo"), (WIN_RATE, "8512.3 points"), (Scale("x"), "85.1"), (WINS, "85 wins")],
)
def test_a_difference_is_written_in_the_unit_of_its_scale(scale, text):
    assert scale.difference_text(85.123) == text
    assert text.startswith(scale.difference_number(85.123))


@pytest.mark.slow
def test_a_pinned_rating_is_the_zero_of_its_scale(battles):
    scales = [
        podium.rank(battles, "bradley-terry", **pin).standings[0].scale
        for pin in ({}, {"pin": "ash:1000"})
    ]
    assert [scale.zero for scale in scales] == ["mean", "pin"]


def test_a_name_like_elo_alone_makes_no_elo_ratings():
    assert not as_scale("elo").is_elo


@pytest.mark.slow
def test_a_ranking_file_with_a_damaged_scale_is_rejected(battles, tmp_path):
    document = podium.rank(battles, "win-rate").to_dict()
    path = tmp_path / "ranking.json"
    path.write_text(json.dumps(document))
    assert read_ranking(path).standings[0].scale == WIN_RATE
    document["rankings"][0]["scale_record"]["bounds"] = "wide"
    path.write_text(json.dumps(document))
    with pytest.raises(podium.DataError, match="scale"):
        read_ranking(path)
