"""How a judge's verdicts agree with people's, and whether its signal says when."""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from podium.rankers.calibration.evidence import Evidence

BINS = 10
FEWEST = 2


@dataclass(frozen=True, slots=True)
class Bin:
    """A tenth of the decisive battles, by how sure the signal is.

    Attributes:
        battles: in it.
        mean_margin: mean |margin|; None without margins.
        predicted: mean predicted probability that people side with the judge.
        agreement: share of battles in which they did.
    """

    battles: int
    mean_margin: float | None
    predicted: float
    agreement: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """Battle by battle agreement of the judge with people; None where there is nothing to count.

    Attributes:
        battles: with a verdict and a human label.
        kappa: Cohen's, unweighted, three classes (win, tie, loss).
        decisive: battles in which neither the judge nor people call a tie.
        agreement: share of those in which both name the same winner.
        mean_abs_margin: over all judged battles with a margin.
        sign_conflicts: share of decisive verdicts whose margin points the other way.
        auc: probability that |margin| is larger in a battle of agreement than in one of disagreement.
        auc_p: one-sided p-value of no such tendency (Mann-Whitney).
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
    bins: tuple[Bin, ...]


def agreement_of(evidence: Evidence, probability: np.ndarray | None = None) -> Agreement:
    """Compare the judge with people.

    Args:
        probability: predicted probability that people prefer low, NaN where unknown, shape (battles,); None without a
            fitted map.

    Source: Soft-Elo, section 4.1 (kappa, |s|) and appendix G (reliability: human and judge ties excluded).
    """
    judge, people = np.sign(evidence.hard - 0.5), np.sign(evidence.human - 0.5)
    both = ~np.isnan(judge) & ~np.isnan(people)
    decisive = both & (judge != 0) & (people != 0)
    size = np.abs(evidence.margin)
    told = decisive & ~np.isnan(size)
    auc, p = _auc(size[told], (judge == people)[told])
    ece, bins = _reliability(probability, size, decisive, judge == people)
    verdicts = ~np.isnan(size) & ~np.isnan(judge) & (judge != 0)
    return Agreement(
        battles=int(both.sum()),
        kappa=kappa(judge[both], people[both]),
        decisive=int(decisive.sum()),
        agreement=_mean((judge == people)[decisive]),
        mean_abs_margin=_mean(size[~np.isnan(size) & ~np.isnan(judge)]),
        sign_conflicts=_mean((np.sign(evidence.margin) == -judge)[verdicts]),
        auc=auc,
        auc_p=p,
        ece=ece,
        bins=bins,
    )


def kappa(first: np.ndarray, second: np.ndarray) -> float | None:
    """Return Cohen's unweighted kappa of labels in {-1, 0, 1}; None where chance alone explains everything."""
    if not len(first):
        return None
    table = np.zeros((3, 3))
    np.add.at(table, ((first + 1).astype(int), (second + 1).astype(int)), 1 / len(first))
    chance = table.sum(axis=1) @ table.sum(axis=0)
    return float((np.trace(table) - chance) / (1 - chance)) if chance < 1 else None


def _auc(size: np.ndarray, agree: np.ndarray) -> tuple[float | None, float | None]:
    yes, no = size[agree], size[~agree]
    if len(yes) < FEWEST or len(no) < FEWEST:
        return None, None
    test = stats.mannwhitneyu(yes, no, alternative="greater")
    return float(test.statistic / (len(yes) * len(no))), float(test.pvalue)


def _reliability(
    probability: np.ndarray | None, size: np.ndarray, decisive: np.ndarray, agree: np.ndarray
) -> tuple[float | None, tuple[Bin, ...]]:
    """Bin by the probability of the likelier side; equal predictions share a bin, so bins may differ in size."""
    if probability is None:
        return None, ()
    rows = np.flatnonzero(decisive & ~np.isnan(probability))
    if not len(rows):
        return None, ()
    sure, right = np.maximum(probability, 1 - probability)[rows], agree[rows]
    rank = stats.rankdata(sure)
    member = np.minimum((rank - 0.5) * BINS // len(rows), BINS - 1).astype(int)
    bins = tuple(_bin(size[rows[member == k]], sure[member == k], right[member == k]) for k in np.unique(member))
    return float(sum(b.battles * abs(b.agreement - b.predicted) for b in bins) / len(rows)), bins


def _bin(size: np.ndarray, sure: np.ndarray, right: np.ndarray) -> Bin:
    return Bin(len(sure), _mean(size[~np.isnan(size)]), float(sure.mean()), float(right.mean()))


def _mean(values: np.ndarray) -> float | None:
    return float(values.mean()) if len(values) else None
