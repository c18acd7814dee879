"""Cards of real judges, against figures counted in plain pandas from the same files."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from judged_worlds import ASKED
from sklearn.metrics import cohen_kappa_score

from podium import read_battles
from podium.diagnosis.card import SECTIONS, answer_sections
from podium.diagnosis.figures import Missing
from podium.diagnosis.subject import Subject

DATA = Path(__file__).parents[3] / "shared" / "data"
pytestmark = [
    pytest.mark.real_data,
    pytest.mark.skipif(
        not DATA.is_dir(), reason="the recorded judgments are not beside this checkout"
    ),
]
ROUND_ROBIN = {
    "columns": {"item": "prompt", "model_a": "model_1", "model_b": "model_2", "credit": "verdict"},
    "credit_map": {"1": 1, "0": 0.5, "-1": 0},
    "shown": "a",
    "fill": {"judge": "gpt-4"},
}
LLMFAO = {
    "columns": {
        "item": "prompt",
        "model_a": "left",
        "model_b": "right",
        "credit": "outcome_left",
        "length_a": "len_left",
        "length_b": "len_right",
    },
    "human_judge": "crowd",
}


def card(name, judge, **reading):
    """Return what the sections on the judge itself say."""
    path = DATA / name
    apart, merged = read_battles(path, merge=False, **reading), read_battles(path, **reading)
    subject = Subject(judge, *(dict(each.slices("judge"))[judge] for each in (apart, merged)))
    return answer_sections(
        {name: section for name, section in SECTIONS.items() if name in ASKED}, subject
    )


@pytest.fixture(scope="module")
def gpt4():
    return card("roundrobin_qlora_oa_gpt4.parquet", "gpt-4", **ROUND_ROBIN)


@pytest.fixture(scope="module")
def beside_the_crowd():
    return {judge: card("llmfao.parquet", judge, **LLMFAO) for judge in ("gpt3", "gpt4")}


@pytest.mark.slow
def test_gpt4_prefers_what_it_is_shown_first(gpt4):
    """Published with the data: 49.0% wins, 14.6% ties, 36.4% losses of the response shown first."""
    found = gpt4["position"]
    shares = [
        round(100 * one.value, 1) for one in (found.first_wins, found.ties, found.second_wins)
    ]
    assert shares == [49.0, 14.6, 36.4]
    verdict = (
        pd.read_parquet(DATA / "roundrobin_qlora_oa_gpt4.parquet")["verdict"].dropna().astype(float)
    )
    assert (found.first_wins.value, found.first_wins.n) == (
        pytest.approx((verdict == 1).mean()),
        len(verdict),
    )
    assert found.prefers_first.low > 0.56
    assert not found.balanced


@pytest.mark.slow
def test_gpt4s_swaps_are_those_of_the_data_notes(gpt4):
    """Published with the data: same 72.4%, one decisive and one tie 15.4%, flip 12.2%."""
    found = gpt4["position"].swaps.all
    assert [round(100 * one.value, 1) for one in (found.same, found.half, found.flip)] == [
        72.4,
        15.4,
        12.2,
    ]
    assert (found.pairs, gpt4["consistency"].unparsed.n) == (18_599, 40_026)


def test_gpt4s_effect_of_being_first_is_counted_from_its_flips(gpt4):
    rows = pd.read_parquet(DATA / "roundrobin_qlora_oa_gpt4.parquet").dropna(subset=["verdict"])
    turned = rows.rename(columns={"model_1": "model_2", "model_2": "model_1", "verdict": "other"})
    both = rows.merge(
        turned[["prompt", "model_1", "model_2", "other"]], on=["prompt", "model_1", "model_2"]
    )
    flips = both[(both["verdict"] == both["other"]) & (both["verdict"] != 0)]
    to_first = (flips["verdict"] == 1).mean()
    found = gpt4["position"].effect
    assert found.value == pytest.approx(np.log(to_first / (1 - to_first)) / 2)
    assert found.n == len(flips) / 2


def test_the_round_robin_says_what_it_cannot_answer(gpt4):
    assert isinstance(gpt4["verbosity"], Missing)
    assert isinstance(gpt4["human"], Missing)
    assert isinstance(gpt4["consistency"].retest, Missing)
    assert gpt4["self_preference"].family == "OpenAI"
    assert isinstance(gpt4["self_preference"].excess, Missing)


@pytest.mark.slow
@pytest.mark.parametrize("judge", ["gpt3", "gpt4"])
def test_judges_beside_the_crowd_agree_as_counted(beside_the_crowd, judge):
    """Oracle: majority votes and hard verdicts joined in pandas; kappa by scikit-learn from both
    sides."""
    rows = pd.read_parquet(DATA / "llmfao.parquet")
    turned = rows["left"].astype(str) > rows["right"].astype(str)
    rows["credit"] = rows["outcome_left"].where(~turned, 1 - rows["outcome_left"])
    rows["pair"] = [tuple(sorted(pair)) for pair in zip(rows["left"], rows["right"], strict=True)]
    votes = rows[rows["judge"] == "crowd"].groupby(["prompt", "pair"])["credit"].mean()
    both = (
        rows[rows["judge"] == judge]
        .set_index(["prompt", "pair"])
        .join(votes.rename("human"), how="inner")
    )
    ours, theirs = np.sign(both["credit"] - 0.5), np.sign(both["human"].round(12) - 0.5)
    found = beside_the_crowd[judge]["human"]
    assert (found.accuracy.value, found.accuracy.n) == (
        pytest.approx((ours == theirs).mean()),
        len(both),
    )
    sides = [np.concatenate([labels, -labels]).astype(int) for labels in (ours, theirs)]
    assert found.kappa.value == pytest.approx(cohen_kappa_score(*sides))
    decisive = (ours != 0) & (theirs != 0)
    assert found.agreement.value == pytest.approx((ours == theirs)[decisive].mean())


@pytest.mark.slow
def test_gpt4_beside_the_crowd(beside_the_crowd):
    found = beside_the_crowd["gpt4"]
    assert found["human"].kappa.low > 0
    assert found["self_preference"].who == "human"
    assert found["self_preference"].families["OpenAI"] == (
        "GPT 3.5 Turbo",
        "GPT 3.5 Turbo (16k)",
        "GPT 4",
    )
    assert found["verbosity"].longer.n > 3_000
    assert isinstance(found["position"], Missing)


@pytest.mark.slow
def test_the_crowd_repeats_itself_and_the_card_says_how_often():
    """Oracle: agreeing pairs of votes per pair of responses, counted in pandas."""
    rows = pd.read_parquet(DATA / "llmfao.parquet").query("judge == 'crowd'")
    columns = LLMFAO["columns"]
    found = card("llmfao.parquet", "crowd", columns=columns)["consistency"]
    tally = rows.groupby(["id", "outcome_left"]).size().unstack(fill_value=0).to_numpy()
    tally = tally[tally.sum(axis=1) > 1]
    size = tally.sum(axis=1)
    agree = (tally * (tally - 1)).sum(axis=1) / (size * (size - 1))
    assert (found.retest.value, found.retest.n) == (pytest.approx(agree.mean()), len(agree))
