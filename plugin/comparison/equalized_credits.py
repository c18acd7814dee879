"""Credits in which identical answers of two models earn the same."""

import numpy as np

from podium.comparison.compared_pair import ComparedPair
from podium.comparison.direct_battles import BattleColumns, mark_items
from podium.rankers.fit.coded import ratio_or_nan


def equalized_credits(columns: BattleColumns, pair: ComparedPair) -> np.ndarray:
    """Return credits in which identical answers of two models earn the same credit.

    On items with identical answers, a battle between the two is a tie. In battles with a third
    model, each of the two gets the mean of the credits that both earned against the third model,
    unless only one of them met it on the item.

    Args:
        columns: columns of the battles, which are not changed.
        pair: the two models, with the items on which their answers are identical.

    Returns:
        The credits of `model_a`, shape (battles,). NaN stays NaN. All credits are those of the
        battles if no answers are known to be identical.
    """
    if not pair.identical:
        return columns.credit
    credit = columns.credit.copy()
    battles = columns.battles
    items = columns.items
    is_identical = mark_items(items.tolist(), pair.identical)
    rows = np.flatnonzero(is_identical & ~np.isnan(credit))
    a, b = (codes[rows] for codes in battles.model_codes)
    names = (pair.candidate, pair.baseline)
    codes = [battles.models.index(name) for name in names if name in battles.models]
    is_a = np.isin(a, codes)
    is_b = np.isin(b, codes)
    credit[rows[is_a & is_b]] = 0.5
    has_third = is_a != is_b
    rows = rows[has_third]
    is_a = is_a[has_third]
    third = np.where(is_a, b[has_third], a[has_third])
    model = np.where(is_a, a[has_third], b[has_third])
    earned = np.where(is_a, credit[rows], 1 - credit[rows])
    _, item = np.unique(items[rows], return_inverse=True)
    # A number that identifies the item and the third model.
    matchup = item * len(battles.models) + third
    mean_credits = _mean_credits_of_both(matchup, model, earned, columns.weight[rows])
    credit[rows] = np.where(is_a, mean_credits, 1 - mean_credits)
    return credit


def _mean_credits_of_both(
    matchup: np.ndarray, model: np.ndarray, earned: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """Return the mean credit that two models earned against each third model on each item.

    It is the unweighted mean of the two models' mean credits, however often each was judged. The
    mean credit of a model is weighted.

    Args:
        matchup: code of the item and the third model of each battle, shape (battles,).
        model: code of the one of the two models that plays in each battle, shape (battles,).
        earned: credit of this model, shape (battles,).
        weight: weight of each battle, shape (battles,).

    Returns:
        The mean for each battle, shape (battles,). If only one of the two was judged against the
        third model on the item, the credit of the battle is returned.
    """
    matchups, matchup_code = np.unique(matchup, return_inverse=True)
    models, model_code = np.unique(model, return_inverse=True)
    shape = (len(matchups), len(models))
    cell = matchup_code * len(models) + model_code
    size = len(matchups) * len(models)
    total = np.bincount(cell, earned * weight, size).reshape(shape)
    means = ratio_or_nan(total, np.bincount(cell, weight, size).reshape(shape))
    has_both = (~np.isnan(means)).sum(axis=1) == 2
    mean_of_both = means.sum(axis=1) / 2
    return np.where(has_both[matchup_code], mean_of_both[matchup_code], earned)
