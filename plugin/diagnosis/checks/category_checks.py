"""The check whether the order of the models depends on a recorded category of the items.

The residual of an item is, for each model, the sum over its battles of the difference from the mean
of the pair over all items. If the category makes no difference, its mean is 0 in each category. The
statistic is the largest |t| (Welch) over models and categories, of the mean in the category against
the mean of all other items. Its p-value is the share of random divisions of the items into
categories of the same sizes that have a statistic at least as large. The statistic is studentized,
so that the test keeps its level if the categories vary unequally (Chung and Romano 2013): in 300
worlds with 10 items whose deviation is three times that of 30 others, the level of 2% is 3.7%, and
23.7% with a pooled variance. With equal deviations in four categories of 10 items, that would find
a shift of 1.2 deviations in 81.3% of worlds, and Welch's t finds it in 71.0%.

The strength of all models may be unlike in two categories without a change of their order. So the
check is flagged only if a pair changes its order, too.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter

import numpy as np

from podium.check_kinds import CHECKS
from podium.check_results import Check, make_check
from podium.data.battles import Battles
from podium.diagnosis.categories import category_columns
from podium.diagnosis.checks.group_checks import (
    pair_values,
    residuals_of_items,
    short_p,
    uses_scores,
)
from podium.diagnosis.checks.size_limits import are_too_many
from podium.distributions import ndtri, stdtr
from podium.notices.option_forms import option_text
from podium.rankers.errors.intervals import holm
from podium.rankers.fit.coded import cluster_codes
from podium.wording import join_names, plural

NO_CATEGORIES_FOUND = "no column has categories of items"
"""Why no column was tested, if there is no column of categories."""
FEW_IN_CATEGORIES = (
    "no category of the column {column} has {fewest} {units} or more in it and outside it"
)
"""Why no column was tested, if categories have too few items."""
SEVERAL_IN_GROUPS = "{units} have items of several categories ({columns})"
"""Why no column was tested, if groups of items, such as passages, have several categories."""
NO_PLACE_DEPENDS = "no model's place depends on {columns} beyond chance"
"""Finding of an ok check."""
GAPS_DEPEND = "gaps between models depend on {columns}, but no two change places beyond chance"
"""Finding of an ok check if the test is significant, but no pair changes its order."""
FEWEST_ITEMS = 8
"""Categories with fewer items are not tested. Their items count among the other items."""
PERMUTATIONS = 499
"""Largest number of random divisions of up to 5 columns; the smallest p-value is 0.002."""
DIVISIONS_PER_COLUMN = 100
"""Least number of random divisions per tested column: the smallest adjusted p-value is 0.01."""
ENOUGH_DIVISIONS = 15
"""No more divisions are drawn when this number of them had a statistic at least as large: the
p-value is then this number over the number of divisions (Besag and Clifford 1991)."""
ROUNDING = 1e-9
"""Statistics that differ by a smaller share than this are equal."""
ERROR_RATE_OF_TURN = 0.05
"""Error rate of the claim that a pair changes its order, one-sided on each of the two sides, over
all pairs of the model (Bonferroni)."""


@dataclass(frozen=True, slots=True)
class PairInCategory:
    """A pair of models whose order in a category is not that of the other items.

    Attributes:
        first: the model that is ahead in the category.
        second: the other model.
        value: the category.
        other: the other category if there are two, else None.
        here: mean value of the first model in the category, above 0.
        there: its mean value on the other items, below 0.
    """

    first: str
    second: str
    value: str
    other: str | None
    here: float
    there: float


def check_categories(battles: Battles) -> tuple[Check, ...]:
    """Check whether the order of the models depends on a column of categories.

    Returns:
        The check of the column with the smallest p-value, adjusted by Holm's rule over the columns,
        flagged if a pair of models changes its order, too. Columns are left out whose cells list
        several categories, and tasks of scores. Empty if no column has two categories with at least
        8 items each, if no battle has an item, for scores by several metrics, or if there are too
        many battles.
    """
    if not battles.has_items or are_too_many(battles) or len(battles.metrics) > 1:
        return ()
    is_counted = (battles.item_codes >= 0) & battles.readable
    distinct, item = np.unique(cluster_codes(battles)[is_counted], return_inverse=True)
    categories = dict(_categories_of_items(battles, is_counted, item, len(distinct)))
    if not categories:
        return ()
    residual = residuals_of_items(battles, is_counted, item, len(distinct))
    most = max(PERMUTATIONS, DIVISIONS_PER_COLUMN * len(categories) - 1)
    tested_columns = [
        (*_test_column(battles, is_counted, item, residual, category, most), column)
        for column, category in categories.items()
    ]
    return (_check_of_columns(battles, tested_columns),)


def _categories_of_items(
    battles: Battles, is_counted: np.ndarray, item: np.ndarray, items: int
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the columns to test, with the category of each item, None if unknown, shape (items,).

    Args:
        battles: the battles.
        is_counted: mask of the readable battles with an item, shape (battles,).
        item: code of the item of each of these, shape (known battles,).
        items: number of items.
    """
    is_scored = "score_a" in battles.columns
    for column, texts in category_columns(battles, is_counted):
        if is_scored and column == "task":
            continue  # scores of several tasks are not ranked together
        if battles.has_lists(column):
            continue  # an item of several categories is in none of them alone
        category = _category_of_items(texts, item, items)
        if category is not None and _tested_values(category):
            yield column, category


def _category_of_items(texts: np.ndarray, item: np.ndarray, items: int) -> np.ndarray | None:
    """Return the category of each item, None if unknown, shape (items,).

    The result is None if groups of items are the units, and one has items of several categories.

    Args:
        texts: the category of each battle, shape (battles,).
        item: code of the item, or group of items, of each battle, shape (battles,).
        items: number of items.
    """
    category = np.full(items, None, dtype=object)
    category[item] = texts
    return None if (category[item] != texts).any() else category


def why_no_categories(battles: Battles) -> str:
    """Return why no column of categories was tested, as a clause without a full stop.

    If a column has one category per item (or group of items), the reason is that its categories
    have too few of them. Otherwise, the reason names the columns of which groups of items have
    several categories. If there are neither, no column has categories. That is also the result
    without items, or with too many battles (`are_too_many`), whatever the columns have: the caller
    must give this reason.
    """
    if not battles.has_items or are_too_many(battles):
        return NO_CATEGORIES_FOUND
    is_counted = (battles.item_codes >= 0) & battles.readable
    distinct, item = np.unique(cluster_codes(battles)[is_counted], return_inverse=True)
    units = plural(battles.unit, 2)
    mixed = []
    for column, texts in category_columns(battles, is_counted):
        if battles.has_lists(column):
            continue
        if _category_of_items(texts, item, len(distinct)) is not None:
            return FEW_IN_CATEGORIES.format(column=column, fewest=FEWEST_ITEMS, units=units)
        mixed.append(column)
    if mixed:
        return SEVERAL_IN_GROUPS.format(units=units, columns=join_names(mixed))
    return NO_CATEGORIES_FOUND


def _check_of_columns(
    battles: Battles, tested_columns: list[tuple[float, PairInCategory | None, str]]
) -> Check:
    """Return the check of all tested columns, with p-values adjusted by Holm's rule.

    The check is flagged if a pair changes its order in a column whose p-value is at most the
    threshold; it is then about the column with the smallest p-value among those. Otherwise, the
    check is ok, and names all columns, or those in which only the gaps between models differ.

    Args:
        battles: the battles.
        tested_columns: p-value, pair that changes its order (or None), and name of each column;
            not empty.
    """
    adjusted = holm(np.array([p for p, _, _ in tested_columns])).tolist()
    columns = [
        (p, pair, column) for p, (_, pair, column) in zip(adjusted, tested_columns, strict=True)
    ]
    level = CHECKS["categories"].threshold
    # The smallest p-value among the columns with a pair; of several, the first column by name.
    with_pair = [(p, pair, column) for p, pair, column in columns if pair is not None]
    p, pair, column = min(with_pair or columns, key=itemgetter(0, 2))
    if pair is None or p > level:
        least = min(adjusted)
        if least <= level:
            names = [name for p_of_column, _, name in columns if p_of_column <= level]
            finding = GAPS_DEPEND.format(columns=join_names(names))
        else:
            names = [name for _, _, name in columns]
            finding = NO_PLACE_DEPENDS.format(columns=join_names(names, "or"))
        fields = {"finding": finding, "columns": names, "p": short_p(least)}
        return make_check("categories", is_flagged=False, number=least, fields=fields)
    is_scored = uses_scores(battles, battles.readable)
    fields = {
        "column": column,
        "first": pair.first,
        "second": pair.second,
        "value": pair.value,
        "others": pair.other or "the other items",
        "here": _amount(pair.here, is_scored),
        "there": _amount(pair.there, is_scored),
        "p": short_p(p),
        "option": option_text("by", column),
    }
    models = (pair.first, pair.second)
    return make_check("categories", is_flagged=True, number=p, fields=fields, models=models)


def _amount(value: float, is_scored: bool) -> str:
    """Write a mean difference as text.

    A difference of scores is written as `by 0.12`, a mean credit less 0.5 as `win rate 62%`.
    """
    return f"by {abs(value):.3g}" if is_scored else f"win rate {0.5 + value:.0%}"


def _tested_values(category: np.ndarray) -> list[str]:
    """Return the categories with enough items in and outside them, sorted.

    A category is tested if at least `FEWEST_ITEMS` items have it and as many have another one;
    items without a category do not count. The list is empty if there are none.

    Args:
        category: category of each item, None if unknown, shape (items,).
    """
    labelled = [text for text in category.tolist() if text is not None]
    numbers = {text: labelled.count(text) for text in dict.fromkeys(labelled)}
    return sorted(
        text
        for text, number in numbers.items()
        if number >= FEWEST_ITEMS and len(labelled) - number >= FEWEST_ITEMS
    )


def _test_column(
    battles: Battles,
    is_counted: np.ndarray,
    item: np.ndarray,
    residual: np.ndarray,
    category: np.ndarray,
    most: int,
) -> tuple[float, PairInCategory | None]:
    """Return the p-value of a column, and the pair of models that changes its order.

    The pair is None if the p-value is above the threshold, or if no pair changes its order.

    Args:
        battles: the battles.
        is_counted: mask of the readable battles with an item, shape (battles,).
        item: code of the item of each of these, shape (known battles,).
        residual: residuals of items, shape (items, models).
        category: category of each item, None if unknown, shape (items,).
        most: largest number of random divisions.
    """
    values = _tested_values(category)
    is_labelled = np.array([text is not None for text in category.tolist()])
    rows = residual[is_labelled]
    labels = category[is_labelled]
    in_category = np.stack([labels == value for value in values]).astype(float)
    t = _statistics(rows, in_category)
    p = _p_of_largest(rows, in_category, t, most)
    if p > CHECKS["categories"].threshold:
        return p, None
    # Row (category) and column (model) of the largest |t|.
    largest_place = int(np.argmax(np.abs(t)))
    tested, model = np.unravel_index(largest_place, t.shape)
    value = values[int(tested)]
    return p, _turned_pair(battles, is_counted, item, category, value, int(model))


def _statistics(residual: np.ndarray, in_category: np.ndarray) -> np.ndarray:
    """Return Welch's t of each category against all other items, shape (categories, models).

    Where nothing varies, it is 0 if the means are equal, and infinite if they differ.

    Args:
        residual: residuals of items, shape (items, models).
        in_category: 1 for items of the category, else 0, shape (categories, items).
    """
    inside = in_category.sum(axis=1)[:, None]
    outside = in_category.shape[1] - inside
    sums = in_category @ residual
    squares = in_category @ residual**2
    other_sums = residual.sum(axis=0) - sums
    other_squares = (residual**2).sum(axis=0) - squares
    variance = (squares - sums**2 / inside) / (inside * (inside - 1))
    variance += (other_squares - other_sums**2 / outside) / (outside * (outside - 1))
    gap = sums / inside - other_sums / outside
    varies = variance > ROUNDING * np.maximum(gap**2, ROUNDING)
    without_variance = np.where(np.abs(gap) > ROUNDING, np.copysign(np.inf, gap), 0.0)
    return np.where(varies, gap / np.sqrt(np.where(varies, variance, 1.0)), without_variance)


def _p_of_largest(residual: np.ndarray, in_category: np.ndarray, t: np.ndarray, most: int) -> float:
    """Return the p-value of the largest |t|, by random divisions unless Bonferroni's rule gives 1.

    Args:
        residual: residuals of items, shape (items, models).
        in_category: 1 for items of the category, else 0, shape (categories, items).
        t: the statistics, shape (categories, models).
        most: largest number of random divisions.
    """
    largest = float(np.abs(t).max())
    items_inside = in_category.sum(axis=1)
    items_outside = (1 - in_category).sum(axis=1)
    smallest = int(min(items_inside.min(), items_outside.min()))
    by_bonferroni = min(1.0, 2 * t.size * float(stdtr(smallest - 1, -largest)))
    if by_bonferroni == 1:
        return 1.0
    rng = np.random.default_rng(0)
    at_least = 0
    for number in range(1, most + 1):
        statistics_of_draw = _statistics(residual[rng.permutation(len(residual))], in_category)
        at_least += bool(np.abs(statistics_of_draw).max() >= largest * (1 - ROUNDING))
        if at_least == ENOUGH_DIVISIONS:
            return ENOUGH_DIVISIONS / number
    return (1 + at_least) / (1 + most)


def _turned_pair(
    battles: Battles,
    is_counted: np.ndarray,
    item: np.ndarray,
    category: np.ndarray,
    value: str,
    model: int,
) -> PairInCategory | None:
    """Return the pair with a given model whose order in a category is most surely another one.

    The pair consists of the given model and another one. One of the two is ahead in the category
    and behind on the other items, both beyond chance (`ERROR_RATE_OF_TURN`). The certainty of a
    pair is the smaller |t| of the two sides; of several pairs, the one with the largest is
    returned. The result is None if there is no pair.

    Args:
        battles: the battles.
        is_counted: mask of the readable battles with an item, shape (battles,).
        item: code of the item of each of these, shape (known battles,).
        category: category of each item, None if unknown, shape (items,).
        value: the category, which is compared with all other known categories.
        model: code of the model.
    """
    low, high, worth = pair_values(battles, is_counted)
    is_here = (category == value)[item]
    others = {text for text in category.tolist() if text not in (None, value)}
    is_there = np.array([text in others for text in category.tolist()])[item]
    rest = min(others) if len(others) == 1 else None
    best = None
    # Bonferroni over the pairs of the model with the others.
    other_models = max(len(battles.models) - 1, 1)
    surest = float(ndtri(1 - ERROR_RATE_OF_TURN / other_models))
    for other in range(len(battles.models)):
        if other == model:
            continue
        is_of_pair = (low == min(model, other)) & (high == max(model, other))
        sign = 1 if model < other else -1
        here, t_here = _mean_by_item(sign * worth, item, is_of_pair & is_here)
        there, t_there = _mean_by_item(sign * worth, item, is_of_pair & is_there)
        has_turned = t_here * t_there < 0
        if not has_turned or min(abs(t_here), abs(t_there)) < surest:
            continue  # the same order, or less sure than the best so far
        surest = min(abs(t_here), abs(t_there))
        first, second = battles.models[model], battles.models[other]
        if here < 0:
            first, second = second, first
        best = PairInCategory(first, second, value, rest, here=abs(here), there=-abs(there))
    return best


def _mean_by_item(worth: np.ndarray, item: np.ndarray, rows: np.ndarray) -> tuple[float, float]:
    """Return the mean over items of their mean values, and its t against 0.

    With fewer than two items, both are 0. If all items are alike, t is infinite with the sign of
    the mean, or 0 if the mean is 0.

    Args:
        worth: value of each battle, shape (battles,).
        item: code of its item, shape (battles,).
        rows: mask of the battles that count, shape (battles,).
    """
    number = np.bincount(item[rows])
    sums = np.bincount(item[rows], worth[rows])
    means = sums[number > 0] / number[number > 0]
    if len(means) < 2:
        return 0.0, 0.0
    mean = float(means.mean())
    error = float(means.std(ddof=1) / np.sqrt(len(means)))
    if mean == 0:
        return mean, 0.0
    if error == 0:
        return mean, float(np.copysign(np.inf, mean))
    return mean, mean / error
