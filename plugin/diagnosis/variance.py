"""Analysis of variance: how much of a number is due to each of several factors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import fdtrc, ncfdtr

from podium.errors import NotIdentifiedError
from podium.report.model import Table

LARGEST = 1e6
"""Non-centrality up to which an end of an interval is looked for."""


@dataclass(frozen=True, slots=True)
class Effect:
    """One factor, or the interplay of two (`judge x realization`).

    Attributes:
        freedom: degrees of freedom.
        share: of the total sum of squares; in unbalanced designs shares do not add up to 1.
        partial: of the sum of squares that the other effects leave (partial eta squared).
        low, high: its interval, by inverting the non-central F distribution.
        f, p: statistic, and p-value of no effect.
    """

    name: str
    freedom: int
    share: float
    partial: float
    low: float
    high: float
    f: float
    p: float


@dataclass(frozen=True, slots=True)
class Analysis:
    """Effects, each after all others that do not contain it.

    Attributes:
        n, residual: numbers analysed, and degrees of freedom left over.
        unexplained: share of the total sum of squares that no effect explains.
        effects: in the order asked for; those that the design cannot tell from others are left out.
    """

    n: int
    residual: int
    unexplained: float
    level: float
    effects: tuple[Effect, ...]

    def table(self) -> Table:
        """Return the shares of variance."""
        rows = []
        for effect in self.effects:
            partial = (f"{effect.partial:.2f}", f"{effect.low:.2f} … {effect.high:.2f}")
            size = (effect.name, str(effect.freedom), f"{effect.share:.1%}", *partial)
            rows.append((*size, f"{effect.f:.1f}", f"{effect.p:.2g}"))
        title = f"Share of the variance of tau ({self.level:.0%} interval of the partial share: non-central F)"
        return Table(title, ("due to", "freedom", "share", "partial", "interval", "F", "p"), tuple(rows))


def analyse(
    values: np.ndarray, factors: Mapping[str, Sequence[str]], crossed: Sequence[tuple[str, str]], level: float
) -> Analysis:
    """Split the variance of numbers by factors, with sums of squares of type II.

    Args:
        values: shape (n,).
        factors: name of each factor to its n levels; those with one level only are left out.
        crossed: pairs of factors whose interplay is an effect of its own.
        level: of intervals, in (0, 1).

    Raises:
        NotIdentifiedError: no factor varies, the values are all equal, or nothing is left to measure effects by.
    """
    terms: dict[tuple[str, ...], np.ndarray] = {}
    for name, levels in factors.items():
        if len(set(levels)) > 1:
            names = np.array(sorted(set(levels)), dtype=object)
            terms[(name,)] = (np.array(levels, dtype=object)[:, None] == names[None, :]).astype(np.float64)
    for first, second in crossed:
        if {(first,), (second,)} <= set(terms):
            both = np.einsum("ni,nj->nij", terms[(first,)], terms[(second,)])
            terms[first, second] = both.reshape(len(values), -1)
    if not terms:
        raise NotIdentifiedError("no factor takes more than one level")
    total = float(np.sum((values - values.mean()) ** 2))
    if total <= 1e-18:
        raise NotIdentifiedError("all values are equal: there is no variance to share out")
    left, rank = _left_over(values, list(terms.values()))
    residual = len(values) - rank
    if residual < 1 or left <= 1e-12 * total:
        raise NotIdentifiedError("the factors explain every value: nothing is left to measure their effects by")
    effects = []
    for term in terms:
        # Each after all that do not contain it; left out where they already explain as much.
        others = [columns for other, columns in terms.items() if not set(term) <= set(other)]
        without, before = _left_over(values, others)
        within, after = _left_over(values, [*others, terms[term]])
        freedom, square = after - before, max(without - within, 0.0)
        if freedom:
            f = square / freedom / (left / residual)
            low, high = partial_interval(f, freedom, residual, level)
            share, partial, p = square / total, square / (square + left), float(fdtrc(freedom, residual, f))
            effects.append(Effect(" x ".join(term), freedom, share, partial, low, high, f, p))
    return Analysis(len(values), residual, left / total, level, tuple(effects))


def partial_interval(f: float, first: int, second: int, level: float) -> tuple[float, float]:
    """Return the interval of a partial eta squared.

    The ends are the non-centralities for which the F found lies at either end of the middle `level` of its
    distribution, as shares l / (l + first + second + 1).

    Args:
        f: statistic.
        first, second: degrees of freedom of effect and residual.

    Source: Steiger 2004, Beyond the F test, Psychological Methods 9.
    """

    def share_at(below: float) -> float:
        """Return the share of the non-centrality under which F stays below f so often; 0 where none is as likely."""
        end, high = 0.0, 1.0
        if ncfdtr(first, second, 0.0, f) > below:
            while ncfdtr(first, second, high, f) > below and high < LARGEST:
                high *= 2
            end = LARGEST
            if high < LARGEST:
                end = float(brentq(lambda lean: float(ncfdtr(first, second, lean, f)) - below, 0.0, high))
        return end / (end + first + second + 1)

    return share_at((1 + level) / 2), share_at((1 - level) / 2)


def _left_over(values: np.ndarray, terms: Sequence[np.ndarray]) -> tuple[float, int]:
    """Return the sum of squares that columns (and a constant) leave, and their rank."""
    design = np.concatenate([np.ones((len(values), 1)), *terms], axis=1)
    directions, size, _ = np.linalg.svd(design, full_matrices=False)
    kept = directions[:, size > 1e-9 * size[0]]
    off = values - kept @ (kept.T @ values)
    return float(off @ off), kept.shape[1]
