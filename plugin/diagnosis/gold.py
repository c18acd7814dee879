"""Agreement of a judge's ranking of systems with a gold ranking (JuStRank)."""

from dataclasses import dataclass, replace

import numpy as np

from podium.diagnosis.figures import CardAnswer, Figured, Missing, Value
from podium.diagnosis.gold_comparison import (
    SELF_BIAS,
    GoldComparison,
    SelfBias,
    SystemBias,
    match_gold_pairs,
    resample_both,
)
from podium.diagnosis.sides import fit_ratings
from podium.diagnosis.subject import Subject
from podium.report.model import EMPTY, Table
from podium.report.numbers import cell_text

RESAMPLES = 500
SHOWN = 10


@dataclass(frozen=True, slots=True)
class GoldAgreement(CardAnswer):
    """Agreement of a judge's ranking and win rates with a gold standard, as measured and beyond noise of the items.

    `alpha` is the decisiveness, above 1 for win rates more extreme than the gold ones, by battles and by single
    verdicts (as in JuStRank); `delta` is the standard deviation of the corrected biases over systems.
    """

    gold: str
    systems: int
    pairs: int
    gold_pairs: int
    tau: Figured
    accuracy: Figured
    mse: float | Missing
    mse_beyond_noise: Figured
    alpha: float | Missing
    alpha_beyond_noise: Figured
    single_alpha: float | Missing
    single_alpha_beyond_noise: Figured
    delta: float | Missing
    delta_beyond_noise: Figured
    biases: tuple[SystemBias, ...] | Missing
    self_bias: SelfBias | Missing

    def labelled_values(self) -> tuple[tuple[str, Value], ...]:
        mse, alpha, single, delta = (
            EMPTY if isinstance(value, Missing) else f"{value:.3g}"
            for value in (self.mse, self.alpha, self.single_alpha, self.delta)
        )
        of_single = (f"  of single votes, as in JuStRank ({single} with noise)", self.single_alpha_beyond_noise)
        own = self.self_bias
        among = f"{self.systems:,} systems, {self.pairs:,} of {self.gold_pairs:,} gold pairs judged"
        lines: tuple[tuple[str, Value], ...] = (
            ("gold standard", f"{self.gold}: {among}"),
            ("Kendall's tau with its ranking", self.tau),
            ("pairs with the same better system", self.accuracy),
            (f"mean squared error of win rates ({mse} with noise)", self.mse_beyond_noise),
            (f"decisiveness alpha ({alpha} with noise; 1 = as humans)", self.alpha_beyond_noise),
            *([] if self.single_alpha_beyond_noise == self.alpha_beyond_noise else [of_single]),
            (f"bias between systems, delta ({delta} with noise)", self.delta_beyond_noise),
        )
        if isinstance(own, Missing):
            return (*lines, (SELF_BIAS, own))
        verdict = "favours itself" if own.favours_itself else "not shown to favour itself"
        paired = f"{cell_text(own.paired_p, '.2g')} by paired t over {own.opponents:,} opponents"
        tests = f"Bonferroni over {own.tests} judges" if own.tests > 1 else "one judge"
        p = f"{verdict}: p = {cell_text(own.item_p, '.2g')} over items; {paired}"
        return (*lines, (f"bias towards itself ({own.model})", own.bias), (f"  one-sided, {tests}", p))

    def tables(self) -> tuple[Table, ...]:
        if isinstance(self.biases, Missing):
            return ()
        rows = []
        for bias in self.biases[:SHOWN]:
            figures = (bias.raw.brief, bias.corrected.estimate, bias.corrected.interval)
            rows.append((bias.model, f"{bias.opponents:,}", *figures, cell_text(bias.p, ".2g")))
        header = ("system", "opponents", "raw", "corrected", "interval", "p (Holm)")
        return (Table("Bias by system (judge win rate less gold win rate)", header, tuple(rows)),)


def gold_agreement(subject: Subject, resamples: int = RESAMPLES) -> GoldAgreement | Missing:
    """Compare a judge's ranking and win rates with the gold standard, else with the human labels of its battles.

    Win rates leave ties out. Those of a gold ranking are the sigmoid of the rating difference; those of gold battles
    are of pairs with at least 10 decided ones.
    Source: Gera et al. 2025 (JuStRank), sections 5 and 6, appendices C, E and F.
    """
    both = match_gold_pairs(subject)
    if isinstance(both, Missing):
        return both
    figures = GoldComparison(both, resample_both(both, resamples, subject.rng), subject.level)
    mse, mse_beyond_noise = figures.mse()
    biases, delta, delta_beyond_noise, own = figures.biases(subject)
    single = figures
    if subject.judgments.readable.sum() > subject.battles.readable.sum():
        side = fit_ratings(subject.judgments)
        votes = replace(both, judge=side, ours=np.array([side.models.index(name) for name in both.models]))
        single = GoldComparison(votes, resample_both(votes, resamples, subject.rng, ranked=False), subject.level)
    return GoldAgreement(
        gold=subject.gold.source if subject.gold else "human labels",
        systems=len(both.models),
        pairs=len(both.first),
        gold_pairs=both.gold_pairs,
        tau=figures.tau(),
        accuracy=figures.accuracy(),
        mse=mse,
        mse_beyond_noise=mse_beyond_noise,
        alpha=figures.alpha,
        alpha_beyond_noise=figures.alpha_beyond_noise(),
        single_alpha=single.alpha,
        single_alpha_beyond_noise=single.alpha_beyond_noise(),
        delta=delta,
        delta_beyond_noise=delta_beyond_noise,
        biases=biases,
        self_bias=own,
    )
