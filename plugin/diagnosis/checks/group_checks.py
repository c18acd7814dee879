"""The check of groups of items that no option names: whether models' differences are alike in them.

The residual of an item is, for each model, the sum over its battles of the difference from the mean
of the pair, with the opposite sign for the other model. If items vary independently, residuals of
two items have a product of 0 on average. The statistic is the sum of the products of all pairs of
items in one group (Mantel 1967). Its p-value is the share of random divisions of the items into
groups of the same sizes that have a statistic at least as large.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from podium.check_kinds import CHECKS
from podium.check_results import Check, find_flagged, make_check
from podium.data.battles import COLUMNS, REPLIES, Battles, criterion_columns
from podium.data.counting.relations import ROW
from podium.data.item_columns import FEWEST_PER_GROUP, MOST_EMPTY
from podium.data.reading.table import LIKELY_NAMES
from podium.data.reading.units import with_ids
from podium.diagnosis.categories import MOST_OF_NAMED
from podium.diagnosis.checks.size_limits import are_too_many
from podium.diagnosis.column_names import is_of_answers, is_of_categories, is_of_measures
from podium.notices.option_forms import option_text
from podium.rankers.fit.coded import cluster_codes
from podium.wording import group_noun, join_names, plural, word_for

FEWEST_GROUPS = 10
"""A column with fewer values is not tested for groups."""
ONE_WINNER = 0.9
"""A column tells the winner if at least this share of its values have one winner."""
NO_COLUMN = "no column puts items into groups"
"""Why no column was tested, if none puts items into groups."""
FEW_GROUPS = (
    "the column {column} puts items into {groups} groups, and the test needs {fewest} or more"
)
"""Why no column was tested, if the best one has too few groups."""
DIVIDED_OTHERWISE = (
    "no column puts items into groups, such as passages; {columns} {divide} them otherwise"
)
"""Why no column was tested, if columns have answers, measures or categories.

`{divide}` is `divide` or `divides`.
"""
PERMUTATIONS = 999
"""Largest number of random divisions of up to 10 columns; the smallest p-value is 0.001."""
DIVISIONS_PER_COLUMN = 100
"""Least number of random divisions per tested column: the smallest adjusted p-value is 0.01."""
ROUNDING = 1e-12
"""Statistics that differ by a smaller share than this are equal."""
ENOUGH_DIVISIONS = 10
"""No more divisions are drawn when this number of them had a statistic at least as large: the
p-value is then this number over the number of divisions (Besag and Clifford 1991)."""
GROUPS = "groups"
"""Name of the check."""
NO_GROUPS = frozenset({*COLUMNS, *REPLIES, ROW, "source", "task", "turn"}) - {"category"}
"""Columns that cannot be groups of items, or are known to have another meaning."""


def check_groups(battles: Battles) -> tuple[Check, ...]:
    """Check whether a column groups items in which the models' differences are alike.

    If groups of items are the unit already (`cluster=passage`), they are what another column may
    group: passages of one document.

    Returns:
        The check of the column with the smallest p-value, adjusted for the number of columns
        (Bonferroni), and flagged if that is at most the threshold; it is the `number` of the check.
        Empty if no column groups items, if a column looks like the item, if no battle is readable,
        or if there are too many battles. Without items, each battle is one.
    """
    if battles.likely_item is not None or are_too_many(battles):
        return ()
    used = {*criterion_columns(battles.columns), battles.group}
    names = sorted(battles.columns - NO_GROUPS - used)
    is_counted = battles.readable
    if battles.has_items:
        is_counted = is_counted & (battles.item_codes >= 0)
    if not names or not is_counted.any():
        return ()
    are_rows = not battles.has_items and battles.group is None
    codes = np.arange(len(battles)) if are_rows else cluster_codes(battles)
    distinct, item = np.unique(codes[is_counted], return_inverse=True)
    items = len(distinct)
    candidates = dict(_groups_of_items(battles, names, is_counted, item, items))
    if are_rows:
        candidates = _without_winners(battles, is_counted, candidates)
    if not candidates:
        return ()
    residual = residuals_of_items(battles, is_counted, item, items)
    most = max(PERMUTATIONS, DIVISIONS_PER_COLUMN * len(candidates) - 1)
    p_values = {name: _p_of_groups(residual, group, most) for name, group in candidates.items()}
    column = min(p_values, key=lambda name: (p_values[name], name))
    p = min(1.0, p_values[column] * len(p_values))
    fields = {
        "column": column,
        "units": plural("item" if battles.group is None else battles.unit, 2),
        "noun": group_noun(column),
        "groups": int(candidates[column].max()) + 1,
        "p": short_p(p),
        "option": option_text("cluster", column),
        "by": option_text("by", column),
    }
    models = battles.models
    is_flagged = p <= CHECKS[GROUPS].threshold
    return (make_check(GROUPS, is_flagged, number=p, fields=fields, models=models),)


def why_no_groups(battles: Battles) -> str:
    """Return why no column was tested for groups of items, as a clause without a full stop.

    Columns with one value per item count. If some of these have too few values, the reason names
    the one with most values. Otherwise, the reason names those that divide the items by answers,
    measures or categories. Without these, no column puts items into groups. That is also the result
    without items or readable battles, or with too many battles (`are_too_many`), whatever the
    columns have.
    """
    is_counted = battles.readable
    if not battles.has_items or are_too_many(battles) or not is_counted.any():
        return NO_COLUMN
    is_counted = is_counted & (battles.item_codes >= 0)
    distinct, item = np.unique(cluster_codes(battles)[is_counted], return_inverse=True)
    used = {*criterion_columns(battles.columns), battles.group}
    few: dict[str, int] = {}
    otherwise: list[str] = []
    for name in sorted(battles.columns - NO_GROUPS - used):
        texts = battles.rows.texts_of(name)[is_counted].tolist()
        if _group_by_item(texts, item, len(distinct), fewest=2) is None:
            continue
        if _divides_otherwise(battles, name, texts):
            otherwise.append(name)
        else:
            few[name] = _number_of_values(texts)
    if few:
        column = max(few, key=lambda name: few[name])
        return FEW_GROUPS.format(column=column, groups=few[column], fewest=FEWEST_GROUPS)
    if otherwise:
        divide = word_for(len(otherwise), "divides", "divide")
        return DIVIDED_OTHERWISE.format(columns=join_names(otherwise), divide=divide)
    return NO_COLUMN


def dependent_groups(checks: Sequence[Check]) -> Check | None:
    """Return the check of groups if it is flagged; None otherwise.

    Errors that take the items as independent are then too small: nothing can be claimed until the
    groups are the unit.

    Args:
        checks: adjusted checks.
    """
    return find_flagged(checks, [GROUPS])


def _groups_of_items(
    battles: Battles, names: list[str], is_counted: np.ndarray, item: np.ndarray, items: int
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the columns that group items, with the code of each item's group, shape (items,).

    Such a column has a value in every row, one per item, at least 10 values, and clearly fewer
    values than items. By its name, it has no answers, measures or categories. Of columns that group
    alike, the first is yielded.

    Args:
        battles: the battles.
        names: names of the columns to look at.
        is_counted: mask of the readable battles with an item, shape (battles,).
        item: code of the item of each of these, shape (known battles,).
        items: number of items.
    """
    partitions_so_far = set[bytes]()
    for name in names:
        texts = battles.rows.texts_of(name)[is_counted].tolist()
        group_of_item = _group_by_item(texts, item, items)
        if group_of_item is None or _divides_otherwise(battles, name, texts):
            continue
        # Bytes can be in a set, arrays cannot.
        partition = group_of_item.tobytes()
        if partition not in partitions_so_far:
            partitions_so_far.add(partition)
            yield name, group_of_item


def _divides_otherwise(battles: Battles, name: str, texts: Sequence[str | None]) -> bool:
    """Return whether a column has answers, measures or categories of items by its name.

    Models may differ by these, but the items of one value are not drawn together. A column with
    more than `MOST_OF_NAMED` values is none of categories, whatever its name. Nor is one of battles
    without items: a topic may be all that is known of the question.

    Args:
        battles: the battles.
        name: name of the column.
        texts: the text of each battle.
    """
    if is_of_answers(name) or is_of_measures(name):
        return True
    is_few = _number_of_values(texts) <= MOST_OF_NAMED
    return battles.has_items and is_few and is_of_categories(name)


def _number_of_values(texts: Sequence[str | None]) -> int:
    """Return the number of distinct texts; None does not count."""
    return len({text for text in texts if text is not None})


def _group_by_item(
    texts: Sequence[str | None], item: np.ndarray, items: int, fewest: int = FEWEST_GROUPS
) -> np.ndarray | None:
    """Return the group of each item by the texts of a column, shape (items,).

    An item whose cells are all empty is a group of its own. The result is None if the column does
    not group items: an item has several texts, there are too few groups or items, or more than
    `MOST_EMPTY` of the items have no text.

    Args:
        texts: the text of each battle.
        item: code of the item of each battle, shape (battles,).
        items: number of items.
        fewest: the number of groups below which there are too few.
    """
    # Numbered by the first row, so that two names of one grouping have equal codes.
    distinct_texts = dict.fromkeys(text for text in texts if text is not None)
    number_of = {text: number for number, text in enumerate(distinct_texts)}
    groups = len(number_of)
    if groups < fewest or items < FEWEST_PER_GROUP * groups:
        return None
    has_text = np.array([text is not None for text in texts])
    group = np.array([number_of[text] for text in texts if text is not None], dtype=np.int64)
    group_of_item = np.full(items, -1, dtype=np.int64)
    # Of several groups of an item, the last remains, so that the others differ from it.
    group_of_item[item[has_text]] = group
    if (group_of_item[item[has_text]] != group).any():
        return None
    is_empty = group_of_item < 0
    if is_empty.mean() > MOST_EMPTY:
        return None
    group_of_item[is_empty] = groups + np.arange(int(is_empty.sum()))
    return group_of_item


def _without_winners(
    battles: Battles, is_counted: np.ndarray, groups: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Return groups of battles without columns that depend on the verdict or on who judged.

    A column of raters is found by its name (`judge` and names like it). A column of winners is
    found by its values: of those that stand with several pairs of models, at least `ONE_WINNER`
    have one winner each.

    Args:
        battles: the battles, which have no items.
        is_counted: mask of the readable battles, shape (battles,).
        groups: code of the group of each of these, shape (known battles,), by column.
    """
    low, high, value = pair_values(battles, is_counted)
    winner = np.where(value > 0, low, high)
    pair = low * len(battles.models) + high
    raters = with_ids(LIKELY_NAMES["judge"])
    remaining_groups = {}
    for name, group in groups.items():
        pair_counts = _count_distinct(group, pair)
        is_won = value != 0
        winner_counts = _count_distinct(group[is_won], winner[is_won], fewest=len(pair_counts))
        of_several = pair_counts > 1
        is_of_winner = of_several.any() and (winner_counts[of_several] <= 1).mean() >= ONE_WINNER
        if name.lower() not in raters and not is_of_winner:
            remaining_groups[name] = group
    return remaining_groups


def _count_distinct(group: np.ndarray, value: np.ndarray, fewest: int = 0) -> np.ndarray:
    """Count the distinct values in each group; shape (groups,).

    Args:
        group: code of the group of each row, from 0, shape (rows,).
        value: value of each row, shape (rows,).
        fewest: smallest length of the result; groups without rows have 0.
    """
    distinct = np.unique(np.stack([group, value]), axis=1)
    return np.bincount(distinct[0], minlength=fewest)


def residuals_of_items(
    battles: Battles, is_counted: np.ndarray, item: np.ndarray, items: int
) -> np.ndarray:
    """Return the residual of each item and model, shape (items, models).

    The residual is the sum over the model's battles on the item of how much better it was
    (`pair_values`) than in the mean of all battles of the pair.

    Args:
        battles: the battles.
        is_counted: mask of the readable battles with an item, shape (battles,).
        item: code of the item of each of these, shape (known battles,).
        items: number of items.
    """
    low, high, value = pair_values(battles, is_counted)
    models = len(battles.models)
    pair = low * models + high
    number = np.bincount(pair)
    mean = np.bincount(pair, value) / np.maximum(number, 1)
    rest = value - mean[pair]
    cell = item * models
    size = items * models
    of_first = np.bincount(cell + low, rest, size)
    of_second = np.bincount(cell + high, -rest, size)
    return (of_first + of_second).reshape(items, models)


def short_p(p: float) -> str:
    """Return a p-value with three decimals and without the leading 0, such as `.004`.

    The p-value 1 is written as `1.000`.
    """
    return f"{p:.3f}".lstrip("0")


def uses_scores(battles: Battles, is_counted: np.ndarray) -> bool:
    """Return whether all battles of a mask have the scores of both models.

    The result is True if the mask selects no battle.
    """
    return not np.isnan(_score_gaps(battles)[is_counted]).any()


def _score_gaps(battles: Battles) -> np.ndarray:
    """Return the score of `model_a` minus that of `model_b`, NaN if one is unknown.

    The result has shape (battles,).
    """
    return battles.numbers_of("score_a") - battles.numbers_of("score_b")


def pair_values(
    battles: Battles, is_counted: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the two models of each battle, and how much the first of them was better.

    The value is the difference of the scores if all battles of the mask have scores, else the
    credit minus 0.5.

    Args:
        battles: the battles.
        is_counted: mask of the battles to return, shape (battles,).

    Returns:
        The lower code, the higher code, and the value for the model with the lower code, shape
        (known battles,) each.
    """
    a, b = (codes[is_counted] for codes in battles.model_codes)
    if uses_scores(battles, is_counted):
        value = _score_gaps(battles)[is_counted]
    else:
        value = battles.numbers_of("credit")[is_counted] - 0.5
    return np.minimum(a, b), np.maximum(a, b), np.where(a > b, -value, value)


def _p_of_groups(residual: np.ndarray, group: np.ndarray, most: int = PERMUTATIONS) -> float:
    """Return the one-sided p-value of the hypothesis that residuals do not depend on the group.

    The p-value is found by random divisions, with seed 0. The result is 1 if the statistic is not
    above its mean over all divisions, and if all residuals are 0.

    Args:
        residual: residuals of items, shape (items, models).
        group: code of each item's group, from 0, shape (items,).
        most: largest number of random divisions.
    """
    groups = int(group.max()) + 1
    squares = float(np.sum(residual**2))
    if squares <= 0:
        return 1.0

    def statistic(code: np.ndarray) -> float:
        """Return twice the sum, over models, of the products of all pairs of items in one group."""
        sums = np.stack([np.bincount(code, column, groups) for column in residual.T])
        return float(np.sum(sums**2)) - squares

    observed = statistic(group)
    if observed <= _mean_statistic(residual, group):
        return 1.0
    rng = np.random.default_rng(0)
    at_least = 0
    for number in range(1, most + 1):
        at_least += statistic(rng.permutation(group)) >= observed * (1 - ROUNDING)
        if at_least == ENOUGH_DIVISIONS:
            return ENOUGH_DIVISIONS / number
    return (1 + at_least) / (1 + most)


def _mean_statistic(residual: np.ndarray, group: np.ndarray) -> float:
    """Return the mean of the statistic over all divisions into groups of the same sizes.

    The statistic is twice the sum, over models, of the products of the residuals of all pairs of
    items in one group.

    Args:
        residual: residuals of items, shape (items, models).
        group: code of each item's group, from 0, shape (items,).
    """
    items = len(residual)
    size = np.bincount(group)
    pairs_in_groups = float(np.sum(size * (size - 1)))
    # The square of a sum, less the sum of squares: the products of every two different items.
    products = float(np.sum(residual.sum(axis=0) ** 2) - np.sum(residual**2))
    return products * pairs_in_groups / max(items * (items - 1), 1)
