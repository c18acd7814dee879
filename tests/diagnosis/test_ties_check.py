"""Whether the order of two models depends on how ties count."""

from dataclasses import replace

import numpy as np
import pytest
from planted_boards import KINDS, World, make_board

import podium
from podium.diagnosis.checks.tie_checks import check_ties

PRONE = KINDS["draw-prone model"].world


def check_of(world, seed=1):
    return check_ties(podium.read_battles(make_board(world, seed)))


@pytest.mark.slow
def test_a_weak_model_that_ties_often_is_named_with_the_model_that_it_passes():
    [check] = check_of(PRONE)
    assert check.is_flagged
    assert check.fields["a"] == "fir"
    assert check.fields["b"] in ("elm", "dune")
    assert check.p < 0.05


@pytest.mark.slow
def test_ties_of_equally_good_responses_change_no_order():
    flagged = [check_of(World(tie=-0.5), seed)[0] for seed in range(8)]
    assert sum(check.is_flagged for check in flagged) <= 1


@pytest.mark.slow
def test_without_ties_and_with_two_models_there_is_no_check():
    assert check_of(World(lost=0.0, tie=None, both=False, items=20)) == ()
    board = make_board(PRONE, 1)
    pair = board[board["model_a"].isin(["ash", "fir"]) & board["model_b"].isin(["ash", "fir"])]
    assert check_ties(podium.read_battles(pair)) == ()


@pytest.mark.slow
def test_graded_credits_have_no_ties():
    board = make_board(PRONE, 1)
    board["credit"] = np.clip(board["credit"].fillna(0.5) * 0.8 + 0.07, 0, 1)
    assert check_ties(podium.read_battles(board)) == ()


def test_few_items_and_a_model_with_ties_only_are_not_known():
    [few] = check_of(replace(PRONE, items=5))
    assert not few.is_known
    board = make_board(replace(PRONE, items=20), 1)
    is_of_fir = (board["model_a"] == "fir") | (board["model_b"] == "fir")
    board.loc[is_of_fir, "credit"] = 0.5
    [only] = check_ties(podium.read_battles(board))
    assert (only.is_known, only.reason) == (
        False,
        "without ties, the battles do not rate all models",
    )


@pytest.mark.parametrize("seed", [1, 2])
def test_swapped_sides_and_other_names_change_nothing(seed):
    board = make_board(replace(PRONE, items=60), seed)
    turned = board.rename(columns={"model_a": "model_b", "model_b": "model_a"})
    turned["credit"] = 1 - turned["credit"]
    turned["order"] = "ba"
    [plain] = check_ties(podium.read_battles(board))
    [other] = check_ties(podium.read_battles(turned))
    assert other.p == pytest.approx(plain.p)
