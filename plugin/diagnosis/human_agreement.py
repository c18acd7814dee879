"""Agreement of a judge with human labels, and whether its margins predict it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import numpy as np

from podium.data.battles import Battles
from podium.diagnosis.clustered import Clustered, cluster_battles
from podium.diagnosis.figures import CardAnswer, Figured, Missing, Statistic, Unit, attempt
from podium.diagnosis.subject import Subject
from podium.distinct_values import distinct_values
from podium.errors import NotIdentifiedError
from podium.numbers import cell_text
from podium.rankers.calibration.agreement import (
    Reliability,
    bin_predictions,
    kappa,
    kappa_influence,
    match_labels,
)
from podium.rankers.calibration.evidence import Evidence, build_evidence
from podium.rankers.calibration.signals import default_kind, read_signal
from podium.rankers.calibration.targets import fit_target, soften_verdicts
from podium.rankers.errors.intervals import resample, small_sample_factor
from podium.rankers.fit.coded import hard_credits
from podium.scorers.prompt import CHARACTERS_PER_TOKEN
from podium.tables import Report, Table
from podium.text import as_text

if TYPE_CHECKING:
    import pandas as pd


HARD_VERDICTS: Final = "smoothing"
"""Kind of the signal that consists of hard verdicts (`podium.rankers.calibration.signals`)."""
RESAMPLES = 1000
"""Number of bootstrap resamples for the interval of the calibration error."""
LABELS_REMEDY = (
    "give a column human (what model_a earned from humans), or name a human judge with "
    "--human-judge"
)
"""Remedy without human labels."""
MARGINS_REMEDY = "give a column margin (judge score of a minus that of b), or soft credits"
"""Remedy if no prediction can be made from the verdicts."""
FIRST_BAND = 1_000
"""Longest response in the first band of lengths, in tokens.

The next bands end at 2, 4, 8 ... times this length.
"""


class ReliabilityBin(NamedTuple):
    """One bin of the reliability table: how often humans prefer the same model as the judge.

    Attributes:
        mean_margin: mean |margin| of the battles; None if there are no margins.
        predicted: mean predicted probability that humans prefer the same model as the judge.
        agreement: measured share of battles in which humans prefer the same model.
    """

    mean_margin: float | None
    predicted: float
    agreement: Figured


@dataclass(frozen=True, slots=True)
class HumanAgreement(CardAnswer):
    """Agreement with human labels, per battle.

    Attributes:
        accuracy: share of battles with the same outcome (win, tie or loss) by judge and humans.
        kappa: Cohen's kappa of the outcomes.
        agreement: share of battles with the same winner, among battles without a tie.
        temperature: beta of P(humans prefer a) = sigmoid(beta * margin).
        calibration_error: expected calibration error, the mean |measured - predicted share| over
            bins, weighted by their numbers of battles.
        bins: the reliability table.
    """

    accuracy: Annotated[Figured, "same of win, tie, loss"]
    kappa: Annotated[Figured, "  beyond chance (kappa)"]
    agreement: Annotated[Figured, "same winner, ties aside"]
    temperature: Annotated[Figured, "temperature beta"]
    calibration_error: Annotated[Figured, "expected calibration error (ECE)"]
    bins: tuple[ReliabilityBin, ...]

    def tables(self) -> tuple[Table, ...]:
        """Return the reliability table, without bins whose agreement is missing.

        There is no table without bins.
        """
        rows = tuple(
            (
                cell_text(part.mean_margin, ".2f"),
                f"{part.predicted:.1%}",
                part.agreement.brief,
                f"{part.agreement.n:,}",
            )
            for part in self.bins
            if isinstance(part.agreement, Statistic)
        )
        header = ("|margin|, mean", "predicted", "humans agree", "battles")
        return (
            (Table(title="reliability, by |margin|", header=header, rows=rows),)
            if self.bins
            else ()
        )


def measure_human_agreement(subject: Subject) -> HumanAgreement | Missing:
    """Measure the agreement of a judge with human labels.

    Only battles with a human label count. Predictions are made from the margins. If there are no
    margins, they are made from the credits, provided that enough credits are probabilities. If no
    predictions can be made, `temperature` and `calibration_error` are `Missing`. Source: Soft-Elo,
    section 4.1 and appendix G.

    Returns:
        The agreement; `Missing` if no readable battle has a human label.
    """
    battles = subject.battles
    level = subject.level
    if not (~np.isnan(subject.human_credit) & battles.readable).any():
        return Missing("no readable battle has a human label", LABELS_REMEDY)
    try:
        evidence = build_evidence(battles, read_signal(battles, default_kind(battles)))
    except NotIdentifiedError:
        # Without usable margins or probabilities, the hard verdicts are left.
        evidence = build_evidence(battles, read_signal(battles, HARD_VERDICTS))
    match = match_labels(evidence.hard, evidence.human)
    sample = Clustered(evidence.cluster, evidence.unit, level)
    is_known = match.is_known
    temperature, probability = _estimate_temperature(evidence, level)
    reliability = bin_predictions(match, evidence.margin, probability)
    calibration_error, bins = _estimate_calibration_error(
        reliability, match.agrees, sample, subject.rng
    )
    return HumanAgreement(
        accuracy=sample.share(match.agrees, what="labelled battles", among=is_known),
        kappa=clustered_kappa(match.judge[is_known], match.human[is_known], sample.take(is_known)),
        agreement=sample.share(match.agrees, what="battles without a tie", among=match.is_decisive),
        temperature=temperature,
        calibration_error=calibration_error,
        bins=bins,
    )


def agreement_lead(first: Subject, second: Subject) -> Statistic:
    """Return the agreement of humans with the first judge minus the agreement with the second.

    The agreement with a judge is the share of its battles in which judge and humans prefer the
    same model, among the labelled battles in which neither calls a tie. The two judges may have
    judged different battles. The interval is clustered by item: an item that both judged is one
    cluster, and a battle without an item is a cluster of its own.

    Args:
        first: the first judge. Each judge must have a labelled battle without a tie.
        second: the second judge.

    Returns:
        The difference in [-1, 1]. Its sample size is the number of battles of both judges.
    """
    first_share, first_influence, first_battles = _agreement_by_item(first)
    second_share, second_influence, second_battles = _agreement_by_item(second)
    # Subtraction aligns the influences by item; an item of one judge has no influence on the other.
    influence = first_influence.sub(second_influence, fill_value=0).to_numpy()
    sample = Clustered(np.arange(len(influence)), unit="item", level=first.level)
    battles = first_battles + second_battles
    return sample.linear(first_share - second_share, influence, n=battles, unit=Unit.SHARE)


def _agreement_by_item(subject: Subject) -> "tuple[float, pd.Series, int]":
    """Measure how often humans and a judge prefer the same model.

    Only labelled battles in which neither calls a tie count.

    Returns:
        Three values: the share of these battles with the same winner; the influence of each item on
        the share, with the item as index (a battle without an item has a name of its own); and the
        number of these battles.
    """
    import pandas as pd

    table = subject.battles.table
    match = match_labels(hard_credits(subject.battles), subject.human_credit)
    agree = match.agrees[match.is_decisive]
    names = [f"{subject.judge} {row}" for row in range(len(table))]
    name_of_row = pd.Series(names, index=table.index)
    item = table["item"].astype(object) if "item" in table else name_of_row
    item = item.fillna(name_of_row)
    influence_of_battle = pd.Series((agree - agree.mean()) / len(agree))
    influence = influence_of_battle.groupby(item[match.is_decisive].to_numpy()).sum()
    return float(agree.mean()), influence, len(agree)


def clustered_kappa(judge: np.ndarray, human: np.ndarray, sample: Clustered) -> Figured:
    """Return Cohen's kappa with a clustered interval; `Missing` if both call every battle a tie.

    Args:
        judge: verdicts in {-1, 0, 1}, shape (battles,).
        human: human labels in {-1, 0, 1}, shape (battles,).
        sample: the battles as a sample.
    """
    value = kappa(judge, human)
    if value is None:
        return Missing("judge and humans call every battle a tie", "label battles that differ")
    return sample.linear(value, kappa_influence(judge, human, value), n=len(judge), within=(-1, 1))


def _estimate_temperature(evidence: Evidence, level: float) -> tuple[Figured, np.ndarray | None]:
    """Return the temperature beta, and the predictions made with it.

    A prediction is the probability that humans prefer the first model of a battle. If the signal is
    the credit, the credits are the predictions, and there is no beta.

    Returns:
        Two values. First beta: `Missing` if the signal is the hard verdict or the credit, or if
        beta cannot be fitted. Second the predictions, shape (battles,): None if the signal is the
        hard verdict, or if beta cannot be fitted.
    """
    if evidence.signal.kind == HARD_VERDICTS:
        return Missing("the verdicts have no margin", MARGINS_REMEDY), None
    if evidence.signal.kind == "credit":
        why = "the credits are probabilities, taken as they are"
        unchanged = np.ones(1)  # a single weight of 1
        return Missing(why, "give a column margin"), evidence.signal.predict(unchanged)
    target = attempt(lambda: fit_target(evidence, level), "label more battles")
    if isinstance(target, Missing):
        return target, None
    unit = evidence.unit
    method = f"{unit}-clustered sandwich, t"
    if target.low is None:
        method = f"a single {unit}: no interval"
    beta = Statistic(
        target.beta,
        target.low,
        target.high,
        level=level,
        method=method,
        n=target.battles,
        of="preferences",
        clusters=len(distinct_values(evidence.cluster[evidence.has_preference])),
        cluster=unit,
        unit=Unit.LOGITS,
    )
    return beta, soften_verdicts(target, evidence.signal)


def _estimate_calibration_error(
    reliability: Reliability | None, agree: np.ndarray, sample: Clustered, rng: np.random.Generator
) -> tuple[Figured, tuple[ReliabilityBin, ...]]:
    """Return the expected calibration error and its reliability table.

    Args:
        reliability: the bins of predictions; None if there are no predictions.
        agree: whether judge and humans have the same outcome, shape (battles,). Only the rows of
            `reliability` count, on which neither calls a tie.
        sample: the battles as a sample.
        rng: random generator.

    Returns:
        The error, and one record per bin; `Missing` and no records if there are no predictions.
    """
    if reliability is None:
        why = "no labelled battle without a tie has a predicted probability"
        return Missing(why, MARGINS_REMEDY), ()
    sample = sample.take(reliability.rows)
    agrees = agree[reliability.rows].astype(np.float64)
    bins = []
    for k, summary in enumerate(reliability.bins):
        share = sample.share(agrees, among=(reliability.bin_of_battle == k))
        bins.append(ReliabilityBin(summary.mean_margin, summary.predicted, share))
    is_in_bin = reliability.bin_of_battle[:, None] == np.arange(len(bins))
    gaps = (agrees - reliability.predicted)[:, None] * is_in_bin
    error = _mean_absolute_gap(gaps, sample, rng)
    return error, tuple(bins)


def _mean_absolute_gap(gaps: np.ndarray, sample: Clustered, rng: np.random.Generator) -> Statistic:
    """Return the sum over bins of |mean gap|, with a conservative bootstrap interval.

    The mean gap of a bin is over all battles, so that the sum weights bins by their number of
    battles. With a single cluster, there is no interval.

    Args:
        gaps: measured - predicted in the bin of a battle, 0 in all other bins, shape
            (battles, bins).
        sample: the battles as a sample.
        rng: random generator.
    """
    mean_gap = gaps.mean(axis=0)
    value = float(np.abs(mean_gap).sum())
    sums = sample.sums(gaps)
    battle_counts = sample.sums(np.ones(len(gaps)))
    clusters = len(sums)
    if clusters < 2:
        # A sample with a single cluster makes no interval, so that the influence does not matter.
        return sample.linear(value, influence=np.zeros(len(gaps)), n=len(gaps))

    def errors_of_draws(counts: np.ndarray) -> np.ndarray:
        """Return the mean gaps in resamples minus those in the sample, shape (draws, bins)."""
        battles_of_draws = counts @ battle_counts
        return counts @ sums / battles_of_draws[:, None] - mean_gap

    # Percentiles of the resampled value would lie too high, because resampling adds noise. Instead,
    # the half-width is a quantile of the summed distance between resample and sample.
    draws = resample(errors_of_draws, clusters, RESAMPLES, rng)
    distance = np.quantile(np.abs(draws).sum(axis=1), sample.level)
    half_width = float(small_sample_factor(clusters, sample.level) * distance)
    return Statistic(
        value,
        max(0.0, value - half_width),
        value + half_width,
        level=sample.level,
        method=f"{sample.unit} bootstrap of the bins' errors, conservative, {RESAMPLES} resamples",
        n=len(gaps),
        clusters=clusters,
        cluster=sample.unit,
    )


def preference_report(battles: Battles, level: float = 0.95) -> Report:
    """Build a table of a judge's accuracy on battles whose better response is known.

    There is a row for all battles, one per category, and one per band of the length of the longer
    response in tokens. Battles that are unparsed or have no known preference are left out, and so
    is a row without battles. A tie, or a different winner in each order, counts as wrong, unless
    the known preference is 0.5.

    Args:
        battles: the battles, with the known preference in the column `human`; 1, 0.5 or 0 for
            `model_a`.
        level: confidence level of intervals, in (0, 1).

    Returns:
        A report with one table: a name, the accuracy, its interval and the number of battles in
        each row. Categories are sorted by name, bands by length.
    """
    credit = hard_credits(battles)
    human = battles.numbers_of("human")
    has_both = ~np.isnan(credit) & ~np.isnan(human)
    right = (credit == human).astype(np.float64)
    sample = cluster_battles(battles, level)
    slices = [("all", has_both), *_slice_categories(battles), *_slice_lengths(battles)]
    rows = []
    for name, is_in_slice in slices:
        share = sample.share(right, among=has_both & is_in_slice)
        if isinstance(share, Statistic):
            rows.append((name, share.estimate, share.interval, f"{share.n:,}"))
    title = f"accuracy by known preferences · {level:.0%} intervals by item"
    header = ("battles", "accuracy", "interval", "number")
    legend = (
        "A tie, or a different winner in each order, counts as wrong. "
        "Lengths are of the longer response."
    )
    return Report(
        title,
        table=Table(title="", header=header, rows=tuple(rows), align="lrrr", legend=(legend,)),
    )


def _slice_categories(battles: Battles) -> list[tuple[str, np.ndarray]]:
    """Return name and mask, shape (battles,), of each category, sorted by name.

    The list is empty without a column `category`.
    """
    if "category" not in battles.table:
        return []
    categories = as_text(battles.table["category"]).to_numpy(object)
    names = {name for name in categories if isinstance(name, str)}
    return [(name, categories == name) for name in sorted(names)]


def _slice_lengths(battles: Battles) -> list[tuple[str, np.ndarray]]:
    """Return name and mask, shape (battles,), of each band of the longer response's length.

    Lengths are those of transcripts if there is a column of them, else of answers; a battle without
    lengths is in no band. Bands without battles are left out. Bands are in the order of their
    lengths.
    """
    prefix = "transcript_length" if "transcript_length_a" in battles.table else "length"
    lengths = [battles.numbers_of(f"{prefix}_{side}") for side in "ab"]
    tokens = np.fmax(*lengths) / CHARACTERS_PER_TOKEN
    # Number of the band: 0 up to `FIRST_BAND` tokens, 1 up to twice as many, 2 up to 4 times.
    band = np.ceil(np.log2(np.maximum(tokens, 1) / FIRST_BAND)).clip(0)
    bands = []
    for band_number in distinct_values(band[~np.isnan(band)]).astype(int).tolist():
        band_end = FIRST_BAND * 2**band_number
        name = f"{band_end // 2:,} to {band_end:,} tokens"
        if band_number == 0:
            name = f"up to {band_end:,} tokens"
        bands.append((name, band == band_number))
    return bands
