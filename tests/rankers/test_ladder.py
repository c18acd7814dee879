"""Placement on a ladder: the fit against a general optimiser, the check against known worlds, and
what is printed."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from podium import UsageError, rank, read_battles
from podium.data.ladder import Ladder
from podium.notices.notice_text import notice_texts
from podium.rankers.bradley_terry import estimate_elo
from podium.rankers.fit.coded import CodedBattles
from podium.rankers.fit.pairs import pair_sums
from podium.rankers.fit.strengths import build_prior, fit_strengths
from podium.rankers.ladder_placement import check_ladder, compare_scales, place_newcomers

POINTS = 400 / np.log(10)
RATED = ("a", "b", "c", "d", "e", "f")
TRUTH = {
    "a": -150.0,
    "b": -90.0,
    "c": -30.0,
    "d": 30.0,
    "e": 90.0,
    "f": 150.0,
    "new": 20.0,
    "odd": -40.0,
}


def coded_battles(seed, items=80, truth=TRUTH, newcomers=("new", "odd")):
    """Draw two battles of each newcomer with random others on each item."""
    rng, names = np.random.default_rng(seed), tuple(sorted(truth))
    elo = np.array([truth[name] for name in names])
    item = np.repeat(np.arange(items), 2 * len(newcomers))
    own = np.tile(np.repeat([names.index(name) for name in newcomers], 2), items)
    other = rng.integers(0, len(names) - 1, len(item))
    other += other >= own
    credit = (rng.random(len(item)) < expit((elo[own] - elo[other]) / POINTS)).astype(float)
    return CodedBattles(own, other, credit, np.ones(len(item)), item, items, "item", names)


def battles_of(*options, **more):
    """Return the same as a table that was read."""
    return read_battles(frame_of(*options, **more))


def frame_of(*options, **more):
    """Return the same as a frame."""
    coded = coded_battles(*options, **more)
    names = np.array(coded.models)
    columns = {
        "item": coded.cluster,
        "model_a": names[coded.a],
        "model_b": names[coded.b],
        "credit": coded.credit,
    }
    return pd.DataFrame(columns).astype({"item": str})


def given(error=20.0, shift=0.0, scale=1.0, **changed):
    """Return true ratings with an error, some of them changed."""
    return {
        name: (1500 + scale * TRUTH[name] + shift + changed.get(name, 0.0), error) for name in RATED
    }


def entries_of(battles, **options):
    [standings] = rank(battles, answers=False, **options).standings
    return {entry.model: entry for entry in standings.entries}, standings


def test_the_fit_is_the_maximum_of_likelihood_times_prior_with_any_covariance():
    coded = coded_battles(1)
    rng = np.random.default_rng(2)
    root = rng.normal(0, 20, (6, 6))
    covariance = root @ root.T + 25 * np.eye(6)
    elo = np.array([1500 + TRUTH[name] for name in RATED]) + rng.normal(0, 40, 6)
    ladder = Ladder(
        RATED, tuple(elo), tuple(np.sqrt(np.diag(covariance))), tuple(map(tuple, covariance))
    )
    prior = build_prior(ladder, coded.models)
    fit = fit_strengths(pair_sums(coded), prior=prior)
    precision, place = (
        np.linalg.inv(covariance / POINTS**2),
        [coded.models.index(name) for name in RATED],
    )
    new = [coded.models.index(name) for name in ("new", "odd")]

    def loss(theta):
        gap, off = theta[coded.a] - theta[coded.b], theta[place] - (elo - elo.mean()) / POINTS
        log_likelihood = np.sum(coded.credit * gap - np.logaddexp(0, gap))
        return off @ precision @ off / 2 + 0.005 * np.sum(theta[new] ** 2) - log_likelihood

    theirs = minimize(loss, np.zeros(8), tol=1e-12).x
    assert fit.theta == pytest.approx(theirs, abs=1e-4)
    # The prior's precision is part of the bread and of the meat.
    expected = expit(fit.theta[coded.a] - fit.theta[coded.b])
    bread = np.zeros((8, 8))
    bread[np.ix_(place, place)] = precision
    bread[new, new] = 0.01
    for a, b, p in zip(coded.a, coded.b, expected, strict=True):
        bread[[a, b, a, b], [a, b, b, a]] += p * (1 - p) * np.array([1, 1, -1, -1])
    scores = np.zeros((coded.clusters, 8))
    np.add.at(scores, (coded.cluster, coded.a), coded.credit - expected)
    np.add.at(scores, (coded.cluster, coded.b), expected - coded.credit)
    meat = np.cov(scores.T) * coded.clusters
    meat[np.ix_(place, place)] += precision
    assert fit.covariance(coded) == pytest.approx(
        np.linalg.inv(bread) @ meat @ np.linalg.inv(bread), rel=1e-6
    )


@pytest.mark.slow
def test_given_ratings_change_the_table_and_newcomers_are_on_their_scale():
    """They once steered the opponents, and the table ignored them."""
    battles = battles_of(3)
    plain, _ = entries_of(battles, ratings=given())
    raised, _ = entries_of(battles, ratings=given(shift=400))
    two, _ = entries_of(battles, ratings=given(a=76.0, b=76.0))
    assert raised["new"].score - plain["new"].score == pytest.approx(400, abs=1e-6)
    assert raised["new"].low - plain["new"].low == pytest.approx(400, abs=1e-6)
    assert two["new"].score > plain["new"].score + 8
    assert abs(plain["new"].score - 1520) < 100
    assert all(plain[name].se < 20 for name in RATED)


@pytest.mark.slow
def test_a_typed_name_that_is_no_model_is_named_and_a_file_may_have_others(tmp_path):
    battles = battles_of(3)
    _, standings = entries_of(battles, ratings={**given(), "newest": (1700.0, 20.0)})
    assert any(
        text.startswith("ratings=: no model called 'newest'; did you mean 'new'")
        for text in notice_texts(standings.warnings)
    )
    path = tmp_path / "ladder.csv"
    path.write_text("model,rating,se\na,1350,20\nnewest,1700,20\n", encoding="utf-8")
    _, standings = entries_of(battles, ratings=str(path))
    assert not any("newest" in text for text in notice_texts(standings.warnings))


def test_ratings_with_an_error_of_0_are_printed_as_they_were_given():
    entries, _ = entries_of(battles_of(3), ratings=given(error=0))
    for name in RATED:
        assert entries[name].score == pytest.approx(1500 + TRUTH[name], abs=0.01)
        assert entries[name].high - entries[name].low < 0.02


def test_ratings_without_an_error_have_one_of_30_and_a_warning():
    battles = battles_of(3)
    bare = {name: elo for name, (elo, _) in given().items()}
    assumed, standings = entries_of(battles, ratings=bare)
    told, _ = entries_of(battles, ratings=given(error=30))
    assert {name: entry.score for name, entry in assumed.items()} == {
        n: entry.score for n, entry in told.items()
    }
    assert any(
        "30 Elo is assumed" in warning and "a, b, c" in warning
        for warning in notice_texts(standings.warnings)
    )


@pytest.mark.slow
def test_intervals_cover_the_gaps_to_rated_models_when_the_ladder_has_errors():
    """Ratings taken as exact cover too rarely; with their error, 95% intervals cover as often as
    they say."""
    covered = {30.0: [], 0.0: []}
    truth = np.array([TRUTH[name] for name in sorted(TRUTH)])
    for seed in range(120):
        coded = coded_battles([4, seed], 60)
        noise = np.random.default_rng([5, seed]).normal(0, 30, 6)
        elo = tuple(1500 + np.array([TRUTH[name] for name in RATED]) + noise)
        for error, kept in covered.items():
            fit = fit_strengths(
                pair_sums(coded), prior=build_prior(Ladder(RATED, elo, (error,) * 6), coded.models)
            )
            covariance = POINTS**2 * fit.covariance(coded)
            new, rated = coded.models.index("new"), np.arange(6)
            variance = (
                covariance[new, new] + np.diag(covariance)[rated] - 2 * covariance[new, rated]
            )
            off = POINTS * (fit.theta[new] - fit.theta[rated]) - (truth[new] - truth[rated])
            kept.append(np.mean(np.abs(off) < 2 * np.sqrt(variance)))
    assert 0.92 < np.mean(covered[30.0]) < 0.98
    assert np.mean(covered[0.0]) < 0.9


@pytest.mark.slow
def test_the_slope_is_not_drawn_towards_0_by_the_errors_of_the_ladder():
    """The naive slope is about 0.9 at errors of 30 and a spread of 75."""
    truth, rng = np.linspace(-100, 100, 6) / POINTS, np.random.default_rng(6)
    ours, naive, covered, noise, error = (
        [],
        [],
        [],
        np.eye(6) * (25 / POINTS) ** 2,
        np.eye(6) * (30 / POINTS) ** 2,
    )
    for _ in range(400):
        free, ladder = truth + rng.normal(0, 25 / POINTS, 6), truth + rng.normal(0, 30 / POINTS, 6)
        check = compare_scales(np.arange(6), free, noise, ladder, error, 10_000)
        ours.append(check.slope)
        covered.append(not check.is_other_scale)
        naive.append(np.polyfit(ladder, free, 1)[0])
    assert np.median(ours) == pytest.approx(1, abs=0.06)
    assert np.median(naive) < 0.92
    assert 0.95 < np.mean(covered) < 0.995


@pytest.mark.slow
def test_both_checks_together_raise_an_alarm_about_seven_in_a_hundred_right_ladders_at_most():
    """Each once had 5%, both together 9%."""
    truth, rng, alarms = np.linspace(-100, 100, 6) / POINTS, np.random.default_rng(13), 0
    noise, error = np.eye(6) * (25 / POINTS) ** 2, np.eye(6) * (15 / POINTS) ** 2
    for _ in range(2_000):
        free, ladder = truth + rng.normal(0, 25 / POINTS, 6), truth + rng.normal(0, 15 / POINTS, 6)
        check = compare_scales(np.arange(6), free, noise, ladder, error, 10_000)
        alarms += check.is_other_scale or bool(check.to_dict("abcdef")["drifted"])
    assert 0.05 < alarms / 2_000 <= 0.07


@pytest.mark.slow
def test_another_scale_is_named_and_nothing_is_claimed_about_newcomers():
    battles = battles_of(7, 400)
    ranking = rank(battles, ratings=given(scale=2.2))
    [standings] = ranking.standings
    ladder = standings.diagnostics["ladder"]
    assert ladder["other_scale"]
    assert ladder["slope_low"] < 1 / 2.2 < ladder["slope_high"] < 1
    entries = {entry.model: entry for entry in standings.entries}
    for name in ("new", "odd"):
        assert (entries[name].low, entries[name].high, entries[name].rank_low) == (None, None, None)
    assert standings.answer[0] == "Nothing is claimed about new and odd."
    assert standings.answer[1].startswith("The ladder is on another scale (slope 0.")
    assert any(
        "the ladder is on another scale" in warning for warning in notice_texts(standings.warnings)
    )


@pytest.mark.slow
def test_another_scale_without_newcomers_is_named_too():
    [standings] = rank(
        battles_of(7, 400), ratings={**given(scale=2.2), "new": (1544, 20), "odd": (1412, 20)}
    ).standings
    assert standings.diagnostics["ladder"]["new"] == []
    assert standings.answer[0] == "Nothing is claimed about the rated models."
    assert standings.answer[1].endswith("nothing is claimed about the rated models.")


@pytest.mark.slow
def test_a_ladder_that_was_not_compared_has_not_passed_its_checks():
    battles = battles_of(3)
    answer = " ".join(rank(battles, ratings={"a": (1350, 20)}).standings[0].answer)
    assert "ladder scale (too few rated models with 20 items)" in answer
    assert "ladder rating (too few rated models with 20 items)" in answer
    assert "too few rated" not in " ".join(rank(battles, ratings=given()).standings[0].answer)


@pytest.mark.slow
def test_no_number_of_items_is_promised_where_the_errors_of_given_ratings_remain():
    battles = battles_of(3)
    assert " more items " in rank(battles).standings[0].answer[-1]
    assert " more items " not in " ".join(rank(battles, ratings=given(30)).standings[0].answer)


@pytest.mark.slow
def test_a_rating_that_is_off_is_named_and_no_other():
    [standings] = rank(battles_of(8, 400), ratings=given(c=140.0)).standings
    ladder = standings.diagnostics["ladder"]
    assert ladder["drifted"] == ["c"]
    assert 80 < ladder["drifts"]["c"]["drift"] < 200
    assert any(
        "The ladder's rating of c is" in warning and "too high" in warning
        for warning in notice_texts(standings.warnings)
    )
    assert "The ladder's rating of c is" in " ".join(standings.answer)


def test_each_of_two_ratings_that_are_off_is_named_in_the_answer():
    [standings] = rank(battles_of(8, 400), ratings=given(b=140.0, e=-140.0)).standings
    assert standings.diagnostics["ladder"]["drifted"] == ["b", "e"]
    answer = " ".join(standings.answer)
    assert "ladder's rating of b is" in answer
    assert "ladder's rating of e is" in answer


def test_a_right_ladder_raises_no_alarm_and_the_smallest_drift_to_be_found_is_printed():
    ranking = rank(battles_of(9, 400), ratings=given())
    [standings] = ranking.standings
    ladder = standings.diagnostics["ladder"]
    assert (ladder["other_scale"], ladder["drifted"]) == (False, [])
    least = [row["detectable"] for row in ladder["drifts"].values()]
    text = str(ranking)
    assert f"off by {min(least):.0f} (" in text
    assert "is found with 80% power" in text
    assert "slope of these battles' own ratings on the given ones: " in text


@pytest.mark.slow
def test_the_smallest_drift_is_found_in_eight_of_ten_worlds():
    found, detectable = 0, []
    for seed in range(100):
        coded = coded_battles([10, seed], 250)
        ratings = given(error=10, d=115.0)
        elo = np.array([elo for elo, _ in ratings.values()]) + np.random.default_rng(seed).normal(
            0, 10, 6
        )
        check = check_ladder(
            coded, build_prior(Ladder(RATED, tuple(elo), (10.0,) * 6), coded.models)
        )
        detectable.append(check.detectable[3])
        found += check.p[3] <= 0.045
    assert np.mean(detectable) == pytest.approx(115, rel=0.1)
    assert 68 <= found <= 92


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    ("name", "elo", "side"), [("new", 700.0, "above"), ("odd", -700.0, "below")]
)
def test_a_newcomer_beyond_the_ladder_has_a_bound_on_one_side(name, elo, side):
    entries, standings = entries_of(battles_of(11, truth={**TRUTH, name: elo}), ratings=given())
    entry = entries[name]
    assert standings.diagnostics["ladder"]["beyond"] == {name: side}
    end, missing = (entry.low, entry.high) if side == "above" else (entry.high, entry.low)
    assert missing is None
    assert abs(end - 1500) > 150
    assert (end < 1500 + elo) if side == "above" else (end > 1500 + elo)


@pytest.mark.slow
@pytest.mark.parametrize(("elo", "side"), [(700.0, "above"), (-700.0, "below")])
def test_a_newcomer_that_only_met_newcomers_beyond_the_ladder_is_beyond_it_too(elo, side):
    met_rated = frame_of(11, truth={**TRUTH, "new": elo})
    met_newcomer = pd.DataFrame({"item": [str(k) for k in range(40)]}).assign(
        model_a="new", model_b="far", credit=[0.0, 1.0] * 20
    )
    battles = read_battles(pd.concat([met_rated, met_newcomer], ignore_index=True))
    entries, standings = entries_of(battles, ratings=given())
    assert standings.diagnostics["ladder"]["beyond"] == {"new": side, "far": side}
    assert (entries["far"].high if side == "above" else entries["far"].low) is None


@pytest.mark.slow
def test_the_one_sided_bound_holds_in_95_of_100_worlds():
    held, ladder = 0, Ladder(RATED, tuple(1500 + TRUTH[name] for name in RATED), (5.0,) * 6)
    for seed in range(200):
        coded = coded_battles([12, seed], 40, truth={**TRUTH, "new": 650.0})
        prior = build_prior(ladder, coded.models)
        fit = fit_strengths(pair_sums(coded), prior=prior)
        estimate, _ = place_newcomers(
            fit, prior, coded, estimate_elo(fit, coded, prior.scale, 0.95)
        )
        held += estimate.low[coded.models.index("new")] < 1500 + 650
    assert held >= 185


@pytest.mark.parametrize("options", [{"interval": "bootstrap"}, {"pin": "a:1000"}])
def test_options_that_set_another_scale_are_refused_beside_ratings(options):
    with pytest.raises(UsageError, match="cannot be combined with"):
        rank(battles_of(3), ratings=given(), **options)


def test_a_ladder_without_any_of_the_models_is_refused():
    with pytest.raises(UsageError, match="none of the rated models has a battle"):
        rank(battles_of(3), ratings={"other": (1500, 20)})
