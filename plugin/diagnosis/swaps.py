"""Pairs that were read in both orders: do their verdicts hold?"""

from dataclasses import dataclass, replace

import numpy as np

from podium.battles import Battles
from podium.diagnosis import near_ties
from podium.diagnosis.answer import Figure, Missing
from podium.diagnosis.estimates import Clusters, clusters_of, or_missing, share
from podium.merging import find_twins

BOTH_ORDERS = "show each pair in both orders"
NO_PAIRS = "no pair was read in both orders"


@dataclass(frozen=True, slots=True)
class Twins:
    """Pairs read in both orders; each order's credit and margin belong to the response shown first in it.

    Attributes:
        credit: shape (pairs, 2).
        margin: shape (pairs, 2); NaN where there is none.
        meeting: code of item and entrants, which repeats share, shape (pairs,).
        clusters: of the pairs.
    """

    credit: np.ndarray
    margin: np.ndarray
    meeting: np.ndarray
    clusters: Clusters

    def __len__(self) -> int:
        return len(self.credit)

    def take(self, rows: np.ndarray) -> "Twins":
        """Return the pairs of a mask or of positions."""
        return Twins(self.credit[rows], self.margin[rows], self.meeting[rows], self.clusters.take(rows))

    @property
    def wins(self) -> tuple[np.ndarray, np.ndarray]:
        """Outcomes 1, 0, -1 of the response shown first, in either order, shape (pairs,) each."""
        first, then = np.sign(self.credit - 0.5).T
        return first, then

    @property
    def flips(self) -> np.ndarray:
        """Whether each order declared another winner: the first, or the second, each time, shape (pairs,)."""
        first, then = self.wins
        return (first == then) & (first != 0)

    def merged(self) -> tuple[np.ndarray, np.ndarray]:
        """Return credit and margin of one of the two responses, averaged over the orders, shape (pairs,) each."""
        return 0.5 + (self.credit[:, 0] - self.credit[:, 1]) / 2, (self.margin[:, 0] - self.margin[:, 1]) / 2


@dataclass(frozen=True, slots=True)
class Swaps:
    """How verdicts hold when the order is swapped.

    Attributes:
        pairs: read in both orders.
        same, half, flip: shares: one verdict, one order a tie, each order another winner.
        flip_decisive: share of flips where neither order is a tie.
        prefers_first: share of decisive presentations that the response shown first won; 0.5 without bias.
        flips_to_first: share of flips that went to the response shown first; 0.5 without bias.
    """

    pairs: int
    same: Figure | Missing
    half: Figure | Missing
    flip: Figure | Missing
    flip_decisive: Figure | Missing
    prefers_first: Figure | Missing
    flips_to_first: Figure | Missing


@dataclass(frozen=True, slots=True)
class Apart:
    """Swaps with and without near-ties.

    Attributes:
        all: of all pairs.
        clear: of pairs that are no near-ties.
        near: of near-ties.
        rule: what a near-tie is here; None without pairs.
    """

    all: Swaps | Missing
    clear: Swaps | Missing
    near: Swaps | Missing
    rule: str | None


def first_shown(battles: Battles) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what the response shown first earned, its margin, and whether both verdict and order are known.

    Returns:
        Shape (rows,) each; NaN where unread or unknown.
    """
    table = battles.table
    order = table["order"].astype(object).to_numpy() if "order" in table else np.full(len(table), None)
    credit = table["credit"].to_numpy(dtype=np.float64)
    margin = table["margin"].to_numpy(dtype=np.float64) if "margin" in table else np.full(len(table), np.nan)
    second = order == "ba"
    known = np.isin(order, ["ab", "ba"]) & ~np.isnan(credit)
    return np.where(second, 1 - credit, credit), np.where(second, -margin, margin), known


def twins_of(presentations: Battles) -> Twins:
    """Find the pairs read in both orders: one `ab` and one `ba` of the same item, pair, judge and repeat."""
    table, clusters = presentations.table, clusters_of(presentations)
    credit, margin, _ = first_shown(presentations)
    found = find_twins(table)
    rows = np.stack([found.earlier, found.later], axis=1)
    rows = rows[~np.isnan(credit[rows]).any(axis=1)]
    a, b = (table[side].cat.codes.to_numpy(dtype=np.int64)[rows[:, 0]] for side in ("model_a", "model_b"))
    entrants = len(presentations.entrants)
    ours = clusters.take(rows[:, 0])
    meeting = (ours.code * entrants + np.minimum(a, b)) * entrants + np.maximum(a, b)
    return Twins(credit[rows], margin[rows], meeting, ours)


def swaps(twins: Twins, level: float) -> Swaps | Missing:
    """Report how verdicts hold.

    Source: Soft-Elo, appendix F.1 (flips of decisive battles; the position-1 response picked).
    """
    if not len(twins):
        return Missing("swap report", NO_PAIRS, BOTH_ORDERS)
    first, then = twins.wins
    flip, decisive, ours = twins.flips, (first != 0) & (then != 0), twins.clusters
    win = np.concatenate([first, then])
    shown = Clusters(np.tile(ours.code, 2), ours.unit).take(win != 0)
    return Swaps(
        pairs=len(twins),
        same=or_missing(share(first == -then, ours, level, "pairs"), "pairs"),
        half=or_missing(share((first == 0) != (then == 0), ours, level, "pairs"), "pairs"),
        flip=or_missing(share(flip, ours, level, "pairs"), "pairs"),
        flip_decisive=or_missing(share(flip[decisive], ours.take(decisive), level, "pairs"), "pairs without a tie"),
        prefers_first=or_missing(share(win[win != 0] == 1, shown, level, "presentations"), "decisive verdicts"),
        flips_to_first=or_missing(share(first[flip] == 1, ours.take(flip), level, "flips"), "flips"),
    )


def with_and_without_near_ties(twins: Twins, near_tie: float, level: float) -> Apart:
    """Report on all pairs, on clear ones, and on near-ties; a pair whose margin is not known is in neither part.

    A near-tie is told by the judge's own margin; without margins by its soft credit; of hard verdicts, by a tie in
    either order.
    """
    if not len(twins):
        nothing = Missing("near-ties", NO_PAIRS, BOTH_ORDERS)
        return Apart(swaps(twins, level), nothing, nothing, None)
    credit, margin = twins.merged()
    found = near_ties.by_view(credit, margin, near_tie)
    if found is None:
        return _apart_by_ties(twins, level)
    near, rule = found
    told = np.isfinite(margin) if np.isfinite(margin).any() else np.ones(len(near), dtype=bool)
    clear, close = (swaps(twins.take(told & part), level) for part in (~near, near))
    return Apart(swaps(twins, level), clear, close, rule)


def _apart_by_ties(twins: Twins, level: float) -> Apart:
    """Call a pair with a tie a near-tie; what then holds by definition is no finding."""
    near = (twins.credit == 0.5).any(axis=1)
    clear, close = (swaps(twins.take(part), level) for part in (~near, near))
    trivial = Missing("near-ties", "a pair with a tie in either order is a near-tie here", "give a column margin")
    if isinstance(clear, Swaps):
        clear = replace(clear, half=trivial)
    if isinstance(close, Swaps):
        close = replace(close, flip=trivial, flip_decisive=trivial, flips_to_first=trivial)
    return Apart(swaps(twins, level), clear, close, "a tie in either order (the verdicts carry no margin)")
