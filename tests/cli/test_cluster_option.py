"""`--cluster` on the command line: groups in every command that counts them, refused by others."""

import pandas as pd
import pytest

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
