"""No remedy is proposed that is in use already, and options are typed as the host takes them."""

import pandas as pd
import pytest

import podium
from podium.check_kinds import CHECKS
from podium.check_results import make_check
from podium.diagnosis.checks.all_checks import adjust_tests
from podium.diagnosis.checks.order_checks import check_position
from podium.hosts.lm_eval.lm_eval_options import typed_in_lm_eval
from podium.notices.option_forms import typed_as


def battles_with_length_bias():
    return podium.simulate(5, 60, seed=1).battles(podium.Judge(length_bias=2.0))


@pytest.mark.slow
def test_a_ranking_at_equal_length_is_not_told_to_rank_at_equal_length():
    battles = battles_with_length_bias()
    [plain] = podium.rank(battles, "bradley-terry").standings
    [equal] = podium.rank(battles, "bradley-terry", length_control=True).standings
    assert "also rank at equal length (length_control=True)" in plain.answer[1]
    assert "also rank at equal length" not in " ".join(equal.answer)
    assert "this ranking is at equal length already" in equal.answer[1]


def test_lm_evals_answer_names_lm_evals_option():
    with typed_as(typed_in_lm_eval):
        [standings] = podium.rank(battles_with_length_bias(), "bradley-terry").standings
    assert "(--ranker_set length_control=true)" in standings.answer[1]


def flips(number):
    """Return pairs in both orders of which the first response always wins."""
    rows = []
    for item in range(number):
        for order, credit in (("ab", 1.0), ("ba", 0.0)):
            rows.append((f"q{item}", "a", "b", credit, order, "j"))
    columns = ["item", "model_a", "model_b", "credit", "order", "judge"]
    return podium.read_battles(pd.DataFrame(rows, columns=columns))


@pytest.mark.slow
def test_six_flips_of_six_leave_it_unknown_whether_the_order_decides():
    """Alone they have p = 1/32; beside another test with p = 0.05, Holm's rule makes it 1/16."""
    [alone] = adjust_tests(check_position(flips(6)))
    assert (alone.name, alone.result.value, alone.p) == ("order decides", "flagged", 1 / 32)
    other = make_check("fit", True, p=0.05, fields={})
    [check, _] = adjust_tests([*check_position(flips(6)), other])
    assert (check.name, check.result.value, check.p) == ("position", "not known", 1 / 16)
    assert (
        "too few pairs in both orders: the response shown first has a win rate of 100"
        in check.reason
    )
    [many, _] = adjust_tests([*check_position(flips(60)), other])
    assert (many.name, many.result.value) == ("order decides", "flagged")
    assert CHECKS["position"].name == check.name
