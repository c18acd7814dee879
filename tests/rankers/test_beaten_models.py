"""How many models each model beats on an item, beside SciPy's mid-ranks."""

import numpy as np
import pytest
from scipy.stats import rankdata

from podium.rankers.pointwise import _count_beaten_models


@pytest.mark.parametrize("seed", range(5))
def test_beaten_models_are_the_mid_rank_less_one(seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 4, (60, 7)).astype(float)
    values[rng.random(values.shape) < 0.3] = np.nan
    expected = rankdata(values, axis=1, nan_policy="omit") - 1
    is_known = ~np.isnan(values)
    beaten = _count_beaten_models(values)
    np.testing.assert_array_equal(beaten[is_known], expected[is_known])
    assert (beaten[~is_known] == 0).all()
