"""The finding of a comparison: a candidate against a baseline on one question."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from podium.rankers.errors.difference import DifferenceTest, is_constant
from podium.rankers.errors.intervals import finite_or_none, t_quantile
from podium.rankers.errors.rank_sets import further_items

ELO, WIN_RATE, SCORE = "elo", "win-rate", "score"
"""Measures: points of Elo, win rate in the battles between the two, the metric's units."""
MOST_ITEMS = 1_000
"""Items written to JSON, the largest differences first."""


@dataclass(frozen=True)
class PairFinding:
    """The comparison of a candidate with a baseline on one question; `results` has a row per item,
    largest first; `leads` are the differences by item whose signs are wins, losses and ties: those
    of parsed verdicts. `unparsed` counts battles of the two whose reply was not parsed, `missing`
    those without a score or reply (None: not known). `likely_item` is the column that looks like
    the item where rows count as items."""

    candidate: str
    baseline: str
    question: str | None
    task: str | None
    metric: str | None
    slice: str | None
    measure: str
    differences: Mapping[str, DifferenceTest]
    is_share: bool
    results: pd.DataFrame
    leads: pd.Series
    identical: int | None
    unparsed: int
    missing: int | None
    level: float
    tests: int = 1
    p_adjusted: float = 1.0
    slices: tuple["PairFinding", ...] = ()
    likely_item: str | None = None

    @property
    def difference(self) -> DifferenceTest:
        return self.differences[self.measure]

    @property
    def is_distinguishable(self) -> bool:
        """Whether the adjusted test detects a difference, and the items that it counts are
        known."""
        return self.likely_item is None and self.p_adjusted <= 1 - self.level

    @property
    def _joint_level(self) -> float:
        """Level of an interval that is simultaneous over the tests."""
        return 1 - (1 - self.level) / self.tests

    @cached_property
    def interval(self) -> tuple[float, float]:
        """Simultaneous interval of the main difference; it excludes 0 if Holm's rule detects a
        difference."""
        low, high = self.difference.interval(self._joint_level)
        if not self.is_distinguishable:
            return low, high
        return (max(low, 0.0), high) if self.difference.value > 0 else (low, min(high, 0.0))

    @property
    def tally(self) -> tuple[int, int, int]:
        """Number of items that the candidate wins, loses and ties."""
        return (
            int((self.leads > 0).sum()),
            int((self.leads < 0).sum()),
            int((self.leads == 0).sum()),
        )

    @property
    def tally_by_weight(self) -> tuple[float, float, float] | None:
        """Weights of the items that the candidate wins, loses and ties; None if all items have the
        same weight."""
        weight = self.results["weight"].reindex(self.leads.index)
        if is_constant(weight.to_numpy(dtype=float)):
            return None
        won, lost, even = (float(weight[np.sign(self.leads) == sign].sum()) for sign in (1, -1, 0))
        return won, lost, even

    @property
    def scores(self) -> tuple[float, float] | None:
        """Weighted mean scores of candidate and baseline over the items; None for verdicts."""
        if self.measure != SCORE:
            return None
        own = self.results[["candidate", "baseline", "weight"]].to_numpy(dtype=float)
        return tuple(np.average(own[:, :2], axis=0, weights=own[:, 2]).tolist())

    @property
    def further_items(self) -> int | None:
        """Number of further items that would separate the two with 80% power; None if unknown."""
        difference = self.difference
        near = difference.interval(self._joint_level)[0 if difference.value > 0 else 1]
        if (
            not np.isfinite([difference.value, near]).all()
            or difference.items < 2
            or difference.value == near
        ):
            return None
        critical = t_quantile(max(difference.items, 2), self._joint_level)
        return further_items(
            difference.items, critical, difference.value / (abs(difference.value - near) / critical)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values; infinite ends become None."""
        won, lost, even = self.tally
        by_weight = self.tally_by_weight
        names = (
            "candidate",
            "baseline",
            "task",
            "metric",
            "slice",
            "measure",
            "level",
            "p_adjusted",
            "tests",
        )
        figures = {
            name: getattr(self, name)
            for name in (*names, "scores", "identical", "unparsed", "missing")
        } | {
            "difference": finite_or_none(self.difference.value),
            **_difference_to_dict(self.difference, self.interval),
            "distinguishable": self.is_distinguishable,
            "measures": {
                name: {"value": finite_or_none(own.value)}
                | _difference_to_dict(own, own.interval(self.level))
                for name, own in self.differences.items()
            },
            "wins": won,
            "losses": lost,
            "even": even,
            "by_weight": None
            if by_weight is None
            else dict(zip(("wins", "losses", "even"), by_weight, strict=True)),
            "further_items": None if self.is_distinguishable else self.further_items,
        }
        if self.slice is not None:
            return figures
        columns = self.results if by_weight else self.results.drop(columns="weight")
        items = columns.head(MOST_ITEMS).to_dict("records")
        return figures | {"slices": [own.to_dict() for own in self.slices], "item_results": items}


def _difference_to_dict(
    difference: DifferenceTest, interval: tuple[float, float]
) -> dict[str, Any]:
    """Return interval, p-value, method, number of items and `rarest_seen` of a difference as plain
    Python values."""
    low, high = map(finite_or_none, interval)
    known = {"p": difference.p_value, "method": difference.method, "items": difference.items}
    return {"low": low, "high": high, **known, "rarest_seen": difference.rarest_seen()}
