"""One judge's verdicts as the human labels of the other judges' battles."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from podium.battles import Battles
from podium.errors import DataError, NotIdentifiedError, UsageError, unknown_name
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
    return join_labels(battles, ours, judge)


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
    both = pd.concat([battles.to_frame().assign(human=np.nan), labels.to_frame()], ignore_index=True)
    entrants = sorted({*battles.entrants, *labels.entrants})
    for side in ("model_a", "model_b"):
        both[side] = pd.Categorical(both[side], categories=entrants)
    both["item"] = pd.Categorical(both["item"])
    if "weight" in both:
        both["weight"] = both["weight"].fillna(1.0)
    ours = np.arange(len(both)) >= len(battles)
    labelled = join_labels(replace(battles, rows=both.drop(columns="human")), ours, "people", must_meet=must_meet)
    human = labelled.table["human"].to_numpy() if "human" in labelled.table else np.full(len(battles), np.nan)
    rows = battles.table.assign(human=human)
    return replace(battles, rows=rows, notes=labelled.notes, votes=labels)


def join_labels(battles: Battles, ours: np.ndarray, judge: str, *, must_meet: bool = True) -> Battles:
    """Turn the battles of a mask into labels of the others.

    Args:
        ours: mask of those by people, shape (battles,).
        judge: what to call who made them.
        must_meet: whether to refuse labels of which none is of another battle.

    Raises:
        As `label_by`.
    """
    table = battles.table
    item, a, b = (table[name].cat.codes.to_numpy(dtype=np.int64) for name in ("item", "model_a", "model_b"))
    item, entrants = battles.items_with_responses(item), len(battles.entrants)
    # Of the item, the response to it and the unordered pair; negative without an item.
    code = (item * entrants + np.minimum(a, b)) * entrants + np.maximum(a, b)
    votes = ours & battles.readable & (code >= 0)
    if not votes.any():
        raise NotIdentifiedError(
            f"no label to take: none of the {ours.sum():,} battles of {judge} has an item and a verdict"
        )
    # What the first by name earned, and in the end what model_a did.
    credit = np.where(a < b, table["credit"], 1 - table["credit"])[votes]
    weight = table["weight"].to_numpy()[votes] if "weight" in table else np.ones(votes.sum())
    codes, place = np.unique(code[votes], return_inverse=True)
    means = pd.Series(np.bincount(place, weight * credit) / np.bincount(place, weight), index=codes)
    of_first = means.reindex(code).to_numpy()
    human = np.where(a < b, of_first, 1 - of_first)[~ours]
    if np.isnan(human).all() and must_meet:
        raise _nothing_in_common(battles, votes, ~ours, judge)
    rest = battles.select(~ours)
    note = _note(judge, votes, ours, len(means), human)
    votes_alone = battles.select(ours)
    return replace(rest, rows=rest.table.assign(human=human), notes=(*rest.notes, note), votes=votes_alone)


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


def _nothing_in_common(battles: Battles, votes: np.ndarray, others: np.ndarray, judge: str) -> NotIdentifiedError:
    here, there = battles.table[votes], battles.table[others]
    items = len({*here["item"]} & {*there["item"].dropna()})
    models = len({*here["model_a"], *here["model_b"]} & {*there["model_a"], *there["model_b"]})
    return NotIdentifiedError(
        f"none of the {len(there):,} battles of other judges is of an item and pair that {judge} judged; in common "
        f"are {items:,} items and {models:,} models: spell both alike, or let {judge} judge some of those pairs"
    )


def _note(judge: str, votes: np.ndarray, ours: np.ndarray, meetings: int, human: np.ndarray) -> str:
    """Tell the denominators of the labels."""
    labelled = int((~np.isnan(human)).sum())
    left_out = int((ours & ~votes).sum())
    without = f" ({left_out:,} more without verdict or item)" if left_out else ""
    return (
        f"human labels: {int(votes.sum()):,} votes by {judge}{without}, on {meetings:,} pairs of responses, "
        f"label {labelled:,} of {len(human):,} battles; {len(human) - labelled:,} have no label"
    )
