"""Add human labels to judges' battles.

The labels are the verdicts of one judge of the same table, or those of another table. A matchup is
one pair of responses to an item; all votes on it are averaged.
"""

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from podium.comparability.joined_names import alike_error
from podium.data.battles import Battles, source_column
from podium.data.counting.battle_frame import BattleFrame
from podium.errors import DataError, NotIdentifiedError, UsageError, unknown_name_error
from podium.names import names_alike, spelled_like
from podium.notices.notice import Notice
from podium.scorers.judge_record import JudgeRecord
from podium.text import as_text
from podium.wording import item_option, quantity, some_paths

if TYPE_CHECKING:
    import pandas as pd


ROUNDING = 1e-9
"""Two votes count as equal if they differ by less than this."""


def find_judge(judges: Collection[str], judge: str) -> str:
    """Return the name of a judge as the judges spell it.

    Args:
        judges: names of all judges; empty if there is no column `judge`.
        judge: name of the judge.

    Raises:
        UsageError: there is no column `judge`, or no judge of this name, or several whose names
            look so.
    """
    if not judges:
        raise UsageError(
            f"no column judge, so no human judge {judge!r}: name it with --columns judge=COLUMN"
        )
    spelled = spelled_like(judge, judges)
    if len(spelled) != 1:
        raise unknown_name_error("judge", judge, judges)
    return spelled[0]


def label_by_judge(battles: Battles, judge: str) -> Battles:
    """Label the battles of other judges by the mean credits of one judge, and drop its battles.

    Models without a battle of another judge are dropped, too. If the battles are made of scores,
    `judge` may be a metric that humans gave.

    Raises:
        UsageError: the judge has no row, or the battles have human labels already.
        DataError: no row has an item.
        NotIdentifiedError: there is no other judge, or none of its battles has a label.
    """
    table = battles.table
    source = source_column(table)
    is_of_judge = np.zeros(len(table), dtype=bool)
    if source is not None:
        is_of_judge = (as_text(table[source]) == judge).to_numpy()
    if not is_of_judge.any():
        raise UsageError(
            f"no row of {judge!r} is left: conditions on other columns than judge apply to it, too"
        )
    if is_of_judge.all():
        why = f"{judge} is the only judge here, so there is nothing to label"
        raise NotIdentifiedError(
            f"{why}: add the verdicts of another judge, or leave out --human-judge"
        )
    remedy = "leave out --human-judge to use those labels, or remove the column human from the file"
    _check_tables(remedy, verdicts=battles)
    humans = {judge: JudgeRecord(judge, kind="human")}
    votes = replace(battles.select(is_of_judge), judge_records=humans)
    others = {name: record for name, record in battles.judge_records.items() if name != judge}
    other_battles = replace(battles.select(~is_of_judge), judge_records=others)
    labelled = _join_labels(other_battles, votes, judge)
    require_a_label(labelled, judge)
    return labelled


def label_by_table(battles: Battles, labels: Battles) -> Battles:
    """Label battles by the mean credits of human verdicts on the same item and pair.

    It may be that no battle gets a label (`require_a_label`).

    Args:
        battles: the battles.
        labels: the human verdicts.

    Raises:
        UsageError: the battles have human labels already.
        DataError: one of the tables has no items, or a model has another name in the other table
            that looks the same.
        NotIdentifiedError: no human verdict has an item.
    """
    _check_tables(
        "give one of the two, --human-labels or the column human", verdicts=battles, labels=labels
    )
    labelled = _join_labels(battles, labels, "humans")
    alike = next(iter(names_alike([*battles.models, *labels.models]).values()), None)
    if alike is not None:
        raise alike_error("models", alike)
    return labelled


def require_a_label(battles: Battles, judge: str = "humans") -> None:
    """Raise NotIdentifiedError if votes were joined to battles, and none of them got a label.

    Args:
        battles: the battles, with the votes; nothing is checked without votes.
        judge: name of the voters in the message.
    """
    votes = battles.votes
    if votes is None or battles.table["human"].notna().any():
        return
    items = len({*votes.table["item"].dropna()} & {*battles.table["item"].dropna()})
    models = len({*votes.models} & {*battles.models})
    why = (
        f"none of the {quantity(len(battles), 'battle')} of other judges is of an item and "
        f"pair that {judge} judged"
    )
    remedy = f"spell both alike, or let {judge} judge some of those pairs"
    raise NotIdentifiedError(
        f"{why}; in common are {quantity(items, 'item')} and {quantity(models, 'model')}: {remedy}"
    )


MATCHUP_COLUMNS = ["item", "row", "response", "first", "second"]
"""Columns that identify a matchup (see `matchup_frame`)."""


def matchup_frame(battles: Battles) -> "pd.DataFrame":
    """Return a row for each battle that says which matchup it is of (`MATCHUP_COLUMNS`).

    `first` and `second` are the models in the order of their names, and `response` is the number of
    the response, from 1. If the battle has an item, `row` is -1. If it has none, `item` is an empty
    text and `row` is the position of the battle, so that the battle is a matchup of its own. The
    index is that of the battles' table.
    """
    import pandas as pd

    table = battles.table
    item = pd.Series(None, index=table.index, dtype=object)
    if "item" in table:
        item = table["item"].astype(object)
    a = table["model_a"].astype(object)
    b = table["model_b"].astype(object)
    turned = is_turned(table)
    columns = {
        "item": item.where(item.notna(), ""),
        "row": np.where(item.isna(), np.arange(len(table)), -1),
        "response": battles.responses,
        "first": a.where(~turned, b),
        "second": b.where(~turned, a),
    }
    return pd.DataFrame(columns, index=table.index)


def mean_labels(battles: Battles, column: str) -> "pd.DataFrame":
    """Return the weighted mean of a column of credits for each matchup.

    Battles with an empty cell in the column are left out.

    Returns:
        One row per matchup, indexed by `MATCHUP_COLUMNS`. The columns are `credit` (mean credit of
        the first model), `weight` (sum of weights), `judges` and `votes` (numbers of different
        judges and of votes), and `agree` (whether all votes are equal).
    """
    import pandas as pd

    table = battles.table
    has_value = table[column].notna()
    credit = table[column].where(~is_turned(table), 1 - table[column])
    weight = table["weight"] if "weight" in table else pd.Series(1.0, index=table.index)
    judge = table["judge"].astype(object) if "judge" in table else pd.Series("", index=table.index)
    columns = {
        "vote": credit,
        "earned": weight * credit,
        "weight": weight,
        "judge": judge.fillna(""),
    }
    groups = matchup_frame(battles).assign(**columns)[has_value].groupby(MATCHUP_COLUMNS, sort=True)
    sums = groups[["earned", "weight"]].sum()
    means = {
        "credit": sums["earned"] / sums["weight"],
        "weight": sums["weight"],
        "judges": groups["judge"].nunique(),
    }
    # 1 - credit may differ from an equal vote in the last digit.
    agree = groups["vote"].max() - groups["vote"].min() < ROUNDING
    return pd.DataFrame({**means, "votes": groups.size(), "agree": agree})


def human_ties(battles: Battles) -> np.ndarray:
    """Return a mask of the battles that humans called a tie, shape (battles,).

    If the mean is 0.5 because votes for both models cancel, the battle is not a tie. If the single
    votes are unknown, as for labels in the column `human` of the file, a mean of 0.5 is a tie.
    """
    import pandas as pd

    even = (battles.table["human"] == 0.5).to_numpy()
    if battles.votes is None:
        return even
    means = mean_labels(battles.votes, "credit")
    disputed = means.index[~means["agree"]]
    matchups = pd.MultiIndex.from_frame(matchup_frame(battles))
    return even & ~matchups.isin(disputed)


def is_turned(table: "pd.DataFrame") -> "pd.Series":
    """Return whether the name of model_b sorts before that of model_a, by row of a battles table.

    The columns of models are categoricals over the same sorted names, as in `Battles.table`.
    """
    return table["model_a"].cat.codes > table["model_b"].cat.codes


def _join_labels(battles: Battles, votes: Battles, judge: str) -> Battles:
    """Add the mean vote on each item and pair as the column `human`; it is NaN without a vote.

    The result keeps the votes, and has notes on the numbers of votes and labels, and on how often
    several votes on one matchup agree.

    Args:
        battles: the judges' battles.
        votes: the humans' battles.
        judge: name of the voters in messages.

    Raises:
        NotIdentifiedError: no vote has an item and a verdict.
    """
    means = mean_labels(votes, "credit")
    means = means[means.index.get_level_values("row") < 0]
    if means.empty:
        why = f"none of the {quantity(len(votes), 'battle')} of {judge} has an item and a verdict"
        raise NotIdentifiedError(f"no label to take: {why}")
    mean_votes = means["credit"].reset_index()
    of_first = matchup_frame(battles).merge(mean_votes, how="left")["credit"].to_numpy()
    human = np.where(is_turned(battles.table), 1 - of_first, of_first)
    readable = int((votes.readable & votes.table["item"].notna()).sum())
    notes = [_label_note(judge, readable, len(votes), len(means), human)]
    labelled_twice = means[means["votes"] > 1]
    if len(labelled_twice):
        agreed = {"battles": len(labelled_twice), "share": float(labelled_twice["agree"].mean())}
        notes.append(Notice("votes-agree", agreed))
    labelled = BattleFrame(battles.table.assign(human=human), battles.group)
    whole = battles.whole or battles
    every_note = (*battles.notes, *notes)
    return replace(battles, rows=labelled, notes=every_note, votes=votes, whole=whole)


def _check_tables(remedy: str, **tables: Battles) -> None:
    """Check that verdicts can be labelled.

    Args:
        remedy: sentence that says what to do if the verdicts have labels already.
        tables: the tables to join, by the name that messages use; one is called `verdicts`.

    Raises:
        UsageError: the verdicts have human labels already.
        DataError: a table has no items.
    """
    table = tables["verdicts"].table
    labelled_battles = int(table["human"].notna().sum()) if "human" in table else 0
    if labelled_battles:
        raise UsageError(
            f"{quantity(labelled_battles, 'battle', 'has|have')} a human label already: {remedy}"
        )
    for name, battles in tables.items():
        if not battles.has_items:
            problem = f"no row of the {name} has an item, and labels are joined by item and pair"
            option = item_option(battles.likely_item)
            remedy = f"name the item's column, as --columns {option}"
            raise DataError(problem, source=some_paths(battles.sources), remedy=remedy)


def _label_note(judge: str, readable: int, votes: int, matchups: int, human: np.ndarray) -> Notice:
    """Return the note that says how many votes there are and how many battles they label.

    Args:
        judge: name of the voters.
        readable: number of votes that have a verdict and an item.
        votes: number of all votes.
        matchups: number of matchups with a vote.
        human: the labels, shape (battles,); NaN for battles without a label.
    """
    labelled = int((~np.isnan(human)).sum())
    fields = {
        "judge": judge,
        "votes": readable,
        "unparsed": votes - readable,
        "pairs": matchups,
        "labelled": labelled,
        "battles": len(human),
        "rest": len(human) - labelled,
    }
    return Notice("human-labels", fields)
