"""Agreement of a judge with human labels and known preferences, and whether its margins predict
it."""

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
import pandas as pd

from podium.data.battles import Battles
from podium.diagnosis.clustered import Clustered, cluster_battles
from podium.diagnosis.figures import CardAnswer, Figured, Missing, Statistic, Unit, attempt
from podium.diagnosis.subject import Subject
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

RESAMPLES = 1000
LABELS = "give a column human (what model_a earned from humans), or name a human judge with --human-judge"
MARGINS = "give a column margin (judge score of a minus that of b), or soft credits"
BAND = 1_000
"""Tokens of the shortest responses; each further band is twice as long."""


class ReliabilityBin(NamedTuple):
    """One bin of the reliability table: how often humans prefer the judge's side, predicted and
    measured."""

    mean_margin: float | None
    predicted: float
    agreement: Figured


@dataclass(frozen=True, slots=True)
class HumanAgreement(CardAnswer):
    """Agreement with human labels, per battle; `temperature` is beta of P(humans prefer a) =
    sigmoid(beta * margin)."""

    accuracy: Annotated[Figured, "same of win, tie, loss"]
    kappa: Annotated[Figured, "  beyond chance (kappa)"]
    agreement: Annotated[Figured, "same winner, ties aside"]
    temperature: Annotated[Figured, "temperature beta"]
    calibration_error: Annotated[Figured, "expected calibration error (ECE)"]
    bins: tuple[ReliabilityBin, ...]

    def tables(self) -> tuple[Table, ...]:
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
        return (Table("reliability, by |margin|", header, rows),) if self.bins else ()


def measure_human_agreement(subject: Subject) -> HumanAgreement | Missing:
    """Measure the agreement of a judge with human labels. Source: Soft-Elo, section 4.1 and
    appendix G."""
    battles, level = subject.battles, subject.level
    if not (~np.isnan(subject.human_credit) & battles.readable).any():
        return Missing("no readable battle has a human label", LABELS)
    try:
        evidence = build_evidence(battles, read_signal(battles, default_kind(battles)))
    except NotIdentifiedError:
        evidence = build_evidence(battles, read_signal(battles, "smoothing"))
    match = match_labels(evidence.hard, evidence.human)
    sample, both = Clustered(evidence.cluster, evidence.unit, level), match.both
    temperature, probability = _temperature(evidence, level)
    reliability = bin_predictions(match, evidence.margin, probability)
    error, bins = _estimate_calibration_error(reliability, match.agree, sample, subject.rng)
    return HumanAgreement(
        accuracy=sample.share(match.agree, what="labelled battles", among=both),
        kappa=clustered_kappa(match.judge[both], match.human[both], sample.take(both)),
        agreement=sample.share(match.agree, what="battles without a tie", among=match.decisive),
        temperature=temperature,
        calibration_error=error,
        bins=bins,
    )


def agreement_lead(first: Subject, second: Subject) -> Statistic:
    """Return how much more humans agree with the first judge, paired by item; both have decided
    labels."""
    shares, errors, number = [], [], 0
    for subject in (first, second):
        table = subject.battles.table
        match = match_labels(hard_credits(table), subject.human_credit)
        agree = match.agree[match.decisive]
        alone = pd.Series(
            [f"{subject.judge} {row}" for row in range(len(table))], index=table.index
        )
        item = table["item"].astype(object).fillna(alone) if "item" in table else alone
        shares.append(float(agree.mean()))
        errors.append(
            pd.Series((agree - agree.mean()) / len(agree))
            .groupby(item[match.decisive].to_numpy())
            .sum()
        )
        number += len(agree)
    influence = errors[0].sub(errors[1], fill_value=0).to_numpy()
    sample = Clustered(np.arange(len(influence)), "item", first.level)
    return sample.linear(shares[0] - shares[1], influence, number, unit=Unit.SHARE)


def clustered_kappa(judge: np.ndarray, human: np.ndarray, sample: Clustered) -> Figured:
    """Return Cohen's kappa of labels in {-1, 0, 1} with a clustered interval."""
    if (value := kappa(judge, human)) is None:
        return Missing("judge and humans call every battle a tie", "label battles that differ")
    return sample.linear(value, kappa_influence(judge, human, value), len(judge), within=(-1, 1))


def _temperature(evidence: Evidence, level: float) -> tuple[Figured, np.ndarray | None]:
    """Return the temperature beta, and the predicted probability that humans prefer the first
    model, if known."""
    if evidence.signal.kind == "smoothing":
        return Missing("the verdicts have no margin", MARGINS), None
    if evidence.signal.kind == "credit":
        why = "the credits are probabilities, taken as they are"
        return Missing(why, "give a column margin"), evidence.signal.predict(np.ones(1))
    target = attempt(lambda: fit_target(evidence, level), "label more battles")
    if isinstance(target, Missing):
        return target, None
    unit, clusters = evidence.unit, len(np.unique(evidence.cluster[evidence.preference]))
    method = (
        f"a single {unit}: no interval" if target.low is None else f"{unit}-clustered sandwich, t"
    )
    facts: dict[str, Any] = {
        "level": level,
        "method": method,
        "clusters": clusters,
        "unit": Unit.LOGITS,
    }
    beta = Statistic(
        target.beta, target.low, target.high, n=target.battles, of="preferences", **facts
    )
    return beta, soften_verdicts(target, evidence.signal)


def _estimate_calibration_error(
    reliability: Reliability | None, agree: np.ndarray, sample: Clustered, rng: np.random.Generator
) -> tuple[Figured, tuple[ReliabilityBin, ...]]:
    """Return the expected calibration error and its reliability table; `Missing` and () without
    predictions."""
    if reliability is None:
        why = "no labelled battle without a tie has a predicted probability"
        return Missing(why, MARGINS), ()
    sample, right = sample.take(reliability.rows), agree[reliability.rows].astype(np.float64)
    shares = [sample.share(right, among=reliability.bin == k) for k in range(len(reliability.bins))]
    pairs = zip(reliability.bins, shares, strict=True)
    bins = tuple(ReliabilityBin(of.mean_margin, of.predicted, share) for of, share in pairs)
    gaps = (right - reliability.predicted)[:, None] * (
        reliability.bin[:, None] == np.arange(len(bins))
    )
    sums, battles, level = sample.sums(gaps), sample.sums(np.ones(len(gaps))), sample.level
    number, gap = len(sums), gaps.mean(axis=0)
    value = float(np.abs(gap).sum())
    if number < 2:
        return sample.linear(value, np.zeros(len(gaps)), len(gaps)), bins
    # Percentiles of the resampled value lie too high, because resampling adds noise.
    draws = resample(
        lambda counts: counts @ sums / (counts @ battles)[:, None] - gap, number, RESAMPLES, rng
    )
    reach = float(
        small_sample_factor(number, level) * np.quantile(np.abs(draws).sum(axis=1), level)
    )
    method = f"{sample.unit} bootstrap of the bins' errors, conservative, {RESAMPLES} resamples"
    ends = max(0.0, value - reach), value + reach
    return Statistic(value, *ends, level=level, method=method, n=len(gaps), clusters=number), bins


def preference_report(battles: Battles, level: float = 0.95) -> Report:
    """Build a table of the share of battles that a judge gives to the response that is known to be
    better: in all, by category, and by tokens of the longer response. A tie, or another winner in
    each order, is no agreement."""
    credit, human = hard_credits(battles.table), battles.numbers_of("human")
    known = ~np.isnan(credit) & ~np.isnan(human)
    right, sample = (credit == human).astype(np.float64), cluster_battles(battles, level)
    categories = (
        as_text(battles.table["category"]).to_numpy(object) if "category" in battles.table else None
    )
    names = (
        [] if categories is None else sorted({name for name in categories if isinstance(name, str)})
    )
    slices = [
        ("all", known),
        *((name, categories == name) for name in names),
        *_slice_lengths(battles),
    ]
    rows = []
    for name, inside in slices:
        share = sample.share(right, among=known & inside)
        if isinstance(share, Statistic):
            rows.append((name, share.estimate, share.interval, f"{share.n:,}"))
    title = f"accuracy by known preferences · {level:.0%} intervals by item"
    header = ("battles", "accuracy", "interval", "number")
    legend = (
        "A tie, or a different winner in each order, counts as wrong. Lengths are of the longer response.",
    )
    return Report(title, table=Table("", header, tuple(rows), "lrrr", legend=legend))


def _slice_lengths(battles: Battles) -> list[tuple[str, np.ndarray]]:
    """Return the battles of each band of length, as masks: of transcripts if there are any, else of
    answers."""
    prefix = "transcript_length" if "transcript_length_a" in battles.table else "length"
    lengths = [battles.numbers_of(f"{prefix}_{side}") for side in "ab"]
    tokens = np.fmax(*lengths) / CHARACTERS_PER_TOKEN
    band = np.ceil(np.log2(np.maximum(tokens, 1) / BAND)).clip(0)
    bands = []
    for number in np.unique(band[~np.isnan(band)]).astype(int).tolist():
        high = BAND * 2**number
        name = f"up to {high:,} tokens" if number == 0 else f"{high // 2:,} to {high:,} tokens"
        bands.append((name, band == number))
    return bands
