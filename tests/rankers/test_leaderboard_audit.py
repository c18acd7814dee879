"""The audit of a leaderboard of means: fewest items by enumeration, false claims where all are
equal, its sentences."""

import re
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import podium
from podium.rankers.pointwise import ScoreMatrix, mean_robustness


def read_matrix(save, values):
    """Return the battles of a matrix of scores, shape (items, models)."""
    head = ",".join(["item", *(f"m{k:02d}" for k in range(values.shape[1]))])
    rows = [",".join([f"q{i}", *map(str, row)]) for i, row in enumerate(values)]
    return podium.read_battles(save("m.csv", "\n".join([head, *rows])))


@pytest.mark.parametrize("seed", range(40))
def test_the_fewest_items_are_those_of_enumeration(seed):
    values = (np.random.default_rng(seed).random((9, 3)) < 0.6).astype(float)
    first = int(np.argmax(values.sum(axis=0)))
    if np.sum(values.sum(axis=0) == values[:, first].sum()) > 1:
        assert (
            "share the first place"
            in mean_robustness(ScoreMatrix(values, ("a", "b", "c")))["unknown"]
        )
        return

    def loses(removed):
        rest = np.delete(values, removed, axis=0).sum(axis=0)
        return rest.max() > rest[first]

    sizes = (
        size
        for size in range(1, 9)
        if any(loses(list(removed)) for removed in combinations(range(9), size))
    )
    found = mean_robustness(ScoreMatrix(values, ("a", "b", "c")))
    assert found.get("items") == next(sizes, None)
    assert ("unknown" in found) == ("items" not in found)


def test_a_single_item_cannot_be_removed():
    assert mean_robustness(ScoreMatrix(np.array([[1.0, 0.5]]), ("a", "b"))) == {
        "unknown": "there is one item only"
    }


def test_a_leader_that_nobody_beats_on_any_item_keeps_the_first_place(save):
    values = np.column_stack([np.ones(60), np.arange(60) % 2, np.arange(60) % 3 == 0]).astype(int)
    standings = podium.rank(read_matrix(save, values)).standings[0]
    assert standings.answer[-1] == "Whichever items are left out, no other model would lead."
    assert standings.diagnostics["drop_out"] == {"items": None, "leader": None}


@pytest.mark.slow
def test_a_shared_first_place_is_not_decided_by_few_items(save):
    values = (np.random.default_rng(1).random((60, 2)) < 0.5).astype(int)
    values = np.column_stack([values[:, 0], values[::-1, 0], values[:, 1] * values[:, 0]])
    standings = podium.rank(read_matrix(save, values)).standings[0]
    assert standings.diagnostics["drop_out"] == {"unknown": "2 models share the first place"}
    answer = " ".join(standings.answer)
    assert "would have to be left out" not in answer
    assert "the first place" not in answer


@pytest.mark.slow
def test_the_answer_has_the_four_statements(save):
    values = (
        np.random.default_rng(1).random((400, 6)) < [0.2, 0.5, 0.52, 0.54, 0.75, 0.78]
    ).astype(int)
    standings = podium.rank(read_matrix(save, values), "mean").standings[0]
    answer, sets = " ".join(standings.answer), {each.model: each for each in standings.entries}
    ordered = [sets[name] for name in standings.separation.names]
    apart = [k + 1 for k in range(5) if k + 1 in standings.separation.beats[k]]
    assert f"{5 - len(apart)} of 5 neighbouring places are too close to call" in answer
    assert f"the first two that are separated are places {apart[0]} and {apart[0] + 1}" in answer
    assert re.search(
        r"[\d,]+ more items would separate them|How many more items would separate m05 from m04",
        answer,
    )
    gap = (values[:, 5] - values[:, 4]).sum()
    assert standings.diagnostics["drop_out"] == {"items": gap + 1, "leader": "m04"}
    assert answer.endswith(
        f"To put {ordered[1].model} first, at least three of the 400 items (1%) would have to be "
        "left out."
    )
    assert gap + 1 == 3


@pytest.mark.slow
def test_with_a_single_item_nothing_is_said_of_items_left_out(save):
    standings = podium.rank(read_matrix(save, np.array([[1, 0, 0]])), "mean").standings[0]
    assert "unknown" in standings.diagnostics["drop_out"]
    assert "How few items" not in " ".join(standings.answer)


@pytest.mark.slow
def test_a_first_place_that_two_items_decide_rests_on_them(save):
    first = np.arange(20) < 11
    second = np.roll(np.arange(20) < 10, 5)
    values = np.column_stack([first, second, np.zeros(20)]).astype(int)
    values[0, 0] = 1
    standings = podium.rank(read_matrix(save, values), "mean").standings[0]
    assert standings.diagnostics["drop_out"]["items"] == 2
    assert standings.answer[-1].endswith(
        "The first place is decided by two of the 20 items: without them, m01 would be first."
    )


@pytest.mark.slow
def test_models_of_equal_strength_are_clearly_ahead_in_at_most_5_percent_of_200_worlds(save):
    claims = 0
    for world in range(200):
        rng = np.random.default_rng(world)
        values = (rng.random((300, 12)) < rng.beta(1, 1, (300, 1))).astype(int)
        standings = podium.rank(
            read_matrix(save, values), "mean", seed=world, answers=False
        ).standings[0]
        claims += any(standings.separation.beats)
    assert claims <= 10  # 5% of 200 worlds
    print(f"clear claims in {claims} of 200 worlds")


@pytest.mark.slow
def test_the_example_is_what_its_script_makes(tmp_path):
    folder = Path(__file__).parents[2] / "examples" / "leaderboard"
    script = tmp_path / "make.py"
    script.write_text((folder / "make.py").read_text(encoding="utf-8"), encoding="utf-8")
    subprocess.run([sys.executable, str(script)], check=True)
    assert (tmp_path / "solved.csv").read_text() == (folder / "solved.csv").read_text()
