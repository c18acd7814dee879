"""Resamples of a judge beside its gold standard: the items of both sides drawn anew, together where they share some."""

from dataclasses import dataclass

import numpy as np

from podium.diagnosis.matched import Matched
from podium.rankers.intervals import resample


@dataclass(frozen=True, slots=True)
class Resamples:
    """What resampling gives.

    Attributes:
        tau: Kendall's tau-b, NaN where a fit does not exist, shape (draws,).
        judge: win rates, NaN where a pair was not drawn, shape (draws, pairs).
        gold: the same; without error, shape (pairs,).
        clusters: independent items (rows) of the judge.
        method: what was drawn.
    """

    tau: np.ndarray
    judge: np.ndarray
    gold: np.ndarray
    clusters: int
    method: str


def resamples_of(both: Matched, resamples: int, rng: np.random.Generator) -> Resamples:
    """Draw items with replacement.

    A gold ranking has no error of its own. Gold battles are resampled, too: with the judge's items where they share
    any, by themselves otherwise.
    """
    own, theirs = len(both.judge.clusters), len(both.gold.clusters)
    pairs, unit = len(both.low), both.judge.coded.unit
    if both.shared:
        number, ours, gold = _joined(both)
        method = f"{unit} bootstrap of judge and gold standard together"
    else:
        number, ours, gold = own, np.arange(own), None
        drawn = " bootstrap of judge and gold standard apart" if theirs else " bootstrap, gold standard as given"
        method = unit + drawn

    def found(counts: np.ndarray) -> np.ndarray:
        mine = counts[:, ours]
        other = counts[:, gold] if gold is not None else _counts(theirs, len(counts), rng)
        tau = taus(*both.strengths(mine, other))
        return np.concatenate([tau[:, None], *both.rates(mine, other)], axis=1)

    columns = resample(found, number, resamples, rng, width=len(both.entrants) ** 2)
    judge, people = columns[:, 1 : 1 + pairs], columns[:, 1 + pairs :]
    fixed = people if theirs else people[0]
    return Resamples(columns[:, 0], judge, fixed, own, f"{method}, {resamples} resamples")


def taus(judge: np.ndarray, gold: np.ndarray) -> np.ndarray:
    """Return Kendall's tau-b of rows, NaN where one is constant or unknown, shape (...).

    Args:
        judge, gold: scores, shape (..., entrants); differences below 1e-9 are ties.
    """
    low, high = np.triu_indices(judge.shape[-1], 1)
    first, second = (np.sign(np.round(one[..., low] - one[..., high], 9)) for one in (judge, gold))
    scale = np.sqrt(np.abs(first).sum(axis=-1) * np.abs(second).sum(axis=-1))
    agreed = np.asarray((first * second).sum(axis=-1))
    return np.divide(agreed, scale, out=np.full(agreed.shape, np.nan), where=scale > 0)


def _joined(both: Matched) -> tuple[int, np.ndarray, np.ndarray]:
    """Number the items of both sides; return how many, and the positions of the judge's and the gold standard's."""
    place: dict[str, int] = {}
    number = 0
    positions = []
    for side in (both.judge, both.gold):
        found = np.empty(len(side.clusters), dtype=np.int64)
        for k, name in enumerate(side.clusters):
            if name is not None and name in place:
                found[k] = place[name]
                continue
            found[k] = number
            if name is not None:
                place[name] = number
            number += 1
        positions.append(found)
    return number, positions[0], positions[1]


def _counts(clusters: int, draws: int, rng: np.random.Generator) -> np.ndarray:
    if not clusters:
        return np.zeros((draws, 0))
    return rng.multinomial(clusters, np.full(clusters, 1 / clusters), size=draws).astype(np.float64)
