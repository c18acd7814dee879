"""How many items one-sided sign tests (Don-Yehiya et al. 2026, 4.3) and signed-rank tests (appendix
C) need."""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from math import ceil, floor, sqrt
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr, ndtri

from podium.errors import UsageError
from podium.planning.plan_record import PlanRequest, SampleSize, SmallestEdge
from podium.planning.precision import cube_by_item
from podium.rankers.estimate import Estimate

if TYPE_CHECKING:
    from podium.planning.replays import Recording

ROUNDING = 9
"""Decimals to which a number of items is exact: 153 / 0.45 is 340, whatever 1 - 0.55 is in floating
point."""
MOST_ITEMS = 100_000
"""Items beyond which no signed-rank test is planned."""


@dataclass(frozen=True, slots=True)
class Differences:
    """A distribution of differences between two models' verdicts: ascending values, and the share
    of each."""

    values: np.ndarray
    shares: np.ndarray

    @property
    def informative(self) -> float:
        """Share of items on which the two models differ."""
        return float(self.shares[self.values != 0].sum())

    @property
    def edge(self) -> float:
        """Share of the informative items on which the first model is better, minus a half; 0 if
        there are none."""
        better = float(self.shares[self.values > 0].sum())
        return better / self.informative - 0.5 if self.informative else 0.0

    def with_share(self, share: float) -> "Differences":
        """Return the distribution with another share of informative items and the same edge."""
        shares = self.shares * share / self.informative
        return Differences(self.values, np.where(self.values == 0, 1 - share, shares))


def three_levels(ties: float, edge: float) -> Differences:
    """Return the differences of two models' verdicts against an anchor right between them, drawn
    independently.

    Both models tie with it at the same rate; one wins (1 - t) (1/2 + x) of the items, the other
    loses as many, where x solves 2 e c x^2 - (1 + t) x + e (c/2 + 2 t) = 0, c = 1 - t, t = ties, e
    = edge. Items hard for both inform less.
    """
    decided = 1 - ties
    root = sqrt((1 + ties) ** 2 - 8 * edge**2 * decided * (decided / 2 + 2 * ties))
    lean = ((1 + ties) - root) / (4 * edge * decided) if edge else 0.0
    verdict = np.array([decided * (0.5 - lean), ties, decided * (0.5 + lean)])
    return Differences(np.arange(-2.0, 3.0), np.convolve(verdict, verdict))


def recorded_differences(record: "Recording") -> Iterator[Differences]:
    """Yield the differences of each ordered pair against each anchor, on items where both were
    parsed (appendix C)."""
    cube = verdict_cube(record)
    for anchor, first, second in permutations(range(cube.shape[1]), 3):
        gap = np.round(cube[:, first, anchor] - cube[:, second, anchor], 12)
        values, counts = np.unique(gap[~np.isnan(gap)], return_counts=True)
        if len(values):
            yield Differences(values, counts / counts.sum())


def verdict_cube(record: "Recording") -> np.ndarray:
    """Return the verdict on each model against each other by item, NaN if unparsed, shape (items,
    n, n)."""
    from podium.rankers.informativeness import finest_verdicts

    margin = np.array([outcome.margin for outcome in record.outcomes], dtype=np.float64)
    credit = np.array([outcome.credit for outcome in record.outcomes], dtype=np.float64)
    readable = ~np.isnan(credit)
    values, finest = np.sign(2 * credit - 1), finest_verdicts(margin[readable], credit[readable])
    if finest is not None:
        values[readable] = finest
    return cube_by_item(record, values)


def select_edge(
    pool: Sequence[Differences], edge: float, *, single: bool = True
) -> tuple[list[Differences], bool]:
    """Return distributions with an edge in [edge, edge + 0.01), else one of the whole pool; True if
    recorded."""
    informative = [differences for differences in pool if differences.informative]
    near = [
        differences
        for differences in informative
        if single and edge <= differences.edge < edge + 0.01
    ]
    return near or ([pool_differences(pool, edge)] if informative else []), bool(near)


def pool_differences(pool: Sequence[Differences], edge: float) -> Differences:
    """Return a distribution with the zeros and sizes of the whole pool, losses as large as wins,
    and a given edge."""
    sizes, place = np.unique(
        np.concatenate([np.abs(each.values) for each in pool]), return_inverse=True
    )
    shares = np.bincount(place, np.concatenate([each.shares for each in pool])) / len(pool)
    still, moved = shares[sizes == 0], shares[sizes > 0]
    values = np.concatenate([-sizes[sizes > 0][::-1], sizes[sizes == 0], sizes[sizes > 0]])
    return Differences(
        values, np.concatenate([(0.5 - edge) * moved[::-1], still, (0.5 + edge) * moved])
    )


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
"""By name, which numbers a plan accepts."""


def check_numbers(**numbers: float | None) -> None:
    """Raise UsageError if a number is out of the range that `RANGES` has for its name; None is
    accepted."""
    for name, value in numbers.items():
        is_possible, range_ = RANGES[name]
        if value is not None and not is_possible(value):
            raise UsageError(f"{name}={value} is not in {range_}")


def informative_needed(edge: float, *, alpha: float = 0.05, power: float = 0.8) -> int:
    """Return n = ceil(((z_alpha / 2 + z_power sqrt(p (1 - p))) / (p - 1/2))^2) with p = 1/2 +
    edge."""
    reach = ndtri(1 - alpha) / 2 + ndtri(power) * sqrt(0.25 - edge**2)
    return ceil(round((reach / edge) ** 2, ROUNDING))


def items_needed(informative: int, share: float) -> int:
    """Return how many items contain so many informative ones, given the share of informative
    items."""
    return ceil(round(informative / share, ROUNDING))


def smallest_edge(
    items: int, share: float = 1.0, *, alpha: float = 0.05, power: float = 0.8
) -> float | None:
    """Return the smallest edge that `informative_needed` grants on so many items; None if even 0.5
    is too small."""
    n = floor(round(items * share, ROUNDING))
    a, p = float(ndtri(1 - alpha)), float(ndtri(power))
    # With fewer, not even a model that wins all of them is detected.
    if n < a**2:
        return None
    return (a * sqrt(n) + p * sqrt(n - a**2 + p**2)) / (2 * (n + p**2))


def signed_rank_z(values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return Wilcoxon's z from counts of values, shape (samples, values): zeros as Pratt's, tied
    ranks averaged."""
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
    return np.divide(
        positive - mean, np.sqrt(variance), out=np.zeros(len(counts)), where=variance > 0
    )


def signed_rank_power(differences: Differences, items: int, *, alpha: float = 0.05) -> float:
    """Return the power of Wilcoxon's one-sided test, by the delta method for its z as a function of
    the counts."""
    mean, step = differences.shares * items, 1e-4 * items
    z, *shifted = signed_rank_z(
        differences.values, np.vstack([mean, mean + step * np.eye(len(mean))])
    )
    slope = (np.array(shifted) - z) / step
    # Counts are multinomial: their covariance is items (diag(p) - p p').
    variance = items * (differences.shares @ slope**2 - (differences.shares @ slope) ** 2)
    distance = z - ndtri(1 - alpha)
    return float(ndtr(distance / sqrt(variance))) if variance > 0 else float(distance > 0)


def signed_rank_items(
    pool: Sequence[Differences], *, alpha: float = 0.05, power: float = 0.8
) -> int | None:
    """Return the items at which Wilcoxon's one-sided test has a mean power over a pool; None if
    100,000 do not."""
    return smallest_number(
        lambda n: np.mean([signed_rank_power(each, n, alpha=alpha) for each in pool]) >= power
    )


def smallest_number(is_enough: Callable[[int], object], most: int = MOST_ITEMS) -> int | None:
    """Return the smallest number from 2 on that is enough, by doubling and halving; None if no
    power of 2 is."""
    high = 2
    while not is_enough(high):
        high *= 2
        if high > most:
            return None
    between = range(high // 2 + 1, high)
    return high // 2 + 1 + bisect_left(between, True, key=lambda number: bool(is_enough(number)))


def sample_sizes(request: PlanRequest) -> Iterator[SampleSize]:
    """Yield the items that detect each edge of Table 2, and the edge asked about."""
    edges = sorted({0.05, 0.10, 0.15, 0.20, 0.25, request.edge})
    request.methods["sign test"] = _sign_test_intervals(request)
    differences = _differences_by_edge(request, edges)
    for edge in edges:
        informative, known = informative_needed(edge, **request.test), differences[edge]
        wilcoxon = signed_rank_items(known, **request.test) if known else None
        if known and wilcoxon is None:
            why = (
                f"of the pilot's {len(known)} pairs with this edge, some win more often but lose "
                "by more"
            )
            remedy = "count signs, or play a larger pilot"
            request.leave_out(
                f"items by Wilcoxon's test at {edge:+.0%}", why, remedy, unanswerable=True
            )
        yield SampleSize(
            edge=edge,
            informative=informative,
            direct=items_with(informative, request.share_decided),
            anchored=items_with(informative, request.share) if request.share else None,
            wilcoxon=wilcoxon,
        )


def items_with(informative: int, share: Estimate) -> Estimate:
    """Return how many items contain so many informative ones, with the interval that follows from
    the share's."""
    return share.transform(
        lambda part: float(items_needed(informative, part)) if part else None, decreasing=True
    )


def _sign_test_intervals(request: PlanRequest) -> str:
    """Say what the intervals of the sign test's items come from, or why there is none."""
    if request.record is None:
        return "none without a pilot"
    shares = {"direct": request.ties, "by anchor": request.share}
    bare = [name for name, share in shares.items() if share is not None and share.low is None]
    single = len(request.record.field.items) == 1
    why = "the pilot is a single item" if single else "the share was given, not measured"
    lacking = f"; none {' and '.join(bare)}: {why}" if bare else ""
    return f"{100 * request.level:g}%, from that of the share of decided items (by item){lacking}"


def _differences_by_edge(
    request: PlanRequest, edges: Sequence[float]
) -> Mapping[float, Sequence[Differences]]:
    """Return for every edge the differences that Wilcoxon's test is planned with, [] if unknown;
    note their source."""
    if request.record is None:
        request.methods["wilcoxon"] = (
            "win, tie and loss against an anchor in the middle, independent of each other"
        )
        return {
            edge: [_expected_differences(request, edge)] if edge < 0.5 else [] for edge in edges
        }
    pool = list(recorded_differences(request.record))
    if not pool:
        why = "no item of the pilot has two readable verdicts against one anchor"
        request.leave_out(
            "items by Wilcoxon's test", why, "play several models on each item", unanswerable=True
        )
        return dict.fromkeys(edges, ())
    # With fewer items, the differences of single pairs are too rough, and are pooled.
    single = len(request.record.field.items) >= 100
    chosen = {edge: select_edge(pool, edge, single=single) for edge in edges}
    own = [f"{edge:+.0%}" for edge, (_, is_recorded) in chosen.items() if is_recorded]
    recorded = f"as recorded for pairs with such an edge ({', '.join(own)}), else " if own else ""
    request.methods["wilcoxon"] = (
        f"differences {recorded}as large as those of all pairs of the pilot"
    )
    return {edge: near for edge, (near, _) in chosen.items()}


def _expected_differences(request: PlanRequest, edge: float) -> Differences:
    """Return the differences of two models with an edge, without a pilot."""
    differences = three_levels(request.ties.value, edge)
    return differences.with_share(request.share.value) if request.share else differences


def smallest_edges(request: PlanRequest) -> Iterator[SmallestEdge]:
    """Yield the smallest edges that the planned items detect, directly and through the anchor."""
    if request.items is None:
        request.leave_out(
            "the smallest gap at the planned size", "no number of items was given", "give --items"
        )
        return
    for how, share in (("direct", request.share_decided), ("anchor", request.share)):
        if share is not None:
            # The larger the share, the smaller the edge.
            edge = share.transform(
                partial(smallest_edge, request.items, **request.test), decreasing=True
            )
            yield SmallestEdge(how, share, None if edge.value is None else edge)
