"""Agreement of a judge's verdicts with human labels, and whether the judge's signal predicts it."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from podium.rankers.calibration.calibration import Agreement, BinSummary
from podium.rankers.calibration.evidence import Evidence

BINS = 10
"""Number of bins of predicted probabilities, of about equally many battles each."""
FEWEST_FOR_AUC = 2
"""The area under the curve is unknown if judge and humans agree in fewer battles than this, or
disagree in fewer."""


class LabelMatch(NamedTuple):
    """Verdicts beside human labels, each array of shape (battles,).

    Attributes:
        judge: verdict: 1 if the judge prefers the first model, -1 if the judge prefers the second,
            0 for a tie, NaN if unknown.
        human: human label, with the same values.
        is_known: mask of battles in which verdict and label are known.
        is_decisive: mask of battles in which both are known and neither is a tie.
        agrees: mask of battles in which verdict and label are equal.
    """

    judge: np.ndarray
    human: np.ndarray
    is_known: np.ndarray
    is_decisive: np.ndarray
    agrees: np.ndarray


def match_labels(verdict: np.ndarray, label: np.ndarray) -> LabelMatch:
    """Compare the judge's credits of the first model with those by humans, battle by battle.

    Credits are in [0, 1] or NaN, shape (battles,) each. A credit above 0.5 is a win, 0.5 a tie, and
    a credit below 0.5 a loss.
    """
    judge = np.sign(verdict - 0.5)
    human = np.sign(label - 0.5)
    return LabelMatch(
        judge=judge,
        human=human,
        is_known=~np.isnan(judge + human),
        # The product is 0 for a tie, and NaN if either is unknown.
        is_decisive=(np.abs(judge * human) == 1),
        agrees=(judge == human),
    )


@dataclass(frozen=True, slots=True)
class Reliability:
    """Decisive battles, sorted into bins by predicted probability.

    Attributes:
        rows: positions of the battles in the columns of all battles, shape (decisive battles,).
        predicted: predicted probability that humans prefer the model that the signal prefers, in
            [0.5, 1], shape (decisive battles,).
        bin_of_battle: number of each battle's bin, from 0, shape (decisive battles,).
        bins: summaries of the bins.
    """

    rows: np.ndarray
    predicted: np.ndarray
    bin_of_battle: np.ndarray
    bins: tuple[BinSummary, ...]


def bin_predictions(
    match: LabelMatch, margin: np.ndarray, probability: np.ndarray | None
) -> Reliability | None:
    """Sort decisive battles into ten bins by the probability of the model that the signal prefers.

    Each bin has about a tenth of the battles. Battles of equal probability share a bin, so that
    there may be fewer than ten bins. The result is None if no decisive battle has a prediction.

    Args:
        match: verdicts beside human labels.
        margin: margins of the battles, NaN if unknown, shape (battles,).
        probability: predicted probability that humans prefer the first, NaN if unknown, shape
            (battles,); None gives None.

    Source: Soft-Elo (Kargi and Salinas 2026), appendix G.
    """
    if probability is None:
        return None
    rows = np.flatnonzero(match.is_decisive & ~np.isnan(probability))
    if not len(rows):
        return None
    # Rounded, because s(x) and 1 - s(-x) differ in the last digit, and battles of equal
    # probability would then be in different bins.
    predicted = np.maximum(probability, 1 - probability)[rows].round(12)
    _, code, size = np.unique(predicted, return_inverse=True, return_counts=True)
    # The battles of one probability get the tenth in which their middle lies, if all battles are
    # sorted by probability.
    battles_below_middle = np.cumsum(size) - size / 2
    tenth = np.minimum(battles_below_middle * BINS // len(rows), BINS - 1)
    # Many equal probabilities leave some tenths empty. These are dropped by numbering the others
    # anew.
    _, bin_of_battle = np.unique(tenth[code], return_inverse=True)
    abs_margin = np.abs(margin[rows])
    agree = match.agrees[rows]
    bins = []
    for k in range(bin_of_battle.max() + 1):
        is_in_bin = bin_of_battle == k
        margins_in_bin = abs_margin[is_in_bin & ~np.isnan(abs_margin)]
        bins.append(
            BinSummary(
                battles=int(is_in_bin.sum()),
                mean_margin=_mean_or_none(margins_in_bin),
                predicted=float(predicted[is_in_bin].mean()),
                agreement=float(agree[is_in_bin].mean()),
            )
        )
    return Reliability(rows, predicted, bin_of_battle, tuple(bins))


def measure_agreement(evidence: Evidence, probability: np.ndarray | None = None) -> Agreement:
    """Measure how verdicts agree with human labels, and how reliable predictions are.

    Each battle counts once, whatever its weight is.

    Args:
        evidence: battles with verdicts and human labels.
        probability: predicted probability that humans prefer the first, NaN if unknown, shape
            (battles,). Without it, there are no bins and no `ece`.
    """
    match = match_labels(evidence.hard, evidence.human)
    abs_margin = np.abs(evidence.margin)
    has_margin = ~np.isnan(abs_margin)
    is_known = match.is_known
    is_decisive = match.is_decisive
    is_judged = ~np.isnan(match.judge) & has_margin
    has_winner = is_judged & (match.judge != 0)
    is_compared = is_decisive & has_margin
    auc, p = _area_under_curve(abs_margin[is_compared], match.agrees[is_compared])
    has_other_sign = np.sign(evidence.margin) == -match.judge
    reliability = bin_predictions(match, evidence.margin, probability)
    bins = reliability.bins if reliability else ()
    weighted_error = sum(
        each_bin.battles * abs(each_bin.agreement - each_bin.predicted) for each_bin in bins
    )
    return Agreement(
        battles=int(is_known.sum()),
        kappa=kappa(match.judge[is_known], match.human[is_known]),
        decisive=int(is_decisive.sum()),
        agreement=_mean_or_none(match.agrees[is_decisive]),
        mean_abs_margin=_mean_or_none(abs_margin[is_judged]),
        sign_conflicts=_mean_or_none(has_other_sign[has_winner]),
        auc=auc,
        auc_p=p,
        ece=float(weighted_error / len(reliability.rows)) if reliability else None,
        bins=bins,
    )


def _area_under_curve(
    abs_margin: np.ndarray, agree: np.ndarray
) -> tuple[float | None, float | None]:
    """Return how well |margin| predicts agreement: the area under the curve and its p-value.

    The area is the probability that |margin| is larger in a battle of agreement than in one of
    disagreement. The p-value is one-sided, by the test of Mann and Whitney. Area and p-value are
    None if there are fewer than two battles of agreement, or fewer than two of disagreement.

    Args:
        abs_margin: |margin| of each battle, shape (n,).
        agree: whether judge and humans agree, shape (n,).
    """
    agreements = agree.sum()
    disagreements = (~agree).sum()
    if min(agreements, disagreements) < FEWEST_FOR_AUC:
        return None, None
    from scipy import stats

    test = stats.mannwhitneyu(abs_margin[agree], abs_margin[~agree], alternative="greater")
    return float(test.statistic / (agreements * disagreements)), float(test.pvalue)


def kappa(judge: np.ndarray, human: np.ndarray) -> float | None:
    """Return Cohen's unweighted kappa (1960) of labels in {-1, 0, 1}, where 0 is a tie.

    The labels by judge and human have shape (battles,) each, without NaN. Each battle is counted
    twice, once with either model as the first, so that the result does not depend on which model is
    the first. The result is None if there are no battles, or if all labels of both are ties.
    """
    if not len(judge):
        return None
    # A 3 x 3 table of verdicts (rows) and labels (columns). With the other model as the first,
    # both have the opposite sign, which reverses rows and columns.
    row = (judge + 1).astype(int)
    column = (human + 1).astype(int)
    cell = 3 * row + column
    table = np.bincount(cell, minlength=9).reshape(3, 3)
    if table[1, 1] == len(judge):
        return None
    with_other_first = table[::-1, ::-1]
    share = (table + with_other_first) / (2 * len(judge))
    chance = share.sum(axis=1) @ share.sum(axis=0)
    return float((np.trace(share) - chance) / (1 - chance))


def kappa_influence(judge: np.ndarray, human: np.ndarray, value: float) -> np.ndarray:
    """Return what each battle contributes to the error of `kappa`, which counts battles twice.

    The influences add up to 0, and the sum of their squares is the variance of independent
    battles.

    Args:
        judge: labels by the judge in {-1, 0, 1}, shape (battles,).
        human: labels by humans in {-1, 0, 1}, shape (battles,).
        value: the kappa of these labels.

    Returns:
        Influences, shape (battles,).
    """
    labels = np.array([-1, 0, 1])
    has_judge_label = judge[:, None] == labels
    has_human_label = human[:, None] == labels
    judge_share = _share_of_labels(has_judge_label)
    human_share = _share_of_labels(has_human_label)
    chance = float(judge_share @ human_share)
    agree = judge == human
    # kappa = (agreement - chance) / (1 - chance), linearized in the agreement and in the shares of
    # the judge's and of humans' labels, from which chance follows.
    by_judge = has_judge_label @ human_share - chance
    by_human = has_human_label @ judge_share - chance
    by_chance = by_judge + by_human
    by_agreement = agree - agree.mean()
    return (by_agreement - (1 - value) * by_chance) / (1 - chance) / len(judge)


def _share_of_labels(is_label: np.ndarray) -> np.ndarray:
    """Return the shares of the labels -1, 0 and 1 with either model as the first, shape (3,).

    `is_label` has one column per label: the mask of battles with it, shape (battles, 3).
    """
    mean = is_label.mean(axis=0)
    # With the other model as the first, the labels have the opposite sign.
    mean_with_other_first = mean[::-1]
    return (mean + mean_with_other_first) / 2


def _mean_or_none(values: np.ndarray) -> float | None:
    """Return the mean of values; None if there are no values."""
    return float(values.mean()) if len(values) else None
