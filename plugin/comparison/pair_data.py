"""Estimate the difference between two models from battles, with results by item."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from math import comb
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from podium.comparison.outcomes import ELO, SCORE, WIN_RATE, PairFinding
from podium.data.battles import Battles
from podium.data.counting.battle_frame import parsed_credits
from podium.data.measure import Measure
from podium.errors import NotIdentifiedError, UsageError
from podium.rankers.errors.betting import betting_difference
from podium.rankers.errors.difference import (
    DifferenceTest,
    difference_of_rates,
    grouped_difference,
    paired_difference,
    sum_by_group,
    with_least_p_values,
)
from podium.rankers.errors.elo_difference import elo_difference
from podium.rankers.errors.intervals import unit_of_tests
from podium.rankers.errors.raters import Raters, cluster_by_raters, raters_of
from podium.rankers.errors.two_way_difference import add_rater_errors, elo_error, rate_error
from podium.rankers.fit.coded import CodedBattles, code_battles
from podium.rankers.fit.graph import comparison_graph
from podium.rankers.fit.pairs import pair_sums
from podium.text import as_text

if TYPE_CHECKING:
    import pandas as pd


MEASURES = ("auto", SCORE, ELO, WIN_RATE)
BETTING = "betting"
"""Method: tests by betting, which allow for rare losses and may be looked at again."""
METHODS = ("auto", BETTING)
LARGEST_LEAD = 0.5
"""Largest possible credit minus one half, of a battle that is won."""


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """Two models that are compared.

    Attributes:
        candidate: the model that may be better.
        baseline: the model that it is compared with.
        measure: one of `MEASURES`.
        level: confidence level.
        identical: items on which the answers of both are identical; None if the answers are not
            known.
        method: one of `METHODS`.
    """

    candidate: str
    baseline: str
    measure: str
    level: float
    identical: Collection[str] | None = None
    method: str = "auto"

    @property
    def bets(self) -> bool:
        """Whether differences are tested by betting."""
        return self.method == BETTING


def finding_of(battles: Battles, pair: ComparedPair, subject: Mapping[str, Any]) -> PairFinding:
    """Estimate the difference between two models, not yet adjusted for several tests.

    With the measure `auto`, scores are compared if any item has scores of both, else Elo, or the
    win rate if the method is betting.

    Args:
        battles: all battles of the question, also those of other models, which count for Elo.
        pair: the two models, and what is measured.
        subject: question, task, metric, judge and slice of the battles, and what is known of the
            metric, as fields of `PairFinding`.

    Raises:
        UsageError: scores are to be compared, and no item has scores of both models; or the method
            is betting, and what is compared has no known bounds.
        NotIdentifiedError: win rates are to be compared, and no battle of the two is readable; or
            verdicts are to be compared, and a model has no readable battle.
    """
    rows = direct_battles(battles, pair)
    scored_rows = rows.dropna(subset=["candidate", "baseline"])
    if pair.measure == SCORE and not len(scored_rows):
        raise UsageError(
            f"--measure score: no item has scores of both {pair.candidate} and {pair.baseline}"
        )
    if len(scored_rows) and pair.measure in ("auto", SCORE):
        known_metric: Measure | None = subject.get("known_metric")
        is_negated = known_metric is not None and known_metric.is_negated
        pair_results = _measure_scores(battles, rows, scored_rows, pair, is_negated=is_negated)
    else:
        pair_results = _measure_verdicts(battles, rows, pair)
    is_unparsed = rows["is_unparsed"].to_numpy()
    identical = None
    if pair.identical is not None:
        identical = int(pair_results.results["is_identical"].sum())
    largest_first = pair_results.results.sort_values(
        "difference", key=lambda difference: -difference.abs(), kind="stable"
    )
    without_score = int((pair_results.is_lost & ~is_unparsed).sum())
    return PairFinding(
        candidate=pair.candidate,
        baseline=pair.baseline,
        **subject,
        measure=pair_results.measure,
        differences=pair_results.differences,
        is_share=pair_results.is_share,
        results=largest_first,
        leads=pair_results.leads,
        identical=identical,
        unparsed=int((pair_results.is_lost & is_unparsed).sum()),
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
        results: results of both models and their difference, a row per item.
        leads: difference by item, whose sign says who wins the item.
        is_share: whether all results lie in [0, 1].
        is_lost: mask of the battles without a result, shape (battles,).
    """

    measure: str
    differences: Mapping[str, Any]
    results: "pd.DataFrame"
    leads: "pd.Series"
    is_share: bool
    is_lost: np.ndarray


def _measure_scores(
    battles: Battles,
    rows: "pd.DataFrame",
    scored_rows: "pd.DataFrame",
    pair: ComparedPair,
    *,
    is_negated: bool,
) -> _PairResults:
    """Compare the scores of two models.

    Args:
        battles: all battles.
        rows: the battles of the two, as `direct_battles` returns them.
        scored_rows: those rows of `rows` that have the scores of both models.
        pair: the two models, and how they are tested.
        is_negated: whether the scores have the opposite sign of those in the files.

    Raises:
        UsageError: the method is betting, and a score lies outside of [0, 1].
    """
    results = _score_results(scored_rows, by_metric=bool(battles.metrics))
    score_range = (-1, 0) if is_negated else (0, 1)
    is_share = bool(results[["candidate", "baseline"]].stack().between(*score_range).all())
    is_lost = ~rows.index.isin(scored_rows.index)
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
        values = _score_values(scored_rows, results)
        test_groups = partial(grouped_difference, largest=1.0 if is_share else np.inf)
        test = _test_with_raters(by_item, battles, scored_rows, *values, test_groups)
    differences = {SCORE: test}
    return _PairResults(
        SCORE,
        differences,
        results,
        leads=results["difference"],
        is_share=is_share,
        is_lost=is_lost,
    )


def _measure_verdicts(battles: Battles, rows: "pd.DataFrame", pair: ComparedPair) -> _PairResults:
    """Compare the credits of two models, by Elo if the measure of the pair is `auto`.

    Args:
        battles: all battles.
        rows: the battles of the two, as `direct_battles` returns them.
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
    results = _credit_results(rows)
    leads = _credit_results(rows, "outcome")["difference"]
    differences = verdict_differences(battles, pair, rows, results)
    measure = pair.measure
    if measure == "auto":
        measure = WIN_RATE if pair.bets else ELO
    if measure not in differences:
        raise NotIdentifiedError(
            "no readable battle between the two, which the measure win-rate needs"
        )
    is_lost = rows["credit"].isna().to_numpy()
    return _PairResults(
        measure,
        differences,
        results,
        leads=leads,
        is_share=True,
        is_lost=is_lost,
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


def _score_results(scored_rows: "pd.DataFrame", *, by_metric: bool) -> "pd.DataFrame":
    """Return weighted mean scores, their difference and the mean weight per item.

    The difference of identical answers is set to 0, with one exception: if a metric (`by_metric`)
    scored the two differently, it saw more than the answers, for example what an agent did. The
    answers then do not count as identical.

    Args:
        scored_rows: the battles of the two with scores of both.
        by_metric: whether a metric gave the scores, and not a judge.
    """
    score_columns = ["candidate", "baseline"]
    # Equal weights become exactly 1, so that they cause no rounding errors.
    weight = scored_rows["weight"] / scored_rows["weight"].iloc[0]
    weighted = scored_rows.assign(
        **{side: scored_rows[side] * weight for side in score_columns}, weight=weight
    )
    items = weighted.groupby("item", sort=True)
    sums = items[[*score_columns, "weight"]].sum()
    means = sums[score_columns].div(sums["weight"], axis=0)
    means["weight"] = scored_rows.groupby("item", sort=True)["weight"].mean()
    means["is_identical"] = items["is_identical"].any()
    if "group" in scored_rows:
        means["group"] = items["group"].first()
    means = means.reset_index()
    difference = means["candidate"] - means["baseline"]
    is_identical = means["is_identical"]
    if by_metric:
        is_identical &= difference == 0
    difference = difference.mask(is_identical, 0.0)
    means = means.assign(
        is_identical=is_identical, difference=difference, row_weight=means["weight"]
    )
    columns = ["item", "difference", *score_columns, "is_identical", "weight", "row_weight"]
    return means[[*columns, *_group_columns(means)]]


def _group_columns(results: "pd.DataFrame") -> list[str]:
    """Return the column `group` in a list if results have it; otherwise an empty list."""
    return ["group"] if "group" in results else []


def _credit_results(rows: "pd.DataFrame", column: str = "credit") -> "pd.DataFrame":
    """Return the candidate's mean lead over the baseline per item, and the weight of its battles.

    The weight of an item is the sum over its battles, so that the mean over items is that over
    battles, as of a ranking.

    Args:
        rows: the battles of the two.
        column: `credit`, or `outcome` for the credit by parsed verdicts.

    Returns:
        A row per item: the difference is the weighted mean credit minus 1/2, `row_weight` the mean
        weight of its battles; scores are None.
    """
    known = rows.dropna(subset=["credit"])
    items = known.assign(earned=known[column] * known["weight"]).groupby("item", sort=True)
    means = items.agg({"earned": "sum", "weight": "sum", "is_identical": "any"}).reset_index()
    means["difference"] = means["earned"] / means["weight"] - 0.5
    means["row_weight"] = items["weight"].mean().to_numpy()
    means[["candidate", "baseline"]] = None
    if "group" in rows:
        means["group"] = items["group"].first().to_numpy()
    columns = ["item", "difference", "candidate", "baseline", "is_identical", "weight"]
    return means[[*columns, "row_weight", *_group_columns(means)]]


def table_items(rows: "pd.DataFrame", positions: np.ndarray | None = None) -> "pd.Series":
    """Return the item of each battle as text, shape (battles,).

    A row without an item is an item of its own, `row N` with N counted from 1.

    Args:
        rows: rows of the table of battles.
        positions: their positions in it, from 0; None if they are all rows of it.
    """
    import pandas as pd

    numbers = range(len(rows)) if positions is None else positions.tolist()
    row_names = pd.Series([f"row {number + 1}" for number in numbers], index=rows.index)
    return as_text(rows["item"]).fillna(row_names) if "item" in rows else row_names


def direct_battles(battles: Battles, pair: ComparedPair) -> "pd.DataFrame":
    """Return the battles between two models, seen from the candidate.

    Returns:
        A row per battle with these columns:

        - `row`: the position of the battle among all, from 0;
        - `item`, `weight`;
        - `credit`: the candidate's credit, 1/2 for identical answers, NaN without a verdict;
        - `outcome`: the candidate's credit by the parsed verdict (win, tie or loss), 1/2 for
          identical answers;
        - `candidate`, `baseline`: the scores of both, NaN if unknown;
        - `is_identical`: whether the answers are identical;
        - `is_unparsed`: whether the reply is unparsed;
        - `group`: the group of the item, if items have groups.
    """
    import pandas as pd

    positions = battles.positions_between(pair.candidate, pair.baseline)
    rows = battles.table.iloc[positions]
    is_first = (rows["model_a"].astype(object) == pair.candidate).to_numpy()
    item = table_items(rows, positions)
    is_identical = item.isin(list(pair.identical or ())).to_numpy()
    credit_a = rows["credit"].to_numpy(dtype=float)
    outcome_a = parsed_credits(rows).to_numpy(dtype=float)
    credit = np.where(is_first, credit_a, 1 - credit_a)
    outcome = np.where(is_first, outcome_a, 1 - outcome_a)
    score_a = _numbers_or_nan(rows, "score_a")
    score_b = _numbers_or_nan(rows, "score_b")
    columns = {
        "row": positions,
        "item": item.astype(str).to_numpy(),
        "credit": np.where(is_identical & ~np.isnan(credit), 0.5, credit),
        "outcome": np.where(is_identical, 0.5, outcome),
        "weight": rows["weight"].to_numpy(dtype=float) if "weight" in rows else 1.0,
        "candidate": np.where(is_first, score_a, score_b),
        "baseline": np.where(is_first, score_b, score_a),
        "is_identical": is_identical,
        "is_unparsed": battles.is_unparsed[positions],
    }
    if battles.group is not None:
        columns["group"] = as_text(rows[battles.group]).to_numpy()
    return pd.DataFrame(columns)


def _numbers_or_nan(rows: "pd.DataFrame", column: str) -> np.ndarray:
    """Return a column as floats, shape (rows,); all NaN if there is no such column."""
    if column not in rows:
        return np.full(len(rows), np.nan)
    return rows[column].to_numpy(dtype=float)


def score_difference(
    results: "pd.DataFrame", *, is_share: bool, unit: str = "item"
) -> DifferenceTest:
    """Test the difference of mean scores, paired by item, or by group if items have groups.

    Args:
        results: a row per item, as `_score_results` returns it.
        is_share: whether all scores are shares, or shares with the opposite sign.
        unit: what a group is called.
    """
    levels = np.unique(results[["candidate", "baseline"]].to_numpy())
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
    results: "pd.DataFrame", step: float | None, largest: float, unit: str
) -> DifferenceTest:
    """Test the weighted mean of the differences of results, by group if items have groups.

    Args:
        results: a row per item with its difference and weight, and its group if items have groups.
        step: absolute value of the differences that are not zero, if all have the same; else None.
        largest: largest possible difference.
        unit: what a group is called.
    """
    difference = results["difference"].to_numpy()
    weight = results["weight"].to_numpy()
    if "group" not in results:
        return paired_difference(difference, step, largest, weight)
    group = results["group"].astype("category").cat.codes.to_numpy()
    return grouped_difference(difference, weight, group, largest, unit)


def _bet_on_results(results: "pd.DataFrame", largest: float, unit: str) -> DifferenceTest:
    """Test the weighted mean of the differences of results by betting.

    Args:
        results: a row per item with its difference and weight, and its group if items have groups.
        largest: largest possible difference.
        unit: what varies independently.
    """
    group = None
    if "group" in results:
        group = results["group"].astype("category").cat.codes.to_numpy()
    difference = results["difference"].to_numpy()
    return betting_difference(difference, largest, results["weight"].to_numpy(), group, unit)


def verdict_differences(
    battles: Battles, pair: ComparedPair, rows: "pd.DataFrame", results: "pd.DataFrame"
) -> dict[str, DifferenceTest]:
    """Test the difference of two models by verdicts; identical answers earn equal credits.

    Args:
        battles: all battles.
        pair: the two models, with the items on which their answers are identical.
        rows: their direct battles, as `direct_battles` returns them.
        results: results of these battles, a row per item.

    Returns:
        The differences by measure: the Elo difference over all battles, except by betting, and, if
        the two met, the win rate in their direct battles by item.

    Raises:
        NotIdentifiedError: a model has no readable battle.
    """
    coded = code_battles(battles, credit=equalized_credits(battles.table, pair))
    for name in (pair.candidate, pair.baseline):
        if name not in coded.models:
            raise NotIdentifiedError(f"{name} has no readable battle")
    candidate = coded.models.index(pair.candidate)
    baseline = coded.models.index(pair.baseline)
    differences = {}
    if not pair.bets:
        # Elo has no bounds, so that no bets can be made on it.
        elo = elo_difference(coded, candidate, baseline)
        differences[ELO] = _elo_with_raters(elo, battles, coded, (candidate, baseline))
    if len(results):
        rate = _rate_difference(results, battles.unit, bets=pair.bets)
        differences[WIN_RATE] = rate
        if not pair.bets:
            known = rows.dropna(subset=["credit"])
            credit = known["credit"].to_numpy(dtype=float)
            weight = known["weight"].to_numpy(dtype=float)
            differences[WIN_RATE] = _test_with_raters(
                rate, battles, known, credit - 0.5, weight, _rate_difference_of_groups
            )
    return differences


def _elo_with_raters(
    test: DifferenceTest, battles: Battles, coded: CodedBattles, codes: tuple[int, int]
) -> DifferenceTest:
    """Return the test of an Elo difference with errors by voter or judge, too.

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
    error = elo_error(coded, *codes, raters)
    return add_rater_errors(
        test,
        error,
        coded.clusters,
        unit_of_tests(coded.unit),
        raters,
        lambda: _elo_difference_by_rater(coded, *codes, raters),
    )


def _elo_difference_by_rater(coded: CodedBattles, a: int, b: int, raters: Raters) -> DifferenceTest:
    """Test the difference of the Elo ratings of the models with codes a and b, by raters.

    The p-values are at least those of `with_least_p_values` for the raters of the model that has
    fewer.
    """
    test = elo_difference(cluster_by_raters(coded, raters), a, b)
    return with_least_p_values(test, test.items)


def _score_values(
    scored_rows: "pd.DataFrame", results: "pd.DataFrame"
) -> tuple[np.ndarray, np.ndarray]:
    """Return values of rows, and weights, whose weighted mean is that of the results by item.

    Args:
        scored_rows: the battles of the two with scores of both.
        results: what `_score_results` returns of them.

    Returns:
        The difference of the two scores, 0 on items with identical answers; and the weight of each
        row, divided by the number of rows of its item; shape (rows,) each.
    """
    items = scored_rows["item"]
    is_identical = items.isin(results["item"][results["is_identical"]])
    difference = (scored_rows["candidate"] - scored_rows["baseline"]).mask(is_identical, 0.0)
    weight = scored_rows["weight"] / items.groupby(items).transform("size")
    return difference.to_numpy(dtype=float), weight.to_numpy(dtype=float)


def _test_with_raters(
    test: DifferenceTest,
    battles: Battles,
    rows: "pd.DataFrame",
    values: np.ndarray,
    weight: np.ndarray,
    test_groups: Callable[..., DifferenceTest],
) -> DifferenceTest:
    """Return a test with errors by voter or judge, too.

    The test is returned unchanged if its rows have fewer than 10 voters or judges.

    Args:
        test: the test by items.
        battles: all battles.
        rows: the battles that are compared, rows of what `direct_battles` returns.
        values: the value of each, whose weighted mean is tested, shape (rows,).
        weight: its weight, shape (rows,).
        test_groups: makes the test of values with weights in groups: a function of these three
            arrays, shape (rows,) each, and of `unit`, what a group is called.
    """
    is_compared = np.zeros(len(battles), dtype=bool)
    is_compared[rows["row"]] = True
    raters = raters_of(battles, is_compared)
    if raters is None:
        return test
    column = "group" if "group" in rows else "item"
    cluster = rows[column].astype("category").cat.codes.to_numpy()
    error = rate_error(values, weight, cluster, raters.code)
    clusters = int(cluster.max()) + 1
    return add_rater_errors(
        test,
        error,
        clusters,
        unit_of_tests(battles.unit),
        raters,
        lambda: test_groups(values, weight, raters.code, unit=raters.unit),
    )


def _rate_difference(results: "pd.DataFrame", unit: str, *, bets: bool) -> DifferenceTest:
    """Test the win rate in direct battles minus one half.

    Args:
        results: a row per item with its difference and weight, and its group if items have groups.
        unit: what varies independently.
        bets: whether to test by betting.
    """
    if bets:
        return _bet_on_results(results, largest=LARGEST_LEAD, unit=unit)
    difference = results["difference"].to_numpy()
    weight = results["weight"].to_numpy()
    if "group" not in results:
        return difference_of_rates(difference, weight, unit="item", largest=LARGEST_LEAD)
    group = results["group"].astype("category").cat.codes.to_numpy()
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
    code = np.unique(group, return_inverse=True)[1]
    total = sum_by_group(weight, code)
    mean = sum_by_group(weight * difference, code) / total
    return difference_of_rates(mean, total, unit=unit, largest=LARGEST_LEAD)


def equalized_credits(table: "pd.DataFrame", pair: ComparedPair) -> np.ndarray:
    """Return credits in which identical answers of two models earn the same credit.

    On items with identical answers, a battle between the two is a tie. In battles with a third
    model, each of the two gets the mean of the credits that both earned against the third model.

    Args:
        table: the battles, which are not changed.
        pair: the two models, with the items on which their answers are identical.

    Returns:
        The credits of `model_a`, shape (battles,). NaN stays NaN. All credits are those of the
        table if no answers are known to be identical.
    """
    import pandas as pd

    credit = table["credit"].to_numpy(dtype=float).copy()
    if not pair.identical:
        return credit
    items = table_items(table)
    is_identical = items.isin(list(pair.identical)).to_numpy()
    rows = np.flatnonzero(is_identical & ~np.isnan(credit))
    model_a = table["model_a"].astype(object).to_numpy()[rows]
    model_b = table["model_b"].astype(object).to_numpy()[rows]
    names = (pair.candidate, pair.baseline)
    is_a = np.isin(model_a, names)
    is_b = np.isin(model_b, names)
    credit[rows[is_a & is_b]] = 0.5
    weight = np.ones(shape=len(rows))
    if "weight" in table:
        weight = table["weight"].to_numpy(dtype=float)[rows]
    columns = {
        "item": items.to_numpy()[rows],
        "weight": weight,
        "third": np.where(is_a, model_b, model_a),
        "model": np.where(is_a, model_a, model_b),
        "earned": np.where(is_a, credit[rows], 1 - credit[rows]),
    }
    has_third = is_a != is_b
    mean_credits = _mean_credits_of_both(pd.DataFrame(columns)[has_third])
    credit[rows[has_third]] = np.where(is_a[has_third], mean_credits, 1 - mean_credits)
    return credit


def _mean_credits_of_both(earned: "pd.DataFrame") -> np.ndarray:
    """Return the mean credit that two models earned against each third model on each item.

    It is the unweighted mean of the two models' mean credits, however often each was judged. The
    mean credit of a model is weighted.

    Args:
        earned: a row per battle with the columns item, third (the other model), model (one of the
            two), weight and earned (its credit).

    Returns:
        The mean for each battle, shape (battles,). If only one of the two was judged against the
        third model on the item, the credit of the battle is returned.
    """
    matchup_columns = ["item", "third"]
    weighted = earned.assign(earned=earned["earned"] * earned["weight"])
    sums = weighted.groupby([*matchup_columns, "model"])[["earned", "weight"]].sum()
    means = (sums["earned"] / sums["weight"]).groupby(matchup_columns).agg(["mean", "size"])
    joined = earned.join(means, on=matchup_columns)
    has_both = joined["size"] == 2
    return np.where(has_both, joined["mean"], joined["earned"])
