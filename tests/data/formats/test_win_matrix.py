"""A table whose rows and columns are the same models says not whose wins its cells count; the user
does."""

import json

import pandas as pd
import pytest

import podium as package
from podium.notices.notice_text import notice_texts

MODELS = ["m0", "m1", "m2"]
WINS = pd.DataFrame(
    [[None, 5, 7], [2, None, 4], [1, 3, None]], index=MODELS, columns=MODELS, dtype=float
)


def text_of(frame, name="", sep=","):
    return frame.rename_axis(name).to_csv(sep=sep, float_format="%g")


def earned(battles):
    """Return how often each model won and lost."""
    table = battles.to_frame()
    return {
        m: (int((table["model_a"] == m).sum()), int((table["model_b"] == m).sum())) for m in MODELS
    }


ROWS = {"m0": (12, 3), "m1": (6, 8), "m2": (4, 11)}
COLUMNS = {"m0": (3, 12), "m1": (8, 6), "m2": (11, 4)}


@pytest.mark.parametrize("name", ["", "Unnamed: 0", "model", "item", "system", "winner", "wins of"])
def test_it_is_rejected_whatever_the_name_of_the_first_column_with_both_readings(save, name):
    path = save("wins.csv", text_of(WINS, name))
    with pytest.raises(package.DataError) as caught:
        package.read_battles(path)
    message = str(caught.value)
    assert "what 'm0' won against 'm1', or what 'm1' won against 'm0'" in message
    assert "--matrix rows" in message
    assert "--matrix columns" in message


def test_no_reading_is_proposed_for_rates_which_no_reading_can_read(save):
    path = save("rates.csv", text_of(WINS / 10))
    with pytest.raises(package.DataError) as caught:
        package.read_battles(path)
    assert "is no count of wins" in str(caught.value)
    assert "--matrix" not in str(caught.value)


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize(("reading", "expected"), [("rows", ROWS), ("columns", COLUMNS)])
@pytest.mark.parametrize("name", ["", "model", "x"])
def test_cells_count_the_wins_of_the_model_that_is_named(save, reading, expected, name):
    battles = package.read_battles(save("wins.csv", text_of(WINS, name)), matrix=reading)
    assert earned(battles) == expected
    assert battles.counts().judgments == 22
    assert "no item column: rows counted as independent" in notice_texts(battles.notes)


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize(
    "kind", ["csv", "tsv", "parquet", "json", "columns of json", "frame", "named frame"]
)
def test_it_is_read_from_every_container(save, tmp_path, kind):
    frame = WINS.astype("Int64")
    sources = {
        "csv": lambda: save("w.csv", text_of(WINS)),
        "tsv": lambda: save("w.tsv", text_of(WINS, sep="\t")),
        "json": lambda: save(
            "w.json",
            json.dumps([{"model": m, **row.dropna().to_dict()} for m, row in WINS.iterrows()]),
        ),
        "columns of json": lambda: save("w.json", WINS.to_json()),
        "frame": lambda: frame,
        "named frame": lambda: frame.rename_axis("model"),
    }
    if kind == "parquet":
        source = tmp_path / "w.parquet"
        frame.to_parquet(source)
    else:
        source = sources[kind]()
    with pytest.raises(package.DataError, match="--matrix rows"):
        package.read_battles(source)
    assert earned(package.read_battles(source, matrix="rows")) == ROWS


def test_rows_in_another_order_change_nothing(save):
    path = save("wins.csv", text_of(WINS.loc[["m2", "m0", "m1"]]))
    assert earned(package.read_battles(path, matrix="rows")) == ROWS


def test_models_that_never_met_have_two_empty_cells(save):
    wins = WINS.copy()
    wins.loc["m0", "m2"] = wins.loc["m2", "m0"] = None
    assert earned(package.read_battles(save("w.csv", text_of(wins)), matrix="rows")) == {
        "m0": (5, 2),
        "m1": (6, 8),
        "m2": (3, 4),
    }


def with_cells(*cells):
    wins = WINS.copy()
    for row, column, value in cells:
        wins.loc[row, column] = value
    return wins


WRONG = {
    "a win rate": (
        with_cells(("m0", "m1", 0.63), ("m1", "m0", 0.37)),
        "0.63 .'m0' against 'm1'. is no count of wins",
    ),
    "a tie as half": (with_cells(("m0", "m1", 5.5)), "ties counted as half"),
    "half of a pair": (
        with_cells(("m1", "m0", None)),
        "'m1' against 'm0' is empty, but that of the other direction",
    ),
    "a negative number": (with_cells(("m0", "m1", -1)), "negative"),
    "own wins": (with_cells(("m1", "m1", 4)), "'m1' has wins against itself"),
    "percentages": (
        pd.DataFrame(
            [[None, 60, 70], [40, None, 55], [30, 45, None]], index=MODELS, columns=MODELS
        ),
        "look like percentages",
    ),
    "no battle": (WINS * 0, "no wins in any cell"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_cells_that_count_no_wins_are_rejected_with_what_to_do(save, kind):
    wins, words = WRONG[kind]
    with pytest.raises(package.DataError, match=words):
        package.read_battles(save("w.csv", text_of(wins)), matrix="rows")


def test_an_empty_or_zero_diagonal_is_the_same(save):
    zeros = with_cells(*((m, m, 0) for m in MODELS))
    assert earned(package.read_battles(save("w.csv", text_of(zeros)), matrix="rows")) == ROWS


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    "words",
    [
        "rank",
        "compare m0 m2",
        "report -o r.html",
        "diagnose",
        "convert -o b.csv",
        "replay --tournament chain",
    ],
)
def test_every_command_rejects_it_and_takes_the_option(save, podium, words, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    path = save("wins.csv", text_of(WINS, "model"))
    name, *rest = words.split()
    refused = podium(name, *rest, path)
    assert (refused.code, "--matrix columns" in refused.err) == (1, True)
    taken = podium(name, *rest, path, "--matrix", "rows")
    assert "--matrix" not in taken.err
    assert taken.code == (1 if name == "replay" else 0), (
        taken.err
    )  # a tournament is replayed by item


@pytest.mark.slow
def test_the_model_that_lost_all_is_last(save, podium):
    wins = pd.DataFrame([[None, 1, 1], [0, None, 1], [0, 0, None]], index=MODELS, columns=MODELS)
    done = podium("rank", save("wins.csv", text_of(wins)), "--matrix", "rows", "--format", "json")
    assert [entry["model"] for entry in json.loads(done.out)["rankings"][0]["models"]] == MODELS


def test_a_table_of_wins_in_a_folder_is_skipped_by_name(save, tmp_path):
    save("votes.csv", "item,model_a,model_b,credit\n1,m0,m1,1\n2,m0,m1,0\n")
    save("wins.csv", text_of(WINS))
    battles = package.read_battles(tmp_path)
    assert len(battles) == 2
    assert any("wins.csv" in note and "say matrix=" in note for note in notice_texts(battles.notes))


def test_the_option_without_such_a_table_is_an_error(save):
    path = save("votes.csv", "item,model_a,model_b,credit\n1,m0,m1,1\n2,m0,m1,0\n")
    with pytest.raises(package.UsageError, match="--matrix rows: no source is a table of wins"):
        package.read_battles(path, matrix="rows")
    with pytest.raises(package.UsageError, match="matrix='cells': say whose wins a cell counts"):
        package.read_battles(path, matrix="cells")


def test_scores_of_models_by_item_are_no_table_of_wins(save):
    path = save("scores.csv", "item,m0,m1\nq1,1,0\nq2,0,1\nq3,1,1\n")
    assert package.read_battles(path).default_ranker == "mean"


@pytest.mark.parametrize(
    "text", ["model,a,b\na,,3\nb,2,\nc,1,4\n", "m,a,b\nc,1,4\na,,3\nb,2,\nd,0,1\n"]
)
def test_rows_without_a_column_are_left_out_and_named(tmp_path, text):
    path = tmp_path / "wins.csv"
    path.write_text(text)
    battles = package.read_battles(path, matrix="rows")
    frame = battles.to_frame()
    assert frame.groupby(["model_a", "model_b"], observed=True).size().to_dict() == {
        ("a", "b"): 3,
        ("b", "a"): 2,
    }
    [note] = [note for note in battles.notes if note.code == "win-matrix-rows-left-out"]
    assert note.fields["rows"] == [name for name in ("c", "d") if f"{name}," in text]
