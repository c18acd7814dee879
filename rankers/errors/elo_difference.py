"""The difference of two Bradley-Terry ratings, tested by the score test over items."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from podium.defaults import REGULARIZATION
from podium.distinct_values import distinct_values
from podium.distributions import expit
from podium.errors import NotIdentifiedError
from podium.rankers.errors.difference import (
    CONTRIBUTION_ROUNDING,
    FEWEST_FOR_NORMAL,
    DifferenceTest,
    Tails,
    difference_of_rates,
    drop_zeros,
    flip_tails,
    t_tails,
)
from podium.rankers.errors.intervals import PairTests, unit_of_tests
from podium.rankers.errors.rough_elo_tests import PSEUDO_ITEMS, RoughTests
from podium.rankers.fit.cells import BattleData, load_battles
from podium.rankers.fit.coded import CodedBattles, surplus_by_cluster
from podium.rankers.fit.graph import comparison_graph, win_paths
from podium.rankers.fit.identification import describe_groups
from podium.rankers.fit.newton import (
    DesignMatrix,
    Likelihood,
    fit_one_strength,
    maximize,
    maximize_samples,
    solve_information,
)
from podium.rankers.fit.pairs import Pairs, pair_sums
from podium.rankers.fit.scale import POINTS
from podium.rankers.fit.strengths import pair_likelihood
from podium.wording import plural

FARTHEST_END = 20 * POINTS
"""Interval ends are searched up to this difference, in Elo points; beyond, they are infinite."""
SAME_RATING = 1e-9
"""Ratings that differ by less than this, in Elo points, count as equal."""
NULL_TOLERANCE = 1e-5
"""The fit under an assumed gap stops after a step that changes every logit by less than this. The
remaining error is at most about half the square of the last step."""
FEWEST_WINS_AND_LOSSES = 5.0
"""A model that won, or lost, fewer battles than this (ties count half) is treated like one with
few items: its residuals do not estimate the variance. So is one that mostly tied, if its credits
deviate from what is expected on fewer items than this: 5 wins and 95 ties deviate on about 5."""
MOSTLY_TIED = 0.8
"""Share of ties among the battles of a model from which on it mostly tied."""
SMALLEST_DEVIATION = 1e-9
"""A smaller deviation of a credit from its expectation, as a share of the weight, is rounding."""


class _Credit(NamedTuple):
    """Credit of a model in some of its battles.

    Attributes:
        share: share of the credit that it has.
        expected: share that it is expected to have.
        items: number of items of these battles.
    """

    share: float
    expected: float
    items: int

    @property
    def tail(self) -> float:
        """The largest probability of all of this credit or, if `share` is 0, of none of it.

        By chance, a model gets all (or none) of the credit on all items most likely if the chance
        is the same on every item: the expected share (or 1 minus that share).
        """
        chance = self.expected if self.share else 1 - self.expected
        return chance**self.items


@dataclass(frozen=True)
class RatingGap:
    """Score tests of assumed gaps between the log-strengths of two models, a minus b.

    For each assumed gap, all log-strengths are fitted under the constraint that a and b have this
    gap. In this fit, a and b share one strength, and the gap is an offset.

    Attributes:
        coded: all battles that are connected with those of the two models.
        pairs: sums of these battles by pair.
        a: code of the first model.
        b: code of the second model.
        regularization: lambda of the penalty.
        has_few_items: whether a or b has few items, has hardly won or hardly lost any battle, or
            hardly varies.
        items: number of items of the model that has fewer.
        fitted: log-strengths without an assumed gap, shape (models,).
        precision: negative second derivative of the log-likelihood by each log-strength, shape
            (models,).
        starts: log-strengths at which fits start, shape (models,) each, by code of the `weaker`
            model of an earlier test. Each fit changes this dictionary.
        offset: added to the log-odds of each battle, such as the effect of length, shape
            (battles,). If it is given, the likelihood has a row per battle, else one per pair.
        is_unbounded: whether the battles do not bound the gap at both ends. How battles of one item
            depend on each other is then unknown.
    """

    coded: CodedBattles
    pairs: Pairs
    a: int
    b: int
    regularization: float
    has_few_items: bool
    items: int
    fitted: np.ndarray
    precision: np.ndarray
    starts: dict[int, np.ndarray]
    offset: np.ndarray | None = None
    is_unbounded: bool = False

    @cached_property
    def likelihood(self) -> Likelihood:
        """The likelihood of all log-strengths, by `rating_likelihood`."""
        return rating_likelihood(self.coded, self.pairs, self.regularization, self.offset)

    def theta(self, gap: float) -> np.ndarray:
        """Return the most likely log-strengths under an assumed gap in logits, shape (models,).

        They are kept as a start for later tests (`starts`).
        """
        shift = np.zeros(self.pairs.models)
        shift[self.a] = gap / 2
        shift[self.b] = -gap / 2
        common = self._common_likelihood(shift)
        if not common.weight.size:
            return shift
        start = self._start_of_common(shift, common)
        # The likelihood has one sample.
        [parameters] = maximize_samples(common, start, NULL_TOLERANCE)
        theta = parameters[self.common_code]
        self._keep_start(theta)
        return theta + shift

    @cached_property
    def common_code(self) -> np.ndarray:
        """Code of each model in the fit in which a and b share one code, shape (models,)."""
        code = np.arange(self.pairs.models)
        # Codes above b move down by one, because b has no code of its own.
        code -= code > self.b
        code[self.b] = code[self.a]
        return code

    def _common_likelihood(self, shift: np.ndarray) -> Likelihood:
        """Return the likelihood in which a and b share one strength (`common_code`).

        Credits and weights have shape (1, rows), as of one sample. Battles between a and b are left
        out, because their gap is fixed. `shift` is added to the log-strengths, shape (models,), and
        so makes the assumed gap.
        """
        likelihood = self.likelihood
        size = self.pairs.models - 1
        separate_design = likelihood.design
        first = self.common_code[separate_design.first]
        second = self.common_code[separate_design.second]
        is_apart = first != second
        shift_of_rows = shift[separate_design.first] - shift[separate_design.second]
        offset = (shift_of_rows + likelihood.offset)[is_apart]
        # The pairs of a and b with the same third model become two rows of the same codes. The
        # information adds them up, as there is only one sample.
        design = DesignMatrix(
            columns=None, first=first[is_apart], second=second[is_apart], models=size
        )
        penalty = np.full(size, self.regularization)
        return Likelihood(
            design=design,
            credit=likelihood.credit[None, is_apart],
            weight=likelihood.weight[None, is_apart],
            penalty=penalty,
            offset=offset,
        )

    def _start_of_common(self, shift: np.ndarray, common: Likelihood) -> np.ndarray:
        """Return the log-strengths at which the constrained fit starts, shape (models - 1,).

        The strengths are the results of the last test of the weaker model (without one, `fitted`).
        The common strength of a and b is fitted to these strengths.
        """
        pair = [self.a, self.b]
        code = self.common_code[self.a]
        start = np.delete(self.starts.get(self.weaker, self.fitted), self.b)
        start[code] = np.average((self.fitted - shift)[pair], weights=self.precision[pair])
        start[code] = fit_one_strength(common, start, code)
        return start

    def _keep_start(self, theta: np.ndarray) -> None:
        """Keep log-strengths in `starts` for later tests of the weaker model against other models.

        `theta` has shape (models,). The strength of the model that is not weaker is replaced by the
        fitted one.
        """
        other = self.a + self.b - self.weaker
        start = theta.copy()
        start[other] = self.fitted[other]
        self.starts[self.weaker] = start

    @property
    def weaker(self) -> int:
        """Code of the one of a and b whose strength the battles determine less precisely.

        Fits start at results of earlier tests of this model: if it is separated, each of its tests
        moves other separated models far, and to nearly the same strengths.
        """
        return self.a if self.precision[self.a] < self.precision[self.b] else self.b

    def contributions(self, gap: float) -> tuple[np.ndarray, float]:
        """Return each item's efficient score of an assumed gap, and the variance of a pseudo-item.

        The efficient score is the derivative of the log-likelihood by the gap, net of what the
        other log-strengths explain.

        Args:
            gap: the assumed gap, in logits.

        Returns:
            The scores, shape (clusters,), and the variance of one pseudo-item (`PSEUDO_ITEMS`).
        """
        # `direction` is the change of all log-strengths if the gap grows by one logit.
        theta = self.theta(gap)
        coded = self.coded
        contrast = np.zeros(len(theta))
        contrast[self.a] = 1.0
        contrast[self.b] = -1.0
        direction = solve_information(self.likelihood.information_at(theta), contrast)
        direction /= direction[self.a] - direction[self.b]
        offset = 0.0 if self.offset is None else self.offset
        expected = expit(theta[coded.a] - theta[coded.b] + offset)
        direction_of_a = direction[coded.a]
        direction_of_b = direction[coded.b]
        weight_along = coded.weight * (direction_of_a - direction_of_b)
        surplus = coded.credit - expected
        # Each item gets an equal part of the derivative of the penalty.
        penalty_by_model = self.regularization * direction * theta / coded.clusters
        scores = np.bincount(coded.cluster, weight_along * surplus, coded.clusters)
        scores = scores - penalty_by_model.sum()
        # Scores that cancel up to rounding are zero.
        largest_weight = coded.weight * (np.abs(direction_of_a) + np.abs(direction_of_b))
        magnitude = np.bincount(coded.cluster, largest_weight * np.abs(surplus), coded.clusters)
        magnitude = magnitude + np.abs(penalty_by_model).sum()
        scores = np.where(np.abs(scores) > CONTRIBUTION_ROUNDING * magnitude, scores, 0.0)
        # Without a gap, p-values are at least 2^-n for n items, however battles of one item depend.
        by_item = self.is_unbounded and gap != 0
        square_sum = self._even_square_sum(weight_along, expected, by_item=by_item)
        return scores, square_sum / max(self.items, 1)

    def _even_square_sum(
        self, weight_along: np.ndarray, expected: np.ndarray, *, by_item: bool
    ) -> float:
        """Return the mean sum of squared scores if battles were won and lost with even chance.

        Args:
            weight_along: weight of each battle's surplus credit in the score, shape (battles,).
            expected: expected credits, shape (battles,).
            by_item: whether all battles of an item have the same outcome; else they are
                independent.
        """
        if not by_item:
            # The surplus is 1 - expected after a win, and -expected after a loss.
            squares_of_win_and_loss = expected**2 + (1 - expected) ** 2
            return float(np.sum(weight_along**2 * squares_of_win_and_loss) / 2)
        is_forward = weight_along > 0
        size = np.abs(weight_along)
        up = size * np.where(is_forward, 1 - expected, expected)
        down = size - up
        coded = self.coded
        sums = [np.bincount(coded.cluster, score, coded.clusters) for score in (up, down)]
        return float(np.sum(np.square(sums)) / 2)

    @cached_property
    def tails_at_zero(self) -> tuple[Tails, Tails | None]:
        """One-sided p-values of a gap of zero: by the score test, and by sign flips.

        The p-values by sign flips are None unless `has_few_items` is True and fewer than 30 items
        have a score that is not zero.
        """
        scores, scatter = self.contributions(0.0)
        by_score = self._score_tails(scores, scatter)
        nonzero = drop_zeros(scores) if self.has_few_items else scores
        is_exact = self.has_few_items and len(nonzero) < FEWEST_FOR_NORMAL
        return by_score, flip_tails(nonzero) if is_exact else None

    @property
    def exact_at_zero(self) -> Tails | None:
        """One-sided p-values of a gap of zero by sign flips.

        None unless `has_few_items` is True and fewer than 30 items have a score that is not zero.
        """
        if not self.has_few_items:
            # There are none, and the score test need not be computed.
            return None
        _, by_flips = self.tails_at_zero
        return by_flips

    def tails(self, elo: float) -> Tails:
        """Return the one-sided p-values of an assumed gap in Elo points, by the score test.

        The first p-value is of the hypothesis that the true gap is at most `elo`, the second that
        it is at least `elo`. If a or b won, or lost, all battles, and `elo` is not 0, the p-value
        by `_sweep_tails` replaces the one by the score test on the side where it is above 0.
        """
        if elo == 0:
            by_score_at_zero, _ = self.tails_at_zero
            return by_score_at_zero
        scores, scatter = self.contributions(elo / POINTS)
        by_score = self._score_tails(scores, scatter)
        above_by_score, below_by_score = by_score
        # A p-value of 0 by sweeps says that the rule does not apply on this side.
        above, below = self._sweep_tails(elo / POINTS)
        return above or above_by_score, below or below_by_score

    def _sweep_tails(self, gap: float) -> Tails:
        """Return the one-sided p-values of an assumed gap if a or b won, or lost, all battles.

        The probability that a model wins all battles of n items is at most p^n, where p is its mean
        expected credit under the gap (Clopper and Pearson 1934), however battles of one item depend
        on each other. A p-value is 0 if no model won, or lost, all battles in this direction. If a
        and b met, it is twice the smaller one of all battles and of those between them.

        Args:
            gap: the assumed gap, in logits.
        """
        above, below = 0.0, 0.0
        if not self.is_unbounded:
            return above, below
        theta = self.theta(gap)
        for model in (self.a, self.b):
            credits = [
                self._credit_of(model, theta, battles_of_model)
                for battles_of_model in self._battles_of(model)
            ]
            share = credits[0].share
            if share not in (0, 1):
                continue
            # Bonferroni's rule for one kind of battles or two.
            smallest_tail = min(credit.tail for credit in credits)
            probability = min(1.0, len(credits) * smallest_tail)
            # A is ahead in these battles if a won them all, or if b lost them all.
            is_a_ahead = share == 1 if model == self.a else share == 0
            if is_a_ahead:
                above = max(above, probability)
            else:
                below = max(below, probability)
        return above, below

    def _battles_of(self, model: int) -> list[np.ndarray]:
        """Return the mask of a model's battles, and the mask of those between a and b.

        The second mask is left out if a and b never met, or if the model met no other model. Each
        mask has shape (battles,).
        """
        coded = self.coded
        is_own = (coded.a == model) | (coded.b == model)
        other = self.a + self.b - model
        is_between = is_own & ((coded.a == other) | (coded.b == other))
        is_part = is_between.any() and (is_own & ~is_between).any()
        return [is_own, is_between] if is_part else [is_own]

    def _credit_of(self, model: int, theta: np.ndarray, is_own: np.ndarray) -> _Credit:
        """Return the share of its credit that a model has, and is expected to have, in battles.

        Args:
            model: its code.
            theta: log-strengths, shape (models,).
            is_own: mask of battles of the model, shape (battles,).
        """
        coded = self.coded
        offset = 0.0 if self.offset is None else self.offset
        expected = expit(theta[coded.a] - theta[coded.b] + offset)
        as_a = coded.a == model
        weight = coded.weight[is_own]
        earned = np.where(as_a, coded.credit, 1 - coded.credit)[is_own]
        own_expected = np.where(as_a, expected, 1 - expected)[is_own]
        items = len(distinct_values(coded.cluster[is_own]))
        total = weight.sum()
        return _Credit(
            share=float(weight @ earned / total),
            expected=float(weight @ own_expected / total),
            items=items,
        )

    def _score_tails(self, scores: np.ndarray, scatter: float) -> Tails:
        """Return the one-sided p-values of the items' scores by a t test.

        If `has_few_items` is True, items with a score of zero are left out, and the variance of
        pseudo-items is added. `scatter` is the variance of one pseudo-item.
        """
        if not self.has_few_items:
            return t_tails(scores)
        return t_tails(drop_zeros(scores), max(self.items - 1, 1), PSEUDO_ITEMS * scatter)


@dataclass(frozen=True)
class EloTests:
    """Tests of the difference between the Elo ratings of any two models that battles connect.

    The battles are summed and fitted at the first test.

    Attributes:
        battles: the battles.
        regularization: lambda of the penalty.
        offset: added to the log-odds of each battle, shape (battles,), as of `RatingGap`.
    """

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
        return maximize(self.likelihood).parameters

    @cached_property
    def likelihood(self) -> Likelihood:
        """The likelihood of all log-strengths."""
        return rating_likelihood(self.loaded_battles, self.pairs, self.regularization, self.offset)

    @cached_property
    def precision(self) -> np.ndarray:
        """Negative second derivative of the log-likelihood by each log-strength, shape
        (models,)."""
        return np.diag(self.likelihood.information_at(self.theta))

    @cached_property
    def starts(self) -> dict[int, np.ndarray]:
        """Log-strengths at which fits start, shape (models,) each, by code of the weaker model.

        The dictionary is empty at first; each test of `gap` changes it.
        """
        return {}

    @cached_property
    def win_paths(self) -> np.ndarray:
        """Whether the row's model has earned credit from the column's, directly or through others,
        shape (models, models)."""
        return win_paths(self.pairs)

    def may_differ(self, a: int, b: int) -> bool:
        """Return whether battles bound the difference between two models at one end at least.

        `a` and `b` are the codes of the models.
        """
        return bool(self.win_paths[a, b] or self.win_paths[b, a])

    @cached_property
    def items(self) -> np.ndarray:
        """Number of items in which each model has a battle, shape (models,)."""
        return self.loaded_battles.clusters_by_model()

    @cached_property
    def is_scarce(self) -> np.ndarray:
        """Mask of the models that are one-sided or hardly vary, shape (models,)."""
        is_scarce: np.ndarray = self.is_one_sided | self.hardly_varies
        return is_scarce

    @cached_property
    def hardly_varies(self) -> np.ndarray:
        """Mask of the models that mostly tied and whose credits deviate on few items only.

        At least `MOSTLY_TIED` of their battles are ties, and `deviating_items` is less than
        `FEWEST_WINS_AND_LOSSES`. The shape is (models,).
        """
        coded = self.loaded_battles
        size = len(coded.models)
        is_tie = np.abs(coded.credit - 0.5) < SMALLEST_DEVIATION
        ties = np.bincount(coded.a, is_tie, size) + np.bincount(coded.b, is_tie, size)
        mostly_tied = ties >= MOSTLY_TIED * coded.battles_by_model()
        hardly_varies: np.ndarray = mostly_tied & (self.deviating_items < FEWEST_WINS_AND_LOSSES)
        return hardly_varies

    @cached_property
    def is_one_sided(self) -> np.ndarray:
        """Mask of the models that hardly won, or hardly lost, any battle, shape (models,).

        Their wins or their losses, with ties as half of each, are fewer than
        `FEWEST_WINS_AND_LOSSES`.
        """
        coded = self.loaded_battles
        size = len(coded.models)
        won_as_a = np.bincount(coded.a, coded.credit, size)
        won_as_b = np.bincount(coded.b, 1 - coded.credit, size)
        won = won_as_a + won_as_b
        lost = coded.battles_by_model() - won
        is_one_sided: np.ndarray = np.minimum(won, lost) < FEWEST_WINS_AND_LOSSES
        return is_one_sided

    @cached_property
    def deviating_items(self) -> np.ndarray:
        """On how many items the credits of each model deviate from what is expected, shape
        (models,).

        The number is (sum of d^2)^2 / sum of d^4 over the deviations d of items. It is n if n
        deviations have the same size and the others are 0.
        """
        coded = self.loaded_battles
        offset = 0.0 if self.offset is None else self.offset
        expected = expit(self.theta[coded.a] - self.theta[coded.b] + offset)
        is_rounding = np.abs(coded.credit - expected) < SMALLEST_DEVIATION
        expected = np.where(is_rounding, coded.credit, expected)
        deviation = surplus_by_cluster(coded, expected)
        # The matrix is dense or sparse, and so are its powers.
        if isinstance(deviation, np.ndarray):
            squares = deviation**2
            fourth = squares**2
        else:
            squares = deviation.power(2)
            fourth = squares.power(2)
        sum_of_squares = np.asarray(squares.sum(axis=0)).ravel()
        sum_of_fourth = np.asarray(fourth.sum(axis=0)).ravel()
        number: np.ndarray = sum_of_squares**2 / np.where(sum_of_fourth > 0, sum_of_fourth, 1.0)
        return number

    @property
    def is_flat(self) -> np.ndarray:
        """Mask of the models that are flat, shape (models,).

        No item of a flat model deviates from what is expected, or the model hardly varies and is
        not one-sided.
        """
        is_constant = self.deviating_items == 0
        is_flat: np.ndarray = (self.hardly_varies & ~self.is_one_sided) | is_constant
        return is_flat

    @property
    def pair_tests(self) -> PairTests:
        """The tests of single pairs of an estimate of Elo scores."""
        return PairTests(
            self.difference,
            may_differ=self.may_differ,
            rough_tails=self.rough_tails,
            uses_all_items=True,
        )

    def rough_tails(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return rough one-sided p-values of equal ratings of many pairs, shape (pairs, 2).

        They are NaN where they are not known, and everywhere if there is an `offset` or if there
        are only two models. `a` and `b` are the codes of the models of each pair, shape (pairs,).
        """
        if self.offset is not None or len(self.loaded_battles.models) == 2:
            return np.full((len(a), 2), np.nan)
        tests = RoughTests(
            coded=self.loaded_battles,
            theta=self.theta,
            regularization=self.regularization,
            items=self.items,
            is_few=self._are_few,
        )
        return tests.tails(a, b)

    def _are_few(self, a: Any, b: Any) -> Any:
        """Return whether a model of a pair has fewer than 30 items, or is scarce (`is_scarce`).

        `a` and `b` are codes, or arrays of codes of one shape. The result is a boolean, or a
        boolean array of this shape.
        """
        has_few = np.minimum(self.items[a], self.items[b]) < FEWEST_FOR_NORMAL
        return has_few | self.is_scarce[a] | self.is_scarce[b]

    def gap(self, a: int, b: int) -> RatingGap:
        """Return the score tests of gaps between the models with codes a and b."""
        return RatingGap(
            self.loaded_battles,
            self.pairs,
            a,
            b,
            self.regularization,
            has_few_items=bool(self._are_few(a, b)),
            items=int(min(self.items[a], self.items[b])),
            fitted=self.theta,
            precision=self.precision,
            starts=self.starts,
            offset=self.offset,
            is_unbounded=not (self.win_paths[a, b] and self.win_paths[b, a]),
        )

    def difference(self, a: int, b: int) -> DifferenceTest:
        """Return the tests of the Elo of the model with code a minus the Elo of the model with code
        b.

        The difference is infinite if battles do not bound it at both ends, unless the fitted one
        is 0. If there are only two models and no offset, the difference is a function of their win
        rates, and its tests are those of the win rates.
        """
        only_pair = self._test_of_only_pair(a)
        finite_value = float(self.theta[a] - self.theta[b]) * POINTS
        if abs(finite_value) <= SAME_RATING:
            finite_value = 0.0
        is_bounded = bool(self.win_paths[a, b] and self.win_paths[b, a])
        is_finite = finite_value == 0 or is_bounded
        value = finite_value if is_finite else float(np.copysign(np.inf, finite_value))
        if only_pair is not None:

            def tails_of(elo: float) -> Tails:
                """Return the p-values of an assumed difference in Elo, by tests of win rates."""
                win_rate = float(expit(elo / POINTS))
                return only_pair.tails(2 * win_rate - 1)

            return replace(
                only_pair,
                value=value,
                tails=tails_of,
                search_step=20.0,
                limits=(-FARTHEST_END, FARTHEST_END),
                is_open=True,
                start=finite_value,
            )
        gap = self.gap(a, b)
        units = plural(unit_of_tests(self.battles.unit), 2)
        exact_p_at_zero = gap.exact_at_zero
        return DifferenceTest(
            value=value,
            items=gap.items,
            method=f"sign flips of {units}" if exact_p_at_zero else f"score test by {units}, t",
            tails=gap.tails,
            exact_p_at_zero=exact_p_at_zero,
            search_step=20.0,
            limits=(-FARTHEST_END, FARTHEST_END),
            is_open=True,
            start=finite_value,
        )

    def _test_of_only_pair(self, a: int) -> DifferenceTest | None:
        """Return the test of the mean credit of one model minus that of the only other model.

        `a` is the code of the first model. The result is None if there are more than two models, or
        if there is an offset.
        """
        coded = self.loaded_battles
        if len(coded.models) != 2 or self.offset is not None:
            return None
        sign = np.where(coded.a == a, 1, -1)
        weight = np.bincount(coded.cluster, coded.weight, coded.clusters)
        total = np.bincount(
            coded.cluster, coded.weight * sign * (2 * coded.credit - 1), coded.clusters
        )
        return difference_of_rates(total / weight, weight, unit_of_tests(self.battles.unit))


def rating_likelihood(
    coded: CodedBattles, pairs: Pairs, regularization: float, offset: np.ndarray | None = None
) -> Likelihood:
    """Return the penalized likelihood of log-strengths, with a row per pair of models.

    With an `offset`, which is added to the log-odds of each battle, shape (battles,), the
    likelihood has a row per battle instead.
    """
    if offset is None:
        return pair_likelihood(pairs, regularization)
    size = len(coded.models)
    design = DesignMatrix(columns=None, first=coded.a, second=coded.b, models=size)
    penalty = np.full(size, float(regularization))
    return Likelihood(
        design=design,
        credit=coded.weight * coded.credit,
        weight=coded.weight,
        penalty=penalty,
        offset=offset,
    )


def elo_difference(
    coded: CodedBattles, a: int, b: int, regularization: float = REGULARIZATION
) -> DifferenceTest:
    """Test the difference of the Elo ratings of the models with codes a and b.

    Only battles that are connected with those of the two models are used.

    Raises:
        NotIdentifiedError: no battles connect the two models.
    """
    graph = comparison_graph(pair_sums(coded))
    if graph.group[a] != graph.group[b]:
        raise NotIdentifiedError(describe_groups(coded, graph))
    if graph.groups > 1:
        is_connected = graph.group == graph.group[a]
        coded = coded.battles_among(is_connected)
        a = int(is_connected[:a].sum())
        b = int(is_connected[:b].sum())
    return EloTests(coded, regularization).difference(a, b)
