"""Items of one group (`cluster=`) are one cluster in every interval, test and count."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import podium
from podium.data.battles import Battles
from podium.data.counting.battle_frame import BattleFrame
from podium.errors import DataError, UsageError
from podium.rankers.errors.difference import grouped_difference, paired_difference
from podium.wording import group_noun

MODELS = ("amber", "birch", "cedar", "dune")
POINTS = 400 / np.log(10)


def table_of(passages=20, items=4, *, seed=0, missing=0.1, weights=False):
    """Return unbalanced battles in passages, whose items favour the same models."""
    rng = np.random.default_rng(seed)
    rows = []
    for passage in range(passages):
        effect = rng.normal(0, 0.8, len(MODELS))
        for item in range(rng.integers(1, items + 1)):
            own = effect + np.linspace(0.3, -0.3, len(MODELS))
            for a, b in combinations(range(len(MODELS)), 2):
                if rng.random() < missing:
                    continue
                credit = float(rng.random() < 1 / (1 + np.exp(own[b] - own[a])))
                row = [f"i{passage:02}-{item}", MODELS[a], MODELS[b], credit, f"p{passage:02}"]
                rows.append([*row, float(rng.integers(1, 4)) if weights else 1.0])
    names = ["item", "model_a", "model_b", "credit", "passage_id", "weight"]
    return pd.DataFrame(rows, columns=names)


def scores_of(passages=20, *, seed=0, missing=0.0):
    rng = np.random.default_rng(seed)
    rows = []
    for passage in range(passages):
        effect = rng.normal(0, 0.3, len(MODELS))
        for item in range(rng.integers(1, 5)):
            for k, model in enumerate(MODELS):
                if rng.random() >= missing:
                    score = 0.1 * k + effect[k] + rng.normal(0, 0.2)
                    rows.append([f"i{passage:02}-{item}", model, score, f"p{passage:02}"])
    return pd.DataFrame(rows, columns=["item", "model", "score", "passage_id"])


def entries_of(standings):
    return {entry.model: entry for entry in standings.entries}


def unbiasing_factors(weight):
    """Return one over the variances of the residuals of units of variance 1 from their weighted
    mean."""
    size = len(weight)
    residuals = np.eye(size) - np.outer(np.ones(size), weight / weight.sum())
    return 1 / np.diag(residuals @ residuals.T)


def dense_errors(table, group, regularization=0.01):
    """Return the Elo of a dense Newton fit, and its sandwich standard errors by groups."""
    names = sorted({*table["model_a"], *table["model_b"]})
    design = np.zeros((len(table), len(names)))
    for side, sign in (("model_a", 1), ("model_b", -1)):
        design[np.arange(len(table)), [names.index(name) for name in table[side]]] = sign
    y, w = table["credit"].to_numpy(), table["weight"].to_numpy()
    theta = np.zeros(len(names))
    for _ in range(100):
        p = 1 / (1 + np.exp(-design @ theta))
        gradient = design.T @ (w * (y - p)) - regularization * theta
        hessian = (design * (w * p * (1 - p))[:, None]).T @ design
        hessian += regularization * np.eye(len(names))
        theta += np.linalg.solve(hessian, gradient)
    scores = pd.DataFrame(design * (w * (y - p))[:, None]).groupby(table[group].to_numpy()).sum()
    centred = (scores - scores.mean()).to_numpy()
    factors = unbiasing_factors(table.groupby(group)["weight"].sum().to_numpy())
    meat = centred.T @ np.diag(factors) @ centred
    covariance = np.linalg.inv(hessian) @ meat @ np.linalg.inv(hessian)
    centre = np.eye(len(names)) - 1 / len(names)
    errors = POINTS * np.sqrt(np.diag(centre @ covariance @ centre))
    return dict(zip(names, 1500 + POINTS * (theta - theta.mean()), strict=True)), dict(
        zip(names, errors, strict=True)
    )


@pytest.mark.parametrize("weights", [False, True])
def test_standard_errors_are_those_of_a_dense_sandwich_by_group(weights):
    table = table_of(weights=weights)
    standings = podium.rank(podium.read_battles(table, cluster="passage_id")).standings[0]
    elo, errors = dense_errors(table, "passage_id")
    for model, entry in entries_of(standings).items():
        assert entry.score == pytest.approx(elo[model], abs=1e-6)
        assert entry.se == pytest.approx(errors[model], rel=1e-6)
    assert standings.interval == "passage-clustered sandwich"
    assert standings.separation.clusters == 20


@pytest.mark.slow
@pytest.mark.parametrize("ranker", ["bradley-terry", "win-rate", "soft-elo"])
def test_battles_in_memory_and_in_the_database_agree(ranker):
    table = table_of(weights=True)
    options = {}
    if ranker == "soft-elo":
        table["margin"] = table["credit"] - 0.5
        options = {"beta": 1.0}
    read = podium.read_battles(table, cluster="passage_id")
    stored = podium.rank(read, ranker, **options).standings[0]
    memory = Battles(BattleFrame(read.table, "passage_id"))
    held = podium.rank(memory, ranker, **options).standings[0]
    for one, other in zip(stored.entries, held.entries, strict=True):
        assert one.score == pytest.approx(other.score)
        assert one.se == pytest.approx(other.se)
        assert (one.rank_low, one.rank_high) == (other.rank_low, other.rank_high)
    assert stored.counts == held.counts
    assert (stored.counts.groups, stored.counts.group) == (20, "passage")


@pytest.mark.slow
@pytest.mark.parametrize("ranker", ["bradley-terry", "win-rate"])
def test_groups_of_one_item_have_the_errors_of_items(ranker):
    table = table_of(items=1, passages=40)
    plain = podium.rank(podium.read_battles(table), ranker).standings[0]
    grouped = podium.rank(podium.read_battles(table, cluster="passage_id"), ranker).standings[0]
    for one, other in zip(plain.entries, grouped.entries, strict=True):
        figures = [(own.score, own.se, own.low, own.high) for own in (one, other)]
        assert figures[0] == pytest.approx(figures[1])


@pytest.mark.slow
def test_orders_of_a_battle_are_merged_by_item_before_groups_are_formed():
    table = table_of(missing=0.0).assign(order="ab")
    swapped = table.assign(order="ba")
    both = pd.concat([table, swapped], ignore_index=True)
    once = podium.rank(podium.read_battles(table, cluster="passage_id")).standings[0]
    twice = podium.rank(podium.read_battles(both, cluster="passage_id")).standings[0]
    assert twice.counts.battles == once.counts.battles
    assert [entry.se for entry in twice.entries] == pytest.approx(
        [entry.se for entry in once.entries]
    )


@pytest.mark.slow
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_errors_of_means_are_those_of_a_ratio_by_group(missing):
    scores = scores_of(missing=missing)
    standings = podium.rank(podium.read_battles(scores, cluster="passage_id"), "mean").standings[0]
    for model, entry in entries_of(standings).items():
        own = scores[scores["model"] == model]
        mean = own["score"].mean()
        sums = (own["score"] - mean).groupby(own["passage_id"]).sum()
        factors = unbiasing_factors(own.groupby("passage_id").size().to_numpy())
        error = np.sqrt(np.sum(factors * sums**2)) / len(own)
        assert entry.score == pytest.approx(mean)
        assert entry.se == pytest.approx(error)
    assert standings.counts.groups == 20


@pytest.mark.slow
def test_medians_are_resampled_by_group():
    scores = scores_of()
    battles = podium.read_battles(scores, cluster="passage_id")
    standings = podium.rank(battles, "median").standings[0]
    assert standings.interval.startswith("passage bootstrap")
    values = scores.groupby("model")["score"].median()
    assert [entry.score for entry in standings.entries] == pytest.approx(
        sorted(values, reverse=True)
    )


def test_a_test_of_groups_is_that_of_their_sums():
    rng = np.random.default_rng(1)
    group = np.repeat(np.arange(25), rng.integers(1, 5, 25))
    difference = rng.normal(0.2, 1, len(group))
    test = grouped_difference(difference, np.ones(len(group)), group, np.inf, "passage")
    size = np.bincount(group)
    means = np.bincount(group, difference) / size
    by_hand = paired_difference(means, None, np.inf, size.astype(float))
    assert test.value == pytest.approx(difference.mean())
    assert test.items == 25
    assert test.p_value == pytest.approx(by_hand.p_value)


@pytest.mark.slow
def test_answers_count_groups_and_ask_for_more_of_them():
    battles = podium.read_battles(table_of(passages=40), cluster="passage_id")
    ranking = podium.rank(battles)
    counts = ranking.standings[0].counts
    answer = " ".join(ranking.standings[0].answer)
    assert str(ranking).count(f"40 passages, {counts.items} items") == 1
    assert " passages " in answer
    assert " items" not in answer.replace(f"({counts.items} items)", "")
    assert ranking.to_dict()["rankings"][0]["counts"]["groups"] == 40


@pytest.mark.slow
def test_comparisons_test_groups():
    battles = podium.read_battles(table_of(passages=40), cluster="passage_id")
    compared = podium.compare("amber", "birch", battles)
    finding = compared.findings[0]
    assert finding.unit == "passage"
    assert "passages" in finding.difference.method
    assert finding.difference.items == 40
    assert "more passages" in " ".join(compared.answer) or finding.is_distinguishable
    assert "40 passages" in str(compared)
    scores = podium.compare("amber", "dune", scores_of(), cluster="passage_id", require="better")
    assert scores.findings[0].difference.items == 20
    assert "passage" in scores.findings[0].difference.method
    assert scores.to_dict()["comparisons"][0]["unit"] == "passage"


def test_without_the_option_nothing_of_groups_is_written():
    counts = podium.rank(table_of()).standings[0].counts
    assert counts.groups is None
    assert "groups" not in counts.to_dict()
    assert counts.units == counts.items


def test_a_missing_group_is_an_error_that_names_the_row():
    table = table_of()
    table["passage_id"] = table["passage_id"].astype(object)
    table.loc[4, "passage_id"] = None
    with pytest.raises(DataError, match="row 5: 1 row has no value in the column 'passage_id'"):
        podium.read_battles(table, cluster="passage_id")


def test_an_item_in_two_groups_is_an_error_that_names_both(tmp_path):
    table = table_of()
    table.loc[0, "passage_id"] = "other"
    with pytest.raises(DataError, match="'i00-0' is in two groups of 'passage_id': 'other' and"):
        podium.read_battles(table, cluster="passage_id")
    scores = scores_of()
    for model, part in scores.groupby("model"):
        moved = part.assign(passage_id="elsewhere") if model == "amber" else part
        moved.to_csv(tmp_path / f"{model}.csv", index=False)
    with pytest.raises(DataError, match="is in different groups of 'passage_id'"):
        podium.read_battles(*map(str, sorted(tmp_path.glob("*.csv"))), cluster="passage_id")


@pytest.mark.parametrize("column", ["model_a", "item", "credit"])
def test_columns_of_rows_are_no_groups(column):
    with pytest.raises(UsageError, match="does not group items"):
        podium.read_battles(table_of(), cluster=column)


def test_a_constant_or_unknown_column_is_an_error():
    with pytest.raises(UsageError, match="all items have the value 'x'"):
        podium.read_battles(table_of().assign(document="x"), cluster="document")
    with pytest.raises(UsageError, match="no such column"):
        podium.read_battles(table_of(), cluster="document")


def test_numbers_are_groups_too():
    table = table_of(weights=True)
    table["passage_id"] = table["passage_id"].str[1:].astype(int)
    standings = podium.rank(podium.read_battles(table, cluster="passage_id")).standings[0]
    errors = dense_errors(table, "passage_id")[1]
    for model, entry in entries_of(standings).items():
        assert entry.se == pytest.approx(errors[model], rel=1e-6)


def test_rows_without_items_have_groups():
    table = table_of().drop(columns="item")
    standings = podium.rank(podium.read_battles(table, cluster="passage_id")).standings[0]
    errors = dense_errors(table, "passage_id")[1]
    for model, entry in entries_of(standings).items():
        assert entry.se == pytest.approx(errors[model], rel=1e-6)


@pytest.mark.slow
def test_slices_keep_the_groups():
    table = table_of(passages=40)
    table["half"] = np.where(table["passage_id"] < "p20", "first", "second")
    battles = podium.read_battles(table, cluster="passage_id")
    for standings in podium.rank(battles, by="half").standings:
        assert standings.counts.groups == 20
        part = table[table["half"] == standings.slice]
        errors = dense_errors(part.reset_index(drop=True), "passage_id")[1]
        for model, entry in entries_of(standings).items():
            assert entry.se == pytest.approx(errors[model], rel=1e-6)


def test_the_name_of_a_group_is_that_of_its_column():
    columns = ("passage", "passage_id", "docID", "seed", "id", "doc ids")
    assert [group_noun(name) for name in columns] == ["passage"] * 2 + ["doc", "seed", "id", "doc"]


@pytest.mark.parametrize("ranker", ["bradley-terry", "win-rate", "soft-elo"])
def test_rows_cannot_be_independent_beside_groups(ranker):
    battles = podium.read_battles(table_of(), cluster="passage_id")
    with pytest.raises(UsageError, match="leave out one of both"):
        podium.rank(battles, ranker, cluster="row")
