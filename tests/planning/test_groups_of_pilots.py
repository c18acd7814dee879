"""Plans from pilots whose items come in groups, against closed forms and simulated worlds."""

import json
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import podium
from podium.errors import NotIdentifiedError
from podium.planning.item_groups_of_pilot import design_effect, groups_of_pilot, jackknife_of_log
from podium.planning.plan_report import plan_reports
from podium.planning.planner import make_plan
from podium.planning.replays import recording_of
from podium.rankers.bradley_terry import bradley_terry
from podium.rankers.estimate import Estimate

MODELS = 4
PASSAGE, ITEM = 0.9, 0.4


def draw(rng: np.random.Generator, passages: int, items: int) -> pd.DataFrame:
    """Draw a round robin of four models with effects of passages and of items (in logits)."""
    quality = 0.2 * np.arange(MODELS)
    effect = rng.normal(0, PASSAGE, (passages, 1, MODELS))
    own = rng.normal(0, ITEM, (passages, items, MODELS))
    strength = (quality + effect + own).reshape(-1, MODELS)
    first, second = np.triu_indices(MODELS, 1)
    gap = strength[:, first] - strength[:, second]
    credit = (rng.random(gap.shape) < 1 / (1 + np.exp(-gap))).astype(float)
    place = np.repeat(np.arange(len(gap)), len(first))
    return pd.DataFrame(
        {
            "item": [f"q{k:04}" for k in place],
            "model_a": [f"m{k}" for k in np.tile(first, len(gap))],
            "model_b": [f"m{k}" for k in np.tile(second, len(gap))],
            "credit": credit.ravel(),
            "passage": [f"p{k // items:03}" for k in place],
            "judge": "j",
        }
    )


def battles_of(rng: np.random.Generator, passages: int, items: int, cluster="passage"):
    return podium.read_battles(draw(rng, passages, items), cluster=cluster)


def test_the_design_effect_is_that_of_the_correlation():
    """Kish's 1 + (m - 1) rho; here items of a passage share half of the variance."""
    rng = np.random.default_rng(1)
    shared = rng.normal(size=(4000, 1)) + rng.normal(size=(4000, 6))
    cube = np.full((24000, 2, 2), np.nan)
    cube[:, 0, 1] = shared.ravel()
    groups = np.repeat(np.arange(4000), 6)
    assert design_effect(cube, groups) == pytest.approx(1 + 5 * 0.5, rel=0.03)
    independent = np.full((24000, 2, 2), np.nan)
    independent[:, 0, 1] = rng.normal(size=24000)
    assert design_effect(independent, groups) == pytest.approx(1, abs=0.05)


@pytest.mark.slow
def test_the_error_of_a_plan_is_that_of_rankings_in_many_worlds():
    """The pilot has 60 passages of 5; 200 items are planned, which are 40 such passages."""
    planned = []
    for seed in range(6):
        plan = make_plan(battles_of(np.random.default_rng([5, seed]), 60, 5), items=200)
        [line] = [line for line in plan.lines if line.tournament == "round_robin"]
        planned.append(line.error.value)
    ratings = []
    for seed in range(150):
        battles = battles_of(np.random.default_rng([6, seed]), 40, 5)
        entries = bradley_terry(battles, rng=np.random.default_rng(0)).entries
        ratings.append([e.score for e in sorted(entries, key=lambda entry: entry.model)])
    first, second = np.triu_indices(MODELS, 1)
    gaps = np.array(ratings)[:, first] - np.array(ratings)[:, second]
    measured = float(np.sqrt(gaps.var(axis=0, ddof=1).mean()))
    assert np.mean(planned) == pytest.approx(measured, rel=0.12)
    plain = make_plan(battles_of(np.random.default_rng([5, 0]), 60, 5, cluster=None), items=200)
    [line] = [line for line in plain.lines if line.tournament == "round_robin"]
    assert line.error.value < 0.8 * measured


@pytest.mark.slow
def test_items_are_as_many_more_as_the_design_effect_says():
    battles = battles_of(np.random.default_rng(2), 40, 5)
    plan = make_plan(battles)
    plain = make_plan(battles_of(np.random.default_rng(2), 40, 5, cluster=None))
    effect = plan.asked["groups"].effect
    assert effect.value > 1.3
    assert effect.low < effect.value < effect.high
    for own, without in zip(plan.samples, plain.samples, strict=True):
        expected = np.ceil(round(without.direct.value * effect.value, 9))
        assert own.direct.value == expected
    smaller = make_plan(battles, items=200).gaps[0].edge.value
    larger = make_plan(battles_of(np.random.default_rng(2), 40, 5, cluster=None), items=200)
    assert smaller > larger.gaps[0].edge.value


def test_an_interval_is_unknown_if_one_part_has_all_that_varies():
    """Without it the number is 0, which has no logarithm."""
    assert jackknife_of_log(4.0, [0.0, 4.4, 4.4], 0.95) == Estimate(4.0)
    known = jackknife_of_log(4.0, [3.9, 4.2, 4.4], 0.95)
    assert known.low < 4.0 < known.high


def test_ends_are_combined_on_the_logarithmic_scale():
    groups = groups_of_pilot(recording_of(battles_of(np.random.default_rng(2), 40, 5)), 0.95)
    scaled = groups.scale(Estimate(100.0, 50.0, 200.0))
    effect = groups.effect
    up = np.exp(np.hypot(np.log(2), np.log(effect.high / effect.value)))
    assert scaled.high == np.ceil(scaled.value * up)
    assert groups.scale(Estimate(100.0, 50.0, None)).high is None
    assert (groups.number, groups.items, groups.number_for(52)) == (40, 200, 10)


@pytest.mark.slow
def test_a_pilot_whose_groups_are_not_named_is_told_of_them():
    """Else the number of items would be that of independent ones."""
    frame = draw(np.random.default_rng(3), 30, 6)
    [doubt] = make_plan(frame).doubts
    assert (doubt.name, doubt.fields["column"]) == ("groups", "passage")
    [report] = plan_reports(make_plan(frame))
    assert "take these groups as the unit with cluster='passage'" in report.answer[0]
    assert report.answer[-1].startswith("If items were independent: play podium/")
    named = make_plan(podium.read_battles(frame, cluster="passage"))
    assert named.doubts == ()
    assert make_plan(frame.drop(columns="passage")).doubts == ()


def test_a_pilot_of_three_groups_is_too_small():
    battles = battles_of(np.random.default_rng(3), 3, 20)
    with pytest.raises(NotIdentifiedError, match="known from 4 passages on, and the pilot has 3"):
        make_plan(battles)


@pytest.mark.slow
def test_the_command_names_groups(podium, tmp_path):
    path = tmp_path / "pilot.csv"
    draw(np.random.default_rng(2), 40, 5).to_csv(path, index=False)
    said = podium("plan", str(path), "--cluster", "passage", "--items", "100", "--full")
    assert said.code == 0, said.err
    assert "pilot of 200 items in 40 passages" in said.out
    assert "design effect" in said.out
    compared = podium("plan", str(path), "--cluster", "passage", "--difference", "40elo")
    assert "passages: podium compare then detects 40elo" in compared.out
    told = podium("plan", str(path), "--cluster", "passage", "--models", "4", "--format", "json")
    groups = json.loads(told.out)["plan"]["asked"]["groups"]
    assert (groups["column"], groups["number"]) == ("passage", 40)
    plain = podium("plan", str(path), "--format", "json")
    assert json.loads(plain.out)["plan"]["asked"]["groups"] is None


@pytest.mark.slow
def test_the_command_that_plays_the_plan_names_the_column(podium, tmp_path):
    rows = draw(np.random.default_rng(2), 30, 4)
    more = rows.assign(model_a=rows["model_a"] + "x", model_b=rows["model_b"] + "x")
    cross = rows.assign(model_b=rows["model_b"] + "x")
    path = tmp_path / "pilot.csv"
    pd.concat([rows, more, cross]).to_csv(path, index=False)
    said = podium("plan", str(path), "--cluster", "passage", "--full")
    assert "-T cluster=passage" in said.out


@pytest.mark.slow
def test_the_interval_of_a_design_effect_that_is_cut_at_one_has_a_width():
    """Independent items in groups: the effect without a part is on either side of 1."""
    highs, lows = [], []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        rows = []
        for item in range(120):
            for a, b in combinations(range(4), 2):
                credit = float(rng.random() < 0.5 + 0.05 * (b - a))
                rows.append((f"i{item:03}", f"m{a}", f"m{b}", credit, f"p{item % 30}"))
        columns = ["item", "model_a", "model_b", "credit", "passage"]
        battles = podium.read_battles(pd.DataFrame(rows, columns=columns), cluster="passage")
        groups = groups_of_pilot(recording_of(battles), 0.95)
        lows.append(groups.effect.low)
        highs.append(groups.effect.high)
        assert groups.effect.value >= 1
    assert min(highs) > 1
    assert min(lows) == 1


def test_a_plan_says_that_more_items_do_not_remove_the_error_of_voters():
    table = draw(np.random.default_rng(3), 40, 3)
    table["voter"] = [f"v{k % 12}" for k in range(len(table))]
    plan = make_plan(podium.read_battles(table))
    assert any("12 voters are taken as they are" in each for each in plan.assumptions)
    plain = make_plan(podium.read_battles(table.drop(columns="voter")))
    assert not any("voters" in each for each in plain.assumptions)
