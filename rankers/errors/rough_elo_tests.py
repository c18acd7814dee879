"""Score tests of equal ratings of many pairs at once, with rough p-values.

`EloTests` fits all other log-strengths anew for each pair. Here they are fitted for all partners
of one model at once, by a few steps with the information of the fit without an assumption. The
p-values differ from the exact ones by some percent. They decide a test whose p-value is far from
the level; the others are left to `EloTests`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from podium.distinct_values import distinct_values
from podium.distributions import expit, stdtr
from podium.rankers.errors.difference import CONTRIBUTION_ROUNDING, FEWEST_FOR_NORMAL
from podium.rankers.fit.coded import CodedBattles, as_dense, surplus_by_cluster

MOST_MODELS = 500
"""With more models than this, no test is decided roughly: there are matrices of pairs."""
MOST_CELLS = 10_000_000
"""Partners are tested in blocks whose largest array has about this many numbers."""
MOST_STEPS = 30
"""Largest number of steps of each iteration. Tests that need more have no rough p-value."""
CHANGE_TOLERANCE = 1e-3
"""Iteration stops after steps of less than this, in logits or as a share of a direction."""
LARGEST_STEP = 1.5
"""Steps of the common strength are not larger than this, in logits."""
PSEUDO_ITEMS = 4.0
"""Number of pseudo-items. These are imaginary items, half won and half lost, whose variance is
added to the variance of few items (Agresti and Coull 1998), because ten battles that were all won
have no variance of their own."""


@dataclass(frozen=True)
class RoughTests:
    """Rough score tests of equal log-strengths.

    The matrices below have shape (models, models), with the row's model first.

    Attributes:
        coded: the battles.
        theta: log-strengths, shape (models,).
        regularization: lambda of their penalty, above 0.
        items: number of items of each model, shape (models,).
        is_few: function from two arrays of codes to whether each pair has few items, as of
            `RatingGap`.
    """

    coded: CodedBattles
    theta: np.ndarray
    regularization: float
    items: np.ndarray
    is_few: Callable[[np.ndarray, np.ndarray], np.ndarray]

    def tails(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return rough one-sided p-values of equal strengths of pairs, shape (pairs, 2).

        They approximate the p-values by the score test in `RatingGap.tails_at_zero`: column 0 has
        those of the hypothesis that the first model is no better, column 1 that it is no worse.
        They are NaN where they are not known, and everywhere without a penalty or with more than
        `MOST_MODELS` models.

        Args:
            first: codes of the first models, shape (pairs,).
            second: codes of the second models, shape (pairs,).
        """
        if self.regularization <= 0 or len(self.theta) > MOST_MODELS:
            return np.full((len(first), 2), np.nan)
        statistic = np.full(len(first), np.nan)
        number = np.full(len(first), np.nan)
        tests = np.bincount(np.concatenate([first, second]), minlength=len(self.theta))
        # Each pair is tested with the other pairs of the one of its models that has more of them.
        is_first_hub = tests[first] >= tests[second]
        hub = np.where(is_first_hub, first, second)
        partner = np.where(is_first_hub, second, first)
        block = max(1, MOST_CELLS // max(self.coded.clusters, len(self.theta)))
        for code in distinct_values(hub).tolist():
            positions = np.flatnonzero(hub == code)
            for start in range(0, len(positions), block):
                block_of_tests = positions[start : start + block]
                # Steps that do not converge may overflow; their tests are left unknown.
                with np.errstate(all="ignore"):
                    tests_of_hub = _HubTests(self, code, partner[block_of_tests])
                    statistic[block_of_tests], number[block_of_tests] = tests_of_hub.t()
        statistic = np.where(is_first_hub, statistic, -statistic)
        fewest = np.minimum(self.items[first], self.items[second])
        freedom = np.where(self.is_few(first, second), fewest, number) - 1
        # The p-value of each tail has a column.
        signs_of_tails = np.array([-1, 1])
        signed_statistic = np.multiply.outer(statistic, signs_of_tails)
        p = stdtr(np.maximum(freedom, 1)[:, None], signed_statistic)
        least_p: np.ndarray = 0.5 ** number[:, None]
        return np.maximum(p, least_p)

    @cached_property
    def weight(self) -> np.ndarray:
        """Sum of the weights of the battles of two models, shape (models, models)."""
        return self._sum_by_pair(self.coded.weight, self.coded.weight)

    @cached_property
    def square_weight(self) -> np.ndarray:
        """Sum of the squared weights of the battles of two models, shape (models, models)."""
        return self._sum_by_pair(self.coded.weight**2, self.coded.weight**2)

    @cached_property
    def credit(self) -> np.ndarray:
        """Sum of the weighted credits of the row's model against the column's model.

        The shape is (models, models).
        """
        earned = self.coded.weight * self.coded.credit
        return self._sum_by_pair(earned, self.coded.weight - earned)

    @cached_property
    def win_chance(self) -> np.ndarray:
        """Expected credit of the row's model against the column's model, by `theta`.

        The shape is (models, models).
        """
        return expit(self.theta[:, None] - self.theta)

    @cached_property
    def curvature(self) -> np.ndarray:
        """Information about the difference of two models in their battles.

        The shape is (models, models).
        """
        return self.weight * self.win_chance * (1 - self.win_chance)

    @cached_property
    def scatter(self) -> np.ndarray:
        """Mean square of the weighted credit around its expectation, if each battle were won or
        lost with the even chance of `RatingGap.contributions`, shape (models, models)."""
        return self.square_weight * _mean_square(self.win_chance)

    @cached_property
    def surplus(self) -> np.ndarray:
        """Surplus credit by cluster and model, shape (clusters, models)."""
        coded = self.coded
        return as_dense(surplus_by_cluster(coded, self.win_chance[coded.a, coded.b]))

    @cached_property
    def sides(self) -> tuple[np.ndarray, ...]:
        """Each battle from both sides: arrays of model, opponent, credit, weight and cluster.

        Each array has shape (2 * battles,), and all are sorted by the code of the model. The credit
        is that of the model.
        """
        coded = self.coded
        model = np.concatenate([coded.a, coded.b])
        order = np.argsort(model, kind="stable")
        opponent = np.concatenate([coded.b, coded.a])
        credit = np.concatenate([coded.credit, 1 - coded.credit])
        columns = (model, opponent, credit, np.tile(coded.weight, 2), np.tile(coded.cluster, 2))
        return tuple(column[order] for column in columns)

    def _sum_by_pair(self, of_a: np.ndarray, of_b: np.ndarray) -> np.ndarray:
        """Return sums of values of each battle's two models, by model and opponent.

        `of_a` and `of_b` are the values of its models a and b, shape (battles,) each.
        """
        size = len(self.theta)
        coded = self.coded
        as_a = np.bincount(coded.a * np.int64(size) + coded.b, of_a, size * size)
        as_b = np.bincount(coded.b * np.int64(size) + coded.a, of_b, size * size)
        return (as_a + as_b).reshape(size, size)


class _HubTests:
    """Rough tests of one model, the hub, against others, its partners.

    Under the hypothesis, the hub and a partner share one strength. Arrays of shape (partners,
    models) have a row for each hypothesis and a column for each other model; their columns of the
    hub and of the partner itself are 0.

    Args:
        tests: the data of all tests.
        hub: code of the hub.
        partners: codes of the partners, shape (partners,).
    """

    def __init__(self, tests: RoughTests, hub: int, partners: np.ndarray) -> None:
        self.tests = tests
        self.hub = hub
        self.partners = partners
        self.rows = np.arange(len(partners))
        self.hub_weight = self._without_both(np.tile(tests.weight[hub], (len(partners), 1)))
        self.partner_weight = self._without_both(tests.weight[partners].copy())
        self.is_known = np.ones(len(partners), dtype=bool)
        size = len(tests.theta)
        information = np.diag(tests.curvature.sum(axis=1) + tests.regularization)
        information -= tests.curvature
        information[hub] = information[:, hub] = np.eye(size)[hub]
        self.inverse = np.linalg.inv(information)
        # The other models' information about each other and the penalty, without their battles
        # with the hub and the partner.
        degree = tests.curvature.sum(axis=1) - tests.curvature[hub] - tests.curvature[partners]
        self.degree = self._without_both(degree + tests.regularization)

    def t(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the t statistics, hub minus partner, and the numbers of items behind them.

        Both have shape (partners,). The statistics are NaN if the iteration did not converge, if
        sign flips test the pair, or if its scores do not vary.
        """
        tests = self.tests
        common, change = self._fit_hypotheses()
        direction = self._direction_of_others(common, change)
        scores, even_squares = self._efficient_scores(common, change, direction)
        is_few = tests.is_few(np.full(len(self.rows), self.hub), self.partners)
        items = np.minimum(tests.items[self.hub], tests.items[self.partners])
        magnitude = np.abs(scores)
        is_nonzero = magnitude > CONTRIBUTION_ROUNDING * magnitude.max(axis=1, keepdims=True)
        is_counted = is_nonzero | ~is_few[:, None]
        number = is_counted.sum(axis=1)
        score_sum = scores.sum(axis=1)
        mean = score_sum / np.maximum(number, 1)
        square_sum = ((scores - mean[:, None]) ** 2 * is_counted).sum(axis=1)
        square_sum += np.where(is_few, PSEUDO_ITEMS * even_squares / np.maximum(items, 1), 0.0)
        error_of_sum = np.sqrt(number / np.maximum(number - 1, 1) * square_sum)
        is_usable = (
            self.is_known
            & (error_of_sum > CONTRIBUTION_ROUNDING * np.abs(score_sum))
            & (number >= 2)
        )
        is_usable &= ~is_few | (number >= FEWEST_FOR_NORMAL)
        statistic = score_sum / np.where(error_of_sum > 0, error_of_sum, 1.0)
        return np.where(is_usable, statistic, np.nan), number

    def _without_both(self, values: np.ndarray) -> np.ndarray:
        """Set the columns of the hub and of each row's partner to 0 in place; return `values`.

        `values` has shape (partners, models).
        """
        values[:, self.hub] = 0.0
        values[self.rows, self.partners] = 0.0
        return values

    def _common_chances(self, common: np.ndarray, change: np.ndarray) -> np.ndarray:
        """Return the expected credit of the common strength against each model, shape (partners,
        models).

        `common` are the common strengths of hub and partner, shape (partners,), and `change` the
        changes of the other strengths from `theta`, shape (partners, models).
        """
        return expit(common[:, None] - self.tests.theta - change)

    def _solve(self, values: np.ndarray) -> np.ndarray:
        """Solve roughly for steps of the other models' strengths, shape (partners, models).

        `values` are the right-hand sides, one in each row. The information is that of the fit
        without a hypothesis, with the strengths of hub and partner fixed.
        """
        steps = values @ self.inverse
        # `inverse` keeps only the hub fixed. To keep the partner fixed, too, subtract the multiple
        # of the partner's row of `inverse` that makes the partner's own step 0.
        inverse_rows = self.inverse[self.partners]
        partner_cells = self.rows, self.partners
        multiple = steps[partner_cells] / inverse_rows[partner_cells]
        return self._without_both(steps - multiple[:, None] * inverse_rows)

    def _fit_hypotheses(self) -> tuple[np.ndarray, np.ndarray]:
        """Fit the strengths under each hypothesis.

        Fits that did not converge become False in `is_known`, in place.

        Returns:
            The common strengths, shape (partners,), and the changes of the others' strengths,
            shape (partners, models).
        """
        tests = self.tests
        hub, partners = self.hub, self.partners
        weight = self.hub_weight + self.partner_weight
        credit = tests.credit[hub] + tests.credit[partners]
        earned_credit = self._without_both(credit).sum(axis=1)
        expected_credit = self.hub_weight * tests.win_chance[hub]
        expected_credit = expected_credit + self.partner_weight * tests.win_chance[partners]
        precision_of_partner = tests.curvature[partners].sum(axis=1) + tests.regularization
        precision_of_hub = tests.curvature[hub].sum() + tests.regularization
        common = precision_of_partner * tests.theta[partners] + precision_of_hub * tests.theta[hub]
        common = common / (precision_of_partner + precision_of_hub)
        change = np.zeros_like(weight)
        largest_change = np.full(len(partners), np.inf)
        for _ in range(MOST_STEPS):
            common = self._fit_common(common, change, weight, earned_credit)
            gradient = weight * self._common_chances(common, change) - expected_credit
            gradient -= change * self.degree - change @ tests.curvature
            step = self._solve(self._without_both(gradient))
            # A common shift of all strengths changes nothing.
            centred = step - step.mean(axis=1, keepdims=True)
            largest_change = np.abs(self._without_both(centred)).max(axis=1)
            change = change + step
            if not _needs_further_steps(largest_change):
                break
        self.is_known &= largest_change <= CHANGE_TOLERANCE
        return self._fit_common(common, change, weight, earned_credit), change

    def _fit_common(
        self, common: np.ndarray, change: np.ndarray, weight: np.ndarray, earned: np.ndarray
    ) -> np.ndarray:
        """Fit the common strengths with the strengths of the other models fixed.

        Args:
            common: common strengths at which the fit starts, shape (partners,).
            change: changes of the other strengths from `RoughTests.theta`, shape (partners,
                models).
            weight: weights of the battles of hub and partner with each other model, shape
                (partners, models).
            earned: credit that hub and partner earned in these battles, shape (partners,).

        Returns:
            The fitted common strengths, shape (partners,).
        """
        penalty = self.tests.regularization
        for _ in range(MOST_STEPS):
            expected = self._common_chances(common, change)
            information = (weight * expected * (1 - expected)).sum(axis=1) + penalty
            gradient = earned - (weight * expected).sum(axis=1) - penalty * common
            step = np.clip(gradient / information, -LARGEST_STEP, LARGEST_STEP)
            common = common + step
            if not (np.abs(step) > CHANGE_TOLERANCE).any():
                break
        return common

    def _direction_of_others(self, common: np.ndarray, change: np.ndarray) -> np.ndarray:
        """Return by how much the other models follow the partner, shape (partners, models).

        If the partner gains one logit on the hub, whose strength stays, another model gains the
        share that is returned. Directions that did not converge become False in `is_known`, in
        place.
        """
        expected = self._common_chances(common, change)
        variance = expected * (1 - expected)
        information_of_hub = self.hub_weight * variance
        information_of_partner = self.partner_weight * variance
        information = information_of_hub + information_of_partner
        total = information.sum(axis=1)
        base = information_of_partner.sum(axis=1) / total
        share = np.zeros_like(change)
        largest_change = np.full(len(base), np.inf)
        # The penalty, which has hardly any weight, would tie all strengths to the hub's.
        degree = self._without_both(self.degree - self.tests.regularization)
        for _ in range(MOST_STEPS):
            direction = self._without_both(base[:, None] + share)
            remainder = (
                information_of_partner
                - direction * (degree + information)
                + direction @ self.tests.curvature
            )
            remainder = self._without_both(remainder)
            shift = remainder.sum(axis=1) / total
            base = base + shift
            remainder -= shift[:, None] * information
            step = self._solve(remainder)
            share = share + step
            largest_change = np.maximum(np.abs(step).max(axis=1), np.abs(shift))
            if not _needs_further_steps(largest_change):
                break
        self.is_known &= largest_change <= CHANGE_TOLERANCE
        return self._without_both(base[:, None] + share)

    def _efficient_scores(
        self, common: np.ndarray, change: np.ndarray, direction: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return each item's efficient score, and the sum of squares of all scores by even chance.

        Returns:
            The scores, shape (partners, clusters), and the sums of squares, as of
            `RatingGap.contributions`, shape (partners,).
        """
        tests = self.tests
        expected = self._common_chances(common, change)
        clusters = tests.coded.clusters
        # First, the surplus of the other models over the fit without a hypothesis, in all their
        # battles. What the hypothesis changes in battles with the partner and with the hub is
        # added below.
        scores = -(direction @ tests.surplus.T)
        row, side = self._sides_of_partners()
        _, opponent, credit, weight, cluster = (column[side] for column in tests.sides)
        direction_of_opponent = direction[row, opponent]
        expected_now = expected[row, opponent]
        expected_before = tests.win_chance[self.partners[row], opponent]
        values = weight * (
            direction_of_opponent * (expected_before - expected_now) - (credit - expected_now)
        )
        # Battles between hub and partner are won with even chance. `credit` is the partner's, so
        # that 0.5 - credit is the surplus of the hub.
        is_direct = opponent == self.hub
        values = np.where(is_direct, weight * (0.5 - credit), values)
        scores += self._sum_by_row(row, cluster, values)
        scores += self._battles_of_hub(direction, expected)
        # What the changes of the others add to the sum of the scores, the penalty included.
        information_times_change = change * self.degree - change @ tests.curvature
        score_of_changes = (direction * information_times_change).sum(axis=1)
        score_of_changes += tests.regularization * ((direction * tests.theta).sum(axis=1) + common)
        scores += score_of_changes[:, None] / clusters
        return scores, self._even_squares(direction, expected)

    def _sides_of_partners(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the battles of all partners, those of the first partner first.

        Returns:
            The position of the partner in `partners` and the position in the arrays of
            `RoughTests.sides`, for each of the n battles, shape (n,) each.
        """
        model = self.tests.sides[0]
        # The battles are sorted by model: those of a partner are in one block.
        start = np.searchsorted(model, self.partners)
        number = np.searchsorted(model, self.partners, side="right") - start
        row = np.repeat(self.rows, number)
        # A count from 0 that begins again at the first battle of each partner, such as 0 1 2 0 1
        # for a partner with three battles and one with two.
        battles_before_partner = np.cumsum(number) - number
        position_of_battle = np.arange(len(row)) - np.repeat(battles_before_partner, number)
        return row, np.repeat(start, number) + position_of_battle

    def _battles_of_hub(self, direction: np.ndarray, expected: np.ndarray) -> np.ndarray:
        """Return the part of the scores that the hub's battles with others add, shape (partners,
        clusters).

        `direction` is that of `_direction_of_others`, and `expected` is the expected credit of the
        common strength against each model, shape (partners, models) each.
        """
        model, opponent, _, weight, cluster = self.tests.sides
        # The battles are sorted by model: those of the hub begin at its code and end before the
        # next one.
        start, end = np.searchsorted(model, [self.hub, self.hub + 1])
        opponent = opponent[start:end]
        weight = weight[start:end]
        cluster = cluster[start:end]
        # From here on, arrays have the shape (partners, battles of the hub).
        expected_before = self.tests.win_chance[self.hub, opponent]
        surplus = expected_before - expected[:, opponent]
        values = weight * direction[:, opponent] * surplus
        row = np.repeat(self.rows, len(opponent))
        return self._sum_by_row(row, np.tile(cluster, len(self.rows)), values.ravel())

    def _sum_by_row(self, row: np.ndarray, cluster: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return the sums of values by row and cluster, shape (partners, clusters).

        `row` (position of a partner), `cluster` and `values` have one element for each battle.
        """
        shape = (len(self.rows), self.tests.coded.clusters)
        cell = row * np.int64(shape[1]) + cluster
        return np.bincount(cell, values, shape[0] * shape[1]).reshape(shape)

    def _even_squares(self, direction: np.ndarray, expected: np.ndarray) -> np.ndarray:
        """Return the mean square of the scores if each battle had an even chance, shape
        (partners,).

        `direction` is that of `_direction_of_others`, and `expected` is the expected credit of the
        common strength against each model, shape (partners, models) each.
        """
        tests = self.tests
        partners = self.partners
        even = _mean_square(expected)
        of_hub = self._without_both(tests.square_weight[self.hub] * even)
        of_partner = self._without_both(tests.square_weight[partners] * even)
        direct = tests.square_weight[self.hub, partners] / 4
        scatter = tests.scatter
        others = scatter.sum(axis=1) - scatter[self.hub] - scatter[partners]
        among_others = direction**2 * others - direction * (direction @ scatter)
        by_model = of_hub * direction**2 + of_partner * (direction - 1) ** 2
        return (by_model + self._without_both(among_others)).sum(axis=1) + direct


def _needs_further_steps(largest_change: np.ndarray) -> bool:
    """Return whether an iteration needs further steps and can take them.

    `largest_change` is the largest change by the last step in each test, shape (partners,). It is
    not finite if a test diverges.
    """
    is_finite = bool(np.isfinite(largest_change).all())
    return is_finite and bool((largest_change > CHANGE_TOLERANCE).any())


def _mean_square(expected: np.ndarray) -> np.ndarray:
    """Return (p^2 + (1 - p)^2) / 2 for expected credits p.

    It is the mean square of the difference between p and a credit that is 0 or 1 with even chances.
    """
    return (expected**2 + (1 - expected) ** 2) / 2
