"""Which scores of models are lost: blank ones, and absent ones of a table that is complete else."""

from typing import NamedTuple

import numpy as np

from podium.data.battles import Battles
from podium.diagnosis.absent_rows import (
    MOST_OF_OTHERS,
    MOST_OF_OWN,
    find_absent,
    grid_codes,
)
from podium.diagnosis.clustered import cluster_battles
from podium.diagnosis.lost_battles import Sides
from podium.distinct_values import distinct_values
from podium.notices.notice import select_codes


class ScoreLosses(NamedTuple):
    """The scores of all models, and which of them are lost.

    Attributes:
        scores: a score per model and trial, those included that are blank or count as lost.
        cut: codes of models that lack the start or the end of a table. It is not known whether
            these scores were lost.
    """

    scores: Sides
    cut: tuple[int, ...]


def find_score_losses(battles: Battles) -> ScoreLosses:
    """Find blank scores, and absent ones by the rule of `find_absent`.

    By this rule, scores are absent if one model lacks them, and nearly all other scores are there.
    Absent scores are searched in each task, metric, judge and category by itself. None are searched
    if the inputs of items differ between runs.

    Args:
        battles: battles made of scores of single responses.

    Returns:
        All scores that models were asked for, those included that are blank or absent; and the
        models of which it is not known whether they lost the start or the end of a table.
    """
    models = len(battles.models)
    grid, trial = grid_codes(battles)
    _, cluster = np.unique(cluster_battles(battles).code, return_inverse=True)
    # Arrays of sides have those of `model_a` in all battles first, then those of `model_b`.
    scores_of_sides = np.concatenate([battles.numbers_of("score_a"), battles.numbers_of("score_b")])
    is_blank = np.isnan(scores_of_sides)
    key = np.tile(trial, 2) * models + np.concatenate(battles.model_codes)
    # A score of a model in a trial is a side of several battles, of which the first is used.
    cells, side = np.unique(key, return_index=True)
    row = side % len(battles)
    model = cells % models
    parts = [Sides(model, cluster[row], np.ones_like(cells), is_blank[side].astype(np.int64))]
    cut = []
    # Items whose inputs differ between runs are not paired: those of no run are lost.
    has_other_inputs = any(finding.unshared for finding in battles.questions)
    searched_grids = [] if has_other_inputs else distinct_values(grid).tolist()
    for grid_code in searched_grids:
        is_in_grid = grid[row] == grid_code
        absent = _absent_scores(trial[row][is_in_grid], model[is_in_grid], row[is_in_grid])
        if absent is None:
            continue
        model_code, rows, are_cut = absent
        if are_cut:
            cut.append(model_code)
        else:
            ones = np.ones_like(rows)
            parts.append(Sides(np.full_like(rows, model_code), cluster[rows], ones, ones))
    alone, cut_alone = _absent_of_two_models(battles)
    parts += alone
    cut += cut_alone
    # Each field of the result joins the fields of all parts.
    scores = Sides(*(np.concatenate(values) for values in zip(*parts, strict=True)))
    return ScoreLosses(scores, tuple(cut))


def _absent_of_two_models(battles: Battles) -> tuple[list[Sides], list[int]]:
    """Return the scores of trials that only one of two models has, and that make no battle.

    The battles do not hold them: their number is taken from a note about the files, by the rule of
    `find_absent`.

    Returns:
        The scores of both models in these trials, and the code of the model that lacks the start or
        the end of the table, of which it is not known whether scores were lost. One of the two
        lists is empty. Both are if no score counts as lost, without exactly two models, for a part
        of other battles, without such a note, or if the inputs of items differ between runs.
    """
    notes = select_codes(battles.notes, ["scores-alone"])
    is_part = battles.whole is not None
    has_other_inputs = any(finding.unshared for finding in battles.questions)
    if len(battles.models) != 2 or len(notes) != 1 or is_part or has_other_inputs:
        return [], []
    alone = notes[0].fields["models"]
    number_alone = [alone.get(name, 0) for name in battles.models]
    least, most = sorted(number_alone)
    trials = len(battles) + most
    if least > MOST_OF_OTHERS * trials or most >= MOST_OF_OWN * trials:
        return [], []
    model_code = 1 - number_alone.index(most)
    if notes[0].fields["is_cut"]:
        return [], [model_code]
    items = len(battles) + np.arange(most)
    ones = np.ones(most, dtype=np.int64)
    zeros = np.zeros(most, dtype=np.int64)
    there = Sides(model=np.full(most, 1 - model_code), cluster=items, asked=ones, lost=zeros)
    lost = Sides(model=np.full(most, model_code), cluster=items, asked=ones, lost=ones)
    return [there, lost], []


def _absent_scores(
    trial: np.ndarray, model: np.ndarray, row: np.ndarray
) -> tuple[int, np.ndarray, bool] | None:
    """Return the model whose scores are absent from a grid, and where.

    Args:
        trial: trial of each score that is there, shape (scores,).
        model: code of the model of each score, shape (scores,).
        row: position among all battles of a battle with each score, shape (scores,). The order of
            these positions is the order of the trials in the table.

    Returns:
        Code of the model; an element of `row` for each trial that the model lacks, shape (absent,);
        and whether these trials are one run at the start or the end of the table. None if no score
        counts as lost.
    """
    _, place, trial_code = np.unique(trial, return_index=True, return_inverse=True)
    order = np.argsort(row[place])
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    codes, column = np.unique(model, return_inverse=True)
    number = np.zeros((len(order), len(codes)), dtype=np.int64)
    number[rank[trial_code], column] = 1
    # A column is about one model only.
    cells = find_absent(number, np.eye(len(codes), dtype=bool))
    if cells is None:
        return None
    battle_of_trial = row[place[order]]
    return int(codes[cells.model]), battle_of_trial[cells.trial], cells.are_cut
