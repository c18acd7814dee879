"""What is claimed if a judge read single orders only and favours the response shown first."""

from itertools import combinations
from math import exp

import numpy as np
import pandas as pd
import pytest

import podium


def verdicts(
    *, sides: str, bias: float, gap: float = 0.0, models: int = 4, seed: int = 1, items: int = 80
) -> pd.DataFrame:
    """Draw verdicts in one order each.

    Args:
        sides: `fixed` if the earlier model is always shown first, `random` if a coin decides.
        bias: log-odds that being shown first adds.
        gap: log-odds by which each model is better than the next one.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for item in range(items):
        for a, b in combinations(range(models), 2):
            order = "ab" if sides == "fixed" or rng.random() < 0.5 else "ba"
            logit = gap * (b - a) + (bias if order == "ab" else -bias)
            names = {"item": f"q{item}", "model_a": f"m{a}", "model_b": f"m{b}", "judge": "J"}
            rows.append(
                {**names, "order": order, "credit": float(rng.random() < 1 / (1 + exp(-logit)))}
            )
    return pd.DataFrame(rows)


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("models", [2, 4])
@pytest.mark.parametrize("require", ["better", "not-worse=100elo"])
def test_a_lead_that_the_order_may_explain_is_not_claimed(models: int, require: str) -> None:
    battles = podium.read_battles(verdicts(sides="fixed", bias=3.5, models=models))
    standings = podium.rank(battles).standings[0]
    assert standings.answer[0].startswith("Nothing is claimed about m0")
    assert "clearly ahead" not in standings.answer[0]
    assert "The response shown first wins 9" in standings.answer[1]
    assert {entry.rank_low for entry in standings.entries} == {None}
    found = podium.compare("m0", "m1", battles, require=require)
    assert found.gate.verdict == "UNDECIDED"
    assert found.answer[1].startswith("Nothing is claimed about m0 and m1: the response shown fir")
    assert not found.findings[0].is_distinguishable


def test_a_better_model_that_is_always_first_cannot_be_told_from_a_preferred_place() -> None:
    frame = verdicts(sides="fixed", bias=0.0, gap=1.0, models=2)
    found = podium.compare("m0", "m1", frame, require="better")
    assert found.gate.verdict == "UNDECIDED"


@pytest.mark.slow
def test_a_lead_on_both_sides_is_claimed_though_the_first_response_is_favoured() -> None:
    battles = podium.read_battles(verdicts(sides="random", bias=1.0, gap=1.2))
    standings = podium.rank(battles).standings[0]
    assert standings.answer[0].startswith("m0 is clearly ahead")
    assert "The response shown first wins" in standings.answer[1]
    found = podium.compare("m0", "m1", battles, require="better")
    assert found.gate.verdict == "PASS"
    assert found.findings[0].loss_check.name == "one order"
    margin = podium.compare("m0", "m1", battles, require="not-worse=50elo")
    assert margin.gate.verdict == "UNDECIDED"


@pytest.mark.slow
def test_two_close_models_of_a_judge_that_favours_the_first_decide_nothing() -> None:
    frame = verdicts(sides="random", bias=2.0)
    found = podium.compare("m0", "m1", frame, require="not-worse=200elo")
    assert found.gate.verdict == "UNDECIDED"
    assert "too close to call" in found.answer[1]
    assert "The response shown first wins" in found.answer[2]


@pytest.mark.slow
def test_a_judge_without_a_preference_leaves_all_claims() -> None:
    battles = podium.read_battles(verdicts(sides="random", bias=0.0, gap=1.0))
    assert podium.compare("m0", "m1", battles, require="better").gate.verdict == "PASS"
    assert "passed" in podium.rank(battles).standings[0].answer[1]
