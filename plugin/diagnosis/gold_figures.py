"""The figures that compare a judge's win rates with a gold standard's, and their intervals."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit

from podium.diagnosis.answer import Figure, Missing, Unit
from podium.diagnosis.decisiveness import curve, decisiveness, decisiveness_of_draws
from podium.diagnosis.fit import holm
from podium.diagnosis.matched import FEWEST_DECIDED, Matched
from podium.diagnosis.ratios import farther_ends, reflected
from podium.diagnosis.resampled_gold import Resamples, taus
from podium.diagnosis.self_bias import SelfBias, self_bias
from podium.errors import NotIdentifiedError
from podium.rankers.intervals import FEWEST_DRAWS

REFLECTED = "reflected and corrected for noise"
CENTRED = "normal on the logarithm, corrected for noise"


@dataclass(frozen=True, slots=True)
class SystemBias:
    """How a judge treats one system.

    Attributes:
        model: the system.
        opponents: with a gold win rate against it.
        raw: mean over opponents of judge win rate - gold win rate.
        corrected: the same after the gold win rates went through the judge's Beta CDF.
        p: two-sided, of no corrected bias, after Holm over all systems.
    """

    model: str
    opponents: int
    raw: Figure
    corrected: Figure | Missing
    p: float | None


def system_biases(low: np.ndarray, high: np.ndarray, surplus: np.ndarray, systems: int) -> np.ndarray:
    """Return the mean over opponents of judge win rate - gold win rate, NaN without any, shape (..., systems).

    Args:
        low, high: pairs of systems, shape (pairs,) each.
        surplus: of the win rate of low, NaN where unknown, shape (..., pairs).

    Source: Gera et al. 2025, section 6.2.
    """
    side = np.zeros((len(low), systems))
    side[np.arange(len(low)), low] = 1
    side[np.arange(len(low)), high] = -1
    known = ~np.isnan(surplus)
    met = known.astype(np.float64) @ np.abs(side)
    total = np.where(known, surplus, 0) @ side
    return np.divide(total, met, out=np.full(met.shape, np.nan), where=met > 0)


def accuracy_of(judge: np.ndarray, gold: np.ndarray) -> np.ndarray:
    """Return the share of pairs whose win rates are both above a half or both not, NaN rates left out, shape (...).

    The paper calls one of each pair the first, and who that is decides of a rate of just a half. Both ways count here,
    each by half, so that names change nothing.

    Source: Gera et al. 2025, appendix E.

    >>> float(accuracy_of(np.array([0.9, 0.6]), np.array([0.8, 0.5])))
    0.75
    """
    known = ~np.isnan(judge) & ~np.isnan(gold)
    above, below = (judge > 0.5) == (gold > 0.5), (judge < 0.5) == (gold < 0.5)
    same = np.where(known, (above * 1.0 + below) / 2, 0)
    return np.asarray(same.sum(axis=-1) / np.maximum(known.sum(axis=-1), 1))


def noiseless(judge: np.ndarray, fitted: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Return win rates between a fitted curve and the judge's own, as far from it as they would be without noise.

    Noise adds its variance to the squared distances from the curve; the distances are shrunk by that share.

    Args:
        judge, fitted: shape (pairs,) each.
        draws: resampled, NaN where a pair was not drawn, shape (draws, pairs).
    """
    off = judge - fitted
    noise = float(np.nansum(_sd(draws) ** 2))
    distance = float(np.sum(off**2))
    kept = np.sqrt(max(0.0, 1 - noise / distance)) if distance > 0 else 0.0
    return np.asarray(fitted + kept * off)


def spread(biases: np.ndarray) -> np.ndarray:
    """Return the standard deviation over systems (divisor n - 1), unknown ones left out, shape (...).

    Source: Gera et al. 2025, section 6.2 (delta).
    """
    known = ~np.isnan(biases)
    number = known.sum(axis=-1)
    mean = np.where(known, biases, 0).sum(axis=-1) / np.maximum(number, 1)
    squares = (np.where(known, biases - mean[..., None], 0) ** 2).sum(axis=-1)
    return np.where(number > 1, np.sqrt(squares / np.maximum(number - 1, 1)), np.nan)


class Comparison:
    """A judge beside a gold standard: each method gives figures, or what is missing in their place."""

    def __init__(self, both: Matched, drawn: Resamples | None, level: float) -> None:
        """Take the win rates of the pairs, and fit alpha.

        Args:
            both: judge and gold standard.
            drawn: resamples of their items; None where there is a single item.
            level: of intervals, in (0, 1).
        """
        self.both, self.drawn, self.level = both, drawn, level
        self.judge, self.gold = both.rates()
        self.systems = len(both.entrants)
        self.lacking = both.rates_known or self._pairs_missing()
        self.alpha = self.lacking or self._alpha()

    def mse(self) -> tuple[float | Missing, Figure | Missing]:
        """Return the mean squared difference of win rates, with and without noise."""
        if self.lacking is not None:
            return self.lacking, self.lacking
        draws = squared_error(self.drawn.judge, self.drawn.gold) if self.drawn else np.empty(0)
        value = float(squared_error(self.judge, self.gold))
        return value, self._reflected(value, draws, "mean squared error")

    def _pairs_missing(self) -> Missing | None:
        if len(self.both.low) >= 2:
            return None
        why = (
            f"{len(self.both.low)} pairs have a win rate by the judge and at least {FEWEST_DECIDED} gold battles that "
            "are no ties"
        )
        return Missing("win rates beside the gold standard", why, "give more gold battles per pair, or a gold ranking")

    def tau(self) -> Figure | Missing:
        """Return Kendall's tau-b of the two rankings."""
        tau = float(taus(*self.both.strengths()))
        if np.isnan(tau):
            return Missing("Kendall's tau", "one of the rankings puts all systems level", "judge systems that differ")
        draws = self.drawn.tau if self.drawn else np.empty(0)
        return self._percentile(tau, draws, (-1.0, 1.0), self.systems, "systems", Unit.CORRELATION)

    def accuracy(self) -> Figure | Missing:
        """Return the share of agreed pairs."""
        told = self._pairs_missing()
        if told is not None:
            return told
        value = float(accuracy_of(self.judge, self.gold))
        draws = accuracy_of(self.drawn.judge, self.drawn.gold) if self.drawn else np.empty(0)
        return self._percentile(value, draws, (0.0, 1.0), len(self.judge), "pairs", Unit.SHARE)

    def _alpha(self) -> float | Missing:
        try:
            return decisiveness(self.judge, self.gold)
        except NotIdentifiedError as error:
            return Missing("decisiveness", str(error), "give more items, or systems that are less far apart")

    def alpha_beyond_noise(self) -> Figure | Missing:
        """Find what the same noise does to a judge with as much misfit, and take that from alpha."""
        if isinstance(self.alpha, Missing):
            return self.alpha
        if self.drawn is None:
            return self._figure(self.alpha, None, "pairs", "a single item: no interval")
        centre = noiseless(self.judge, curve(self.gold, self.alpha), self.drawn.judge)
        around = np.clip(centre + (self.drawn.judge - self.judge), 0, 1)
        draws = np.log(decisiveness_of_draws(around, self.drawn.gold))
        usable = draws[~np.isnan(draws)]
        if len(usable) < max(2, FEWEST_DRAWS * len(draws)):
            return Missing("decisiveness beyond noise", "most resamples of the items have no alpha", "give more items")
        without = float(np.log(decisiveness_of_draws(centre[None, :], self.gold))[0])
        middle = np.log(self.alpha) - (usable.mean() - without)
        reach = self._quantile() * usable.std(ddof=1)
        low, value, high = np.exp([middle - reach, middle, middle + reach]).tolist()
        return self._figure(value, (low, high), "pairs", f"{self.drawn.method}, {CENTRED}")

    def biases(
        self, model: str | None, tests: int
    ) -> tuple[float | Missing, Figure | Missing, tuple[SystemBias, ...] | Missing, SelfBias | Missing]:
        """Return delta with and without noise, the biases by system, and that towards the judge itself."""
        if self.lacking is not None:
            return self.lacking, self.lacking, self.lacking, self.lacking
        raw = self._surplus_biases(lambda gold: gold)
        if isinstance(self.alpha, Missing):
            told = self.alpha
            return told, told, self._systems(raw, None), told
        corrected = self._surplus_biases(None)
        value, draws = corrected
        delta = float(spread(value))
        sound = self._reflected(delta**2, spread(draws) ** 2, "delta")
        sound = sound if isinstance(sound, Missing) else _root(sound)
        own = self_bias(self.both, self.judge, curve(self.gold, self.alpha), corrected, model, tests, self.level)
        return delta, sound, self._systems(raw, corrected), own

    def _surplus_biases(self, expected: Callable[[np.ndarray], np.ndarray] | None) -> tuple[np.ndarray, np.ndarray]:
        """Return biases, shape (systems,), and those of the resamples, shape (draws, systems).

        Args:
            expected: from gold win rates to what is held against the judge's; None for the Beta CDF, refitted in every
                resample.
        """
        low, high, systems = self.both.low, self.both.high, self.systems
        if expected is not None:
            held = expected(self.gold)
        else:
            held = self.gold if isinstance(self.alpha, Missing) else curve(self.gold, self.alpha)
        value = system_biases(low, high, self.judge - held, systems)
        if self.drawn is None:
            return value, np.full((2, systems), np.nan)
        gold = np.broadcast_to(self.drawn.gold, self.drawn.judge.shape)
        if expected is not None:
            return value, system_biases(low, high, self.drawn.judge - expected(gold), systems)
        alpha = decisiveness_of_draws(self.drawn.judge, self.drawn.gold)
        bent = np.stack([curve(one, a) for one, a in zip(gold, alpha, strict=True)])
        return value, system_biases(low, high, self.drawn.judge - bent, systems)

    def _systems(
        self, raw: tuple[np.ndarray, np.ndarray], corrected: tuple[np.ndarray, np.ndarray] | None
    ) -> tuple[SystemBias, ...]:
        met = np.bincount(np.concatenate([self.both.low, self.both.high]), minlength=self.systems)
        p = holm(self._p(*corrected)) if corrected else np.full(self.systems, np.nan)
        size = np.abs(corrected[0] if corrected else raw[0])
        order = [k for k in np.argsort(-np.nan_to_num(size), kind="stable") if met[k]]
        none = self.alpha if isinstance(self.alpha, Missing) else Missing("corrected bias", "", "")
        return tuple(
            SystemBias(
                model=self.both.entrants[k],
                opponents=int(met[k]),
                raw=self._with_se(raw, k, int(met[k])),
                corrected=self._with_se(corrected, k, int(met[k])) if corrected else none,
                p=None if np.isnan(p[k]) else float(p[k]),
            )
            for k in order
        )

    def _p(self, value: np.ndarray, draws: np.ndarray) -> np.ndarray:
        se = _sd(draws)
        t = np.divide(value, se, out=np.full(len(value), np.nan), where=se > 0)
        return np.asarray(2 * stdtr(self._freedom(), -np.abs(t)))

    def _with_se(self, bias: tuple[np.ndarray, np.ndarray], k: int, opponents: int) -> Figure:
        value, se = float(bias[0][k]), float(_sd(bias[1][:, [k]])[0])
        if self.drawn is None or np.isnan(se):
            return self._figure(value, None, "opponents", "too few items: no interval", opponents, Unit.SHARE)
        reach = self._quantile() * se
        method = f"{self.drawn.method}, standard error, t"
        return self._figure(value, (value - reach, value + reach), "opponents", method, opponents, Unit.SHARE)

    def _reflected(self, value: float, draws: np.ndarray, what: str) -> Figure | Missing:
        found = reflected(value, draws, self.level) if self.drawn else None
        if self.drawn is None or found is None:
            return Missing(f"{what} beyond noise", "the items are too few to be resampled", "judge more items")
        return self._figure(found[0], found[1:], "pairs", f"{self.drawn.method}, {REFLECTED}")

    def _percentile(
        self, value: float, draws: np.ndarray, within: tuple[float, float], n: int, of: str, unit: Unit
    ) -> Figure:
        usable = draws[~np.isnan(draws)]
        if self.drawn is None or len(usable) < max(2, FEWEST_DRAWS * len(draws)):
            why = "too few usable resamples of the items: no interval"
            return self._figure(value, None, of, why, n, unit)
        low, high = np.quantile(usable, [(1 - self.level) / 2, (1 + self.level) / 2]).tolist()
        lost = len(draws) - len(usable)
        told = f", {lost} of them without a fit left out" if lost else ""
        method = f"{self.drawn.method}, percentile or reflected, the farther end{told}"
        return self._figure(value, farther_ends(value, (low, high), within), of, method, n, unit)

    def _figure(
        self,
        value: float,
        interval: tuple[float, ...] | None,
        of: str,
        method: str,
        n: int | None = None,
        unit: Unit = Unit.NUMBER,
    ) -> Figure:
        low, high = interval or (None, None)
        n = len(self.both.low) if n is None else n
        return Figure(value, low, high, self.level, method, n, of, len(self.both.judge.clusters), unit)

    def _freedom(self) -> int:
        return max(len(self.both.judge.clusters) - 1, 1)

    def _quantile(self) -> float:
        return float(stdtrit(self._freedom(), (1 + self.level) / 2))


def squared_error(judge: np.ndarray, gold: np.ndarray) -> np.ndarray:
    """Return the mean squared difference of win rates, NaN rates left out, shape (...).

    Source: Gera et al. 2025, appendix E.
    """
    known = ~np.isnan(judge) & ~np.isnan(gold)
    squares = np.where(known, np.nan_to_num(judge) - np.nan_to_num(gold), 0) ** 2
    return np.asarray(squares.sum(axis=-1) / np.maximum(known.sum(axis=-1), 1))


def _sd(draws: np.ndarray) -> np.ndarray:
    """Return standard deviations over draws, NaN where fewer than half of them are usable, shape (columns,)."""
    known = ~np.isnan(draws)
    number = known.sum(axis=0)
    mean = np.where(known, draws, 0).sum(axis=0) / np.maximum(number, 1)
    variance = (np.where(known, draws - mean, 0) ** 2).sum(axis=0) / np.maximum(number - 1, 1)
    return np.where(number >= max(2, FEWEST_DRAWS * len(draws)), np.sqrt(variance), np.nan)


def _root(square: Figure) -> Figure:
    """Turn a variance into a standard deviation."""
    low, high = (None if end is None else float(np.sqrt(end)) for end in (square.low, square.high))
    value = float(np.sqrt(square.value))
    return Figure(value, low, high, square.level, square.method, square.n, square.of, square.clusters, square.unit)
