"""One verdict per battle of a jury whose judges all judge every battle.

The verdicts of each judge are merged over orders and repeats first, then over judges, by the rule
of `podium.scorers.battle.merge_jury`.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.data.battles import Battles, criterion_columns
from podium.data.counting.battle_frame import BattleFrame, parsed_credits
from podium.data.counting.relations import HARD_CREDIT
from podium.scorers.battle import NO_QUORUM

if TYPE_CHECKING:
    import pandas as pd

RULE = "jury_rule"
"""Column with the rule by which the verdicts of a jury are merged: `mean` or `majority`."""
QUORUM = "jury_quorum"
"""Column with the fewest judges of a jury that must be readable."""
SIDES = (("score_a", "score_b"), ("length_a", "length_b"))
"""Columns with a figure of each model."""


def is_merging_jury(battles: Battles) -> bool:
    """Return whether battles are those of one jury whose judges all judge every battle.

    False if a single judge is left, as in a slice, or if the judges took turns. False also without
    items, which show what verdicts are on one battle.
    """
    if not battles.is_one_jury or len(battles.judges) < 2 or not battles.has_items:
        return False
    return RULE in battles.columns and len(battles.values_of(RULE)) == 1


def judged_once(battles: Battles) -> Battles:
    """Return battles in which each battle has one verdict of its jury.

    Battles that are not of such a jury (`is_merging_jury`) are returned as they are.
    """
    return merge_jury_verdicts(battles) if is_merging_jury(battles) else battles


def merge_jury_verdicts(battles: Battles) -> Battles:
    """Return battles with one row for all verdicts of a jury on a battle.

    The battles must be of one jury (`is_merging_jury`). The judge of a row has the name of the
    jury. What is known once (category, human label, weight) is taken from the first verdict.
    Effects of the order are those of single judges, so that the merged battles have no column
    `swap`.
    """
    table = _with_sorted_sides(battles.table)
    rule = battles.values_of(RULE)[0]
    keys = _number_battles(table)
    by_judge = _merge_trials_of_judges(table, keys)
    merged = _merge_judges(by_judge, rule)
    first = table.groupby(keys, sort=False).head(1).reset_index(drop=True)
    gone = {"swap", "repeat", *_figures(table)} - merged.keys()
    rows = first.drop(columns=[name for name in gone if name in first])
    for name in merged:
        rows[name] = merged[name].to_numpy()
    rows["judge"] = rows["jury"].astype(object)
    if "order" in rows:
        rows["order"] = "merged"
    judgments = battles.tally.judgments
    return replace(
        battles,
        rows=BattleFrame(
            table=rows, group=battles.rows.group, judgments=judgments, merged_grades=battles.grades
        ),
        whole=battles.whole or battles,
    )


def _with_sorted_sides(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return the table with the two models of each row in the order of their codes.

    In rows whose models are exchanged, credits c become 1 - c, margins change their signs, and the
    columns of `SIDES` are exchanged.
    """
    table = table.copy()
    turned = (table["model_a"].cat.codes > table["model_b"].cat.codes).to_numpy()
    if not turned.any():
        return table
    for a, b in (("model_a", "model_b"), *SIDES):
        if a in table and b in table:
            new_a = table[a].where(~turned, table[b])
            new_b = table[b].where(~turned, table[a])
            table[a] = new_a
            table[b] = new_b
    for name in ("credit", HARD_CREDIT, "human"):
        if name in table:
            table[name] = table[name].where(~turned, 1 - table[name])
    for name in ("margin", *criterion_columns(table)):
        if name in table:
            table[name] = table[name].where(~turned, -table[name])
    return table


def _number_battles(table: "pd.DataFrame") -> "pd.Series":
    """Return the number of the battle that each row is of, from 0; shape (rows,).

    Rows with the same item, response and models are of one battle.
    """
    names = [name for name in ("item", "response", "model_a", "model_b") if name in table]
    return table.groupby(names, observed=True, dropna=False, sort=False).ngroup()


def _figures(table: "pd.DataFrame") -> list[str]:
    """Return the columns whose values are averaged over judges."""
    names = ["credit", HARD_CREDIT, "margin", "score_a", "score_b", *criterion_columns(table)]
    return [name for name in names if name in table]


def _merge_trials_of_judges(table: "pd.DataFrame", keys: "pd.Series") -> "pd.DataFrame":
    """Return a row for each battle and judge: the mean of its readable repeats.

    The columns are `battle`, `judge`, the figures, `outcome` (the credit of the parsed verdict),
    `reason` and `quorum`, both of the first repeat with one. A figure is missing if a readable
    repeat lacks it, or if no repeat is readable; `hard_credit` is the mean over the readable
    repeats that have it.
    """
    import pandas as pd

    figures = _figures(table)
    rows = table[figures].astype(float)
    rows["outcome"] = parsed_credits(table).astype(float)
    rows["battle"] = keys
    rows["judge"] = table["judge"].astype(object)
    rows["reason"] = table["reason"].astype(object) if "reason" in table else None
    rows["quorum"] = pd.to_numeric(table[QUORUM]) if QUORUM in table else np.nan
    is_readable = rows["credit"].notna()
    groups = [rows["battle"], rows["judge"]]
    read = rows[is_readable].groupby(["battle", "judge"], sort=False)
    means = read[[*figures, "outcome"]].mean()
    counts = read[figures].count()
    sizes = read.size()
    for name in figures:
        if name != HARD_CREDIT:
            means[name] = means[name].where(counts[name] == sizes)
    facts = rows.groupby(groups, sort=False)[["reason", "quorum"]].first()
    return facts.join(means).reset_index()


def _merge_judges(by_judge: "pd.DataFrame", rule: str) -> "dict[str, Any]":
    """Return the merged columns by name: Series with a value per battle, in the order of battles.

    The quorum is that of the rows, by default more than half of the judges.

    - With `mean`, all figures are averaged over the readable judges, and are missing if a readable
      judge lacks one. Fewer readable judges than the quorum leave the battle unparsed.
    - With `majority`, the only figure is the credit. If the judges who prefer a model reach the
      quorum, it is a win of the model that more of them prefer, or a tie if both have as many. If
      they do not, but the judges who call a tie reach it, it is a tie. Otherwise the battle is
      unparsed.

    The column `reason` says why a battle is unparsed: `NO_QUORUM`, or the reason of its only judge.

    Args:
        by_judge: as `_merge_trials_of_judges` returns it.
        rule: `mean` or `majority`.
    """
    groups = by_judge.groupby("battle", sort=True)
    judges = groups.size()
    more_than_half = judges // 2 + 1
    needed = groups["quorum"].max().fillna(more_than_half)
    readable = groups["credit"].count()
    names = [name for name in by_judge if name not in ("battle", "judge", "reason", "quorum")]
    merged = groups[names].mean()
    for name in names:
        if name not in (HARD_CREDIT, "outcome"):
            merged[name] = merged[name].where(groups[name].count() == readable)
    has_quorum = readable >= needed
    if rule == "majority":
        votes = np.sign(by_judge["outcome"] - 0.5)
        wins = (votes > 0).groupby(by_judge["battle"]).sum()
        losses = (votes < 0).groupby(by_judge["battle"]).sum()
        is_decisive = wins + losses >= needed
        has_quorum = is_decisive | (readable - wins - losses >= needed)
        merged["credit"] = (np.sign(wins - losses).where(is_decisive, 0) + 1) / 2
        merged = merged[["credit"]]
    elif HARD_CREDIT in merged:
        merged[HARD_CREDIT] = merged["outcome"].where(groups[HARD_CREDIT].count() > 0)
    merged = merged.drop(columns="outcome", errors="ignore").where(has_quorum)
    columns: dict[str, Any] = {name: merged[name] for name in merged}
    reason = groups["reason"].first().where(judges == 1, NO_QUORUM)
    columns["reason"] = reason.where(~has_quorum, None)
    return columns
