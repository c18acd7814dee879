"""How many items a sign test and a signed-rank test need, and what they can tell (Don-Yehiya et al. 2026).

Both are one-sided. The sign test (section 4.3, Table 2) counts only items on which the judge tells the two models
apart; the edge is the better one's share of those, minus a half. Wilcoxon's test (appendix C, Listing 1) is simulated:
verdicts have few levels, so a sample is a count of each difference, and thousands of samples are tested at once.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from math import ceil, floor, sqrt

import numpy as np
from scipy.optimize import brentq
from scipy.stats import binom, binomtest, norm

from podium.errors import UsageError
from podium.planning.plan import SimulatedSize
from podium.rankers.informativeness import finest_verdicts
from podium.verbs.replays import Recording

WINDOW = 0.01
"""Width of the interval of edges from which the paper takes its distributions."""
ROUNDING = 9
"""Decimals to which a number of items is exact: 153 / 0.45 is 340, whatever 1 - 0.55 is in floating point."""
MOST_ITEMS = 100_000
"""Items beyond which no signed-rank test is planned."""


@dataclass(frozen=True, slots=True)
class Differences:
    """A distribution of differences: distinct values, ascending, and how often each occurs (sum 1)."""

    values: np.ndarray
    shares: np.ndarray

    @property
    def informative(self) -> float:
        """Share of items that tell the two apart."""
        return float(self.shares[self.values != 0].sum())

    @property
    def edge(self) -> float:
        """Share of those on which the first is better, minus a half; 0 where nothing tells them apart."""
        better = float(self.shares[self.values > 0].sum())
        return better / self.informative - 0.5 if self.informative else 0.0

    def with_share(self, share: float) -> "Differences":
        """Return the distribution with another share of informative items; the proportions among these stay."""
        shares = self.shares * share / self.informative
        return Differences(self.values, np.where(self.values == 0, 1 - share, shares))


def three_levels(ties: float, edge: float) -> Differences:
    """Return the differences under a model: win, tie, loss, drawn apart for both, the anchor right between them.

    Both tie with the anchor at the same rate, and what one wins more than half of the rest the other wins less. It
    is the best case: items that are hard for both make verdicts alike, and so fewer of them informative.

    >>> round(three_levels(ties=0.0, edge=0.05).informative, 3), round(three_levels(ties=0.15, edge=0.0).informative, 3)
    (0.501, 0.616)

    Args:
        ties: share of ties with the anchor, in [0, 1).
        edge: of the first model, in [0, 0.5].

    Raises:
        UsageError: one of them is out of its range, or such an edge cannot be reached.
    """
    if not 0 <= ties < 1:
        raise UsageError(f"ties={ties} is not in [0, 1)")
    if edge == 0:
        return _differences_of_lean(ties, 0.0)
    if _differences_of_lean(ties, 0.5).edge < edge:
        raise UsageError(f"edge={edge} cannot be reached with ties={ties}")
    return _differences_of_lean(ties, float(brentq(lambda lean: _differences_of_lean(ties, lean).edge - edge, 0, 0.5)))


def _differences_of_lean(ties: float, lean: float) -> Differences:
    """Return the differences when one model wins (1 - ties) (1/2 + lean) of its items and the other the mirror."""
    better = np.array([(1 - ties) * (0.5 - lean), ties, (1 - ties) * (0.5 + lean)])
    return Differences(np.arange(-2.0, 3.0), np.convolve(better, better))


def elo_of_lean(differences: Differences) -> float:
    """Return the distance in Elo of the two models of `three_levels`, from their win rates against the anchor."""
    # The mean difference of verdicts in {-1, 0, 1} is twice that of credits, and each is as far from the anchor.
    rate = 0.5 + float(differences.values @ differences.shares) / 4
    return float(800 * np.log10(rate / (1 - rate))) if rate < 1 else np.inf


def recorded_differences(record: Recording) -> Iterator[Differences]:
    """Yield the differences of every ordered pair of models against every anchor, on items where both were read.

    Source: Don-Yehiya et al. 2026, appendix C. Pairs that no item compares are left out.
    """
    cube = verdicts(record)
    for anchor, first, second in permutations(range(cube.shape[1]), 3):
        gap = np.round(cube[:, first, anchor] - cube[:, second, anchor], 12)
        values, counts = np.unique(gap[~np.isnan(gap)], return_counts=True)
        if len(values):
            yield Differences(values, counts / counts.sum())


def verdicts(record: Recording) -> np.ndarray:
    """Return the verdict on each model against each other, NaN where none was read, shape (items, n, n).

    As finely as the judge gives them: the margin of labels, else twice the credit minus 1; continuous ones by sign.
    """
    margin = np.array([outcome.margin for outcome in record.outcomes], dtype=np.float64)
    credit = np.array([outcome.credit for outcome in record.outcomes], dtype=np.float64)
    readable = ~np.isnan(credit)
    values, finest = np.sign(2 * credit - 1), finest_verdicts(margin[readable], credit[readable])
    if finest is not None:
        values[readable] = finest
    names = {name: k for k, name in enumerate(record.field.models)}
    items = {name: k for k, name in enumerate(record.field.items)}
    cube = np.full((len(items), len(names), len(names)), np.nan)
    for outcome, value in zip(record.outcomes, values, strict=True):
        item, a, b = items[outcome.pairing.item], names[outcome.pairing.a], names[outcome.pairing.b]
        cube[item, a, b], cube[item, b, a] = value, -value
    return cube


def select_edge(pool: Sequence[Differences], edge: float, *, single: bool = True) -> tuple[list[Differences], bool]:
    """Return distributions of an edge, and whether they are recorded ones.

    As in the paper, those whose edge lies in [edge, edge + 0.01). Where none does, or single ones rest on too few
    items to be taken as they are (`single` is False), one that is made of all.
    """
    informative = [differences for differences in pool if differences.informative]
    near = [differences for differences in informative if single and edge <= differences.edge < edge + WINDOW]
    if near:
        return near, True
    return ([pool_differences(pool, edge)] if informative else []), False


def pool_differences(pool: Sequence[Differences], edge: float) -> Differences:
    """Return a distribution with the zeros and the sizes of all, wins and losses alike in size, and a given edge."""
    sizes, place = np.unique(np.concatenate([np.abs(each.values) for each in pool]), return_inverse=True)
    shares = np.bincount(place, np.concatenate([each.shares for each in pool])) / len(pool)
    still, moved = shares[sizes == 0], shares[sizes > 0]
    values = np.concatenate([-sizes[sizes > 0][::-1], sizes[sizes == 0], sizes[sizes > 0]])
    return Differences(values, np.concatenate([(0.5 - edge) * moved[::-1], still, (0.5 + edge) * moved]))


RANGES: dict[str, tuple[Callable[[float], bool], str]] = {
    "edge": (
        lambda edge: 0 < edge <= 0.5,
        " is not in (0, 0.5]: it is a share above one half, 0.05 for 55% of decided items",
    ),
    "alpha": (lambda alpha: 0 < alpha < 0.5, " is not in (0, 0.5); 0.05 is usual"),
    "power": (lambda power: 0.5 <= power < 1, " is not in [0.5, 1); 0.8 is usual"),
    "models": (lambda number: number >= 2, ": a comparison needs at least two"),
    "items": (lambda number: number >= 1, ": a comparison needs at least one"),
    "informativeness": (lambda share: 0 < share <= 1, " is not in (0, 1]"),
    "ties": (lambda share: 0 <= share < 1, " is not in [0, 1)"),
}
"""Which numbers can be planned with, and what to say of others."""


def informative_needed(edge: float, *, alpha: float = 0.05, power: float = 0.8) -> int:
    """Return n = ceil(((z_alpha / 2 + z_power sqrt(p (1 - p))) / (p - 1/2))^2) with p = 1/2 + edge.

    >>> [informative_needed(edge) for edge in (0.05, 0.10, 0.15, 0.20, 0.25)]
    [617, 153, 67, 37, 23]

    Raises:
        UsageError: edge, alpha or power is out of its range.
    """
    check_numbers(alpha=alpha, power=power, edge=edge)
    reach = norm.isf(alpha) / 2 + norm.ppf(power) * sqrt(0.25 - edge**2)
    return ceil(round((reach / edge) ** 2, ROUNDING))


def items_needed(informative: int, share: float) -> int:
    """Return how many items hold so many informative ones, when this share of them is informative.

    >>> items_needed(617, 0.61), items_needed(153, 1 - 0.55)
    (1012, 340)

    Raises:
        UsageError: the share is not in (0, 1].
    """
    if not 0 < share <= 1:
        raise UsageError(f"a share of informative items of {share} is not in (0, 1]: nothing would be told apart")
    return ceil(round(informative / share, ROUNDING))


def smallest_edge(items: int, share: float = 1.0, *, alpha: float = 0.05, power: float = 0.8) -> float | None:
    """Return the smallest edge that the formula of `informative_needed` grants; None where even 0.5 is too small.

    It solves that formula for the edge: (z_a sqrt(n) + z_p sqrt(n - z_a^2 + z_p^2)) / (2 (n + z_p^2)), n being the
    share of the items that is informative, in (0, 1].
    """
    check_numbers(alpha=alpha, power=power)
    n = floor(round(items * share, ROUNDING))
    a, p = float(norm.isf(alpha)), float(norm.ppf(power))
    # With fewer, not even a model that wins all of them is told.
    if n < a**2:
        return None
    return (a * sqrt(n) + p * sqrt(n - a**2 + p**2)) / (2 * (n + p**2))


def exact_power(informative: int | np.ndarray, edge: float, *, alpha: float = 0.05) -> np.ndarray:
    """Return the power of the exact binomial test on so many informative items, same shape.

    The formula of the paper is a normal approximation: its sizes miss the promised power by a little.
    """
    critical = binom.isf(alpha, informative, 0.5)
    return np.asarray(binom.sf(critical, informative, 0.5 + edge))


def exactly_needed(edge: float, *, alpha: float = 0.05, power: float = 0.8) -> int:
    """Return the smallest number of informative items from which on the exact test always has the power.

    Power climbs in a sawtooth, because counts are whole; the last tooth below the promise decides.
    """
    sizes = np.arange(1, 2 * informative_needed(edge, alpha=alpha, power=power) + 50)
    short = np.flatnonzero(exact_power(sizes, edge, alpha=alpha) < power)
    return int(sizes[short[-1]]) + 1 if short.size else 1


def check_numbers(**numbers: float | None) -> None:
    """Refuse numbers that cannot be, by what they are called; None is no number.

    Raises:
        UsageError: one of them is out of its range.
    """
    for name, value in numbers.items():
        is_possible, range_ = RANGES[name]
        if value is not None and not is_possible(value):
            raise UsageError(f"{name}={value}{range_}")


def signed_rank_z(values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the z statistic of Wilcoxon's test with Pratt's zeros, shape (samples,); 0 where all differences are 0.

    Zeros are ranked with the others and then left out; tied ranks are averaged, and the variance corrected for them.
    It is that of `scipy.stats.wilcoxon`, from counts instead of differences written out.

    Args:
        values: of the differences, shape (values,).
        counts: how often each occurs in each sample, shape (samples, values).
    """
    sizes, place = np.unique(np.abs(values), return_inverse=True)
    group = counts @ (place[:, None] == np.arange(len(sizes)))
    ranks = np.cumsum(group, axis=1) - (group - 1) / 2
    zeros = group[:, 0] if sizes[0] == 0 else np.zeros(len(counts))
    positive = (counts * (values > 0) * ranks[:, place]).sum(axis=1)
    number = counts.sum(axis=1)
    mean = (number * (number + 1) - zeros * (zeros + 1)) / 4
    tied = group[:, sizes > 0]
    spread = number * (number + 1) * (2 * number + 1) - zeros * (zeros + 1) * (2 * zeros + 1)
    variance = (spread - (tied**3 - tied).sum(axis=1) / 2) / 24
    return np.divide(positive - mean, np.sqrt(variance), out=np.zeros(len(counts)), where=variance > 0)


def rejections(
    pool: Sequence[Differences], items: int, *, alpha: float, simulations: int, rng: np.random.Generator
) -> int:
    """Return how many simulated samples reject, each of so many items of a distribution drawn from the pool."""
    sizes = rng.multinomial(simulations, np.full(len(pool), 1 / len(pool)))
    critical, rejected = norm.isf(alpha), 0
    for differences, size in zip(pool, sizes, strict=True):
        counts = rng.multinomial(items, differences.shares, size=size)
        rejected += int((signed_rank_z(differences.values, counts.astype(np.float64)) > critical).sum())
    return rejected


def simulated_items(
    pool: Sequence[Differences],
    *,
    alpha: float = 0.05,
    power: float = 0.8,
    simulations: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> SimulatedSize | None:
    """Return the number of items at which the one-sided test reaches the power, with its Monte-Carlo interval.

    None where 100,000 items do not: pairs that win more often may lose by more, and then the test never favours them.

    Args:
        pool: distributions of differences, at least one; all lean towards the first model.
        simulations: per number of items that is tried.
        seed: each number of items has its own draws, the same whenever it is tried.

    Raises:
        UsageError: no distribution, or too few simulations.
    """
    check_numbers(alpha=alpha, power=power)
    if not pool or simulations < 100:
        raise UsageError("a power simulation needs at least one distribution and 100 simulations")

    @cache
    def rejections_on(items: int) -> int:
        rng = np.random.default_rng([seed, items])
        return rejections(pool, items, alpha=alpha, simulations=simulations, rng=rng)

    def power_bound(items: int, side: int) -> float:
        return float(binomtest(rejections_on(items), simulations).proportion_ci(level, method="wilson")[side])

    low = smallest_number(lambda n: power_bound(n, 1) >= power)
    items = smallest_number(lambda n: rejections_on(n) >= power * simulations)
    high = smallest_number(lambda n: power_bound(n, 0) >= power)
    if low is None or items is None or high is None:
        return None
    reached = rejections_on(items) / simulations
    return SimulatedSize(items, min(low, items), max(high, items), level, reached, simulations, len(pool))


def smallest_number(is_enough: Callable[[int], bool], most: int = MOST_ITEMS) -> int | None:
    """Return the smallest number from 2 on that is enough, by doubling and halving; None where no power of 2 is."""
    high = 2
    while not is_enough(high):
        high *= 2
        if high > most:
            return None
    between = range(high // 2 + 1, high)
    return high // 2 + 1 + bisect_left(between, True, key=is_enough)
