"""The order of responses is checked in each slice, by the slice's own verdicts."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import podium
from podium.diagnosis.orders_in_slices import effects_in_slices
from podium.show.page.material import why_no_probabilities


def table_of(seed, always_first, *, both=True, items=40, judges=("j",), column="task"):
    """Return verdicts of four models on two tasks, by judges of which each is fair or not.

    Args:
        seed: seed of the world.
        always_first: by task, the share of verdicts that go to the response shown first; below 0,
            to the other one.
        both: whether each pair is shown in both orders, or in one at random.
        items: items of each task.
        judges: names of the judges.
        column: name of the column with the tasks.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for task, share in always_first.items():
        for item in range(items):
            for (a, b), judge in ((p, j) for p in combinations(range(4), 2) for j in judges):
                # Model 0 is the best; half of the verdicts on a pair depend on the judgment.
                chance = 1 / (1 + np.exp(0.4 * (a - b)))
                draw = rng.random()
                for order in ("ab", "ba") if both else (rng.choice(["ab", "ba"]),):
                    own = rng.random() if rng.random() < 0.5 else draw
                    credit = float(own < chance)
                    if rng.random() < abs(share):
                        credit = float((order == "ab") == (share > 0))
                    rows.append((f"{task}{item}", f"m{a}", f"m{b}", credit, order, judge, task))
    names = ["item", "model_a", "model_b", "credit", "order", "judge", column]
    return pd.DataFrame(rows, columns=names)


def results_of(checks):
    """Return the results of the checks about the order, by name."""
    names = ("order decides", "position", "one order", "order in slices")
    return {check.name: check.result.value for check in checks if check.name in names}


def answer_of(standings):
    return " ".join(standings.answer).lower()


def test_figures_of_a_slice_are_those_of_its_verdicts():
    table = table_of(1, {"code": 1.0, "prose": 0.0})
    effects = effects_in_slices(podium.read_battles(table), "task")
    for task, [effect] in effects.items():
        rows = table[table["task"] == task]
        first = np.where(rows["order"] == "ab", rows["credit"], 1 - rows["credit"])
        assert effect.rate.value == pytest.approx(first.mean())
        pairs = rows.groupby(["item", "model_a", "model_b"])["credit"].nunique()
        assert effect.flip == pytest.approx((pairs == 2).mean())


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("column", ["task", "category", "topic"])
def test_rank_names_the_task_in_which_the_order_decides(column):
    battles = podium.read_battles(table_of(1, {"code": 1.0, "prose": 0.0}, column=column))
    [standings] = podium.rank(battles).standings
    assert results_of(standings.checks)["order in slices"] == "flagged"
    assert "on code, the response shown first has a win rate of 100.0%" in answer_of(standings)


@pytest.mark.slow
@pytest.mark.parametrize("both", [True, False])
def test_a_fair_slice_is_not_blamed_and_the_judge_is_named_above(both):
    battles = podium.read_battles(table_of(1, {"code": 1.0, "prose": 0.0}, both=both))
    ranking = podium.rank(battles, by="task")
    code, prose = ranking.standings
    bad = "order decides" if both else "one order"
    assert results_of(code.checks) == {bad: "flagged"}
    assert set(results_of(prose.checks).values()) == {"ok"}
    assert "on code" in answer_of(code)
    for each in (code, prose):
        codes = {warning.code for warning in each.warnings}
        assert codes & {"order-decides", "position", "one-order"}


def test_opposite_preferences_do_not_cancel():
    """The judge takes the first response in one task, the second in the other."""
    table = table_of(3, {"code": 0.9, "prose": -0.9}, both=False)
    # Model m3 is always shown where it gains by it.
    for task, wanted in (("code", "ba"), ("prose", "ab")):
        rows = (table["task"] == task) & (table["model_b"] == "m3")
        table.loc[rows, "order"] = wanted
        table.loc[rows, "credit"] = (np.random.default_rng(4).random(rows.sum()) < 0.03) * 1.0
    battles = podium.read_battles(table)
    [standings] = podium.rank(battles).standings
    assert results_of(standings.checks)["order in slices"] == "flagged"
    assert "m3 is clearly ahead" not in answer_of(standings)
    m3 = next(entry for entry in standings.entries if entry.model == "m3")
    assert m3.rank_high in (None, 4)


@pytest.mark.slow
def test_slices_that_are_fair_or_alike_are_not_named():
    for shares in ({"code": 0.0, "prose": 0.0}, {"code": 0.5, "prose": 0.5}):
        battles = podium.read_battles(table_of(1, shares))
        assert "order in slices" not in results_of(podium.rank(battles).standings[0].checks)


@pytest.mark.slow
def test_a_slice_with_too_few_verdicts_has_the_result_of_all():
    table = table_of(1, {"code": 1.0, "prose": 0.0})
    is_kept = (table["task"] == "code") | table["item"].isin(["prose1", "prose2"])
    ranking = podium.rank(podium.read_battles(table[is_kept]), by="task")
    assert results_of(ranking.standings[1].checks) == {"order decides": "flagged"}


@pytest.mark.slow
def test_the_one_judge_of_a_jury_is_named():
    good = table_of(1, {"code": 0.0, "prose": 0.0}, judges=("fair",))
    bad = table_of(2, {"code": 1.0, "prose": 0.0}, judges=("biased",))
    battles = podium.read_battles(pd.concat([good, bad]))
    [standings] = podium.rank(battles, pool=True).standings
    [check] = [check for check in standings.checks if check.name == "order in slices"]
    assert "on code" in check.finding_text
    assert "biased" in check.finding_text
    ranking = podium.rank(battles, by="task", pool=True)
    assert "biased" in answer_of(ranking.standings[0])
    assert set(results_of(ranking.standings[1].checks).values()) == {"ok"}


@pytest.mark.slow
@pytest.mark.parametrize("both", [True, False])
def test_compare_says_it_of_the_slice_alone(both):
    battles = podium.read_battles(table_of(1, {"code": 1.0, "prose": 0.0}, both=both))
    comparison = podium.compare("m0", "m3", battles, by="task")
    [finding] = comparison.findings
    code, prose = finding.slices
    assert [doubt for doubt in (prose.doubt, prose.judge_doubt) if doubt is not None] == []
    own = [doubt for doubt in (code.doubt, code.judge_doubt) if doubt is not None]
    assert own
    assert all("on code" in doubt.finding_text for doubt in own)
    assert not code.is_distinguishable
    assert prose.is_distinguishable
    assert "on code" in str(comparison).lower()


@pytest.mark.slow
def test_nothing_is_claimed_in_a_slice_that_the_order_explains():
    """In code, the judge takes the first response, and m3 is always shown first."""
    table = table_of(5, {"code": 1.0, "prose": 0.0}, both=False)
    rows = (table["task"] == "code") & (table["model_b"] == "m3")
    table.loc[rows, ["order", "credit"]] = ["ba", 0.0]
    battles = podium.read_battles(table)
    code = podium.rank(battles, by="task").standings[0]
    assert "m3 is clearly ahead" not in answer_of(code)
    [finding] = podium.compare("m3", "m0", battles, by="task").findings
    assert finding.slices[0].doubt is not None
    assert not finding.slices[0].is_distinguishable


def test_the_judge_card_names_the_slice():
    table = table_of(1, {"code": 1.0, "prose": 0.0})
    judgments = podium.read_battles(table, merge=False)
    card = podium.diagnose(judgments, podium.read_battles(table))
    assert "order in slices" in results_of(card.cards[0].checks)


@pytest.mark.slow
def test_false_alarms_of_fair_judges_are_rare():
    flagged = 0
    for seed in range(100):
        battles = podium.read_battles(table_of(seed, {"code": 0.0, "prose": 0.0}, items=20))
        flagged += "order in slices" in results_of(podium.rank(battles).standings[0].checks)
    # At 5% two-sided over two slices, 12 of 100 is the 99.9% upper end.
    assert flagged <= 12


@pytest.mark.slow
def test_first_answer_names_the_later_slice_in_which_the_order_decides():
    battles = podium.read_battles(table_of(1, {"code": 0.0, "prose": 1.0}))
    code, _ = podium.rank(battles, by="task").standings
    assert code.slice == "code"
    sentence = "The order of the responses decides on prose: the judge may not rank there."
    assert code.answer[-1].endswith(sentence)


def test_slices_with_the_opposite_effect_have_figures_of_their_own():
    battles = podium.read_battles(table_of(2, {"code": 1.0, "essay": 0.0, "prose": -0.95}))
    [standings] = podium.rank(battles).standings
    [check] = [check for check in standings.checks if check.name == "order in slices"]
    assert check.fields["leans"]["code"] == pytest.approx(0.5)
    assert check.fields["leans"]["prose"] < -0.3
    share = f"{0.5 + check.fields['leans']['prose']:.1%}"
    assert check.fields["others"] == f"; also on prose ({share})"


@pytest.mark.slow
def test_no_warning_above_slices_contradicts_the_check_of_all_battles():
    numbers = []
    for seed in range(12):
        battles = podium.read_battles(table_of(seed, {"code": 0.1, "prose": 0.1}, items=20))
        [whole] = podium.rank(battles).standings
        is_flagged = "flagged" in results_of(whole.checks).values()
        slices = podium.rank(battles, by="task").standings
        is_warned = any("over all verdicts" in str(each.warnings) for each in slices)
        assert is_flagged or not is_warned
        numbers.append((is_flagged, is_warned))
    assert {is_flagged for is_flagged, _ in numbers} == {True, False}
    assert any(is_warned for _, is_warned in numbers)


@pytest.mark.slow
def test_lists_of_tasks_withdraw_the_claims_that_single_tasks_withdraw():
    table = table_of(1, {"code": 1.0, "prose": 0.0}, both=False, column="category")
    # In the slice where the order decides, the weakest model is always shown first.
    decided = table["category"] == "code"
    weakest = table["model_b"] == "m3"
    table.loc[decided & weakest, ["order", "credit"]] = ["ba", 0.0]
    lists = table.assign(category=[[value, "all"] for value in table["category"]])
    doubts = []
    for rows in (table, lists):
        [standings] = podium.rank(podium.read_battles(rows)).standings
        doubts.append([entry.model for entry in standings.entries if entry.rank_low is None])
    assert doubts[0]
    assert doubts[1] == doubts[0]


def test_page_gives_no_probabilities_of_ranks_where_slices_withdraw_claims():
    table = table_of(1, {"code": 1.0, "prose": 0.0}, both=False)
    weakest_first = (table["task"] == "code") & (table["model_b"] == "m3")
    table.loc[weakest_first, ["order", "credit"]] = ["ba", 0.0]
    battles = podium.read_battles(table)
    [standings] = podium.rank(battles).standings
    withheld = [entry.model for entry in standings.entries if entry.rank_low is None]
    assert withheld
    only_slices = tuple(check for check in standings.checks if check.name != "one order")
    reason = why_no_probabilities(replace(standings, checks=only_slices), battles)
    assert reason.startswith("nothing is claimed about")
    assert withheld[0] in reason
