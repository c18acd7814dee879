"""How many items the Wilcoxon signed-rank test needs, by simulation (Don-Yehiya et al. 2026, appendix C, Listing 1).

Verdicts have few levels, so a sample is a count of each difference, and thousands of samples are tested at once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import binomtest, norm

from podium.errors import UsageError
from podium.planning.differences import Differences
from podium.planning.sign_test import check_test

WINDOW = 0.01
"""Width of the interval of edges from which the paper takes its distributions."""
MOST_ITEMS = 100_000
"""Items beyond which no test is planned."""


@dataclass(frozen=True, slots=True)
class Simulated:
    """A number of items found by simulation.

    Attributes:
        items: the smallest at which the simulated power reaches the promise.
        low, high: the smallest at which the promise lies within, and below, the power's interval: between them lies
            the true one at `level`.
        level: of that interval (Monte-Carlo error alone, Wilson).
        power: simulated at `items`.
        simulations: per number of items.
        distributions: that were drawn from.
    """

    items: int
    low: int
    high: int
    level: float
    power: float
    simulations: int
    distributions: int


def signed_rank_z(values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the z statistic of Wilcoxon's test with Pratt's zeros, shape (samples,); 0 where all differences are 0.

    Zeros are ranked with the others and then left out; tied ranks are averaged, and the variance corrected for them.

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
    each = rng.multinomial(simulations, np.full(len(pool), 1 / len(pool)))
    critical, rejected = norm.isf(alpha), 0
    for one, number in zip(pool, each, strict=True):
        counts = rng.multinomial(items, one.shares, size=number)
        rejected += int((signed_rank_z(one.values, counts.astype(np.float64)) > critical).sum())
    return rejected


def simulated_items(
    pool: Sequence[Differences],
    *,
    alpha: float = 0.05,
    power: float = 0.8,
    simulations: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> Simulated | None:
    """Return the number of items at which the one-sided test reaches the power, with its Monte-Carlo interval.

    None where 100,000 items do not: pairs that win more often may lose by more, and then the test never favours them.

    Args:
        pool: distributions of differences, at least one; all lean towards the first entrant.
        alpha: of the test, in (0, 0.5).
        power: in [0.5, 1).
        simulations: per number of items that is tried.
        level: of the interval.
        seed: each number of items has its own draws, the same whenever it is tried.

    Raises:
        UsageError: no distribution, or too few simulations.
    """
    check_test(alpha, power)
    if not pool or simulations < 100:
        raise UsageError("a power simulation needs at least one distribution and 100 simulations")
    known: dict[int, int] = {}

    def rejected(items: int) -> int:
        if items not in known:
            rng = np.random.default_rng([seed, items])
            known[items] = rejections(pool, items, alpha=alpha, simulations=simulations, rng=rng)
        return known[items]

    def bound(items: int, side: int) -> float:
        interval = binomtest(rejected(items), simulations).proportion_ci(level, method="wilson")
        return float(interval[side])

    low = _smallest(lambda n: bound(n, 1) >= power)
    items = _smallest(lambda n: rejected(n) >= power * simulations)
    high = _smallest(lambda n: bound(n, 0) >= power)
    if low is None or items is None or high is None:
        return None
    reached = rejected(items) / simulations
    return Simulated(items, min(low, items), max(high, items), level, reached, simulations, len(pool))


def with_edge(found: Sequence[Differences], edge: float, *, recorded: bool = True) -> tuple[list[Differences], bool]:
    """Return distributions of an edge, and whether they are recorded ones.

    As in the paper, those whose edge lies in [edge, edge + 0.01). Where none does, one that is made of all.

    Args:
        recorded: False where single distributions rest on too few items to be taken as they are.
    """
    near = [one for one in found if edge <= one.edge < edge + WINDOW and one.informative] if recorded else []
    if near:
        return near, True
    return ([pooled(found, edge)] if any(one.informative for one in found) else []), False


def pooled(found: Sequence[Differences], edge: float) -> Differences:
    """Return a distribution with the zeros and the sizes of all, wins and losses alike in size, and a given edge."""
    sizes, place = np.unique(np.concatenate([np.abs(one.values) for one in found]), return_inverse=True)
    shares = np.bincount(place, np.concatenate([one.shares for one in found])) / len(found)
    still, moved = shares[sizes == 0], shares[sizes > 0]
    values = np.concatenate([-sizes[sizes > 0][::-1], sizes[sizes == 0], sizes[sizes > 0]])
    return Differences(values, np.concatenate([(0.5 - edge) * moved[::-1], still, (0.5 + edge) * moved]))


def _smallest(enough: Callable[[int], bool]) -> int | None:
    """Return the smallest number that is enough, by doubling and halving; None where 100,000 are not."""
    high = 2
    while not enough(high):
        high *= 2
        if high > MOST_ITEMS:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
