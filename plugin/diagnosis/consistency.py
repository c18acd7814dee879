"""Does the judge answer, does it decide, and does it say the same twice?"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from podium.battles import Battles
from podium.diagnosis.answer import Figure, Grid, Missing, Row, as_dict
from podium.diagnosis.estimates import Clusters, clusters_of, linear, or_missing, share
from podium.diagnosis.swaps import BOTH_ORDERS, twins_of


@dataclass(frozen=True, slots=True)
class Consistency:
    """How often the judge fails to answer, to decide, or to agree with itself.

    Attributes:
        unread: share of presentations without a readable verdict.
        ties: share of readable presentations that are ties.
        changing: share of pairs read in both orders whose verdict (win, tie, loss) changes with the order.
        against_margin: share of decisive verdicts whose own margin points the other way.
        retest: probability that the same presentation, judged twice, gets one verdict (win, tie, loss).
        retest_kappa: the same beyond chance: (agreement - chance) / (1 - chance), where chance draws the judge's share
            of ties, and else either winner alike.
        repeated: presentations judged more than once.
    """

    unread: Figure | Missing
    ties: Figure | Missing
    changing: Figure | Missing
    against_margin: Figure | Missing
    retest: Figure | Missing
    retest_kappa: Figure | Missing
    repeated: int

    def to_dict(self) -> dict[str, Any]:
        """Return the section for JSON."""
        return as_dict(self)

    def rows(self) -> tuple[Row, ...]:
        """Return the lines of the section."""
        return (
            Row("unread", self.unread),
            Row("ties", self.ties),
            Row("verdict changes with the order", self.changing),
            Row("verdict against its own margin", self.against_margin),
            Row("same verdict when asked again", self.retest),
            Row("  beyond chance (kappa)", self.retest_kappa),
        )

    def grids(self) -> tuple[Grid, ...]:
        """Return none."""
        return ()


def consistency(presentations: Battles, *, level: float) -> Consistency:
    """Describe how one judge answers.

    Args:
        presentations: of one judge, the two orders apart.
        level: of intervals, in (0, 1).

    Source: Soft-Elo, appendix G (verdicts against the sign of their score difference); Xu et al. 2025, section 4.3
    (preferences that position switching leaves alone).
    """
    table, clusters, read = presentations.table, clusters_of(presentations), presentations.readable
    win = np.sign(table["credit"].to_numpy(dtype=np.float64) - 0.5)
    agreement, kappa, repeated = _retest(presentations, win, clusters, level)
    return Consistency(
        unread=or_missing(share(~read, clusters, level, "presentations"), "presentations"),
        ties=or_missing(share(win[read] == 0, clusters.take(read), level, "presentations"), "readable verdicts"),
        changing=_changing(presentations, level),
        against_margin=_against_margin(presentations, win, clusters, level),
        retest=agreement,
        retest_kappa=kappa,
        repeated=repeated,
    )


def _changing(presentations: Battles, level: float) -> Figure | Missing:
    twins = twins_of(presentations)
    first, then = twins.wins
    return or_missing(share(first != -then, twins.clusters, level, "pairs"), "pairs read in both orders", BOTH_ORDERS)


def _against_margin(presentations: Battles, win: np.ndarray, clusters: Clusters, level: float) -> Figure | Missing:
    table = presentations.table
    if "margin" not in table or not table["margin"].notna().any():
        return Missing("verdicts against their margin", "the verdicts carry no margin", "give a column margin")
    margin = table["margin"].to_numpy(dtype=np.float64)
    told = ~np.isnan(margin) & ~np.isnan(win) & (win != 0)
    against = np.sign(margin[told]) == -win[told]
    return or_missing(share(against, clusters.take(told), level, "verdicts"), "decisive verdicts with a margin")


def _retest(
    presentations: Battles, win: np.ndarray, clusters: Clusters, level: float
) -> tuple[Figure | Missing, Figure | Missing, int]:
    """Return agreement of repeats, the same beyond chance, and how many presentations were repeated.

    Every repeated presentation counts once: by the share of its pairs of repeats that agree.
    """
    what = "repeats"
    if not presentations.has_items:
        missing = Missing(what, "no row says its item, so nobody knows what was asked twice", "give a column item")
        return missing, missing, 0
    code, outcome = _presentation(presentations, win)
    tally = np.stack([np.bincount(code, outcome == verdict) for verdict in (1, 0, -1)], axis=1)
    size = tally.sum(axis=1)
    again = size > 1
    if not again.any():
        missing = Missing(what, "no presentation was judged twice", "ask the judge again (a column repeat tells them)")
        return missing, missing, 0
    tally, size = tally[again], size[again]
    item = np.zeros(len(again), dtype=np.int64)
    item[code] = clusters.code[~np.isnan(win)]
    ours = Clusters(item[again], clusters.unit)
    agree = (tally * (tally - 1)).sum(axis=1) / (size * (size - 1))
    found = share(agree, ours, level, "repeated presentations")
    return or_missing(found, what), _beyond_chance(agree, tally[:, 1] / size, ours, level), len(agree)


def _presentation(presentations: Battles, win: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Code what was shown (item, pair, which response first), and turn verdicts to the entrant of lower code.

    Returns:
        Codes from 0 and outcomes 1, 0, -1 of the readable rows.
    """
    table, read = presentations.table, ~np.isnan(win)
    a, b = (table[side].cat.codes.to_numpy(dtype=np.int64) for side in ("model_a", "model_b"))
    order = table["order"].astype(object).to_numpy() if "order" in table else np.full(len(table), None)
    low_first = np.where(order == "ab", 1 + (a < b), np.where(order == "ba", 1 + (b < a), 0))
    entrants = len(presentations.entrants)
    item = clusters_of(presentations).code
    key = ((item * entrants + np.minimum(a, b)) * entrants + np.maximum(a, b)) * 3 + low_first
    return np.unique(key[read], return_inverse=True)[1], np.where(a < b, win, -win)[read]


def _beyond_chance(agree: np.ndarray, ties: np.ndarray, clusters: Clusters, level: float) -> Figure | Missing:
    """Return kappa = (A - C) / (1 - C), C = t^2 + (1 - t)^2 / 2, with the interval of its influence function."""
    a, t = float(agree.mean()), float(ties.mean())
    chance = t**2 + (1 - t) ** 2 / 2
    if chance == 1:
        return Missing("kappa of repeats", "every repeated verdict is a tie", "repeat presentations with a winner")
    value = (a - chance) / (1 - chance)
    slope = 3 * t - 1
    influence = ((agree - a) - (1 - value) * slope * (ties - t)) / (1 - chance) / len(agree)
    return linear(value, influence, clusters, level, len(agree), "repeated presentations", within=(-1, 1))
