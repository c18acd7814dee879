"""What a check says of an effect whose interval holds both small and large ones."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import podium
from podium.check_results import Result
from podium.diagnosis.checks.effects import check_effect
from podium.diagnosis.checks.length_checks import check_length
from podium.diagnosis.figures import Statistic, Unit


def verdicts_by_length(effect: float, items: int = 2500, seed: int = 1) -> pd.DataFrame:
    """Draw verdicts on two equal models; `effect` is the log-odds per factor e in length."""
    rng = np.random.default_rng(seed)
    lengths = np.exp(rng.normal(6, 1, (items, 2))).astype(int)
    ratio = np.log1p(lengths[:, 0]) - np.log1p(lengths[:, 1])
    return pd.DataFrame(
        {
            "item": [f"q{k}" for k in range(items)],
            "model_a": "ash",
            "model_b": "elm",
            "credit": (rng.random(items) < expit(effect * ratio)).astype(float),
            "length_a": lengths[:, 0],
            "length_b": lengths[:, 1],
        }
    )


def test_an_effect_of_length_that_is_there_is_not_said_to_be_none() -> None:
    [check] = check_length(podium.read_battles(verdicts_by_length(0.09, items=4000, seed=2)))
    low, high = check.interval
    assert 0 < low < 0.1 < high
    assert check.number <= 0.1
    assert check.result is Result.NOT_KNOWN
    assert check.reason == "the effect is there, and may be small or large"


def test_an_effect_of_length_that_may_be_none_is_said_to_be_so() -> None:
    [check] = check_length(podium.read_battles(verdicts_by_length(0.0, items=300)))
    assert check.interval[0] < 0 < check.interval[1]
    assert check.reason == "the effect may be none, or large"


@pytest.mark.parametrize(
    ("low", "reason"),
    [
        (5.0, "the effect is there, and may be small or large"),
        (-5.0, "the effect may be none, or large"),
    ],
)
def test_self_preference_says_whether_it_may_be_none(low: float, reason: str) -> None:
    effect = Statistic(15.0, low, 25.0, level=0.95, method="", n=9, of="models", unit=Unit.ELO)
    assert check_effect("self-preference", effect).reason == reason
