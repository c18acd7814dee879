"""Weights of battles and items: the same in every ranker and in compare, against NumPy and
statsmodels."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from statsmodels.stats.weightstats import DescrStatsW

import podium
from podium.errors import DataError

STRENGTHS = {"a": 0.8, "b": 0.2, "c": -0.4, "d": -0.6}


def weighted_battles() -> pd.DataFrame:
    """Return a round robin of four models on 40 items with weights 1 and 3, with scores."""
    rng, rows = np.random.default_rng(50), []
    for item in range(40):
        score = {name: strength + rng.normal() for name, strength in STRENGTHS.items()}
        weight = float(rng.choice([1, 3]))
        for first, second in [(a, b) for a in STRENGTHS for b in STRENGTHS if a < b]:
            margin = score[first] - score[second]
            rows.append(
                (f"q{item}", first, second, float(margin > 0), score[first], score[second], weight)
            )
    columns = ["item", "model_a", "model_b", "credit", "score_a", "score_b", "weight"]
    return pd.DataFrame(rows, columns=columns)


def ranked(table: pd.DataFrame, ranker: str, **options: object) -> pd.DataFrame:
    """Return scores, errors and interval ends by model."""
    frame = podium.rank(podium.read_battles(table), ranker, **options).to_frame().set_index("model")
    return frame[["score", "se", "low", "high"]].astype(float).sort_index()


def scores_by_item(table: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
    """Return scores by item and model, and the weight of each item."""
    sides = [table[["item", f"model_{side}", f"score_{side}", "weight"]] for side in "ab"]
    names = ["item", "model", "score", "weight"]
    every = pd.concat([side.set_axis(names, axis=1) for side in sides])
    scores = every.pivot_table(index="item", columns="model", values="score")
    return scores, every.groupby("item")["weight"].mean().loc[scores.index]


@pytest.mark.slow
@pytest.mark.parametrize("ranker", ["bradley-terry", "win-rate"])
def test_a_battle_with_a_weight_counts_as_that_many_copies_on_its_item(ranker):
    """Copies are one cluster: the errors are those of the weighted battles, too."""
    table = weighted_battles()
    copies = table.loc[table.index.repeat(table["weight"].astype(int))]
    copies = copies.assign(repeat=copies.groupby(level=0).cumcount() + 1)
    repeated = copies.drop(columns="weight").reset_index(drop=True)
    assert ranked(table, ranker).to_numpy() == pytest.approx(
        ranked(repeated, ranker).to_numpy(), rel=1e-6
    )


@pytest.mark.slow
@pytest.mark.parametrize("ranker", ["mean", "median", "informativeness"])
def test_an_item_with_a_weight_counts_as_that_many_items(ranker):
    table = weighted_battles()
    copies = table.loc[table.index.repeat(table["weight"].astype(int))]
    number = copies.groupby(level=0).cumcount().astype(str)
    several = copies.assign(item=copies["item"] + "-" + number).drop(columns="weight")
    ours, theirs = ranked(table, ranker)["score"], ranked(several, ranker)["score"]
    assert ours.to_numpy() == pytest.approx(theirs.to_numpy())


@pytest.mark.slow
@pytest.mark.parametrize(
    "ranker", ["bradley-terry", "win-rate", "mean", "median", "informativeness"]
)
def test_a_common_weight_changes_nothing(ranker):
    table = weighted_battles()
    plain = ranked(table.drop(columns="weight"), ranker)
    options = {"regularization": 0.0} if ranker == "bradley-terry" else {}
    plain = ranked(table.drop(columns="weight"), ranker, **options)
    common = ranked(table.assign(weight=7.0), ranker, **options)
    assert common.to_numpy() == pytest.approx(plain.to_numpy(), rel=1e-6)


@pytest.mark.slow
def test_the_weighted_mean_is_that_of_statsmodels_with_unbiased_squares_of_residuals():
    table = weighted_battles()
    scores, weight = scores_by_item(table)
    found = ranked(table, "mean")
    for name in STRENGTHS:
        theirs = DescrStatsW(scores[name], weight)
        assert found.loc[name, "score"] == pytest.approx(theirs.mean)
        residuals = sm.WLS(scores[name], np.ones(len(scores)), weights=weight).fit().resid
        share = (weight / weight.sum()).to_numpy()
        maker = np.eye(len(share)) - share
        # Divided by the variances of residuals of scores of variance 1.
        squares = residuals.to_numpy() ** 2 / np.diag(maker @ maker.T)
        assert found.loc[name, "se"] == pytest.approx(np.sqrt(share**2 @ squares))


@pytest.mark.slow
def test_the_bootstrap_of_a_weighted_mean_has_its_error():
    table = weighted_battles()
    sandwich, bootstrap = ranked(table, "mean"), ranked(table, "mean", interval="bootstrap", seed=1)
    assert bootstrap["score"].to_numpy() == pytest.approx(sandwich["score"].to_numpy())
    assert bootstrap["se"].to_numpy() == pytest.approx(sandwich["se"].to_numpy(), rel=0.15)


def test_the_drop_out_of_a_weighted_mean_counts_weighted_leads():
    """Without the item of weight 9 the other model has the higher mean; by counts, three items
    would decide."""
    rows = [
        ("q0", 1.0, 0.0, 9.0),
        *((f"q{k}", 0.0, 1.0, 1.0) for k in range(1, 6)),
        ("q6", 1.0, 0.0, 1.0),
    ]
    table = pd.DataFrame(rows, columns=["item", "score_a", "score_b", "weight"])
    table = table.assign(model_a="x", model_b="y", credit=table["score_a"])
    standings = podium.rank(podium.read_battles(table), "mean").standings[0]
    assert standings.diagnostics["drop_out"] == {"items": 1, "leader": "y"}


def test_scores_of_one_item_with_two_weights_are_rejected(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("item,model,score,weight\nq0,x,1,9\nq0,y,0,8\nq1,x,1,2\nq1,y,1,2\n")
    with pytest.raises(DataError, match=r"row 2: item 'q0' has the weights 8 and 9"):
        podium.read_battles(path)
