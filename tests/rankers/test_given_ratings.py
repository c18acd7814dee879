"""Given ratings as they are typed, in files and as mappings; and what is wrong with others."""

import json

import numpy as np
import pytest

from podium import PodiumError, rank, read_battles, simulate
from podium.data.ladder import ladder_from_log
from podium.notices.notice_text import notice_texts
from podium.rankers.given_ratings import read_ladder


@pytest.mark.parametrize("sign", ["+-", "±", "+/-"])
def test_ratings_are_typed_with_their_standard_error(sign):
    ladder = read_ladder(f"org/one:1612.5{sign}25, two:b:1500{sign}0")
    assert (ladder.models, ladder.elo, ladder.se) == (
        ("org/one", "two:b"),
        (1612.5, 1500.0),
        (25.0, 0.0),
    )
    assert ladder.assumed == ()
    assert read_ladder([f"org/one:1612.5{sign}25", f"two:b:1500{sign}0"]) == ladder
    assert read_ladder({"org/one": (1612.5, 25), "two:b": (1500, 0)}) == ladder


def test_blanks_around_the_colon_of_a_typed_rating_are_no_part_of_the_name():
    assert read_ladder("one : 1612+-25, two :1500+-0").models == ("one", "two")


def test_a_table_has_ratings_and_errors_where_they_are_known(tmp_path):
    path = tmp_path / "ladder.csv"
    path.write_text("model,rating,se\none,1612,25\ntwo,1500,\n", encoding="utf-8")
    ladder = read_ladder(str(path))
    assert (ladder.models, ladder.elo, ladder.se, ladder.assumed) == (
        ("one", "two"),
        (1612, 1500),
        (25, 30),
        ("two",),
    )
    assert ladder.source == str(path)


def test_a_ranking_of_podium_is_a_ladder(tmp_path):
    ranking = rank(simulate(5, 60, seed=1).battles())
    path = tmp_path / "ladder.json"
    path.write_text(ranking.to_json(), encoding="utf-8")
    ladder, entries = read_ladder(str(path)), ranking.standings[0].entries
    assert ladder.models == tuple(entry.model for entry in entries)
    assert np.allclose(ladder.elo, [entry.score for entry in entries])
    assert np.allclose(ladder.se, [entry.se for entry in entries])


@pytest.mark.slow
def test_a_model_without_a_bounded_rating_in_a_ranking_is_named_as_a_newcomer(tmp_path):
    """It once became a newcomer without a word."""
    world = simulate(4, 60, seed=1).battles()
    table = world.table.assign(
        credit=world.table["credit"].where(world.table["model_a"] != "model-02", 1.0)
    )
    table["credit"] = table["credit"].where(table["model_b"] != "model-02", 0.0)
    battles, path = read_battles(table), tmp_path / "ladder.json"
    path.write_text(rank(battles).to_json(), encoding="utf-8")
    ladder = read_ladder(str(path))
    assert ladder.unbounded == ("model-02",)
    assert "model-02" not in ladder.models
    assert ladder_from_log(json.loads(json.dumps(ladder.to_dict()))) == ladder
    warnings = notice_texts(rank(battles, ratings=str(path)).standings[0].warnings)
    told = f"{path}: without a bounded rating (`*`), so newcomers: model-02"
    assert told in warnings
    part = battles.select((table[["model_a", "model_b"]] != "model-02").all(axis=1).to_numpy())
    assert told not in notice_texts(rank(part, ratings=str(path)).standings[0].warnings)


@pytest.mark.parametrize(
    ("ratings", "complaint"),
    [
        ("one", "^ratings=one: write NAME:1500"),
        ("one:high", "one:high: write NAME:1500"),
        ("one:1500+-wide", r"one:1500\+-wide"),
        ("one:1500+--5", r"one:1500\+--5"),
        ("one:nan", "one:nan"),
        ("one:1500+-5,one:1600+-5", "one:1600.* twice"),
        ("nowhere.csv", "nowhere.csv: there is no such file"),
        ({"one": None}, "one:"),
        ({}, "no rating"),
    ],
)
def test_what_is_no_rating_is_rejected_with_its_value(ratings, complaint):
    with pytest.raises(PodiumError, match=complaint):
        read_ladder(ratings)


def test_a_table_in_another_encoding_is_rejected_since_its_names_would_match_no_model(tmp_path):
    path = tmp_path / "ladder.csv"
    path.write_bytes("model,rating\nmod\u00e8le,1500\n".encode("latin-1"))
    with pytest.raises(
        PodiumError, match=r"ladder.csv: not UTF-8 text .*Remedy: convert the file to UTF-8"
    ):
        read_ladder(str(path))


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("a.csv", "name,elo\none,1500\n", "no columns model and rating"),
        (
            "b.csv",
            "model,rating\ntwo,1500\n\none,high\n",
            r"^\S*b.csv: row 2: one:high: write NAME",
        ),
        (
            "g.csv",
            "model,rating\none,1500\none,1500\n",
            r"^\S*g.csv: row 2: one:1500: one is rated twice; rate each model once",
        ),
        ("c.csv", "model,rating,se\n", "no rating"),
        ("d.json", "{}", "0 tables of Elo ratings"),
        ("e.csv", "", "no columns model and rating"),
        ("f.csv", "model,rating,se\none,1500,-5\n", r"^\S*f.csv: row 1: one:1500\+--5: write NAME"),
    ],
)
def test_a_file_without_a_ladder_is_rejected_with_its_name(tmp_path, name, text, complaint):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(PodiumError, match=complaint) as raised:
        read_ladder(str(tmp_path / name))
    assert name in str(raised.value)
