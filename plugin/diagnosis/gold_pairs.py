"""A judge and a gold standard over the same entrants: win rates of the pairs both know, and resamples of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from scipy.special import expit

from podium.battles import Battles
from podium.diagnosis.clustered import column_of
from podium.diagnosis.figures import Missing
from podium.diagnosis.gold_source import Gold
from podium.rankers.coded import Coded, code_battles
from podium.rankers.identification import strengths_of
from podium.rankers.intervals import resample
from podium.rankers.pairs import PairCells, cells_by_cluster, pair_sums
from podium.rankers.scale import POINTS
from podium.rankers.strengths import Strengths
from podium.text import some

AGREEMENT = "agreement with a gold ranking"
FEWEST_DECIDED = 10
"""Battles without ties that a gold pair needs. Source: Gera et al. 2025, appendix C."""
NARROWEST = 20.0
"""Elo points: a gold ranking whose scores all lie within this is hardly on the Elo scale."""


@dataclass(frozen=True, slots=True)
class JudgedSide:
    """A view of all entrants that battles give.

    Attributes:
        coded: readable battles.
        fit: their Bradley-Terry strengths.
        cells: pair sums by cluster.
        wins: pair sums by cluster of the battles that are no ties, credits rounded to 0 and 1.
        number: battles behind each pair of `wins`, indexed [low, high], shape (entrants, entrants).
        clusters: names of what resampling draws, None for a row without item.
    """

    coded: Coded
    fit: Strengths
    cells: PairCells
    wins: PairCells
    number: np.ndarray
    clusters: tuple[str | None, ...]

    @property
    def entrants(self) -> tuple[str, ...]:
        """Names, sorted."""
        return self.coded.entrants

    def strengths(self, counts: np.ndarray | None = None) -> np.ndarray:
        """Return log-strengths, shape (entrants,); of resamples, NaN where there is no fit, shape (draws, entrants)."""
        return self.fit.theta if counts is None else self.fit.theta_of_draws(self.cells, counts)

    def rates(self, low: np.ndarray, high: np.ndarray, counts: np.ndarray | None = None) -> np.ndarray:
        """Return low's share of wins without ties, NaN where there are none, shape (pairs,) or (draws, pairs)."""
        pairs, entrants = self.wins.pairs, len(self.entrants)
        credit, weight = (pairs.credit, pairs.weight) if counts is None else self.wins.sums_of_draws(counts)
        share = np.full((*np.shape(credit)[:-1], len(pairs.low) + 1), np.nan)
        np.divide(credit, weight, out=share[..., :-1], where=weight > 0)
        place = np.full((entrants, entrants), len(pairs.low))
        place[pairs.low, pairs.high] = np.arange(len(pairs.low))
        return share[..., place[low, high]]


@dataclass(frozen=True, slots=True)
class GivenSide:
    """A view of all entrants that a ranking gives, without error; methods as those of `JudgedSide`.

    Attributes:
        entrants: names, sorted.
        theta: log-strengths (only their order counts where the ranking is not on the Elo scale), shape (entrants,).
    """

    entrants: tuple[str, ...]
    theta: np.ndarray
    clusters: tuple[str | None, ...] = ()

    def strengths(self, counts: np.ndarray | None = None) -> np.ndarray:
        """Return the scores as log-strengths."""
        return self.theta if counts is None else np.broadcast_to(self.theta, (len(counts), len(self.theta)))

    def rates(self, low: np.ndarray, high: np.ndarray, counts: np.ndarray | None = None) -> np.ndarray:
        """Return the sigmoid of the gaps."""
        share = expit(self.theta[low] - self.theta[high])
        return share if counts is None else np.broadcast_to(share, (len(counts), len(low)))

    @property
    def number(self) -> np.ndarray:
        """A number of battles that is enough for every pair, shape (entrants, entrants)."""
        return np.full((len(self.entrants),) * 2, FEWEST_DECIDED)


Side: TypeAlias = JudgedSide | GivenSide


@dataclass(frozen=True, slots=True)
class GoldPairs:
    """A judge and its gold standard.

    Attributes:
        judge, gold: both sides.
        entrants: known to both, sorted.
        ours, theirs: positions of those on either side, shape (entrants,) each.
        low, high: pairs of positions in `entrants`, low < high, with enough gold battles and a win by the judge, shape
            (pairs,).
        gold_pairs: pairs with enough gold battles, whatever the judge says.
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


def prepare_side(battles: Battles, credit: np.ndarray | None = None) -> JudgedSide:
    """Prepare a side from battles.

    Args:
        battles: of one judge, or of people.
        credit: what a earned instead, NaN where a battle is to be left out, shape (battles,).

    Raises:
        NotIdentifiedError: nothing is readable, or the entrants fall into groups that never met.
        NotConvergedError: the fit did not reach its maximum.
    """
    coded = code_battles(battles, credit=credit)
    fit, size = strengths_of(coded), len(coded.entrants)
    no_tie = np.abs(coded.credit - 0.5) > 1e-12
    a, b, weight, cluster = (part[no_tie] for part in (coded.a, coded.b, coded.weight, coded.cluster))
    won = (coded.credit[no_tie] > 0.5) * 1.0
    decided = replace(coded, a=a, b=b, credit=won, weight=weight, cluster=cluster)
    met = np.minimum(a, b).astype(np.int64) * size + np.maximum(a, b)
    used = battles.readable if credit is None else ~np.isnan(credit)
    return JudgedSide(
        coded=coded,
        fit=fit,
        cells=cells_by_cluster(coded, fit.pairs),
        wins=cells_by_cluster(decided, pair_sums(decided)),
        number=np.bincount(met, minlength=size * size).reshape(size, size),
        clusters=_item_names(battles, used, coded),
    )


def _item_names(battles: Battles, used: np.ndarray, coded: Coded) -> tuple[str | None, ...]:
    """Return the item of each cluster, None for rows that stand alone."""
    names = np.full(coded.clusters, None, dtype=object)
    if coded.unit == "item":
        items = battles.table["item"].cat
        number = items.codes.to_numpy()[used]
        known = number >= 0
        names[coded.cluster[known]] = np.asarray(items.categories, dtype=object)[number[known]]
    return tuple(names)


def gold_pairs_of(battles: Battles, gold: Gold | None) -> GoldPairs | Missing:
    """Put a judge beside its gold standard: the one given, else the human labels of its own battles.

    Raises:
        NotIdentifiedError: either side's entrants fall into groups that never met.
        NotConvergedError: a fit did not reach its maximum.
    """
    side = _gold_side(battles, gold)
    if isinstance(side, Missing):
        return side
    ours = prepare_side(battles)
    names = tuple(sorted(set(ours.entrants) & set(side.entrants)))
    if len(names) < 3:
        why = f"{len(names)} entrants are known both to the judge and to the gold standard"
        return Missing(AGREEMENT, why, "spell the models alike on both sides; at least three are needed")
    here, there = (np.array([view.entrants.index(name) for name in names]) for view in (ours, side))
    low, high = np.triu_indices(len(names), 1)
    enough = side.number[there[low], there[high]] >= FEWEST_DECIDED
    ready = enough & (ours.number[here[low], here[high]] > 0)
    return GoldPairs(ours, side, names, here, there, low[ready], high[ready], int(enough.sum()), _without_rates(gold))


def _gold_side(battles: Battles, gold: Gold | None) -> Side | Missing:
    """Return the gold standard as a side; human labels of the judge's battles stand in where none is given."""
    if gold is not None and gold.scores is not None:
        names = tuple(sorted(gold.scores))
        return GivenSide(names, np.array([gold.scores[name] for name in names]) / POINTS)
    if gold is not None and gold.battles is not None:
        if len(gold.battles.judges) < 2:
            return prepare_side(gold.battles)
        why = f"the gold battles are by several judges: {some(gold.battles.judges)}"
        remedy = "keep the rows of one in the gold file, or name the one in the judged file with --human-judge"
        return Missing(AGREEMENT, why, remedy)
    human = column_of(battles, "human")
    if np.isfinite(human).any():
        return prepare_side(battles, human)
    remedy = "give a ranking or human battles with --gold, or name a human judge with --human-judge"
    return Missing(AGREEMENT, "there is no gold standard and no human label", remedy)


def _without_rates(gold: Gold | None) -> Missing | None:
    """Say why a gold ranking gives no win rates; None when it does."""
    if gold is None or gold.scores is None:
        return None
    what = "win rates of the gold ranking"
    if gold.scale != "elo":
        return Missing(what, f"its scale is {gold.scale!r}, on which gaps are no odds", "give Elo ratings, or battles")
    spread = float(np.ptp(list(gold.scores.values())))
    if spread >= NARROWEST:
        return None
    why = f"all its scores lie within {spread:g}, which is next to nothing on the Elo scale"
    return Missing(what, why, f"give scores in Elo points (log-strengths times {POINTS:.1f})")


@dataclass(frozen=True, slots=True)
class GoldDraws:
    """What resampling gives.

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


def resample_both(both: GoldPairs, resamples: int, rng: np.random.Generator) -> GoldDraws:
    """Draw items with replacement.

    A gold ranking has no error of its own. Gold battles are resampled, too: with the judge's items where they share
    any, by themselves otherwise.
    """
    own, theirs, pairs = len(both.judge.clusters), len(both.gold.clusters), len(both.low)
    number, (ours, gold) = number_items((both.judge, both.gold))
    together = number < own + theirs
    if not theirs:
        how = "bootstrap, gold standard as given"
    else:
        how = "bootstrap of judge and gold standard " + ("together" if together else "apart")

    def columns_of(counts: np.ndarray) -> np.ndarray:
        mine, other = counts, np.zeros((len(counts), 0))
        if together:
            mine, other = counts[:, ours], counts[:, gold]
        elif theirs:
            other = rng.multinomial(theirs, np.full(theirs, 1 / theirs), size=len(counts)).astype(np.float64)
        tau = taus(*both.strengths(mine, other))
        return np.concatenate([tau[:, None], *both.rates(mine, other)], axis=1)

    columns = resample(columns_of, number if together else own, resamples, rng, width=len(both.entrants) ** 2)
    judge, people = columns[:, 1 : 1 + pairs], columns[:, 1 + pairs :]
    method = f"{both.judge.coded.unit} {how}, {resamples} resamples"
    return GoldDraws(columns[:, 0], judge, people if theirs else people[0], method)


def number_items(sides: Sequence[Side]) -> tuple[int, list[np.ndarray]]:
    """Number the clusters of all sides, shared items once; rows without an item stand alone.

    Returns:
        How many there are, and the positions of each side's.
    """
    number: dict[str | tuple[int, int], int] = {}
    positions = []
    for k, side in enumerate(sides):
        keys = [name if name is not None else (k, row) for row, name in enumerate(side.clusters)]
        positions.append(np.array([number.setdefault(key, len(number)) for key in keys], dtype=np.int64))
    return len(number), positions


def taus(judge: np.ndarray, gold: np.ndarray) -> np.ndarray:
    """Return Kendall's tau-b of rows, NaN where one is constant or unknown, shape (...).

    Args:
        judge, gold: scores, shape (..., entrants); differences below 1e-9 are ties.
    """
    low, high = np.triu_indices(judge.shape[-1], 1)
    first, second = (np.sign(np.round(scores[..., low] - scores[..., high], 9)) for scores in (judge, gold))
    scale = np.sqrt(np.abs(first).sum(axis=-1) * np.abs(second).sum(axis=-1))
    agreed = np.asarray((first * second).sum(axis=-1))
    return np.divide(agreed, scale, out=np.full(agreed.shape, np.nan), where=scale > 0)
