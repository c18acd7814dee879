"""What was found of two models on one question."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from podium.rankers.difference import DifferenceTest
from podium.rankers.further_items import further_items
from podium.rankers.intervals import finite_or_none, t_quantile

ELO, WIN_RATE, SCORE = "elo", "win-rate", "score"
"""Measures: points of Elo, the share won of the battles between the two, the metric's own units."""
MOST_ITEMS = 1_000
"""Items written to JSON, those that differ most first."""


@dataclass(frozen=True, slots=True)
class ItemResult:
    """What happened on one item.

    Attributes:
        difference: what the candidate earned more; of verdicts, its mean credit against the baseline less 1/2.
        candidate, baseline: their mean scores; None of verdicts.
        is_identical: whether both gave the same answer, byte by byte.
    """

    item: str
    difference: float
    candidate: float | None = None
    baseline: float | None = None
    is_identical: bool = False


@dataclass(frozen=True)
class PairFinding:
    """What is known of a candidate and a baseline on one question.

    Attributes:
        question: task and metric; None where there is only one.
        task, metric: that it is about; None where nothing says them.
        slice: a value of the column of `--by`; None for all items.
        measure: of `ELO`, `WIN_RATE`, `SCORE`, the main one.
        differences: by measure.
        is_share: whether scores lie in [0, 1], so that points are hundredths.
        results: of items on which both have something, the largest difference first.
        identical: items with the same answer of both, byte by byte; None where answers are not known.
        unparsed: battles of the two, or scores, that could not be read.
        level: of the interval, in (0, 1).
        tests: that are made together, this one among them.
        p_adjusted: the p-value, by Holm's rule where several tests are made together.
        slices: the same question on parts of the items.
    """

    candidate: str
    baseline: str
    question: str | None
    task: str | None
    metric: str | None
    slice: str | None
    measure: str
    differences: Mapping[str, DifferenceTest]
    is_share: bool
    results: tuple[ItemResult, ...]
    identical: int | None
    unparsed: int
    level: float
    tests: int = 1
    p_adjusted: float = 1.0
    slices: tuple["PairFinding", ...] = ()

    @property
    def difference(self) -> DifferenceTest:
        """By the main measure."""
        return self.differences[self.measure]

    @property
    def is_told(self) -> bool:
        """Whether the two are told apart."""
        return self.p_adjusted <= 1 - self.level

    @cached_property
    def interval(self) -> tuple[float, float]:
        """Ends of the interval of the main difference: simultaneous over the tests, and on the side that Holm tells."""
        low, high = self.difference.interval(1 - (1 - self.level) / self.tests)
        if self.is_told:
            low, high = (max(low, 0.0), high) if self.difference.value > 0 else (low, min(high, 0.0))
        return low, high

    @property
    def tally(self) -> tuple[int, int, int]:
        """Items that the candidate wins, loses, and that are even."""
        signs = np.sign([result.difference for result in self.results])
        return int((signs > 0).sum()), int((signs < 0).sum()), int((signs == 0).sum())

    @property
    def scores(self) -> tuple[float, float] | None:
        """Mean scores of both over the items; None of verdicts."""
        known = [(own.candidate, own.baseline) for own in self.results if own.candidate is not None]
        return tuple(np.mean(np.array(known, dtype=float), axis=0).tolist()) if known else None

    @property
    def further_items(self) -> int | None:
        """Items that are lacking to tell the two apart in eight cases of ten; None where that is not known."""
        difference = self.difference
        low, high = difference.interval(1 - (1 - self.level) / self.tests)
        near = low if difference.value > 0 else high
        known = np.isfinite([difference.value, near]).all() and difference.items > 1
        if not known or difference.value == near:
            return None
        critical = t_quantile(max(difference.items, 2), 1 - (1 - self.level) / self.tests)
        error = abs(difference.value - near) / critical
        return further_items(difference.items, critical, difference.value / error)

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values; an end that the data do not set is None."""
        won, lost, even = self.tally
        names = ("candidate", "baseline", "task", "metric", "slice", "measure")
        figures = {
            **{name: getattr(self, name) for name in names},
            "difference": finite_or_none(self.difference.value),
            **dict(zip(("low", "high"), map(finite_or_none, self.interval), strict=True)),
            "level": self.level,
            "p": self.difference.p_value,
            "p_adjusted": self.p_adjusted,
            "tests": self.tests,
            "method": self.difference.method,
            "items": self.difference.items,
            "told": self.is_told,
            "measures": {name: self._figures_of(own) for name, own in self.differences.items()},
            "scores": self.scores,
            "wins": won,
            "losses": lost,
            "even": even,
            "identical": self.identical,
            "unparsed": self.unparsed,
            "further_items": None if self.is_told else self.further_items,
        }
        if self.slice is not None:
            return figures
        shown = [{name: getattr(own, name) for name in ItemResult.__slots__} for own in self.results[:MOST_ITEMS]]
        return figures | {"slices": [own.to_dict() for own in self.slices], "item_results": shown}

    def _figures_of(self, difference: DifferenceTest) -> dict[str, Any]:
        low, high = difference.interval(self.level)
        ends = {"value": difference.value, "low": low, "high": high}
        known = {name: finite_or_none(value) for name, value in ends.items()}
        return known | {"p": difference.p_value, "items": difference.items, "method": difference.method}
