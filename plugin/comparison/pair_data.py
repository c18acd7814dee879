"""Estimate the difference between two models from battles, with results by item."""

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
class ComparedPair:
    """A candidate and a baseline, the measure of `MEASURES`, and the items on which their answers are identical."""

    candidate: str
    baseline: str
    measure: str
    level: float
    identical: Collection[str] | None = None


def finding_of(battles: Battles, pair: ComparedPair, **about: str | None) -> PairFinding:
    """Estimate the difference between two models; `about` is the question, task, metric and slice of the battles."""
    direct = direct_battles(battles.table, pair)
    scored = direct.dropna(subset=["ours", "theirs"])
    if pair.measure == SCORE and not len(scored):
        raise UsageError(f"--measure score: no item has scores of both {pair.candidate} and {pair.baseline}")
    if len(scored) and pair.measure in ("auto", SCORE):
        means = scored.groupby("item", sort=True)[["ours", "theirs", "same"]].mean()
        differences, main, results = {SCORE: score_difference(means)}, SCORE, _score_results(means)
        unparsed = len(direct) - len(scored)
        is_share = bool(means[["ours", "theirs"]].stack().between(0, 1).all())
    else:
        differences = verdict_differences(battles, pair, direct)
        main = ELO if pair.measure == "auto" else pair.measure
        if main not in differences:
            raise NotIdentifiedError("no readable battle between the two, which --measure win-rate needs")
        credits = mean_credits(direct)
        results = [ItemResult(str(item), credit - 0.5, is_identical=bool(same)) for item, credit, same in credits]
        unparsed, is_share = int(direct["credit"].isna().sum()), True
    return PairFinding(
        candidate=pair.candidate,
        baseline=pair.baseline,
        question=about.get("question"),
        task=about.get("task"),
        metric=about.get("metric"),
        slice=about.get("slice"),
        measure=main,
        differences=differences,
        is_share=is_share,
        results=tuple(sorted(results, key=lambda own: (-abs(own.difference), own.item))),
        identical=None if pair.identical is None else int(sum(own.is_identical for own in results)),
        unparsed=unparsed,
        level=pair.level,
        p_adjusted=differences[main].p_value,
    )


def _score_results(means: pd.DataFrame) -> list[ItemResult]:
    """Return the result of each item from mean scores of both models; identical answers differ by 0."""
    return [
        ItemResult(str(item), 0.0 if same else ours - theirs, ours, theirs, bool(same))
        for item, ours, theirs, same in means.itertuples()
    ]


def table_items(table: pd.DataFrame) -> pd.Series:
    """Return the item of each battle as text; each row without an item is an item by itself."""
    alone = pd.Series([f"row {row}" for row in range(1, len(table) + 1)], index=table.index)
    return as_text(table["item"]).fillna(alone) if "item" in table else alone


def direct_battles(table: pd.DataFrame, pair: ComparedPair) -> pd.DataFrame:
    """Return the battles between candidate and baseline, with the candidate first.

    Returns:
        Columns item, credit, weight, ours and theirs (scores), same (identical answers; their credit is 1/2).
    """
    names = {pair.candidate, pair.baseline}
    first, second = table["model_a"].astype(object), table["model_b"].astype(object)
    kept = (first.isin(names) & second.isin(names) & (first != second)).to_numpy()
    rows, is_first = table[kept], (first[kept] == pair.candidate).to_numpy()
    item = table_items(table)[kept]
    same = item.isin(list(pair.identical or ())).to_numpy()
    credit = rows["credit"].to_numpy(dtype=float)
    oriented = np.where(is_first, credit, 1 - credit)
    nothing = np.full(len(rows), np.nan)
    a, b = (rows[name].to_numpy(dtype=float) if name in rows else nothing for name in ("score_a", "score_b"))
    columns = {
        "item": item.to_numpy(),
        "credit": np.where(same & ~np.isnan(oriented), 0.5, oriented),
        "weight": rows["weight"].to_numpy(dtype=float) if "weight" in rows else 1.0,
        "ours": np.where(is_first, a, b),
        "theirs": np.where(is_first, b, a),
        "same": same,
    }
    return pd.DataFrame(columns)


def score_difference(means: pd.DataFrame) -> DifferenceTest:
    """Test the difference of mean scores, given one row per item, paired by item; identical answers differ by 0."""
    scores = means[["ours", "theirs"]].to_numpy()
    differences = np.where(means["same"] > 0, 0.0, scores[:, 0] - scores[:, 1])
    levels = np.unique(scores)
    is_share = levels[0] >= 0 and levels[-1] <= 1
    size = 1.0 if set(levels) <= {0.0, 1.0} else float(levels[1] - levels[0]) if len(levels) == 2 else None
    return paired_difference(differences, size, 1.0 if is_share else np.inf)


def mean_credits(direct: pd.DataFrame) -> list[tuple[str, float, bool]]:
    """Return item, weighted mean credit of the candidate, and whether the answers are identical, per item."""
    known = direct.dropna(subset=["credit"])
    sums = known.assign(earned=known["credit"] * known["weight"]).groupby("item", sort=True)
    total = sums[["earned", "weight"]].sum()
    same = sums["same"].any()
    return list(zip(total.index, (total["earned"] / total["weight"]).tolist(), same.tolist(), strict=True))


def verdict_differences(battles: Battles, pair: ComparedPair, direct: pd.DataFrame) -> dict[str, DifferenceTest]:
    """Test the Elo difference over all battles and, if the two met, the win rate in their direct battles."""
    coded = code_battles(battles, credit=level_credits(battles.table, pair))
    for name in (pair.candidate, pair.baseline):
        if name not in coded.models:
            raise NotIdentifiedError(f"{name} has no readable battle")
    a, b = (coded.models.index(name) for name in (pair.candidate, pair.baseline))
    differences = {ELO: elo_difference(coded, a, b)}
    credits = np.array([credit for _, credit, _ in mean_credits(direct)])
    if len(credits):
        is_three_valued = set(np.unique(credits)) <= {0.0, 0.5, 1.0}
        differences[WIN_RATE] = paired_difference(credits - 0.5, 0.5 if is_three_valued else None, 0.5)
    return differences


def level_credits(table: pd.DataFrame, pair: ComparedPair) -> np.ndarray:
    """Return the credit of each battle, made equal for identical answers of candidate and baseline, shape (battles,).

    On items with identical answers the two get 1/2 against each other, and against any third model their mean credit.
    """
    credit = table["credit"].to_numpy(dtype=float).copy()
    items = table_items(table)
    rows = np.flatnonzero(items.isin(list(pair.identical or ())).to_numpy() & ~np.isnan(credit))
    if not len(rows):
        return credit
    first, second = (table[side].astype(object).to_numpy()[rows] for side in ("model_a", "model_b"))
    names = (pair.candidate, pair.baseline)
    is_first, is_second = np.isin(first, names), np.isin(second, names)
    credit[rows[is_first & is_second]] = 0.5
    third = is_first != is_second
    frame = pd.DataFrame(
        {
            "item": items.to_numpy()[rows],
            "third": np.where(is_first, second, first),
            "model": np.where(is_first, first, second),
            "earned": np.where(is_first, credit[rows], 1 - credit[rows]),
        }
    )[third]
    met = ["item", "third"]
    # The mean of the two models' means, however often each was judged.
    means = frame.groupby([*met, "model"])["earned"].mean().groupby(met).agg(["mean", "size"])
    joined = frame.join(means, on=met)
    earned = np.where(joined["size"] == len(names), joined["mean"], joined["earned"])
    credit[rows[third]] = np.where(is_first[third], earned, 1 - earned)
    return credit
