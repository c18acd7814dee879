"""Claims in slices (`rank --by`) hold simultaneously: the error rate is divided by the slices."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import podium
from podium.rankers.errors.intervals import t_quantile

ITEMS = 60


def score_rows(lead: float, slices: int, seed: int) -> pd.DataFrame:
    """Return scores of two models, whose first has a lead in the first slice alone.

    The differences of the first slice are set so that their mean is `lead` standard errors.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for place in range(slices):
        noise = rng.normal(size=ITEMS)
        noise = (noise - noise.mean()) / noise.std(ddof=1) * np.sqrt(ITEMS)
        differences = noise + (lead if place == 0 else 0.0)
        for item, difference in enumerate(differences):
            rows.append((f"s{place}", f"q{place}-{item}", 50 + difference, 50.0))
    return pd.DataFrame(rows, columns=["kind", "item", "ash", "box"])


def rank_slices(rows: pd.DataFrame, **options) -> podium.Ranking:
    """Rank the scores by `mean`, in each slice unless `by` is given."""
    long = rows.melt(["kind", "item"], var_name="model", value_name="score")
    return podium.rank(podium.read_battles(long), "mean", **{"by": "kind", **options})


@pytest.mark.slow
@pytest.mark.parametrize("slices", [2, 5])
def test_lead_between_both_quantiles_is_claimed_alone_and_not_among_slices(slices):
    alone = float(t_quantile(ITEMS, 0.95))
    adjusted = float(t_quantile(ITEMS, 1 - 0.05 / slices))
    lead = (alone + adjusted) / 2
    rows = score_rows(lead, slices, seed=3)
    single = rank_slices(rows[rows.kind == "s0"], by=None).standings[0]
    together = rank_slices(rows).standings[0]
    assert "ash is clearly ahead" in single.answer[0]
    assert "too close to call" in together.answer[0]
    # The interval of each model is that of its slice alone.
    assert [entry.low for entry in together.entries] == [entry.low for entry in single.entries]


@pytest.mark.slow
def test_lead_beyond_the_adjusted_quantile_is_claimed():
    lead = float(t_quantile(ITEMS, 1 - 0.05 / 5)) * 1.1
    first, *others = rank_slices(score_rows(lead, 5, seed=4)).standings
    assert "ash is clearly ahead" in first.answer[0]
    assert all("too close to call" in each.answer[0] for each in others)


@pytest.mark.slow
def test_number_of_slices_is_in_the_json():
    ranking = rank_slices(score_rows(1.9, 3, seed=5))
    assert [each.diagnostics["slices"] for each in ranking.standings] == [3, 3, 3]


@pytest.mark.slow
def test_tables_that_nobody_asked_to_divide_are_not_adjusted():
    lead = float(t_quantile(ITEMS, 0.95)) * 1.1
    rows = score_rows(lead, 2, seed=6)
    long = rows.melt(["kind", "item"], var_name="model", value_name="score")
    tasks = replace(podium.read_battles(long), apart="kind")
    first = podium.rank(tasks, "mean").standings[0]
    assert "slices" not in first.diagnostics
    assert "ash is clearly ahead" in first.answer[0]
