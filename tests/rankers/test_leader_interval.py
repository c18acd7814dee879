"""The interval of the first model that allows for the choice of the first by the same data."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

import podium
from podium.rankers.errors.intervals import sandwich_estimate, wilson_interval
from podium.rankers.errors.leader_interval import leader_interval


def scores_of(seed: int, models: int, items: int = 60, lead: float = 0.0) -> pd.DataFrame:
    """Return a table of scores, a column per model; the first one is better by `lead`."""
    scores = np.random.default_rng(seed).normal(size=(items, models))
    scores[:, 0] += lead
    names = [f"m{k:02}" for k in range(models)]
    return pd.DataFrame(scores, columns=names).assign(item=[f"i{k}" for k in range(items)])


def standings_of(table: pd.DataFrame, ranker: str = "mean", **options):
    """Return the standings of a table."""
    return podium.rank(table, ranker, **options).standings[0]


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("level", [0.95, 0.8])
def test_it_has_the_quantile_of_sidaks_level(level) -> None:
    standings = standings_of(scores_of(1, 10), level=level)
    first = standings.entries[0]
    found = standings.diagnostics["leader_interval"]
    reach = t.ppf((1 + level**0.1) / 2, 59) * first.se
    assert found["model"] == first.model
    assert found["high"] == pytest.approx(first.score + reach)
    assert found["low"] == pytest.approx(first.score - reach)
    own = t.ppf((1 + level) / 2, 59) * first.se
    assert first.high == pytest.approx(first.score + own)


def test_of_scores_from_0_to_1_it_is_wilsons() -> None:
    table = scores_of(2, 5)
    names = [name for name in table if name != "item"]
    table[names] = (table[names] > 0).astype(float)
    standings = standings_of(table)
    first = standings.entries[0]
    found = standings.diagnostics["leader_interval"]
    low, high = wilson_interval(first.score, first.se**2, 60, 0.95**0.2)
    assert (found["low"], found["high"]) == pytest.approx((low, high))


@pytest.mark.slow
def test_a_model_that_is_clearly_ahead_and_two_models_have_none() -> None:
    assert "leader_interval" not in standings_of(scores_of(3, 6, lead=2)).diagnostics
    assert "leader_interval" not in standings_of(scores_of(3, 2)).diagnostics
    assert "leader_interval" in standings_of(scores_of(3, 3)).diagnostics


@pytest.mark.slow
def test_a_ladder_that_rated_the_first_model_before_has_none() -> None:
    battles = podium.simulate(4, 12, seed=1, spread=0.1).judgments(podium.Judge())
    assert "leader_interval" in standings_of(battles, "bradley-terry").diagnostics
    names = sorted(set(battles["model_a"]) | set(battles["model_b"]))
    ratings = ",".join(f"{name}:1500+-20" for name in names[:2])
    ranking = podium.rank(battles, "bradley-terry", ratings=ratings)
    assert "leader_interval" not in ranking.standings[0].diagnostics


def test_its_ends_stay_within_the_bounds_of_the_scale() -> None:
    score = np.array([0.97, 0.5, 0.4])
    covariance = np.diag([0.02, 0.03, 0.03]) ** 2
    estimate = sandwich_estimate(score, covariance, 40, level=0.95, cluster="item")
    low, high = leader_interval(estimate, 0, 0.95, (0.0, 1.0))
    assert high == 1
    assert low == leader_interval(estimate, 0, 0.95)[0] < estimate.low[0]
    assert leader_interval(estimate, 0, 0.95)[1] > 1


def test_a_model_without_an_error_has_none() -> None:
    covariance = np.diag([0.0, 0.03, 0.03, 0.04]) ** 2
    estimate = sandwich_estimate(np.ones(4), covariance, 40, level=0.95, cluster="item")
    assert leader_interval(estimate, 0, 0.95) is None
    assert leader_interval(estimate, 1, 0.95) is not None


@pytest.mark.slow
def test_the_table_marks_the_interval_and_a_line_explains_it() -> None:
    standings = podium.rank(scores_of(1, 10), "mean")
    found = standings.standings[0].diagnostics["leader_interval"]
    text = str(standings)
    assert text.count("†") == 2
    line = (
        f"† {found['model']} is first by these data: an interval that allows for this choice is "
        f"{found['low']:.3f} … {found['high']:.3f}"
    )
    assert line in text
    assert f"† {standings.standings[0].entries[0].low:.3f} …" in text
    assert "†" not in str(podium.rank(scores_of(3, 6, lead=2), "mean"))


@pytest.mark.slow
@pytest.mark.parametrize("models", [10, 20])
def test_it_covers_whichever_of_equal_models_is_first(models) -> None:
    inside = own = 0
    for seed in range(200):
        standings = standings_of(scores_of(seed + 100, models))
        first = standings.entries[0]
        found = standings.diagnostics.get("leader_interval", {"low": first.low, "high": first.high})
        inside += found["low"] <= 0 <= found["high"]
        own += first.low <= 0 <= first.high
    assert inside >= 0.92 * 200
    assert own < 0.92 * 200


def test_models_without_a_standard_error_count_too() -> None:
    """Two of four models have battles that all were won or lost, so that two have an error."""
    score = np.array([0.2, 0.1, 0.05, -0.3])
    covariance = np.diag([0.01, 0.01, 0.0, 0.0])
    estimate = sandwich_estimate(score, covariance, 50, level=0.95, cluster="item")
    low, high = leader_interval(estimate, 0, 0.95)
    reach = t.ppf((1 + 0.95**0.25) / 2, 49) * 0.1
    assert (low, high) == pytest.approx((0.2 - reach, 0.2 + reach))


@pytest.mark.parametrize("ranker", ["win-rate", "bradley-terry", "mean"])
def test_an_item_of_nearly_all_weight_leaves_an_interval(ranker) -> None:
    """The weights leave 1e-6 degrees of freedom, which count as one."""
    rng = np.random.default_rng(3)
    rows = []
    for item in range(30):
        for a, b in (("x", "y"), ("x", "z"), ("y", "z")):
            scores = rng.integers(0, 2, 2).astype(float)
            credit = float(rng.random() < 0.5)
            rows.append((f"i{item}", a, b, credit, *scores, 1e6 if item == 0 else 1.0))
    columns = ["item", "model_a", "model_b", "credit", "score_a", "score_b", "weight"]
    standings = standings_of(pd.DataFrame(rows, columns=columns), ranker)
    assert len(standings.entries) == 3
    ends = standings.diagnostics.get("leader_interval")
    assert ends is None or np.isfinite([ends["low"], ends["high"]]).all()
