"""From battles to what they say of two models: differences with their errors, and results by item."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pandas as pd

from podium.comparison.outcomes import ELO, SCORE, WIN_RATE, ItemResult, PairFinding
from podium.errors import NotIdentifiedError, UsageError
from podium.nouns.battles import Battles
from podium.rankers.coded import code_battles
from podium.rankers.difference import DifferenceTest, paired_difference
from podium.rankers.elo_difference import elo_difference
from podium.text import as_text

MEASURES = ("auto", SCORE, ELO, WIN_RATE)


@dataclass(frozen=True, slots=True)
class Matchup:
    """Who is compared, and how.

    Attributes:
        measure: one of `MEASURES`.
        identical: items on which both gave the same answer; None where answers are not known.
    """

    candidate: str
    baseline: str
    measure: str
    level: float
    identical: Collection[str] | None = None


def finding_of(battles: Battles, subject: Matchup, **about: str | None) -> PairFinding:
    """Return what battles say of two models.

    Args:
        about: question, task, metric and slice.

    Raises:
        NotIdentifiedError: nothing readable compares the two.
        UsageError: scores are asked for, and there are none.
    """
    table = battles.table
    direct = direct_rows(table, subject)
    same = table_items(table).isin(list(subject.identical or ())).to_numpy()
    scored = direct.dropna(subset=["ours", "theirs"])
    if subject.measure == SCORE and not len(scored):
        raise UsageError(f"measure=score: no scores of both {subject.candidate} and {subject.baseline}")
    if len(scored) and subject.measure in ("auto", SCORE):
        means = scored.groupby("item", sort=True)[["ours", "theirs", "same"]].mean()
        differences, main = {SCORE: score_difference(means)}, SCORE
        unparsed = len(direct) - len(scored)
        results = [
            ItemResult(str(item), 0.0 if alike else ours - theirs, ours, theirs, bool(alike))
            for item, ours, theirs, alike in means.itertuples()
        ]
        is_share = bool(means[["ours", "theirs"]].stack().between(0, 1).all())
    else:
        differences = verdict_differences(battles, subject, direct, same)
        main = ELO if subject.measure == "auto" else subject.measure
        if main not in differences:
            raise NotIdentifiedError("no readable battle of the two: win-rate asks for some")
        means = mean_credits(direct)
        results = [ItemResult(str(item), credit - 0.5, is_identical=bool(alike)) for item, credit, alike in means]
        unparsed, is_share = int(direct["credit"].isna().sum()), True
    results.sort(key=lambda own: (-abs(own.difference), own.item))
    return PairFinding(
        candidate=subject.candidate,
        baseline=subject.baseline,
        question=about.get("question"),
        task=about.get("task"),
        metric=about.get("metric"),
        slice=about.get("slice"),
        measure=main,
        differences=differences,
        is_share=is_share,
        results=tuple(results),
        identical=None if subject.identical is None else int(sum(own.is_identical for own in results)),
        unparsed=unparsed,
        level=subject.level,
        p_adjusted=differences[main].p_value,
    )


def table_items(table: pd.DataFrame) -> pd.Series:
    """Return the item of each battle as text; rows without one stand alone."""
    alone = pd.Series([f"row {row}" for row in range(1, len(table) + 1)], index=table.index)
    return as_text(table["item"]).fillna(alone) if "item" in table else alone


def direct_rows(table: pd.DataFrame, subject: Matchup) -> pd.DataFrame:
    """Return the battles between the two as the candidate sees them: item, credit, weight, ours, theirs, same."""
    pair = {subject.candidate, subject.baseline}
    first, second = table["model_a"].astype(object), table["model_b"].astype(object)
    kept = (first.isin(pair) & second.isin(pair) & (first != second)).to_numpy()
    rows, ahead = table[kept], (first[kept] == subject.candidate).to_numpy()
    item = table_items(table)[kept]
    alike = item.isin(list(subject.identical or ())).to_numpy()
    credit = rows["credit"].to_numpy(dtype=float)
    oriented = np.where(ahead, credit, 1 - credit)
    nothing = np.full(len(rows), np.nan)
    a, b = (rows[name].to_numpy(dtype=float) if name in rows else nothing for name in ("score_a", "score_b"))
    columns = {
        "item": item.to_numpy(),
        "credit": np.where(alike & ~np.isnan(oriented), 0.5, oriented),
        "weight": rows["weight"].to_numpy(dtype=float) if "weight" in rows else 1.0,
        "ours": np.where(ahead, a, b),
        "theirs": np.where(ahead, b, a),
        "same": alike,
    }
    return pd.DataFrame(columns)


def score_difference(means: pd.DataFrame) -> DifferenceTest:
    """Test the difference of scores, paired by item; identical answers differ by exactly 0.

    Args:
        means: columns ours, theirs and same, a row an item.
    """
    scores = means[["ours", "theirs"]].to_numpy()
    differences = np.where(means["same"] > 0, 0.0, scores[:, 0] - scores[:, 1])
    levels = np.unique(scores)
    is_share = levels[0] >= 0 and levels[-1] <= 1
    size = 1.0 if set(levels) <= {0.0, 1.0} else float(levels[1] - levels[0]) if len(levels) == 2 else None
    return paired_difference(differences, size, 1.0 if is_share else np.inf)


def mean_credits(direct: pd.DataFrame) -> list[tuple[str, float, bool]]:
    """Return items with the candidate's mean credit against the baseline, weighted, and whether answers are alike."""
    known = direct.dropna(subset=["credit"])
    sums = known.assign(earned=known["credit"] * known["weight"]).groupby("item", sort=True)
    total = sums[["earned", "weight"]].sum()
    alike = sums["same"].any()
    return list(zip(total.index, (total["earned"] / total["weight"]).tolist(), alike.tolist(), strict=True))


def verdict_differences(
    battles: Battles, subject: Matchup, direct: pd.DataFrame, same: np.ndarray
) -> dict[str, DifferenceTest]:
    """Test the difference of ratings, from all battles, and that of the battles between the two, where there are any.

    Args:
        same: battles on items with identical answers, shape (battles,).
    """
    coded = code_battles(battles, credit=level_credits(battles.table, subject, same))
    for name in (subject.candidate, subject.baseline):
        if name not in coded.models:
            raise NotIdentifiedError(f"{name} has no readable battle: nothing to compare")
    a, b = (coded.models.index(name) for name in (subject.candidate, subject.baseline))
    differences = {ELO: elo_difference(coded, a, b)}
    credits = np.array([credit for _, credit, _ in mean_credits(direct)])
    if len(credits):
        is_three_valued = set(np.unique(credits)) <= {0.0, 0.5, 1.0}
        differences[WIN_RATE] = paired_difference(credits - 0.5, 0.5 if is_three_valued else None, 0.5)
    return differences


def level_credits(table: pd.DataFrame, subject: Matchup, same: np.ndarray) -> np.ndarray:
    """Return credits in which identical answers earn the same: 1/2 of each other, and against others their mean.

    Args:
        same: battles on items with identical answers, shape (battles,).
    """
    credit = table["credit"].to_numpy(dtype=float).copy()
    if not same.any():
        return credit
    rows = np.flatnonzero(same & ~np.isnan(credit))
    first, second = (table[side].astype(object).to_numpy()[rows] for side in ("model_a", "model_b"))
    pair = {subject.candidate, subject.baseline}
    own = [np.array([name in pair for name in side], dtype=bool) for side in (first, second)]
    credit[rows[own[0] & own[1]]] = 0.5
    among = own[0] != own[1]
    frame = pd.DataFrame(
        {
            "item": table_items(table).to_numpy()[rows[among]],
            "other": np.where(own[0], second, first)[among],
            "model": np.where(own[0], first, second)[among],
            "earned": np.where(own[0], credit[rows], 1 - credit[rows])[among],
        }
    )
    groups = frame.groupby(["item", "other"])
    by_model = frame.groupby(["item", "other", "model"])["earned"].transform("mean")
    both = (groups["model"].transform("nunique") == 2).to_numpy()
    # The mean of the two means, however often each was judged.
    shared = frame.assign(mean=by_model).drop_duplicates(["item", "other", "model"])
    mean = shared.groupby(["item", "other"])["mean"].mean().rename("level")
    level = frame.join(mean, on=["item", "other"])["level"].to_numpy()
    earned = np.where(both, level, frame["earned"].to_numpy())
    credit[rows[among]] = np.where(own[0][among], earned, 1 - earned)
    return credit
