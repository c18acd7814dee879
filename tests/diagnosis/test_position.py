"""Position preference and swaps, worked out by hand."""

import numpy as np
import pandas as pd
import pytest
from correlated_verdicts import covers
from hand_worked import judgments, subject_of, values
from judged_worlds import both, world
from scipy.special import expit

from podium import Judge, read_battles
from podium.diagnosis.checks import order_checks
from podium.diagnosis.checks.order_checks import check_position
from podium.diagnosis.consistency import position
from podium.diagnosis.figures import Missing, as_dict
from podium.diagnosis.subject import find_order_pairs

VERDICTS = [(1, 1), (0, 0), (1, 0), (1, 0), (1, 0), (0, 1), (1, 0.5), (0.5, 0.5)]
"""What x earned when shown first, and when shown second: two that hold, three flips to the first,
one to the second, a half, and a tie."""
BY_HAND = [
    row for k, (first, then) in enumerate(VERDICTS) for row in ((k, "ab", first), (k, "ba", then))
]


def card(rows=BY_HAND, columns="item order credit", near_tie=0.3, **constant):
    return position(subject_of(judgments(rows, columns, **constant), near_tie=near_tie))


@pytest.mark.slow
def test_the_shares_of_the_response_shown_first():
    found = card()
    assert values(win=found.first_wins, tie=found.ties, loss=found.second_wins) == {
        "win": 9 / 16,
        "tie": 3 / 16,
        "loss": 4 / 16,
    }
    assert found.prefers_first.value == 9 / 13
    credit_of_a = np.mean([credit == 1 for _, _, credit in BY_HAND])
    assert found.first_wins.value != credit_of_a


def test_figures_of_pairs_read_in_both_orders():
    found = card()
    assert found.balanced
    assert found.first_win_rate.value == pytest.approx(5.25 / 8)
    assert found.effect.value == pytest.approx(np.log(3) / 2)
    assert found.effect.value != pytest.approx(np.log(3))


def test_position_difference_is_of_one_response_in_both_places():
    """Read literally, the paper's formula would take y's credit in the second order: a judge that
    holds would get 1."""
    first, second = np.array(VERDICTS, dtype=float).T
    assert card().difference.value == pytest.approx(4.5 / 8)
    assert np.abs(first - (1 - second)).mean() != pytest.approx(4.5 / 8)


@pytest.mark.slow
def test_position_difference_takes_means_over_repeats():
    """Two repeats whose flips cancel: the mean credit does not depend on the place."""
    rows = [
        (0, "ab", 1, 0),
        (0, "ba", 0, 0),
        (0, "ab", 0, 1),
        (0, "ba", 1, 1),
        (1, "ab", 1, 0),
        (1, "ba", 0.5, 0),
    ]
    assert card(rows, "item order credit repeat").difference.value == pytest.approx((0 + 0.5) / 2)


@pytest.mark.slow
def test_the_swap_report_with_and_without_ties():
    found = card().swaps
    names = ("same", "half", "flip", "flip_decisive", "prefers_first", "flips_to_first")
    everything = values(**{name: getattr(found.all, name) for name in names})
    assert everything == pytest.approx(
        dict(zip(names, (3 / 8, 1 / 8, 4 / 8, 4 / 6, 9 / 13, 3 / 4), strict=True))
    )
    assert all(
        isinstance(part, Missing) and "margin" in part.remedy for part in (found.clear, found.near)
    )


def test_without_both_orders_near_ties_are_missing_for_that_reason():
    found = card([(0, "ab", 1, 2.0), (1, "ab", 0, -0.1)], "item order credit margin").swaps
    assert found.near == found.clear == found.all
    assert found.near.why == "no pair was read in both orders"


@pytest.mark.slow
def test_near_ties_are_identified_by_the_mean_margin():
    """Margins of x: the mean over the orders is 0.3, -2, 0.05, and of the last pair unknown."""
    margins = [(1, 0.8, 1, -0.2), (0, -3, 0, -1), (1, 2.1, 0, -2), (1, 2.0, 1, np.nan)]
    rows = [
        row for k, (c, m, d, n) in enumerate(margins) for row in ((k, "ab", c, m), (k, "ba", d, n))
    ]
    found = card(rows, "item order credit margin").swaps
    assert (found.all.pairs, found.clear.pairs, found.near.pairs) == (4, 1, 2)
    assert found.near.flip.value == 0.5
    by_one_order = sum(abs(m) <= 0.3 for _, m, _, _ in margins)
    assert by_one_order != found.near.pairs


@pytest.mark.slow
def test_the_lead_in_margin_belongs_to_the_response_shown_first():
    rows = [(0, "ab", 1, 2.0), (0, "ba", 1, 1.0), (1, "ab", 0, -1.0), (1, "ba", 0, -3.0)]
    found = card(rows, "item order credit margin")
    assert found.margin_lead.value == pytest.approx(((2.0 - 1.0) / 2 + (-1.0 + 3.0) / 2) / 2)
    assert found.margin_lead.value != pytest.approx(np.mean([2, 1, -1, -3]))


def test_the_effect_of_being_first_does_not_depend_on_strength():
    """Closed form: s(d + b) s(b - d) / (s(-d - b) s(d - b)) = exp(2 b) for every d; the share of
    wins depends on d."""
    d, b = np.linspace(-4, 4, 9), 0.7
    both_first, both_second = expit(d + b) * expit(b - d), expit(-d - b) * expit(d - b)
    assert np.log(both_first / both_second) / 2 == pytest.approx(np.full(9, b))
    assert np.ptp((expit(d + b) + expit(b - d)) / 2) > 0.1


@pytest.mark.slow
def test_naming_the_other_response_a_changes_nothing():
    turned = [
        (item, {"ab": "ba", "ba": "ab"}[order], 1 - credit, "y", "x")
        for item, order, credit in BY_HAND
    ]
    assert as_dict(card(turned, "item order credit model_a model_b")) == as_dict(card())


def test_without_an_order_position_is_missing():
    found = card([(k, credit) for k, _, credit in BY_HAND], "item credit")
    assert isinstance(found, Missing)
    assert "no row names the response shown first" in found.why
    assert "--shown a" in found.remedy


@pytest.mark.slow
def test_a_judge_that_scores_responses_alone_has_no_position_to_prefer():
    scores = pd.DataFrame({"item": [1, 1], "model": ["x", "y"], "score": [7.0, 5.0], "judge": "rm"})
    found = position(subject_of(read_battles(scores, merge=False)))
    assert found.why == "each response was scored alone: there is no first one"


@pytest.mark.slow
def test_pairs_in_one_order_leave_what_needs_both_missing():
    found = card([row for row in BY_HAND if row[1] == "ab"])
    assert not found.balanced
    assert found.first_wins.n == 8
    figures = (found.first_win_rate, found.margin_lead, found.effect, found.difference)
    missing = (*figures, found.swaps.all, found.swaps.near)
    assert all(isinstance(one, Missing) and "both orders" in one.remedy for one in missing)
    assert found.tables() == ()


@pytest.mark.slow
def test_an_unparsed_order_is_no_tie():
    rows = [
        (item, order, np.nan if item == 7 and order == "ba" else credit)
        for item, order, credit in BY_HAND
    ]
    found = card(rows)
    assert (found.first_wins.n, found.swaps.all.pairs, found.ties.value) == (15, 7, 2 / 15)


@pytest.mark.slow
def test_figures_of_a_slice_of_two_files_are_those_of_its_rows_alone(tmp_path):
    frame = judgments(BY_HAND, "item order credit").table.assign(judge="one")
    frame.assign(judge="two", credit=1.0).to_csv(tmp_path / "1.csv", index=False)
    frame.to_csv(tmp_path / "2.csv", index=False)
    both_files = read_battles(tmp_path / "1.csv", tmp_path / "2.csv", merge=False)
    found = find_order_pairs(dict(both_files.slices("judge"))["one"], 0.95)
    alone = find_order_pairs(read_battles(tmp_path / "2.csv", merge=False), 0.95)
    expected = find_order_pairs(read_battles(frame, merge=False), 0.95)
    assert found.credit.tolist() == alone.credit.tolist() == expected.credit.tolist()


@pytest.mark.slow
def test_one_directional_flips_give_an_unbounded_position_effect():
    found = card([(0, "ab", 1), (0, "ba", 0), (1, "ab", 1), (1, "ba", 1)])
    assert isinstance(found.effect, Missing)
    assert "the only flip goes one way" in found.effect.why


def test_soft_credits_have_a_lead_in_credit_and_no_log_odds_of_flips():
    """Truth: the expected credits of the simulated judge, in both orders."""
    judge, played = Judge(verdicts="soft", position_bias=0.4), world(5, 300)
    apart, _ = both(played, judge, repeats=1)
    found = position(subject_of(apart))
    assert isinstance(found.effect, Missing)
    assert found.margin_lead.value == pytest.approx(0.4)
    credit = find_order_pairs(apart, 0.95).credit
    assert found.first_win_rate.value == pytest.approx(
        np.mean(credit > 0.5) + np.mean(credit == 0.5) / 2
    )
    assert found.first_win_rate.value != pytest.approx(credit.mean(), abs=0.01)
    assert not covers(found.first_win_rate, 0.5)


def verdicts_of_two_judges(first_wins: float) -> pd.DataFrame:
    """Return verdicts of a judge `both` in both orders, and of a judge `single` in single ones.

    `single` takes the response shown first with the probability `first_wins`.
    """
    rng = np.random.default_rng(8)
    rows = []
    for item in range(80):
        about = {"item": f"q{item}", "model_a": "ash", "model_b": "elm"}
        for order in ("ab", "ba"):
            won = float(rng.random() < 0.5)
            rows.append({**about, "order": order, "judge": "both", "credit": won})
        order = "ab" if rng.random() < 0.5 else "ba"
        takes_first = rng.random() < first_wins
        credit = float(takes_first == (order == "ab"))
        rows.append({**about, "order": order, "judge": "single", "credit": credit})
    return pd.DataFrame(rows)


@pytest.mark.slow
def test_the_check_of_single_orders_names_the_one_judge_that_has_them() -> None:
    battles = read_battles(verdicts_of_two_judges(0.95))
    checks = {check.name: check for check in check_position(battles)}
    text = checks["one order"].finding_text
    assert "of the decided verdicts of single, and single read no pair in both orders" in text


@pytest.mark.slow
def test_single_orders_of_too_many_battles_are_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order_checks, "MOST_BATTLES", 50)
    battles = read_battles(verdicts_of_two_judges(0.95))
    checks = {check.name: check for check in check_position(battles)}
    assert checks["position"].is_known
    assert not checks["one order"].is_known
    assert "podium diagnose" in checks["one order"].reason
