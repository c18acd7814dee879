"""One judge's verdicts as the human labels of the other judges' battles."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from podium.errors import DataError, NotIdentifiedError, UsageError, unknown_name
from podium.nouns.battles import Battles
from podium.text import as_text, some


def check_judge(judges: Sequence[str], judge: str) -> None:
    """Refuse a human judge that no table knows.

    Raises:
        UsageError: no column says the judge, or none is called so.
    """
    if not judges:
        raise UsageError(
            f"no column says whose rows are those of the human judge {judge!r}; name it with --columns judge=COLUMN"
        )
    if judge not in judges:
        raise unknown_name("judge", judge, {*judges})


def label_by(battles: Battles, judge: str) -> Battles:
    """Turn one judge's battles into the human labels of the others' battles of the same item and pair.

    A label is the mean credit of all readable battles of the judge there, weighted by `weight`, and what model_a of
    the labelled battle earned. Battles without a counterpart have an empty label. The judge's own battles leave, and
    so do entrants that no other battle has; a note tells how many labels were found.

    Raises:
        UsageError: no battle of this judge, or there are human labels already.
        DataError: nothing says which item a battle is about.
        NotIdentifiedError: no battle of another judge, no readable one of this judge, or none in common.
    """
    table = battles.table
    ours = (as_text(table["judge"]) == judge).to_numpy() if "judge" in table else np.zeros(len(table), dtype=bool)
    _refuse(battles, ours, judge)
    return _join_labels(battles.select(~ours), battles.select(ours), judge, must_meet=True)


def label_from(battles: Battles, labels: Battles, *, must_meet: bool) -> Battles:
    """Give battles the labels of others, whose credits are people's.

    Args:
        must_meet: whether labels of other battles than these are of no use.

    Raises:
        UsageError: there are human labels already.
        DataError: nothing says which item a battle is about.
        NotIdentifiedError: no label can be read, or none is of these battles and one must be.
    """
    known = int(battles.table["human"].notna().sum()) if "human" in battles.table else 0
    if known:
        raise UsageError(f"{known:,} battles have a human label already: give --human-labels, or the column human")
    for each, name in ((battles, "verdicts"), (labels, "labels")):
        if not each.has_items:
            raise DataError(
                f"no row of the {name} says its item, and labels are found by item and pair",
                source=some(each.sources, most=3),
                remedy="name the item's column, for example --columns item=prompt",
            )
    return _join_labels(battles, labels, "people", must_meet=must_meet)


MEETING = ["item", "row", "response", "low", "high"]
"""What two battles of one meeting have in common."""


def meetings_of(battles: Battles) -> pd.DataFrame:
    """Return what each battle is of, alike in every table: its item, the response to it and the unordered pair.

    Columns are those of `MEETING`: names, the models' in the order of their names; `row` is -1, and counts the battles
    without an item, which stand alone.
    """
    table = battles.table
    item = table["item"].astype(object) if "item" in table else pd.Series(None, index=table.index, dtype=object)
    a, b = (table[side].astype(object) for side in ("model_a", "model_b"))
    turned = _is_turned(table)
    low, high = a.where(~turned, b), b.where(~turned, a)
    row = np.where(item.isna(), np.arange(len(table)), -1)
    columns = (item.where(item.notna(), ""), row, battles.responses, low, high)
    return pd.DataFrame(dict(zip(MEETING, columns, strict=True)), index=table.index)


def mean_labels(battles: Battles, column: str) -> pd.DataFrame:
    """Average the credits of each meeting, by `weight`; unread ones are left out.

    Returns:
        Indexed by `MEETING`, sorted: `credit` of the model whose name comes first, `weight`, the sum of the rows', and
        `judges`, how many are named there.

    Args:
        column: `credit` or `human`, in [0, 1].
    """
    table = battles.table
    known = table[column].notna()
    credit = table[column].where(~_is_turned(table), 1 - table[column])
    weight = table["weight"] if "weight" in table else pd.Series(1.0, index=table.index)
    judge = table["judge"].astype(object) if "judge" in table else pd.Series("", index=table.index)
    rows = meetings_of(battles).assign(earned=weight * credit, weight=weight, judge=judge.fillna(""))[known]
    groups = rows.groupby(MEETING, sort=True)
    sums = groups[["earned", "weight"]].sum()
    credit = sums["earned"] / sums["weight"]
    return pd.DataFrame({"credit": credit, "weight": sums["weight"], "judges": groups["judge"].nunique()})


def _is_turned(table: pd.DataFrame) -> pd.Series:
    """Whether model_b's name comes before model_a's."""
    return table["model_a"].cat.codes > table["model_b"].cat.codes


def _join_labels(battles: Battles, votes: Battles, judge: str, *, must_meet: bool) -> Battles:
    """Give battles the mean votes on their item and pair as labels.

    Args:
        votes: of people.
        judge: what to call who made them.
        must_meet: whether to refuse votes of which none is of one of the battles.

    Raises:
        NotIdentifiedError: no vote can be read, or none is of these battles and one must be.
    """
    means = mean_labels(votes, "credit")
    means = means[means.index.get_level_values("row") < 0]
    if means.empty:
        raise NotIdentifiedError(
            f"no label to take: none of the {len(votes):,} battles of {judge} has an item and a verdict"
        )
    of_first = meetings_of(battles).merge(means["credit"].reset_index(), how="left", on=MEETING)["credit"].to_numpy()
    human = np.where(_is_turned(battles.table), 1 - of_first, of_first)
    if np.isnan(human).all() and must_meet:
        raise _nothing_in_common(battles, votes, judge)
    readable = int((votes.readable & votes.table["item"].notna()).sum())
    note = _note(judge, readable, len(votes), len(means), human)
    return replace(battles, rows=battles.table.assign(human=human), notes=(*battles.notes, note), votes=votes)


def _refuse(battles: Battles, ours: np.ndarray, judge: str) -> None:
    if not ours.any():
        raise UsageError(
            f"no row of the human judge {judge!r} is left: conditions on other columns than judge apply to it, too"
        )
    if ours.all():
        raise NotIdentifiedError(
            f"{judge} is the only judge here, so there is nothing to label: add the verdicts of the judge that "
            f"{judge} is to be compared with, or leave out --human-judge"
        )
    known = int(battles.table["human"].notna().sum()) if "human" in battles.table else 0
    if known:
        raise UsageError(
            f"{known:,} battles have a human label already: leave out --human-judge to use those labels, or remove the "
            "column human from the file"
        )
    if not battles.has_items:
        raise DataError(
            "no row says its item, and labels are found by item and pair",
            source=some(battles.sources, most=3),
            remedy="name the item's column, for example --columns item=prompt",
        )


def _nothing_in_common(battles: Battles, votes: Battles, judge: str) -> NotIdentifiedError:
    items = len({*votes.table["item"].dropna()} & {*battles.table["item"].dropna()})
    models = len({*votes.entrants} & {*battles.entrants})
    return NotIdentifiedError(
        f"none of the {len(battles):,} battles of other judges is of an item and pair that {judge} judged; in common "
        f"are {items:,} items and {models:,} models: spell both alike, or let {judge} judge some of those pairs"
    )


def _note(judge: str, readable: int, votes: int, meetings: int, human: np.ndarray) -> str:
    """Tell the denominators of the labels."""
    labelled = int((~np.isnan(human)).sum())
    without = f" ({votes - readable:,} more without verdict or item)" if votes > readable else ""
    return (
        f"human labels: {readable:,} votes by {judge}{without}, on {meetings:,} pairs of responses, "
        f"label {labelled:,} of {len(human):,} battles; {len(human) - labelled:,} have no label"
    )
