"""What a plan takes from its pilot: how many judges judge a battle, how, and whether any does."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import podium
from podium.data.jury_verdicts import merge_jury_verdicts
from podium.errors import UsageError
from podium.planning.pilots import judged_battles
from podium.planning.plan_record import Tariff
from podium.planning.plan_report import select_reports
from podium.planning.planner import make_plan

MODELS = ("ash", "elm", "fir", "oak")
ITEMS = 40


def verdicts(judges=("j",), **columns):
    """Return a round robin of four models with random verdicts of each judge."""
    rng = np.random.default_rng(0)
    rows = []
    for judge in judges:
        for item in range(ITEMS):
            for a, b in combinations(MODELS, 2):
                credit = rng.choice([0.0, 0.5, 1.0])
                rows.append((f"q{item}", a, b, credit, judge))
    frame = pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit", "judge"])
    return frame.assign(**columns)


def planned_calls(plan):
    """Return the calls of the planned items, by tournament."""
    return {line.tournament: line.planned.calls for line in plan.lines}


@pytest.mark.slow
def test_the_design_effect_of_weights_is_that_of_kish():
    """Half of the items weigh 3: n sum(w^2) / sum(w)^2 = 2 (1 + 9) / (1 + 3)^2 = 1.25."""
    table = verdicts()
    heavy = table["item"].str[1:].astype(int) % 2
    plan = make_plan(podium.read_battles(table.assign(weight=1.0 + 2 * heavy)))
    assert any("takes 1.25 times as many (design effect)" in text for text in plan.assumptions)
    equal = make_plan(podium.read_battles(table.assign(weight=2.0)))
    assert not any("weights like the pilot's" in text for text in equal.assumptions)


@pytest.mark.slow
def test_a_judge_that_grades_single_responses_has_a_call_per_response():
    """Of 5 models on 100 items, there are 500 responses, whatever pairs a design plays."""
    plan = make_plan(models=5, items=100, tariff=Tariff(realization="likert", repeats=2))
    calls = planned_calls(plan)
    assert calls["round_robin"] == 5 * 100 * 2
    assert all(number <= 5 * 100 * 2 for number in calls.values())
    pairs = make_plan(
        models=5, items=100, pairs=[("a", "b"), ("a", "c")], tariff=Tariff(realization="numeric")
    )
    assert pairs.lines[0].planned.calls == 3 * 100
    assert planned_calls(make_plan(models=5, items=100))["round_robin"] == 10 * 100 * 2


def test_that_the_judge_may_not_rank_replaces_the_advice():
    """This judge prefers the response shown first, whichever it is."""
    shown = pd.concat(
        [verdicts(order="ab").assign(credit=1.0), verdicts(order="ba").assign(credit=0.0)]
    )
    shown.loc[shown["item"] == "q0", "credit"] = 1.0
    plan = make_plan(shown)
    [report] = select_reports(plan, None, full=False)
    assert report.answer[0].startswith("This judge may not rank: the response shown first ")
    assert report.answer[1].startswith("Use another judge; ")
    assert "play" not in [section.name for section in report.sections]
    assert len(report.answer) == 2
    assert [doubt["code"] for doubt in plan.to_dict()["plan"]["doubts"]] == ["order-decides"]


@pytest.mark.slow
def test_lost_verdicts_of_a_model_are_said_after_the_plan():
    frame = verdicts()
    is_lost = (frame["model_b"] == "oak") & (frame["credit"] == 0)
    plan = make_plan(frame.assign(credit=frame["credit"].mask(is_lost)))
    [report] = select_reports(plan, None, full=False)
    assert [doubt.name for doubt in plan.doubts] == ["lost replies"]
    assert report.answer[-1] == f"{plan.doubts[0].clause[:1].upper()}{plan.doubts[0].clause[1:]}."
    assert "of the battles of oak are unparsed" in report.answer[-1]


@pytest.mark.slow
def test_a_pilot_without_faults_has_no_doubts():
    plan = make_plan(verdicts())
    assert plan.doubts == ()
    assert plan.to_dict()["plan"]["doubts"] == []


@pytest.mark.slow
def test_the_realization_of_the_pilots_judge_is_that_of_the_plan():
    battles = podium.read_battles(verdicts())
    record = podium.scorers.judge_record.JudgeRecord("j", realization="likert")
    object.__setattr__(battles, "judge_records", {"j": record})
    plan = make_plan(battles, items=100)
    assert planned_calls(plan)["round_robin"] == 4 * 100
    [report] = select_reports(plan, None, full=True)
    notes = [note for own in report.sections for note in own.notes]
    assert any("grades each response once" in note for note in notes)
    commands = [note for note in notes if note.startswith("inspect eval")]
    assert all("-T realization=likert" in command for command in commands)


@pytest.mark.slow
def test_a_jury_is_priced_and_counted_as_a_jury():
    judges = ("j1", "j2", "j3")
    battles = podium.read_battles(verdicts(judges, jury="all", jury_rule="majority", jury_quorum=2))
    plan = make_plan(battles, items=100)
    assert planned_calls(plan)["round_robin"] == 6 * 100 * 2 * 3
    assert plan.asked["pilot_battles"].battles == 6 * ITEMS
    assert len(merge_jury_verdicts(battles)) == 6 * ITEMS
    assert any("3 judges judge every battle" in text for text in plan.assumptions)
    one = make_plan(battles, items=100, tariff=Tariff(judges="1"))
    assert planned_calls(one)["round_robin"] == 6 * 100 * 2


@pytest.mark.parametrize("is_binary", [True, False])
def test_scores_without_a_judge_need_no_judge_calls(is_binary):
    """The message has the share of items on which one of two models is right, or the spread."""
    rng = np.random.default_rng(1)
    scores = rng.integers(0, 2, (2, 100)).astype(float) if is_binary else rng.random((2, 100))
    rows = [(f"q{k}", name, scores[n, k]) for n, name in enumerate(("a", "b")) for k in range(100)]
    frame = pd.DataFrame(rows, columns=["item", "model", "score"])
    difference = scores[0] - scores[1]
    share, spread = (difference != 0).mean(), difference.std()
    option = f"--disagree {share:.2g}" if is_binary else f"--spread {spread:.2g}"
    with pytest.raises(UsageError, match="that no judge gave") as error:
        make_plan(frame, items=500)
    assert f"`podium plan --difference 2points {option}`" in str(error.value)


def test_scores_without_a_judge_are_left_out_of_a_pilot_with_a_judge():
    judged = verdicts().assign(metric="helpful", score_a=1.0, score_b=0.0)
    scores = judged.assign(metric="accuracy", judge=None)
    battles = podium.read_battles(pd.concat([judged, scores], ignore_index=True))
    assert len(battles) == 2 * 6 * ITEMS
    kept = judged_battles(battles)
    assert kept.judges == ("j",)
    assert len(kept) == 6 * ITEMS


@pytest.mark.slow
def test_a_pilot_whose_realization_is_not_installed_is_priced_by_pairs_and_says_so():
    battles = podium.read_battles(verdicts())
    record = podium.scorers.judge_record.JudgeRecord("j", realization="my-plugin")
    object.__setattr__(battles, "judge_records", {"j": record})
    plan = make_plan(battles, items=100)
    assert planned_calls(plan)["round_robin"] == 6 * 100 * 2
    assert any("(my-plugin) is not installed here" in text for text in plan.assumptions)
    given = make_plan(battles, items=100, tariff=Tariff(realization="likert"))
    assert not any("not installed" in text for text in given.assumptions)


@pytest.mark.fast_cases(3)
@pytest.mark.parametrize("scores", [(1.0, 1.0), (0.3, 0.3), (0.75, 0.25), (None, 0.5)])
def test_no_option_is_proposed_if_nothing_differs(scores):
    """Neither an empty difference nor a constant one has a share or a spread."""
    rows = [(f"q{k}", "a", "b", *scores, 0.5, "t0") for k in range(9)]
    rows += [(f"p{k}", "a", "b", k % 2, 1.0, k % 2 / 2, "t1") for k in range(4)]
    names = ["item", "model_a", "model_b", "score_a", "score_b", "credit", "task"]
    with pytest.raises(UsageError, match="that no judge gave") as error:
        make_plan(pd.DataFrame(rows, columns=names), items=500)
    message = str(error.value)
    assert "--disagree 0.5` (t1)" in message
    assert message.count("--") == 2  # One command with two options.
    assert "(t0)" in message
    assert "nan" not in message
