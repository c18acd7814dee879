"""Does the judge side with people, and does its margin say how surely?"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri, stdtrit
from scipy.stats import rankdata

from podium.battles import Battles
from podium.diagnosis.answer import Figure, Grid, Missing, Row, Unit, as_dict
from podium.diagnosis.estimates import Clusters, linear, or_missing, share
from podium.diagnosis.wording import brief
from podium.errors import NotConvergedError, NotIdentifiedError
from podium.rankers.calibration.agreement import BINS, kappa
from podium.rankers.calibration.evidence import Evidence, evidence_of
from podium.rankers.calibration.signals import signal_of, usual_kind
from podium.rankers.calibration.targets import fit_target, weights_for
from podium.rankers.intervals import resample

RESAMPLES = 1000
LABELS = "give a column human (what model_a earned from people), or name a human judge with --human-judge"
MARGINS = "give a column margin (judge score of a minus that of b), or soft credits"


@dataclass(frozen=True, slots=True)
class Bin:
    """A part of the decisive battles, by how sure the signal is.

    Attributes:
        mean_margin: mean |margin|; None without margins.
        predicted: mean predicted probability that people take the side of the signal.
        agreement: share of battles in which people sided with the judge's verdict.
    """

    mean_margin: float | None
    predicted: float
    agreement: Figure


@dataclass(frozen=True, slots=True)
class People:
    """Agreement with human labels, battle by battle; every battle counts once.

    Attributes:
        accuracy: share of labelled battles in which judge and people say the same of win, tie, loss.
        kappa: Cohen's, unweighted, of the same.
        agreement: share of battles without a tie on either side in which both name the same winner.
        margin_tells: probability that |margin| is larger where people agree than where they do not (AUC); 0.5 where
            the margin says nothing.
        temperature: beta of P(people prefer a) = sigmoid(beta * margin).
        calibration_error: expected calibration error (ECE) over ten bins of equal mass; above 0 by chance alone, so
            only an interval above 0 accuses the judge.
        bins: the reliability table, by |margin|.
    """

    accuracy: Figure | Missing
    kappa: Figure | Missing
    agreement: Figure | Missing
    margin_tells: Figure | Missing
    temperature: Figure | Missing
    calibration_error: Figure | Missing
    bins: tuple[Bin, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the section for JSON."""
        return as_dict(self)

    def rows(self) -> tuple[Row, ...]:
        """Return the lines of the section."""
        return (
            Row("same of win, tie, loss", self.accuracy),
            Row("  beyond chance (kappa)", self.kappa),
            Row("same winner, ties aside", self.agreement),
            Row("larger |margin| where people agree (AUC)", self.margin_tells),
            Row("temperature beta", self.temperature),
            Row("expected calibration error (ECE)", self.calibration_error),
        )

    def grids(self) -> tuple[Grid, ...]:
        """Return the reliability table."""
        if not self.bins:
            return ()
        header = ("|margin|, mean", "predicted", "people agree", "battles")
        rows = tuple(
            (
                "–" if one.mean_margin is None else f"{one.mean_margin:.2f}",
                f"{one.predicted:.1%}",
                brief(one.agreement),
                f"{one.agreement.n:,}",
            )
            for one in self.bins
        )
        return (Grid("reliability, by |margin|", header, rows),)


def people(battles: Battles, *, level: float, rng: np.random.Generator) -> People | Missing:
    """Compare one judge with people.

    Args:
        battles: of one judge, the two orders merged, with a column `human`.
        level: of intervals, in (0, 1).
        rng: draws the bootstrap of the calibration error.

    Source: Soft-Elo, section 4.1 and appendix G.
    """
    table = battles.table
    if "human" not in table or not (table["human"].notna() & battles.readable).any():
        return Missing("agreement with people", "no readable battle has a human label", LABELS)
    kind = usual_kind(battles)
    try:
        evidence = evidence_of(battles, signal_of(battles, kind))
    except NotIdentifiedError:
        kind, evidence = "smoothing", evidence_of(battles, signal_of(battles, "smoothing"))
    judge, human = np.sign(evidence.hard - 0.5), np.sign(evidence.human - 0.5)
    both = ~np.isnan(judge) & ~np.isnan(human)
    clusters = Clusters(evidence.cluster, evidence.unit)
    decisive, agree = both & (judge != 0) & (human != 0), judge == human
    temperature, probability = _temperature(evidence, level)
    told = decisive & ~np.isnan(evidence.margin)
    error, bins = _reliability(evidence, probability, decisive, agree, level, rng)
    return People(
        accuracy=or_missing(share(agree[both], clusters.take(both), level), "labelled battles"),
        kappa=_kappa(judge[both], human[both], clusters.take(both), level),
        agreement=or_missing(share(agree[decisive], clusters.take(decisive), level), "battles without a tie"),
        margin_tells=_auc(np.abs(evidence.margin[told]), agree[told], clusters.take(told), level),
        temperature=temperature,
        calibration_error=error,
        bins=bins,
    )


def _kappa(judge: np.ndarray, human: np.ndarray, clusters: Clusters, level: float) -> Figure | Missing:
    """Return Cohen's kappa with the interval of its influence function."""
    value = kappa(judge, human)
    if value is None:
        return Missing("kappa", "judge and people say one thing throughout", "label battles that differ")
    classes = np.array([-1, 0, 1])
    ours, theirs = judge[:, None] == classes, human[:, None] == classes
    p, q = ours.mean(axis=0), theirs.mean(axis=0)
    chance = float(p @ q)
    by_chance = (ours @ q - chance) + (theirs @ p - chance)
    agree = judge == human
    influence = ((agree - agree.mean()) - (1 - value) * by_chance) / (1 - chance) / len(judge)
    return linear(value, influence, clusters, level, len(judge), within=(-1, 1))


def _auc(size: np.ndarray, agree: np.ndarray, clusters: Clusters, level: float) -> Figure | Missing:
    """Return the probability that a size is larger in agreement, ties half, with DeLong's influence function.

    Source: DeLong, DeLong and Clarke-Pearson 1988, summed by cluster as in Obuchowski 1997.
    """
    what = "margin where people agree"
    if not len(size):
        return Missing(what, "no labelled battle without a tie has a margin", MARGINS)
    yes, no = int(agree.sum()), int((~agree).sum())
    if not yes or not no:
        return Missing(what, "people always agree" if yes else "people never agree", "label more battles")
    rank = rankdata(size)
    below = np.empty(len(size))
    below[agree] = (rank[agree] - rankdata(size[agree])) / no
    below[~agree] = 1 - (rank[~agree] - rankdata(size[~agree])) / yes
    value = float(below[agree].mean())
    influence = np.where(agree, (below - value) / yes, (below - value) / no)
    return linear(value, influence, clusters, level, len(size), within=(0, 1))


def _temperature(evidence: Evidence, level: float) -> tuple[Figure | Missing, np.ndarray | None]:
    """Return beta, and the predicted probability that people prefer low (NaN where unknown)."""
    what, kind = "temperature", evidence.signal.kind
    if kind == "smoothing":
        return Missing(what, "the verdicts carry no margin", MARGINS), None
    if kind == "credit":
        why = "the credits are probabilities, taken as they are"
        return Missing(what, why, "give a column margin"), evidence.soft(np.ones(1))
    try:
        found = fit_target(evidence, level)
    except (NotIdentifiedError, NotConvergedError) as error:
        return Missing(what, str(error), "label more battles"), None
    method = f"{evidence.unit}-clustered sandwich, t"
    if found.low is None:
        method = f"a single {evidence.unit}: no interval"
    items = len(np.unique(evidence.cluster[evidence.preference]))
    figure = Figure(found.beta, found.low, found.high, level, method, found.battles, "preferences", items, Unit.LOGITS)
    return figure, evidence.soft(weights_for(found, evidence.signal))


def _reliability(
    evidence: Evidence,
    probability: np.ndarray | None,
    decisive: np.ndarray,
    agree: np.ndarray,
    level: float,
    rng: np.random.Generator,
) -> tuple[Figure | Missing, tuple[Bin, ...]]:
    """Bin by the probability of the signal's side; equal predictions share a bin."""
    what = "calibration error"
    rows = np.flatnonzero(decisive & ~np.isnan(probability)) if probability is not None else np.zeros(0, dtype=int)
    if probability is None or not len(rows):
        return Missing(what, "no labelled battle without a tie has a predicted probability", MARGINS), ()
    sure, right = np.maximum(probability, 1 - probability)[rows].round(12), agree[rows].astype(np.float64)
    _, member = np.unique(_tenth(sure), return_inverse=True)
    clusters = Clusters(evidence.cluster[rows], evidence.unit)
    size = np.abs(evidence.margin[rows])
    bins = tuple(
        _bin(size[member == k], sure[member == k], right[member == k], clusters.take(member == k), level)
        for k in range(int(member.max()) + 1)
    )
    gaps = np.zeros((len(sure), len(bins)))
    gaps[np.arange(len(sure)), member] = right - sure
    return _calibration_error(gaps, clusters, level, rng), bins


def _tenth(sure: np.ndarray) -> np.ndarray:
    return np.minimum((rankdata(sure) - 0.5) * BINS // len(sure), BINS - 1)


def _bin(size: np.ndarray, sure: np.ndarray, right: np.ndarray, clusters: Clusters, level: float) -> Bin:
    agreement = share(right, clusters, level)
    if agreement is None:
        raise ValueError("an empty bin")
    known = size[~np.isnan(size)]
    return Bin(float(known.mean()) if len(known) else None, float(sure.mean()), agreement)


def _calibration_error(gaps: np.ndarray, clusters: Clusters, level: float, rng: np.random.Generator) -> Figure:
    """Return sum over bins of share * |agreement - prediction|, with a conservative bootstrap over items.

    The errors of the bins, resampled, add up in absolute value to at most r with the level's probability; by the
    triangle inequality the sum is then off by at most r. Percentiles of the resampled sum itself would lie too high:
    chance adds to it once in the data, and once more in each resample.

    Args:
        gaps: agreement minus prediction of each battle in the column of its bin, shape (battles, bins).
    """
    sums, battles = clusters.sums(gaps), clusters.sums(np.ones(len(gaps)))
    number, gap = len(sums), gaps.mean(axis=0)
    value = float(np.abs(gap).sum())
    if number < 2:
        return Figure(value, None, None, level, f"a single {clusters.unit}: no interval", len(gaps), clusters=1)
    draws = resample(lambda counts: counts @ sums / (counts @ battles)[:, None] - gap, number, RESAMPLES, rng)
    small = np.sqrt(number / (number - 1)) * stdtrit(number - 1, (1 + level) / 2) / ndtri((1 + level) / 2)
    reach = float(small * np.quantile(np.abs(draws).sum(axis=1), level))
    method = f"{clusters.unit} bootstrap of the bins' errors, conservative, {RESAMPLES} resamples"
    return Figure(value, max(0.0, value - reach), value + reach, level, method, len(gaps), "battles", number)
