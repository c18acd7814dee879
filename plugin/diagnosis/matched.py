"""A judge and a gold standard over the same entrants: win rates of the pairs both know, and resamples of them."""

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy.special import expit

from podium.battles import Battles
from podium.diagnosis.answer import Missing
from podium.diagnosis.gold_source import Gold
from podium.rankers.coded import Coded, code
from podium.rankers.identification import strengths_of
from podium.rankers.pairs import PairCells, cells_by_cluster, pair_sums
from podium.rankers.scale import POINTS
from podium.rankers.strengths import Strengths
from podium.text import some

FEWEST_DECIDED = 10
"""Battles without ties that a gold pair needs. Source: Gera et al. 2025, appendix C."""
NARROWEST = 20.0
"""Elo points: a gold ranking whose scores all lie within this is hardly on the Elo scale."""


class Side(Protocol):
    """Somebody's view of all entrants.

    Attributes:
        entrants: names, sorted.
        clusters: names of what resampling draws, None for a row without item; empty for a view without error.
    """

    @property
    def entrants(self) -> tuple[str, ...]: ...

    @property
    def clusters(self) -> tuple[str | None, ...]: ...

    def strengths(self, counts: np.ndarray | None) -> np.ndarray:
        """Return log-strengths, shape (entrants,); of resamples, shape (draws, entrants), NaN where there is no fit."""

    def rates(self, low: np.ndarray, high: np.ndarray, counts: np.ndarray | None) -> np.ndarray:
        """Return win rates of pairs without ties, NaN where there are none, shape (pairs,) or (draws, pairs)."""

    def decided(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return the number of battles without ties of pairs, shape (pairs,)."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A side that battles give.

    Attributes:
        coded: readable battles.
        rated: their Bradley-Terry fit.
        cells: pair sums by cluster.
        wins: pair sums by cluster of the battles that are no ties, credits rounded to 0 and 1.
        number: battles behind each pair of `wins`, shape (pairs,).
        clusters: item names, None for a row without one.
    """

    coded: Coded
    rated: Strengths
    cells: PairCells
    wins: PairCells
    number: np.ndarray
    clusters: tuple[str | None, ...]

    @property
    def entrants(self) -> tuple[str, ...]:
        """Names, sorted."""
        return self.coded.entrants

    def strengths(self, counts: np.ndarray | None) -> np.ndarray:
        """Return log-strengths, regularised with lambda = 0.01."""
        return self.rated.theta if counts is None else self.rated.resampled(self.cells, counts)

    def rates(self, low: np.ndarray, high: np.ndarray, counts: np.ndarray | None) -> np.ndarray:
        """Return the share of wins of low among the battles that are no ties."""
        pairs, where = self.wins.pairs, self._where(low, high)
        credit, weight = (pairs.credit, pairs.weight) if counts is None else self.wins.resampled(counts)
        if not len(pairs.low):
            return np.full((*np.shape(credit)[:-1], len(low)), np.nan)
        share = np.divide(credit, weight, out=np.full(np.shape(credit), np.nan), where=weight > 0)
        return np.where(where >= 0, share[..., where], np.nan)

    def decided(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return the number of battles without ties of pairs."""
        where = self._where(low, high)
        return np.where(where >= 0, self.number[where], 0) if len(self.number) else np.zeros(len(low), dtype=np.int64)

    def _where(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        square = np.full((len(self.entrants), len(self.entrants)), -1)
        square[self.wins.pairs.low, self.wins.pairs.high] = np.arange(len(self.wins.pairs.low))
        return square[low, high]


@dataclass(frozen=True, slots=True)
class Given:
    """A side that a ranking gives, without error.

    Attributes:
        entrants: names, sorted.
        theta: log-strengths (only their order counts where the ranking is not on the Elo scale), shape (entrants,).
    """

    entrants: tuple[str, ...]
    theta: np.ndarray
    clusters: tuple[str | None, ...] = ()

    def strengths(self, counts: np.ndarray | None) -> np.ndarray:
        """Return the scores as log-strengths."""
        return self.theta if counts is None else np.broadcast_to(self.theta, (len(counts), len(self.theta)))

    def rates(self, low: np.ndarray, high: np.ndarray, counts: np.ndarray | None) -> np.ndarray:
        """Return the sigmoid of the gaps."""
        share = expit(self.theta[low] - self.theta[high])
        return share if counts is None else np.broadcast_to(share, (len(counts), len(low)))

    def decided(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:  # noqa: ARG002
        """Return a number that is enough for every pair."""
        return np.full(len(low), FEWEST_DECIDED)


@dataclass(frozen=True, slots=True)
class Matched:
    """A judge and its gold standard.

    Attributes:
        judge, gold: both sides.
        entrants: known to both, sorted.
        ours, theirs: positions of those on either side, shape (entrants,) each.
        low, high: pairs of positions in `entrants`, low < high, with enough gold battles and a win by the judge, shape
            (pairs,).
        gold_pairs: pairs with enough gold battles, whatever the judge says.
        rates_known: why the gold standard gives no win rates; None when it does.
    """

    judge: Judged
    gold: Side
    entrants: tuple[str, ...]
    ours: np.ndarray
    theirs: np.ndarray
    low: np.ndarray
    high: np.ndarray
    gold_pairs: int
    rates_known: Missing | None

    @property
    def shared(self) -> int:
        """Items that both sides judged: they are drawn together."""
        return len(set(self.judge.clusters) & set(self.gold.clusters) - {None})

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


def judged(battles: Battles, credit: np.ndarray | None = None) -> Judged:
    """Prepare a side from battles.

    Args:
        battles: of one judge, or of people.
        credit: what a earned instead, NaN where a battle is to be left out, shape (battles,).

    Raises:
        NotIdentifiedError: nothing is readable, or the entrants fall into groups that never met.
        NotConvergedError: the fit did not reach its maximum.
    """
    coded = code(battles, credit=credit)
    strengths = strengths_of(coded)
    no_tie = np.abs(coded.credit - 0.5) > 1e-12
    decided = replace(
        coded,
        a=coded.a[no_tie],
        b=coded.b[no_tie],
        credit=(coded.credit[no_tie] > 0.5) * 1.0,
        weight=coded.weight[no_tie],
        cluster=coded.cluster[no_tie],
    )
    won = pair_sums(decided)
    number = pair_sums(replace(decided, weight=np.ones(len(decided.a)))).weight.astype(np.int64)
    used = battles.readable if credit is None else ~np.isnan(credit)
    return Judged(
        coded=coded,
        rated=strengths,
        cells=cells_by_cluster(coded, strengths.pairs),
        wins=cells_by_cluster(decided, won),
        number=number,
        clusters=_names(battles, used, coded),
    )


def matched(battles: Battles, gold: Gold | None) -> Matched | Missing:
    """Put a judge beside its gold standard: the one given, else the human labels of its own battles.

    Raises:
        NotIdentifiedError: either side's entrants fall into groups that never met.
        NotConvergedError: a fit did not reach its maximum.
    """
    side = gold_side(battles, gold)
    if isinstance(side, Missing):
        return side
    ours = judged(battles)
    names = tuple(sorted(set(ours.entrants) & set(side.entrants)))
    if len(names) < 3:
        return Missing(
            "agreement with a gold ranking",
            f"{len(names)} entrants are known both to the judge and to the gold standard",
            "spell the models alike on both sides; at least three are needed",
        )
    here, there = (np.array([one.entrants.index(name) for name in names]) for one in (ours, side))
    low, high = np.triu_indices(len(names), 1)
    enough = side.decided(there[low], there[high]) >= FEWEST_DECIDED
    ready = enough & (ours.decided(here[low], here[high]) > 0)
    return Matched(ours, side, names, here, there, low[ready], high[ready], int(enough.sum()), _without_rates(gold))


def gold_side(battles: Battles, gold: Gold | None) -> Side | Missing:
    """Return the gold standard as a side.

    Args:
        battles: the judge's; their human labels stand in where no gold standard is given.
        gold: as `--gold` gave it.
    """
    if gold is not None and gold.scores is not None:
        names = tuple(sorted(gold.scores))
        return Given(names, np.array([gold.scores[name] for name in names]) / POINTS)
    if gold is not None and gold.battles is not None:
        return _of_one(gold.battles)
    human = battles.table["human"].to_numpy(dtype=np.float64) if "human" in battles.table else np.empty(0)
    if np.isfinite(human).any():
        return judged(battles, human)
    return Missing(
        "agreement with a gold ranking",
        "there is no gold standard and no human label",
        "give a ranking or human battles with --gold, or name a human judge with --human-judge",
    )


def _of_one(gold: Battles) -> Side | Missing:
    if len(gold.judges) > 1:
        return Missing(
            "agreement with a gold ranking",
            f"the gold battles are by several judges: {some(gold.judges)}",
            "keep the rows of one in the gold file, or name the one in the judged file with --human-judge",
        )
    return judged(gold)


def _without_rates(gold: Gold | None) -> Missing | None:
    """Say why a gold ranking gives no win rates; None when it does."""
    if gold is None or gold.scores is None:
        return None
    what = "win rates of the gold ranking"
    if gold.scale != "elo":
        return Missing(what, f"its scale is {gold.scale!r}, on which gaps are no odds", "give Elo ratings, or battles")
    spread = float(np.ptp(list(gold.scores.values())))
    if spread < NARROWEST:
        return Missing(
            what,
            f"all its scores lie within {spread:g}, which is next to nothing on the Elo scale",
            f"give scores in Elo points (log-strengths times {POINTS:.1f})",
        )
    return None


def _names(battles: Battles, used: np.ndarray, coded: Coded) -> tuple[str | None, ...]:
    """Return the item of each cluster, None for rows that stand alone."""
    names = np.full(coded.clusters, None, dtype=object)
    if coded.unit == "item":
        items = battles.table["item"].cat
        number = items.codes.to_numpy()[used]
        known = number >= 0
        names[coded.cluster[known]] = np.asarray(items.categories, dtype=object)[number[known]]
    return tuple(names)
