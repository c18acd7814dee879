"""`podium compare` on right-or-wrong scores of one epoch: level and power of its test and of four
others.

Nothing is drawn: with a share of differing items and a true difference, wins, losses and ties of n
items are trinomial, and the probabilities of all records that a test rejects are added up. The
number of worlds is ignored.

The tests: podium's own (exact McNemar), mid-p McNemar (Fagerland, Lydersen and Laake 2013), the
score test (McNemar without continuity correction, Tango 1998 at 0), the paired t test, and t
corrected for skewness, which podium uses for scores of many values. The power of t is the bar that
a replacement of the exact test must reach.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import stats
from tables import show

from podium.rankers.errors.difference import (
    FEWEST_FOR_NORMAL,
    SKEWNESS_NOISE,
    normal_skewness_error,
    paired_difference,
    unskewed_t,
)

ITEMS = (20, 30, 50, 100, 200, 500)
DIFFERING = (0.05, 0.1, 0.2, 0.4, 0.6)
"""Probabilities that just one of two models is right on an item."""
STEPS = 60
"""True differences tried: 0 to all of the differing items, in as many steps."""
VALID = 1.1
"""Multiple of the nominal level up to which the level of t counts as valid."""
LEVELS = {"two-sided 5%": (0.025, 2), "one-sided 5%": (0.05, 1), "one-sided 0.25%": (0.0025, 1)}
"""One-sided threshold by name, and the number of sides on which a test can reject."""
BANDS = ((0, 8), (8, 20), (20, 40), (40, 501))
"""Expected numbers of differing items, from and below."""
PODIUM, MID_P, SCORE, T, CORRECTED = "exact", "mid-p", "score", "t", "t corrected"
ROUNDING = 1e-12


@dataclass(frozen=True)
class Records:
    """All records of n items: wins and losses, shape (records,)."""

    items: int

    @cached_property
    def counts(self) -> tuple[np.ndarray, np.ndarray]:
        """Wins and losses of each record."""
        won, lost = np.indices((self.items + 1, self.items + 1)).reshape(2, -1)
        possible = won + lost <= self.items
        return won[possible], lost[possible]

    def probabilities(self, differing: float, difference: float) -> np.ndarray:
        """Return the probability of each record, given the share of differing items and the true
        difference."""
        won, lost = self.counts
        shares = (differing + difference) / 2, (differing - difference) / 2, 1 - differing
        table = np.stack([won, lost, self.items - won - lost], axis=1)
        # Rounding can make the share of losses negative where the difference is all that differs.
        return stats.multinomial.pmf(table, self.items, np.maximum(shares, 0))

    @cached_property
    def p_values(self) -> Mapping[str, np.ndarray]:
        """One-sided p-values of no difference, small if wins are more, by test."""
        won, lost = self.counts
        differing = won + lost
        half = stats.binom.pmf(won, differing, 0.5) / 2
        mid_p = stats.binom.sf(won, differing, 0.5) + half
        z = (won - lost) / np.sqrt(np.maximum(differing, 1))
        plain, corrected = self.t_p_values
        return {
            PODIUM: self.podiums_p_values,
            MID_P: mid_p,
            SCORE: stats.norm.sf(z),
            T: plain,
            CORRECTED: corrected,
        }

    @cached_property
    def podiums_p_values(self) -> np.ndarray:
        """P-values of the test that podium makes of each record."""
        signs = np.array([1.0, -1.0, 0.0])
        tests = (
            paired_difference(np.repeat(signs, [won, lost, self.items - won - lost]), 1.0)
            for won, lost in zip(*self.counts, strict=True)
        )
        return np.array([test.p_above() for test in tests])

    @cached_property
    def t_p_values(self) -> tuple[np.ndarray, np.ndarray]:
        """P-values of the paired t test, and the larger of it and of t under Hall's
        transformation."""
        won, lost = self.counts
        n, differing = self.items, won + lost
        mean = (won - lost) / n
        spread = np.sqrt((differing - n * mean**2) / (n - 1))
        # Where no item differs, nothing is found; where all differ alike, t is infinite.
        varies = spread > ROUNDING
        safe = np.where(varies, spread, 1.0)
        unbounded = np.select([mean > 0, mean < 0], [np.inf, -np.inf], 0.0)
        t = np.where(varies, np.sqrt(n) * mean / safe, unbounded)
        cubes = won - lost - 3 * mean * differing + 2 * n * mean**3
        skewness = np.where(varies, cubes * n / ((n - 1) * (n - 2)) / safe**3, 0.0)
        if n < FEWEST_FOR_NORMAL:
            noise = SKEWNESS_NOISE * normal_skewness_error(n)
            skewness = np.sign(skewness) * np.maximum(np.abs(skewness) - noise, 0.0)
        changed = np.where(varies, unskewed_t(np.where(varies, t, 0.0), skewness, n), t)
        plain = stats.t.sf(t, n - 1)
        # Podium's t has no p-value below that of n gains in n sign flips.
        return plain, np.maximum(np.maximum(plain, 0.5**n), stats.t.sf(changed, n - 1))


@dataclass(frozen=True)
class Case:
    """A number of items and a share of differing ones: level and largest loss of power to t, in
    percent, by test."""

    items: int
    differing: float
    level: Mapping[str, float]
    loss: Mapping[str, float]
    is_valid: bool


def enumerate_cases(records: Records, differing: float) -> dict[str, Case]:
    """Return a case for each of `LEVELS`: what tests reject at no difference, and what they miss of
    what t finds.

    Power is the probability that the better model is called better, at differences from 0 to the
    largest.
    """
    p_values = np.array([*records.p_values.values()])
    rejects = np.array([p_values <= threshold + ROUNDING for threshold, _ in LEVELS.values()])
    differences = np.linspace(0, differing, STEPS + 1)
    power = np.array(
        [100 * rejects @ records.probabilities(differing, difference) for difference in differences]
    )
    names = list(records.p_values)
    loss = np.max(power[:, :, [names.index(T)]] - power, axis=0)
    cases = {}
    for k, (title, (threshold, sides)) in enumerate(LEVELS.items()):
        level = dict(zip(names, sides * power[0, k], strict=True))
        is_valid = level[T] <= VALID * 100 * sides * threshold
        cases[title] = Case(
            records.items, differing, level, dict(zip(names, loss[k], strict=True)), is_valid
        )
    return cases


def case_rows(cases: list[Case]) -> Iterator[list[str]]:
    """Yield a row per case: levels, and losses of power of all tests but t."""
    for case in cases:
        losses = [f"{loss:.1f}" for name, loss in case.loss.items() if name != T]
        levels = [f"{level:.2f}" for level in case.level.values()]
        yield [
            str(case.items),
            f"{case.differing:g}",
            *levels,
            "yes" if case.is_valid else "no",
            *losses,
        ]


def band_rows(cases: list[Case]) -> Iterator[list[str]]:
    """Yield the largest loss of power where the level of t is valid, by the expected number of
    differing items."""
    for start, stop in BANDS:
        inside = [
            case
            for case in cases
            if case.is_valid and start <= round(case.items * case.differing, 6) < stop
        ]
        largest = [
            f"{max(case.loss[name] for case in inside):.1f}" for name in inside[0].loss if name != T
        ]
        yield [f"{start} to {stop - 1}", *largest]


def report(_worlds: int | None, markdown: bool) -> None:
    """Print levels and losses of power at each threshold."""
    names = (PODIUM, MID_P, SCORE, T, CORRECTED)
    losses = tuple(f"{name} loses" for name in names if name != T)
    header = ("items", "differ", *(f"{name}, %" for name in names), "t valid", *losses)
    found = [
        enumerate_cases(records, share) for records in map(Records, ITEMS) for share in DIFFERING
    ]
    for title in LEVELS:
        cases = [by_level[title] for by_level in found]
        words = (
            f"right-or-wrong scores, {title}: level of each test, and most points of power lost "
            "to t"
        )
        show(words, header, [*case_rows(cases)], markdown=markdown)
        words = (
            f"{title}: most points of power lost to t where t is valid, by expected number of "
            "differing items"
        )
        show(words, ("items that differ", *losses), [*band_rows(cases)], markdown=markdown)
