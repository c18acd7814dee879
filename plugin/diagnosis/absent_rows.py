"""Find rows that are absent, although all others of the same kind are there.

A table is read as a grid: a row per trial (an item, or a repeat of it), and a column per model, or
per pair of models. Cells of one model count as lost if the rest of the grid is complete.
"""

from math import ceil
from typing import NamedTuple

import numpy as np

from podium.data.battles import Battles
from podium.distinct_values import distinct_values

MOST_OF_OTHERS = 0.01
"""Largest share of cells that each column without the model may lack."""
MOST_OF_OWN = 0.5
"""Share of cells from which on a column of the model is taken for a subset that was chosen."""
BLOCK_COLUMNS = ("task", "metric", "judge", "category")
"""Columns that divide a table into grids: a model may be asked in some of them only."""


class AbsentCells(NamedTuple):
    """Cells of one model that a grid lacks.

    Attributes:
        model: code of the model.
        trial: row of each cell in the grid, shape (cells,).
        column: column of each cell in the grid, shape (cells,).
        number: how many results each cell lacks, shape (cells,).
        are_cut: whether the trials are one run at the start or at the end of the table, as if the
            model had been stopped, or been asked a part.
    """

    model: int
    trial: np.ndarray
    column: np.ndarray
    number: np.ndarray
    are_cut: bool


class AbsentVerdicts(NamedTuple):
    """Judgments that should exist and have no row.

    Attributes:
        judgments: number of judgments of each battle that exists, 1 or 2, shape (battles,).
        first: the lower one of the two models' codes, shape (absent,).
        second: the higher one of the two models' codes, shape (absent,).
        row_of_item: position among the battles of one about the same item, shape (absent,).
        number: how many judgments of the pair on the item are absent, 1 or 2, shape (absent,).
    """

    judgments: np.ndarray
    first: np.ndarray
    second: np.ndarray
    row_of_item: np.ndarray
    number: np.ndarray


def find_absent(number: np.ndarray, is_own: np.ndarray) -> AbsentCells | None:
    """Return the cells that one model lacks in a grid that is complete otherwise.

    The model is the one whose columns lack the largest share of their results. A grid is complete
    otherwise if each column without the model lacks at most `MOST_OF_OTHERS` of its results. Each
    column of the model has more than `MOST_OF_OWN` of them: a model with fewer was asked a subset.

    Args:
        number: number of results in each cell, shape (trials, columns), trials in the order of the
            table. The most frequent number in columns without the model is the complete one.
        is_own: whether a column is about a model, shape (models, columns).

    Returns:
        The cells; None if nothing is absent, if the grid is not complete otherwise, if a column of
        the model lacks `MOST_OF_OWN` or more, if the grid has fewer than two columns, or if all
        columns are about the model.
    """
    if number.shape[1] < 2 or not number.size:
        return None
    complete = int(np.bincount(number.ravel()).argmax())
    number_absent = np.maximum(complete - number, 0)
    share = number_absent.mean(axis=0) / max(complete, 1)
    total = is_own @ share
    model = int(np.argmax(total))
    is_of_model = is_own[model]
    has_others = bool((~is_of_model).any())
    # Most cells are empty, no cell is absent, or no other model shows what is complete.
    if complete == 0 or total[model] == 0 or not has_others:
        return None
    others_lack_many = (share[~is_of_model] > MOST_OF_OTHERS).any()
    lacks_nearly_all = (share[is_of_model] >= MOST_OF_OWN).any()
    if others_lack_many or lacks_nearly_all:
        return None
    trial, column = np.nonzero(number_absent * is_of_model)
    return AbsentCells(
        model=model,
        trial=trial,
        column=column,
        number=number_absent[trial, column],
        are_cut=_are_cut(distinct_values(trial), len(number)),
    )


def _are_cut(trial: np.ndarray, trials: int) -> bool:
    """Return whether trials are one run without gaps at the start or at the end of the table.

    Args:
        trial: positions of the trials, ascending and distinct, shape (absent trials,); at least
            one. A single trial is no run.
        trials: number of all trials.
    """
    first = trial[0]
    last = trial[-1]
    is_run = len(trial) > 1 and last - first == len(trial) - 1
    is_at_an_end = first == 0 or last == trials - 1
    return bool(is_run and is_at_an_end)


def grid_codes(battles: Battles) -> tuple[np.ndarray, np.ndarray]:
    """Return the grid and the trial of each battle, as numbers, shape (battles,) each.

    A grid is a combination of values of `BLOCK_COLUMNS`; a trial is an item and response number in
    a grid. Both are numbered from 0 in the order of their first battles; trials are numbered over
    all grids. A battle without an item has a trial of its own.
    """
    grid = np.zeros(len(battles), dtype=np.int64)
    for name in BLOCK_COLUMNS:
        if name in battles.rows.battle_columns:
            code = _number_texts(battles.rows.texts_of(name))
            grid = _number_by_appearance(grid * (int(code.max(initial=0)) + 1) + code)
    item = battles.items_with_responses(battles.item_codes)
    item = np.where(item < 0, item.max(initial=0) + 1 + np.arange(len(item)), item)
    key = grid * (int(item.max(initial=0)) + 1) + item
    return grid, _number_by_appearance(key)


def _number_texts(texts: np.ndarray) -> np.ndarray:
    """Number different texts from 0 in the order of their first places, shape (texts,).

    None counts as a text.
    """
    number_of_text: dict[str | None, int] = {}
    numbers = (number_of_text.setdefault(text, len(number_of_text)) for text in texts)
    return np.fromiter(numbers, np.int64, len(texts))


def _number_by_appearance(values: np.ndarray) -> np.ndarray:
    """Number different values from 0, in the order of their first places, shape of `values`."""
    _, place, code = np.unique(values, return_index=True, return_inverse=True)
    number = np.empty_like(place)
    number[np.argsort(place)] = np.arange(len(place))
    return number[code]


def find_absent_verdicts(battles: Battles) -> tuple[AbsentVerdicts | None, tuple[int, ...]]:
    """Find the battles that are absent from a round robin, in each grid those of one model.

    The rule is that of `find_absent`. A battle that was judged in one order lacks a judgment if the
    others were judged in both.

    Returns:
        The absent judgments over all grids; None if there are none. And the codes of the models
        whose absent battles are one run at the start or at the end of a grid: these may have been
        stopped on purpose, and their absent battles are not among the absent judgments. The codes
        are in the order of the grids, and a code may occur twice. With fewer than three models, and
        without items, nothing is searched: the result is None and no codes.
    """
    if not _may_lack_verdicts(battles):
        return None, ()
    codes = battles.model_codes
    first = np.minimum(*codes)
    second = np.maximum(*codes)
    pair = first * len(battles.models) + second
    judgments = _judgments_of_battles(battles)
    grid, trial = grid_codes(battles)
    absent_by_grid = []
    cut = []
    for grid_code in distinct_values(grid):
        rows = np.flatnonzero(grid == grid_code)
        cells = _absent_of_grid(trial[rows], pair[rows], judgments[rows], len(battles.models))
        if cells is None:
            continue
        model, place, pair_of_cell, number, are_cut = cells
        if are_cut:
            cut.append(model)
        else:
            absent_by_grid.append((pair_of_cell, rows[place], number))
    if not absent_by_grid:
        return None, tuple(cut)
    pairs, row_of_item, number = (
        np.concatenate(each) for each in zip(*absent_by_grid, strict=True)
    )
    models = len(battles.models)
    absent = AbsentVerdicts(
        judgments=judgments,
        first=pairs // models,
        second=pairs % models,
        row_of_item=row_of_item,
        number=number,
    )
    return absent, tuple(cut)


def _may_lack_verdicts(battles: Battles) -> bool:
    """Return whether battles are absent from a round robin that may be complete otherwise.

    Only numbers of battles, items and models are compared. The result is False for fewer than three
    models, and without items. Otherwise, it is True if most but not all battles were judged in both
    orders, or if more than half and fewer than all battles of a full round robin are there. It is
    False if just as many battles are there as a full round robin has. With more battles, or at most
    half of them, it is True only if a column that divides the battles, such as `task` or `judge`,
    has several values.
    """
    tally = battles.tally
    models = len(battles.models)
    if models < 3 or not battles.has_items:
        return False
    pairs = models * (models - 1) // 2
    battles_in_one_order = tally.items * pairs
    complete = battles_in_one_order
    if {"order", "repeat"} & battles.rows.battle_columns:
        # Both orders of a pair, or its repeats, are battles of their own if they are not merged.
        rows_per_pair = ceil(len(battles) / max(battles_in_one_order, 1))
        complete = battles_in_one_order * max(1, rows_per_pair)
    is_in_both_orders = 2 * sum(tally.swaps.values()) > len(battles)
    has_single_orders = is_in_both_orders and sum(tally.swaps.values()) < len(battles)
    if has_single_orders:
        return True
    # With fewer battles, the design leaves out pairs. With more, rows occur twice.
    if MOST_OF_OWN * complete < len(battles) < complete:
        return True
    if len(battles) == complete:
        return False
    dividing = {*BLOCK_COLUMNS, "response"} & battles.rows.battle_columns
    return any(_has_several_values(battles, name) for name in sorted(dividing))


def _has_several_values(battles: Battles, column: str) -> bool:
    """Return whether a column of battles, or the judges for `judge`, has more than one value."""
    values = battles.judges if column == "judge" else battles.values_of(column)
    return len(values) > 1


def _judgments_of_battles(battles: Battles) -> np.ndarray:
    """Return 2 for each battle whose two orders were merged, else 1, shape (battles,).

    All numbers are 1 if at most half of the battles are merged.
    """
    number = np.ones(len(battles), dtype=np.int64)
    if "order" not in battles.rows.battle_columns:
        return number
    is_merged = battles.rows.texts_of("order") == "merged"
    return number + is_merged if 2 * is_merged.sum() > len(number) else number


def _absent_of_grid(
    trial: np.ndarray, pair: np.ndarray, judgments: np.ndarray, models: int
) -> tuple[int, np.ndarray, np.ndarray, np.ndarray, bool] | None:
    """Return the absent cells of a round robin in one grid, by the rule of `find_absent`.

    Args:
        trial: trial of each battle, shape (battles,).
        pair: number of the two models: lower code times `models` plus higher code, shape
            (battles,).
        judgments: number of judgments of each battle, shape (battles,).
        models: number of models.

    Returns:
        Code of the model; then for each absent cell a position in `trial` of a battle about its
        item, its pair (a number as in `pair`), and how many judgments it lacks; and last, whether
        the cells are one run at the start or at the end. None if no cell counts as lost.
    """
    _, place, row = np.unique(trial, return_index=True, return_inverse=True)
    # `order` lists the trials in the order of the table; `rank` is the place of each trial in it.
    order = np.argsort(place)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    pairs, column = np.unique(pair, return_inverse=True)
    # With so many empty cells, the grid is not complete otherwise; it may not fit into memory.
    if len(order) * len(pairs) > 4 * len(trial):
        return None
    number = np.zeros((len(order), len(pairs)), dtype=np.int64)
    np.add.at(number, (rank[row], column), judgments)
    # Both models of each column, shape (2, columns), compared with all models.
    members = np.stack([pairs // models, pairs % models])
    is_own = (members[None] == np.arange(models)[:, None, None]).any(axis=1)
    cells = find_absent(number, is_own)
    if cells is None:
        return None
    return (
        cells.model,
        place[order][cells.trial],
        pairs[cells.column],
        cells.number,
        cells.are_cut,
    )
