"""Tests of a mean of bounded values by betting, valid for every distribution and number of items.

This holds for items, or groups, of equal weight. With unequal weights, the stakes depend on the
largest weight of the sample, so that the tests do not allow for larger ones that it lacks.

A gambler bets against the hypothesis that the mean is at most m. The stake on every item is a fixed
share c of the most that cannot lead to ruin: an item of value x multiplies the wealth by
1 + c (x - m) / (m - low), where `low` is the least possible value. If the hypothesis is true, the
wealth does not grow on average, and it ever reaches 1 / alpha with probability alpha at most
(Ville 1939). So 1 / wealth is a p-value. It stays valid if it is looked at after every item and
the items end when it is small enough, and it allows for values on items so rare that the sample
has none of them.

The wealth is the mean over gamblers with the shares `SHARES`, so it does not depend on the order of
the items. Source: Waudby-Smith and Ramdas 2024, Estimating means of bounded random variables by
betting, section 4; the mixture over constant bets is that of Cover's universal portfolio.
"""

import numpy as np

from podium.rankers.errors.difference import DifferenceTest, Tails, is_constant, sum_by_group

SHARES = 0.8 / 2.0 ** np.arange(6)
"""The stakes, as shares of the largest stake without ruin.

For a standard deviation s of values in [-1, 1] and n items, the best stake at the edge of
significance is about sqrt(6 / n) / s. The shares cover it up to about 20,000 items with s = 0.7.
"""


def betting_difference(
    differences: np.ndarray,
    largest: float,
    weight: np.ndarray | None = None,
    group: np.ndarray | None = None,
    unit: str = "item",
) -> DifferenceTest:
    """Test the weighted mean of paired differences by betting.

    A bet is made on a group of items, or on each item if items have no groups. Its outcome is the
    sum over the group of the weight times the difference minus the assumed one, as a share of the
    largest total weight of a group.

    Args:
        differences: one per item, in [-largest, largest], shape (items,).
        largest: largest possible difference, above 0 and finite.
        weight: weight of each item, shape (items,); None if all count alike.
        group: code of each item's group, any integers, shape (items,); None without groups.
        unit: what varies independently, for the name of the test.

    Returns:
        The test; its number of items is that of the groups.
    """
    item_weight = np.ones(len(differences)) if weight is None else weight
    codes = np.arange(len(differences))
    if group is not None:
        _, codes = np.unique(group, return_inverse=True)
    total = sum_by_group(item_weight, codes)
    value_sum = sum_by_group(item_weight * differences, codes)

    def tails(null: float) -> Tails:
        """Return the p-values of the hypotheses that the mean is at most, and at least, `null`."""
        above = betting_p_value(value_sum, total, null=null, least=-largest)
        below = betting_p_value(-value_sum, total, null=-null, least=-largest)
        return above, below

    about_weights = "" if is_constant(item_weight) else ", weighted"
    return DifferenceTest(
        value=float(value_sum.sum() / total.sum()),
        items=len(total),
        method=f"betting, paired by {unit}{about_weights}",
        tails=tails,
        search_step=largest / np.sqrt(len(total)),
        limits=(-largest, largest),
        is_sequential=True,
    )


def betting_p_value(value_sums: np.ndarray, totals: np.ndarray, null: float, least: float) -> float:
    """Return the p-value of the hypothesis that a weighted mean is at most `null`.

    The p-value rises with `null`, and is at most 1. If `null` is the least possible value, the
    p-value is 0 if a group has a larger value, and else 1.

    Args:
        value_sums: sums over the items of a group of weight times value, shape (groups,).
        totals: sums of the weights, shape (groups,).
        null: the assumed mean.
        least: the least possible value.
    """
    gains = value_sums - null * totals
    room = (null - least) * totals.max()
    if room <= 0:
        return 0.0 if np.any(gains > 0) else 1.0
    log_wealth = np.log1p(np.outer(SHARES, gains / room)).sum(axis=1)
    richest = log_wealth.max()
    log_mean = richest + np.log(np.mean(np.exp(log_wealth - richest)))
    return float(np.exp(min(0.0, -log_mean)))


def betting_interval(
    value_sums: np.ndarray, totals: np.ndarray, alpha: float
) -> tuple[float, float]:
    """Return both ends of the interval of a weighted mean of values in [0, 1].

    Args:
        value_sums: sums over the items of a group of weight times value, shape (groups,).
        totals: sums of the weights, above 0, shape (groups,).
        alpha: the interval misses the mean with at most this probability, in (0, 1).
    """
    centre = float(value_sums.sum() / totals.sum())

    def tails(null: float) -> Tails:
        """Return the p-values of the hypotheses that the mean is at most, and at least, `null`."""
        above = betting_p_value(value_sums, totals, null=null, least=0.0)
        below = betting_p_value(totals - value_sums, totals, null=1.0 - null, least=0.0)
        return above, below

    step = 1 / np.sqrt(len(totals))
    test = DifferenceTest(
        value=centre,
        items=len(totals),
        method="betting",
        tails=tails,
        search_step=step,
        limits=(0.0, 1.0),
    )
    return test.low(alpha / 2), test.high(alpha / 2)
