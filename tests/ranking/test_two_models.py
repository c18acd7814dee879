"""A ranking of two models and a comparison of them make the same claim."""

import numpy as np
import pandas as pd
import pytest

import podium


def verdicts_of(rng: np.random.Generator) -> pd.DataFrame:
    """Draw battles near the border of significance, with ties, some in both orders."""
    items = int(rng.integers(10, 60))
    share = 0.5 + 1.0 / np.sqrt(items)
    credit = rng.choice([0.0, 0.5, 1.0], items, p=[0.8 * (1 - share), 0.2, 0.8 * share])
    item = [f"q{k}" for k in range(items)]
    rows = pd.DataFrame({"item": item, "model_a": "ash", "model_b": "box", "credit": credit})
    if rng.random() < 0.5:
        again = rows.assign(order="ba", credit=np.roll(credit, 1))
        rows = pd.concat([rows.assign(order="ab"), again])
    return rows


def scores_of(rng: np.random.Generator) -> pd.DataFrame:
    """Draw scores near the border of significance, right or wrong, or with many values."""
    items = int(rng.integers(10, 60))
    gap = rng.normal(2.0 / np.sqrt(items), 1.0, items)
    if rng.random() < 0.5:
        ash = (rng.random(items) < 0.5 + 0.7 / np.sqrt(items)).astype(float)
        box = (rng.random(items) < 0.5 - 0.7 / np.sqrt(items)).astype(float)
    else:
        box = rng.normal(size=items)
        ash = box + gap
    item = [f"q{k}" for k in range(items)]
    tables = [
        pd.DataFrame({"item": item, "model": name, "score": values})
        for name, values in (("ash", ash), ("box", box))
    ]
    return pd.concat(tables)


@pytest.mark.slow
@pytest.mark.parametrize("draw", [verdicts_of, scores_of])
def test_rank_claims_what_compare_claims(draw):
    claims = []
    for seed in range(60):
        battles = podium.read_battles(draw(np.random.default_rng([7, seed])))
        [standings] = podium.rank(battles).standings
        finding = podium.compare("ash", "box", battles).findings[0]
        is_claimed = "clearly ahead" in standings.answer[0]
        assert is_claimed == finding.is_distinguishable, seed
        claims.append(is_claimed)
    assert 10 < sum(claims) < 50


@pytest.mark.slow
def test_win_rates_of_two_models_are_claimed_alike():
    claims = []
    for seed in range(40):
        battles = podium.read_battles(verdicts_of(np.random.default_rng([8, seed])))
        [standings] = podium.rank(battles, "win-rate").standings
        finding = podium.compare("ash", "box", battles, measure="win-rate").findings[0]
        is_claimed = "clearly ahead" in standings.answer[0]
        assert is_claimed == finding.is_distinguishable, seed
        claims.append(is_claimed)
    assert 5 < sum(claims) < 35
