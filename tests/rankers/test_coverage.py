"""Every kind of interval has its stated coverage, and a wrong variant of each does not.

Truth is what a fit to the simulator's exact expected credits gives; 200 worlds of 7 models each, so
that an honest 95% interval covers between 92% and 98%.
"""

from functools import cache

import numpy as np
import pytest
from coverage import WORLDS, coverage, covered, elo_truth, played, win_rate_truth, worlds
from merged_worlds import battles_of, scored_battles
from scipy.stats import norm, t

from podium import Judge
from podium.planning.simulation import simulate
from podium.rankers.bradley_terry import bradley_terry
from podium.rankers.errors.intervals import bootstrap_estimate, resample, sandwich_estimate
from podium.rankers.errors.rank_sets import compare_all_pairs
from podium.rankers.fit.coded import code_battles
from podium.rankers.fit.identification import fit_battles
from podium.rankers.informativeness import count_differences, informativeness
from podium.rankers.pointwise import mean, median, score_matrix
from podium.rankers.win_rate import win_rate

pytestmark = pytest.mark.slow

NOMINAL = pytest.approx(0.95, abs=0.03)


def test_item_clustered_elo_intervals_cover():
    assert coverage(lambda battles, rng: bradley_terry(battles, rng=rng), items=100) == NOMINAL


def test_row_level_elo_intervals_do_not_cover():
    assert (
        coverage(lambda battles, rng: bradley_terry(battles, rng=rng, cluster="row"), items=100)
        < 0.88
    )


def test_elo_intervals_cover_under_a_biased_and_inflated_judge():
    judge = Judge(scale=1.8, position_bias=0.8, length_bias=0.5, tie=0.3, unparsed=0.05)
    found = coverage(
        lambda battles, rng: bradley_terry(battles, rng=rng, regularization=0.0),
        items=100,
        truth=lambda world: elo_truth(world, judge),
        judge=judge,
    )
    assert found == NOMINAL


def test_true_strengths_are_not_what_an_interval_covers():
    def strengths(world):
        return dict(zip(world.models, 1500 + 400 / np.log(10) * world.strengths, strict=True))

    assert (
        coverage(
            lambda battles, rng: bradley_terry(battles, rng=rng),
            items=300,
            truth=strengths,
            number=40,
        )
        < 0.6
    )


@cache
def five_items():
    """Errors and standard errors of Elo from 5 items, in 300 worlds."""
    errors = []
    for seed, (world, battles) in enumerate(played(5, 300)):
        truth = elo_truth(world)
        for entry in bradley_terry(battles, rng=np.random.default_rng(seed)).entries:
            if entry.se is not None:
                errors.append((abs(entry.score - truth[entry.model]), entry.se))
    return np.array(errors).T


def few_items(reach):
    """Coverage with 5 items of an interval of score +- reach * se."""
    error, se = five_items()
    return np.mean(error <= reach * se)


def test_t_intervals_hold_with_five_items():
    assert few_items(t.ppf(0.975, 4)) >= 0.94


def test_z_intervals_do_not_hold_with_five_items():
    assert few_items(norm.ppf(0.975)) < 0.92


def test_without_the_small_sample_factor_five_items_cover_less():
    assert few_items(norm.ppf(0.975) * np.sqrt(4 / 5)) < 0.89


def test_item_bootstrap_intervals_cover():
    found = coverage(
        lambda battles, rng: bradley_terry(battles, rng=rng, interval="bootstrap", resamples=300),
        items=100,
    )
    assert found == NOMINAL


def test_row_bootstrap_intervals_do_not_cover():
    found = coverage(
        lambda battles, rng: bradley_terry(
            battles, rng=rng, interval="bootstrap", resamples=300, cluster="row"
        ),
        items=100,
    )
    assert found < 0.88


@pytest.mark.parametrize("level", [0.5, 0.99])
def test_elo_intervals_cover_at_other_levels(level):
    found = coverage(lambda battles, rng: bradley_terry(battles, rng=rng, level=level), items=100)
    assert found == pytest.approx(level, abs=0.04)


def test_win_rate_intervals_cover():
    assert coverage(lambda b, rng: win_rate(b, rng=rng), items=100, truth=win_rate_truth) == NOMINAL


def test_row_level_win_rate_intervals_do_not_cover():
    assert (
        coverage(
            lambda b, rng: win_rate(b, rng=rng, cluster="row"), items=100, truth=win_rate_truth
        )
        < 0.88
    )


def test_win_rate_bootstrap_intervals_cover():
    found = coverage(
        lambda b, rng: win_rate(b, rng=rng, interval="bootstrap", resamples=200),
        items=100,
        truth=win_rate_truth,
    )
    assert found == NOMINAL


def anchors_own_interval(cluster):
    """Coverage of the anchor's own win rate, 1 - mean of the others'."""
    hits = []
    for seed, (world, battles) in enumerate(played(100)):
        anchor = world.models[3]
        truth = win_rate_truth(world)[anchor]
        standings = win_rate(
            battles, rng=np.random.default_rng(seed), anchor=anchor, cluster=cluster
        )
        own = next(entry for entry in standings.entries if entry.model == anchor)
        hits.append(own.low <= truth <= own.high)
    return np.mean(hits)


def test_the_anchors_own_interval_covers():
    assert anchors_own_interval("item") == pytest.approx(0.95, abs=0.05)


def test_the_anchors_own_row_level_interval_does_not_cover():
    assert anchors_own_interval("row") < 0.85


def test_an_unbeaten_win_rate_is_bounded_by_the_exact_binomial_limit():
    """Closed form: with all n items won, the 95% lower limit is 0.025^(1/n) (Clopper-Pearson)."""
    world = simulate(2, 12, seed=0, strengths=(40.0, -40.0), item_sd=0.0)
    best = win_rate(world.battles(), rng=np.random.default_rng(0)).entries[0]
    assert (best.score, best.low, best.high) == (1.0, pytest.approx(0.025 ** (1 / 12)), 1.0)


@cache
def pointwise_worlds(items=80):
    """Return the worlds with battles made of scores, the quality of each response; made once per
    test process."""
    return [(world, scored_battles(world)) for world in worlds(items)]


def truth_of_scores(world):
    return dict(zip(world.models, world.strengths, strict=True))


def test_mean_score_intervals_cover():
    hits = [
        hit
        for world, battles in pointwise_worlds()
        for hit in covered(mean(battles, rng=np.random.default_rng(0)), truth_of_scores(world))
    ]
    assert np.mean(hits) == NOMINAL


def test_mean_score_bootstrap_intervals_cover():
    hits = [
        hit
        for seed, (world, battles) in enumerate(pointwise_worlds())
        for hit in covered(
            mean(battles, rng=np.random.default_rng(seed), interval="bootstrap", resamples=300),
            truth_of_scores(world),
        )
    ]
    assert np.mean(hits) == NOMINAL


def test_counting_each_score_once_per_battle_makes_mean_intervals_too_narrow():
    """The wrong variant: a score shared by all battles of its item taken for independent copies."""
    hits = []
    for world, battles in pointwise_worlds():
        values = score_matrix(battles).values
        copies = len(world.models) - 1
        reach = norm.ppf(0.975) * values.std(axis=0, ddof=1) / np.sqrt(len(values) * copies)
        hits += list(np.abs(values.mean(axis=0) - world.strengths) <= reach)
    assert np.mean(hits) < 0.7


def test_median_score_intervals_cover():
    hits = [
        hit
        for seed, (world, battles) in enumerate(pointwise_worlds())
        for hit in covered(
            median(battles, rng=np.random.default_rng(seed), resamples=300), truth_of_scores(world)
        )
    ]
    assert np.mean(hits) == NOMINAL


def test_the_standard_error_of_a_mean_is_too_small_for_a_median():
    """The wrong variant: a normal sample's median varies pi / 2 times as much as its mean."""
    hits = []
    for world, battles in pointwise_worlds():
        values = score_matrix(battles).values
        reach = norm.ppf(0.975) * values.std(axis=0, ddof=1) / np.sqrt(len(values))
        hits += list(np.abs(np.median(values, axis=0) - world.strengths) <= reach)
    assert np.mean(hits) < 0.91


@pytest.fixture(scope="module")
def informative_truth():
    """Informativeness on 20,000 items of the same world, by model."""
    world = simulate(
        7, 20_000, seed=10_001, strengths=(-1.5, -0.8, -0.3, 0.0, 0.4, 0.9, 1.3), item_sd=1.5
    )
    coded = code_battles(battles_of(world))
    reported = count_differences(coded, 2 * coded.credit - 1)
    return dict(
        zip(world.models, reported.differing.sum(0) / reported.compared.sum(0), strict=True)
    )


def test_informativeness_intervals_cover(informative_truth):
    hits = [
        hit
        for seed, (world, battles) in enumerate(played(60))
        for hit in covered(
            informativeness(battles, rng=np.random.default_rng(seed)), informative_truth
        )
    ]
    assert np.mean(hits) == NOMINAL


def test_informativeness_bootstrap_intervals_cover(informative_truth):
    hits = [
        hit
        for seed, (world, battles) in enumerate(played(60))
        for hit in covered(
            informativeness(
                battles, rng=np.random.default_rng(seed), interval="bootstrap", resamples=200
            ),
            informative_truth,
        )
    ]
    assert np.mean(hits) == NOMINAL


def test_taking_pairs_of_one_item_for_independent_makes_informativeness_intervals_too_narrow(
    informative_truth,
):
    hits = []
    for seed, (_, battles) in enumerate(played(60)):
        for entry in informativeness(battles, rng=np.random.default_rng(seed)).entries:
            reach = norm.ppf(0.975) * np.sqrt(
                entry.score * (1 - entry.score) / entry.extra["pairs"]
            )
            hits.append(abs(entry.score - informative_truth[entry.model]) <= reach)
    assert np.mean(hits) < 0.85


def all_rank_sets_hold(critical_from_simulation):
    """Share of simulations of equal models in which no pair is called distinguishable."""
    hold = []
    for seed, (_, battles) in enumerate(played(60, WORLDS, (0.0,) * 7)):
        if critical_from_simulation:
            standings = bradley_terry(battles, rng=np.random.default_rng(seed))
            hold.append(
                all((entry.rank_low, entry.rank_high) == (1, 7) for entry in standings.entries)
            )
        else:
            hold.append(not pointwise_difference_found(battles))
    return np.mean(hold)


def pointwise_difference_found(battles):
    """The wrong variant: each pair tested alone at 5%."""
    names = battles.models
    coded = code_battles(battles)
    rated = fit_battles(coded)
    spread = rated.covariance(coded)
    a, b = np.triu_indices(len(names), 1)
    se = np.sqrt(spread[a, a] + spread[b, b] - 2 * spread[a, b])
    return bool((np.abs(rated.theta[a] - rated.theta[b]) > norm.ppf(0.975) * se).any())


def test_rank_sets_hold_for_all_models_at_once():
    assert all_rank_sets_hold(True) >= 0.91


def test_pairs_tested_one_by_one_call_equals_different():
    assert all_rank_sets_hold(False) < 0.75


def test_rank_sets_separate_clearly_different_models():
    world = simulate(3, 400, seed=1, strengths=(2.0, 0.0, -2.0), item_sd=0.5)
    standings = bradley_terry(world.battles(), rng=np.random.default_rng(0))
    assert [(entry.rank_low, entry.rank_high) for entry in standings.entries] == [
        (1, 1),
        (2, 2),
        (3, 3),
    ]


def test_bonferroni_rank_sets_are_at_least_as_wide_as_simulated_ones(monkeypatch):
    rng = np.random.default_rng(3)
    estimate = sandwich_estimate(
        rng.normal(0, 2, 12), np.diag(rng.uniform(0.2, 1, 12)), 40, level=0.95, cluster="item"
    )
    simulated = compare_all_pairs(estimate, level=0.95, rng=np.random.default_rng(0))
    monkeypatch.setattr("podium.rankers.errors.rank_sets.MOST_SIMULATED", 1)
    bounded = compare_all_pairs(estimate, level=0.95, rng=np.random.default_rng(0))
    assert (bounded.best_rank <= simulated.best_rank).all()
    assert (bounded.worst_rank >= simulated.worst_rank).all()


def with_an_unbeaten_model(centre_on_all):
    """Coverage of the other models' Elo in worlds where one model never lost."""
    hits, separated = [], 0
    for seed in range(150):
        world = simulate(5, 60, seed=seed, strengths=(-1.0, -0.4, 0.2, 1.2, 9.0), item_sd=1.0)
        options = {"centre": world.models} if centre_on_all else {}
        standings = bradley_terry(battles_of(world), rng=np.random.default_rng(seed), **options)
        if not standings.fit.separated:
            continue
        separated += 1
        truth = elo_truth(world)
        core = [name for name in world.models if name not in standings.fit.separated]
        shift = 0 if centre_on_all else 1500 - np.mean([truth[name] for name in core])
        for entry in standings.entries:
            if not entry.separated:
                hits.append(entry.low <= truth[entry.model] + shift <= entry.high)
    assert separated > 80
    return np.mean(hits)


def test_intervals_beside_an_unbeaten_model_cover():
    assert with_an_unbeaten_model(centre_on_all=False) == NOMINAL


def test_an_origin_that_the_data_do_not_bound_costs_coverage():
    assert with_an_unbeaten_model(centre_on_all=True) < 0.9


def bootstrap_of_copies(statistic):
    """Coverage when each score is resampled once per battle that it is part of, as if the copies
    were independent."""
    hits = []
    for seed, (world, battles) in enumerate(pointwise_worlds()):
        copies = np.repeat(score_matrix(battles).values, len(world.models) - 1, axis=0)

        def scores(counts, copies=copies):
            return np.stack(
                [statistic(np.repeat(copies, row.astype(int), axis=0), axis=0) for row in counts]
            )

        draws = resample(scores, len(copies), 100, np.random.default_rng(seed))
        found = bootstrap_estimate(
            statistic(copies, axis=0), draws, len(copies), level=0.95, cluster="row"
        )
        hits += list((found.low <= world.strengths) & (world.strengths <= found.high))
    return np.mean(hits)


def test_a_bootstrap_of_copied_scores_makes_mean_intervals_too_narrow():
    assert bootstrap_of_copies(np.mean) < 0.7


def test_a_bootstrap_of_copied_scores_makes_median_intervals_too_narrow():
    assert bootstrap_of_copies(np.median) < 0.75


def test_a_bootstrap_of_single_pairs_makes_informativeness_intervals_too_narrow(informative_truth):
    """The wrong variant: each (item, pair) is resampled on its own, not with its item."""
    hits = []
    for seed, (_, battles) in enumerate(played(60)):
        coded = code_battles(battles)
        reported = count_differences(coded, 2 * coded.credit - 1)
        apart, compared = reported.differing.sum(axis=0), reported.compared.sum(axis=0)
        draws = (
            np.random.default_rng(seed).binomial(compared.astype(int), apart / compared, (200, 7))
            / compared
        )
        found = bootstrap_estimate(apart / compared, draws, 60, level=0.95, cluster="row")
        truth = np.array([informative_truth[name] for name in coded.models])
        hits += list((found.low <= truth) & (truth <= found.high))
    assert np.mean(hits) < 0.85
