"""Estimate the difference between two models from battles, with results by item."""

from collections.abc import Callable, Mapping
from functools import partial
from math import comb
from typing import Any, NamedTuple

import numpy as np

from podium.comparison.compared_pair import ELO, SCORE, WIN_RATE, ComparedPair
from podium.comparison.direct_battles import BattleColumns, DirectBattles, direct_battles
from podium.comparison.equalized_credits import equalized_credits
from podium.comparison.item_results import ItemResults, credit_results, score_results
from podium.comparison.outcomes import PairFinding
from podium.data.battles import Battles
from podium.data.measure import Measure
from podium.distinct_values import distinct_values
from podium.errors import NotIdentifiedError, UsageError
from podium.rankers.errors.betting import betting_difference
from podium.rankers.errors.difference import (
    DifferenceTest,
    difference_of_rates,
    grouped_difference,
    paired_difference,
    sum_by_group,
)
from podium.rankers.errors.elo_difference import elo_difference
from podium.rankers.errors.intervals import unit_of_tests
from podium.rankers.errors.raters import Raters, cluster_by_raters, raters_of
from podium.rankers.errors.two_way_difference import add_rater_errors, elo_error, rate_error
from podium.rankers.fit.coded import CodedBattles, code_battles
from podium.rankers.fit.graph import comparison_graph
from podium.rankers.fit.pairs import pair_sums
from podium.rankers.pointwise import raters_of_scores

LARGEST_LEAD = 0.5
"""Largest possible credit minus one half, of a battle that is won."""


def finding_of(
    columns: BattleColumns, pair: ComparedPair, subject: Mapping[str, Any]
) -> PairFinding:
    """Estimate the difference between two models, not yet adjusted for several tests.

    With the measure `auto`, scores are compared if any item has scores of both, else Elo, or the
    win rate if the method is betting.

    Args:
        columns: columns of all battles of the question, also of those of other models, which count
            for Elo.
        pair: the two models, and what is measured.
        subject: question, task, metric, judge and slice of the battles, and what is known of the
            metric, as fields of `PairFinding`.

    Raises:
        UsageError: scores are to be compared, and no item has scores of both models; or the method
            is betting, and what is compared has no known bounds.
        NotIdentifiedError: win rates are to be compared, and no battle of the two is readable; or
            verdicts are to be compared, and a model has no readable battle.
    """
    battles = columns.battles
    rows = direct_battles(columns, pair)
    has_scores = bool(rows.has_scores.any())
    if pair.measure == SCORE and not has_scores:
        raise UsageError(
            f"--measure score: no item has scores of both {pair.candidate} and {pair.baseline}"
        )
    if has_scores and pair.measure in ("auto", SCORE):
        known_metric: Measure | None = subject.get("known_metric")
        is_negated = known_metric is not None and known_metric.is_negated
        pair_results = _measure_scores(battles, rows, pair, is_negated=is_negated)
    else:
        pair_results = _measure_verdicts(columns, rows, pair)
    is_lost = pair_results.is_lost
    identical = None
    if pair.identical is not None:
        identical = int(pair_results.results.is_identical.sum())
    without_score = int((is_lost & ~rows.is_unparsed).sum())
    return PairFinding(
        candidate=pair.candidate,
        baseline=pair.baseline,
        **subject,
        measure=pair_results.measure,
        differences=pair_results.differences,
        is_share=pair_results.is_share,
        results=pair_results.results.largest_first(),
        identical=identical,
        unparsed=int((is_lost & rows.is_unparsed).sum()),
        missing=_count_missing(battles, without_score),
        level=pair.level,
        p_adjusted=pair_results.differences[pair_results.measure].p_value,
        unit=battles.unit if battles.group is not None else "item",
        pairs=comb(len(battles.models), 2),
    )


class _PairResults(NamedTuple):
    """Results of two models by item, and the difference between the models.

    Attributes:
        measure: the measure of the main difference.
        differences: the difference by measure.
        results: results of both models and their difference by item.
        is_share: whether all results lie in [0, 1].
        is_lost: mask of the battles without a result, shape (battles,).
    """

    measure: str
    differences: Mapping[str, Any]
    results: ItemResults
    is_share: bool
    is_lost: np.ndarray


def _measure_scores(
    battles: Battles, rows: DirectBattles, pair: ComparedPair, *, is_negated: bool
) -> _PairResults:
    """Compare the scores of two models.

    Args:
        battles: all battles.
        rows: the battles of the two; at least one has the scores of both.
        pair: the two models, and how they are tested.
        is_negated: whether the scores have the opposite sign of those in the files.

    Raises:
        UsageError: the method is betting, and a score lies outside of [0, 1].
    """
    scored_rows = rows.take(rows.has_scores)
    results = score_results(scored_rows, by_metric=bool(battles.metrics))
    lowest, highest = (-1, 0) if is_negated else (0, 1)
    scores = _scores_of_both(results)
    is_share = bool(((scores >= lowest) & (scores <= highest)).all())
    if pair.bets and not is_share:
        raise UsageError(
            f"--method betting needs scores from 0 to 1, and scores of {pair.candidate} or "
            f"{pair.baseline} lie outside: divide them by the largest possible score, or leave out "
            "the option"
        )
    if pair.bets:
        test = _bet_on_results(results, largest=1.0, unit=battles.unit)
    else:
        by_item = score_difference(results, is_share=is_share, unit=battles.unit)
        values, weight = _score_values(scored_rows, results)
        test_groups = partial(grouped_difference, largest=1.0 if is_share else np.inf)
        all_raters = raters_of_scores(battles)
        test = _test_with_raters(
            by_item, battles, all_raters, scored_rows, values, weight, test_groups
        )
    return _PairResults(
        measure=SCORE,
        differences={SCORE: test},
        results=results,
        is_share=is_share,
        is_lost=~rows.has_scores,
    )


def _scores_of_both(results: ItemResults) -> np.ndarray:
    """Return the scores of candidate and baseline, shape (items, 2); NaN for verdicts."""
    if results.candidate is None or results.baseline is None:
        return np.full((len(results), 2), np.nan)
    return np.column_stack([results.candidate, results.baseline])


def _measure_verdicts(
    columns: BattleColumns, rows: DirectBattles, pair: ComparedPair
) -> _PairResults:
    """Compare the credits of two models, by Elo if the measure of the pair is `auto`.

    Args:
        columns: columns of all battles.
        rows: the battles of the two.
        pair: the two models, and what is measured.

    Raises:
        UsageError: the method is betting, and the measure is Elo, which has no bounds.
        NotIdentifiedError: a model has no readable battle, or the measure is the win rate and no
            battle between the two is readable.
    """
    if pair.bets and pair.measure == ELO:
        raise UsageError(
            "--method betting needs a measure with bounds: --measure win-rate, or scores from 0 "
            "to 1"
        )
    results = credit_results(rows)
    differences = verdict_differences(columns, pair, rows, results)
    measure = pair.measure
    if measure == "auto":
        measure = WIN_RATE if pair.bets else ELO
    if measure not in differences:
        raise NotIdentifiedError(
            "no readable battle between the two, which the measure win-rate needs"
        )
    return _PairResults(
        measure,
        differences,
        results,
        is_share=True,
        is_lost=~rows.has_credit,
    )


def _count_missing(battles: Battles, without_score: int) -> int | None:
    """Return the number of the pair's battles that are missing; None if it is not known.

    With more than two models, battles without a row are not counted, because it is not known which
    models they are between. With two models, the number is not known if two conditions hold: the
    battles do not say how many have no row, and no battle lacks a score.

    Args:
        battles: all battles.
        without_score: number of the pair's battles that have a row but no score.
    """
    if len(battles.models) > 2:
        return without_score
    without_row = battles.missing
    if without_row is None:
        return without_score or None
    return without_score + without_row


def score_difference(results: ItemResults, *, is_share: bool, unit: str = "item") -> DifferenceTest:
    """Test the difference of mean scores, paired by item, or by group if items have groups.

    Args:
        results: the results by item, as `score_results` returns them.
        is_share: whether all scores are shares, or shares with the opposite sign.
        unit: what a group is called.
    """
    levels = distinct_values(_scores_of_both(results))
    # If scores have two values only, all differences are -step, 0 or step, and an exact test of
    # wins and losses is possible.
    step = None
    if set(levels) <= {0.0, 1.0}:
        step = 1.0
    elif len(levels) == 2:
        step = float(levels[1] - levels[0])
    largest = 1.0 if is_share else np.inf
    return _test_by_item_or_group(results, step, largest, unit)


def _test_by_item_or_group(
    results: ItemResults, step: float | None, largest: float, unit: str
) -> DifferenceTest:
    """Test the weighted mean of the differences of results, by group if items have groups.

    Args:
        results: the results by item.
        step: absolute value of the differences that are not zero, if all have the same; else None.
        largest: largest possible difference.
        unit: what a group is called.
    """
    group = results.group_codes
    if group is None:
        return paired_difference(
            results.difference, common_size=step, largest=largest, weight=results.weight
        )
    return grouped_difference(results.difference, results.weight, group, largest, unit)


def _bet_on_results(results: ItemResults, largest: float, unit: str) -> DifferenceTest:
    """Test the weighted mean of the differences of results by betting, by group if items have
    groups.

    Args:
        results: the results by item.
        largest: largest possible difference.
        unit: what varies independently.
    """
    return betting_difference(
        results.difference,
        largest=largest,
        weight=results.weight,
        group=results.group_codes,
        unit=unit,
    )


def verdict_differences(
    columns: BattleColumns, pair: ComparedPair, rows: DirectBattles, results: ItemResults
) -> dict[str, DifferenceTest]:
    """Test the difference of two models by verdicts; identical answers earn equal credits.

    Args:
        columns: columns of all battles.
        pair: the two models, with the items on which their answers are identical.
        rows: their direct battles.
        results: results of these battles by item.

    Returns:
        The differences by measure: the Elo difference over all battles, except by betting, and, if
        the two met, the win rate in their direct battles by item.

    Raises:
        NotIdentifiedError: a model has no readable battle.
    """
    battles = columns.battles
    coded = code_battles(battles, credit=equalized_credits(columns, pair))
    for name in (pair.candidate, pair.baseline):
        if name not in coded.models:
            raise NotIdentifiedError(f"{name} has no readable battle")
    candidate = coded.models.index(pair.candidate)
    baseline = coded.models.index(pair.baseline)
    differences = {}
    if not pair.bets:
        # Elo has no bounds, so that no bets can be made on it.
        elo = elo_difference(coded, candidate, baseline)
        differences[ELO] = _elo_with_raters(elo, battles, coded, codes=(candidate, baseline))
    if len(results):
        rate = _rate_difference(results, battles.unit, bets=pair.bets)
        differences[WIN_RATE] = rate
        if not pair.bets:
            rows_with_credit = rows.take(rows.has_credit)
            differences[WIN_RATE] = _test_with_raters(
                rate,
                battles=battles,
                all_raters=raters_of(battles),
                rows=rows_with_credit,
                values=rows_with_credit.credit - 0.5,
                weight=rows_with_credit.weight,
                test_groups=_rate_difference_of_groups,
            )
    return differences


def _elo_with_raters(
    test: DifferenceTest, battles: Battles, coded: CodedBattles, codes: tuple[int, int]
) -> DifferenceTest:
    """Return the test of an Elo difference with errors by item and by voter or judge.

    The test is returned unchanged if there are fewer than 10 voters or judges, or if the battles do
    not connect all models.

    Args:
        test: the test by items.
        battles: all battles.
        coded: the same battles as arrays.
        codes: codes of the two models.
    """
    raters = raters_of(battles)
    if raters is None or comparison_graph(pair_sums(coded)).groups > 1:
        return test
    candidate, baseline = codes
    error = elo_error(coded, candidate, baseline, raters)
    raters_of_model = cluster_by_raters(coded, raters).clusters_by_model()
    fewest = int(raters_of_model[list(codes)].min())
    test_by_rater = partial(elo_difference, cluster_by_raters(coded, raters), candidate, baseline)
    return add_rater_errors(
        test,
        error,
        clusters=coded.clusters,
        unit=unit_of_tests(coded.unit),
        raters=raters,
        fewest_raters=fewest,
        test_by_raters=test_by_rater,
    )


def _score_values(
    scored_rows: DirectBattles, results: ItemResults
) -> tuple[np.ndarray, np.ndarray]:
    """Return values of rows, and weights, whose weighted mean is that of the results by item.

    Args:
        scored_rows: the battles of the two with scores of both.
        results: what `score_results` returns of them.

    Returns:
        The difference of the two scores, 0 on items with identical answers; and the weight of each
        row, divided by the number of rows of its item; shape (rows,) each.
    """
    item = scored_rows.item
    difference = scored_rows.candidate - scored_rows.baseline
    rows_of_item = np.bincount(item)
    value = np.where(results.is_identical[item], 0.0, difference)
    return value, scored_rows.weight / rows_of_item[item]


def _test_with_raters(
    test: DifferenceTest,
    battles: Battles,
    all_raters: Raters | None,
    rows: DirectBattles,
    values: np.ndarray,
    weight: np.ndarray,
    test_groups: Callable[..., DifferenceTest],
) -> DifferenceTest:
    """Return a test with errors by item and by voter or judge.

    The test is returned unchanged if there are fewer than 10 voters or judges. If there are more,
    of whom few gave the verdicts or scores of its rows, these few vary, too.

    Args:
        test: the test by items.
        battles: all battles.
        all_raters: who gave all verdicts, or all scores; None if they are fewer than 10.
        rows: the battles that are compared.
        values: value of each battle, whose weighted mean is tested, shape (rows,).
        weight: weight of each battle, shape (rows,).
        test_groups: makes the test of values with weights in groups: a function of these three
            arrays, shape (rows,) each, and of `unit`, what a group is called.
    """
    if all_raters is None:
        return test
    is_compared = np.zeros(len(battles), dtype=bool)
    is_compared[rows.row] = True
    raters = raters_of(battles, is_compared, fewest=0, units=[all_raters.unit])
    if raters is None:
        return test
    cluster = rows.cluster
    error = rate_error(values, weight, cluster, raters.code)
    clusters = int(cluster.max()) + 1
    test_by_rater = partial(test_groups, values, weight, raters.code, unit=raters.unit)
    return add_rater_errors(
        test,
        error,
        clusters=clusters,
        unit=unit_of_tests(battles.unit),
        raters=raters,
        fewest_raters=len(np.unique(raters.code)),
        test_by_raters=test_by_rater,
    )


def _rate_difference(results: ItemResults, unit: str, *, bets: bool) -> DifferenceTest:
    """Test the win rate in direct battles minus one half.

    Args:
        results: the results by item.
        unit: what varies independently.
        bets: whether to test by betting.
    """
    if bets:
        return _bet_on_results(results, largest=LARGEST_LEAD, unit=unit)
    difference = results.difference
    weight = results.weight
    group = results.group_codes
    if group is None:
        return difference_of_rates(difference, weight, unit="item", largest=LARGEST_LEAD)
    return _rate_difference_of_groups(difference, weight, group, unit)


def _rate_difference_of_groups(
    difference: np.ndarray, weight: np.ndarray, group: np.ndarray, unit: str
) -> DifferenceTest:
    """Test a win rate minus one half, with groups of rows as clusters.

    Args:
        difference: credit of each row minus one half, shape (rows,).
        weight: weight of each row, shape (rows,).
        group: code of each row's group; any integers, shape (rows,).
        unit: what a group is called.
    """
    _, code = np.unique(group, return_inverse=True)
    total = sum_by_group(weight, code)
    mean = sum_by_group(weight * difference, code) / total
    return difference_of_rates(mean, total, unit=unit, largest=LARGEST_LEAD)
