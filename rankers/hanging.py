"""What the first place hangs on: the fewest items without which another model leads."""

from dataclasses import dataclass, replace
from itertools import combinations, islice

import numpy as np

from podium.nouns.battles import Battles
from podium.rankers.coded import Coded, code_battles
from podium.rankers.graph import hang_together
from podium.rankers.identification import strengths_of
from podium.rankers.newton import maximise_many
from podium.rankers.pairs import PairCells, cells_by_cluster
from podium.rankers.standings import SAME_SCORE
from podium.rankers.strengths import Strengths, fit_strengths, pair_likelihood
from podium.text import as_text

ENUMERATED = 12
"""Clusters up to which every set of them is tried: 4,094 fits."""
TRIED = 8
"""Clusters that a step of the greedy search refits without, those of the largest influence."""
AT_ONCE = 2048
HOPEFUL = 2.0
"""Times as much may leaving clusters do as influences say, over the share that stays; what lacks more is given up."""


@dataclass(frozen=True, slots=True)
class Hinge:
    """The items that the first place hangs on.

    Attributes:
        leader: who leads by all items; of several with one score the first by name.
        rival: who leads without `items`; None where no set that was tried changes the leader.
        items: their names; a row without an item is called by its number, as `row 3`. Empty where the first place is
            shared, or nothing that was tried changes the leader.
        exact: whether every smaller set was tried; else the fewest are at most these.
        most: the largest sets that were looked for.
    """

    leader: str
    rival: str | None
    items: tuple[str, ...]
    exact: bool
    most: int


def first_place(battles: Battles, *, most: int | None = None, enumerated: int = ENUMERATED) -> Hinge:
    """Find the fewest items without which another model leads by Bradley-Terry, confirmed by a fit without them.

    Removals after which the models do not hang together by battles any more do not count.

    Args:
        battles: of one judge, or taken together.
        most: the largest set to look for; by default as many as there are, less one.
        enumerated: items up to which every set is tried. Above, one after the other leaves, that which brings the
            leader closest to a rival; every rival is tried, and the smallest set is taken.

    Raises:
        NotIdentifiedError: nothing is readable, or the models do not hang together to begin with.
    """
    coded = code_battles(battles)
    hinge = first_place_of(coded, most=most, enumerated=enumerated)
    table = battles.table[battles.readable]
    rows = table.iloc[[int(np.argmax(coded.cluster == int(code))) for code in hinge.items]]
    items = as_text(rows["item"]) if "item" in rows else [None] * len(rows)
    named = (item or f"row {row + 1}" for item, row in zip(items, rows.index, strict=True))
    return replace(hinge, items=tuple(sorted(named)))


def first_place_of(coded: Coded, *, most: int | None = None, enumerated: int = ENUMERATED) -> Hinge:
    """Do what `first_place` does; items are the codes of their clusters, as text."""
    strengths = strengths_of(coded)
    search = _Search(strengths, cells_by_cluster(coded, strengths.pairs))
    leader, limit = int(np.argmax(strengths.theta)), coded.clusters - 1
    limit = limit if most is None else min(most, limit)
    exact = coded.clusters <= enumerated
    shared = int(np.sum(strengths.theta > strengths.theta[leader] - SAME_SCORE)) > 1
    gone = () if shared else (search.enumerate if exact else search.descend)(leader, limit)
    rival = coded.models[int(np.argmax(search.theta_without([gone])[0]))] if gone else None
    return Hinge(coded.models[leader], rival, tuple(map(str, sorted(gone))), exact, limit)


@dataclass(frozen=True, slots=True)
class _Search:
    """Fits without some clusters.

    Attributes:
        strengths: by all of them.
        cells: pair sums of each.
    """

    strengths: Strengths
    cells: PairCells

    @property
    def clusters(self) -> int:
        return int(self.cells.weight.shape[0])

    def enumerate(self, leader: int, most: int) -> tuple[int, ...]:
        """Return the smallest set without which another leads; of several that which puts it farthest ahead."""
        for size in range(1, most + 1):
            passed: list[tuple[float, tuple[int, ...]]] = []
            every = combinations(range(self.clusters), size)
            while sets := list(islice(every, AT_ONCE)):
                leads = _leads_of(self.theta_without(sets), leader)
                passed += [(leads[k], sets[k]) for k in np.flatnonzero(leads > SAME_SCORE)]
            if passed:
                return min(passed, key=lambda pair: (-round(pair[0], 9), pair[1]))[1]
        return ()

    def descend(self, leader: int, most: int) -> tuple[int, ...]:
        """Return the smallest set that a greedy search finds for any rival."""
        best: tuple[int, ...] = ()
        theta = self.strengths.theta
        for rival in np.argsort(-theta, kind="stable").tolist():
            if rival != leader and most:
                removal = self._descend_to(leader, rival, most)
                best, most = (removal, len(removal) - 1) if removal else (best, most)
        return best

    def _descend_to(self, leader: int, rival: int, most: int) -> tuple[int, ...]:
        """Take out the cluster that brings the leader closest to a rival, until somebody passes, or nothing is left."""
        gone: tuple[int, ...] = ()
        while len(gone) < most:
            candidates = self._most_influential(gone, leader, rival, most - len(gone))
            sets = [(*gone, cluster) for cluster in candidates]
            if not sets:
                return ()
            theta = self.theta_without(sets)
            gaps = theta[:, leader] - theta[:, rival]
            leads = _leads_of(theta, leader)
            if not np.isfinite(gaps).any():
                return ()
            if (leads > SAME_SCORE).any():
                return sets[int(np.nanargmax(leads))]
            gone = sets[int(np.nanargmin(gaps))]
        return ()

    def _most_influential(self, gone: tuple[int, ...], leader: int, rival: int, left: int) -> list[int]:
        """Return the clusters whose leaving should bring the leader closest to a rival, by one Newton step.

        None where as many as may still leave are far from enough.
        """
        pairs, counts = self.strengths.pairs, self._counts([gone])
        credit, weight = (sums[0] for sums in self.cells.sums_of_draws(counts))
        fit = self.strengths
        if gone:
            kept = replace(pairs, credit=credit, weight=weight)
            fit = fit_strengths(kept, fit.regularization, fit.theta)
        gap = np.zeros(pairs.models)
        gap[[leader, rival]] = 1, -1
        direction = fit.solve(gap)
        expected = fit.expected_credit(pairs.low, pairs.high)
        own = self.cells.credit - self.cells.weight.multiply(expected[None, :])
        pull = np.asarray(own @ (direction[pairs.low] - direction[pairs.high])).ravel()
        pull[list(gone)] = -np.inf
        order = np.argsort(-pull, kind="stable")
        rest = self.clusters - len(gone)
        reach = HOPEFUL * np.maximum(pull[order[:left]], 0).sum() / (1 - left / rest)
        if reach < fit.theta[leader] - fit.theta[rival]:
            return []
        return [int(k) for k in order[: min(TRIED, rest)]]

    def theta_without(self, sets: list[tuple[int, ...]]) -> np.ndarray:
        """Return log-strengths without each set, NaN where the rest does not hang together, shape (sets, models)."""
        pairs = self.strengths.pairs
        credit, weight = self.cells.sums_of_draws(self._counts(sets))
        patterns, place = np.unique(weight > 0, axis=0, return_inverse=True)
        everyone = np.ones(pairs.models, dtype=bool)
        joined = np.array([hang_together(pairs, met, everyone) for met in patterns], dtype=bool)[place.ravel()]
        theta = np.full((len(sets), pairs.models), np.nan)
        likelihood = pair_likelihood(pairs, self.strengths.regularization, credit[joined], weight[joined])
        theta[joined] = maximise_many(likelihood, self.strengths.theta)
        return theta

    def _counts(self, sets: list[tuple[int, ...]]) -> np.ndarray:
        counts = np.ones((len(sets), self.clusters))
        for row, gone in zip(counts, sets, strict=True):
            row[list(gone)] = 0
        return counts


def _leads_of(theta: np.ndarray, leader: int) -> np.ndarray:
    """Return by how much the best other model is ahead of the leader, NaN where nothing is known, shape (sets,)."""
    others = np.delete(theta, leader, axis=1)
    return np.asarray(others.max(axis=1) - theta[:, leader])
