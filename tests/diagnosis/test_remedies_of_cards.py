"""What a judge card proposes where checks are flagged or cannot be made."""

import re
from dataclasses import replace
from itertools import combinations

import click
import numpy as np
import pandas as pd
import pytest

from podium.cli.diagnose import diagnose as command
from podium.data.reading.judgments import read_battles
from podium.diagnosis.card import diagnose
from podium.diagnosis.checks.order_checks import check_position
from podium.diagnosis.checks.reply_checks import check_only_ties
from podium.notices.option_forms import typed_as, typed_in_command
from podium.scorers.judge_record import JudgeRecord

MODELS = ("ash", "birch", "cedar")


def card_of(items, alike=(), pairs=None):
    """Return the card of a judge that favours long responses, after a tournament in both orders.

    Args:
        items: number of the items.
        alike: numbers of the items on which all responses are identical.
        pairs: the pairs that played; None for all.
    """
    rows = []
    rng = np.random.default_rng(7)
    for number in range(items):
        for first, second in pairs or combinations(MODELS, 2):
            row = {"item": f"q{number}", "model_a": first, "model_b": second, "judge": "oak"}
            lengths = {"length_a": int(rng.integers(50, 900)), "length_b": 200}
            if number in alike:
                lengths = {"length_a": 200, "length_b": 200}
                rows.append({**row, **lengths, "order": "merged", "credit": 0.5, "identical": True})
                continue
            wins = lengths["length_a"] > lengths["length_b"]
            for order in ("ab", "ba"):
                credit = float(wins if rng.random() < 0.9 else not wins)
                rows.append(
                    {**row, **lengths, "order": order, "credit": credit, "identical": False}
                )
    table = pd.DataFrame(rows)
    judgments = read_battles(table, merge=False)
    return diagnose(judgments, read_battles(table)).cards[0]


def checks_by_name(card):
    return {check.name: check for check in card.checks}


@pytest.mark.slow
def test_identical_responses_are_named_where_they_are_why_a_check_cannot_be_made():
    checks = checks_by_name(card_of(20, alike=range(1, 20)))
    for name in ("cycle", "fit"):
        assert not checks[name].is_known
        assert checks[name].reason.endswith("as 57 battles of identical responses had no judge")
        assert checks[name].answer == "judge items to which the models give different answers"
    nobody_met = checks_by_name(card_of(20, alike=range(20 - 1), pairs=[MODELS[:2], MODELS[1:]]))
    assert "round robins" in nobody_met["transitivity"].answer
    assert "identical" not in nobody_met["transitivity"].reason


@pytest.mark.slow
def test_few_items_without_identical_responses_are_proposed_to_be_more():
    checks = checks_by_name(card_of(3))
    assert checks["cycle"].answer == "judge every pair on 10 items"


@pytest.mark.slow
@pytest.mark.parametrize("items", [3, 60])
def test_a_card_proposes_no_option_that_its_command_lacks(items):
    known = {
        word
        for option in command.params
        if isinstance(option, click.Option)
        for word in (*option.opts, *option.secondary_opts)
    }
    with typed_as(typed_in_command):
        card = card_of(items)
        texts = [check.remedy for check in card.checks] + list(card.answer)
        length = checks_by_name(card)["length"]
    texts += [answer.remedy for answer in card.answers.values() if hasattr(answer, "remedy")]
    own = " ".join(re.sub("`[^`]*`", "", text) for text in texts)
    assert set(re.findall(r"--[a-z-]+", own)) - known == set()
    assert any("-T repeats=2" in text for text in texts)
    if items == 60:
        assert "(`podium rank --set length_control=true`)" in length.remedy


def remedy_of(name, realization, graded=False, ties=False):
    """Return the remedy of a flagged check on a judge that was asked in a known way."""
    rows = []
    for number in range(40):
        for first, second in combinations(MODELS, 2):
            for order in ("ab", "ba"):
                hard = 0.5 if ties else float(order == "ab")
                row = {"item": f"q{number}", "model_a": first, "model_b": second, "judge": "oak"}
                row |= {"order": order, "credit": 0.1 + 0.8 * hard if graded else hard}
                rows.append({**row, "hard_credit": hard} if graded else row)
    battles = read_battles(pd.DataFrame(rows))
    record = JudgeRecord("oak", "model", "oak", realization=realization)
    battles = replace(battles, judge_records={"oak": record})
    found = check_only_ties(battles) if ties else check_position(battles)
    [check] = [check for check in found if check.name == name and check.is_flagged]
    return check.remedy


@pytest.mark.fast_cases(6)
@pytest.mark.parametrize(
    ("name", "realization", "graded", "remedy"),
    [
        (
            "order decides",
            "direct",
            False,
            "use another judge; or let this one grade single responses, which have no order "
            "(-T realization=likert), or give token probabilities (-T logprobs=required)",
        ),
        (
            "order decides",
            "direct",
            True,
            "use another judge; or let this one grade single responses, which have no order "
            "(-T realization=likert)",
        ),
        ("only ties", "likert", False, "(-T realization=numeric)"),
        ("only ties", "numeric", False, "use another judge"),
        ("only ties", "direct", True, "(-T realization=numeric)"),
        ("only ties", "direct", False, "(-T realization=numeric, or -T logprobs=required)"),
        ("only ties", None, False, "(-T realization=numeric, or -T logprobs=required)"),
    ],
)
def test_no_remedy_is_in_use_already(name, realization, graded, remedy):
    with typed_as(typed_in_command):
        found = remedy_of(name, realization, graded, ties=name == "only ties")
    assert found == remedy or (remedy.startswith("(") and found.endswith(f" {remedy}"))
