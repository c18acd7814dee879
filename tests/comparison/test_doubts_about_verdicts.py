"""A comparison claims no more than the ranking of the same verdicts."""

import random

import numpy as np
import pandas as pd
import pytest

import podium


def verdicts(*, lost_by_loser: float = 0.0, first_wins: float = 0.5) -> list[dict]:
    """Return verdicts of a random judge on three models, in both orders, with the order.

    Args:
        lost_by_loser: share of the judgments lost by m0 whose reply is unparsed.
        first_wins: probability that the response shown first wins.
    """
    draw = random.Random(3)
    rows = []
    for k in range(60):
        for first, second in (("m0", "m1"), ("m0", "m2"), ("m1", "m2")):
            for shown in ((first, second), (second, first)):
                is_first = draw.random() < first_wins
                winner = shown[0] if is_first else shown[1]
                is_lost = winner != "m0" and "m0" in shown and draw.random() < lost_by_loser
                credit = None if is_lost else float(winner == first)
                order = "ab" if shown[0] == first else "ba"
                row = {"item": f"q{k}", "model_a": first, "model_b": second, "order": order}
                rows.append(row | {"judge": "j", "credit": credit})
    return rows


def compared(rows, **options):
    pandas = pytest.importorskip("pandas")
    return podium.compare("m0", "m1", pandas.DataFrame(rows), **options)


@pytest.mark.slow
def test_losses_that_hit_one_model_decide_no_requirement():
    found = compared(verdicts(lost_by_loser=0.4), require="better")
    [finding] = found.findings
    assert finding.doubt.name == "lost replies"
    assert not finding.is_distinguishable
    assert found.gate.verdict == "UNDECIDED"
    assert "Nothing is claimed about m0 and m1" in " ".join(found.answer)
    assert not any(notice.code == "lost-replies" for notice in found.warnings)


@pytest.mark.slow
def test_a_pair_without_the_model_that_lost_replies_is_compared():
    rows = verdicts(lost_by_loser=0.4)
    pandas = pytest.importorskip("pandas")
    [finding] = podium.compare("m1", "m2", pandas.DataFrame(rows)).findings
    assert finding.doubt is None


@pytest.mark.slow
def test_a_judge_that_decides_by_the_order_decides_no_requirement():
    found = compared(verdicts(first_wins=0.95), require="not-worse=200elo")
    [finding] = found.findings
    assert finding.judge_doubt.name == "order decides"
    assert found.gate.verdict == "UNDECIDED"
    assert "may not rank" in " ".join(found.answer)


@pytest.mark.slow
def test_a_random_judge_without_losses_is_not_doubted():
    found = compared(verdicts(), require="not-worse=200elo")
    [finding] = found.findings
    assert (finding.doubt, finding.judge_doubt) == (None, None)
    assert found.gate.verdict == "PASS"


def cycle_of_models(*, wins: int) -> list[dict]:
    """Return battles on 20 items: of 20, m0 wins `wins` against m1 and 2 against m2, and m1 wins 10
    against m2."""
    rows = []
    for k in range(20):
        for first, second, won in (("m0", "m1", wins), ("m1", "m2", 10), ("m0", "m2", 2)):
            names = {"item": f"q{k}", "model_a": first, "model_b": second}
            rows.append(names | {"credit": float(k < won)})
    return rows


@pytest.mark.slow
def test_a_tally_that_elo_contradicts_says_why():
    found = compared(cycle_of_models(wins=12))
    [finding] = found.findings
    assert finding.difference.value < 0
    assert "m0 is behind m1" in found.answer[0]
    assert found.answer[1] == (
        "12 wins, 8 losses, 0 ties by item; m1 is ahead by Elo, which also counts battles with "
        "other models."
    )


def test_a_tally_that_elo_agrees_with_says_no_more():
    found = compared(cycle_of_models(wins=2))
    assert found.answer[1] == "2 wins, 18 losses, 0 ties by item."


def test_a_clear_answer_says_that_the_winners_of_lost_verdicts_are_not_known():
    """Of two models, 15% of the verdicts are unparsed, and the orders agree in 70%."""
    rng = np.random.default_rng(2)
    favours = np.repeat(rng.random(120) < 0.75, 2)
    credit = np.where(rng.random(240) < 0.82, favours, ~favours).astype(float)
    orders = np.tile(["ab", "ba"], 120)
    columns = {"item": np.repeat([f"i{k}" for k in range(120)], 2), "order": orders}
    table = pd.DataFrame({**columns, "model_a": "m0", "model_b": "m1", "credit": credit})
    clear = podium.compare(table, "m0", "m1")
    assert clear.findings[0].is_distinguishable
    assert "Not known" not in " ".join(clear.answer)
    table.loc[rng.random(240) < 0.15, "credit"] = np.nan
    lossy = podium.compare(table, "m0", "m1")
    assert lossy.findings[0].is_distinguishable
    assert lossy.answer[1].startswith(
        "Not known: whether the unparsed verdicts would have had other winners (verdicts on"
    )
