"""Drop-out robustness: the fewest items whose removal changes the Bradley-Terry leader."""

from dataclasses import dataclass, replace
from itertools import combinations, islice

import numpy as np

from podium.data.battles import Battles
from podium.rankers.fit.coded import CodedBattles, as_dense, code_battles
from podium.rankers.fit.graph import are_connected
from podium.rankers.fit.identification import fit_battles
from podium.rankers.fit.newton import maximize_samples
from podium.rankers.fit.pairs import PairCells, cells_by_cluster
from podium.rankers.fit.strengths import Strengths, fit_strengths, pair_likelihood
from podium.rankers.standings import SAME_SCORE

MOST_ENUMERATED = 12
"""With up to this many items, every subset is tried (4,094 fits); with more, the search is
greedy."""
REFITS_PER_STEP = 8
"""Number of items that a step of the greedy search tries to remove: those of the largest
influence."""
SETS_PER_BLOCK = 2048
"""Number of sets of items whose removal is fitted at once."""
INFLUENCE_MARGIN = 2.0
"""The influence of an item is a first-order estimate of how much its removal narrows the gap to a
rival. The greedy search gives a rival up if the gap is larger than this times the sum of the
largest influences that may still be removed, divided by the share of items that would be kept."""


@dataclass(frozen=True, slots=True)
class DropOutRobustness:
    """The smallest set of items whose removal changes the leader.

    Attributes:
        leader: name of the model in the first place.
        new_leader: name of the leader after the removal; None if no removal changes the leader.
        items: names of the items to remove; empty if the first place is shared, or no removal
            changes the leader.
        is_exact: whether all smaller sets were tried; else the number of items is an upper bound
            of the smallest number.
        largest_tried: largest number of items whose removal was tried, 0 if none was.
        are_rows: whether no element of `items` is the name of an item. All elements are then texts
            such as `row 3`, because these rows have no item. True if `items` is empty, too.
    """

    leader: str
    new_leader: str | None
    items: tuple[str, ...]
    is_exact: bool
    largest_tried: int
    are_rows: bool = False


def drop_out_robustness(
    battles: Battles, *, largest: int | None = None, most_enumerated: int = MOST_ENUMERATED
) -> DropOutRobustness:
    """Find the fewest items whose removal changes the Bradley-Terry leader.

    The remaining battles must connect the models. Each removal is confirmed by a refit. With more
    than `most_enumerated` items, a greedy search is made for each rival of the leader. A row
    without an item counts as an item, whose name is `row N` (from 1). If items have groups, whole
    groups are removed, and `items` of the result are names of groups. `items` are sorted.

    Args:
        battles: the battles.
        largest: largest number of items to remove; by default all but one.
        most_enumerated: number of items up to which all sets are tried.

    Raises:
        NotIdentifiedError: no battle is readable, or the comparison graph is disconnected.
        NotConvergedError: a fit did not reach its maximum.
    """
    coded = code_battles(battles)
    robustness = drop_out_of_clusters(coded, largest=largest, most_enumerated=most_enumerated)
    readable = np.flatnonzero(battles.readable)
    # The first battle of each removed cluster. `items` are codes of clusters here.
    rows = []
    for code in robustness.items:
        first_battle = np.argmax(coded.cluster == int(code))
        rows.append(int(readable[first_battle]))
    items: list[str | None] = [None] * len(rows)
    column = battles.group or "item"
    if rows and column in battles.rows.battle_columns:
        texts = battles.rows.texts_of(column)
        items = [texts[row] for row in rows]
    item_names = [item for item in items if item]
    row_names = [f"row {row + 1}" for item, row in zip(items, rows, strict=True) if not item]
    return replace(robustness, items=tuple(sorted(item_names + row_names)), are_rows=not item_names)


def drop_out_of_clusters(
    coded: CodedBattles, *, largest: int | None = None, most_enumerated: int = MOST_ENUMERATED
) -> DropOutRobustness:
    """Find the fewest clusters of coded battles whose removal changes the Bradley-Terry leader.

    `items` of the result are codes of clusters as text. No removal is tried if the first place is
    shared. The options and the errors are those of `drop_out_robustness`.
    """
    strengths = fit_battles(coded)
    search = _RemovalSearch(strengths, cells_by_cluster(coded, strengths.pairs))
    leader = int(np.argmax(strengths.theta))
    limit = coded.clusters - 1
    if largest is not None:
        limit = min(largest, limit)
    is_in_first_place = strengths.theta > strengths.theta[leader] - SAME_SCORE
    if is_in_first_place.sum() > 1:
        limit = 0
    is_exact = coded.clusters <= most_enumerated
    find = search.enumerate if is_exact else search.search_greedily
    removal = find(leader, limit)
    new_leader = None
    if removal:
        # `theta_without` takes several removals, here one.
        [theta] = search.theta_without([removal])
        new_leader = coded.models[int(np.argmax(theta))]
    items = tuple(map(str, sorted(removal)))
    return DropOutRobustness(
        leader=coded.models[leader],
        new_leader=new_leader,
        items=items,
        is_exact=is_exact,
        largest_tried=limit,
    )


def strengths_without_each(coded: CodedBattles, most_fitted: int) -> tuple[np.ndarray, np.ndarray]:
    """Fit log-strengths to all battles, and without each cluster.

    With more than `most_fitted` clusters, only that many removals are fitted: those that take most
    from the lead of the first model, as estimated by one Newton step.

    Returns:
        The log-strengths by all battles, shape (models,), and without each cluster, shape
        (clusters, models). They are NaN for a cluster without which models are not connected, and
        for a removal that was not fitted.

    Raises:
        NotIdentifiedError: the comparison graph is disconnected.
        NotConvergedError: a fit did not reach its maximum.
    """
    strengths = fit_battles(coded)
    search = _RemovalSearch(strengths, cells_by_cluster(coded, strengths.pairs))
    fitted = np.arange(coded.clusters)
    if coded.clusters > most_fitted:
        share_kept = 1 - coded.cluster_weights() / coded.weight.sum()
        scores = as_dense(strengths.cluster_scores(coded))
        change = -strengths.solve(scores.T).T / share_kept[:, None]
        leads = _leads_over(strengths.theta + change, int(np.argmax(strengths.theta)))
        fitted = np.argsort(-leads, kind="stable")[:most_fitted]
    theta = np.full((coded.clusters, len(coded.models)), np.nan)
    theta[fitted] = search.theta_without([(int(cluster),) for cluster in fitted])
    return strengths.theta, theta


@dataclass(frozen=True, slots=True)
class _RemovalSearch:
    """A search for clusters whose removal changes the leader of a fit to all clusters."""

    strengths: Strengths
    cells: PairCells

    def enumerate(self, leader: int, largest: int) -> tuple[int, ...]:
        """Return the smallest set of clusters whose removal changes the leader, trying all sets.

        Among several sets of that size, it is the set with the largest lead of the new leader. It
        is empty if no removal of up to `largest` clusters changes the leader. `leader` is the code
        of the leader of the fit to all clusters.
        """
        for size in range(1, largest + 1):
            successes: list[tuple[float, tuple[int, ...]]] = []
            subsets = combinations(range(self.cells.clusters), size)
            block = list(islice(subsets, SETS_PER_BLOCK))
            while block:
                leads = _leads_over(self.theta_without(block), leader)
                for k in np.flatnonzero(leads > SAME_SCORE):
                    successes.append((leads[k], block[k]))
                block = list(islice(subsets, SETS_PER_BLOCK))
            if successes:
                # Rounded, because rounding errors differ between equal leads. Of equal leads, the
                # set with the lowest codes is taken.
                ranked = sorted((-round(lead, 9), clusters) for lead, clusters in successes)
                _, clusters = ranked[0]
                return clusters
        return ()

    def search_greedily(self, leader: int, largest: int) -> tuple[int, ...]:
        """Return the smallest set of clusters that a greedy search finds for any rival.

        The set has at most `largest` clusters. It is empty if the search finds none. `leader` is
        the code of the leader.
        """
        best: tuple[int, ...] = ()
        theta = self.strengths.theta
        for rival in np.argsort(-theta, kind="stable").tolist():
            if rival == leader or not largest:
                continue
            removal = self._close_gap(leader, rival, largest)
            if removal:
                best = removal
                largest = len(removal) - 1
        return best

    def _close_gap(self, leader: int, rival: int, largest: int) -> tuple[int, ...]:
        """Remove clusters one by one until the leader changes, and return the removed clusters.

        Each time, the cluster is removed that narrows the gap to the rival most. The new leader
        may be another model than the rival. The result is empty if the leader does not change
        within `largest` removals, or if no removal leaves the models connected.
        """
        removed: tuple[int, ...] = ()
        while len(removed) < largest:
            candidates = self._most_influential(removed, leader, rival, largest - len(removed))
            sets = [(*removed, cluster) for cluster in candidates]
            if not sets:
                return ()
            theta = self.theta_without(sets)
            gaps = theta[:, leader] - theta[:, rival]
            leads = _leads_over(theta, leader)
            if not np.isfinite(gaps).any():
                return ()
            if (leads > SAME_SCORE).any():
                return sets[int(np.nanargmax(leads))]
            removed = sets[int(np.nanargmin(gaps))]
        return ()

    def _most_influential(
        self, removed: tuple[int, ...], leader: int, rival: int, removals_left: int
    ) -> list[int]:
        """Return the clusters whose removal should narrow the gap between leader and rival most.

        The influence of each cluster is estimated by one Newton step. The result has at most
        `REFITS_PER_STEP` codes, the largest influence first. It is empty if even removing the
        `removals_left` clusters of the largest influence would not close the gap.

        Args:
            removed: clusters that are removed already.
            leader: code of the leader.
            rival: code of the rival.
            removals_left: number of clusters that may still be removed.
        """
        fit = self.strengths
        pairs = fit.pairs
        if removed:
            # The sums have a row per resample, here one: all clusters but the removed ones.
            [credit], [weight] = self.cells.resampled_sums(self._counts_without([removed]))
            remaining_pairs = replace(pairs, credit=credit, weight=weight)
            fit = fit_strengths(remaining_pairs, fit.regularization, fit.theta)
        contrast = np.zeros(pairs.models)
        contrast[[leader, rival]] = 1, -1
        direction = fit.solve(contrast)
        expected = fit.expected_credit(pairs.first, pairs.second)
        direction_of_pair = direction[pairs.first] - direction[pairs.second]
        direction_of_cell = direction_of_pair[self.cells.pair]
        # The amount by which one Newton step narrows the gap if the cluster is removed.
        influence = np.bincount(
            self.cells.cluster,
            direction_of_cell * self.cells.surplus_over(expected),
            self.cells.clusters,
        )
        influence[list(removed)] = -np.inf
        order = np.argsort(-influence, kind="stable")
        remaining = len(influence) - len(removed)
        strongest = np.maximum(influence[order[:removals_left]], 0).sum()
        reachable = INFLUENCE_MARGIN * strongest / (1 - removals_left / remaining)
        gap = fit.theta[leader] - fit.theta[rival]
        if reachable < gap:
            return []
        most = min(REFITS_PER_STEP, remaining)
        return [int(k) for k in order[:most]]

    def theta_without(self, sets: list[tuple[int, ...]]) -> np.ndarray:
        """Fit log-strengths without each set of clusters, shape (sets, models).

        They are NaN for a set without which the models are not connected.
        """
        pairs = self.strengths.pairs
        credit, weight = self.cells.resampled_sums(self._counts_without(sets))
        # Many removals leave the same pairs with battles: connectivity is tested once for each
        # distinct pattern.
        patterns, pattern_of_set = np.unique(weight > 0, axis=0, return_inverse=True)
        all_models = np.ones(pairs.models, dtype=bool)
        connects = [are_connected(pairs, has_battle, all_models) for has_battle in patterns]
        is_connected = np.array(connects, dtype=bool)[pattern_of_set.ravel()]
        theta = np.full((len(sets), pairs.models), np.nan)
        penalty = self.strengths.regularization
        likelihood = pair_likelihood(
            pairs, regularization=penalty, credit=credit[is_connected], weight=weight[is_connected]
        )
        theta[is_connected] = maximize_samples(likelihood, self.strengths.theta)
        return theta

    def _counts_without(self, sets: list[tuple[int, ...]]) -> np.ndarray:
        """Return 0 for the removed clusters of each set, else 1, shape (sets, clusters)."""
        counts = np.ones((len(sets), self.cells.clusters))
        for row, removed in zip(counts, sets, strict=True):
            row[list(removed)] = 0
        return counts


def _leads_over(theta: np.ndarray, leader: int) -> np.ndarray:
    """Return the lead of the best other model over the leader in each fit, shape (fits,).

    It is below 0 where the leader stays the leader, and NaN where a log-strength is NaN. `theta`
    are log-strengths, shape (fits, models), and `leader` is a code.
    """
    others = np.delete(theta, leader, axis=1)
    return np.asarray(others.max(axis=1) - theta[:, leader])
