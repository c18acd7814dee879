"""How many items one-sided sign tests and signed-rank tests need.

Two models are compared directly, or by their verdicts against the same anchor. An item is
informative (decided) if it shows which of the two models is better on it. In a direct comparison,
these are the items whose verdict is not a tie. In a comparison by an anchor, they are the items on
which the verdicts on the two models differ. The edge is the share of the informative items that
the better model wins, minus a half. Source: Don-Yehiya et al. 2026, section 4.3 (sign test) and
appendix C (signed-rank test).
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from math import ceil, floor, sqrt
from typing import TYPE_CHECKING

import numpy as np

from podium.distributions import ndtr, ndtri
from podium.errors import UsageError
from podium.planning.plan_record import PlanRequest, SampleSize, SmallestEdge
from podium.planning.verdict_cube import cube_by_item
from podium.rankers.estimate import Estimate
from podium.wording import quantity

if TYPE_CHECKING:
    from podium.planning.replays import Recording

ITEM_DECIMALS = 9
"""Decimals to which a number of items is rounded before its ceiling or floor is taken.

Otherwise 153 / (1 - 0.55) would be 341 items and not 340, by an error of floating point.
"""
MOST_ITEMS = 100_000
"""Largest number of items for which a signed-rank test is planned."""


@dataclass(frozen=True, slots=True)
class Differences:
    """A distribution over items of the difference between two models' verdicts against an anchor.

    Attributes:
        values: distinct differences, ascending, shape (values,); positive if the first model is
            better.
        shares: share of the items with each difference, shape (values,).
    """

    values: np.ndarray
    shares: np.ndarray

    @property
    def informative(self) -> float:
        """Share of items on which the two models differ."""
        return float(self.shares[self.values != 0].sum())

    @property
    def edge(self) -> float:
        """Share of the informative items on which the first model is better, minus a half.

        It is 0 if there are no informative items.
        """
        if not self.informative:
            return 0.0
        better = float(self.shares[self.values > 0].sum())
        return better / self.informative - 0.5

    def with_share(self, share: float) -> "Differences":
        """Return the distribution with another share of informative items and the same edge.

        There must be informative items; their differences keep their proportions.
        """
        shares = self.shares * share / self.informative
        return Differences(self.values, np.where(self.values == 0, 1 - share, shares))


def three_levels(ties: float, edge: float) -> Differences:
    """Return the differences of two models' verdicts against an anchor midway between them.

    The verdicts on the two models are independent, and both models tie with the anchor on the
    share t of items. The better model wins against the anchor on the share (1 - t) (1/2 + x), and
    the other model loses on this share. With c = 1 - t and the edge e, x solves
    2 e c x^2 - (1 + t) x + e (c/2 + 2 t) = 0. In real data fewer items are informative, because
    some are hard for both models.

    Args:
        ties: share t of verdicts that are ties, in [0, 1).
        edge: edge e between the two models, in [0, 0.5).
    """
    decided = 1 - ties
    x = 0.0
    if edge:
        # The smaller solution of the quadratic equation.
        linear_term = 1 + ties
        discriminant = linear_term**2 - 8 * edge**2 * decided * (decided / 2 + 2 * ties)
        x = (linear_term - sqrt(discriminant)) / (4 * edge * decided)
    # Shares of loss, tie and win. They are those of the better model against the anchor, and, in
    # the same order, those of the anchor against the other model. The difference is their sum.
    shares = np.array([decided * (0.5 - x), ties, decided * (0.5 + x)])
    return Differences(np.arange(-2.0, 3.0), np.convolve(shares, shares))


def recorded_differences(record: "Recording") -> Iterator[Differences]:
    """Yield the distribution of differences of each ordered pair of models against each anchor.

    A distribution is over the items on which both verdicts were parsed (Don-Yehiya et al. 2026,
    appendix C). Triples of models without an item of this kind are skipped.

    Yields:
        Distributions, in the order of `itertools.permutations` of the models' codes: anchor, first
        model, second model.
    """
    cube = verdict_cube(record)
    for anchor, first, second in permutations(range(cube.shape[1]), 3):
        difference_by_item = cube[:, first, anchor] - cube[:, second, anchor]
        difference = np.round(difference_by_item, 12)
        values, counts = np.unique(difference[~np.isnan(difference)], return_counts=True)
        if len(values):
            yield Differences(values, counts / counts.sum())


def verdict_cube(record: "Recording") -> np.ndarray:
    """Return the verdict on each model against each other, by item.

    Verdicts are the finest that the record has: margins, graded credits, or win, tie and loss.

    Returns:
        Shape (items, models, models), positive if the first model is better, NaN if unparsed or
        not on record.
    """
    from podium.rankers.informativeness import finest_verdicts

    margin = np.array([outcome.margin for outcome in record.outcomes], dtype=np.float64)
    credit = np.array([outcome.credit for outcome in record.outcomes], dtype=np.float64)
    readable = ~np.isnan(credit)
    values = np.sign(2 * credit - 1)
    finest = finest_verdicts(margin[readable], credit[readable])
    if finest is not None:
        values[readable] = finest
    return cube_by_item(record, values)


def select_edge(
    pool: Sequence[Differences], edge: float, *, allows_single_pairs: bool = True
) -> tuple[list[Differences], bool]:
    """Select the distributions of a pool that have a given edge.

    Args:
        pool: distributions of differences.
        edge: the edge; distributions with an edge in [edge, edge + 0.01) are selected.
        allows_single_pairs: whether distributions of single pairs may be selected.

    Returns:
        The selected distributions, and True. If none is selected, a single distribution that
        `pool_differences` makes of the whole pool, and False. If no distribution of the pool has
        informative items, an empty list and False.
    """
    informative = [differences for differences in pool if differences.informative]
    if allows_single_pairs:
        # The difference of an edge from the asked one is in [0, 0.01).
        with_edge = [each for each in informative if edge <= each.edge < edge + 0.01]
        if with_edge:
            return with_edge, True
    if not informative:
        return [], False
    return [pool_differences(pool, edge)], False


def pool_differences(pool: Sequence[Differences], edge: float) -> Differences:
    """Return one distribution with the absolute differences of a whole pool and a given edge.

    Each absolute difference above 0 is a win with probability 1/2 + edge, and else a loss.

    Args:
        pool: distributions of differences; all have the same weight.
        edge: the edge of the distribution.
    """
    all_sizes = np.concatenate([np.abs(each.values) for each in pool])
    all_shares = np.concatenate([each.shares for each in pool])
    sizes, size_index = np.unique(all_sizes, return_inverse=True)
    shares = np.bincount(size_index, all_shares) / len(pool)
    is_zero = sizes == 0
    gains = sizes[~is_zero]
    share_of_gains = shares[~is_zero]
    # Values increase: losses, the largest first, then zero if there is any, then gains.
    losses = -gains[::-1]
    values = np.concatenate([losses, sizes[is_zero], gains])
    loss_shares = (0.5 - edge) * share_of_gains[::-1]
    win_shares = (0.5 + edge) * share_of_gains
    return Differences(values, np.concatenate([loss_shares, shares[is_zero], win_shares]))


RANGES: dict[str, tuple[Callable[[float], bool], str]] = {
    "edge": (
        lambda edge: 0 < edge <= 0.5,
        "(0, 0.5]: it is a share above one half, 0.05 for 55% of decided items",
    ),
    "alpha": (lambda alpha: 0 < alpha < 0.5, "(0, 0.5); 0.05 is usual"),
    "power": (lambda power: 0.5 <= power < 1, "[0.5, 1); 0.8 is usual"),
    "models": (lambda number: number >= 2, "[2, ∞)"),
    "items": (lambda number: number >= 1, "[1, ∞)"),
    "informativeness": (lambda share: 0 < share <= 1, "(0, 1]"),
    "ties": (lambda share: 0 <= share < 1, "[0, 1)"),
}
"""The range of each number of a plan, by its name.

A range is a function that returns whether a number lies in it, and its text in messages.
"""


def check_numbers(**numbers: float | None) -> None:
    """Check that numbers are in the ranges of `RANGES`, whose names they have; None is accepted.

    Raises:
        UsageError: a number is out of the range of its name.
    """
    for name, value in numbers.items():
        is_possible, range_ = RANGES[name]
        if value is not None and not is_possible(value):
            raise UsageError(f"{name}={value} is not in {range_}")


def informative_needed(edge: float, *, alpha: float = 0.05, power: float = 0.8) -> int:
    """Return how many informative items the one-sided sign test needs to detect an edge.

    n = ceil(((z_alpha / 2 + z_power sqrt(p (1 - p))) / (p - 1/2))^2) with p = 1/2 + edge
    (Don-Yehiya et al. 2026, section 4.3).

    Args:
        edge: the edge, in (0, 0.5].
        alpha: error rate of the test, in (0, 0.5).
        power: power of the test, in [0.5, 1).

    Returns:
        The number of informative items, 1 or more.
    """
    z_alpha = ndtri(1 - alpha)
    z_power = ndtri(power)
    # p (1 - p) is 1/4 - edge^2.
    numerator = z_alpha / 2 + z_power * sqrt(0.25 - edge**2)
    return ceil(round((numerator / edge) ** 2, ITEM_DECIMALS))


def items_needed(informative: int, share: float) -> int:
    """Return how many items contain, on average, a given number of informative items.

    Args:
        informative: number of informative items.
        share: share of items that are informative, in (0, 1].
    """
    return ceil(round(informative / share, ITEM_DECIMALS))


def smallest_edge(
    items: int, share: float = 1.0, *, alpha: float = 0.05, power: float = 0.8
) -> float | None:
    """Return the smallest edge that the one-sided sign test detects.

    This is the inverse of `informative_needed`.

    Args:
        items: number of items.
        share: share of items that are informative, in (0, 1].
        alpha: error rate of the test, in (0, 0.5).
        power: power of the test, in [0.5, 1).

    Returns:
        The edge, in (0, 0.5]; None if even an edge of 0.5 is not detected.
    """
    n = floor(round(items * share, ITEM_DECIMALS))
    z_alpha = float(ndtri(1 - alpha))
    z_power = float(ndtri(power))
    # With n < z_alpha^2 informative items, not even a model that wins all of them is detected.
    if n < z_alpha**2:
        return None
    # The formula of `informative_needed`, solved for the edge with n informative items.
    numerator = z_alpha * sqrt(n) + z_power * sqrt(n - z_alpha**2 + z_power**2)
    return numerator / (2 * (n + z_power**2))


def signed_rank_z(values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the z of Wilcoxon's signed-rank test.

    Zeros are ranked and then left out (Pratt 1959), and equal sizes have their mean rank.

    Args:
        values: distinct differences, shape (values,).
        counts: how often each difference occurs, shape (samples, values).

    Returns:
        z by sample, shape (samples,); 0 where the variance is 0.
    """
    # With n differences and n0 zeros, the rank sum of the positive differences has the mean
    # (n (n + 1) - n0 (n0 + 1)) / 4 and the variance (n (n + 1) (2 n + 1) -
    # n0 (n0 + 1) (2 n0 + 1) - sum(t^3 - t) / 2) / 24, over groups of t equal sizes.
    # `count_of_size` has the number of differences of each size, and `ranks` their mean rank.
    sizes, size_index = np.unique(np.abs(values), return_inverse=True)
    count_of_size = counts @ (size_index[:, None] == np.arange(len(sizes)))
    ranks = np.cumsum(count_of_size, axis=1) - (count_of_size - 1) / 2
    # Sizes are sorted, so that zeros are the first size if there are any.
    zeros = count_of_size[:, 0] if sizes[0] == 0 else np.zeros(len(counts))
    rank_of_value = ranks[:, size_index]
    is_positive = values > 0
    positive_rank_sum = (counts * is_positive * rank_of_value).sum(axis=1)
    number = counts.sum(axis=1)
    mean = (number * (number + 1) - zeros * (zeros + 1)) / 4
    count_of_nonzero = count_of_size[:, sizes > 0]
    ties = (count_of_nonzero**3 - count_of_nonzero).sum(axis=1)
    all_ranks_term = number * (number + 1) * (2 * number + 1)
    zeros_term = zeros * (zeros + 1) * (2 * zeros + 1)
    variance = (all_ranks_term - zeros_term - ties / 2) / 24
    surplus = positive_rank_sum - mean
    z = np.zeros(len(counts))
    return np.divide(surplus, np.sqrt(variance), out=z, where=(variance > 0))


def signed_rank_power(differences: Differences, items: int, *, alpha: float = 0.05) -> float:
    """Return the power of Wilcoxon's one-sided signed-rank test.

    z is a function of the multinomial counts of differences. It is treated as normal, with a
    variance by the delta method.

    Args:
        differences: distribution of the differences over items.
        items: number of items.
        alpha: error rate of the test, in (0, 0.5).

    Returns:
        The power, in [0, 1]; 0 or 1 if z does not vary.
    """
    mean = differences.shares * items
    step = 1e-4 * items
    # One row per difference, in which its count alone is larger by `step`.
    stepped = mean + step * np.eye(len(mean))
    z, *z_of_stepped = signed_rank_z(differences.values, np.vstack([mean, stepped]))
    # Derivatives of z by the count of each difference.
    slope = (np.array(z_of_stepped) - z) / step
    # Counts are multinomial with the covariance items (diag(p) - p p'). With the slopes s of z,
    # the variance of z is items (sum p s^2 - (sum p s)^2).
    mean_of_squares = differences.shares @ slope**2
    square_of_mean = (differences.shares @ slope) ** 2
    variance = items * (mean_of_squares - square_of_mean)
    distance = z - ndtri(1 - alpha)
    if variance > 0:
        return float(ndtr(distance / sqrt(variance)))
    return float(distance > 0)


def signed_rank_items(
    pool: Sequence[Differences], *, alpha: float = 0.05, power: float = 0.8
) -> int | None:
    """Return the number of items that Wilcoxon's one-sided signed-rank test needs.

    Args:
        pool: distributions of differences, over which the power is averaged.
        alpha: error rate of the test, in (0, 0.5).
        power: the mean power to reach, in [0.5, 1).

    Returns:
        The smallest number of items, 2 or more; None if it is not found up to 100,000 items.
    """

    def is_enough(items: int) -> bool:
        """Return whether the mean power over the pool is large enough."""
        powers = [signed_rank_power(each, items, alpha=alpha) for each in pool]
        return bool(np.mean(powers) >= power)

    return smallest_number(is_enough)


def smallest_number(is_enough: Callable[[int], object], most: int = MOST_ITEMS) -> int | None:
    """Return the smallest number from 2 on that is enough, by doubling and bisection.

    Args:
        is_enough: whether a number is enough; if one is, all larger ones are.
        most: largest number that is tried, at least 2.

    Returns:
        The number; None if no number up to `most` is enough.
    """
    too_few = 1
    high = 2
    while not is_enough(high):
        if high >= most:
            return None
        too_few = high
        high = min(2 * high, most)
    # Of the candidates between, the first ones are too few, and all others are enough.
    candidates = range(too_few + 1, high)
    number_too_small = bisect_left(candidates, True, key=lambda number: bool(is_enough(number)))
    return candidates.start + number_too_small


def sample_sizes(request: PlanRequest) -> Iterator[SampleSize]:
    """Yield the items that detect each edge in a table, and the edge of the request.

    The table is Table 2 of Don-Yehiya et al. 2026, with edges of 0.05, 0.10, ... 0.25. The edges
    are sorted. `methods` and `missing` of the request are changed in place.
    """
    edges = sorted({0.05, 0.10, 0.15, 0.20, 0.25, request.edge})
    request.methods["sign test"] = _sign_test_intervals(request)
    differences = _differences_by_edge(request, edges)
    for edge in edges:
        informative = informative_needed(edge, **request.test)
        with_edge = differences[edge]
        wilcoxon = signed_rank_items(with_edge, **request.test) if with_edge else None
        if with_edge and wilcoxon is None:
            why = (
                f"of the pilot's {quantity(len(with_edge), 'pair')} with this edge, some win more "
                "often but lose by more"
            )
            remedy = "count signs, or play a larger pilot"
            request.leave_out(
                f"items by Wilcoxon's test at {edge:+.0%}", why, remedy, unanswerable=True
            )
        anchored = None
        if request.share:
            anchored = items_for(request, informative, request.share)
        yield SampleSize(
            edge=edge,
            informative=informative,
            direct=items_for(request, informative, request.share_decided),
            anchored=anchored,
            wilcoxon=None if wilcoxon is None else number_in_groups(request, wilcoxon),
        )


def items_for(request: PlanRequest, informative: int, share: Estimate) -> Estimate:
    """Return how many items contain, on average, a number of informative items.

    If the pilot's items have groups, more items are needed (`PilotGroups.scale`).

    Args:
        request: the request.
        informative: number of informative items, if items are independent.
        share: share of items that are informative, with its interval.
    """
    items = items_with(informative, share)
    return items if request.groups is None else request.groups.scale(items)


def number_in_groups(request: PlanRequest, items: int) -> int:
    """Return how many items in the pilot's groups a number of independent items needs.

    The number is unchanged if the pilot's items have no groups.
    """
    if request.groups is None:
        return items
    without_interval = Estimate(float(items))
    return int(request.groups.scale(without_interval).value)


def items_with(informative: int, share: Estimate) -> Estimate:
    """Return `items_needed` with an interval, from a share with an interval.

    Args:
        informative: number of informative items.
        share: share of items that are informative, with its interval.

    Returns:
        The number. Its upper end is None if the lower end of the share is 0 or unknown.
    """

    def number_of_items(part: float) -> float | None:
        """Return the number of items for a share; None for a share of 0."""
        return float(items_needed(informative, part)) if part else None

    return share.transform(number_of_items, decreasing=True)


def _sign_test_intervals(request: PlanRequest) -> str:
    """Write how the intervals of the numbers of items by the sign test are computed.

    The text also says which numbers have none, and why.
    """
    if request.record is None:
        return "none without a pilot"
    shares = {"direct": request.ties, "by anchor": request.share}
    without_interval = [
        name for name, share in shares.items() if share is not None and share.low is None
    ]
    exceptions = ""
    if without_interval:
        is_single_item = len(request.record.field.items) == 1
        why = "the share was given, not measured"
        if is_single_item:
            why = "the pilot is a single item"
        exceptions = f"; none {' and '.join(without_interval)}: {why}"
    source = "from that of the share of decided items (by item)"
    return f"{100 * request.level:g}%, {source}{exceptions}"


def _differences_by_edge(
    request: PlanRequest, edges: Sequence[float]
) -> Mapping[float, Sequence[Differences]]:
    """Return the distributions of differences for Wilcoxon's test, by edge.

    Without a pilot, they are those that are assumed (`three_levels`); an edge of 0.5 has none.
    With a pilot, `select_edge` selects them; all are empty if no item has two verdicts against one
    anchor. `methods` and `missing` of the request are changed in place.

    Returns:
        A list for each of `edges`; empty if there are no distributions for this edge.
    """
    if request.record is None:
        request.methods["wilcoxon"] = (
            "win, tie and loss against an anchor in the middle, independent of each other"
        )
        expected: dict[float, list[Differences]] = {}
        for edge in edges:
            expected[edge] = [_expected_differences(request, edge)] if edge < 0.5 else []
        return expected
    pool = list(recorded_differences(request.record))
    if not pool:
        if request.compares_one_pair:
            return dict.fromkeys(edges, ())
        why = "no item of the pilot has two readable verdicts against one anchor"
        request.leave_out(
            "items by Wilcoxon's test", why, "play several models on each item", unanswerable=True
        )
        return dict.fromkeys(edges, ())
    # With fewer than 100 items, the distributions of single pairs are too rough, and are pooled.
    allows_single_pairs = len(request.record.field.items) >= 100
    differences = {}
    edges_on_record = []
    for edge in edges:
        differences[edge], is_recorded = select_edge(
            pool, edge, allows_single_pairs=allows_single_pairs
        )
        if is_recorded:
            edges_on_record.append(f"{edge:+.0%}")
    recorded = ""
    if edges_on_record:
        recorded = f"as recorded for pairs with such an edge ({', '.join(edges_on_record)}), else "
    request.methods["wilcoxon"] = (
        f"differences {recorded}as large as those of all pairs of the pilot"
    )
    return differences


def _expected_differences(request: PlanRequest, edge: float) -> Differences:
    """Return the differences of two models with an edge that are assumed without a pilot.

    If the request gives a share of informative items, they have this share.
    """
    differences = three_levels(request.ties.value, edge)
    return differences.with_share(request.share.value) if request.share else differences


def smallest_edges(request: PlanRequest) -> Iterator[SmallestEdge]:
    """Yield the smallest edges that the planned items detect, directly and through the anchor.

    If the share of informative items through the anchor is unknown, only the first is yielded. If
    no number of items is planned, nothing is yielded, and the reason is added to `missing` of the
    request.
    """
    if request.items is None:
        request.leave_out(
            "the smallest gap at the planned size", "no number of items was given", "give --items"
        )
        return
    items = request.items
    if request.groups is not None:
        # The planned items tell as much as this number of independent ones.
        items = max(1, floor(items / request.groups.effect.value))
    # The edge that these items detect, as a function of the share of informative items.
    edge_of_share = partial(smallest_edge, items, alpha=request.alpha, power=request.power)
    for how, share in (("direct", request.share_decided), ("anchor", request.share)):
        if share is not None:
            # The larger the share, the smaller the edge.
            edge = share.transform(edge_of_share, decreasing=True)
            is_detected = edge.value is not None
            yield SmallestEdge(how, share, edge if is_detected else None)
