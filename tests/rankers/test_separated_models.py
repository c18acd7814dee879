"""Models that win all or lose all: rank sets by exact and score tests, and one-sided bounds."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit, log_expit
from scipy.stats import binomtest

import podium
from podium.notices.notice_text import notice_texts
from podium.rankers.errors.elo_difference import EloTests
from podium.rankers.fit.coded import code_battles
from podium.rankers.fit.graph import win_paths
from podium.rankers.fit.identification import fit_battles
from podium.rankers.fit.pairs import Pairs, cells_by_cluster
from podium.rankers.fit.scale import EloScale
from podium.rankers.ranking import Entry, Standings

POINTS = 400 / np.log(10)


def verdicts(strength: dict[str, float], items: int, seed: int = 0) -> pd.DataFrame:
    """Draw a round robin on each item; a difference of 9 or more decides every battle."""
    rng, rows = np.random.default_rng(seed), []
    for item in range(items):
        for a, b in combinations(strength, 2):
            gap = strength[a] - strength[b]
            credit = float(gap > 0) if abs(gap) >= 9 else float(rng.random() < expit(gap))
            rows.append((f"i{item:03d}", a, b, credit))
    return pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"])


def duel(won: int, lost: int = 0) -> pd.DataFrame:
    """Return battles of A and B, one an item, of which A wins some and loses the others."""
    rows = [(f"i{k}", "A", "B", float(k < won)) for k in range(won + lost)]
    return pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"])


def ranked(frame: pd.DataFrame, ranker: str = "bradley-terry", **options: object) -> Standings:
    return podium.rank(frame, ranker, **options).standings[0]


def by_name(standings: Standings) -> dict[str, Entry]:
    return {entry.model: entry for entry in standings.entries}


CORE = {"x": 0.0, "y": 0.3, "z": -0.3}
RANKERS = [
    ("bradley-terry", {}),
    ("win-rate", {}),
    ("bradley-terry", {"interval": "bootstrap", "resamples": 100}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("ranker", "options"), RANKERS)
def test_a_model_that_won_all_is_first_and_one_that_lost_all_is_last(ranker, options):
    standings = ranked(verdicts({"top": 20, **CORE, "bottom": -20}, 30), ranker, **options)
    rows = by_name(standings)
    assert (rows["top"].rank_low, rows["top"].rank_high) == (1, 1)
    assert (rows["bottom"].rank_low, rows["bottom"].rank_high) == (5, 5)
    assert standings.answer[0].startswith("top is clearly ahead of all others: ")
    assert "unknown" not in standings.answer[0]


@pytest.mark.slow
@pytest.mark.parametrize(("ranker", "options"), RANKERS)
def test_a_champion_changes_no_rank_set_among_the_others_but_for_its_own_place(ranker, options):
    """Where all tests of the champion decide, the others are compared at the whole error rate."""
    frame = verdicts({"top": 20, **CORE}, 30)
    others = frame[(frame["model_a"] != "top") & (frame["model_b"] != "top")]
    whole, alone = (
        by_name(ranked(frame, ranker, **options)),
        by_name(ranked(others, ranker, **options)),
    )
    for name in CORE:
        assert (whole[name].rank_low, whole[name].rank_high) == (
            alone[name].rank_low + 1,
            alone[name].rank_high + 1,
        )


def test_a_model_with_all_items_right_is_first_by_the_exact_test():
    rng = np.random.default_rng(3)
    columns = {"a100": np.ones(60), "b60": rng.random(60) < 0.6, "c40": rng.random(60) < 0.4}
    frame = pd.DataFrame({name: values.astype(float) for name, values in columns.items()})
    frame = frame.rename_axis("item").reset_index()
    [standings] = podium.rank(podium.read_battles(frame), "mean").standings
    assert standings.answer[0].startswith("a100 is clearly ahead of all others: ")
    rows = by_name(standings)
    assert (rows["a100"].rank_low, rows["a100"].rank_high) == (1, 1)


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("lost", [3, 4, 5, 6, 7, 8])
def test_all_right_is_clearly_ahead_where_the_exact_sign_test_says_so(lost):
    """Oracle: SciPy's binomial test of the items that differ."""
    scores = {"full": np.ones(100), "less": np.arange(100) >= lost}
    frame = pd.DataFrame({name: np.asarray(values, dtype=float) for name, values in scores.items()})
    standings = podium.rank(
        podium.read_battles(frame.rename_axis("item").reset_index()), "mean"
    ).standings[0]
    is_clear = binomtest(lost, lost, 0.5).pvalue <= 0.05
    assert (by_name(standings)["less"].rank_low == 2) == is_clear


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("ranker", ["bradley-terry", "win-rate"])
@pytest.mark.parametrize("won", [2, 3, 4, 5, 6, 7, 12])
def test_two_models_are_separated_where_the_exact_sign_test_says_so(ranker, won):
    """Oracle: SciPy's binomial test, two-sided; 2 of 2 show nothing, 6 of 6 have p = .031."""
    standings = ranked(duel(won), ranker)
    is_clear = binomtest(won, won, 0.5).pvalue <= 0.05
    assert (standings.answer[0].startswith("A is clearly ahead")) == is_clear
    assert by_name(standings)["A"].rank_high == (1 if is_clear else 2)


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize(("won", "lost"), [(3, 1), (4, 1), (5, 1), (6, 1), (5, 2), (7, 0)])
@pytest.mark.parametrize("ranker", ["bradley-terry", "win-rate"])
def test_below_eight_items_nothing_is_clear_without_an_exact_test(ranker, won, lost):
    """Oracle: SciPy's binomial test. A t test of 6 wins and 1 loss has p = .047."""
    standings = ranked(duel(won, lost), ranker)
    assert (by_name(standings)["A"].rank_high == 1) == (
        binomtest(won, won + lost, 0.5).pvalue <= 0.05
    )


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize(
    ("items", "step"), [(3, 1.0), (5, 1.0), (6, 1.0), (10, 1.0), (10, 0.1), (40, 1.0), (40, 0.1)]
)
def test_scores_that_differ_by_the_same_on_every_item_are_separated_where_the_sign_test_says_so(
    items, step
):
    """Their difference has no standard error. Oracle: SciPy's binomial test."""
    scores = {
        "high": np.round(np.arange(items) * step + 9, 1),
        "low": np.round(np.arange(items) * step + 5, 1),
    }
    frame = pd.DataFrame(scores).rename_axis("item").reset_index()
    standings = podium.rank(podium.read_battles(frame), "mean").standings[0]
    is_clear = binomtest(items, items, 0.5).pvalue <= 0.05
    assert standings.answer[0].startswith("high is clearly ahead") == is_clear
    assert by_name(standings)["high"].rank_high == (1 if is_clear else 2)


@pytest.mark.slow
def test_models_with_the_same_scores_are_too_close_to_call_beside_one_that_is_apart():
    scores = {"one": np.arange(30) + 3.5, "same": np.arange(30) + 3.5, "low": np.arange(30) + 1.0}
    frame = pd.DataFrame(scores).rename_axis("item").reset_index()
    rows = by_name(podium.rank(podium.read_battles(frame), "mean").standings[0])
    assert [(rows[name].rank_low, rows[name].rank_high) for name in scores] == [
        (1, 2),
        (1, 2),
        (3, 3),
    ]


def test_twelve_wins_of_twelve_have_a_lower_bound_and_no_upper_one():
    rows = by_name(ranked(duel(12)))
    assert rows["A"].low > 1500 > rows["B"].high
    assert rows["A"].high is rows["B"].low is None
    assert rows["A"].low - 1500 == pytest.approx(1500 - rows["B"].high)


def test_the_lower_bound_of_a_champion_is_at_most_that_of_clopper_and_pearson():
    """Against opponents of known strength, 30 items won bound the expected credit by .05^(1/30)."""
    rows = by_name(ranked(verdicts({"top": 20, **CORE}, 30)))
    exact = rows["top"].low - 1500
    assert exact <= POINTS * np.log(0.05 ** (1 / 30) / (1 - 0.05 ** (1 / 30))) + 5
    assert rows["top"].high is None


def test_separated_models_are_ranked_by_the_battles_among_each_other():
    """Three champions never lose to four others, and one of them loses nearly all battles with the
    other two."""
    standings = ranked(verdicts({"A": 23.0, "B": 23.0, "C": 20.5, **CORE, "w": 0.1}, 40))
    rows = by_name(standings)
    assert {name for name, row in rows.items() if row.separated} == {"A", "B", "C"}
    assert (rows["C"].rank_low, rows["C"].rank_high) == (3, 3)
    assert rows["A"].rank_low == rows["B"].rank_low == 1
    assert all(rows[name].rank_low >= 4 for name in CORE)
    assert "the data do not bound" not in standings.answer[2], "battles of A and B bound their gap"


@pytest.mark.slow
def test_a_chain_of_sweeps_is_an_order():
    standings = ranked(verdicts({name: 20.0 * k for k, name in enumerate("dcba")}, 20))
    assert [(e.model, e.rank_low, e.rank_high) for e in standings.entries] == [
        (name, k, k) for k, name in enumerate("abcd", start=1)
    ]


def test_one_item_clusters_all_battles_on_it():
    """Twenty battles won on one item are one item: nothing is clear."""
    rows = [("i", "A", "B", 1.0)] * 20
    standings = ranked(pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"]))
    assert standings.answer[0] == "A and B are too close to call on this 1 item."


def test_a_model_of_a_jury_that_won_all_is_first():
    frame = verdicts({"top": 20, **CORE}, 20)
    jury = pd.concat([frame.assign(judge=name) for name in ("one", "two")])
    rows = by_name(podium.rank(jury, "judge-aware").standings[0])
    assert (rows["top"].rank_low, rows["top"].rank_high, rows["top"].high) == (1, 1, None)
    assert rows["top"].low > 1500


def test_an_unbounded_end_is_null_in_json_and_empty_in_the_table_of_a_data_frame():
    ranking = podium.rank(duel(12))
    [first, second] = ranking.to_dict()["rankings"][0]["models"]
    assert (first["high"], second["low"]) == (None, None)
    frame = ranking.to_frame()
    assert frame["high"].isna().tolist() == [True, False]
    assert frame["rank_high"].tolist() == [1, 2]
    assert "… ∞" in str(ranking)


@pytest.mark.slow
def test_renaming_the_models_changes_no_rank_set():
    frame = verdicts({"A": 20.0, "B": 20.5, **CORE}, 25)
    new = {"A": "q", "B": "a", "x": "m", "y": "b", "z": "z"}
    before, after = by_name(ranked(frame)), by_name(ranked(frame.replace(new)))
    for name, row in before.items():
        other = after[new[name]]
        assert (row.rank, row.rank_low, row.rank_high) == (
            other.rank,
            other.rank_low,
            other.rank_high,
        )


@pytest.mark.slow
@pytest.mark.parametrize("new", ["abcd", "dcba", "cdab", "badc"])
def test_of_two_groups_of_one_size_the_names_do_not_decide_which_is_separated(new):
    frame = verdicts(dict(zip("abcd", (20.0, 20.4, 0.0, 0.4), strict=True)), 25)
    names = dict(zip("abcd", new, strict=True))
    rows, others = by_name(ranked(frame)), by_name(ranked(frame.replace(names)))
    assert {names[name] for name, row in rows.items() if row.separated} == {
        name for name, row in others.items() if row.separated
    }
    assert all(rows[name].score == pytest.approx(others[names[name]].score) for name in rows)


@pytest.mark.slow
def test_a_rare_model_takes_no_bootstrap_interval_from_the_others():
    """`rare` has one win and one loss in 60 items: most resamples separate it, or do not contain
    it."""
    rng = np.random.default_rng(5)
    rows = [
        (f"q{k}", a, b, float(rng.random() < 0.5))
        for k in range(60)
        for a, b in (("a", "b"), ("b", "c"))
    ]
    rows += [("q0", "rare", "a", 1.0), ("q1", "rare", "b", 0.0)]
    frame = pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"])
    plain = by_name(ranked(frame))
    for ranker in ("bradley-terry", "win-rate"):
        drawn = by_name(ranked(frame, ranker, interval="bootstrap", resamples=200))
        assert (drawn["rare"].low, drawn["rare"].high) == (None, None)
        assert all(drawn[name].low < drawn[name].score < drawn[name].high for name in "abc")
    drawn = by_name(ranked(frame, interval="bootstrap", resamples=400))
    for name in "abc":
        assert drawn[name].se == pytest.approx(plain[name].se, rel=0.15)


def test_median_advises_only_what_it_has():
    frame = pd.DataFrame({"item": range(3), "a": [0.2, 0.5, 0.9], "b": [0.7, 0.4, 0.1]})
    warnings = notice_texts(podium.rank(podium.read_battles(frame), "median").standings[0].warnings)
    assert not any("interval=" in text for text in warnings)
    assert any("ranker='mean'" in text for text in warnings)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("strength", "items"),
    [
        ([0.0, 0.0], 6),
        ([0.0, 0.0], 12),
        ([0.0] * 3, 7),
        ([0.0] * 4, 8),
        ([20.0, 0.0, 0.0, 0.0], 15),
        ([20.0, 20.0, 0.0, 0.0], 12),
    ],
)
def test_false_claims_hold_their_level(strength, items):
    """Data drawn by NumPy; of 200 worlds at most 19 may have a false claim (one in a thousand, if
    the level is 5%)."""
    names = [f"m{k}" for k in range(len(strength))]
    false = 0
    for seed in range(200):
        frame = verdicts(dict(zip(names, strength, strict=True)), items, seed)
        separation = podium.rank(frame, answers=False).standings[0].separation
        assert separation is not None
        truth = [strength[int(name[1:])] for name in separation.names]
        false += any(
            truth[k] <= truth[j] for k, beaten in enumerate(separation.beats) for j in beaten
        )
    assert false <= 19


@pytest.mark.slow
def test_no_test_is_made_of_two_models_that_lost_all():
    """The likelihood is as high at any difference between two models that never won, and never met:
    no battle bounds it, and a test of their items would not reject. Other tests and rank sets stay
    as they are."""
    frame = verdicts({**CORE, "low": -20, "lower": -20}, 30)
    among_losers = frame["model_a"].isin(["low", "lower"]) & frame["model_b"].isin(["low", "lower"])
    standings = ranked(frame[~among_losers])
    rows = by_name(standings)
    assert {(rows[name].rank_low, rows[name].rank_high) for name in ("low", "lower")} == {(4, 5)}
    coded = code_battles(podium.read_battles(frame[~among_losers]))
    tests = EloTests(coded)
    low, lower, best = (coded.models.index(name) for name in ("low", "lower", "y"))
    assert not tests.may_differ(low, lower)
    assert tests.difference(low, lower).p_value > 0.9
    assert tests.may_differ(low, best)
    assert tests.may_differ(best, low)


def test_wins_bound_a_difference_directly_or_through_others():
    """A beat B and B beat C: wins bound C from above relative to A; D, which only C beat, is
    bounded by all three."""
    pairs = Pairs(np.array([0, 1, 2]), np.array([1, 2, 3]), np.full(3, 2.0), np.full(3, 2.0), 5)
    expected = np.eye(5, dtype=bool)
    expected[[0, 0, 0, 1, 1, 2], [1, 2, 3, 2, 3, 3]] = True
    assert (win_paths(pairs) == expected).all()


@pytest.mark.slow
def test_p_values_do_not_depend_on_the_tests_made_before():
    """Fits of a model's pairs start from each other; separated models that beat it move with it."""
    strength = {"A": 23.0, "B": 22.5, **CORE, "low": -20.0, "lower": -20.5}
    coded = code_battles(podium.read_battles(verdicts(strength, 25)))
    pairs = list(combinations(range(len(coded.models)), 2))
    shared = EloTests(coded)
    forwards = [shared.difference(*pair) for pair in pairs]
    alone = [EloTests(coded).difference(*pair) for pair in reversed(pairs)][::-1]
    for gap in (0.0, 40.0):
        found, expected = ([test.tails(gap) for test in tests] for tests in (forwards, alone))
        np.testing.assert_allclose(found, expected, rtol=1e-8)


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("gap", [0.0, -1.0])
@pytest.mark.parametrize("names", [("A", "low"), ("low", "x"), ("A", "B"), ("x", "y")])
def test_strengths_under_an_assumed_gap_are_the_most_likely(names, gap):
    """Oracle: SciPy's BFGS on the penalized likelihood, written out by battles."""
    strength = {"A": 23.0, "B": 22.5, **CORE, "low": -20.0}
    coded = code_battles(podium.read_battles(verdicts(strength, 25)))
    models, (a, b) = len(coded.models), map(coded.models.index, names)
    others = [k for k in range(models) if k != b]
    shift = np.zeros(models)
    shift[a], shift[b] = gap / 2, -gap / 2

    def strengths(free: np.ndarray) -> np.ndarray:
        common = np.zeros(models)
        common[others] = free
        common[b] = common[a]
        return common + shift

    def loss(free: np.ndarray) -> float:
        logit = strengths(free)[coded.a] - strengths(free)[coded.b]
        likelihood = coded.credit @ log_expit(logit) + (1 - coded.credit) @ log_expit(-logit)
        return float(0.005 * free @ free - likelihood)

    best = minimize(loss, np.zeros(models - 1), method="BFGS", options={"gtol": 1e-7})
    found = EloTests(coded).gap(a, b).theta(gap)
    np.testing.assert_allclose(found, strengths(best.x), atol=2e-3)
    assert loss(found[others] - shift[others]) <= best.fun + 1e-9


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("opponents", [1, 4, 8])
def test_bounds_of_a_model_that_won_all_hold_if_battles_of_an_item_depend_on_each_other(opponents):
    """A model that loses whole items wins all of n with a chance of p^n, whatever the number of its
    opponents is. So p is at least 0.05^(1 / n) at the level 95%."""
    items = 50
    rng = np.random.default_rng(3)
    names = [f"o{k}" for k in range(opponents)]
    rows = [(f"i{k}", "top", name, 1.0) for k in range(items) for name in names]
    for k in range(items):
        for first, second in combinations(names, 2):
            rows.append((f"i{k}", first, second, float(rng.random() < 0.5)))
    table = pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"])
    difference = podium.compare("top", "o0", table).findings[0].difference
    share = 0.05 ** (1 / items)
    bound = 400 * np.log10(share / (1 - share))
    # The ratings of the opponents have errors, too.
    assert bound - 100 < difference.low(0.05) <= bound + 1e-3


@pytest.mark.fast_cases(2)
@pytest.mark.parametrize("items", [12, 50, 200])
def test_the_bound_after_wins_alone_is_at_most_the_exact_one(items):
    exact = binomtest(items, items).proportion_ci(0.95, method="exact").low
    low, high = podium.compare("A", "B", duel(items)).findings[0].interval
    assert low == pytest.approx(POINTS * np.log(exact / (1 - exact)), abs=0.5)
    assert high == np.inf


def test_a_resample_that_bounds_no_model_has_no_scores_beside_a_model_that_won_all():
    """Only the draw of both items bounds x and y; none bounds top."""
    rows = [("i0", "x", "y", 1.0), ("i1", "x", "y", 0.0)]
    rows += [(item, "top", name, 1.0) for item in ("i0", "i1") for name in ("x", "y")]
    frame = pd.DataFrame(rows, columns=["item", "model_a", "model_b", "credit"])
    coded = code_battles(podium.read_battles(frame))
    fit = fit_battles(coded)
    cells = cells_by_cluster(coded, fit.pairs)
    counts = np.array([[2.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    scores = fit.resampled_scores(EloScale(np.full(3, 1 / 3)), cells, counts)
    assert np.isnan(scores[:2]).all()
    assert np.isfinite(scores[2]).all()
