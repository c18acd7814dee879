"""How precisely a design rates entrants, from a pilot's verdicts or from imagined ones.

A design is played with those verdicts as the judge. What its item-clustered covariance is for one item, divided by a
number of items, is what it will be for that number.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil, exp, log

import numpy as np
from scipy.special import expit, stdtrit
from scipy.stats import norm

from podium.errors import NotIdentifiedError
from podium.planning.costs import Design
from podium.planning.sign_test import check_test
from podium.rankers.bradley_terry import covariance, rate
from podium.rankers.clusters import surpluses
from podium.rankers.coded import code
from podium.rankers.elo import scale_of
from podium.rankers.intervals import Estimate
from podium.rankers.labelling import played_of
from podium.rankers.pairs import pair_sums
from podium.rankers.rank_sets import rank_sets
from podium.replays import Recording, make_tournament, play
from podium.text import some
from podium.tournaments.drawing import generator

REGULARIZATION = 0.01
GROUPS = 10
"""Of a pilot's items, left out in turn for the jackknife."""
DRAWS = 20
"""Simulated outcomes of a design behind the mean width of its rank sets."""


@dataclass(frozen=True, slots=True)
class Known:
    """A figure with its interval; ends are None where there is none."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class PerItem:
    """What a design would do with a single item.

    Attributes:
        elo: ratings, centred on 1500, shape (entrants,).
        covariance: of the ratings, times the number of items, shape (entrants, entrants).
    """

    elo: np.ndarray
    covariance: np.ndarray

    @property
    def variance(self) -> float:
        """Mean over all pairs of the variance of their difference, times the number of items."""
        # The covariance of centred ratings has row sums of zero.
        return float(2 * np.trace(self.covariance) / (len(self.covariance) - 1))


@dataclass(frozen=True, slots=True)
class Precision:
    """How precisely a design rates, per item.

    Attributes:
        variance: of the difference of a typical pair, times the number of items, with its interval.
        cases: the ratings and covariances behind it.
        method: of the interval.
    """

    variance: Known
    cases: tuple[PerItem, ...]
    method: str

    def standard_error(self, items: int) -> Known:
        """Return the standard error of the difference of a typical pair, Elo."""
        return _mapped(self.variance, lambda value: float(np.sqrt(value / items)))

    def smallest_gap(self, items: int, *, alpha: float, power: float) -> Known:
        """Return the difference in Elo of a typical pair that a one-sided test tells with this power."""
        reach = _reach(alpha, power)
        return _mapped(self.standard_error(items), lambda value: reach * value)

    def items_for(self, gap: float, *, alpha: float, power: float) -> Known:
        """Return the number of items on which a gap in Elo of a typical pair is told with this power."""
        reach = _reach(alpha, power)
        return _mapped(self.variance, lambda value: float(max(2, ceil(round(value * (reach / gap) ** 2, 9)))))

    def rank_width(self, items: int, *, level: float, seed: int) -> Known:
        """Return the mean number of ranks in an entrant's simultaneous rank set on so many items.

        Each case's ratings are taken as the truth; outcomes are drawn around them. The interval is Monte Carlo's (t).
        """
        draws = max(2, DRAWS // len(self.cases))
        rng = generator(seed, "rank sets", str(items))
        widths = np.array([[_width(case, items, level, rng) for _ in range(draws)] for case in self.cases])
        found = mean_interval(widths[0] if len(self.cases) == 1 else widths.mean(axis=1), level)
        most = len(self.cases[0].elo)
        ends = (None if end is None else float(np.clip(end, 1, most)) for end in (found.low, found.high))
        return Known(found.value, *ends)


def of_pilot(design: Design, record: Recording, *, level: float) -> Precision:
    """Return the precision of a design from a pilot's verdicts; its interval is a jackknife over groups of items.

    Raises:
        NotIdentifiedError: fewer than four items, battles of the design that are not on record, or no bounded ratings.
    """
    # In the order of their names, so that the groups do not depend on that of the rows.
    items = sorted(record.field.items)
    if len(items) < 4:
        raise NotIdentifiedError(f"precision needs at least 4 items, and the pilot has {len(items)}")
    whole = per_item(design, record)
    groups = min(GROUPS, len(items))
    parts = [tuple(item for k, item in enumerate(items) if k % groups != left) for left in range(groups)]
    logs = np.array([log(per_item(design, _on(record, part)).variance) for part in parts])
    error = np.sqrt((groups - 1) / groups * np.sum((logs - logs.mean()) ** 2))
    reach = float(stdtrit(groups - 1, (1 + level) / 2)) * error
    known = Known(whole.variance, whole.variance * exp(-reach), whole.variance * exp(reach))
    method = f"jackknife of the logarithm over {groups} groups of items, t"
    return Precision(known, (_drawn_in(whole, len(items)),), method)


def _drawn_in(whole: PerItem, items: int) -> PerItem:
    """Take from the spread of a pilot's ratings what chance adds to it, so that ranks are not told too easily."""
    seen = float(np.sum((whole.elo - whole.elo.mean()) ** 2))
    chance = float(np.trace(whole.covariance)) / items
    factor = np.sqrt(max(0.0, 1 - chance / seen)) if seen else 0.0
    return replace(whole, elo=whole.elo.mean() + factor * (whole.elo - whole.elo.mean()))


def of_worlds(design: Callable[[int], Design], records: Sequence[Recording], *, level: float) -> Precision:
    """Return the precision of a design over imagined worlds; its interval is Monte Carlo's, over worlds.

    Args:
        design: from the number of a world.
        records: of the worlds, at least two.

    Raises:
        NotIdentifiedError: the design gives no bounded ratings in one of them.
    """
    cases = tuple(per_item(design(k), record) for k, record in enumerate(records))
    found = mean_interval(np.log([case.variance for case in cases]), level)
    ends = (None if end is None else exp(end) for end in (found.low, found.high))
    return Precision(Known(exp(found.value), *ends), cases, f"Monte Carlo over {len(cases)} imagined worlds, t")


def per_item(design: Design, record: Recording) -> PerItem:
    """Play a design with recorded verdicts, and return its ratings and their covariance for one item.

    Raises:
        NotIdentifiedError: battles are not on record, someone has no readable one, or a rating is not bounded.
    """
    played = play(make_tournament(design.name, design.settings), record)
    if played.price.missing:
        raise NotIdentifiedError(f"{played.price.missing:,} of its {played.price.battles:,} battles are not on record")
    coded = code(played.battles)
    pairs = pair_sums(coded)
    rated = rate(played_of(played.battles, coded, pairs), pairs, REGULARIZATION)
    if coded.entrants != record.field.entrants:
        lacking = sorted(set(record.field.entrants) - set(coded.entrants))
        raise NotIdentifiedError(f"without a readable battle in it: {some(lacking)}")
    if rated.graph.separated.any():
        unbounded = [coded.entrants[k] for k in np.flatnonzero(rated.graph.separated)]
        raise NotIdentifiedError(f"its verdicts bound no rating of {some(unbounded)}")
    scale = scale_of(coded.entrants, None, None)
    surplus = surpluses(coded, expit(rated.theta[coded.a] - rated.theta[coded.b]))
    spread = scale.covariance(covariance(rated, surplus)) * len(record.field.items)
    return PerItem(scale.scores(rated.theta), spread)


def mean_interval(values: np.ndarray, level: float) -> Known:
    """Return the mean with its t interval; no interval for fewer than two values.

    Args:
        values: independent, shape (n,).
    """
    mean, number = float(np.mean(values)), len(values)
    if number < 2:
        return Known(mean)
    reach = float(stdtrit(number - 1, (1 + level) / 2) * np.std(values, ddof=1) / np.sqrt(number))
    return Known(mean, mean - reach, mean + reach)


def _on(record: Recording, items: tuple[str, ...]) -> Recording:
    return replace(record, field=replace(record.field, items=items))


def _reach(alpha: float, power: float) -> float:
    """Return the standard errors between nothing and a difference that is told with this power."""
    check_test(alpha, power)
    return float(norm.isf(alpha) + norm.ppf(power))


def _mapped(known: Known, through: Callable[[float], float]) -> Known:
    """Pass a figure and its interval through an increasing function."""
    return Known(through(known.value), *(None if end is None else through(end) for end in (known.low, known.high)))


def _width(case: PerItem, items: int, level: float, rng: np.random.Generator) -> float:
    spread = case.covariance / items
    # Centred ratings have a singular covariance: its root, not a Cholesky factor.
    values, vectors = np.linalg.eigh((spread + spread.T) / 2)
    noise = vectors @ (np.sqrt(np.maximum(values, 0)) * rng.standard_normal(len(values)))
    score, nothing = case.elo + noise, np.full(len(noise), np.nan)
    low, high = rank_sets(Estimate(score, nothing, nothing, spread, items, None), level=level, rng=rng)
    return float(np.mean(high - low + 1))


def elo_of_edge(edge: float, ties: float) -> float:
    """Return the gap in Elo of two entrants when one wins 1/2 + edge of what the judge decides, ties counting half.

    >>> round(elo_of_edge(0.05, ties=0.0), 1)
    34.9
    """
    rate_ = 0.5 + edge * (1 - ties)
    return float(400 * np.log10(rate_ / (1 - rate_))) if rate_ < 1 else float("inf")
