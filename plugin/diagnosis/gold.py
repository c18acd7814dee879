"""A judge as a ranker of systems, held against a gold ranking (JuStRank)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from podium.battles import Battles
from podium.diagnosis.answer import Figure, Grid, Missing, Row, as_dict
from podium.diagnosis.gold_figures import Comparison, SystemBias
from podium.diagnosis.gold_source import Gold
from podium.diagnosis.matched import matched
from podium.diagnosis.resampled_gold import resamples_of
from podium.diagnosis.self_bias import SelfBias
from podium.diagnosis.wording import EMPTY, brief, ends, number

RESAMPLES = 500
SHOWN = 10


@dataclass(frozen=True, slots=True)
class GoldAgreement:
    """How a judge ranks systems that a gold standard ranks, too.

    Attributes:
        gold: where the gold standard comes from.
        systems: known to both.
        pairs: with a win rate by both.
        gold_pairs: with at least 10 gold battles that are no ties (all, for a gold ranking).
        tau: Kendall's tau-b of the two rankings by Bradley-Terry.
        accuracy: share of pairs in which both name the same better system.
        mse: mean squared difference of win rates, noise included.
        mse_beyond_noise: the same without what the sample of items adds.
        alpha: decisiveness as JuStRank fits it, above 1 for win rates more extreme than the gold standard's.
        alpha_beyond_noise: the same without what the sample of items adds.
        delta: standard deviation of the corrected biases over systems, noise included.
        delta_beyond_noise: the same without what the sample of items adds.
        biases: by system, the strongest bias first.
        self_bias: towards the system that is the judge itself.
    """

    gold: str
    systems: int
    pairs: int
    gold_pairs: int
    tau: Figure | Missing
    accuracy: Figure | Missing
    mse: float | Missing
    mse_beyond_noise: Figure | Missing
    alpha: float | Missing
    alpha_beyond_noise: Figure | Missing
    delta: float | Missing
    delta_beyond_noise: Figure | Missing
    biases: tuple[SystemBias, ...] | Missing
    self_bias: SelfBias | Missing

    def to_dict(self) -> dict[str, Any]:
        """Return the section for JSON."""
        return as_dict(self)

    def rows(self) -> tuple[Row, ...]:
        """Return the lines of the section."""
        among = f"{self.systems:,} systems, {self.pairs:,} of {self.gold_pairs:,} gold pairs judged"
        lines = [
            Row("gold standard", f"{self.gold}: {among}"),
            Row("Kendall's tau with its ranking", self.tau),
            Row("pairs with the same better system", self.accuracy),
            Row(f"mean squared error of win rates ({_short(self.mse)} with noise)", self.mse_beyond_noise),
            Row(f"decisiveness alpha ({_short(self.alpha)} with noise; 1 = as people)", self.alpha_beyond_noise),
            Row(f"bias between systems, delta ({_short(self.delta)} with noise)", self.delta_beyond_noise),
        ]
        if isinstance(self.self_bias, Missing):
            return (*lines, Row("self-bias", self.self_bias))
        return (*lines, *self.self_bias.rows())

    def grids(self) -> tuple[Grid, ...]:
        """Return the biases by system."""
        if isinstance(self.biases, Missing):
            return ()
        rows = tuple(
            (
                one.model,
                f"{one.opponents:,}",
                brief(one.raw),
                EMPTY if isinstance(one.corrected, Missing) else number(one.corrected),
                EMPTY if isinstance(one.corrected, Missing) else ends(one.corrected),
                EMPTY if one.p is None else f"{one.p:.2g}",
            )
            for one in self.biases[:SHOWN]
        )
        header = ("system", "opponents", "raw", "corrected", "interval", "p (Holm)")
        return (Grid("Bias by system (judge win rate less gold win rate)", header, rows),)


def gold_agreement(
    battles: Battles,
    gold: Gold | None = None,
    *,
    model: str | None = None,
    tests: int = 1,
    level: float = 0.95,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
) -> GoldAgreement | Missing:
    """Compare a judge's ranking and win rates with a gold standard.

    Win rates leave ties out. A gold ranking gives them as the sigmoid of the gap; gold battles for pairs with at least
    10 that are no ties. Item noise makes win rates look more extreme, more biased and farther from the gold standard
    than they are, so those figures come with and without it.

    Args:
        battles: of one judge, merged.
        gold: as `--gold` gave it; None for the human labels of the same battles.
        model: the judge's own model, for the self-bias test.
        tests: judges that are tested for self-bias together (Bonferroni).
        level: of intervals, in (0, 1).
        rng: draws of items.
        resamples: how many.

    Source: Gera et al. 2025 (JuStRank), sections 5 and 6, appendices C, E and F.

    Raises:
        NotIdentifiedError: the entrants of either side fall into groups that never met.
        NotConvergedError: a fit did not reach its maximum.
    """
    both = matched(battles, gold)
    if isinstance(both, Missing):
        return both
    drawn = resamples_of(both, resamples, rng) if len(both.judge.clusters) > 1 else None
    figures = Comparison(both, drawn, level)
    mse, mse_beyond_noise = figures.mse()
    delta, delta_beyond_noise, biases, own = figures.biases(model, tests)
    return GoldAgreement(
        gold=gold.source if gold else "human labels",
        systems=len(both.entrants),
        pairs=len(both.low),
        gold_pairs=both.gold_pairs,
        tau=figures.tau(),
        accuracy=figures.accuracy(),
        mse=mse,
        mse_beyond_noise=mse_beyond_noise,
        alpha=figures.alpha,
        alpha_beyond_noise=figures.alpha_beyond_noise(),
        delta=delta,
        delta_beyond_noise=delta_beyond_noise,
        biases=biases,
        self_bias=own,
    )


def _short(value: float | Missing) -> str:
    return EMPTY if isinstance(value, Missing) else f"{value:.3g}"
