"""Clustered shares, means and influence intervals against oracle libraries."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.optimize import brentq
from scipy.special import stdtr, stdtrit
from scipy.stats import norm
from statsmodels.stats.proportion import proportion_confint

from podium.diagnosis.clustered import Clustered
from podium.diagnosis.figures import Missing, Statistic


def rows(number, level=0.95):
    return Clustered(np.arange(number), "row", level)


def test_a_share_of_independent_rows_is_wilsons_with_one_row_less():
    """Oracle: statsmodels, at the level where the normal quantile is the t quantile; the variance
    has G / (G - 1)."""
    hits = np.arange(50) < 13
    found = rows(50).share(hits)
    # SciPy's own quantile has ten digits in older versions; its distribution function has more.
    quantile = brentq(lambda x: stdtr(49, x) - 0.975, 0, 10, xtol=1e-15, rtol=1e-15)
    alpha = 2 * norm.sf(quantile)
    low, high = proportion_confint(0.26 * 49, 49, alpha=alpha, method="wilson")
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-12)
    with_all_rows = proportion_confint(13, 50, alpha=alpha, method="wilson")
    assert (found.low, found.high) != pytest.approx(with_all_rows, abs=1e-4)


def test_copies_of_every_row_in_one_item_change_no_share():
    hits = np.arange(40) % 3 == 0
    once = rows(40, 0.9).share(hits)
    thrice = Clustered(np.tile(np.arange(40), 3), "item", 0.9).share(np.tile(hits, 3))
    assert (thrice.low, thrice.high) == pytest.approx((once.low, once.high), abs=1e-12)
    taken_for_new = rows(120, 0.9).share(np.tile(hits, 3))
    assert taken_for_new.high - taken_for_new.low < 0.7 * (once.high - once.low)


@pytest.mark.parametrize("hit", [False, True])
def test_a_share_without_variation_has_wilsons_interval_of_the_items(hit):
    """Closed form: t^2 / (G + t^2) from the end."""
    found = Clustered(np.repeat(np.arange(20), 3), "item").share(np.full(60, hit))
    t2 = stdtrit(19, 0.975) ** 2
    width = t2 / (20 + t2)
    assert found.value == hit
    assert (found.low, found.high) == pytest.approx(
        (1 - width, 1) if hit else (0, width), abs=1e-12
    )


def test_a_mean_has_the_clustered_interval_of_ordinary_least_squares():
    """Oracle: statsmodels OLS on a constant, clustered covariance, t with G - 1 degrees of
    freedom."""
    rng = np.random.default_rng(3)
    item = rng.integers(0, 15, 90)
    values = rng.normal(size=15)[item] + rng.normal(size=90)
    fit = sm.OLS(values, np.ones(90)).fit(cov_type="cluster", cov_kwds={"groups": item}, use_t=True)
    found = Clustered(item, "item", 0.9).mean(values)
    assert (found.low, found.high) == pytest.approx(tuple(fit.conf_int(0.1)[0]), abs=1e-12)
    assert (found.n, found.clusters, found.level) == (90, 15, 0.9)
    by_row = rows(90, 0.9).mean(values)
    assert by_row.high - by_row.low < 0.8 * (found.high - found.low)


def test_one_item_gives_an_estimate_and_no_interval():
    item = Clustered(np.zeros(4, dtype=int), "item")
    for found in (item.share(np.array([1, 1, 0, 1])), item.mean(np.array([1.0, 1, 0, 1]))):
        assert (found.value, found.low, found.high) == (0.75, None, None)
        assert found.method == "a single item: no interval"


def test_empty_input_has_no_share_and_no_mean():
    assert isinstance(rows(0).share(np.zeros(0)), Missing)
    assert isinstance(rows(0).mean(np.zeros(0)), Missing)


def test_a_figure_is_never_infinite():
    with pytest.raises(ValueError, match="not finite"):
        Statistic(np.inf, level=0.95, method="t", n=3)
    with pytest.raises(ValueError, match="not finite"):
        rows(2).linear(0.0, np.array([np.nan, 1.0]), 2)


def test_an_interval_ends_where_values_do():
    found = rows(4).mean(np.array([1.0, 1.0, 1.0, 0.5]), within=(0, 1))
    assert (found.value, found.high) == (0.875, 1)
    assert found.low == rows(4).mean(np.array([1.0, 1.0, 1.0, 0.5])).low
