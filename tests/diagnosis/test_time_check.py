"""Whether a model's win rate changes from the first battle to the last."""

import numpy as np
import pandas as pd
import pytest
from planted_boards import KINDS, World, make_board

import podium
from podium.data.times import seconds_of_texts
from podium.diagnosis.checks.time_checks import _mid_ranks, check_time

DRIFT = KINDS["drift"].world


def check_of(board):
    return check_time(podium.read_battles(board, merge=False))


def test_a_model_that_becomes_better_is_named_with_the_column_and_the_period():
    [check] = check_of(make_board(DRIFT, 1))
    assert check.is_flagged
    assert check.models == ("birch",)
    assert check.number > 0.1
    low, high = check.interval
    assert low < check.number < high
    assert check.fields["column"] == "created_at"
    assert check.fields["span"] == "2023-11-14 to 2023-11-18"


@pytest.mark.slow
def test_a_constant_world_is_flagged_in_few_boards():
    flagged = [check_of(make_board(World(), seed))[0].is_flagged for seed in range(20)]
    assert sum(flagged) <= 3


def test_pairs_that_met_at_other_times_are_no_drift():
    """Strong models met first, weak ones last: only the times of pairs differ."""
    board = make_board(World(items=60), 3)
    is_early = board["model_a"].isin(["ash", "birch"]) | board["model_b"].isin(["ash", "birch"])
    rng = np.random.default_rng(0)
    board["created_at"] = (
        1_700_000_000 + np.where(is_early, 0, 1e6) + rng.uniform(0, 1e3, len(board))
    )
    [check] = check_of(board)
    assert not check.is_flagged


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1700000000", 1.7e9),
        ("1700000000123", 1700000000.123),
        ("2023-11-14T22:13:20Z", 1.7e9),
        ("2023-11-14 22:13:20+00:00", 1.7e9),
        ("12", np.nan),
        ("morning", np.nan),
        (None, np.nan),
    ],
)
def test_dates_and_numbers_since_1970_are_read_and_nothing_else(text, seconds):
    found = seconds_of_texts(np.array([text], dtype=object))
    assert found[0] == pytest.approx(seconds, nan_ok=True)


def test_dates_as_text_give_the_same_check():
    board = make_board(DRIFT, 1)
    as_text = board.assign(created_at=pd.to_datetime(board["created_at"], unit="s").astype(str))
    assert check_of(as_text)[0].number == pytest.approx(check_of(board)[0].number)


def test_without_dates_or_with_dates_of_few_battles_it_is_not_known():
    board = make_board(World(items=30), 1)
    [check] = check_of(board.drop(columns="created_at"))
    assert (check.is_known, check.reason) == (False, "no column has dates or times")
    board["created_at"] = board["created_at"].astype(object)
    board.loc[board.index[: len(board) // 2], "created_at"] = None
    [check] = check_of(board)
    assert not check.is_known
    assert check.reason == "column created_at: 439 of 877 battles have a readable date"


def test_a_slice_by_periods_divides_the_battles_in_the_order_of_time():
    battles = podium.read_battles(make_board(World(items=30), 1))
    slices = dict(battles.slices("created_at:2"))
    assert [len(part) for part in slices.values()] == [225, 225]
    names = [*slices]
    assert names == sorted(names)
    first, second = (set(part.values_of("item")) for part in slices.values())
    assert max(first) < min(second)


def test_a_period_of_a_column_without_times_is_an_error():
    battles = podium.read_battles(make_board(World(items=30), 1))
    with pytest.raises(podium.UsageError, match="'category' has no times, which --by category:2"):
        list(battles.slices("category:2"))
    with pytest.raises(podium.PodiumError):
        list(battles.slices("nowhere:2"))


def test_periods_within_a_millisecond_are_one_period():
    board = make_board(World(items=30, both=False), 1)
    board["created_at"] = 1_700_000_000 + np.arange(len(board)) * 1e-6
    [(name, part)] = podium.read_battles(board).slices("created_at:2")
    assert name == "2023-11-14 22:13:20 to 2023-11-14 22:13:20"
    assert len(part) == len(podium.read_battles(board))


def test_a_usable_column_of_times_is_used_if_another_has_more_dates_but_two_days_only():
    board = make_board(DRIFT, 1)
    board["date"] = np.where(board.index % 2, "2024-01-01", "2024-01-02")
    board["created_at"] = board["created_at"].astype(object)
    board.loc[board.index[:9], "created_at"] = None
    [check] = check_of(board)
    assert check.fields["column"] == "created_at"


def test_numbers_have_one_text_in_slices_and_in_checks():
    """A whole number among others is found by the text that the slices are made of."""
    board = make_board(World(items=30, both=False), 1)
    board["level"] = np.where(board.index % 3, 2.0, 1.5)
    battles = podium.read_battles(board)
    assert {*battles.rows.texts_of("level")} == {*battles.values_of("level")} == {"1.5", "2"}


def test_battles_at_one_time_share_the_middle_of_their_ranks():
    """Two of four battles at one time lie between the ranks of the others."""
    ranks = _mid_ranks(np.array([7.0, 5.0, 7.0, 9.0]))
    assert ranks.tolist() == [0.5, 0.125, 0.5, 0.875]
