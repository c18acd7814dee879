"""How a judge's verdicts agree with human ratings, and whether its signal says when."""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from podium.rankers.calibration.evidence import Evidence

BINS = 10
FEWEST = 2


@dataclass(frozen=True, slots=True)
class Tenth:
    """A tenth of the decisive battles, by how sure the signal is.

    Attributes:
        battles: in it.
        mean_margin: mean |margin|; None without margins.
        predicted: mean of sigmoid(beta |margin|), the predicted probability that humans prefer the side of the margin.
        agreement: share of battles in which humans sided with the judge's verdict.
    """

    battles: int
    mean_margin: float | None
    predicted: float
    agreement: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """Battle by battle agreement of the judge with humans; None where there is nothing to count.

    Every battle counts once, whatever its weight.

    Attributes:
        battles: with a verdict and a human label.
        kappa: Cohen's, unweighted, three classes (win, tie, loss), every battle counted from both sides.
        decisive: battles in which neither the judge nor humans call a tie.
        agreement: share of those in which both name the same winner.
        mean_abs_margin: over all judged battles with a margin.
        sign_conflicts: share of decisive verdicts whose margin points the other way.
        auc: probability that |margin| is larger in a battle of agreement than in one of disagreement.
        auc_p: one-sided p-value of no such tendency (Mann-Whitney; battles taken for independent).
        ece: expected calibration error over ten equal-mass bins.
        bins: the reliability table.
    """

    battles: int
    kappa: float | None
    decisive: int
    agreement: float | None
    mean_abs_margin: float | None
    sign_conflicts: float | None
    auc: float | None
    auc_p: float | None
    ece: float | None
    bins: tuple[Tenth, ...]


def agreement_of(evidence: Evidence, probability: np.ndarray | None = None) -> Agreement:
    """Compare the judge with humans.

    Args:
        probability: predicted probability that humans prefer low, NaN where unknown, shape (battles,); None without a
            fitted map.

    Source: Soft-Elo, section 4.1 (kappa, |s|) and appendix G (reliability: human and judge ties excluded).
    """
    judge, human = np.sign(evidence.hard - 0.5), np.sign(evidence.human - 0.5)
    both = ~np.isnan(judge) & ~np.isnan(human)
    decisive = both & (judge != 0) & (human != 0)
    size = np.abs(evidence.margin)
    sized = decisive & ~np.isnan(size)
    auc, p = _auc(size[sized], (judge == human)[sized])
    rows, sure, tenth = tenths_of(probability, decisive)
    bins = table_of_tenths(sure, tenth, size[rows], (judge == human)[rows])
    gaps = sum(part.battles * abs(part.agreement - part.predicted) for part in bins)
    verdicts = ~np.isnan(size) & ~np.isnan(judge) & (judge != 0)
    return Agreement(
        battles=int(both.sum()),
        kappa=kappa(judge[both], human[both]),
        decisive=int(decisive.sum()),
        agreement=_mean((judge == human)[decisive]),
        mean_abs_margin=_mean(size[~np.isnan(size) & ~np.isnan(judge)]),
        sign_conflicts=_mean((np.sign(evidence.margin) == -judge)[verdicts]),
        auc=auc,
        auc_p=p,
        ece=float(gaps / len(rows)) if bins else None,
        bins=bins,
    )


def kappa(first: np.ndarray, second: np.ndarray) -> float | None:
    """Return Cohen's unweighted kappa of labels in {-1, 0, 1}; None where chance alone explains everything.

    Every battle counts from both sides, so that it does not matter which model is called the first: a win of one is
    a loss of the other.
    """
    if not len(first):
        return None
    cell = 3 * (first + 1).astype(int) + (second + 1).astype(int)
    table = np.bincount(cell, minlength=9).reshape(3, 3)
    if table[1, 1] == len(first):
        return None
    share = (table + table[::-1, ::-1]) / (2 * len(first))
    chance = share.sum(axis=1) @ share.sum(axis=0)
    return float((np.trace(share) - chance) / (1 - chance))


def _auc(size: np.ndarray, agree: np.ndarray) -> tuple[float | None, float | None]:
    yes, no = size[agree], size[~agree]
    if len(yes) < FEWEST or len(no) < FEWEST:
        return None, None
    test = stats.mannwhitneyu(yes, no, alternative="greater")
    return float(test.statistic / (len(yes) * len(no))), float(test.pvalue)


def tenths_of(probability: np.ndarray | None, decisive: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sort battles into tenths by the probability of the signal's side; equal predictions share a tenth.

    Args:
        probability: that humans prefer low, NaN where unknown, shape (battles,); None without a fitted map.
        decisive: mask of the battles that count, shape (battles,).

    Returns:
        Positions of the battles with a prediction, the probability of the signal's side in each, and its tenth, from 0.
    """
    known = np.full(len(decisive), np.nan) if probability is None else probability
    rows = np.flatnonzero(decisive & ~np.isnan(known))
    # Rounded, because s(x) and 1 - s(-x) differ in the last digit and would not share a tenth.
    sure = np.maximum(known, 1 - known)[rows].round(12)
    tenth = np.minimum((stats.rankdata(sure) - 0.5) * BINS // max(len(rows), 1), BINS - 1)
    return rows, sure, np.unique(tenth, return_inverse=True)[1]


def table_of_tenths(sure: np.ndarray, tenth: np.ndarray, size: np.ndarray, agree: np.ndarray) -> tuple[Tenth, ...]:
    """Return the reliability table of battles with a prediction.

    Args:
        sure, tenth: of `tenths_of`.
        size: |margin|, NaN where there is none, shape (battles,).
        agree: whether humans sided with the verdict, shape (battles,).
    """
    return tuple(
        Tenth(int(own.sum()), _mean(size[own & ~np.isnan(size)]), float(sure[own].mean()), float(agree[own].mean()))
        for own in (tenth == k for k in np.unique(tenth))
    )


def _mean(values: np.ndarray) -> float | None:
    return float(values.mean()) if len(values) else None
