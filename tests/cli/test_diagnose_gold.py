"""podium diagnose beside a gold standard: what the card of two judges holds, as JSON and as
text."""

import json

import pandas as pd
import pytest

from podium import Judge, simulate

WORLD = simulate(6, 40, seed=3, strengths=(-1, -0.6, -0.2, 0.2, 0.6, 1))


@pytest.fixture
def arguments(tmp_path):
    judges = (Judge(name="model-03|rubric|1a2b", tie=0.3), Judge(name="x|rubric|1a2b", scale=2.0))
    frame = WORLD.judgments(*judges)
    models = frame["judge"].map({"model-03|rubric|1a2b": "model-03", "x|rubric|1a2b": "x"})
    frame = frame.assign(judge_model=models, judge_realization="rubric")
    frame.to_csv(tmp_path / "battles.csv", index=False)
    gold = pd.DataFrame({"model": WORLD.models, "elo": 1500 + 173.7 * WORLD.strengths})
    gold.to_csv(tmp_path / "gold.csv", index=False)
    return ["diagnose", tmp_path / "battles.csv", "--gold", tmp_path / "gold.csv"]


@pytest.mark.slow
def test_the_card_holds_transitivity_fit_gold_and_all_judges(podium, arguments):
    stated = podium(*arguments, "--format", "json")
    assert stated.code == 0, stated.err
    card = json.loads(stated.out)
    own, other = (one["sections"] for one in card["cards"])
    assert own["transitivity"]["hard"]["n"] == 40 * 20
    assert own["cycles"]["triples"] == 20
    assert own["fit"]["pairs"] == 15
    assert own["gold"]["self_bias"]["model"] == "model-03"
    assert "no model" in other["gold"]["self_bias"]["missing"]["why"]
    assert [one["realization"] for one in card["across"]["side_by_side"]["judges"]] == [
        "rubric",
        "rubric",
    ]
    assert len(card["across"]["side_by_side"]["correlations"]) == 1


@pytest.mark.slow
def test_human_output_has_the_same_figures(podium, arguments):
    stated = podium(*arguments, "--full")
    assert stated.code == 0, stated.err
    for part in (
        "PNT",
        "decisiveness alpha",
        "tau with gold",
        "Pairs farthest from the fit",
        "side by side",
    ):
        assert part in stated.out


@pytest.mark.slow
def test_unanswerable_gold_questions_are_named_and_the_rest_is_answered(
    podium, arguments, tmp_path
):
    pd.DataFrame({"model": ["somebody", "else"], "elo": [1, 2]}).to_csv(
        tmp_path / "gold.csv", index=False
    )
    stated = podium(*arguments, "--format", "json")
    sections = json.loads(stated.out)["cards"][0]["sections"]
    assert "0 models are known both" in sections["gold"]["missing"]["why"]
    assert sections["fit"]["pairs"] == 15
