"""What a jury is worth: shares of standard errors against worlds whose answer is known."""

import numpy as np
import pandas as pd
import pytest
from drawn_juries import Jury, play

import podium
from podium.diagnosis.card import diagnose
from podium.diagnosis.figures import Missing
from podium.diagnosis.jury import ALL_JUDGES, ROTATION, JuryWorth


def worth_of(frame):
    battles = podium.read_battles(frame)
    return diagnose(podium.read_battles(frame, merge=False), battles).across["jury"]


@pytest.mark.slow
def test_a_sharp_judge_beats_the_rotation_and_a_blunt_one():
    worth = worth_of(play(Jury(slopes=(2.6, 1.0, 0.4), shared=0.15, own=0.1), items=1000, seed=4))
    assert isinstance(worth, JuryWorth)
    names = [own.name for own in worth.spendings]
    assert (names[0], names[-1]) == ("judge-0", "judge-2")
    assert ROTATION in names
    assert ALL_JUDGES not in names
    assert worth.ratio.high < 1
    assert worth.sentence.startswith("at equal calls judge-0 gives the smallest standard error")


@pytest.mark.slow
def test_the_standard_error_of_a_judge_is_that_of_its_own_ranking_with_all_calls():
    frame = play(Jury(slopes=(1.5, 1.5)), items=200, seed=1)
    worth = worth_of(frame)
    own = next(row for row in worth.spendings if row.name == "judge-0")
    alone = podium.rank(frame[frame["judge"] == "judge-0"], ["bradley-terry"]).standings[0]
    se = np.sqrt(np.mean([entry.se**2 for entry in alone.entries]))
    assert own.se == pytest.approx(
        se * np.sqrt(own.battles / len(frame)) * own.slope.value, rel=0.06
    )


@pytest.mark.slow
def test_equal_judges_share_the_first_place_by_chance():
    worth = worth_of(play(Jury(slopes=(1.5, 1.5, 1.5)), items=200, seed=2))
    assert worth.ratio.high >= 1
    assert "may be chance" in worth.sentence


@pytest.mark.slow
def test_error_and_number_of_judges_need_human_labels():
    frame = play(Jury(), items=120, seed=3, overlap=1.0)
    worth = worth_of(frame)
    assert worth.effective_judges.why == "no human labels"
    assert {own.error.why for own in worth.spendings} == {"no human labels"}


@pytest.mark.slow
def test_independent_errors_make_as_many_judges_and_copies_make_one():
    rng = np.random.default_rng(0)
    rows = []
    for item in range(400):
        a, b = rng.permutation(["x", "y", "z"])[:2]
        human, flips = float((rng.random() < 0.7) == (a < b)), rng.random(3) < 0.3
        rows += [(f"i{item}", a, b, human, flip, k) for k, flip in enumerate(flips)]
    frame = pd.DataFrame(rows, columns=["item", "model_a", "model_b", "human", "flip", "judge"])
    frame = frame.assign(
        judge="j" + frame["judge"].astype(str), credit=np.abs(frame["human"] - frame["flip"])
    )
    independent = worth_of(frame.drop(columns="flip")).effective_judges
    copied = frame.assign(credit=frame.groupby("item")["credit"].transform("first"))
    assert independent.value == pytest.approx(3, abs=0.35)
    assert worth_of(copied.drop(columns="flip")).effective_judges.value == pytest.approx(
        1, abs=1e-6
    )


@pytest.mark.slow
def test_costs_in_a_column_are_shown_and_decide_at_equal_cost():
    frame = play(Jury(slopes=(2.0, 1.6)), items=200, seed=5)
    frame["cost"] = frame["judge"].map({"judge-0": 0.02, "judge-1": 0.001})
    worth = worth_of(frame)
    assert {own.name: own.cost for own in worth.spendings}["judge-1"] == pytest.approx(0.001)
    assert "; at equal cost judge-1, then " in worth.sentence


@pytest.mark.slow
@pytest.mark.parametrize("wrong", ["free", "-0.01"])
def test_costs_that_are_no_amounts_are_unknown(wrong):
    frame = play(Jury(slopes=(2.0, 1.6)), items=200, seed=5)
    frame["cost"] = "0.02"
    frame.loc[frame.index[frame["judge"] == "judge-0"][0], "cost"] = wrong
    worth = worth_of(frame)
    costs = {own.name: own.cost for own in worth.spendings}
    assert costs == {"judge-0": None, "judge-1": pytest.approx(0.02), ROTATION: None}
    assert worth.by_cost is None


@pytest.mark.slow
def test_ways_that_do_not_rate_all_models_are_not_compared():
    frame = play(Jury(), items=200, seed=6)
    lacks = (frame["judge"] == "judge-2") & (
        (frame["model_a"] == "m7") | (frame["model_b"] == "m7")
    )
    worth = worth_of(frame[~lacks])
    assert worth.left_out == ("judge-2",)
    assert "judge-2" not in [own.name for own in worth.spendings]


@pytest.mark.slow
def test_ties_alone_and_a_judge_that_equals_the_labels_end_in_reasons():
    frame = play(Jury(), items=60, seed=6)
    assert isinstance(worth_of(frame.assign(credit=0.5)), Missing)
    labelled = play(Jury(), items=120, seed=6, overlap=1.0)
    human = (
        labelled[labelled["judge"] == "judge-0"]
        .groupby(["item", "model_a", "model_b"])["credit"]
        .first()
    )
    labelled["human"] = human.reindex(
        pd.MultiIndex.from_frame(labelled[["item", "model_a", "model_b"]])
    ).to_numpy()
    worth = worth_of(labelled)
    assert isinstance(worth.effective_judges, Missing)


@pytest.mark.slow
def test_judges_without_readable_verdicts_are_named_and_do_not_make_a_jury():
    frame = play(Jury(), items=200, seed=6)
    unparsed = frame.assign(credit=frame["credit"].mask(frame["judge"] == "judge-2"))
    assert worth_of(unparsed).left_out == ("judge-2",)
    alone = unparsed.assign(credit=unparsed["credit"].mask(frame["judge"] == "judge-1"))
    assert worth_of(alone).why == "there is one judge only"


@pytest.mark.slow
def test_ratings_against_human_labels_have_no_error_in_elo():
    frame = play(Jury(slopes=(1.5, 1.2)), items=200, seed=3, overlap=1.0)
    worth = worth_of(frame.assign(human=1 - frame["credit"].round()))
    assert {own.error.why for own in worth.spendings} == {
        "these ratings do not rise with human ratings"
    }


def test_one_judge_is_no_jury():
    frame = play(Jury(slopes=(1.5, 1.5)), items=40, seed=1)
    assert worth_of(frame[frame["judge"] == "judge-0"]).why == "there is one judge only"
