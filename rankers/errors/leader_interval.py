"""The interval of the model in the first place, which was chosen because its score is highest.

The highest of many scores is too high on average: with 10 equal models, a 95% interval of the first
one covers 83%. An interval that holds for all models together covers as often as it says whichever
of them is first.
"""

import numpy as np

from podium.distributions import stdtrit
from podium.rankers.errors.intervals import ScoreEstimates

FEWEST_MODELS = 3
"""With fewer models than this, the first one has no such interval: the ratings of two models are
one difference, and the interval of the first of two means covers as it says.
"""


def leader_interval(
    estimate: ScoreEstimates,
    leader: int,
    level: float,
    bounds: tuple[float, float] | None = None,
) -> tuple[float, float] | None:
    """Return an interval of the first model's score that is simultaneous over all models.

    The interval has the level `level`^(1/n), where n is the number of models with a score that is
    not set by a pin: n intervals of this level hold together with at least `level` (Šidák 1967). If
    the estimate can make intervals of any level (`ScoreEstimates.interval_at`), it makes this one.
    Otherwise the distances of the ends of the model's own interval from the score are multiplied by
    the ratio of the t quantiles of both levels, and the ends are clipped to `bounds`.

    Args:
        estimate: the scores.
        leader: code of the model in the first place.
        level: confidence level of the model's own interval, in (0, 1).
        bounds: smallest and largest possible score; None if scores are unbounded.

    Returns:
        Both ends. None if n is below three, if the first model has no standard error, if its own
        interval lacks an end, or if the intervals come from resamples of scores that are far from
        normal (`ScoreEstimates.draws`).
    """
    models = int((~np.isnan(estimate.score)).sum())
    if estimate.pinned is not None:
        models -= 1
    own_ends = (estimate.low[leader], estimate.high[leader])
    is_bounded = bool(np.isfinite(own_ends).all())
    has_error = bool(estimate.se[leader] > 0)
    if not is_bounded or not has_error:
        return None
    if models < FEWEST_MODELS or estimate.draws is not None:
        return None
    joint_level = level ** (1 / models)
    if estimate.interval_at is not None:
        low, high = (float(ends[leader]) for ends in estimate.interval_at(joint_level))
        return low, high
    freedom = estimate.clusters - 1.0
    if estimate.freedom is not None:
        # The model's own interval counts fewer degrees of freedom as one, too (`t_quantile`).
        freedom = max(float(estimate.freedom[leader]), 1.0)
    # The t quantiles of the two levels.
    quantile, joint = stdtrit(freedom, np.array([1 + level, 1 + joint_level]) / 2)
    score = estimate.score[leader]
    low = float(score - (score - estimate.low[leader]) * joint / quantile)
    high = float(score + (estimate.high[leader] - score) * joint / quantile)
    if bounds is None:
        return low, high
    smallest, largest = bounds
    return max(low, smallest), min(high, largest)
