"""A judge beside a gold standard over the same entrants: win rates of the pairs both know, and resamples of them."""

from dataclasses import dataclass, replace

import numpy as np

from podium.diagnosis.figures import Missing
from podium.diagnosis.gold_source import Gold
from podium.diagnosis.sides import FEWEST_DECIDED, JudgedSide, Side, number_items, taus
from podium.diagnosis.subject import Subject
from podium.rankers.intervals import resample
from podium.rankers.scale import POINTS
from podium.text import some

AGREEMENT = "agreement with a gold ranking"
NARROWEST = 20.0
"""Elo points: a gold ranking whose scores all lie within this is hardly on the Elo scale."""


@dataclass(frozen=True, slots=True)
class GoldPairs:
    """A judge and its gold standard.

    Attributes:
        entrants: known to both, sorted.
        ours, theirs: their positions on either side, shape (entrants,) each.
        low, high: pairs with enough gold battles and a win by the judge, by position in `entrants`, shape (pairs,).
        gold_pairs: number of pairs with enough gold battles.
        without_rates: why the gold standard gives no win rates; None when it does.
    """

    judge: JudgedSide
    gold: Side
    entrants: tuple[str, ...]
    ours: np.ndarray
    theirs: np.ndarray
    low: np.ndarray
    high: np.ndarray
    gold_pairs: int
    without_rates: Missing | None

    def strengths(
        self, counts: np.ndarray | None = None, gold_counts: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the common entrants' log-strengths by judge and gold standard, shape (..., entrants) each."""
        return self.judge.strengths(counts)[..., self.ours], self.gold.strengths(gold_counts)[..., self.theirs]

    def rates(
        self, counts: np.ndarray | None = None, gold_counts: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the win rates of the pairs by judge and gold standard, shape (..., pairs) each."""
        ours = self.judge.rates(self.ours[self.low], self.ours[self.high], counts)
        return ours, self.gold.rates(self.theirs[self.low], self.theirs[self.high], gold_counts)

    def judged_by(self, judge: JudgedSide) -> "GoldPairs":
        """Return the same pairs with another view of the judge that knows all their entrants."""
        return replace(self, judge=judge, ours=np.array([judge.entrants.index(name) for name in self.entrants]))


def gold_pairs_of(subject: Subject) -> GoldPairs | Missing:
    """Put a judge beside its gold standard: the one given, else the human labels of its own battles.

    Raises:
        NotIdentifiedError: either side's entrants fall into groups that never met.
        NotConvergedError: a fit did not reach its maximum.
    """
    gold = subject.gold
    if gold is None and not np.isfinite(subject.human).any():
        remedy = "give a ranking or human battles with --gold, or name a human judge with --human-judge"
        return Missing(AGREEMENT, "there is no gold standard and no human label", remedy)
    if gold is not None and gold.battles is not None and len(gold.battles.judges) > 1:
        why = f"the gold battles are by several judges: {some(gold.battles.judges)}"
        remedy = "keep the rows of one in the gold file, or name the one in the judged file with --human-judge"
        return Missing(AGREEMENT, why, remedy)
    theirs = subject.people if gold is None else gold.side
    ours = subject.side
    names = tuple(sorted(set(ours.entrants) & set(theirs.entrants)))
    if len(names) < 3:
        why = f"{len(names)} entrants are known both to the judge and to the gold standard"
        return Missing(AGREEMENT, why, "spell the models alike on both sides; at least three are needed")
    here, there = (np.array([side.entrants.index(name) for name in names]) for side in (ours, theirs))
    low, high = np.triu_indices(len(names), 1)
    enough = theirs.number[there[low], there[high]] >= FEWEST_DECIDED
    ready = enough & (ours.number[here[low], here[high]] > 0)
    return GoldPairs(ours, theirs, names, here, there, low[ready], high[ready], int(enough.sum()), _without_rates(gold))


def _without_rates(gold: Gold | None) -> Missing | None:
    """Say why a gold ranking gives no win rates; None when it does."""
    if gold is None or gold.scores is None:
        return None
    what, spread = "win rates of the gold ranking", float(np.ptp(list(gold.scores.values())))
    if gold.scale != "elo":
        return Missing(what, f"its scale is {gold.scale!r}, on which gaps are no odds", "give Elo ratings, or battles")
    if spread >= NARROWEST:
        return None
    why = f"all its scores lie within {spread:g}, which is next to nothing on the Elo scale"
    return Missing(what, why, f"give scores in Elo points (log-strengths times {POINTS:.1f})")


@dataclass(frozen=True, slots=True)
class GoldDraws:
    """What resampling gives; no draws where there is a single item.

    Attributes:
        tau: Kendall's tau-b, NaN where a fit does not exist, shape (draws,).
        judge: win rates, NaN where a pair was not drawn, shape (draws, pairs).
        gold: the same; without error, shape (pairs,).
        method: what was drawn.
    """

    tau: np.ndarray
    judge: np.ndarray
    gold: np.ndarray
    method: str


def resample_both(both: GoldPairs, resamples: int, rng: np.random.Generator, *, ranked: bool = True) -> GoldDraws:
    """Draw items with replacement; without `ranked`, rankings are not fitted.

    A gold ranking has no error of its own. Gold battles are resampled, too: with the judge's items where they share
    any, by themselves otherwise.
    """
    own, theirs, pairs = len(both.judge.clusters), len(both.gold.clusters), len(both.low)
    if own < 2:
        return GoldDraws(np.empty(0), np.empty((0, pairs)), both.rates()[1], "")
    number, (ours, gold) = number_items((both.judge, both.gold))
    together = number < own + theirs
    how = f"bootstrap of judge and gold standard {'together' if together else 'apart'}"

    def columns_of(counts: np.ndarray) -> np.ndarray:
        mine, other = counts, np.zeros((len(counts), 0))
        if together:
            mine, other = counts[:, ours], counts[:, gold]
        elif theirs:
            other = rng.multinomial(theirs, np.full(theirs, 1 / theirs), size=len(counts)).astype(np.float64)
        tau = taus(*both.strengths(mine, other)) if ranked else np.full(len(counts), np.nan)
        return np.concatenate([tau[:, None], *both.rates(mine, other)], axis=1)

    columns = resample(columns_of, number if together else own, resamples, rng, width=len(both.entrants) ** 2)
    judge, people = columns[:, 1 : 1 + pairs], columns[:, 1 + pairs :]
    what = how if theirs else "bootstrap, gold standard as given"
    method = f"{both.judge.coded.unit} {what}, {resamples} resamples"
    return GoldDraws(columns[:, 0], judge, people if theirs else people[0], method)
