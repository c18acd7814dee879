"""Differences of two entrants' verdicts against a common anchor, item by item: what paired tests see."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from scipy.optimize import brentq

from podium.errors import UsageError
from podium.rankers.informativeness import finest_verdicts
from podium.verbs.replays import Recording

WINDOW = 0.01
"""Width of the interval of edges from which the paper takes its distributions."""


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
        edge: of the first entrant, in [0, 0.5].

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
    """Return the differences when one entrant wins (1 - ties) (1/2 + lean) of its items and the other the mirror."""
    better = np.array([(1 - ties) * (0.5 - lean), ties, (1 - ties) * (0.5 + lean)])
    return Differences(np.arange(-2.0, 3.0), np.convolve(better, better))


def elo_of_lean(differences: Differences) -> float:
    """Return the distance in Elo of the two entrants of `three_levels`, from their win rates against the anchor."""
    # The mean difference of verdicts in {-1, 0, 1} is twice that of credits, and each is as far from the anchor.
    rate = 0.5 + float(differences.values @ differences.shares) / 4
    return float(800 * np.log10(rate / (1 - rate))) if rate < 1 else np.inf


def recorded_differences(record: Recording) -> Iterator[Differences]:
    """Yield the differences of every ordered pair of entrants against every anchor, on items where both were read.

    Source: Don-Yehiya et al. 2026, appendix C. Pairs that no item compares are left out.
    """
    cube = verdicts(record)
    for anchor, first, second in permutations(range(cube.shape[1]), 3):
        gap = np.round(cube[:, first, anchor] - cube[:, second, anchor], 12)
        values, counts = np.unique(gap[~np.isnan(gap)], return_counts=True)
        if len(values):
            yield Differences(values, counts / counts.sum())


def verdicts(record: Recording) -> np.ndarray:
    """Return the verdict on each entrant against each other, NaN where none was read, shape (items, n, n).

    As finely as the judge gives them: the margin of labels, else twice the credit minus 1; continuous ones by sign.
    """
    margin = np.array([outcome.margin for outcome in record.outcomes], dtype=np.float64)
    credit = np.array([outcome.credit for outcome in record.outcomes], dtype=np.float64)
    readable = ~np.isnan(credit)
    values, finest = np.sign(2 * credit - 1), finest_verdicts(margin[readable], credit[readable])
    if finest is not None:
        values[readable] = finest
    names = {name: k for k, name in enumerate(record.field.entrants)}
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
