"""Fits and covariances against other human code, closed forms, and what must never change them."""

from dataclasses import replace
from itertools import combinations, pairwise

import choix
import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, logit
from scipy.stats import norm
from statsmodels.stats.proportion import proportion_confint

from podium import NotConvergedError, NotIdentifiedError, UsageError, rank, read_battles, simulate
from podium.defaults import MEAN
from podium.notices.notice_text import notice_texts
from podium.planning.simulation import Judge
from podium.rankers.bradley_terry import bradley_terry, estimate_elo
from podium.rankers.errors.few_items import FewBattles
from podium.rankers.fit.cells import pair_sums_with_items, prepare_battles
from podium.rankers.fit.coded import CodedBattles, code_battles
from podium.rankers.fit.graph import (
    comparison_graph,
    design_efficiency,
    separated_in_resamples,
    separated_models,
)
from podium.rankers.fit.identification import fit_battles
from podium.rankers.fit.newton import maximize_samples
from podium.rankers.fit.pairs import (
    Pairs,
    _sparse_pair_sums,
    cells_by_cluster,
    pair_sums,
    pairs_from_matrices,
)
from podium.rankers.fit.scale import POINTS, elo_scale
from podium.rankers.fit.strengths import fit_strengths, pair_likelihood


def rng():
    return np.random.default_rng(0)


def worldly_battles(seed=0, items=30, judge=None):
    return simulate(6, items, seed=seed).battles(judge or Judge(tie=0.3))


def elo(battles, **options):
    return {
        entry.model: entry.score for entry in bradley_terry(battles, rng=rng(), **options).entries
    }


def squares_of(battles):
    coded = code_battles(battles)
    pairs = pair_sums(coded)
    wins = np.zeros((pairs.models,) * 2)
    wins[pairs.first, pairs.second] = pairs.credit
    wins[pairs.second, pairs.first] = pairs.weight - pairs.credit
    return coded, pairs, wins


def log_likelihood(pairs, theta, regularization):
    gap = theta[pairs.first] - theta[pairs.second]
    return (
        np.sum(pairs.credit * gap - pairs.weight * np.logaddexp(0, gap))
        - regularization / 2 * theta @ theta
    )


def design(coded):
    """One row per battle, a column per model but the last, which is the origin."""
    size = len(coded.models)
    matrix = np.eye(size)[coded.a] - np.eye(size)[coded.b]
    return matrix[:, :-1]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_ratings_equal_choix_to_1e_9(seed):
    _, pairs, wins = squares_of(worldly_battles(seed))
    ours = fit_strengths(pairs, 0.0).theta
    theirs = choix.ilsr_pairwise_dense(wins, tol=1e-13)
    assert ours == pytest.approx(theirs - theirs.mean(), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("verdicts", ["hard", "soft"])
def test_ratings_equal_a_statsmodels_binomial_glm_to_1e_9(verdicts):
    coded, pairs, _ = squares_of(worldly_battles(1, judge=Judge(verdicts=verdicts)))
    glm = sm.GLM(coded.credit, design(coded), family=sm.families.Binomial()).fit(tol=1e-14)
    theirs = np.append(glm.params, 0.0)
    assert fit_strengths(pairs, 0.0).theta == pytest.approx(theirs - theirs.mean(), abs=1e-9)


def test_weighted_ratings_equal_a_statsmodels_glm_with_frequency_weights():
    frame = simulate(5, 20, seed=3).judgments()
    frame["weight"] = np.random.default_rng(1).uniform(0.5, 3, len(frame))
    coded, pairs, _ = squares_of(read_battles(frame, merge=False))
    glm = sm.GLM(
        coded.credit, design(coded), family=sm.families.Binomial(), freq_weights=coded.weight
    ).fit(tol=1e-14)
    theirs = np.append(glm.params, 0.0)
    assert fit_strengths(pairs, 0.0).theta == pytest.approx(theirs - theirs.mean(), abs=1e-9)


@pytest.mark.slow
def test_the_penalised_maximum_equals_a_general_optimisers():
    _, pairs, _ = squares_of(worldly_battles(2))
    found = minimize(
        lambda t: -log_likelihood(pairs, t, 3.0), np.zeros(6), method="BFGS", options={"gtol": 1e-9}
    )
    assert fit_strengths(pairs, 3.0).theta == pytest.approx(found.x, abs=1e-6)


def test_half_lambda_not_lambda_multiplies_the_squared_ratings():
    """Closed form for two models: w (y - s(2t)) = lambda t at the maximum of the lambda / 2
    convention."""
    pairs = pairs_from_matrices(np.array([[0, 8.0], [0, 0]]), np.array([[0, 10.0], [0, 0]]))
    t = fit_strengths(pairs, 0.7).theta[0]
    assert 8 - 10 * expit(2 * t) == pytest.approx(0.7 * t, abs=1e-9)


def test_two_models_have_the_closed_form_rating():
    frame = pd.DataFrame(
        {"item": range(10), "model_a": "x", "model_b": "y", "credit": [1.0] * 7 + [0.0] * 3}
    )
    gap = np.diff(list(elo(read_battles(frame), regularization=0.0).values()))[0]
    assert -gap == pytest.approx(400 * np.log10(7 / 3), abs=1e-9)


@pytest.mark.slow
def test_the_clustered_covariance_equals_statsmodels():
    """statsmodels without its own correction, times G / (G - 1), contrasted against the last
    model."""
    battles = worldly_battles(4)
    coded, pairs, _ = squares_of(battles)
    strengths = fit_strengths(pairs, 0.0)
    ours = strengths.covariance(coded)
    glm = sm.GLM(coded.credit, design(coded), family=sm.families.Binomial()).fit(
        tol=1e-14, cov_type="cluster", cov_kwds={"groups": coded.cluster, "use_correction": False}
    )
    contrast = np.hstack([np.eye(5), -np.ones((5, 1))])
    theirs = glm.cov_params() * coded.clusters / (coded.clusters - 1)
    assert contrast @ ours @ contrast.T == pytest.approx(theirs, rel=1e-7)


@pytest.mark.slow
def test_many_resamples_at_once_equal_one_by_one():
    coded, pairs, _ = squares_of(worldly_battles(5))
    cells = cells_by_cluster(coded, pairs)
    counts = np.random.default_rng(0).multinomial(
        coded.clusters, [1 / coded.clusters] * coded.clusters, 20
    )
    credit, weight = cells.resampled_sums(counts.astype(float))
    together = maximize_samples(pair_likelihood(pairs, 0.01, credit, weight), np.zeros(6))
    drawn = [Pairs(pairs.first, pairs.second, c, w, 6) for c, w in zip(credit, weight, strict=True)]
    alone = [fit_strengths(one, 0.01).theta for one in drawn]
    assert together == pytest.approx(np.array(alone), abs=1e-9)


def test_many_resamples_of_150_models_equal_steps_of_all_at_once(monkeypatch):
    """Above 100 parameters each resample's linear system is solved alone."""
    draws, low, high = np.random.default_rng(0), *np.triu_indices(150, 1)
    theta = draws.normal(0, 1, 150)
    weight = draws.poisson(3.0, (8, len(low))).astype(float)
    credit = draws.binomial(weight.astype(int), expit(theta[low] - theta[high])).astype(float)
    pairs = Pairs(low, high, credit.sum(axis=0), weight.sum(axis=0), 150)
    likelihood = pair_likelihood(pairs, 0.01, credit, weight)
    alone = maximize_samples(likelihood, fit_strengths(pairs, 0.01).theta)
    monkeypatch.setattr("podium.rankers.fit.newton.MOST_BATCHED", 150)
    assert POINTS * maximize_samples(likelihood, np.zeros(150)) == pytest.approx(
        POINTS * alone, abs=1e-9
    )


def test_separated_models_of_resamples_are_those_of_each():
    draws, low, high = np.random.default_rng(0), *np.triu_indices(9, 1)
    weight = draws.poisson(0.7, (50, len(low))).astype(float)
    credit = draws.binomial(weight.astype(int), 0.7).astype(float)
    pairs = Pairs(low, high, credit.sum(axis=0), weight.sum(axis=0), 9)
    drawn = [
        replace(pairs, credit=c, weight=w).take(w > 0) for c, w in zip(credit, weight, strict=True)
    ]
    alone = [separated_models(each) for each in drawn]
    together = separated_in_resamples(pairs, credit, weight)
    assert together.tolist() == [each.tolist() for each in alone]
    assert 0 < together.any(axis=1).sum() < 50


@pytest.mark.parametrize("neighbours", [1, 4])
def test_sparse_graphs_of_200_models_are_exact(neighbours):
    """Expected credits of known strengths as data: the maximum is the strengths themselves."""
    theta = np.random.default_rng(0).normal(0, 1, 200)
    theta -= theta.mean()
    low = np.concatenate([np.arange(200 - step) for step in range(1, neighbours + 1)])
    high = np.concatenate([np.arange(step, 200) for step in range(1, neighbours + 1)])
    weight = np.full(len(low), 50.0)
    pairs = Pairs(low, high, weight * expit(theta[low] - theta[high]), weight, 200)
    assert POINTS * np.abs(fit_strengths(pairs, 0.0).theta - theta).max() < 1e-6


def test_chain_of_battles_is_reported_as_weakly_identified():
    names = [f"m{k:02d}" for k in range(30)]
    rows = [(f"i{j}", a, b, j % 2) for a, b in pairwise(names) for j in range(40)]
    frame = pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"])
    assert any(
        "weakly identified" in text
        for text in notice_texts(bradley_terry(read_battles(frame), rng=rng()).warnings)
    )


def beside_veterans(battles, credit):
    """Return a round robin of six on 25 items, and a newcomer that meets the first on some of
    them."""
    names = [f"m{k}" for k in range(6)]
    rows = [
        (f"i{j:02d}", a, b, (j * 7 + k) % 3 / 2)
        for j in range(25)
        for k, (a, b) in enumerate(combinations(names, 2))
    ]
    rows += [(f"i{j:02d}", "new", names[j % 6], credit) for j in range(battles)]
    return read_battles(pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"]))


@pytest.mark.slow
def test_a_newcomer_does_not_make_the_others_weakly_identified():
    ranked = bradley_terry(beside_veterans(5, 0.5), rng=rng())
    assert not any("weakly identified" in text for text in notice_texts(ranked.warnings))
    assert ranked.diagnostics["design_efficiency"] == pytest.approx(1)
    assert ranked.diagnostics["uneven_opponents"]


@pytest.mark.slow
@pytest.mark.parametrize("battles", [5, 13, 19])
def test_newcomer_with_only_wins_has_a_one_sided_interval(battles):
    entries = {
        entry.model: entry
        for entry in bradley_terry(beside_veterans(battles, 1.0), rng=rng()).entries
    }
    assert entries["new"].separated
    assert entries["new"].low > min(entry.score for name, entry in entries.items() if name != "new")
    assert entries["new"].high in (None, np.inf)


@pytest.mark.parametrize(
    ("shape", "efficiency"), [("complete", 1.0), ("star", 0.5), ("chain", None)]
)
def test_design_efficiency_has_its_closed_forms(shape, efficiency):
    """Round robin 1; star of n: 1/2 * n / (n - 1) * (n-1)^2 / ((n-2) + 1/n) / n; chain: 3 / (n +
    1)."""
    n = 9
    edges = {
        "complete": np.triu_indices(n, 1),
        "star": (np.zeros(n - 1, dtype=int), np.arange(1, n)),
        "chain": (np.arange(n - 1), np.arange(1, n)),
    }[shape]
    weight = np.ones(len(edges[0]))
    expected = {
        "complete": 1.0,
        "star": (n - 1) ** 2 / ((n - 2) + 1 / n) / (2 * (n - 1)),
        "chain": 3 / (n + 1),
    }[shape]
    found = design_efficiency(Pairs(*edges, weight / 2, weight, n))
    assert found == pytest.approx(expected, rel=1e-9)
    assert efficiency is None or found == pytest.approx(efficiency, abs=0.08)


@pytest.mark.slow
def test_a_win_never_lowers_the_winners_rating():
    frame = simulate(5, 12, seed=8).judgments()
    before = elo(read_battles(frame, merge=False))
    for name in before:
        rival = next(other for other in before if other != name)
        win = pd.DataFrame(
            {
                "item": ["new"],
                "model_a": [name],
                "model_b": [rival],
                "credit": [1.0],
                "order": ["ab"],
            }
        )
        assert elo(read_battles(pd.concat([frame, win]), merge=False))[name] > before[name]


def tables():
    """Small random tables of 4 models, connected by a round robin of ties."""
    row = st.tuples(
        st.integers(0, 5),
        st.sampled_from([(a, b) for a in range(4) for b in range(4) if a != b]),
        st.integers(0, 4),
    )
    return st.lists(row, min_size=1, max_size=30)


def frame_of(rows, names="wxyz"):
    ties = [(6 + k, pair, 2) for k, pair in enumerate([(0, 1), (1, 2), (2, 3), (0, 3)])]
    return pd.DataFrame(
        [(f"i{item}", names[a], names[b], level / 4) for item, (a, b), level in [*rows, *ties]],
        columns=["item", "model_a", "model_b", "credit"],
    )


def answers(frame, rankers=("bradley-terry", "win-rate", "informativeness")):
    """All numbers of a ranking, by ranker and model."""
    table = rank(read_battles(frame), list(rankers)).to_frame()
    return (
        table.set_index(["ranker", "model"])
        .sort_index()
        .drop(columns=["slice", "scale", "interval", "separated"])
        .astype(float)
    )


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(tables())
@example([(0, (0, 2), 0), (0, (0, 2), 0), (0, (0, 2), 4), (1, (0, 2), 4)])
def test_renaming_models_changes_nothing(rows):
    renamed = answers(frame_of(rows, names=("zz", "aa", "mm", "bb")))
    back = renamed.rename(
        index={"zz": "w", "aa": "x", "mm": "y", "bb": "z"}, level="model"
    ).sort_index()
    pd.testing.assert_frame_equal(answers(frame_of(rows)), back, rtol=0, atol=1e-9)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(tables(), st.integers(0, 100))
def test_shuffling_rows_changes_nothing(rows, seed):
    frame = frame_of(rows)
    shuffled = frame.sample(frac=1, random_state=seed)
    pd.testing.assert_frame_equal(answers(frame), answers(shuffled), rtol=0, atol=1e-9)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(tables(), st.integers(0, 2**30))
def test_swapping_a_with_b_changes_nothing(rows, which):
    frame = frame_of(rows)
    turn = np.array([(which >> k % 30) & 1 == 1 for k in range(len(frame))])
    swapped = frame.copy()
    swapped.loc[turn, ["model_a", "model_b"]] = frame.loc[turn, ["model_b", "model_a"]].to_numpy()
    swapped.loc[turn, "credit"] = 1 - frame.loc[turn, "credit"]
    pd.testing.assert_frame_equal(answers(frame), answers(swapped), rtol=0, atol=1e-9)


@pytest.mark.slow
def test_bootstrap_intervals_do_not_depend_on_the_order_of_rows():
    frame = simulate(4, 20, seed=2).judgments()
    options = {"interval": "bootstrap", "resamples": 50}
    first = rank(read_battles(frame), "bradley-terry", **options).to_frame()
    second = rank(
        read_battles(frame.sample(frac=1, random_state=1)), "bradley-terry", **options
    ).to_frame()
    pd.testing.assert_frame_equal(first, second, rtol=0, atol=1e-9)


@pytest.mark.slow
def test_hard_labels_round_soft_credits():
    battles = worldly_battles(6, judge=Judge(verdicts="soft"))
    hard = battles.table.assign(credit=(np.sign(battles.table["credit"] - 0.5) + 1) / 2)
    flip = (battles.table["swap"] == "flip").to_numpy()
    hard.loc[flip, "credit"] = 0.5
    same = read_battles(hard.assign(order=None), merge=False)
    assert elo(battles, labels="hard") == pytest.approx(elo(same), abs=1e-9)


@pytest.mark.slow
def test_pinning_shifts_scores_and_gives_the_errors_of_contrasts():
    battles = worldly_battles(7)
    plain = bradley_terry(battles, rng=rng())
    pinned = bradley_terry(battles, rng=rng(), pin="model-02:1000")
    assert next(e.score for e in pinned.entries if e.model == "model-02") == pytest.approx(1000)
    shifts = [p.score - q.score for p, q in zip(pinned.entries, plain.entries, strict=True)]
    assert shifts == pytest.approx([shifts[0]] * 6)
    coded = code_battles(battles)
    covariance, p = POINTS**2 * fit_battles(coded).covariance(coded), coded.models.index("model-02")
    by_hand = np.sqrt(np.diag(covariance) + covariance[p, p] - 2 * covariance[p])
    assert {e.model: e.se for e in pinned.entries} == pytest.approx(
        dict(zip(coded.models, by_hand, strict=True))
    )


@pytest.mark.slow
def test_a_pinned_model_has_no_error_and_keeps_its_ranks():
    battles = worldly_battles(7)
    plain, pinned = (
        {e.model: e for e in bradley_terry(battles, rng=rng(), **options).entries}
        for options in ({}, {"pin": "model-02:1000"})
    )
    own, free = pinned["model-02"], plain["model-02"]
    assert (own.low, own.se, own.high) == (1000, 0, 1000)
    assert (own.rank_low, own.rank_high) == (free.rank_low, free.rank_high)


@pytest.mark.slow
@pytest.mark.parametrize(
    "pin", ["model-02", "model-02:", "model-02:high", ":1000", "nobody:1000", "model-02:nan"]
)
def test_a_malformed_pin_is_rejected(pin):
    with pytest.raises(UsageError, match=r"pin=|no model called"):
        bradley_terry(worldly_battles(), rng=rng(), pin=pin)


@pytest.mark.slow
def test_scores_average_1500():
    assert np.mean(list(elo(worldly_battles(3)).values())) == pytest.approx(MEAN)


@pytest.mark.slow
def test_the_centre_is_the_mean_of_the_models_named():
    scores = elo(worldly_battles(3), centre=("model-01", "model-04"))
    assert (scores["model-01"] + scores["model-04"]) / 2 == pytest.approx(MEAN)


def test_disconnected_groups_are_named_with_the_battle_that_joins_them():
    rows = [
        ("i1", "a", "b", 1),
        ("i2", "b", "a", 1),
        ("i1", "c", "d", 1),
        ("i2", "d", "c", 1),
        ("i3", "d", "c", 0),
    ]
    battles = read_battles(pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"]))
    with pytest.raises(NotIdentifiedError, match=r"2 groups .*a, b \| c, d.*join them: a vs c"):
        bradley_terry(battles, rng=rng())


def one_sided_wins():
    """A circle a > b > c > a, and d, which never lost."""
    rows = [
        (f"i{k}", *pair, 1.0)
        for k in range(4)
        for pair in (("a", "b"), ("b", "c"), ("c", "a"), ("d", "a"))
    ]
    return read_battles(pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"]))


@pytest.mark.slow
def test_an_unbeaten_model_is_marked_and_its_interval_left_open():
    standings = bradley_terry(one_sided_wins(), rng=rng())
    entry = next(e for e in standings.entries if e.model == "d")
    assert (entry.separated, entry.high, entry.se) == (True, None, None)
    assert entry.low < 1500
    assert standings.fit.separated == ("d",)
    assert any("d (never lost)" in text for text in notice_texts(standings.warnings))


def test_without_regularization_an_unbeaten_model_is_rejected():
    with pytest.raises(
        NotIdentifiedError, match=r"no finite maximum-likelihood rating.*d \(never lost\)"
    ):
        bradley_terry(one_sided_wins(), rng=rng(), regularization=0.0)


def test_a_model_that_only_won_within_its_group_is_found_separated():
    """x and y beat each other, and together only ever lost: outside the strongly connected core,
    yet not winless."""
    pairs = [("a", "b"), ("b", "c"), ("c", "a"), ("x", "y"), ("y", "x"), ("a", "x"), ("b", "y")]
    frame = pd.DataFrame(
        [("i", a, b, 1.0) for a, b in pairs], columns=["item", "model_a", "model_b", "credit"]
    )
    coded = code_battles(read_battles(frame))
    graph = comparison_graph(pair_sums(coded))
    assert [name for name, out in zip(coded.models, graph.separated, strict=True) if out] == [
        "x",
        "y",
    ]


@pytest.mark.slow
def test_resamples_that_separate_a_model_are_counted_and_open_its_interval_alone():
    """Only one of 6 items has d losing: resamples without it separate d, (5/6)^6 of them."""
    rows = [
        (f"i{k}", *pair, 1.0)
        for k in range(6)
        for pair in (("a", "b"), ("b", "c"), ("c", "a"), ("d", "a"))
    ]
    rows.append(("i0", "d", "a", 0.0))
    battles = read_battles(pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"]))
    standings = bradley_terry(battles, rng=rng(), interval="bootstrap", resamples=400)
    reported = next(
        text for text in notice_texts(standings.warnings) if "resamples do not bound" in text
    )
    counted = int(reported.partition("d (")[2].partition(" of")[0])
    assert counted / 400 == pytest.approx((5 / 6) ** 6, abs=0.08)
    by_name = {entry.model: entry for entry in standings.entries}
    assert (by_name["d"].high, by_name["d"].low is None) == (None, False)
    assert all(None not in (by_name[name].low, by_name[name].high) for name in "abc")


def test_averaging_separated_resamples_in_would_widen_the_interval():
    """The wrong variant: without the check, the regularised huge ratings of separated resamples
    enter."""
    rows = [
        (f"i{k}", *pair, 1.0)
        for k in range(6)
        for pair in (("a", "b"), ("b", "c"), ("c", "a"), ("d", "a"))
    ]
    rows.append(("i0", "d", "a", 0.0))
    battles = read_battles(pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"]))
    coded, pairs, _ = squares_of(battles)
    cells = cells_by_cluster(coded, pairs)
    counts = np.random.default_rng(0).multinomial(6, [1 / 6] * 6, 500).astype(float)
    theta = maximize_samples(
        pair_likelihood(pairs, 1e-6, *cells.resampled_sums(counts)), np.zeros(4)
    )
    assert POINTS * (theta.max() - theta.min()) > 2000


def _ranked_ties(items):
    rows = [(f"i{k}", a, b, 0.5) for k in range(items) for a, b in (("a", "b"), ("b", "c"))]
    battles = read_battles(pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"]))
    return bradley_terry(battles, rng=rng())


@pytest.mark.slow
def test_a_few_ties_give_equal_ratings_without_an_interval():
    standings = _ranked_ties(3)
    assert [(e.rank, e.score, e.se, e.low) for e in standings.entries] == [
        (1, pytest.approx(1500), None, None)
    ] * 3
    assert any("no variation between items" in text for text in notice_texts(standings.warnings))


@pytest.mark.slow
def test_many_ties_give_equal_ratings_with_the_intervals_of_tests_of_pairs():
    standings = _ranked_ties(30)
    entry = standings.entries[0]
    assert (entry.rank, entry.score, entry.se) == (1, pytest.approx(1500), None)
    # Win rates of up to .558 and down to .442 are compatible with 30 ties (score interval, Tango).
    assert entry.low < 1500 - 39 / 2
    assert entry.high > 1500 + 39 / 2
    assert "pair tests" in standings.interval


@pytest.mark.slow
def test_a_single_item_gives_no_interval():
    rows = [("i", a, b, 0.5) for a, b in (("a", "b"), ("b", "c"))] + [("i", "a", "b", 1.0)]
    standings = bradley_terry(
        read_battles(pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"])),
        rng=rng(),
    )
    assert standings.interval is None
    assert any("single item gives no interval" in text for text in notice_texts(standings.warnings))


@pytest.mark.slow
def test_ratings_recover_the_simulators_strengths():
    """With no item effects the estimand is the strengths, and many items find them."""
    world = simulate(5, 20_000, seed=1, item_sd=0.0)
    coded = code_battles(world.battles())
    assert fit_strengths(pair_sums(coded), 0.0).theta == pytest.approx(world.strengths, abs=0.05)


@pytest.mark.slow
def test_newton_reports_a_vanishing_gradient():
    assert bradley_terry(worldly_battles(), rng=rng(), regularization=0.0).fit.gradient < 1e-12


def test_expected_credit_logits_are_strength_gaps_in_a_world_without_item_effects():
    world = simulate(4, 3, seed=5, item_sd=0.0)
    assert logit(world.expected_credits()[0, 1]) == pytest.approx(
        world.strengths[0] - world.strengths[1]
    )


def core_and_unbeaten(seed, items=60):
    """Five models, of which the last hardly ever loses."""
    return simulate(5, items, seed=seed, strengths=(-1.0, -0.4, 0.2, 1.2, 9.0), item_sd=1.0)


@pytest.mark.slow
def test_an_unbeaten_model_does_not_move_the_others_scale():
    """With it in the origin, changing lambda from 0.01 to 1e-4 moved the others by 180 Elo."""
    battles = next(
        b for b in (core_and_unbeaten(k).battles() for k in range(20)) if rated_separated(b)
    )
    strong, weak = elo(battles, regularization=0.01), elo(battles, regularization=1e-4)
    assert strong["model-01"] == pytest.approx(weak["model-01"], abs=1)


def rated_separated(battles):
    return bradley_terry(battles, rng=rng()).fit.separated == ("model-05",)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_nearly_singular_covariance_still_gives_rank_sets(seed):
    standings = bradley_terry(core_and_unbeaten(seed).battles(), rng=rng(), regularization=1e-3)
    assert all(
        1 <= e.rank_low <= e.rank <= e.rank_high <= 5 for e in standings.entries if e.rank_low
    )


def test_a_vanishing_regularization_is_an_error_of_ours_or_a_fit():
    with pytest.raises(NotConvergedError, match="raise the regularization"):
        bradley_terry(one_sided_wins(), rng=rng(), regularization=1e-300)


@pytest.mark.slow
@pytest.mark.parametrize("value", [-1.0, float("inf"), float("nan")])
def test_an_impossible_regularization_is_rejected(value):
    with pytest.raises(UsageError, match="not a finite number of 0 or more"):
        bradley_terry(worldly_battles(), rng=rng(), regularization=value)


@pytest.mark.slow
def test_a_pin_changes_no_rank_set_and_has_no_error_under_the_bootstrap():
    options = {"interval": "bootstrap", "resamples": 60}
    battles = worldly_battles(7)
    plain = bradley_terry(battles, rng=rng(), **options)
    pinned = bradley_terry(battles, rng=rng(), pin="model-02:1000", **options)
    facts = [(e.model, e.rank_low, e.rank_high, e.battles) for e in plain.entries]
    assert [(e.model, e.rank_low, e.rank_high, e.battles) for e in pinned.entries] == facts
    assert next((e.low, e.se, e.high) for e in pinned.entries if e.model == "model-02") == (
        1000,
        0,
        1000,
    )


@pytest.mark.slow
def test_a_single_common_model_keeps_its_standard_error():
    standings = bradley_terry(worldly_battles(3), rng=rng(), centre=("model-01",))
    assert all(entry.se > 0 for entry in standings.entries)


def test_rows_without_items_are_called_rows_not_items():
    frame = simulate(3, 40, seed=1).judgments().drop(columns=["item"])
    assert bradley_terry(read_battles(frame), rng=rng()).interval == "row-clustered sandwich"


def duel_with_guest(*guests):
    """Two models on forty items, and further battles."""
    rows = [(f"i{k}", "a", "b", float(k % 2)) for k in range(40)] + list(guests)
    return read_battles(pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"]))


def rated(battles, **options):
    return {entry.model: entry for entry in bradley_terry(battles, rng=rng(), **options).entries}


@pytest.mark.slow
def test_two_battles_of_a_newcomer_leave_the_others_intervals():
    before, after = (
        rated(duel_with_guest()),
        rated(duel_with_guest(("i0", "d", "a", 1.0), ("i1", "d", "a", 0.0))),
    )
    errors = [found["b"].se for found in (before, after)]
    assert errors[1] < 1.15 * errors[0]
    assert after["d"].high - after["d"].low > 4 * (after["b"].high - after["b"].low)


def test_models_with_little_weight_in_the_origin_are_reported():
    standings = bradley_terry(
        duel_with_guest(("i0", "d", "a", 1.0), ("i1", "d", "a", 0.0)), rng=rng()
    )
    assert standings.diagnostics["origin"] == {
        "well_known": 2,
        "weights": {"d": pytest.approx(4 / 40)},
    }


@pytest.mark.slow
def test_an_unbeaten_newcomer_has_a_lower_end_only():
    battles = duel_with_guest(*[(f"i{k}", "d", "a", 1.0) for k in range(5)])
    newcomer = rated(battles)["d"]
    assert newcomer.low is not None
    assert newcomer.high is None


def test_score_test_with_one_exact_opponent_gives_the_wilson_interval():
    """Oracle: statsmodels, 3 wins of 5; the opponent's strength is 0.3 logits."""
    battles = FewBattles(
        1,
        np.array([0]),
        np.arange(5),
        np.zeros(5, int),
        np.ones(5),
        3.0,
        np.array([0.3]),
        (1.0, 0.0),
    )
    expected = proportion_confint(3, 5, method="wilson")
    assert expit(
        np.array(battles.score_interval(np.zeros((1, 1)), norm.ppf(0.975))) - 0.3
    ) == pytest.approx(expected)


def test_errors_beside_a_newcomer_are_the_same_from_a_database_and_from_rows():
    guests = [(f"i{k}", "d", "ab"[k % 2], float(k % 3 == 0)) for k in range(9)]
    battles = duel_with_guest(*guests, ("i0", "d", "b", 0.5))
    estimates = []
    for coded in (prepare_battles(battles), code_battles(battles)):
        strengths = fit_strengths(pair_sums_with_items(coded))
        scale = elo_scale(
            coded.models, np.ones(3, dtype=bool), coded.clusters_by_model(), None, None
        )
        estimates.append(estimate_elo(strengths, coded, scale, 0.95))
    for name in ("low", "high", "covariance"):
        assert getattr(estimates[0], name) == pytest.approx(getattr(estimates[1], name), rel=1e-9)


@pytest.mark.slow
def test_a_model_of_few_items_is_warned_of_where_the_interval_is_a_bootstraps():
    """A model that has no interval is not said to have one that is too narrow."""
    for items, is_named in ((10, True), (2, False)):
        battles = duel_with_guest(*((f"i{k}", "d", "a", float(k % 2)) for k in range(items)))
        found = bradley_terry(battles, rng=rng(), interval="bootstrap", resamples=50)
        entries = {entry.model: entry for entry in found.entries}
        assert (entries["d"].low is not None) is is_named
        named = any(
            "in fewer than 30 items" in text and f"d ({items})" in text
            for text in notice_texts(found.warnings)
        )
        assert named is is_named


def test_sparse_pair_sums_equal_dense_ones_with_weights():
    random = np.random.default_rng(0)
    a = random.integers(0, 6, 500)
    b = (a + random.integers(1, 6, 500)) % 6
    coded = CodedBattles(
        a,
        b,
        random.random(500),
        random.uniform(0.5, 3, 500),
        np.arange(500),
        500,
        "row",
        tuple("abcdef"),
    )
    sparse, dense = _sparse_pair_sums(coded), pair_sums(coded)
    assert sparse.credit == pytest.approx(dense.credit)
    assert sparse.weight == pytest.approx(dense.weight)


@pytest.mark.slow
def test_conjugate_gradients_reach_the_same_maximum(monkeypatch):
    monkeypatch.setattr("podium.rankers.fit.newton.MOST_CHOLESKY", 1)
    _, pairs, _ = squares_of(worldly_battles(2))
    assert fit_strengths(pairs, 0.0).theta == pytest.approx(np.array(choix_of(pairs)), abs=1e-9)


def choix_of(pairs):
    wins = np.zeros((pairs.models,) * 2)
    wins[pairs.first, pairs.second] = pairs.credit
    wins[pairs.second, pairs.first] = pairs.weight - pairs.credit
    theta = choix.ilsr_pairwise_dense(wins, tol=1e-13)
    return theta - theta.mean()
