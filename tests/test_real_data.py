"""Recorded judgments of real judges, against figures computed by other human code."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.optimize import minimize
from scipy.special import expit
from statsmodels.stats.inter_rater import cohens_kappa

from podium import NotIdentifiedError, calibrate, rank, read_battles
from podium.notices.notice_text import notice_texts
from podium.rankers.calibration.calibration_run import judge_agreement
from podium.rankers.fit.coded import code_battles

DATA = Path(__file__).parents[2] / "shared" / "data"
pytestmark = [
    pytest.mark.real_data,
    pytest.mark.skipif(
        not DATA.is_dir(), reason="the recorded judgments are not beside this checkout"
    ),
]
ROUND_ROBIN = DATA / "roundrobin_qlora_oa_gpt4.parquet"
LLMFAO = DATA / "llmfao.parquet"
SCORES = DATA / "qlora_vicuna_relative_scores.parquet"


@pytest.fixture(scope="module")
def references():
    return json.loads((DATA / "references.json").read_text())


@cache
def round_robin(**options):
    return read_battles(
        ROUND_ROBIN,
        columns={"item": "prompt", "model_a": "model_1", "model_b": "model_2", "credit": "verdict"},
        credit_map={"1": 1, "0": 0.5, "-1": 0},
        shown="a",
        **options,
    )


@cache
def llmfao(judge, **options):
    columns = {"item": "prompt", "model_a": "left", "model_b": "right", "credit": "outcome_left"}
    return read_battles(
        LLMFAO, columns=columns, where=[("judge", judge)] if judge else [], **options
    )


def by_model(ranking, column="score"):
    return ranking.to_frame().set_index("model")[column].to_dict()


def shifted(scores, mean=1000.0):
    centre = np.mean(list(scores.values()))
    return {model: score - centre + mean for model, score in scores.items()}


@pytest.mark.slow
def test_unmerged_round_robin_elo_equals_the_reference(references):
    found = shifted(by_model(rank(round_robin(merge=False), "bradley-terry", regularization=0.0)))
    assert found == pytest.approx(references["qlora_round_robin"]["elo"], abs=1e-4)


@pytest.mark.slow
def test_row_level_standard_errors_equal_statsmodels():
    """Oracle: a binomial GLM with HC0 covariance on all 38,544 readable judgments, times sqrt(G /
    (G - 1))."""
    battles = round_robin(merge=False)
    coded = code_battles(battles, cluster="row")
    design = np.eye(7)[coded.a] - np.eye(7)[coded.b]
    glm = sm.GLM(coded.credit, design[:, :-1], family=sm.families.Binomial()).fit(
        tol=1e-14, cov_type="HC0"
    )
    covariance = np.zeros((7, 7))
    covariance[:-1, :-1] = glm.cov_params()
    centred = np.eye(7) - 1 / 7
    se = (
        400
        / np.log(10)
        * np.sqrt(np.diag(centred @ covariance @ centred) * coded.clusters / (coded.clusters - 1))
    )
    found = by_model(rank(battles, "bradley-terry", regularization=0.0, cluster="row"), "se")
    assert found == pytest.approx(dict(zip(coded.models, se, strict=True)), rel=1e-8)


def test_row_level_sandwich_intervals_equal_the_reference(references):
    """The reference's half-widths lie up to 0.003 Elo below statsmodels', so no closer agreement
    can be had."""
    ranking = rank(round_robin(merge=False), "bradley-terry", regularization=0.0, cluster="row")
    for end, column in enumerate(("low", "high")):
        found = {model: value - 500 for model, value in by_model(ranking, column).items()}
        expected = {
            model: ends[end]
            for model, ends in references["qlora_round_robin"]["sandwich95_row_level"].items()
        }
        assert found == pytest.approx(expected, abs=3e-3)


def test_win_rates_equal_the_reference(references):
    found = by_model(rank(round_robin(merge=False), "win-rate"))
    assert found == pytest.approx(references["qlora_round_robin"]["average_win_rate"], abs=1e-6)


def test_1482_replies_of_the_round_robin_are_unparsed():
    counts = round_robin(merge=False).counts()
    assert (counts.judgments, counts.unparsed) == (40_026, 1_482)


@pytest.mark.slow
def test_merged_round_robin_counts_its_one_sided_battles():
    counts = round_robin().counts()
    assert (counts.battles, counts.judgments, counts.one_sided) == (20_013, 40_026, 1_346)


def test_the_swap_report_of_the_round_robin():
    shares = round_robin().swaps().shares()
    assert {name: round(100 * share, 1) for name, share in shares.items()} == {
        "same": 72.4,
        "half": 15.4,
        "flip": 12.2,
    }


@pytest.mark.slow
def test_keeping_one_sided_battles_moves_the_best_model_by_3_and_a_half_elo():
    """The figure of the data's own notes."""
    dropped = by_model(rank(round_robin(), "bradley-terry"))["gpt4"]
    kept = by_model(rank(round_robin(one_sided="keep"), "bradley-terry"))["gpt4"]
    assert abs(kept - dropped) == pytest.approx(3.5, abs=0.1)


@pytest.mark.slow
def test_rounding_merged_credits_moves_the_best_model_by_32_elo():
    """The figure of the data's own notes, against the unmerged fit."""
    soft = by_model(rank(round_robin(merge=False), "bradley-terry"))["gpt4"]
    hard = by_model(rank(round_robin(), "bradley-terry", labels="hard"))["gpt4"]
    assert hard - soft == pytest.approx(32, abs=0.5)


def test_317_items_are_complete():
    assert round_robin().complete_items().counts().items == 317


@pytest.mark.slow
def test_win_rates_against_every_anchor_equal_the_reference(references):
    """The reference rounds the merged verdict to win, tie, loss, as the paper does: hard labels."""
    complete = round_robin().complete_items()
    for anchor, expected in references["qlora_anchor"]["win_rate_vs_anchor"].items():
        found = by_model(rank(complete, "win-rate", anchor=anchor, labels="hard"))
        assert found.pop(anchor) == pytest.approx(1 - np.mean(list(expected.values())), abs=1e-6)
        assert found == pytest.approx(expected, abs=1e-6)


def test_informativeness_of_every_anchor_equals_the_reference(references):
    ranking = rank(round_robin().complete_items(), "informativeness")
    for column, key in (
        ("score", "informativeness_5level"),
        ("three_level", "informativeness_3level"),
    ):
        expected = {anchor: mean for anchor, (mean, _) in references["qlora_anchor"][key].items()}
        assert by_model(ranking, column) == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("judge", ["crowd", "gpt4"])
def test_llmfao_elo_equals_the_reference(references, judge):
    found = shifted(by_model(rank(llmfao(judge), "bradley-terry", regularization=0.0)))
    assert found == pytest.approx(references[f"llmfao_{judge}"]["elo"], abs=1e-4)


def test_repeated_crowd_votes_are_kept():
    assert llmfao("crowd").counts().battles == 8_931


MATCHUP_OF_THE_CROWD = ["prompt", "low", "high"]


def votes_of_the_crowd():
    """Return the crowd's votes with the credit of the first model by name, in plain pandas."""
    votes = pd.read_parquet(LLMFAO).query("judge == 'crowd'").astype({"left": str, "right": str})
    as_named = votes["left"] < votes["right"]
    votes["low"], votes["high"] = (
        votes["left"].where(as_named, votes["right"]),
        votes["right"].where(as_named, votes["left"]),
    )
    votes["earned"] = votes["outcome_left"].where(as_named, 1 - votes["outcome_left"]).astype(float)
    return votes


def crowd_means():
    """Return the mean credit that the crowd gave the first model by name, by item and pair."""
    return votes_of_the_crowd().groupby(MATCHUP_OF_THE_CROWD)["earned"].mean()


@pytest.mark.slow
@pytest.mark.parametrize("judge", ["gpt3", "gpt4"])
def test_the_crowds_votes_label_the_battles_of_a_model_judge(judge):
    battles = llmfao(judge, human_judge="crowd").to_frame()
    means, labelled = crowd_means(), battles[battles["human"].notna()]
    assert (len(battles), len(labelled), len(means)) == (3_236, 2_139, 2_139)
    for row in labelled.itertuples():
        low, high = sorted((row.model_a, row.model_b))
        expected = means[int(row.item), low, high]
        assert row.human == pytest.approx(
            expected if row.model_a == low else 1 - expected, abs=1e-12
        )


def test_labels_of_llmfao_are_reported_with_their_denominators():
    """How many battles have votes that all agree is counted in plain pandas."""
    votes = votes_of_the_crowd().groupby(MATCHUP_OF_THE_CROWD)["earned"]
    several = votes.nunique()[votes.size() > 1]
    assert (len(several), f"{(several == 1).mean():.0%}") == (2_124, "25%")
    assert notice_texts(llmfao("gpt4", human_judge="crowd").notes) == (
        "human labels: 8,931 votes by crowd, on 2,139 pairs of responses, label 2,139 of 3,236 "
        "battles; 1,097 have no label",
        "of 2,124 battles with several votes, all votes agree on 25%",
    )


@pytest.mark.slow
def test_labels_change_no_rating_of_the_judge():
    plain, labelled = (
        rank(llmfao("gpt4", **more), "bradley-terry") for more in ({}, {"human_judge": "crowd"})
    )
    assert by_model(plain) == by_model(labelled)


@pytest.mark.slow
def test_llmfao_models_in_few_items_have_no_bootstrap_interval_and_leave_others_theirs():
    """19 items: half of the resamples bound every model; those that do not count for the models
    that they bound."""
    entries = (
        rank(llmfao("gpt4"), "bradley-terry", interval="bootstrap", resamples=200)
        .standings[0]
        .entries
    )
    number = (
        llmfao("gpt4").table.melt("item", ["model_a", "model_b"]).groupby("value")["item"].nunique()
    )
    without = {entry.model for entry in entries if entry.low is None and entry.high is None}
    assert without == {*number.index[number < 5]}
    assert len(without) == 11


def test_several_judges_at_once_are_rejected():
    with pytest.raises(
        NotIdentifiedError,
        match=r"3 judges .*crowd, gpt3, gpt4.*--where judge=NAME.*--by judge.*--pool",
    ):
        rank(llmfao(None), "bradley-terry")


@pytest.mark.slow
def test_each_judge_can_be_ranked_separately():
    ranking = rank(llmfao(None), "bradley-terry", by="judge")
    assert [one.slice for one in ranking.standings] == ["crowd", "gpt3", "gpt4"]


def side_of(credit):
    """Return the sign of a credit minus one half."""
    return np.sign(credit - 0.5).astype(int)


@pytest.mark.parametrize(("judge", "expected"), [("gpt3", 0.154), ("gpt4", 0.215)])
def test_the_agreement_with_the_crowd_is_cohens_kappa(judge, expected):
    """Oracle: statsmodels on the majority of the crowd's votes, joined in plain pandas."""
    rows = pd.read_parquet(LLMFAO).query("judge == @judge").astype({"left": str, "right": str})
    as_named = rows["left"] < rows["right"]
    low, high = (
        rows["left"].where(as_named, rows["right"]),
        rows["right"].where(as_named, rows["left"]),
    )
    earned = rows["outcome_left"].where(as_named, 1 - rows["outcome_left"]).astype(float)
    crowd = crowd_means().reindex(pd.MultiIndex.from_arrays([rows["prompt"], low, high])).to_numpy()
    known = ~np.isnan(crowd)
    counts = pd.crosstab(side_of(earned.to_numpy()[known]), side_of(crowd[known])).to_numpy()
    found = judge_agreement(llmfao(judge, human_judge="crowd"))
    assert (found.battles, counts.shape) == (counts.sum(), (3, 3))
    from_both_sides = counts + counts[::-1, ::-1]
    assert found.kappa == pytest.approx(
        cohens_kappa(from_both_sides, return_results=False), abs=1e-12
    )
    assert found.kappa == pytest.approx(expected, abs=5e-4)


@pytest.mark.slow
def test_verdicts_without_margins_are_calibrated_as_margins():
    calibration = calibrate(llmfao("gpt4", human_judge="crowd"))
    assert (list(calibration.target.weights), "soft" in calibration.scale_correction) == (
        ["verdict"],
        True,
    )


def test_verdicts_without_margins_are_not_ranked_by_soft_elo_though_there_are_labels():
    [standings] = rank(llmfao("gpt4", human_judge="crowd"), "soft-elo").standings
    assert standings.ranker == "bradley-terry"
    assert "(the verdicts have no margins)" in standings.diagnostics["replaces"]["reason"]


BASELINE = "gpt-3.5-turbo"


@cache
def rank_against_baseline():
    """Both orders of 36 models against one, with scores of both responses."""
    columns = {
        "item": "prompt",
        "model_a": "model",
        "score_a": "score_model",
        "score_b": "score_gpt35",
    }
    columns |= {"order": "model_first", "length_a": "len_model", "length_b": "len_gpt35"}
    return read_battles(SCORES, columns=columns, fill={"model_b": BASELINE, "judge": "gpt-4"})


def merged_margins():
    """Return the mean margin of both orders by model and prompt, in plain pandas; pairs that lack
    one are out."""
    rows = pd.read_parquet(SCORES).astype({"model": str})
    rows["margin"] = rows["score_model"].astype(float) - rows["score_gpt35"].astype(float)
    orders = rows.pivot(index=["model", "prompt"], columns="model_first", values="margin")
    return orders.dropna().mean(axis=1)


def penalised_elo(earned, played, regularization=0.01):
    """Fit every model and the baseline, which comes last, by a general optimiser; 1500 at the
    mean."""

    def loss(theta):
        gap = theta[:-1] - theta[-1]
        log_likelihood = earned @ gap - played @ np.logaddexp(0, gap)
        surplus = earned - played * expit(gap)
        gradient = np.append(-surplus, surplus.sum()) + regularization * theta
        return regularization / 2 * theta @ theta - log_likelihood, gradient

    theta = minimize(
        loss, np.zeros(len(played) + 1), jac=True, method="BFGS", options={"gtol": 1e-9}
    ).x
    return 1500 + 400 / np.log(10) * (theta - theta.mean())


@pytest.mark.slow
def test_a_file_of_scores_against_one_baseline_is_read_with_both_orders_merged():
    counts = rank_against_baseline().counts()
    found = (
        len(rank_against_baseline().models),
        counts.judgments,
        counts.battles,
        counts.readable,
        counts.one_sided,
    )
    assert found == (37, 5_760, 2_880, len(merged_margins()), 54)


@pytest.mark.slow
def test_soft_elo_of_scores_against_one_baseline_equals_a_general_optimisers():
    """Oracle: every model meets the baseline alone; the penalty and the common mean are all that
    joins them."""
    soft = expit(0.5 * merged_margins()).groupby("model")
    expected = penalised_elo(soft.sum().to_numpy(), soft.count().to_numpy())
    found = by_model(rank(rank_against_baseline(), "soft-elo", beta=0.5))
    assert found == pytest.approx(
        dict(zip([*soft.groups, BASELINE], expected, strict=True)), abs=1e-4
    )


@pytest.mark.slow
def test_one_order_of_the_scores_alone_would_give_another_elo():
    rows = (
        pd.read_parquet(SCORES)
        .astype({"model": str})
        .query("model_first")
        .dropna(subset=["score_model"])
    )
    margin = rows["score_model"].astype(float) - rows["score_gpt35"].astype(float)
    soft = expit(0.5 * margin).groupby(rows["model"])
    wrong = penalised_elo(soft.sum().to_numpy(), soft.count().to_numpy())
    found = by_model(rank(rank_against_baseline(), "soft-elo", beta=0.5))
    assert max(abs(found[model] - elo) for model, elo in zip(soft.groups, wrong, strict=False)) > 5
