"""The difference of two Bradley-Terry ratings, tested by the score test over items."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit

from podium.errors import NotIdentifiedError
from podium.rankers.cells import BattleData, load_battles
from podium.rankers.coded import CodedBattles
from podium.rankers.defaults import REGULARIZATION
from podium.rankers.difference import (
    FEW,
    ROUNDING,
    DifferenceTest,
    Tails,
    drop_zeros,
    flip_tails,
    t_tails,
)
from podium.rankers.graph import comparison_graph, win_paths
from podium.rankers.identification import describe_groups
from podium.rankers.intervals import PairTests
from podium.rankers.newton import (
    DesignMatrix,
    Likelihood,
    fit_one_strength,
    maximize,
    maximize_samples,
    solve_information,
)
from podium.rankers.pairs import Pairs, pair_sums
from podium.rankers.scale import POINTS
from podium.rankers.strengths import pair_likelihood

PSEUDO_ITEMS = 4.0
"""Pseudo-items, half won and half lost, whose variance is added to that of few items (Agresti and
Coull 1998): ten battles that were all won have no variance of their own."""
FARTHEST = 20 * POINTS
"""Elo; interval ends are not searched beyond."""
SAME_RATING = 1e-9
"""Elo points below which two ratings are the same."""
NULL_TOLERANCE = 1e-5
"""Logits; smaller steps end the fit under an assumed gap. The remaining error is at most about half
the square of the last step."""
SCARCE = 5.0
"""Credits, in battles, that each side must have earned for the residuals to estimate the
variance."""


@dataclass(frozen=True)
class RatingGap:
    """Score tests of assumed gaps between the log-strengths of models a and b, from all battles
    connected with them; `few` if one of them has few items, or has hardly won or lost any. `fitted`
    are the log-strengths without an assumed gap, `precision` the second derivative of the
    likelihood by each, shape (models,). Fits start from `starts`, the log-strengths that earlier
    tests found, by their weaker model; each fit adds its own. `offset` is added to the log-odds of
    each battle, shape (battles,), as the effect of length; the likelihood then has a row per
    battle, else one per pair."""

    coded: CodedBattles
    pairs: Pairs
    a: int
    b: int
    regularization: float
    few: bool
    items: int
    fitted: np.ndarray
    precision: np.ndarray
    starts: dict[int, np.ndarray]
    offset: np.ndarray | None = None

    @cached_property
    def likelihood(self) -> Likelihood:
        """The likelihood of all log-strengths."""
        return rating_likelihood(self.coded, self.pairs, self.regularization, self.offset)

    def theta(self, gap: float) -> np.ndarray:
        """Return the most likely log-strengths under an assumed gap, shape (models,)."""
        shift = np.zeros(self.pairs.models)
        shift[self.a], shift[self.b] = gap / 2, -gap / 2
        common = self._common_likelihood(shift)
        if not common.weight.size:
            return shift
        start = self._start_of_common(shift, common)
        [at] = maximize_samples(common, start, NULL_TOLERANCE)
        theta = at[self.common_code]
        self._keep_start(theta)
        return theta + shift

    @cached_property
    def common_code(self) -> np.ndarray:
        """The place of each model where a and b share one, shape (models,)."""
        code = np.arange(self.pairs.models)
        code -= code > self.b
        code[self.b] = code[self.a]
        return code

    def _common_likelihood(self, shift: np.ndarray) -> Likelihood:
        """Return the likelihood, as of one sample, in which the two models have one strength, plus
        their shifts."""
        whole, size = self.likelihood, self.pairs.models - 1
        rows = whole.design
        first, second = self.common_code[rows.first], self.common_code[rows.second]
        apart = first != second
        offset = (shift[rows.first] - shift[rows.second] + whole.offset)[apart]
        # The pairs of the two models with a third are two rows, which the information adds up.
        design = DesignMatrix(None, first[apart], second[apart], size)
        penalty = np.full(size, self.regularization)
        return Likelihood(
            design, whole.credit[None, apart], whole.weight[None, apart], penalty, offset
        )

    def _start_of_common(self, shift: np.ndarray, common: Likelihood) -> np.ndarray:
        """Return approximate log-strengths where the two models share one, shape (models - 1,):
        those of the last test of the weaker model, and a common strength that suits them."""
        pair, code = [self.a, self.b], self.common_code[self.a]
        start = np.delete(self.starts.get(self.weaker, self.fitted), self.b)
        start[code] = np.average((self.fitted - shift)[pair], weights=self.precision[pair])
        start[code] = fit_one_strength(common, start, code)
        return start

    def _keep_start(self, theta: np.ndarray) -> None:
        """Keep log-strengths as a start for tests of the weaker model against others."""
        other = self.a + self.b - self.weaker
        start = theta.copy()
        start[other] = self.fitted[other]
        self.starts[self.weaker] = start

    @property
    def weaker(self) -> int:
        """The model of which battles say less. If it is separated, its tests move other separated
        models far, and each to much the same place."""
        return self.a if self.precision[self.a] < self.precision[self.b] else self.b

    def contributions(self, gap: float) -> tuple[np.ndarray, float]:
        """Return each item's efficient score of the gap and a pseudo-item's variance, other
        strengths projected out."""
        theta, coded = self.theta(gap), self.coded
        contrast = np.zeros(len(theta))
        contrast[self.a], contrast[self.b] = 1.0, -1.0
        direction = solve_information(self.likelihood.information_at(theta), contrast)
        direction /= direction[self.a] - direction[self.b]
        expected = expit(
            theta[coded.a] - theta[coded.b] + (0.0 if self.offset is None else self.offset)
        )
        along_a, along_b = direction[coded.a], direction[coded.b]
        reach = coded.weight * (along_a - along_b)
        surplus = coded.credit - expected
        prior = self.regularization * direction * theta / coded.clusters
        scores = np.bincount(coded.cluster, reach * surplus, coded.clusters) - prior.sum()
        # Scores that cancel up to rounding are zero.
        most = coded.weight * (np.abs(along_a) + np.abs(along_b))
        size = (
            np.bincount(coded.cluster, most * np.abs(surplus), coded.clusters) + np.abs(prior).sum()
        )
        scores = np.where(np.abs(scores) > ROUNDING * size, scores, 0.0)
        scatter = float(np.sum(reach**2 * (expected**2 + (1 - expected) ** 2)) / 2) / max(
            self.items, 1
        )
        return scores, scatter

    @cached_property
    def tails_at_zero(self) -> tuple[Tails, Tails | None]:
        """One-sided p-values of a gap of zero by the score test, and by sign flips, None unless
        there are few items."""
        scores, scatter = self.contributions(0.0)
        by_score = self._score_tails(scores, scatter)
        nonzero = drop_zeros(scores) if self.few else scores
        is_exact = self.few and len(nonzero) < FEW
        return by_score, flip_tails(nonzero) if is_exact else None

    @property
    def exact_at_zero(self) -> Tails | None:
        """One-sided p-values of a gap of zero by sign flips, None unless there are few items."""
        return self.tails_at_zero[1] if self.few else None

    def tails(self, elo: float) -> Tails:
        """Return the one-sided p-values of an assumed gap in Elo points."""
        return (
            self.tails_at_zero[0]
            if elo == 0
            else self._score_tails(*self.contributions(elo / POINTS))
        )

    def _score_tails(self, scores: np.ndarray, scatter: float) -> Tails:
        """Return the one-sided p-values of the items' scores, with a pseudo-item's variance if
        there are few."""
        if not self.few:
            return t_tails(scores)
        return t_tails(drop_zeros(scores), max(self.items - 1, 1), PSEUDO_ITEMS * scatter)


@dataclass(frozen=True)
class EloTests:
    """Tests of the difference between the Elo ratings of any two models that battles connect;
    `offset` as of `RatingGap`. The battles are summed and fitted at the first test."""

    battles: BattleData
    regularization: float = REGULARIZATION
    offset: np.ndarray | None = None

    @cached_property
    def loaded_battles(self) -> CodedBattles:
        """The battles, or sums by item and pair, in memory."""
        return load_battles(self.battles)

    @cached_property
    def pairs(self) -> Pairs:
        """Sums of credits and weights by pair."""
        return pair_sums(self.loaded_battles)

    @cached_property
    def theta(self) -> np.ndarray:
        """Most likely log-strengths, shape (models,)."""
        return maximize(self.likelihood).at

    @cached_property
    def likelihood(self) -> Likelihood:
        """The likelihood of all log-strengths."""
        return rating_likelihood(self.loaded_battles, self.pairs, self.regularization, self.offset)

    @cached_property
    def precision(self) -> np.ndarray:
        """Second derivative of the likelihood by each log-strength, shape (models,)."""
        return np.diag(self.likelihood.information_at(self.theta))

    @cached_property
    def starts(self) -> dict[int, np.ndarray]:
        """Log-strengths from which the tests start, as of `RatingGap`; filled by them."""
        return {}

    @cached_property
    def win_paths(self) -> np.ndarray:
        """Whether the first model has earned credit from the second, directly or through others,
        (models, models)."""
        return win_paths(self.pairs)

    def may_differ(self, a: int, b: int) -> bool:
        """Return whether battles bound the difference between two models at either end; else none
        is more likely."""
        return bool(self.win_paths[a, b] or self.win_paths[b, a])

    @cached_property
    def items(self) -> np.ndarray:
        """Number of items in which each model has a battle, shape (models,)."""
        return self.loaded_battles.clusters_by_model()

    @cached_property
    def is_scarce(self) -> np.ndarray:
        """Which models have hardly won, or hardly lost, any battle, shape (models,)."""
        coded = self.loaded_battles
        size = len(coded.models)
        won = np.bincount(coded.a, coded.credit, size) + np.bincount(
            coded.b, 1 - coded.credit, size
        )
        scarce: np.ndarray = np.minimum(won, coded.battles_by_model() - won) < SCARCE
        return scarce

    @property
    def pair_tests(self) -> PairTests:
        """The tests of single pairs of an estimate of Elo scores."""
        return PairTests(self.difference, may_differ=self.may_differ)

    def gap(self, a: int, b: int) -> RatingGap:
        """Return the score tests of gaps between the models with codes a and b."""
        fewest = int(min(self.items[a], self.items[b]))
        return RatingGap(
            self.loaded_battles,
            self.pairs,
            a,
            b,
            self.regularization,
            few=bool(fewest < FEW or self.is_scarce[a] or self.is_scarce[b]),
            items=fewest,
            fitted=self.theta,
            precision=self.precision,
            starts=self.starts,
            offset=self.offset,
        )

    def difference(self, a: int, b: int) -> DifferenceTest:
        """Return the tests of the difference between the ratings of the models with codes a and
        b."""
        gap = self.gap(a, b)
        start = float(self.theta[a] - self.theta[b]) * POINTS
        start = start if abs(start) > SAME_RATING else 0.0
        exact = gap.exact_at_zero
        is_finite = start == 0 or bool(self.win_paths[a, b] and self.win_paths[b, a])
        return DifferenceTest(
            value=start if is_finite else float(np.copysign(np.inf, start)),
            items=gap.items,
            method="sign flips of items" if exact else "score test by items, t",
            tails=gap.tails,
            exact=exact,
            step=20.0,
            limits=(-FARTHEST, FARTHEST),
            is_open=True,
            start=start,
        )


def rating_likelihood(
    coded: CodedBattles, pairs: Pairs, regularization: float, offset: np.ndarray | None = None
) -> Likelihood:
    """Return the likelihood of log-strengths: a row per pair, or with an `offset` of log-odds a row
    per battle."""
    if offset is None:
        return pair_likelihood(pairs, regularization)
    size = len(coded.models)
    design, penalty = (
        DesignMatrix(None, coded.a, coded.b, size),
        np.full(size, float(regularization)),
    )
    return Likelihood(design, coded.weight * coded.credit, coded.weight, penalty, offset)


def elo_difference(
    coded: CodedBattles, a: int, b: int, regularization: float = REGULARIZATION
) -> DifferenceTest:
    """Test the difference of two models' Elo ratings; NotIdentifiedError if no battles connect the
    two."""
    graph = comparison_graph(pair_sums(coded))
    if graph.group[a] != graph.group[b]:
        raise NotIdentifiedError(describe_groups(coded, graph))
    if graph.groups > 1:
        kept = graph.group == graph.group[a]
        coded, (a, b) = coded.battles_among(kept), (int(kept[:code].sum()) for code in (a, b))
    return EloTests(coded, regularization).difference(a, b)
