"""Estimate the difference between two models from battles, with results by item."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from podium.comparison.outcomes import ELO, SCORE, WIN_RATE, PairFinding
from podium.data.battles import Battles
from podium.data.counting.battle_frame import parsed_credits
from podium.errors import NotIdentifiedError, UsageError
from podium.rankers.errors.difference import DifferenceTest, paired_difference
from podium.rankers.errors.elo_difference import elo_difference
from podium.rankers.fit.coded import code_battles
from podium.text import as_text

MEASURES = ("auto", SCORE, ELO, WIN_RATE)


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """Two models that are compared.

    Attributes:
        candidate: the model that may be better.
        baseline: the model that it is compared with.
        measure: one of `MEASURES`.
        level: confidence level.
        identical: items on which their answers are identical; None if the answers are not known.
    """

    candidate: str
    baseline: str
    measure: str
    level: float
    identical: Collection[str] | None = None


def finding_of(battles: Battles, pair: ComparedPair, about: Mapping[str, Any]) -> PairFinding:
    """Estimate the difference between two models.

    Args:
        battles: all battles.
        pair: the two models, and what is measured.
        about: question, task, metric and slice of the battles, as fields of `PairFinding`.

    Raises:
        UsageError: scores are to be compared, and no item has scores of both models.
        NotIdentifiedError: win rates are to be compared, and no battle of the two is readable.
    """
    direct = direct_battles(battles, pair)
    scored = direct.dropna(subset=["candidate", "baseline"])
    if pair.measure == SCORE and not len(scored):
        raise UsageError(
            f"--measure score: no item has scores of both {pair.candidate} and {pair.baseline}"
        )
    if len(scored) and pair.measure in ("auto", SCORE):
        measured = _measure_scores(battles, direct, scored)
    else:
        measured = _measure_verdicts(battles, direct, pair)
    results = measured.results
    is_unparsed = direct["is_unparsed"].to_numpy()
    return PairFinding(
        candidate=pair.candidate,
        baseline=pair.baseline,
        **about,
        measure=measured.measure,
        differences=measured.differences,
        is_share=measured.is_share,
        results=results.sort_values(
            "difference", key=lambda difference: -difference.abs(), kind="stable"
        ),
        leads=measured.leads,
        identical=None if pair.identical is None else int(results["is_identical"].sum()),
        unparsed=int((measured.is_lost & is_unparsed).sum()),
        missing=_count_missing(battles, int((measured.is_lost & ~is_unparsed).sum())),
        level=pair.level,
        p_adjusted=measured.differences[measured.measure].p_value,
    )


class _Measured(NamedTuple):
    """Results of two models by item, and their difference.

    Attributes:
        measure: the measure of the main difference.
        differences: the difference by measure.
        results: results of both models and their difference, a row per item.
        leads: difference of each item that decides who is ahead on it.
        is_share: whether all results lie in [0, 1].
        is_lost: mask of the battles without a result, shape (battles,).
    """

    measure: str
    differences: Mapping[str, Any]
    results: pd.DataFrame
    leads: pd.Series
    is_share: bool
    is_lost: np.ndarray


def _measure_scores(battles: Battles, direct: pd.DataFrame, scored: pd.DataFrame) -> _Measured:
    """Compare the scores of two models; `scored` are the direct battles with both scores."""
    by_metric = bool(battles.metrics) and battles.metrics.issuperset(battles.judges)
    results = _score_results(scored, by_metric=by_metric)
    is_share = bool(results[["candidate", "baseline"]].stack().between(0, 1).all())
    is_lost = ~direct.index.isin(scored.index)
    differences = {SCORE: score_difference(results)}
    return _Measured(SCORE, differences, results, results["difference"], is_share, is_lost)


def _measure_verdicts(battles: Battles, direct: pd.DataFrame, pair: ComparedPair) -> _Measured:
    """Compare the credits of two models."""
    results = _credit_results(direct)
    leads = _credit_results(direct, "outcome")["difference"]
    differences = verdict_differences(battles, pair, results)
    measure = ELO if pair.measure == "auto" else pair.measure
    if measure not in differences:
        raise NotIdentifiedError(
            "no readable battle between the two, which --measure win-rate needs"
        )
    is_lost = direct["credit"].isna().to_numpy()
    return _Measured(measure, differences, results, leads, True, is_lost)


def _count_missing(battles: Battles, without_score: int) -> int | None:
    """Return the number of the pair's battles that are missing; None if nothing is known.

    With more than two models, battles without a row are not counted: whose they are is not known.

    Args:
        battles: all battles.
        without_score: number of the pair's battles that have a row but no score.
    """
    if len(battles.models) > 2:
        return without_score
    without_row = battles.missing
    if without_row is None:
        return without_score or None
    return without_score + without_row


def _score_results(scored: pd.DataFrame, *, by_metric: bool) -> pd.DataFrame:
    """Return weighted mean scores, their difference and the mean weight per item.

    Identical answers differ by 0 unless a metric scored them otherwise: it may look at more than
    the answer, such as what an agent did.
    """
    sides = ["candidate", "baseline"]
    # Divided by the first, equal weights round nothing.
    weight = scored["weight"] / scored["weight"].iloc[0]
    weighed = scored.assign(**{side: scored[side] * weight for side in sides}, weight=weight)
    items = weighed.groupby("item", sort=True)
    sums = items[[*sides, "weight"]].sum()
    means = sums[sides].div(sums["weight"], axis=0)
    mean_weight = scored.groupby("item", sort=True)["weight"].mean()
    means = means.assign(weight=mean_weight, is_identical=items["is_identical"].any()).reset_index()
    difference, same = means["candidate"] - means["baseline"], means["is_identical"]
    if by_metric:
        same &= difference == 0
    difference = difference.mask(same, 0.0)
    means = means.assign(is_identical=same, difference=difference)
    return means[["item", "difference", *sides, "is_identical", "weight"]]


def _credit_results(direct: pd.DataFrame, column: str = "credit") -> pd.DataFrame:
    """Return the candidate's weighted mean credit against the baseline minus 1/2, and the mean
    weight of the battles, per item; scores are None."""
    known = direct.dropna(subset=["credit"])
    items = known.assign(earned=known[column] * known["weight"]).groupby("item", sort=True)
    means = items.agg({"earned": "sum", "weight": "sum", "is_identical": "any"}).reset_index()
    means["difference"] = means["earned"] / means["weight"] - 0.5
    means["weight"] = items["weight"].mean().to_numpy()
    means[["candidate", "baseline"]] = None
    return means[["item", "difference", "candidate", "baseline", "is_identical", "weight"]]


def table_items(table: pd.DataFrame) -> pd.Series:
    """Return the item of each battle as text; each row without an item is an item by itself."""
    alone = pd.Series([f"row {row}" for row in range(1, len(table) + 1)], index=table.index)
    return as_text(table["item"]).fillna(alone) if "item" in table else alone


def direct_battles(battles: Battles, pair: ComparedPair) -> pd.DataFrame:
    """Return item, candidate's credit (1/2 for identical answers), the same by parsed verdicts,
    weight, both scores, and whether a reply was unparsed, of the pair's battles."""
    table = battles.table
    names = {pair.candidate, pair.baseline}
    first, second = table["model_a"].astype(object), table["model_b"].astype(object)
    kept = (first.isin(names) & second.isin(names) & (first != second)).to_numpy()
    rows, is_first = table[kept], (first[kept] == pair.candidate).to_numpy()
    item = table_items(table)[kept]
    same = item.isin(list(pair.identical or ())).to_numpy()
    earned = (own.to_numpy(dtype=float) for own in (rows["credit"], parsed_credits(rows)))
    credit, outcome = (np.where(is_first, own, 1 - own) for own in earned)
    nothing = np.full(len(rows), np.nan)
    a, b = (
        rows[name].to_numpy(dtype=float) if name in rows else nothing
        for name in ("score_a", "score_b")
    )
    columns = {
        "item": item.astype(str).to_numpy(),
        "credit": np.where(same & ~np.isnan(credit), 0.5, credit),
        "outcome": np.where(same, 0.5, outcome),
        "weight": rows["weight"].to_numpy(dtype=float) if "weight" in rows else 1.0,
        "candidate": np.where(is_first, a, b),
        "baseline": np.where(is_first, b, a),
        "is_identical": same,
        "is_unparsed": battles.is_unparsed[kept],
    }
    return pd.DataFrame(columns)


def score_difference(results: pd.DataFrame) -> DifferenceTest:
    """Test the difference of mean scores, paired by item."""
    levels = np.unique(results[["candidate", "baseline"]].to_numpy())
    is_share = levels[0] >= 0 and levels[-1] <= 1
    size = (
        1.0
        if set(levels) <= {0.0, 1.0}
        else float(levels[1] - levels[0])
        if len(levels) == 2
        else None
    )
    most, weight = 1.0 if is_share else np.inf, results["weight"].to_numpy()
    return paired_difference(results["difference"].to_numpy(), size, most, weight)


def verdict_differences(
    battles: Battles, pair: ComparedPair, results: pd.DataFrame
) -> dict[str, DifferenceTest]:
    """Test the Elo difference over all battles and, if the two met, the win rate in their direct
    battles by item."""
    coded = code_battles(battles, credit=level_credits(battles.table, pair))
    names = (pair.candidate, pair.baseline)
    for name in (name for name in names if name not in coded.models):
        raise NotIdentifiedError(f"{name} has no readable battle")
    differences = {ELO: elo_difference(coded, *map(coded.models.index, names))}
    if len(results):
        by_item = results["difference"].to_numpy()
        is_three_valued = set(np.unique(by_item)) <= {-0.5, 0.0, 0.5}
        size, weight = 0.5 if is_three_valued else None, results["weight"].to_numpy()
        differences[WIN_RATE] = paired_difference(by_item, size, 0.5, weight)
    return differences


def level_credits(table: pd.DataFrame, pair: ComparedPair) -> np.ndarray:
    """Return credits, shape (battles,): identical answers get 1/2 between the two, and their mean
    against others."""
    credit = table["credit"].to_numpy(dtype=float).copy()
    if not pair.identical:
        return credit
    items, names, met = table_items(table), (pair.candidate, pair.baseline), ["item", "third"]
    rows = np.flatnonzero(items.isin(list(pair.identical)).to_numpy() & ~np.isnan(credit))
    first, second = (table[side].astype(object).to_numpy()[rows] for side in ("model_a", "model_b"))
    is_first, is_second = np.isin(first, names), np.isin(second, names)
    credit[rows[is_first & is_second]] = 0.5
    weight = (
        table["weight"].to_numpy(dtype=float)[rows] if "weight" in table else np.ones(len(rows))
    )
    columns = {
        "item": items.to_numpy()[rows],
        "weight": weight,
        "third": np.where(is_first, second, first),
        "model": np.where(is_first, first, second),
        "earned": np.where(is_first, credit[rows], 1 - credit[rows]),
    }
    third = is_first != is_second
    frame = pd.DataFrame(columns)[third]
    # The mean of the two models' weighted means, however often each was judged.
    weighed = frame.assign(earned=frame["earned"] * frame["weight"])
    sums = weighed.groupby([*met, "model"])[["earned", "weight"]].sum()
    means = (sums["earned"] / sums["weight"]).groupby(met).agg(["mean", "size"])
    joined = frame.join(means, on=met)
    earned = np.where(joined["size"] == len(names), joined["mean"], joined["earned"])
    credit[rows[third]] = np.where(is_first[third], earned, 1 - earned)
    return credit
