"""The finding of a comparison: a candidate against a baseline on one question."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from podium.check_results import Check
from podium.comparison.item_results import ItemResults
from podium.data.measure import Measure
from podium.rankers.errors.difference import DifferenceTest, is_constant
from podium.rankers.errors.intervals import finite_or_none, t_quantile
from podium.rankers.errors.rank_sets import FEWEST_ITEMS, further_items
from podium.rankers.errors.raters import FEWEST_EFFECTIVE_RATERS
from podium.wording import plural

MOST_ITEMS = 1_000
"""Largest number of items that are written to JSON, the largest differences first."""
COPIED_FIELDS = (
    "candidate",
    "baseline",
    "task",
    "metric",
    "judge",
    "slice",
    "measure",
    "level",
    "questions_in_doubt",
    "p_adjusted",
    "tests",
    "scores",
    "identical",
    "unparsed",
    "missing",
    "pairs",
    "p_if_chosen",
)
"""Attributes of a finding that are copied to JSON unchanged."""


@dataclass(frozen=True)
class PairFinding:
    """The comparison of a candidate with a baseline on one question.

    Attributes:
        candidate: name of the model that may be better.
        baseline: name of the model that it is compared with.
        question: the question as text; None if there is only one.
        task: the task of the scores; None if unknown.
        metric: the metric of the scores; None if unknown.
        judge: the judge that gave the scores; None if unknown.
        slice: the value of the column `by` to which the finding is limited; None for all values.
        measure: the measure of the main difference, one of `ELO`, `WIN_RATE`, `SCORE`.
        differences: the difference by measure.
        is_share: whether all results lie in [0, 1].
        results: results by item, the largest difference first.
        identical: number of items with identical answers; None if the answers are not known.
        unparsed: number of battles of the two whose reply was not parsed.
        missing: number of battles of the two that lack a score or reply; None if not known.
        level: confidence level.
        tests: number of tests over which p-value and interval are adjusted.
        p_adjusted: p-value of the main difference, adjusted by Holm's rule.
        slices: a finding per value of the column `by`; empty if there is no such column.
        likely_item: name of the column that looks like the item, if each row is counted as an item;
            else None.
        known_metric: what is known of the metric; None if nothing is known.
        doubt: the flagged check that one model's scores are fractions and the other's percent, that
            lost battles, or the order in which single orders were shown, may explain the
            difference, or that items are alike in groups that are not the unit; None if there is no
            such doubt. If there is, nothing is claimed, and no requirement is decided.
        judge_doubt: the flagged check that the order of the responses decides, not their quality,
            or that a judge is one of the two models or of the family of one; None if there is no
            such doubt. If there is, no requirement is decided.
        loss_check: the flagged check that battles of one of the two are unparsed more often, where
            whoever is ahead is so whatever these replies were, or that the response shown first
            wins more often in single orders, where whoever is ahead is so without that; None if
            there is none, or if `doubt` has it. If there is one, no requirement with a margin is
            decided.
        loss_unknown: the check whether unparsed verdicts would have had other winners, if that is
            not known; else None.
        rater_check: the flagged check that one voter or judge decides who is ahead; None if
            there is none.
        questions_in_doubt: whether the two may have been asked different questions: they had
            different inputs under the same ids, and the user did not accept it. If so, no
            requirement is decided.
        unit: what varies independently, in the singular: an item, or a group of items such as
            `passage`.
        pairs: number of pairs of models in the sources, of which this pair is one.
        raters: what gave the verdicts (`judge` or `voter`) and how many there are, if there are
            several; else None. The tests leave out how they differ.
    """

    candidate: str
    baseline: str
    question: str | None
    task: str | None
    metric: str | None
    judge: str | None
    slice: str | None
    measure: str
    differences: Mapping[str, DifferenceTest]
    is_share: bool
    results: ItemResults
    identical: int | None
    unparsed: int
    missing: int | None
    level: float
    tests: int = 1
    p_adjusted: float = 1.0
    slices: tuple["PairFinding", ...] = ()
    likely_item: str | None = None
    known_metric: Measure | None = None
    doubt: Check | None = None
    judge_doubt: Check | None = None
    loss_check: Check | None = None
    loss_unknown: Check | None = None
    rater_check: Check | None = None
    questions_in_doubt: bool = False
    unit: str = "item"
    pairs: int = 1
    raters: tuple[str, int] | None = None

    @property
    def difference(self) -> DifferenceTest:
        """The main difference: that of `differences` by the measure `measure`."""
        return self.differences[self.measure]

    @property
    def is_distinguishable(self) -> bool:
        """Whether the adjusted test detects a difference.

        It is False if items are not known (`likely_item`), or if there is a `doubt`.
        """
        is_comparable = self.likely_item is None and self.doubt is None
        return is_comparable and self.p_adjusted <= 1 - self.level

    @property
    def p_if_chosen(self) -> float | None:
        """The p-value if the pair was chosen from all pairs after looking at their ranking.

        It is `pairs` times the p-value of the pair alone, 1 at most (Bonferroni). None if there is
        one pair only, or if p-values are adjusted over several findings already.
        """
        if self.pairs < 2 or self.tests > 1:
            return None
        return min(1.0, self.pairs * self.difference.p_value)

    @property
    def _joint_level(self) -> float:
        """Level of each of `tests` intervals that together have the level `level`.

        By Bonferroni's rule, all of them hold with at least this probability.
        """
        return 1 - (1 - self.level) / self.tests

    @cached_property
    def interval(self) -> tuple[float, float]:
        """Interval of the main difference, simultaneous over the tests.

        If Holm's rule detects a difference, an end that would lie beyond 0 is cut at 0.
        """
        low, high = self.difference.interval(self._joint_level)
        if not self.is_distinguishable:
            return low, high
        if self.difference.value > 0:
            return max(low, 0.0), high
        return low, min(high, 0.0)

    @property
    def tally(self) -> tuple[int, int, int]:
        """Numbers of items that the candidate wins, loses and ties, by the sign of
        `results.lead`.
        """
        lead = self.results.lead
        won = int((lead > 0).sum())
        lost = int((lead < 0).sum())
        even = int((lead == 0).sum())
        return won, lost, even

    @property
    def tally_by_weight(self) -> tuple[float, float, float] | None:
        """Sums of the weights of the items that the candidate wins, loses and ties.

        None if all items have the same weight.
        """
        weight = self.results.row_weight
        if is_constant(weight):
            return None
        lead = self.results.lead
        won = float(weight[lead > 0].sum())
        lost = float(weight[lead < 0].sum())
        even = float(weight[lead == 0].sum())
        return won, lost, even

    @property
    def size(self) -> str:
        """The number of items with a result as text, as `20 items` or `5 passages, 20 items`.

        The groups are counted before the items if items have groups.
        """
        items = f"{len(self.results):,} {plural('item', len(self.results))}"
        if self.results.group is None:
            return items
        groups = self.units_with_both
        return f"{groups:,} {plural(self.unit, groups)}, {items}"

    @property
    def units_with_both(self) -> int:
        """The number of items, or of groups if items have groups, with a result of the two."""
        group = self.results.group
        if group is None:
            return len(self.results)
        return len(set(group.tolist()))

    @property
    def scores(self) -> tuple[float, float] | None:
        """Weighted mean scores of candidate and baseline over the items; None for verdicts."""
        results = self.results
        if results.candidate is None or results.baseline is None:
            return None
        candidate = np.average(results.candidate, weights=results.weight)
        baseline = np.average(results.baseline, weights=results.weight)
        return float(candidate), float(baseline)

    @property
    def further_items(self) -> int | None:
        """Number of further items, groups or raters that would separate the two with 80% power.

        `unit_of_further` names which of the three are counted. None if it is unknown: the
        difference or the nearer end of its interval is infinite, there are fewer than 8 items, the
        interval has no width, the test is by betting, or few voters or judges gave most of the
        verdicts.
        """
        difference = self.difference
        if difference.is_sequential:
            return None
        low, high = difference.interval(self._joint_level)
        # The end of the interval that is nearer to 0, from which the standard error is computed.
        nearer_end = low if difference.value > 0 else high
        is_finite = np.isfinite([difference.value, nearer_end]).all()
        has_width = difference.value != nearer_end
        if not is_finite or not has_width or difference.items < FEWEST_ITEMS:
            return None
        if self.has_busy_raters:
            return None
        number = self.units_so_far
        critical = t_quantile(number, self._joint_level)
        standard_error = abs(difference.value - nearer_end) / critical
        return further_items(number, critical, difference.value / standard_error)

    @property
    def has_busy_raters(self) -> bool:
        """Whether all voters or judges count as few, because few gave most of the verdicts.

        False if the errors do not include how voters or judges differ.
        """
        effective = self.difference.effective_raters
        return effective is not None and effective < FEWEST_EFFECTIVE_RATERS

    @property
    def units_so_far(self) -> int:
        """The number of items, or of groups if items have groups, that were compared.

        It is the number of voters or judges if the errors include how these differ, and they are
        fewer. `further_items` says how many more of the same would separate the two models.
        """
        items = self.difference.items
        if self.difference.raters is None:
            return items
        _, number_of_raters = self.difference.raters
        return min(items, number_of_raters)

    @property
    def unit_of_further(self) -> str:
        """What `units_so_far` and `further_items` count, in the singular.

        It is `judge` or `voter` if the errors include how these differ, and they are no more than
        the items or groups; else `unit`.
        """
        if self.difference.raters is None:
            return self.unit
        kind_of_rater, number_of_raters = self.difference.raters
        return kind_of_rater if number_of_raters <= self.difference.items else self.unit

    def to_dict(self) -> dict[str, Any]:
        """Return the finding for JSON: plain Python values; infinite ends become None.

        A slice has no `slices` and no `item_results`. `item_results` has at most `MOST_ITEMS`
        items, with weights only if weights differ. `further_items` is None if the two are
        distinguishable, or if there is a `doubt`. The key `rater_check` is there only if there is
        this check. `unit` is left out if it is an item, `raters` if there are none, and both in
        slices.
        """
        by_weight = self.tally_by_weight
        won, lost, even = self.tally
        figures = {name: getattr(self, name) for name in COPIED_FIELDS}
        figures["difference"] = finite_or_none(self.difference.value)
        figures |= _difference_to_dict(self.difference, self.interval)
        figures["distinguishable"] = self.is_distinguishable
        figures["measures"] = self._measures_to_dict()
        figures |= {"wins": won, "losses": lost, "even": even, "by_weight": None}
        if by_weight is not None:
            weight_won, weight_lost, weight_even = by_weight
            figures["by_weight"] = {
                "wins": weight_won,
                "losses": weight_lost,
                "even": weight_even,
            }
        figures["doubt"] = _clause_or_none(self.doubt)
        figures["judge_doubt"] = _clause_or_none(self.judge_doubt)
        figures["loss_check"] = _clause_or_none(self.loss_check)
        if self.rater_check is not None:
            figures["rater_check"] = self.rater_check.clause
        needs_items = not self.is_distinguishable and self.doubt is None
        figures["further_items"] = self.further_items if needs_items else None
        if self.slice is not None:
            return figures
        if self.unit != "item":
            figures["unit"] = self.unit
        if self.raters is not None:
            figures["raters"] = dict(zip(("unit", "number"), self.raters, strict=True))
        figures["slices"] = [finding.to_dict() for finding in self.slices]
        has_weights = by_weight is not None
        figures["item_results"] = self.results.to_dicts(MOST_ITEMS, has_weights=has_weights)
        return figures

    def _measures_to_dict(self) -> dict[str, dict[str, Any]]:
        """Return all differences by measure, for JSON.

        Each has its value (None if infinite) under `value`, and the keys of `_difference_to_dict`.
        Its interval has the level `level`, so that the intervals are not simultaneous.
        """
        measures = {}
        for name, difference in self.differences.items():
            figures = _difference_to_dict(difference, difference.interval(self.level))
            measures[name] = {"value": finite_or_none(difference.value), **figures}
        return measures


def _clause_or_none(check: Check | None) -> str | None:
    """Return the clause of a check; None without a check."""
    return None if check is None else check.clause


def _difference_to_dict(
    difference: DifferenceTest, interval: tuple[float, float]
) -> dict[str, Any]:
    """Return a difference's interval, p-value, method and numbers of items as plain Python values.

    The value of the difference is left out, and an infinite end is None.
    """
    low, high = interval
    return {
        "low": finite_or_none(low),
        "high": finite_or_none(high),
        "p": difference.p_value,
        "method": difference.method,
        "items": difference.items,
        "rarest_seen": difference.rarest_seen(),
    }
