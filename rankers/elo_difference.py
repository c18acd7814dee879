"""The difference of two Bradley-Terry ratings, tested by the score test over items."""

from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.special import expit

from podium.errors import NotIdentifiedError
from podium.rankers.coded import CodedBattles, surplus_by_cluster
from podium.rankers.defaults import REGULARIZATION
from podium.rankers.difference import FEW, ROUNDING, DifferenceTest, Tails, drop_zeros, flip_tails, t_tails
from podium.rankers.graph import comparison_graph
from podium.rankers.identification import describe_groups
from podium.rankers.newton import DesignMatrix, Likelihood, maximize
from podium.rankers.pairs import Pairs, pair_sums
from podium.rankers.scale import POINTS
from podium.rankers.standings import SAME_SCORE
from podium.rankers.strengths import fit_strengths, pair_likelihood

PSEUDO_ITEMS = 4.0
"""Pseudo-items, half won and half lost, whose variance is added to that of few items (Agresti and Coull 1998): ten
battles that were all won have no variance of their own."""
FARTHEST = 20 * POINTS
"""Elo; interval ends are not searched beyond."""
SCARCE = 5.0
"""Credits, in battles, that each side must have earned for the residuals to estimate the variance."""


@dataclass(frozen=True)
class RatingGap:
    """Score tests of assumed gaps between the log-strengths of models a and b, from all battles connected with them;
    `few` if one of them has few items, or has hardly won or lost any."""

    coded: CodedBattles
    pairs: Pairs
    a: int
    b: int
    regularization: float
    few: bool
    items: int

    def theta(self, gap: float) -> np.ndarray:
        """Return the most likely log-strengths under an assumed gap, shape (models,)."""
        pairs, size = self.pairs, self.pairs.models
        shift = np.zeros(size)
        shift[self.a], shift[self.b] = gap / 2, -gap / 2
        code = np.arange(size) - (np.arange(size) > self.b)
        code[self.b] = code[self.a]
        first, second = code[pairs.first], code[pairs.second]
        apart = first != second
        if not apart.any():
            return shift
        penalty = np.full(size - 1, self.regularization)
        offset = (shift[pairs.first] - shift[pairs.second])[apart]
        design = DesignMatrix(None, first[apart], second[apart], size - 1)
        # The two models share a code: their pairs with a third are two rows, which the information adds up.
        common = maximize(Likelihood(design, pairs.credit[apart], pairs.weight[apart], penalty, offset)).at
        return common[code] + shift

    def contributions(self, gap: float) -> tuple[np.ndarray, float]:
        """Return each item's efficient score of the gap and a pseudo-item's variance, other strengths projected out."""
        theta, coded = self.theta(gap), self.coded
        likelihood = pair_likelihood(self.pairs, self.regularization)
        contrast = np.zeros(len(theta))
        contrast[self.a], contrast[self.b] = 1.0, -1.0
        direction = linalg.solve(likelihood.information_at(theta), contrast, assume_a="pos")
        direction /= direction[self.a] - direction[self.b]
        expected = expit(theta[coded.a] - theta[coded.b])
        surplus = surplus_by_cluster(coded, expected)
        prior = self.regularization * direction * theta / coded.clusters
        scores = np.asarray(surplus @ direction).ravel() - prior.sum()
        # Scores that cancel up to rounding are zero.
        size = np.asarray(abs(surplus) @ np.abs(direction)).ravel() + np.abs(prior).sum()
        scores = np.where(np.abs(scores) > ROUNDING * size, scores, 0.0)
        reach = coded.weight * (direction[coded.a] - direction[coded.b])
        scatter = float(np.sum(reach**2 * (expected**2 + (1 - expected) ** 2)) / 2) / max(self.items, 1)
        return scores, scatter

    def tails(self, elo: float) -> Tails:
        """Return the one-sided p-values of an assumed gap in Elo points."""
        scores, scatter = self.contributions(elo / POINTS)
        if not self.few:
            return t_tails(scores)
        return t_tails(drop_zeros(scores), max(self.items - 1, 1), PSEUDO_ITEMS * scatter)


def elo_difference(coded: CodedBattles, a: int, b: int, regularization: float = REGULARIZATION) -> DifferenceTest:
    """Test the difference of two models' Elo ratings; NotIdentifiedError if no battles connect the two."""
    pairs = pair_sums(coded)
    graph = comparison_graph(pairs)
    if graph.group[a] != graph.group[b]:
        raise NotIdentifiedError(describe_groups(coded, graph))
    if graph.groups > 1:
        kept = graph.group == graph.group[a]
        coded, (a, b) = coded.battles_among(kept), (int(kept[:code].sum()) for code in (a, b))
        pairs = pair_sums(coded)
    items = coded.clusters_by_model()
    fewest = int(min(items[a], items[b]))
    won = np.array([coded.credit[coded.a == k].sum() + (1 - coded.credit[coded.b == k]).sum() for k in (a, b)])
    scarce = bool((np.minimum(won, coded.battles_by_model()[[a, b]] - won) < SCARCE).any())
    gap = RatingGap(coded, pairs, a, b, regularization, fewest < FEW or scarce, fewest)
    strengths = fit_strengths(pairs, regularization)
    separated = strengths.graph.separated
    start = float(strengths.theta[a] - strengths.theta[b]) * POINTS
    start = start if abs(start) > SAME_SCORE else 0.0
    nonzero = drop_zeros(gap.contributions(0.0)[0])
    exact = flip_tails(nonzero) if gap.few and len(nonzero) < FEW else None
    method = "sign flips of items" if exact else "score test by items, t"
    is_finite = start == 0 or not (separated[a] or separated[b])
    return DifferenceTest(
        value=start if is_finite else float(np.copysign(np.inf, start)),
        items=gap.items,
        method=method,
        tails=gap.tails,
        exact=exact,
        step=20.0,
        limits=(-FARTHEST, FARTHEST),
        is_open=True,
        start=start,
    )
