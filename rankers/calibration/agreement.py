"""Agreement of a judge's verdicts with human labels, and whether the judge's signal predicts it."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import stats

from podium.rankers.calibration.calibration import Agreement, BinSummary
from podium.rankers.calibration.evidence import Evidence

BINS = 10
FEWEST = 2
"""Battles of agreement, and of disagreement, that an area under the curve needs in the summary."""


class LabelMatch(NamedTuple):
    """Signs of verdicts and human labels (1, 0 = tie, -1, NaN), and masks: both known, neither a
    tie, equal."""

    judge: np.ndarray
    human: np.ndarray
    both: np.ndarray
    decisive: np.ndarray
    agree: np.ndarray


def match_labels(verdict: np.ndarray, label: np.ndarray) -> LabelMatch:
    """Return the signs of credits by judge and by humans, and masks: both known, neither a tie,
    equal."""
    judge, human = np.sign(verdict - 0.5), np.sign(label - 0.5)
    return LabelMatch(
        judge, human, ~np.isnan(judge + human), np.abs(judge * human) == 1, judge == human
    )


@dataclass(frozen=True, slots=True)
class Reliability:
    """Positions (`rows`), predicted probability and bin number of decisive battles, same shape, and
    the bins."""

    rows: np.ndarray
    predicted: np.ndarray
    bin: np.ndarray
    bins: tuple[BinSummary, ...]


def bin_predictions(
    match: LabelMatch, margin: np.ndarray, probability: np.ndarray | None
) -> Reliability | None:
    """Sort decisive battles into tenths by the probability of the signal's side (equal ones share a
    bin; `probability` is that humans prefer first); None without predictions. Source: Soft-Elo,
    appendix G."""
    if probability is None:
        return None
    rows = np.flatnonzero(match.decisive & ~np.isnan(probability))
    if not len(rows):
        return None
    # Rounded, because s(x) and 1 - s(-x) differ in the last digit and would not share a tenth.
    sure = np.maximum(probability, 1 - probability)[rows].round(12)
    tenth = np.minimum((stats.rankdata(sure) - 0.5) * BINS // len(rows), BINS - 1)
    number = np.unique(tenth, return_inverse=True)[1]
    size, agree = np.abs(margin[rows]), match.agree[rows]
    bins = []
    for mask in (number == k for k in range(number.max() + 1)):
        margins = size[mask & ~np.isnan(size)]
        bins.append(
            BinSummary(
                int(mask.sum()),
                _mean_or_none(margins),
                float(sure[mask].mean()),
                float(agree[mask].mean()),
            )
        )
    return Reliability(rows, sure, number, tuple(bins))


def measure_agreement(evidence: Evidence, probability: np.ndarray | None = None) -> Agreement:
    """Return the agreement of verdicts with human labels, and the reliability of the predicted
    probability."""
    match, size = match_labels(evidence.hard, evidence.human), np.abs(evidence.margin)
    both, decisive, judged = match.both, match.decisive, ~np.isnan(match.judge) & ~np.isnan(size)
    sized, verdicts = decisive & ~np.isnan(size), judged & (match.judge != 0)
    auc = p = None
    agree = match.agree[sized]
    if min(agree.sum(), (~agree).sum()) >= FEWEST:
        test = stats.mannwhitneyu(size[sized][agree], size[sized][~agree], alternative="greater")
        auc, p = float(test.statistic / (agree.sum() * (~agree).sum())), float(test.pvalue)
    reliability = bin_predictions(match, evidence.margin, probability)
    bins = reliability.bins if reliability else ()
    gaps = sum(each.battles * abs(each.agreement - each.predicted) for each in bins)
    return Agreement(
        battles=int(both.sum()),
        kappa=kappa(match.judge[both], match.human[both]),
        decisive=int(decisive.sum()),
        agreement=_mean_or_none(match.agree[decisive]),
        mean_abs_margin=_mean_or_none(size[judged]),
        sign_conflicts=_mean_or_none((np.sign(evidence.margin) == -match.judge)[verdicts]),
        auc=auc,
        auc_p=p,
        ece=float(gaps / len(reliability.rows)) if reliability else None,
        bins=bins,
    )


def kappa(judge: np.ndarray, human: np.ndarray) -> float | None:
    """Return Cohen's unweighted kappa of labels in {-1, 0, 1}, counted from both sides; None if
    chance explains all."""
    if not len(judge):
        return None
    cell = 3 * (judge + 1).astype(int) + (human + 1).astype(int)
    table = np.bincount(cell, minlength=9).reshape(3, 3)
    if table[1, 1] == len(judge):
        return None
    share = (table + table[::-1, ::-1]) / (2 * len(judge))
    chance = share.sum(axis=1) @ share.sum(axis=0)
    return float((np.trace(share) - chance) / (1 - chance))


def kappa_influence(judge: np.ndarray, human: np.ndarray, value: float) -> np.ndarray:
    """Return what each battle, both sides together, adds to the error of `kappa`, shape
    (battles,)."""
    ours, theirs = (labels[:, None] == np.array([-1, 0, 1]) for labels in (judge, human))
    p, q = ((side.mean(axis=0) + side.mean(axis=0)[::-1]) / 2 for side in (ours, theirs))
    chance, agree = float(p @ q), judge == human
    by_chance = (ours @ q - chance) + (theirs @ p - chance)
    return ((agree - agree.mean()) - (1 - value) * by_chance) / (1 - chance) / len(judge)


def _mean_or_none(values: np.ndarray) -> float | None:
    return float(values.mean()) if len(values) else None
