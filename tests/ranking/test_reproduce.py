"""A recorded ranking is made again with the same numbers, or the differences are named."""

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
from planted_boards import World, make_board

import podium as podium_package
from podium.ranking.reproduce import _compared_values, reproduce

EXAMPLES = Path(__file__).parents[2] / "examples"
SIMULATED = "simulated/battles.csv"
CASES = {
    "battles": (SIMULATED,),
    "options of rankers": (
        *(SIMULATED, "--ranker", "win-rate,bradley-terry", "--set", "pin=amber:1000"),
        *("--set", "interval=bootstrap", "--level", "0.9", "--seed", "5"),
    ),
    "slices": (SIMULATED, "--by", "category"),
    "kept rows": (SIMULATED, "--where", "category=code", "--one-sided", "keep"),
    "complete items": (SIMULATED, "--complete"),
    "orders apart": (SIMULATED, "--no-merge"),
    "scores": ("leaderboard/solved.csv",),
    "scores by two rankers": ("leaderboard/solved.csv", "--ranker", "mean,win-rate"),
    "labelled": ("soft_elo/labelled.csv",),
    "soft Elo": (
        *("soft_elo/newcomers.csv", "--ranker", "soft-elo"),
        *("--calibration", "calibration.json"),
    ),
    "human labels": (
        *("plain.csv", "--ranker", "structured-bradley-terry"),
        *("--human-labels", "labels.csv"),
    ),
    "a folder": ("simulated",),
    "a label": ("run=simulated/battles.csv",),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a copy of the tables among the examples."""
    copied = tmp_path_factory.mktemp("examples")
    for name in ("simulated", "leaderboard", "soft_elo"):
        (copied / name).mkdir()
        for path in (EXAMPLES / name).glob("*.csv"):
            shutil.copy(path, copied / name)
    table = pd.read_csv(copied / SIMULATED)
    table.drop(columns="human").to_csv(copied / "plain.csv", index=False)
    labels = table[table["human"].notna() & (table["order"] == "ab")]
    labels = labels[["item", "model_a", "model_b"]].assign(credit=labels["human"])
    labels.to_csv(copied / "labels.csv", index=False)
    return copied


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("case", list(CASES))
def test_the_numbers_of_an_example_are_the_same_to_the_last_digit(
    podium, folder, monkeypatch, case
):
    monkeypatch.chdir(folder)
    words = CASES[case]
    if "--calibration" in words and not Path("calibration.json").exists():
        podium("calibrate", "soft_elo/labelled.csv", "-o", "calibration.json")
    first = podium("rank", *words, "--format", "json", "-o", "ranking.json")
    assert first.code == 0, first.err
    done = podium("rank", "--reproduce", "ranking.json", "--format", "json", "-o", "again.json")
    assert "reproduced: all " in done.err, done.err
    assert done.code == 0
    before, now = (json.loads(Path(name).read_text()) for name in ("ranking.json", "again.json"))
    assert before["rankings"] == now["rankings"]


def test_a_changed_number_is_named_with_both_values(podium, folder, monkeypatch):
    monkeypatch.chdir(folder)
    podium("rank", SIMULATED, "--format", "json", "-o", "changed.json")
    document = json.loads(Path("changed.json").read_text())
    document["rankings"][0]["models"][0]["score"] = 1700.0
    Path("changed.json").write_text(json.dumps(document))
    done = podium("rank", "--reproduce", "changed.json")
    assert done.code == 1
    assert "not reproduced: 1 number differs of" in done.err
    assert "rankings[0].models[amber].score was 1700.0 and is 1679." in done.err


@pytest.mark.slow
def test_a_changed_file_is_another_ranking(podium, folder, monkeypatch):
    monkeypatch.chdir(folder)
    podium("rank", SIMULATED, "--format", "json", "-o", "ranking.json")
    shorter = "\n".join(Path(SIMULATED).read_text().splitlines()[:900])
    Path("shorter.csv").write_text(shorter + "\n")
    done = podium("rank", "--reproduce", "ranking.json", "shorter.csv")
    assert done.code == 1
    assert "not reproduced: " in done.err


@pytest.mark.slow
def test_another_version_of_a_package_is_named_beside_the_difference(podium, folder, monkeypatch):
    monkeypatch.chdir(folder)
    podium("rank", SIMULATED, "--format", "json", "-o", "older.json")
    document = json.loads(Path("older.json").read_text())
    document["provenance"]["versions"]["numpy"] = "1.25.9"
    document["rankings"][0]["models"][0]["score"] = 1700.0
    Path("older.json").write_text(json.dumps(document))
    assert "numpy 1.25.9 is now " in podium("rank", "--reproduce", "older.json").err


def test_other_options_beside_it_are_an_error(podium, folder, monkeypatch):
    monkeypatch.chdir(folder)
    podium("rank", SIMULATED, "--format", "json", "-o", "ranking.json")
    for words in (("--level", "0.9"), ("--where", "category=code")):
        done = podium("rank", "--reproduce", "ranking.json", *words)
        assert done.code == 2
        assert "leave out all others" in done.err


def test_a_file_that_is_no_ranking_is_an_error(podium, folder, monkeypatch):
    monkeypatch.chdir(folder)
    done = podium("rank", "--reproduce", SIMULATED)
    assert done.code == 1
    assert "not a ranking in JSON" in done.err


def test_without_a_source_and_a_ranking_the_error_names_both(podium):
    done = podium("rank")
    assert done.code == 2
    assert "--reproduce FILE" in done.err


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda document: document.pop("provenance"), "records no options"),
        (lambda document: document["provenance"].pop("options"), "records no options"),
        (lambda document: document["provenance"].pop("sources"), "records no sources"),
        (
            lambda document: document["provenance"]["options"]["reading"].update(wheel=1),
            "unknown option 'wheel'",
        ),
    ],
)
def test_a_damaged_record_is_an_error_that_says_what_is_missing(
    podium, folder, monkeypatch, change, message
):
    monkeypatch.chdir(folder)
    podium("rank", SIMULATED, "--format", "json", "-o", "ranking.json")
    document = json.loads((folder / "ranking.json").read_text())
    change(document)
    (folder / "damaged.json").write_text(json.dumps(document))
    done = podium("rank", "--reproduce", "damaged.json")
    assert done.code == 1
    assert message in done.err
    assert "Traceback" not in done.err


@pytest.mark.slow
def test_sources_in_the_folder_of_the_ranking_are_found_and_the_command_works(
    podium, folder, tmp_path, monkeypatch
):
    made = tmp_path / "made here"
    (made / "simulated").mkdir(parents=True)
    shutil.copy(folder / SIMULATED, made / SIMULATED)
    monkeypatch.chdir(made)
    podium("rank", f"run={SIMULATED}", "--format", "json", "-o", "ranking.json")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    done = podium("rank", "--reproduce", "../made here/ranking.json")
    assert done.code == 2
    assert f"1 of 1 source not found: {SIMULATED}" in done.err
    command = "cd '../made here' && podium rank --reproduce ranking.json"
    assert command in " ".join(done.err.split())
    monkeypatch.chdir(made)
    assert podium("rank", "--reproduce", "ranking.json").code == 0


@pytest.mark.slow
def test_sources_that_are_nowhere_can_be_named(podium, folder, tmp_path, monkeypatch):
    monkeypatch.chdir(folder)
    podium("rank", SIMULATED, "--format", "json", "-o", tmp_path / "ranking.json")
    monkeypatch.chdir(tmp_path)
    done = podium("rank", "--reproduce", "ranking.json")
    assert done.code == 2
    text = " ".join(done.err.split())
    assert f"1 of 1 source not found: {SIMULATED}" in text
    assert "name the sources: podium rank --reproduce ranking.json SOURCE..." in text
    assert podium("rank", "--reproduce", "ranking.json", folder / SIMULATED).code == 0


def test_entries_of_models_in_another_order_are_no_difference():
    before = {"rankings": [{"models": [{"model": "a", "rank": 1}, {"model": "b", "rank": 1}]}]}
    now = {"rankings": [{"models": [{"model": "b", "rank": 1}, {"model": "a", "rank": 1}]}]}
    assert dict(_compared_values(before)) == dict(_compared_values(now))
    assert dict(_compared_values(now))["rankings[0].models[a].rank"] == 1


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    ("where", "value"),
    [(("sources",), [5]), (("options", "level"), "hi"), (("options", "reading"), [1])],
)
def test_a_record_with_values_of_another_type_is_damaged(tmp_path, monkeypatch, where, value):
    monkeypatch.chdir(tmp_path)
    make_board(World(items=6), 1).to_csv("v.csv", index=False)
    document = json.loads(podium_package.rank("v.csv").to_json())
    place = document["provenance"]
    for name in where[:-1]:
        place = place[name]
    place[where[-1]] = value
    Path("r.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(podium_package.PodiumError, match=r"r\.json"):
        reproduce(Path("r.json"))
