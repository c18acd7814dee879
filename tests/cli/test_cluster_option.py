"""`--cluster` on the command line: groups in every command that counts them, refused by others."""

import pandas as pd
import pytest

import podium as podium_package

ROWS = [(f"i{k}", "a", "b", float((k // 3 + k) % 2), f"p{k // 3}") for k in range(60)]


@pytest.fixture
def battles(tmp_path):
    path = tmp_path / "battles.csv"
    names = ["item", "model_a", "model_b", "credit", "passage"]
    pd.DataFrame(ROWS, columns=names).to_csv(path, index=False)
    return str(path)


@pytest.mark.slow
def test_rank_and_compare_count_groups(podium, battles):
    assert "20 passages, 60 items" in podium("rank", battles, "--cluster", "passage").out
    assert (
        "20 passages, 60 items" in podium("compare", "a", "b", battles, "--cluster", "passage").out
    )


def test_a_replay_decides_and_ranks_by_groups(podium, battles):
    command = ("replay", battles, "--cluster", "passage")
    replayed = podium(*command, "--tournament", "round_robin", "--set", "until=order")
    assert "passages, 40 items" in replayed.out
    assert "40 battles on 20 passages, interim analysis 1 of 2" in replayed.out


@pytest.mark.parametrize("name", ["my passage", "Group-1", 'we"ird'])
@pytest.mark.parametrize("times", [1, 250], ids=["few rows", "many rows"])
def test_the_column_of_groups_may_have_any_name(name, times):
    """Of many rows of a data frame, texts are coded when they are read."""
    rows = [
        (f"{k}-{i}", a, b, credit, f"{k}-{p}") for k in range(times) for i, a, b, credit, p in ROWS
    ]
    table = pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit", "passage"])
    plain = podium_package.rank(podium_package.read_battles(table, cluster="passage"))
    table = table.rename(columns={"passage": name})
    renamed = podium_package.rank(podium_package.read_battles(table, cluster=name))
    assert renamed.standings[0].entries == plain.standings[0].entries
